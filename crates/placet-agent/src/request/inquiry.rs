//! What the server says of the model. It is asked once for each model, while the first message is prepared; an answer that
//! comes late counts from the next request on.

use crate::config::ActiveModel;
use crate::event::TurnEvents;
use placet_provider::{ModelSpec, ServerFacts};
use placet_text::conversation::TokenUsage;
use std::time::Duration;
use tokio::task::JoinHandle;

/// How long a request waits for the answer: a server of this machine has it in memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// The estimate of a request may be wrong by this factor; what a server counts below it, it did not get.
const ROUGH: f64 = 2.5;
/// Below this many tokens the estimate says nothing.
const SMALL: f64 = 1_000.0;

#[derive(Debug, Default)]
enum InquiryState {
    #[default]
    Unasked,
    Asking(JoinHandle<ServerFacts>),
    Known(ServerFacts),
}

#[derive(Debug, Default)]
pub(crate) struct ServerInquiry {
    state: InquiryState,
    has_warned: bool,
}

impl ServerInquiry {
    pub(crate) fn facts(&self) -> Option<&ServerFacts> {
        match &self.state {
            InquiryState::Known(facts) => Some(facts),
            _ => None,
        }
    }

    /// Asks, if nobody has, and takes over what the server said.
    pub(crate) async fn learn(&mut self, model: &mut ActiveModel, events: &TurnEvents) {
        // A typed call and the offline provider have no server.
        if model.provider.wire().is_none() {
            return;
        }
        if let InquiryState::Unasked = self.state {
            self.state = InquiryState::Asking(tokio::spawn(model.provider.facts(&model.spec.name)));
        }
        let InquiryState::Asking(asking) = &mut self.state else { return };
        // A server that failed at this has nothing to say.
        let Ok(said) = tokio::time::timeout(PATIENCE, asking).await else { return };
        let facts = said.unwrap_or_default();
        if apply(&facts, &mut model.spec) {
            let (provider, name) = (model.provider.name(), &model.spec.name);
            events.notice(format!("{provider} says of {name}: {}", facts.words()));
        }
        self.state = InquiryState::Known(facts);
    }

    /// Says once that the server got much less than it was sent: some cut a request in silence, others drop the tools.
    pub(crate) fn check(
        &mut self,
        model: &ActiveModel,
        estimate: f64,
        usage: TokenUsage,
        events: &TurnEvents,
    ) {
        let Some(widening) = model.provider.widening() else { return };
        let counted = usage.prompt();
        if self.has_warned || counted == 0 || !is_cut(estimate, counted) {
            return;
        }
        self.has_warned = true;
        events.notice(format!(
            "the server counted {counted} tokens of a request of about {}: it left out a part, the tools or the beginning; a larger window: `{widening}`",
            estimate as u64
        ));
    }
}

fn is_cut(estimate: f64, counted: u64) -> bool {
    estimate > SMALL && counted as f64 * ROUGH < estimate
}

/// True if something is not as it was assumed.
fn apply(facts: &ServerFacts, spec: &mut ModelSpec) -> bool {
    let before = spec.clone();
    if let Some(window) = &facts.window {
        spec.window = window.value;
    }
    if let Some(vision) = &facts.vision {
        spec.capabilities.vision = vision.value;
    }
    if let Some(calls) = facts.calls {
        spec.capabilities.tools = calls;
    }
    before != *spec
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_provider::{ModelCapabilities, ServerFact, ToolForm};

    #[test]
    fn what_the_server_says_is_taken_and_what_it_does_not_say_stays() {
        let fact = |value| Some(ServerFact { value, from: "/props".into() });
        let mut spec =
            ModelSpec { name: "m".into(), window: 32_768, capabilities: ModelCapabilities::default() };
        assert!(!apply(&ServerFacts::default(), &mut spec));
        assert!(apply(&ServerFacts { window: fact(8192), ..ServerFacts::default() }, &mut spec));
        assert_eq!((spec.window, spec.capabilities.vision), (8192, true));
        assert!(!apply(&ServerFacts { window: fact(8192), ..ServerFacts::default() }, &mut spec));
        let no = || Some(ServerFact { value: false, from: "/props".into() });
        let calls = Some(ToolForm::Json);
        assert!(apply(&ServerFacts { vision: no(), ..ServerFacts::default() }, &mut spec));
        assert!(apply(&ServerFacts { tools: no(), calls, ..ServerFacts::default() }, &mut spec));
        assert!(
            !apply(&ServerFacts { tools: no(), calls, ..ServerFacts::default() }, &mut spec),
            "said once"
        );
        assert_eq!(spec.capabilities.tools, ToolForm::Json);
        assert!(!spec.capabilities.vision);
    }

    #[test]
    fn a_request_of_which_a_large_part_is_missing_was_cut() {
        assert!(is_cut(2_700.0, 492) && is_cut(20_000.0, 4_096));
        assert!(!is_cut(2_700.0, 1_500) && !is_cut(900.0, 10) && !is_cut(5_000.0, 9_000));
    }
}
