//! The answers of the policy, and the proof of consent that a run needs.

use super::{Access, Grant, GrantId, Mode, WritePolicy};
use placet_text::conversation::CallId;
use std::borrow::Cow;
use std::fmt;

#[derive(Debug)]
pub enum Decision {
    Allow(Permit),
    Ask(PolicyQuestion),
    Deny(Denial),
}

impl Decision {
    /// The same, but never without a person: a hook demanded it. The answer cannot be remembered.
    #[must_use]
    pub fn asking(self, tool: &str, because: &str) -> Decision {
        match self {
            Decision::Deny(denial) => Decision::Deny(denial),
            Decision::Allow(Permit { call, reach, why, landing }) => Decision::Ask(PolicyQuestion {
                call,
                tool: tool.into(),
                reach,
                reason: because.into(),
                always: None,
                pattern: None,
                typed: None,
                needs_care: false,
                why: format!("{why}\n"),
                flag: None,
                landing,
            }),
            Decision::Ask(question) => {
                let reason = format!("{}; {because}", question.reason);
                Decision::Ask(PolicyQuestion { reason, always: None, pattern: None, flag: None, ..question })
            }
        }
    }
}

/// Consent to one call's accesses. Only this module can make it, and a run uses it up.
#[derive(Debug)]
pub struct Permit {
    call: CallId,
    reach: Vec<Access>,
    why: PermitReason,
    landing: WritePolicy,
}

impl Permit {
    pub(super) fn new(call: CallId, reach: Vec<Access>, why: PermitReason, landing: WritePolicy) -> Permit {
        Permit { call, reach, why, landing }
    }

    pub fn call(&self) -> &CallId {
        &self.call
    }

    pub fn why(&self) -> &PermitReason {
        &self.why
    }

    /// What happens to the changes of this call. The value is fixed with the consent: a switch of the mode during the
    /// call does not change it.
    pub fn write_policy(&self) -> WritePolicy {
        self.landing
    }

    /// True if the consent covers exactly this access; a run that finds another object must stop.
    pub fn covers(&self, reach: &Access) -> bool {
        self.reach.contains(reach)
    }
}

/// Who consented.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PermitReason {
    /// The mode alone allows it.
    Mode(&'static str),
    /// A rule, as it was written, and its origin.
    Rule { rule: String, origin: String },
    /// A grant the person gave earlier in this session.
    Grant { id: GrantId, words: String },
    /// The command changes nothing: it is in the built-in set.
    ReadOnly,
    /// One reason for each part of a line.
    Several(Vec<PermitReason>),
    /// The person, in answer to a question.
    Person,
}

impl PermitReason {
    /// The reasons without repetition; the mode is named only if there is no other reason.
    pub(super) fn all(reasons: impl IntoIterator<Item = PermitReason>) -> Option<PermitReason> {
        let mut parts: Vec<PermitReason> = Vec::new();
        for reason in reasons {
            let each = match reason {
                PermitReason::Several(inner) => inner,
                one => vec![one],
            };
            for one in each {
                if !parts.contains(&one) {
                    parts.push(one);
                }
            }
        }
        if parts.iter().any(|w| !matches!(w, PermitReason::Mode(_))) {
            parts.retain(|w| !matches!(w, PermitReason::Mode(_)));
        }
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(PermitReason::Several(parts)),
        }
    }

    /// This reason and all its parts.
    pub(super) fn parts(&self) -> &[PermitReason] {
        match self {
            PermitReason::Several(parts) => parts,
            one => std::slice::from_ref(one),
        }
    }
}

impl fmt::Display for PermitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PermitReason::Mode(name) => write!(f, "{name} mode allows it"),
            PermitReason::Rule { rule, origin } => write!(f, "the rule `{rule}` ({origin}) allows it"),
            PermitReason::Grant { id, words } => write!(f, "grant {id} allows it: {words}"),
            PermitReason::ReadOnly => f.write_str("it changes nothing"),
            PermitReason::Person => f.write_str("the person approved"),
            PermitReason::Several(parts) => {
                let told: Vec<String> = parts.iter().map(ToString::to_string).collect();
                f.write_str(&told.join("; "))
            }
        }
    }
}

/// A decision that needs a person.
#[derive(Debug)]
pub struct PolicyQuestion {
    pub call: CallId,
    pub tool: String,
    pub reach: Vec<Access>,
    /// Why placet asks, in one line: "ask mode", "outside the workspace", "`rm -rf` of ...".
    pub reason: String,
    /// What "always" would store, shown before the person chooses it. `None` if nothing may be remembered.
    pub always: Option<Grant>,
    /// What "always for commands like this" would store. `None` if the commands have no common kind.
    pub pattern: Option<Grant>,
    /// The word that the person must type to agree; a key is not enough here.
    pub typed: Option<String>,
    /// It destroys data that no undo brings back, or writes a protected file: the answer that is marked at first is no.
    pub needs_care: bool,
    /// How each part of the call was decided, in lines.
    pub why: String,
    /// The flag that avoids the question: `--mode write`, `--allow run_command`.
    pub flag: Option<String>,
    pub landing: WritePolicy,
}

impl PolicyQuestion {
    /// The person agreed to exactly this.
    pub fn allow(self) -> Permit {
        Permit::new(self.call, self.reach, PermitReason::Person, self.landing)
    }

    pub fn deny(self, words: &str) -> Denial {
        let reason = match words.trim() {
            "" => format!("{BY_PERSON}refused this call"),
            words => format!("{BY_PERSON}refused this call: {words}"),
        };
        Denial::new(reason, "do not try the same in another way; ask what they want instead")
    }
}

/// What a reason begins with that reports the person's own refusal to a model.
pub(super) const BY_PERSON: &str = "the person ";

/// A refusal, with what would have to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    pub reason: String,
    pub hint: String,
    /// The mode that refuses it, if another mode would help.
    pub refused_by: Option<Mode>,
}

impl Denial {
    /// A refusal that no other mode would change.
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Denial {
        Denial { reason: reason.into(), hint: hint.into(), refused_by: None }
    }

    /// The reason as it is shown to the person, whose own refusal it may be.
    pub fn reason_for_person(&self) -> Cow<'_, str> {
        match self.reason.strip_prefix(BY_PERSON) {
            Some(rest) => format!("you {rest}").into(),
            None => self.reason.as_str().into(),
        }
    }
}
