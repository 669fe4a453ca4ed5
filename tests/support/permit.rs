//! Consent as a person gives it, for what is tested below the tools.

use placet::conversation::CallId;
use placet::permission::{Access, Decision, Mode, ModeCell, Permit, Policy};

/// Consent to exactly these, as a person gives it.
pub fn permit(reach: Vec<Access>) -> Permit {
    let policy = Policy::new(ModeCell::new(Mode::Unrestricted), Vec::new(), Vec::new());
    match policy.decide(&CallId::new("c"), "t", reach) {
        Decision::Allow(permit) => permit,
        Decision::Ask(question) => question.allow(),
        Decision::Deny(denial) => panic!("{denial:?}"),
    }
}
