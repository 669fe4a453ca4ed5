//! One hook: its point, its pattern, and its effect.

use super::claude::{self, ClaudeHook, HookOpinion};
pub use super::environment::HookEnvironment;
use super::ruling::{HookAction, HookRedaction};
use super::{HookContext, HookPoint, program};
use globset::{Glob, GlobMatcher};
use placet_config::HookSettings;
use regex::Regex;
use std::time::Duration;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// The author of a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookSource {
    /// The person, or a project they trust.
    #[default]
    Person,
    /// An untrusted project: its hooks can only make a session stricter.
    Project,
}

/// A hook as it is configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookSpec {
    pub name: String,
    pub source: HookSource,
    /// Its table: what is missing in it has its usual value.
    pub settings: HookSettings,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum HookError {
    #[error("the hook `{hook}` has the unknown point `{point}`; the points are {known}")]
    Point { hook: String, point: String, known: String },
    #[error("the hook `{hook}` has the unknown format `{format}`; the only one is `claude`")]
    Format { hook: String, format: String },
    #[error(
        "the hook `{hook}` has the unknown event `{event}`; the events of the format `claude` are {known}"
    )]
    Event { hook: String, event: String, known: String },
    #[error(
        "the hook `{hook}` has the format `claude`: it needs `command`, and of the other keys it takes only point, name, matcher, timeout_ms and priority"
    )]
    ClaudeKeys { hook: String },
    #[error("the hook `{hook}` has `matcher`, which needs `format = \"claude\"`")]
    Matcher { hook: String },
    #[error("the hook `{hook}` must have exactly one of command, deny, denylist, ask, allow, redact")]
    Effect { hook: String },
    #[error(
        "the hook `{hook}` redacts at {point}, which does not support redaction; use POST_TOOL_RESPONSE or PRE_OUTPUT"
    )]
    Redacts { hook: String, point: &'static str },
    /// Without this error it would never match, and guard nothing.
    #[error("the hook `{hook}` uses a field of a tool, but {point} has no tool")]
    Tool { hook: String, point: &'static str },
    #[error("the hook `{hook}` uses the unknown field `{key}`; available: {known}")]
    When { hook: String, key: String, known: String },
    #[error("the hook `{hook}` has an invalid pattern: {reason}")]
    Pattern { hook: String, reason: String },
}

/// The default priority, and the time limit of a program.
const PRIORITY: u64 = 500;
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct Hook {
    name: String,
    source: HookSource,
    point: HookPoint,
    tool: Option<GlobMatcher>,
    argument: Option<String>,
    when: Vec<(String, String)>,
    effect: HookEffect,
    priority: u64,
    reason: String,
}

enum HookEffect {
    Pattern { pattern: Regex, then: HookPatternAction },
    Denylist(Vec<String>),
    Redact(HookRedaction),
    Program { line: String, timeout: Duration },
    Claude(ClaudeHook),
}

#[derive(Clone, Copy)]
enum HookPatternAction {
    Deny,
    Ask,
    Allow,
}

impl Hook {
    pub fn parse(spec: HookSpec) -> Result<Hook, HookError> {
        let HookSpec { name, source, settings } = spec;
        match settings.format.as_deref() {
            Some("claude") => return Hook::of_claude(name, source, settings),
            Some(format) => return Err(HookError::Format { format: format.into(), hook: name }),
            None if settings.matcher.is_some() => return Err(HookError::Matcher { hook: name }),
            None => {}
        }
        let point = HookPoint::parse(&settings.point).ok_or_else(|| HookError::Point {
            hook: name.clone(),
            point: settings.point.clone(),
            known: HookPoint::ALL.map(HookPoint::name).join(", "),
        })?;
        if settings.tool.is_some() && !point.has_tool() {
            return Err(HookError::Tool { hook: name, point: point.name() });
        }
        let words = HookContext::default().words(point);
        if let Some((key, _)) = settings.when.iter().find(|(key, _)| !words.contains_key(key)) {
            let known: Vec<&str> = words.keys().map(String::as_str).collect();
            return Err(HookError::When { hook: name, key: key.clone(), known: known.join(", ") });
        }
        let bad = |reason: String| HookError::Pattern { hook: name.clone(), reason };
        let tool = settings.tool.as_deref().map(Glob::new).transpose().map_err(|e| bad(e.to_string()))?;
        let effect = effect(&name, &settings, point)?;
        // A list of forbidden words applies to commands unless the hook sets another argument.
        let usual = matches!(effect, HookEffect::Denylist(_)).then(|| "command".to_string());
        Ok(Hook {
            tool: tool.map(|glob| glob.compile_matcher()),
            argument: settings.argument.or(usual),
            when: settings.when,
            effect,
            priority: settings.priority.unwrap_or(PRIORITY),
            reason: settings.reason.unwrap_or_default(),
            name,
            source,
            point,
        })
    }

    fn of_claude(name: String, source: HookSource, settings: HookSettings) -> Result<Hook, HookError> {
        let Some(point) = claude::point_of(&settings.point) else {
            let known = claude::event_names();
            return Err(HookError::Event { hook: name, event: settings.point, known });
        };
        let HookSettings { command, matcher, priority, timeout_ms, .. } = settings.clone();
        let plain = HookSettings {
            name: settings.name.clone(),
            point: settings.point.clone(),
            format: settings.format.clone(),
            command: command.clone(),
            matcher: matcher.clone(),
            priority,
            timeout_ms,
            line: settings.line,
            ..HookSettings::default()
        };
        let (Some(line), true) = (command, plain == settings) else {
            return Err(HookError::ClaudeKeys { hook: name });
        };
        let matcher = claude::matcher(matcher.as_deref().unwrap_or_default())
            .map_err(|e| HookError::Pattern { hook: name.clone(), reason: e.to_string() })?;
        let timeout = timeout_ms.map_or(claude::TIMEOUT, Duration::from_millis);
        Ok(Hook {
            name,
            source,
            point,
            tool: None,
            argument: None,
            when: Vec::new(),
            effect: HookEffect::Claude(ClaudeHook { line, timeout, matcher }),
            priority: priority.unwrap_or(PRIORITY),
            reason: String::new(),
        })
    }

    pub(super) fn is_of_claude(&self) -> bool {
        matches!(self.effect, HookEffect::Claude(_))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn priority(&self) -> u64 {
        self.priority
    }

    pub(super) fn source(&self) -> HookSource {
        self.source
    }

    pub(super) fn applies_to(&self, point: HookPoint, tool: &str) -> bool {
        self.point == point && self.tool.as_ref().is_none_or(|glob| glob.is_match(tool))
    }

    /// What the hook says.
    pub(super) async fn ask(
        &self,
        point: HookPoint,
        context: &HookContext,
        programs: &HookEnvironment,
        cancel: &CancellationToken,
    ) -> HookOpinion {
        match &self.effect {
            HookEffect::Claude(hook) => hook.ask(point, context, programs, cancel).await,
            _ => HookOpinion::of(self.decide(point, context, programs, cancel).await),
        }
    }

    /// The hook's decision; `None` if it makes none.
    async fn decide(
        &self,
        point: HookPoint,
        context: &HookContext,
        programs: &HookEnvironment,
        cancel: &CancellationToken,
    ) -> Option<HookAction> {
        let words = context.words(point);
        let holds = |(name, value): &(String, String)| words.get(name).is_some_and(|v| v == value);
        if !self.when.iter().all(holds) {
            return None;
        }
        let subject = || context.subject(self.argument.as_deref());
        match &self.effect {
            HookEffect::Pattern { pattern, then } => {
                let found = subject().is_some_and(|text| pattern.is_match(&text));
                found.then(|| self.say(*then, "its pattern matches"))
            }
            HookEffect::Denylist(texts) => {
                let subject = subject()?;
                let found = texts.iter().find(|text| subject.contains(text.as_str()))?;
                Some(self.say(HookPatternAction::Deny, &format!("`{found}` is on its list")))
            }
            HookEffect::Redact(redaction) => {
                let text = context.text.as_deref()?;
                redaction.finds(text).then(|| HookAction::Redact(vec![redaction.clone()]))
            }
            HookEffect::Program { line, timeout } => {
                program::ask(line, *timeout, point, context, programs, cancel).await
            }
            HookEffect::Claude(_) => None,
        }
    }

    fn say(&self, then: HookPatternAction, otherwise: &str) -> HookAction {
        let reason = if self.reason.is_empty() { otherwise.to_string() } else { self.reason.clone() };
        match then {
            HookPatternAction::Deny => HookAction::Block(reason),
            HookPatternAction::Ask => HookAction::Ask(reason),
            HookPatternAction::Allow => HookAction::Allow,
        }
    }
}

fn effect(name: &str, settings: &HookSettings, point: HookPoint) -> Result<HookEffect, HookError> {
    let bad = |e: regex::Error| HookError::Pattern { hook: name.into(), reason: e.to_string() };
    let mut effects = Vec::new();
    for (pattern, then) in [
        (&settings.deny, HookPatternAction::Deny),
        (&settings.ask, HookPatternAction::Ask),
        (&settings.allow, HookPatternAction::Allow),
    ] {
        if let Some(pattern) = pattern {
            effects.push(HookEffect::Pattern { pattern: Regex::new(pattern).map_err(bad)?, then });
        }
    }
    if !settings.denylist.is_empty() {
        effects.push(HookEffect::Denylist(settings.denylist.clone()));
    }
    if let Some(pattern) = &settings.redact {
        if !point.can_redact() {
            return Err(HookError::Redacts { hook: name.into(), point: point.name() });
        }
        let with = settings.with.as_deref().unwrap_or("[redacted]");
        effects.push(HookEffect::Redact(HookRedaction::new(pattern, with).map_err(bad)?));
    }
    if let Some(line) = &settings.command {
        let timeout = settings.timeout_ms.map_or(TIMEOUT, Duration::from_millis);
        effects.push(HookEffect::Program { line: line.clone(), timeout });
    }
    match (effects.pop(), effects.is_empty()) {
        (Some(effect), true) => Ok(effect),
        _ => Err(HookError::Effect { hook: name.into() }),
    }
}
