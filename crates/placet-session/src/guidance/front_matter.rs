//! The front matter of a skill or a command: a block of YAML between two lines `---` at the beginning of a file.
//!
//! The needed part of YAML is read here, and no library is used. Files of strangers are read: anchors and aliases can
//! grow without end, tags can name types, and neither has a use here. A library would also refuse what many published
//! skills contain, such as `description: Use when: ...`, and its errors describe YAML and not the file. What is read: keys
//! at the top level; texts that are plain, quoted, folded (`>`) or literal (`|`); lists in brackets or with dashes. A
//! nested mapping is skipped, because no key that placet uses has one.

use thiserror::Error;

/// The most bytes of a front matter: more is no description of a file.
const LARGEST: usize = 64 * 1024;
/// The most keys.
const MOST: usize = 200;

/// The keys of a file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    entries: Vec<(String, FrontMatterValue)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FrontMatterValue {
    Text(String),
    /// A list, and how it was written.
    List(Vec<String>, String),
    /// A mapping, which nobody reads.
    Nested,
}

/// Why the front matter of a file cannot be read. Lines are counted from the beginning of the file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FrontMatterError {
    #[error("the front matter has no end: a line `---` is missing")]
    Unclosed,
    #[error("the front matter is larger than {} KB", LARGEST / 1024)]
    TooLarge,
    #[error("the front matter has more than {MOST} keys")]
    TooMany,
    #[error("line {0}: expected `key: value`")]
    NoKey(usize),
    #[error("line {0}: indented by a tab, which YAML does not allow")]
    Tab(usize),
    #[error("line {0}: the key `{1}` is there twice")]
    Twice(usize, String),
    #[error("line {0}: the quote is not closed")]
    Quote(usize),
    #[error("line {0}: the list is not closed by `]`")]
    Bracket(usize),
    #[error("line {0}: anchors, aliases and tags of YAML are not read; put the text in quotes")]
    Feature(usize),
}

/// The front matter of `text` and the rest of it. A text without front matter is all rest.
pub fn split_front_matter(text: &str) -> Result<(FrontMatter, &str), FrontMatterError> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let is_fence = |line: &str| line.trim_end() == "---";
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok((FrontMatter::default(), text));
    };
    let mut end = first.len();
    let mut block = Vec::new();
    for line in lines {
        end += line.len();
        if is_fence(line) {
            let front = BlockReader { lines: &block, at: 0 }.read()?;
            return Ok((front, text.get(end..).unwrap_or("")));
        }
        if end > LARGEST {
            return Err(FrontMatterError::TooLarge);
        }
        block.push(line.trim_end());
    }
    Err(FrontMatterError::Unclosed)
}

impl FrontMatter {
    fn get(&self, key: &str) -> Option<&FrontMatterValue> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a key, as it was written where it is a list: `[issue] [priority]`.
    pub fn value(&self, key: &str) -> Option<&str> {
        let text = match self.get(key)? {
            FrontMatterValue::Text(text) | FrontMatterValue::List(_, text) => text.trim(),
            FrontMatterValue::Nested => return None,
        };
        (!text.is_empty()).then_some(text)
    }

    /// True for `true`, `yes` and `on`.
    pub fn is_set(&self, key: &str) -> bool {
        self.value(key).is_some_and(|text| matches!(text.to_lowercase().as_str(), "true" | "yes" | "on"))
    }

    /// The items of a key: of a list, or of a text at its commas and blanks. Blanks in brackets part nothing:
    /// `Bash(git add:*), Read` has two items.
    pub fn items(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(FrontMatterValue::List(items, _)) => items.clone(),
            Some(FrontMatterValue::Text(text)) => items_of(text),
            Some(FrontMatterValue::Nested) | None => Vec::new(),
        }
    }
}

fn items_of(text: &str) -> Vec<String> {
    let (mut items, mut item, mut depth) = (Vec::new(), String::new(), 0_u32);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            items.push(std::mem::take(&mut item));
        } else {
            item.push(c);
        }
    }
    items.push(item);
    items.retain(|item| !item.trim().is_empty());
    items
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The key of a line and the rest of it. A key ends at a colon that a blank or the end of the line follows.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let at = line.char_indices().find(|(at, c)| {
        *c == ':' && line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
    });
    let (key, rest) = line.split_at(at?.0);
    let key = key.trim().trim_matches(['"', '\'']);
    let is_name = !key.is_empty() && !key.starts_with(['-', '#', '[', '{']) && key.len() <= 100;
    is_name.then(|| (key, rest.get(1..).unwrap_or("").trim()))
}

/// A text without a comment at its end.
fn without_comment(text: &str) -> &str {
    let comment = text.find(" #").or_else(|| text.starts_with('#').then_some(0));
    comment.map_or(text, |at| text.get(..at).unwrap_or(text)).trim_end()
}

/// Reads the lines between the fences.
struct BlockReader<'l> {
    lines: &'l [&'l str],
    at: usize,
}

impl<'l> BlockReader<'l> {
    /// The number of the present line in the file: the first fence is line 1.
    fn number(&self) -> usize {
        self.at + 2
    }

    fn line(&self) -> Option<&'l str> {
        self.lines.get(self.at).copied()
    }

    fn read(mut self) -> Result<FrontMatter, FrontMatterError> {
        let mut front = FrontMatter::default();
        while let Some(line) = self.line() {
            if is_blank(line) || line.trim_start().starts_with('#') {
                self.at += 1;
                continue;
            }
            if line.starts_with('\t') {
                return Err(FrontMatterError::Tab(self.number()));
            }
            let number = self.number();
            let Some((key, rest)) = key_of(line).filter(|_| indent(line) == 0) else {
                return Err(FrontMatterError::NoKey(number));
            };
            if front.get(key).is_some() {
                return Err(FrontMatterError::Twice(number, key.into()));
            }
            if front.entries.len() == MOST {
                return Err(FrontMatterError::TooMany);
            }
            self.at += 1;
            let value = self.value(rest, number)?;
            front.entries.push((key.into(), value));
        }
        Ok(front)
    }

    /// The value of a key, whose line ends with `rest`; the lines after it may continue it.
    fn value(&mut self, rest: &str, number: usize) -> Result<FrontMatterValue, FrontMatterError> {
        match rest.chars().next() {
            None | Some('#') => self.below(),
            Some('|' | '>') if is_block_header(rest) => Ok(FrontMatterValue::Text(self.block(rest))),
            Some(quote @ ('"' | '\'')) => self.quoted(rest, quote, number),
            Some('[') => self.flow_list(rest, number),
            Some('{') => {
                self.indented();
                Ok(FrontMatterValue::Nested)
            }
            Some('&' | '*' | '!') => Err(FrontMatterError::Feature(number)),
            Some(_) => Ok(FrontMatterValue::Text(self.plain(rest))),
        }
    }

    /// The further lines that are indented, blank ones between them included.
    fn indented(&mut self) -> Vec<&'l str> {
        let begin = self.at;
        let mut end = self.at;
        while let Some(line) = self.line() {
            if !is_blank(line) && indent(line) == 0 {
                break;
            }
            self.at += 1;
            if !is_blank(line) {
                end = self.at;
            }
        }
        self.at = end.max(begin);
        self.lines.get(begin..end).unwrap_or_default().to_vec()
    }

    /// A value that begins in the next line: a list with dashes, a mapping, or a text.
    fn below(&mut self) -> Result<FrontMatterValue, FrontMatterError> {
        let is_item = |line: &str| line.trim_start() == "-" || line.trim_start().starts_with("- ");
        let next = self.lines.get(self.at..).unwrap_or_default().iter().position(|line| !is_blank(line));
        let next = next.and_then(|skip| self.lines.get(self.at + skip)).copied().unwrap_or("");
        if is_item(next) {
            return self.dashed(indent(next));
        }
        let lines = self.indented();
        let is_mapping = lines.first().is_some_and(|line| key_of(line.trim()).is_some());
        match is_mapping {
            true => Ok(FrontMatterValue::Nested),
            false => Ok(FrontMatterValue::Text(folded(lines.iter().map(|line| line.trim())))),
        }
    }

    /// A list with dashes, which may begin at the column of its key.
    fn dashed(&mut self, column: usize) -> Result<FrontMatterValue, FrontMatterError> {
        let (mut items, begin) = (Vec::new(), self.at);
        while let Some(line) = self.line() {
            let text = line.trim();
            if text.is_empty() || text.starts_with('#') {
                self.at += 1;
                continue;
            }
            let Some(item) = text.strip_prefix('-').filter(|_| indent(line) == column) else {
                // A deeper line continues the last item.
                if indent(line) > column {
                    self.at += 1;
                    continue;
                }
                break;
            };
            items.push(unquoted(without_comment(item.trim())));
            self.at += 1;
        }
        let written = self.lines.get(begin..self.at).unwrap_or_default().iter().map(|line| line.trim());
        Ok(FrontMatterValue::List(items, folded(written)))
    }

    /// `|` keeps the breaks of lines, `>` makes blanks of them.
    fn block(&mut self, header: &str) -> String {
        let lines = self.indented();
        let inner = lines.iter().filter(|line| !is_blank(line)).map(|line| indent(line)).min().unwrap_or(0);
        let lines = lines.iter().map(|line| line.get(inner..).unwrap_or(""));
        match header.starts_with('|') {
            true => lines.collect::<Vec<_>>().join("\n"),
            false => folded(lines),
        }
    }

    /// A text that may go on in indented lines.
    fn plain(&mut self, rest: &str) -> String {
        let first = without_comment(rest);
        let more = self.indented();
        let more = more.iter().map(|line| without_comment(line.trim()));
        folded(std::iter::once(first).chain(more))
    }

    fn quoted(
        &mut self,
        rest: &str,
        quote: char,
        number: usize,
    ) -> Result<FrontMatterValue, FrontMatterError> {
        let mut text = rest.to_string();
        loop {
            if let Some((value, after)) = unquote(&text, quote) {
                // `"a" or "b"` begins with a quote and is plain text.
                return match after.trim().is_empty() || after.trim().starts_with('#') {
                    true => Ok(FrontMatterValue::Text(value)),
                    false => Ok(FrontMatterValue::Text(self.plain(&text))),
                };
            }
            let more = self.line().filter(|line| is_blank(line) || indent(line) > 0);
            let more = more.ok_or(FrontMatterError::Quote(number))?;
            text.push(if is_blank(more) { '\n' } else { ' ' });
            text.push_str(more.trim());
            self.at += 1;
        }
    }

    fn flow_list(&mut self, rest: &str, number: usize) -> Result<FrontMatterValue, FrontMatterError> {
        let mut text = rest.to_string();
        while !text.contains(']') {
            let more = self.line().filter(|line| is_blank(line) || indent(line) > 0 || line.starts_with(']'));
            text.push(' ');
            text.push_str(more.ok_or(FrontMatterError::Bracket(number))?.trim());
            self.at += 1;
        }
        let written = without_comment(&text).to_string();
        let inner = written.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        // `[issue] [priority]`, the arguments of a command, begins like a list and is not one.
        match inner.filter(|inner| !inner.contains(['[', ']'])) {
            Some(inner) => {
                let items = split_outside_quotes(inner).into_iter().map(|item| unquoted(item.trim()));
                Ok(FrontMatterValue::List(items.filter(|item| !item.is_empty()).collect(), written))
            }
            None => Ok(FrontMatterValue::Text(written)),
        }
    }
}

/// `|`, `>-`, `|2+`: a sign and what may follow it. `> quoted` is text.
fn is_block_header(rest: &str) -> bool {
    let header = without_comment(rest);
    header.chars().skip(1).all(|c| matches!(c, '-' | '+' | '1'..='9'))
}

/// Lines as one line; a blank line is a break.
fn folded<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for line in lines {
        let line = line.trim_end();
        if line.is_empty() {
            out.push('\n');
            continue;
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push(' ');
        }
        out.push_str(line);
    }
    out.trim().to_string()
}

/// The text of a quoted value and what follows it. `None` while the quote is open.
fn unquote(text: &str, quote: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => {
                let (_, next) = chars.next()?;
                match next {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'x' => out.extend(code_point(&mut chars, 2)),
                    'u' => out.extend(code_point(&mut chars, 4)),
                    'U' => out.extend(code_point(&mut chars, 8)),
                    next => out.push(next),
                }
            }
            c if c == quote => {
                let after = text.get(at + c.len_utf8()..).unwrap_or("");
                // Two single quotes are one of the text.
                if quote == '\'' && after.starts_with('\'') {
                    out.push('\'');
                    chars.next();
                    continue;
                }
                return Some((out, after));
            }
            c => out.push(c),
        }
    }
    None
}

fn code_point(chars: &mut impl Iterator<Item = (usize, char)>, digits: usize) -> Option<char> {
    let hex: String = chars.take(digits).map(|(_, c)| c).collect();
    char::from_u32(u32::from_str_radix(&hex, 16).ok()?)
}

fn unquoted(text: &str) -> String {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''));
    let inner = quote.and_then(|quote| unquote(text, quote)).filter(|(_, after)| after.trim().is_empty());
    inner.map_or_else(|| text.to_string(), |(inner, _)| inner)
}

fn split_outside_quotes(text: &str) -> Vec<String> {
    let (mut items, mut item, mut quote, mut depth) = (Vec::new(), String::new(), None, 0_u32);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') if item.trim().is_empty() => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.push(std::mem::take(&mut item));
                continue;
            }
            _ => {}
        }
        item.push(c);
    }
    items.push(item);
    items
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
