//! Consent, as pure functions: reach in, decision out. Nothing here touches a file, a clock or a screen.
//!
//! Only this module can make a [`Permit`], so what runs was decided here. The mode, the rules and the grants of
//! this session are the whole input; deny beats ask beats allow, whatever layer they come from.

mod danger;
mod decision;
mod grant;
mod mode;
mod policy;
mod reach;
mod rule;

pub use danger::danger_of;
pub use decision::{Decision, Denial, Permit, Question, Why};
pub use grant::Grant;
pub use mode::{Landing, Mode, ModeCell};
pub use policy::Policy;
pub use reach::{Place, Reach, is_protected};
pub use rule::{Rule, RuleError, Verdict};
