//! Consent, as pure functions: reach in, decision out. Nothing here touches a file, a clock or a screen.
//!
//! Only this module can make a [`Permit`], so what runs was decided here. The mode, the rules and the grants of
//! this session are the whole input; deny beats ask beats allow, whatever layer they come from. A command line is read
//! as a shell reads it, and each of its parts is judged.

mod command;
mod danger;
mod decision;
mod explain;
mod family;
mod grant;
mod label;
mod mode;
mod pattern;
mod policy;
mod protected;
mod prying;
mod reach;
mod read_only;
mod repository;
mod rule;
mod shell;

pub use danger::{Danger, Severity, danger_of};
pub use decision::{Decision, Denial, Permit, Question, Why};
pub use explain::{Explained, Explanation, Matched};
pub use grant::{Given, Grant, GrantId, Limit};
pub use label::{Flowing, LabelError, Labels, Level, Taint, Violation};
pub use mode::{Landing, Mode, ModeCell, Planning};
pub use policy::Policy;
pub use protected::{
    PathClass, PatternError, ProgramDirs, ProtectedPaths, Runner, is_protected, protected_paths_table,
};
pub use reach::{Place, Reach};
pub use repository::{is_git_name, is_repository};
pub use rule::{Rule, RuleError, Verdict};

#[cfg(test)]
mod replay_tests;
