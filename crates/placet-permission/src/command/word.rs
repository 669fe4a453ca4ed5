//! A word of a command line after the shell's quoting rules.

/// `text` is the value that the program gets, if it is certain: no expansion in it, or only expansions with known
/// values (`~`, `$HOME`, a variable set in the same line).
/// (`~`, `$HOME`, a variable set in the same line).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellWord {
    /// As written, without quotes, with unexpanded expansions.
    pub(crate) source: String,
    pub(crate) text: Option<String>,
    /// An unquoted `*`, `?`, `[` or brace list: the shell replaces it with file names, or with several words.
    pub(crate) glob: bool,
}

impl ShellWord {
    pub(crate) fn literal(text: &str) -> ShellWord {
        ShellWord { source: text.into(), text: Some(text.into()), glob: false }
    }

    /// A word that is known only at run time.
    pub(crate) fn unknown(source: &str) -> ShellWord {
        ShellWord { source: source.into(), text: None, glob: false }
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.text.as_deref() == Some(text)
    }

    /// The value if it is known, otherwise the spelling.
    pub(crate) fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.source)
    }
}

/// Builds a word from its pieces.
#[derive(Debug)]
pub(super) struct WordBuilder {
    source: String,
    text: Option<String>,
    glob: bool,
    quoted: bool,
    /// After an unquoted opening brace, and then a comma or two dots.
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

    /// Records that there were quotes, so that an empty word is a word.
    pub(super) fn quotes(&mut self) {
        self.quoted = true;
    }

    fn add(&mut self, c: char) {
        self.source.push(c);
        if let Some(text) = &mut self.text {
            text.push(c);
        }
    }

    /// Adds an expansion, with its value if it is known.
    pub(super) fn expansion(&mut self, source: &str, value: Option<&str>) {
        self.source.push_str(source);
        match (value, &mut self.text) {
            (Some(value), Some(text)) => text.push_str(value),
            _ => self.text = None,
        }
    }

    /// True if the word is still empty and has no quotes.
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
        // A brace list becomes several words, possibly with options.
        let text = self.text.filter(|_| self.brace < 3);
        // A bracket without a closing bracket is not a wildcard: `[` and `[[` are programs.
        let glob = self.glob && self.source != "[" && self.source != "[[";
        ShellWord { source: self.source, text, glob }
    }
}
