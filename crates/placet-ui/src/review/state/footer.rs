//! The last lines of the review: what was said last, what may be done here, and whether keys are taken.

pub struct ReviewFooter {
    /// The message about the last key.
    pub message: Option<String>,
    /// What the person may do here, above the keys as long as the review is open.
    pub advice: Option<String>,
    /// Keys are taken, and named in the last row.
    pub(in crate::review) takes_keys: bool,
    /// An Enter decides at the summary now.
    pub(in crate::review) enter_counts: bool,
}

impl Default for ReviewFooter {
    fn default() -> ReviewFooter {
        ReviewFooter { message: None, advice: None, takes_keys: true, enter_counts: false }
    }
}

impl ReviewFooter {
    /// Says something behind what is said already.
    pub(in crate::review) fn say_also(&mut self, text: &str) {
        let before = self.message.take().map(|message| message + "; ").unwrap_or_default();
        self.message = Some(before + text);
    }

    /// Takes in whether an Enter that decides counts now; whether keys are taken from now on, and whether that changed.
    pub(in crate::review) fn note_enter_counts(&mut self, counts: bool) -> (bool, bool) {
        let is_first = counts && !self.takes_keys;
        self.takes_keys |= counts;
        (is_first, std::mem::replace(&mut self.enter_counts, counts) != counts)
    }
}
