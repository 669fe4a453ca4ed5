//! The agent: a turn as a pure machine, and the driver that performs its effects.

mod after;
mod calls;
mod carried;
mod children;
mod compact;
mod context;
mod cost;
mod driver;
mod ending;
mod event;
mod fill;
mod gate;
mod guard;
mod instructions;
mod once;
mod parts;
mod points;
mod queue;
mod seen;
mod settle;
mod standing;
mod trickle;
mod turn;

pub use children::Family;
pub use cost::Budget;
pub use driver::Agent;
pub use ending::Ending;
pub use event::{Choice, ChoiceQuestion, Enquiry, Event, LoopQuestion, Question, Reply};
pub use fill::{Fill, Share};
pub use gate::{Entrance, Gate, Secrets, Visit};
pub use instructions::MAX_BYTES as MAX_INSTRUCTIONS;
pub use once::call_once;
pub use parts::{Answerer, Parts, Start};
pub use queue::{Queue, Queued, Sending, is_command};
pub use settle::{Settled, overview};
pub use turn::{Effect, Input, LoopAnswer, Repair, Turn};
