//! What looks like a secret stays with the person: not in requests, not in results, not in files of ours.

use crate::agent::event::TurnEvents;
use crate::conversation::Part;
use crate::permission::Access;
use crate::text::secret::{self, marks};
use crate::tools::ToolOutput;
use globset::GlobSet;
use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

/// What is kept from models and from files of ours.
#[derive(Default)]
pub struct SecretFilter {
    /// Secrets by their shape are looked for at all.
    pub on: bool,
    /// placet's own keys; one that is stored while placet runs is added.
    pub known: RwLock<Vec<String>>,
    /// Files whose secrets the person lets out.
    pub shown: GlobSet,
}

impl SecretFilter {
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if self.on { secret::redact(text, &known) } else { Cow::Borrowed(text) }
    }

    /// Hides these texts, too.
    pub fn add_known(&self, texts: impl IntoIterator<Item = String>) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).extend(texts);
    }

    /// True for a call that reads nothing but files whose secrets are let out.
    pub(in crate::agent) fn allows_secrets(&self, reach: &[Access]) -> bool {
        let mut paths = reach.iter().filter_map(Access::path).peekable();
        !self.on
            || paths.peek().is_some()
                && reach.iter().all(|r| r.path().is_some_and(|p| self.shown.is_match(p)))
    }

    /// Everything of a result that is text.
    pub(in crate::agent) fn clean(&self, mut output: ToolOutput) -> ToolOutput {
        for text in output.texts_mut() {
            if let Cow::Owned(redacted) = self.redact(text) {
                *text = redacted;
            }
        }
        output
    }

    /// What the person says without what looks like a secret: pasted output often holds one.
    pub(in crate::agent) fn clean_message(&self, mut parts: Vec<Part>, events: &TurnEvents) -> Vec<Part> {
        let mut hidden = 0;
        for text in parts.iter_mut().flat_map(Part::foreign_texts_mut) {
            let clean = self.redact(text).into_owned();
            hidden += marks(clean.as_bytes()).saturating_sub(marks(text.as_bytes()));
            *text = clean;
        }
        if hidden > 0 {
            events.notice(format!(
                "{} in your message hidden from the model; `secrets.redact = false` turns this off",
                crate::text::count::of(hidden, "secret")
            ));
        }
        parts
    }
}
