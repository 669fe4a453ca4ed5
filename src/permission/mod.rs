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

pub use danger::{CommandDanger, DangerSeverity, danger_of};
pub use decision::{Decision, Denial, Permit, PermitReason, PolicyQuestion};
pub use explain::{ExplainedCommand, MatchedRule, PermissionExplanation};
pub use grant::{ActiveGrant, Grant, GrantId, GrantLimit};
pub use label::{
    ClassificationError, ClassificationLevel, ClassificationRules, FlowCheck, FlowViolation, Taint,
};
pub use mode::{Mode, ModeCell, PlanModeState, WritePolicy};
pub use policy::Policy;
pub use protected::{
    PathClass, PathPatternError, ProgramDirs, ProtectedPaths, Runner, is_protected, protected_paths_table,
};
pub use reach::{Access, AccessLocation};
pub use repository::{is_git_name, is_repository};
pub use rule::{Rule, RuleError, RuleVerdict};

#[cfg(test)]
mod replay_tests;
