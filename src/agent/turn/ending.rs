//! How a turn ended, and the text for it: every user interface shows the same text.

use super::empty_answer::EmptyAnswer;
use crate::provider::ProviderError;
use std::time::Duration;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEnding {
    Done,
    /// The answer stopped at the model's output limit.
    CutAtLimit,
    Refused,
    /// The answer has neither text nor a call, and neither has the answer after a nudge.
    NoAnswer(EmptyAnswer),
    Interrupted,
    /// The turn made as many requests as a turn may make.
    TooManyRounds(u32),
    /// The same failing call was repeated, and the person did not agree to continue.
    Stuck {
        tool: String,
        times: u32,
    },
    /// An answer repeated the same text.
    RepeatedText {
        times: u32,
    },
    Failed(ProviderError),
    /// The session could not be written, and so nothing more was done.
    Unsaved(String),
    /// One of the person's hooks, or the classification, stopped the turn before anything was sent.
    Blocked {
        why: String,
        hint: Option<String>,
    },
}

impl TurnEnding {
    /// The sentence and the hint; `None` if the turn ended normally.
    pub fn words(&self) -> Option<(String, Option<String>)> {
        let retry = || Some("/retry sends the message again; finished calls are kept".to_string());
        Some(match self {
            TurnEnding::Done => return None,
            TurnEnding::CutAtLimit => (
                "the answer stopped at the model's output limit".into(),
                Some("say \"go on\" to get the rest".into()),
            ),
            TurnEnding::Refused => ("the model declined to answer".into(), None),
            TurnEnding::NoAnswer(silence) => (silence.to_string(), Some(silence.hint().into())),
            TurnEnding::Interrupted => ("interrupted".into(), None),
            TurnEnding::TooManyRounds(n) => (
                format!("stopped after {} in this turn (`max_turns`)", crate::text::count::of(*n, "request")),
                Some("say \"go on\" to continue".into()),
            ),
            TurnEnding::Stuck { tool, times } => {
                (format!("stopped: {tool} was called {times} times with the same result"), None)
            }
            TurnEnding::RepeatedText { times } => {
                (format!("stopped: the answer repeated the same text {times} times"), None)
            }
            TurnEnding::Unsaved(why) => (
                format!("the session could not be saved, so the turn was stopped: {why}"),
                Some("free some space, then /retry".into()),
            ),
            TurnEnding::Blocked { why, hint } => (format!("blocked: {why}"), hint.clone()),
            TurnEnding::Failed(e) => (e.to_string(), hint_for(e).or_else(retry)),
        })
    }
}

/// No hint asks the person to give up the conversation: its messages remain.
const LONG: &str = "/compact summarizes the conversation; or choose a model with a larger window with /model, or attach less; then /retry";

/// A server that asks for a longer pause than this is not asked again at once.
const SOON: Duration = Duration::from_secs(60);

fn hint_for(error: &ProviderError) -> Option<String> {
    if error.retry_after().is_some_and(|wait| wait > SOON) {
        return Some("/retry later, or choose another with /provider; finished calls are kept".into());
    }
    Some(match error {
        ProviderError::Auth { .. } => "check the key; `placet doctor` shows where it was found".into(),
        ProviderError::NoKey { .. } => "`--provider offline` needs no key".into(),
        ProviderError::TooLong { .. } => LONG.into(),
        ProviderError::Proxy { .. } => {
            "correct the variable and start again with -c; the conversation is saved".into()
        }
        ProviderError::Untrusted { .. } => {
            "check the address and the machine's clock; `network.ca_file` names certificates to trust".into()
        }
        ProviderError::PlainHttp { host } => format!(
            "use an https:// address, or add \"{host}\" to `network.plain_http_hosts` if nobody else can read that network"
        ),
        ProviderError::OverLimit(limit) => match limit.setting() {
            Some(setting) => format!("none of its calls was run; raise `{setting}` to allow such answers"),
            None => "none of its calls was run".into(),
        },
        ProviderError::Replay(_) => "record it again with --record".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(error: ProviderError) -> String {
        TurnEnding::Failed(error).words().unwrap().1.unwrap()
    }

    #[test]
    fn no_hint_gives_the_conversation_up_or_sends_what_was_just_refused() {
        let message = || "no".to_string();
        let long = hint(ProviderError::TooLong { message: message() });
        assert!(long.contains("/compact") && long.contains("/model") && !long.contains("/new"), "{long}");
        let limited = |seconds| ProviderError::RateLimited {
            message: message(),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        assert!(hint(limited(3600)).starts_with("/retry later"));
        assert!(hint(limited(2)).starts_with("/retry sends the message again"));
        assert!(hint(ProviderError::Proxy { message: message() }).starts_with("correct the variable"));
    }
}
