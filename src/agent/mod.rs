//! The agent: a turn as a pure machine, and the driver that performs its effects.

mod guard;
mod turn;

pub use turn::{Effect, Ending, Input, LoopAnswer, Repair, Turn};
