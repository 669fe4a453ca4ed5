//! Hooks in the form of Claude Code, which codex has too: an event, groups with a matcher, and commands in each group.

use super::plain_text::has_secret;
use super::proposal::{ImportProposal, MOST};
use super::skip_reason::SkipReason;
use crate::config::HookSettings;
use crate::hooks::is_claude_event;
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
    let command = hook.get("command").and_then(Value::as_str).ok_or(SkipReason::Type)?;
    if has_secret(command) {
        return Err(SkipReason::Secret);
    }
    let seconds = hook.get("timeout").and_then(Value::as_f64).filter(|s| (0.001..=3600.0).contains(s));
    Ok(HookSettings {
        point: event.into(),
        format: Some("claude".into()),
        matcher: matcher.map(String::from),
        command: Some(command.into()),
        timeout_ms: seconds.map(|seconds| std::time::Duration::from_secs_f64(seconds).as_millis() as u64),
        ..HookSettings::default()
    })
}
