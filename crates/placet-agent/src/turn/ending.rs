//! How a turn ended, and the text for it: every user interface shows the same text.

use super::empty_answer::EmptyAnswer;
use placet_provider::ProviderError;
use placet_provider::catalog::Money;
use placet_text::conversation::TextCallFault;
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
    /// The model wrote a call as text that could not be taken as a call, also after it was told the right form.
    TextCall(TextCallFault),
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
    /// The amount in `budget.NAME` is used up, and nobody allowed more.
    OverBudget {
        name: &'static str,
        limit: Money,
        spent: Money,
    },
    /// One of the person's hooks, or the classification, stopped the turn before anything was sent.
    Blocked {
        why: String,
        hint: Option<String>,
    },
}

impl TurnEnding {
    /// The sentence and the hint in the shell; `None` if the turn ended normally.
    pub fn words(&self) -> Option<(String, Option<String>)> {
        self.words_in(HintPlace::Shell)
    }

    /// The same for a turn without a shell, which has no commands such as `/retry`.
    pub fn words_without_shell(&self) -> Option<(String, Option<String>)> {
        self.words_in(HintPlace::CommandLine)
    }

    fn words_in(&self, place: HintPlace) -> Option<(String, Option<String>)> {
        let retry =
            || place.shell("/retry sends the message again; finished calls are kept").map(String::from);
        Some(match self {
            TurnEnding::Done => return None,
            TurnEnding::CutAtLimit => (
                "the answer stopped at the model's output limit".into(),
                Some(place.choose("say \"go on\" to get the rest", GO_ON).into()),
            ),
            TurnEnding::Refused => ("the model declined to answer".into(), None),
            TurnEnding::NoAnswer(silence) => {
                let hint = place.choose(silence.hint(), silence.hint_without_shell());
                (silence.to_string(), Some(hint.into()))
            }
            TurnEnding::TextCall(fault) => (
                format!("the model wrote a tool call as text, and it was not run: {fault}"),
                Some(place.choose(NO_TOOLS, NO_TOOLS_WITHOUT_SHELL).into()),
            ),
            TurnEnding::Interrupted => ("interrupted".into(), None),
            TurnEnding::TooManyRounds(n) => (
                format!(
                    "stopped after {} in this turn (`max_turns`)",
                    placet_text::text::count::of(*n, "request")
                ),
                Some(place.choose("say \"go on\" to continue", GO_ON).into()),
            ),
            TurnEnding::Stuck { tool, times } => (format!("stopped: {}", loop_words(tool, *times)), None),
            TurnEnding::RepeatedText { times } => {
                (format!("stopped: the answer repeated the same text {times} times"), None)
            }
            TurnEnding::Unsaved(why) => (
                format!("the session could not be saved, so the turn was stopped: {why}"),
                Some(
                    place
                        .choose(
                            "when it can be saved again, /retry",
                            "when it can be saved again, repeat the command",
                        )
                        .into(),
                ),
            ),
            TurnEnding::OverBudget { name, limit, spent } => {
                let retry = place.choose("; /retry asks again", "");
                (
                    format!("blocked: the budget of {limit} for this {name} is used up: {spent}"),
                    Some(format!("`budget.{name}` is the limit{retry}")),
                )
            }
            TurnEnding::Blocked { why, hint } => (format!("blocked: {why}"), hint.clone()),
            TurnEnding::Failed(e) => (e.to_string(), hint_for(e, place).or_else(retry)),
        })
    }
}

/// Where a hint is read: `/` commands exist in the shell only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HintPlace {
    Shell,
    CommandLine,
}

impl HintPlace {
    fn choose(self, shell: &'static str, command_line: &'static str) -> &'static str {
        match self {
            HintPlace::Shell => shell,
            HintPlace::CommandLine => command_line,
        }
    }

    fn shell(self, hint: &'static str) -> Option<&'static str> {
        (self == HintPlace::Shell).then_some(hint)
    }
}

/// A turn that ended early is continued by a message.
const GO_ON: &str = "`placet -c -p \"go on\"` continues";

const NO_TOOLS: &str = "the model or the server may have no tools; /model chooses another model";

const NO_TOOLS_WITHOUT_SHELL: &str = "the model or the server may have no tools: `placet provider test` checks; `--model` chooses another model";

/// No hint asks the person to give up the conversation: its messages remain.
const LONG: &str = "/compact summarizes the conversation; or choose a model with a larger window with /model, or attach less; then /retry";

const LONG_WITHOUT_SHELL: &str = "choose a model with a larger window with --model, or attach less; or `/compact` in the shell (`placet -c`)";

/// A server that asks for a longer pause than this is not asked again at once.
const SOON: Duration = Duration::from_secs(60);

fn hint_for(error: &ProviderError, place: HintPlace) -> Option<String> {
    if error.retry_after().is_some_and(|wait| wait > SOON) {
        let shell = "/retry later, or choose another with /provider; finished calls are kept";
        return Some(place.choose(shell, "try again later, or choose another with --provider").into());
    }
    Some(match error {
        ProviderError::Auth { .. } => "check the key; `placet doctor` shows where it was found".into(),
        ProviderError::NoKey { .. } => "`--provider offline` needs no key".into(),
        ProviderError::TooLong { .. } => place.choose(LONG, LONG_WITHOUT_SHELL).into(),
        ProviderError::NotRunning { start, .. } => {
            let server = match start {
                Some(start) => format!("is the server running? `{start}` starts it"),
                None => "is the server running?".into(),
            };
            format!("{server}{}", place.choose("; then /retry sends the message again", ""))
        }
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

/// What a turn repeats, for the question and for the end.
pub fn loop_words(tool: &str, times: u32) -> String {
    match tool {
        "" => format!("in {times} answers in a row no call worked"),
        tool => format!("{tool} was called {times} times with the same result"),
    }
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
        let long = hint(ProviderError::TooLong { message: message(), exceeded: None });
        assert!(long.contains("/compact") && long.contains("/model") && !long.contains("/new"), "{long}");
        let limited = |seconds| ProviderError::RateLimited {
            message: message(),
            retry_after: Some(Duration::from_secs(seconds)),
        };
        assert!(hint(limited(3600)).starts_with("/retry later"));
        assert!(hint(limited(2)).starts_with("/retry sends the message again"));
        let refused = ProviderError::NotRunning { host: "h:1".into(), start: Some("x serve".into()) };
        assert!(hint(refused.clone()).ends_with("`x serve` starts it; then /retry sends the message again"));
        for error in [
            refused,
            limited(3600),
            limited(2),
            ProviderError::TooLong { message: message(), exceeded: None },
        ] {
            let (_, hint) = TurnEnding::Failed(error).words_without_shell().unwrap();
            assert!(!hint.clone().unwrap_or_default().contains("/retry"), "{hint:?}");
        }
        assert!(hint(ProviderError::Proxy { message: message() }).starts_with("correct the variable"));
    }
}
