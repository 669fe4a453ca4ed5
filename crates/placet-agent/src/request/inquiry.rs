//! What the server says of the model. It is asked while the first message is prepared; an answer that comes late counts
//! from the next request on. A server that could not be asked, or did not know, is asked again at later requests.

use crate::config::ActiveModel;
use crate::event::TurnEvents;
use placet_provider::{ModelSpec, ProviderError, ServerFacts};
use placet_text::conversation::TokenUsage;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long a request waits for the answer: a server of this machine has it in memory.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long a request waits for a server that loads its model: what it says then decides what is sent to it. Large models
/// load for minutes from a disk, and nothing but asking again tells when that is over. After it the request is sent, and
/// waits as requests do.
const LONGEST_LOAD: Duration = Duration::from_secs(600);

/// How often a server is asked that does not answer. One that answered without its window is asked once more: some know
/// it when the model is loaded.
const MOST_ASKED: u32 = 5;

/// The estimate of a request may be wrong by this factor; what a server counts below it, it did not get.
const ROUGH: f64 = 2.5;
/// What is counted at the very end of a window needs no such distance.
const FINE: f64 = 1.1;
/// Below this many tokens the estimate says nothing.
const SMALL: f64 = 1_000.0;

#[derive(Debug, Default)]
pub(crate) struct ServerInquiry {
    asking: Option<JoinHandle<Result<ServerFacts, ProviderError>>>,
    asked: u32,
    facts: Option<ServerFacts>,
    has_warned: bool,
    last: Option<Counted>,
}

/// What placet estimated of a request, and the server counted.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Counted {
    estimate: f64,
    tokens: u64,
}

impl ServerInquiry {
    pub(crate) fn facts(&self) -> Option<&ServerFacts> {
        self.facts.as_ref()
    }

    /// Asks, and takes over what the server said. Waits for one that loads the model; may be dropped at any time.
    pub(crate) async fn learn(&mut self, model: &mut ActiveModel, events: &TurnEvents) {
        // A typed call and the offline provider have no server.
        if model.provider.wire().is_none() {
            return;
        }
        let until = Instant::now() + LONGEST_LOAD;
        let mut is_told = false;
        loop {
            let knows_all = self.facts.as_ref().is_some_and(|facts| facts.window.is_some());
            if self.asking.is_none() && (knows_all || self.asked >= MOST_ASKED) {
                return;
            }
            let ask = || tokio::spawn(model.provider.facts(&model.spec.name));
            let asking = self.asking.get_or_insert_with(ask);
            let Ok(said) = tokio::time::timeout(PATIENCE, asking).await else { return };
            self.asking = None;
            match said {
                Ok(Err(ProviderError::Loading { .. })) if Instant::now() < until => {
                    if !std::mem::replace(&mut is_told, true) {
                        events.notice(format!("{} is loading the model; waiting", model.provider.name()));
                    }
                    tokio::time::sleep(PATIENCE).await;
                }
                Ok(Ok(facts)) => {
                    self.asked = (self.asked + 1).max(MOST_ASKED - 1);
                    if apply(&facts, &mut model.spec) {
                        let (provider, name) = (model.provider.name(), &model.spec.name);
                        events.notice(format!("{provider} says of {name}: {}", facts.words()));
                    }
                    self.facts = Some(facts);
                    return;
                }
                // The request meets the same failure, and says it.
                _ => {
                    self.asked += 1;
                    return;
                }
            }
        }
    }

    /// Says once that the server got much less than it was sent: some cut a request in silence, others drop the tools.
    /// Returns the window that was found so.
    pub(crate) fn check(
        &mut self,
        model: &ActiveModel,
        estimate: f64,
        usage: TokenUsage,
        events: &TurnEvents,
    ) -> Option<u64> {
        let widening = model.provider.widening()?;
        let now = Counted { estimate, tokens: usage.prompt() };
        let before = self.last.replace(now);
        let window = now.end_of_window(before).then_some(now.tokens);
        if now.tokens == 0 || (window.is_none() && !now.is_cut()) || self.has_warned {
            return window;
        }
        self.has_warned = true;
        let from_now_on = window.map(|window| format!("; requests have {window} tokens from now on"));
        events.notice(format!(
            "the server counted {} tokens of a request of about {}: it left out a part, the tools or the beginning{}; a larger window: `{widening}`",
            now.tokens,
            estimate as u64,
            from_now_on.unwrap_or_default()
        ));
        window
    }
}

impl Counted {
    fn is_cut(self) -> bool {
        self.estimate > SMALL && self.tokens as f64 * ROUGH < self.estimate
    }

    /// True where the server filled its window with a part of the request: windows are powers of two, and a request that
    /// has grown is not as long as the one before.
    fn end_of_window(self, before: Option<Counted>) -> bool {
        let is_less = |one: Counted| one.tokens as f64 * FINE < one.estimate;
        let has_grown =
            |one: Counted| is_less(one) && one.tokens == self.tokens && one.estimate * FINE < self.estimate;
        self.tokens as f64 > SMALL
            && is_less(self)
            && (self.tokens.is_power_of_two() || before.is_some_and(has_grown))
    }
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
        let counted = |estimate: f64, tokens: u64| Counted { estimate, tokens };
        assert!(counted(2_700.0, 492).is_cut() && counted(20_000.0, 4_096).is_cut());
        let whole = [counted(2_700.0, 1_500), counted(900.0, 10), counted(5_000.0, 9_000)];
        assert!(whole.into_iter().all(|one| !one.is_cut() && !one.end_of_window(None)));
        // The first of them is at a power of two; the others are as long as the shorter request before.
        assert!(counted(4_700.0, 4_096).end_of_window(None));
        assert!(!counted(4_300.0, 4_096).end_of_window(None) && !counted(4_700.0, 4_095).end_of_window(None));
        let before = |estimate, tokens| Some(counted(estimate, tokens));
        assert!(counted(7_000.0, 5_000).end_of_window(before(6_000.0, 5_000)));
        assert!(!counted(7_000.0, 5_000).end_of_window(before(6_900.0, 5_000)), "the same request");
        assert!(!counted(7_000.0, 5_000).end_of_window(before(5_100.0, 5_000)), "all of the one before");
        assert!(!counted(7_000.0, 5_000).end_of_window(before(6_000.0, 4_990)));
    }
}
