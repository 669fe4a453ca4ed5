//! The person's own rules at fixed points: programs that are asked, and patterns that are searched.
//!
//! Deterministic and synchronous: at a point the hooks are asked one after the other, the highest priority first, and
//! the first hook with a decision decides. A hook that fails, gives an invalid answer or takes too long blocks the
//! call: nobody must be able to bypass a guard by breaking it.

mod claude;
mod context;
mod environment;
mod hook;
mod program;
mod ruling;

pub use claude::{SUBJECT, is_claude_event};
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

    /// True if some hook may apply to `tool` at this point; `tool` is empty if there is no tool.
    pub fn has_hook_for(&self, point: HookPoint, tool: &str) -> bool {
        self.hooks.iter().any(|hook| hook.applies_to(point, tool))
    }

    /// The first decision applies; without a decision it is ALLOW. A redaction does not end the search: the next hook
    /// sees the redacted text. Hooks of an untrusted project come after all others and are always asked: they can make
    /// the decision stricter and never less strict.
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
        let (mut additions, mut remarks) = (Vec::new(), Vec::new());
        // The other format asks all its hooks: a later one may still refuse what an earlier one asks about.
        let mut asking: Option<(HookAction, String)> = None;
        for hook in self.hooks.iter().filter(|hook| hook.source() == source) {
            if !hook.applies_to(point, context.tool.as_deref().unwrap_or_default()) {
                continue;
            }
            let opinion = hook.ask(point, context, &self.programs, cancel).await;
            additions.extend(opinion.addition.map(|text| (hook.name().to_string(), text)));
            remarks.extend(opinion.remark.map(|text| format!("the hook `{}`: {text}", hook.name())));
            match opinion.action {
                None => {}
                Some(action @ HookAction::Ask(_)) if hook.is_of_claude() => {
                    asking.get_or_insert_with(|| (action, hook.name().to_string()));
                }
                Some(HookAction::Redact(more)) => {
                    if let Some(text) = &mut context.text {
                        *text = more.iter().fold(std::mem::take(text), |text, r| r.apply(&text));
                    }
                    redactions.extend(more);
                    redacting.get_or_insert_with(|| hook.name().to_string());
                }
                // Redacted text remains redacted, whatever a later hook allows.
                Some(HookAction::Allow) if !redactions.is_empty() => break,
                // The person is asked, whatever a later hook allows.
                Some(HookAction::Allow) if asking.is_some() => break,
                Some(action) => {
                    let hook = Some(hook.name().to_string());
                    return HookRuling { action, hook, redactions, additions, remarks };
                }
            }
        }
        if let Some((action, hook)) = asking {
            return HookRuling { action, hook: Some(hook), redactions, additions, remarks };
        }
        let action =
            if redactions.is_empty() { HookAction::Allow } else { HookAction::Redact(redactions.clone()) };
        HookRuling { action, hook: redacting, redactions, additions, remarks }
    }
}
