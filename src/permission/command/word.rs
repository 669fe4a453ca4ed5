//! A word of a command line after the shell's quoting rules.

/// `text` is what the program gets, where that is certain: no expansion in it, or only ones whose value is known
/// (`~`, `$HOME`, a variable set in the same line).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::permission) struct ShellWord {
    /// As written, quotes removed, expansions left as they stand.
    pub(in crate::permission) source: String,
    pub(in crate::permission) text: Option<String>,
    /// An unquoted `*`, `?`, `[` or brace list: the shell puts file names, or several words, in its place.
    pub(in crate::permission) glob: bool,
}

impl ShellWord {
    pub(in crate::permission) fn literal(text: &str) -> ShellWord {
        ShellWord { source: text.into(), text: Some(text.into()), glob: false }
    }

    /// A word that only the run will know.
    pub(in crate::permission) fn unknown(source: &str) -> ShellWord {
        ShellWord { source: source.into(), text: None, glob: false }
    }

    pub(in crate::permission) fn is(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    /// The value where it is known, else the spelling.
    pub(in crate::permission) fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.source)
    }
}

/// Puts a word together from its pieces.
#[derive(Debug)]
pub(super) struct WordBuilder {
    source: String,
    text: Option<String>,
    glob: bool,
    quoted: bool,
    /// An opening brace was seen unquoted, then a comma or two dots.
    brace: u8,
}

impl WordBuilder {
    pub(super) fn new() -> WordBuilder {
        WordBuilder { source: String::new(), text: Some(String::new()), glob: false, quoted: false, brace: 0 }
    }

    pub(super) fn plain(&mut self, c: char) {
        match c {
            '*' | '?' | '[' => self.glob = true,
            '{' if self.brace < 3 => self.brace = 1,
            ',' if self.brace == 1 => self.brace = 2,
            '.' if self.brace == 1 && self.source.ends_with('.') => self.brace = 2,
            '}' if self.brace == 2 => {
                self.glob = true;
                self.brace = 3;
            }
            _ => {}
        }
        self.add(c);
    }

    pub(super) fn quoted(&mut self, c: char) {
        self.quoted = true;
        self.add(c);
    }

    /// Marks that there were quotes, so that an empty word is a word.
    pub(super) fn quotes(&mut self) {
        self.quoted = true;
    }

    fn add(&mut self, c: char) {
        self.source.push(c);
        if let Some(text) = &mut self.text {
            text.push(c);
        }
    }

    /// An expansion, with its value where that is known.
    pub(super) fn expansion(&mut self, source: &str, value: Option<&str>) {
        self.source.push_str(source);
        match (value, &mut self.text) {
            (Some(value), Some(text)) => text.push_str(value),
            _ => self.text = None,
        }
    }

    /// True when nothing stands in the word yet, quotes included.
    pub(super) fn is_empty(&self) -> bool {
        self.source.is_empty() && !self.quoted
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quoted
    }

    pub(super) fn finish(self) -> ShellWord {
        // A brace list becomes several words, options among them.
        let text = self.text.filter(|_| self.brace < 3);
        // A bracket that nothing closes is no wildcard: `[` and `[[` are programs.
        let glob = self.glob && self.source != "[" && self.source != "[[";
        ShellWord { source: self.source, text, glob }
    }
}
