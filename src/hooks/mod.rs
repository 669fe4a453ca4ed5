//! The person's own rules at fixed points: programs that are asked, and patterns that are looked for.
//!
//! Deterministic and synchronous: at a point the hooks are asked one after the other, the highest priority first, and
//! the first that has an opinion decides. A hook that fails, answers what cannot be read or takes too long blocks:
//! what guards something must not be passed by breaking it.

mod context;
mod environment;
mod hook;
mod program;
mod ruling;

pub use context::{HookContext, HookFlow, HookPoint};
pub use hook::{Hook, HookEnvironment, HookError, HookSource, HookSpec};
pub use ruling::{HookAction, HookRedaction, HookRuling};

use tokio_util::sync::CancellationToken;

/// All hooks, in the order in which they are asked.
#[derive(Default)]
pub struct HookSet {
    hooks: Vec<Hook>,
    programs: HookEnvironment,
}

impl HookSet {
    /// Equal priorities keep the order in which they are written.
    pub fn new(mut hooks: Vec<Hook>, programs: HookEnvironment) -> HookSet {
        hooks.sort_by_key(|hook| std::cmp::Reverse(hook.priority()));
        HookSet { hooks, programs }
    }

    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// True when some hook may have something to say about `tool` at this point; `tool` is empty where there is none.
    pub fn has_hook_for(&self, point: HookPoint, tool: &str) -> bool {
        self.hooks.iter().any(|hook| hook.applies_to(point, tool))
    }

    /// The first opinion wins; without one it is ALLOW. Redactions are no end: what they leave is shown to the next.
    /// Hooks of a project that is not trusted come after all others and are asked in any case: they can make it
    /// stricter and never looser.
    pub async fn decide(
        &self,
        point: HookPoint,
        mut context: HookContext,
        cancel: &CancellationToken,
    ) -> HookRuling {
        let own = self.first(point, HookSource::Person, &mut context, cancel).await;
        if matches!(own.action, HookAction::Block(_)) {
            return own;
        }
        let foreign = self.first(point, HookSource::Project, &mut context, cancel).await;
        own.stricter(foreign)
    }

    async fn first(
        &self,
        point: HookPoint,
        source: HookSource,
        context: &mut HookContext,
        cancel: &CancellationToken,
    ) -> HookRuling {
        let mut redactions: Vec<HookRedaction> = Vec::new();
        let mut redacting: Option<String> = None;
        for hook in self.hooks.iter().filter(|hook| hook.source() == source) {
            if !hook.applies_to(point, context.tool.as_deref().unwrap_or_default()) {
                continue;
            }
            match hook.ask(point, context, &self.programs, cancel).await {
                None => {}
                Some(HookAction::Redact(more)) => {
                    if let Some(text) = &mut context.text {
                        *text = more.iter().fold(std::mem::take(text), |text, r| r.apply(&text));
                    }
                    redactions.extend(more);
                    redacting.get_or_insert_with(|| hook.name().to_string());
                }
                // What was redacted stays redacted, whatever a later hook allows.
                Some(HookAction::Allow) if !redactions.is_empty() => break,
                Some(action) => return HookRuling { action, hook: Some(hook.name().into()), redactions },
            }
        }
        let action =
            if redactions.is_empty() { HookAction::Allow } else { HookAction::Redact(redactions.clone()) };
        HookRuling { action, hook: redacting, redactions }
    }
}
