//! The decisions of hooks.

use regex::Regex;

/// The decision of one hook.
#[derive(Clone, Debug)]
pub enum HookAction {
    Allow,
    Block(String),
    /// Only for results and answers.
    Redact(Vec<HookRedaction>),
    /// A person must agree.
    Ask(String),
}

/// The combined decision of the hooks of a point.
#[derive(Clone, Debug)]
pub struct HookRuling {
    pub action: HookAction,
    /// The hook that decided; `None` if no hook made a decision.
    pub hook: Option<String>,
    /// What is redacted in any case, even if a person is asked.
    pub redactions: Vec<HookRedaction>,
    /// Texts for the model, each with the name of its hook.
    pub additions: Vec<(String, String)>,
    /// Texts for the person.
    pub remarks: Vec<String>,
}

/// A pattern and its replacement.
#[derive(Clone, Debug)]
pub struct HookRedaction {
    pub(super) pattern: Regex,
    pub(super) replacement: String,
}

impl HookRedaction {
    /// `pattern` is a regular expression; the replacement is used literally.
    pub fn new(pattern: &str, replacement: &str) -> Result<HookRedaction, regex::Error> {
        Ok(HookRedaction { pattern: Regex::new(pattern)?, replacement: replacement.into() })
    }

    pub fn apply(&self, text: &str) -> String {
        self.pattern.replace_all(text, regex::NoExpand(&self.replacement)).into_owned()
    }

    pub(super) fn finds(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }
}

impl HookAction {
    /// The word for it, as in the answers of programs and in the audit log.
    pub fn name(&self) -> &'static str {
        match self {
            HookAction::Allow => "ALLOW",
            HookAction::Block(_) => "BLOCK",
            HookAction::Redact(_) => "REDACT",
            HookAction::Ask(_) => "REQUIRE_APPROVAL",
        }
    }

    fn strictness(&self) -> u8 {
        match self {
            HookAction::Allow => 0,
            HookAction::Redact(_) => 1,
            HookAction::Ask(_) => 2,
            HookAction::Block(_) => 3,
        }
    }
}

impl HookRuling {
    /// No hook was asked.
    pub fn nothing() -> HookRuling {
        HookRuling {
            action: HookAction::Allow,
            hook: None,
            redactions: Vec::new(),
            additions: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Combines two rulings: the stricter decision, and all redactions.
    pub(super) fn stricter(mut self, mut other: HookRuling) -> HookRuling {
        let mut additions = std::mem::take(&mut self.additions);
        additions.append(&mut other.additions);
        let mut remarks = std::mem::take(&mut self.remarks);
        remarks.append(&mut other.remarks);
        let mut redactions = self.redactions.clone();
        redactions.extend(other.redactions.iter().cloned());
        let winner = if other.action.strictness() > self.action.strictness() { other } else { self };
        let action = match winner.action {
            HookAction::Redact(_) => HookAction::Redact(redactions.clone()),
            action => action,
        };
        HookRuling { action, hook: winner.hook, redactions, additions, remarks }
    }

    /// A text with all redactions applied.
    pub fn redact(&self, text: &str) -> String {
        self.redactions.iter().fold(text.to_string(), |text, redaction| redaction.apply(&text))
    }

    /// The hook, what it does and its reason: ``says("blocks it")`` is "the hook `x` blocks it: reason".
    pub fn says(&self, what: &str) -> String {
        let hook = self.hook.as_deref().unwrap_or("-");
        match &self.action {
            HookAction::Block(reason) | HookAction::Ask(reason) if !reason.is_empty() => {
                format!("the hook `{hook}` {what}: {reason}")
            }
            _ => format!("the hook `{hook}` {what}"),
        }
    }
}
