//! Text that looks like a secret stays with the person: it is redacted in requests, in results and in placet's own
//! files.

use crate::event::TurnEvents;
use globset::GlobSet;
use placet_permission::Access;
use placet_text::conversation::Part;
use placet_text::text::secret::{self, marks};
use placet_tools::ToolOutput;
use std::borrow::Cow;
use std::sync::{PoisonError, RwLock};

/// The secrets to redact for models and in placet's own files.
#[derive(Default)]
pub struct SecretFilter {
    /// Whether text with the shape of a secret is searched at all.
    pub on: bool,
    /// placet's own API keys; a key that is stored while placet runs is added.
    pub known: RwLock<Vec<String>>,
    /// Files whose secrets the person allows to be sent.
    pub shown: GlobSet,
}

impl SecretFilter {
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if self.on { secret::redact(text, &known) } else { Cow::Borrowed(text) }
    }

    /// Redacts these texts from now on, too.
    pub fn add_known(&self, texts: impl IntoIterator<Item = String>) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).extend(texts);
    }

    /// True for a call that only reads files whose secrets are allowed.
    pub(crate) fn allows_secrets(&self, reach: &[Access]) -> bool {
        let mut paths = reach.iter().filter_map(Access::path).peekable();
        !self.on
            || paths.peek().is_some()
                && reach.iter().all(|r| r.path().is_some_and(|p| self.shown.is_match(p)))
    }

    /// Redacts every text of a result.
    pub(crate) fn clean(&self, mut output: ToolOutput) -> ToolOutput {
        for text in output.texts_mut() {
            if let Cow::Owned(redacted) = self.redact(text) {
                *text = redacted;
            }
        }
        output
    }

    /// Redacts the person's message: pasted output often contains a secret.
    pub(crate) fn clean_message(&self, mut parts: Vec<Part>, events: &TurnEvents) -> Vec<Part> {
        let mut hidden = 0;
        for text in parts.iter_mut().flat_map(Part::foreign_texts_mut) {
            let clean = self.redact(text).into_owned();
            hidden += marks(clean.as_bytes()).saturating_sub(marks(text.as_bytes()));
            *text = clean;
        }
        if hidden > 0 {
            events.notice(format!(
                "{} in your message hidden from the model; `secrets.redact = false` turns this off",
                placet_text::text::count::of(hidden, "secret")
            ));
        }
        parts
    }
}
