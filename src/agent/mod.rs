//! The agent: a turn as a pure machine, and the driver that performs its effects.

mod after;
mod branch;
mod calls;
mod carried;
mod children;
mod compact;
mod context;
mod cost;
mod driver;
mod echo;
mod ending;
mod event;
mod fill;
mod gate;
mod guard;
mod instructions;
mod mend;
mod meter;
mod notes;
mod once;
mod out_of_view;
mod parts;
mod perform;
mod pictures;
mod points;
mod queue;
mod refused;
mod seen;
mod settle;
mod shorten;
mod silence;
mod summary;
mod trickle;
mod turn;
mod unwritten;

pub use children::SubagentPool;
pub use cost::CostBudget;
pub use driver::Agent;
pub use ending::TurnEnding;
pub use event::{
    ApprovalReply, ApprovalRequest, ChoiceQuestion, LoopQuestion, QuestionChoice, TurnEvent, UserPrompt,
};
pub use fill::{ContextUsage, UsagePart};
pub use gate::{CallInterceptors, CallOrigin, EntryPoint, SecretFilter};
pub use instructions::MAX_BYTES as MAX_INSTRUCTIONS;
pub use mend::TurnRepair;
pub use once::call_once;
pub use parts::{AgentConfig, SelectedModel, TurnStart};
pub use queue::{MessageQueue, QueuedMessage, SendTiming, is_command};
pub use settle::{TurnDecision, overview};
pub use silence::EmptyAnswer;
pub use turn::{LoopAnswer, Turn, TurnEffect, TurnInput, TurnLimits};
