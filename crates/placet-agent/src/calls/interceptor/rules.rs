//! The policy's rules: the mode, the person's rules and grants, and the classification of what the call touches.

use crate::calls::context::CallContext;
use placet_permission::{Access, Decision};

/// `demand` is the reason why the hooks want a person to be asked, if they do.
pub(super) fn decide(ctx: &CallContext, reach: Vec<Access>, demand: Option<&str>) -> Decision {
    let CallContext { services, call, .. } = ctx;
    let policy = services.policy();
    policy.at(jiff::Timestamp::now());
    let judged_as = services.registry.judged_as(&call.name, &call.input);
    let level = policy.flow(&judged_as, &reach).level;
    let decision = policy.decide(&call.id, &judged_as, reach);
    let decision = match demand {
        Some(because) => decision.asking(&call.name, because),
        None => decision,
    };
    if !matches!(decision, Decision::Deny(_)) {
        // Before anything is read, because even an error may quote what it found.
        policy.taint().raise(level);
    }
    if let Decision::Allow(permit) = &decision {
        tracing::info!(call = %call.id, tool = call.name, why = %permit.why(), "permitted");
    }
    decision
}
