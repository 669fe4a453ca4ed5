//! One turn: the machine that decides what comes next, how it ends, and what it does about loops and repetition.

pub(super) mod empty_answer;
pub(super) mod ending;
pub(super) mod loop_detector;
pub(super) mod machine;
pub(super) mod repair;
pub(super) mod repetition;
