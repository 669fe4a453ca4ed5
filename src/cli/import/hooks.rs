//! Hooks in the form of Claude Code, which codex has too: an event, groups with a matcher, and commands in each group.

use super::plain_text::has_secret;
use super::proposal::{ImportProposal, MOST};
use super::skip_reason::SkipReason;
use crate::config::HookSettings;
use crate::hooks::is_claude_event;
use crate::text::shell_word;
use serde_json::Value;
use std::path::Path;

/// Adds the hooks of `events` to the proposal.
pub(super) fn propose(events: &Value, before: &str, file: &Path, out: &mut ImportProposal) {
    for (event, groups) in events.as_object().into_iter().flatten() {
        let what = format!("{before}{event}");
        let Some(groups) = groups.as_array() else {
            // codex keeps its own state next to the events.
            out.skip(&what, file, SkipReason::NoSetting);
            continue;
        };
        if groups.is_empty() {
            continue;
        }
        if !is_claude_event(event) {
            out.skip(&what, file, SkipReason::NoEvent);
            continue;
        }
        for group in groups {
            let matcher = group.get("matcher").and_then(Value::as_str).filter(|m| !m.is_empty() && *m != "*");
            if let Some(error) = matcher.and_then(|matcher| regex::Regex::new(matcher).err()) {
                out.skip(&what, file, SkipReason::Matcher(first_line(&error.to_string())));
                continue;
            }
            for hook in group.get("hooks").and_then(Value::as_array).into_iter().flatten() {
                match one(event, matcher, hook) {
                    Ok(_) if out.hooks.len() >= MOST => out.skip(&what, file, SkipReason::TooMany(MOST)),
                    Ok(hook) if !out.hooks.contains(&hook) => out.hooks.push(hook),
                    Ok(_) => {}
                    Err(why) => out.skip(&what, file, why),
                }
            }
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next_back().unwrap_or_default().trim().to_string()
}

fn one(event: &str, matcher: Option<&str>, hook: &Value) -> Result<HookSettings, SkipReason> {
    let kind = hook.get("type").and_then(Value::as_str).unwrap_or("command");
    if kind != "command" {
        return Err(SkipReason::HookKind(kind.into()));
    }
    if let Some(shell) = hook.get("shell").and_then(Value::as_str).filter(|shell| *shell != "bash") {
        return Err(SkipReason::HookKind(shell.into()));
    }
    for limit in ["if", "once"] {
        if hook.get(limit).is_some_and(|value| *value != Value::Bool(false)) {
            return Err(SkipReason::HookLimit(limit));
        }
    }
    let is_on = |key: &str| hook.get(key).and_then(Value::as_bool) == Some(true);
    if is_on("async") || is_on("asyncRewake") {
        return Err(SkipReason::HookBackground);
    }
    let command = hook.get("command").and_then(Value::as_str).ok_or(SkipReason::Type)?;
    // With a list of arguments, the program runs without a shell there.
    let command = match hook.get("args").and_then(Value::as_array) {
        None => command.to_string(),
        Some(words) => {
            let words = words.iter().map(|word| word.as_str().ok_or(SkipReason::Type));
            let words = words.collect::<Result<Vec<_>, _>>()?;
            let words = std::iter::once(command).chain(words);
            words.map(word_with_places).collect::<Vec<_>>().join(" ")
        }
    };
    if has_secret(&command) {
        return Err(SkipReason::Secret);
    }
    let seconds = hook.get("timeout").and_then(Value::as_f64).filter(|s| (0.001..=3600.0).contains(s));
    Ok(HookSettings {
        point: event.into(),
        format: Some("claude".into()),
        matcher: matcher.map(String::from),
        command: Some(command),
        timeout_ms: seconds.map(|seconds| std::time::Duration::from_secs_f64(seconds).as_millis() as u64),
        ..HookSettings::default()
    })
}

/// A word for the shell, in which the places that Claude Code fills in, such as `${CLAUDE_PROJECT_DIR}`, are filled in by
/// the shell.
fn word_with_places(word: &str) -> String {
    const PLACE: &str = "${CLAUDE_";
    if !word.contains(PLACE) {
        return shell_word::quoted(word).to_string();
    }
    let mut out = String::from('"');
    for (at, c) in word.char_indices() {
        let is_place = word.get(at..).is_some_and(|rest| rest.starts_with(PLACE));
        if matches!(c, '"' | '\\' | '`') || c == '$' && !is_place {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_program_with_arguments_becomes_a_line_for_the_shell() {
        let line = |hook: Value| one("Stop", None, &hook).map(|hook| hook.command.unwrap_or_default());
        assert_eq!(line(json!({"command": "a b; c"})).unwrap(), "a b; c");
        let words =
            json!({"command": "${CLAUDE_PROJECT_DIR}/a b", "args": ["$HOME", "${CLAUDE_X}`\"", "it's"]});
        assert_eq!(
            line(words).unwrap(),
            r#""${CLAUDE_PROJECT_DIR}/a b" '$HOME' "${CLAUDE_X}\`\"" 'it'\''s'"#
        );
    }

    #[test]
    fn a_hook_whose_limits_placet_does_not_have_is_left_out() {
        for (hook, why) in [
            (json!({"command": "x", "if": "Bash(git *)"}), "no `if`"),
            (json!({"command": "x", "once": true}), "no `once`"),
            (json!({"command": "x", "async": true}), "background"),
            (json!({"command": "x", "shell": "powershell"}), "`powershell`"),
            (json!({"type": "http", "url": "https://x"}), "`http`"),
            (json!({"command": "x", "args": [1]}), "wrong type"),
        ] {
            let error = one("Stop", None, &hook).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
