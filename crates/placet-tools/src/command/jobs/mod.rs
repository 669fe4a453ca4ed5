//! Commands in the background: one of them, the list of all, and the tool.

mod foreground;
mod job;
mod registry;
mod tool;

pub use foreground::ForegroundCall;
pub(crate) use job::{DetachedCommand, JobState, MOST_PUBLISHED};
pub use job::{Job, JobSummary};
pub use registry::JobRegistry;
pub(crate) use tool::JobTool;
