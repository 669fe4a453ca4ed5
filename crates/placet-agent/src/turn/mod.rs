//! One turn: the state machine that decides the next step, its endings, and its handling of loops and repetition.

pub(super) mod empty_answer;
pub(super) mod ending;
pub(super) mod loop_detector;
pub(super) mod machine;
pub(super) mod repair;
pub(super) mod repetition;
