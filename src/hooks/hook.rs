//! One hook: where it is asked, what it looks for, and what it says.

use super::ruling::{Action, Redaction};
use super::{Context, Point, program};
use globset::{Glob, GlobMatcher};
use regex::Regex;
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// Who wrote a hook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The person, or a project they trust.
    #[default]
    Person,
    /// A project that is not trusted: it can only make things stricter.
    Project,
}

/// A hook as it is written.
#[derive(Clone, Debug, Default)]
pub struct Spec {
    pub name: String,
    pub source: Source,
    pub point: String,
    /// A glob over tool names; all tools, if absent.
    pub tool: Option<String>,
    /// The argument a pattern is compared with: `path`, `options.depth`.
    pub argument: Option<String>,
    /// Values of the context that must hold: `session_taint` is `CONFIDENTIAL`.
    pub when: Vec<(String, String)>,
    pub deny: Option<String>,
    pub ask: Option<String>,
    pub allow: Option<String>,
    pub redact: Option<String>,
    /// What stands in place of what is redacted: `[redacted]`.
    pub with: Option<String>,
    /// Texts of which none may occur in a command.
    pub denylist: Vec<String>,
    pub command: Option<String>,
    pub priority: Option<u64>,
    pub timeout_ms: Option<u64>,
    pub reason: Option<String>,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum HookError {
    #[error("the hook `{hook}` has the unknown point `{point}`; the points are {known}")]
    Point { hook: String, point: String, known: String },
    #[error("the hook `{hook}` must have exactly one of command, deny, denylist, ask, allow, redact")]
    Effect { hook: String },
    #[error(
        "the hook `{hook}` redacts at {point}, where nothing can be redacted; use POST_TOOL_RESPONSE or PRE_OUTPUT"
    )]
    Redacts { hook: String, point: &'static str },
    /// Left alone, it would never match, and guard nothing.
    #[error("the hook `{hook}` looks at a tool, and there is none at {point}")]
    Tool { hook: String, point: &'static str },
    #[error("the hook `{hook}` compares `{key}`, which nobody tells it; known are {known}")]
    When { hook: String, key: String, known: String },
    #[error("the hook `{hook}` has a pattern that is not one: {reason}")]
    Pattern { hook: String, reason: String },
}

/// How the person's programs are run.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// placet itself: see [`crate::process::supervise`].
    pub supervisor: PathBuf,
    /// Names of environment variables that they do not see: the keys.
    pub withheld: Vec<String>,
}

/// The usual place in the order, and the time a program has.
const PRIORITY: u64 = 500;
const TIMEOUT: Duration = Duration::from_secs(5);

pub struct Hook {
    name: String,
    source: Source,
    point: Point,
    tool: Option<GlobMatcher>,
    argument: Option<String>,
    when: Vec<(String, String)>,
    effect: Effect,
    priority: u64,
    reason: String,
}

enum Effect {
    Pattern { pattern: Regex, then: Then },
    Denylist(Vec<String>),
    Redact(Redaction),
    Program { line: String, timeout: Duration },
}

#[derive(Clone, Copy)]
enum Then {
    Deny,
    Ask,
    Allow,
}

impl Hook {
    pub fn parse(spec: Spec) -> Result<Hook, HookError> {
        let point = Point::parse(&spec.point).ok_or_else(|| HookError::Point {
            hook: spec.name.clone(),
            point: spec.point.clone(),
            known: Point::ALL.map(Point::name).join(", "),
        })?;
        if spec.tool.is_some() && !point.has_tool() {
            return Err(HookError::Tool { hook: spec.name, point: point.name() });
        }
        let words = Context::default().words(point);
        if let Some((key, _)) = spec.when.iter().find(|(key, _)| !words.contains_key(key)) {
            let known: Vec<&str> = words.keys().map(String::as_str).collect();
            return Err(HookError::When { hook: spec.name, key: key.clone(), known: known.join(", ") });
        }
        let bad = |reason: String| HookError::Pattern { hook: spec.name.clone(), reason };
        let tool = spec.tool.as_deref().map(Glob::new).transpose().map_err(|e| bad(e.to_string()))?;
        let effect = effect(&spec, point)?;
        // A list of forbidden words is about commands unless it says otherwise.
        let usual = matches!(effect, Effect::Denylist(_)).then(|| "command".to_string());
        Ok(Hook {
            tool: tool.map(|glob| glob.compile_matcher()),
            argument: spec.argument.or(usual),
            when: spec.when,
            effect,
            priority: spec.priority.unwrap_or(PRIORITY),
            reason: spec.reason.unwrap_or_default(),
            name: spec.name,
            source: spec.source,
            point,
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn priority(&self) -> u64 {
        self.priority
    }

    pub(super) fn source(&self) -> Source {
        self.source
    }

    pub(super) fn speaks_of(&self, point: Point, tool: &str) -> bool {
        self.point == point && self.tool.as_ref().is_none_or(|glob| glob.is_match(tool))
    }

    /// Its opinion; `None` when it has none.
    pub(super) async fn ask(
        &self,
        point: Point,
        context: &Context,
        programs: &Programs,
        cancel: &CancellationToken,
    ) -> Option<Action> {
        let words = context.words(point);
        let holds = |(name, value): &(String, String)| words.get(name).is_some_and(|v| v == value);
        if !self.when.iter().all(holds) {
            return None;
        }
        let subject = || context.subject(self.argument.as_deref());
        match &self.effect {
            Effect::Pattern { pattern, then } => {
                let found = subject().is_some_and(|text| pattern.is_match(&text));
                found.then(|| self.say(*then, "its pattern matches"))
            }
            Effect::Denylist(texts) => {
                let subject = subject()?;
                let found = texts.iter().find(|text| subject.contains(text.as_str()))?;
                Some(self.say(Then::Deny, &format!("`{found}` is on its list")))
            }
            Effect::Redact(redaction) => {
                let text = context.text.as_deref()?;
                redaction.finds(text).then(|| Action::Redact(vec![redaction.clone()]))
            }
            Effect::Program { line, timeout } => {
                program::ask(line, *timeout, point, context, programs, cancel).await
            }
        }
    }

    fn say(&self, then: Then, otherwise: &str) -> Action {
        let reason = if self.reason.is_empty() { otherwise.to_string() } else { self.reason.clone() };
        match then {
            Then::Deny => Action::Block(reason),
            Then::Ask => Action::Ask(reason),
            Then::Allow => Action::Allow,
        }
    }
}

fn effect(spec: &Spec, point: Point) -> Result<Effect, HookError> {
    let bad = |e: regex::Error| HookError::Pattern { hook: spec.name.clone(), reason: e.to_string() };
    let mut effects = Vec::new();
    for (pattern, then) in [(&spec.deny, Then::Deny), (&spec.ask, Then::Ask), (&spec.allow, Then::Allow)] {
        if let Some(pattern) = pattern {
            effects.push(Effect::Pattern { pattern: Regex::new(pattern).map_err(bad)?, then });
        }
    }
    if !spec.denylist.is_empty() {
        effects.push(Effect::Denylist(spec.denylist.clone()));
    }
    if let Some(pattern) = &spec.redact {
        if !point.can_redact() {
            return Err(HookError::Redacts { hook: spec.name.clone(), point: point.name() });
        }
        let with = spec.with.as_deref().unwrap_or("[redacted]");
        effects.push(Effect::Redact(Redaction::new(pattern, with).map_err(bad)?));
    }
    if let Some(line) = &spec.command {
        let timeout = spec.timeout_ms.map_or(TIMEOUT, Duration::from_millis);
        effects.push(Effect::Program { line: line.clone(), timeout });
    }
    match (effects.pop(), effects.is_empty()) {
        (Some(effect), true) => Ok(effect),
        _ => Err(HookError::Effect { hook: spec.name.clone() }),
    }
}
