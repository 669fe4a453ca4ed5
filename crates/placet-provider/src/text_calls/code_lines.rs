//! Which parts of an answer are code or quotations: no call is made there.

/// What a code fence may be called in which a call is.
pub(super) const FENCE_WORDS: [&str; 7] = ["", "json", "tool_call", "tool_calls", "tool", "python", "xml"];

/// What begins a quotation in front of a marker, and what begins a line of a quotation or a table.
const QUOTES: [char; 12] = [
    '"', '\'', '`', '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{201a}', '\u{ab}',
    '\u{bb}', '\u{2039}',
];
const QUOTED_LINE: [char; 2] = ['>', '|'];

/// True behind a quotation mark, in an indented or quoted line, and for a fence that does not begin its line.
pub(super) fn is_quoted(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    let said = before.trim_start();
    let indent = before.get(..before.len() - said.len()).unwrap_or_default();
    let is_fence = !said.is_empty() && line.get(at..).is_some_and(|rest| rest.starts_with('`'));
    let is_indented = indent.len() > 3 || indent.contains('\t');
    is_indented || is_fence || said.starts_with(QUOTED_LINE) || before.ends_with(QUOTES)
}

/// Which lines are in a code fence, or between tags that quote.
#[derive(Debug, Default)]
pub(super) struct CodeLines {
    /// The marks that began it, and how far the line was indented.
    fence: Option<(String, usize)>,
    tag: Option<&'static str>,
}

/// The tags between which a text is shown, hidden or thought, and no call is made.
pub(super) const QUOTING_TAGS: [(&str, &str); 5] = [
    ("<pre", "</pre>"),
    ("<code", "</code>"),
    ("<!--", "-->"),
    ("<think", "</think"),
    ("<thought", "</thought"),
];

impl CodeLines {
    pub(super) fn is_code(&self) -> bool {
        self.fence.is_some() || self.tag.is_some()
    }

    pub(super) fn pass(&mut self, line: &str) {
        let indent = line.len() - line.trim_start().len();
        let line = line.trim();
        match (&self.fence, self.tag) {
            (Some((open, begin)), _) => {
                let is_end = indent < begin + 4
                    && line.starts_with(open.as_str())
                    && line.trim_matches(['`', '~']).is_empty();
                if is_end {
                    self.fence = None;
                }
            }
            (None, Some(close)) => {
                if line.to_ascii_lowercase().contains(close) {
                    self.tag = None;
                }
            }
            (None, None) => {
                let item = line.trim_start_matches(|c: char| {
                    matches!(c, '-' | '*' | '+' | '.' | ' ') || c.is_ascii_digit()
                });
                let mark = item.chars().next().filter(|c| matches!(c, '`' | '~'));
                let mark: String = item.chars().take_while(|c| Some(*c) == mark).collect();
                // Code within a line has its end there.
                let is_inline =
                    mark.starts_with('`') && item.get(mark.len()..).is_some_and(|word| word.contains('`'));
                if mark.len() >= 3 && !is_inline {
                    self.fence = Some((mark, indent));
                    return;
                }
                let line = line.to_ascii_lowercase();
                let opened = QUOTING_TAGS.iter().find_map(|(open, close)| {
                    let (_, rest) = line.rsplit_once(open)?;
                    (!rest.contains(close)).then_some(*close)
                });
                self.tag = opened;
            }
        }
    }
}
