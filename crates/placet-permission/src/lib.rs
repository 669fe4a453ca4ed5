//! Consent, as pure functions: accesses in, decision out. Nothing here touches a file, a clock or a screen.
//!
//! Only this module can make a [`Permit`], and so every run was decided here. The mode, the rules and the grants of
//! this session are the whole input; deny beats ask beats allow, whatever layer a rule comes from. A command line is
//! parsed as a shell does, and the policy decides about each of its parts.

mod access;
mod classification;
mod command;
mod command_rules;
mod danger;
mod decision;
mod disclosure;
mod explain;
mod flow;
mod git_repository;
mod grant;
mod grant_pattern;
mod mode;
mod parsed_command;
mod pattern;
mod policy;
mod protected;
mod read_only;
mod rule;
mod tables;

use std::sync::atomic::{AtomicBool, Ordering};

pub use access::{Access, AccessLocation};
pub use classification::{
    ClassificationError, ClassificationLevel, ClassificationRules, FlowCheck, FlowViolation, Taint,
};
pub use danger::{CommandDanger, DangerSeverity, danger_of};
pub use decision::{Decision, Denial, Permit, PermitReason, PolicyQuestion};
pub use explain::{ExplainedCommand, MatchedRule, PermissionExplanation};
pub use git_repository::{is_git_name, is_repository, is_spelling_of_git};
pub use grant::{ActiveGrant, Grant, GrantId, GrantLimit};
pub use mode::{Mode, ModeCell, PlanModeState, WritePolicy};
pub use policy::{Policy, network_reason};
pub use protected::{
    LeadingPath, PathClass, PathPatternError, ProgramDirs, ProtectedPaths, Runner, is_protected,
    protected_paths_table,
};
pub use rule::{Rule, RuleError, RuleVerdict};

/// Parses the tables by which calls are judged, while nobody waits for them: at the first judgement a person would.
/// Returns at once, and does something only once in a process.
pub fn read_tables_ahead() {
    static IS_BEGUN: AtomicBool = AtomicBool::new(false);
    if IS_BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    drop(tokio::task::spawn_blocking(|| {
        protected::read_built_in();
        tables::read_all();
        command::is_shell("");
    }));
}

#[cfg(test)]
mod option_spelling_tests;
#[cfg(test)]
mod question_count_tests;
#[cfg(test)]
mod verdict_tests;
