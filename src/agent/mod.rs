//! The agent: a turn as a pure machine, and the driver that performs its effects.

mod event;
mod guard;
mod instructions;
mod turn;

pub use event::{Event, LoopQuestion, Question, Reply};
pub use instructions::MAX_BYTES as MAX_INSTRUCTIONS;
pub use turn::{Effect, Ending, Input, LoopAnswer, Repair, Turn};
