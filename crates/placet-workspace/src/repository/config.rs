//! Reads a git configuration file as text. Runs nothing, follows no include, and is bounded.
//!
//! The format is the one of `git config`'s manual, section "Syntax"; the parts that only the program shows (a value
//! that continues on the next line, names on the line of their section, `[section.sub]`) are as git 2.47 reads them.

use std::collections::BTreeMap;
use thiserror::Error;

/// The largest file that is read, in bytes, and the most settings.
pub(super) const LARGEST: u64 = 1 << 20;
const MOST_SETTINGS: usize = 20_000;

/// Values by full name (`section.subsection.key`, as git writes it), in the order of the file. `None` is a name alone,
/// which means true.
pub(crate) type GitSettings = BTreeMap<Vec<u8>, Vec<Option<Vec<u8>>>>;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum GitConfigError {
    #[error("line {line} is not valid")]
    Syntax { line: usize },
    #[error("more than {MOST_SETTINGS} settings")]
    Many,
}

/// All settings of the file. With an error, those before it are still given: git may have obeyed them.
pub(crate) fn settings(text: &[u8]) -> (GitSettings, Option<GitConfigError>) {
    // git skips a byte order mark, too.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = GitConfigReader { text, at: 0, line: 1, section: Vec::new() };
    let mut settings = GitSettings::new();
    let mut count = 0;
    loop {
        match reader.next_setting() {
            Ok(None) => return (settings, None),
            Ok(Some((name, value))) => {
                count += 1;
                if count > MOST_SETTINGS {
                    return (settings, Some(GitConfigError::Many));
                }
                settings.entry(name).or_default().push(value);
            }
            Err(line) => return (settings, Some(GitConfigError::Syntax { line })),
        }
    }
}

type GitSetting = (Vec<u8>, Option<Vec<u8>>);

struct GitConfigReader<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    /// Ends with a dot.
    section: Vec<u8>,
}

impl GitConfigReader<'_> {
    /// The next byte; `\r\n` is `\n`, and the end of the file ends a line.
    fn next(&mut self) -> Option<u8> {
        let mut byte = *self.text.get(self.at)?;
        self.at += 1;
        if byte == b'\r' && self.text.get(self.at) == Some(&b'\n') {
            self.at += 1;
            byte = b'\n';
        }
        if byte == b'\n' {
            self.line += 1;
        }
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        let ends = byte == b'\r' && self.text.get(self.at + 1) == Some(&b'\n');
        Some(if ends { b'\n' } else { byte })
    }

    fn next_setting(&mut self) -> Result<Option<GitSetting>, usize> {
        while let Some(byte) = self.next() {
            match byte {
                b'#' | b';' => self.skip_line(),
                b'[' => self.read_section()?,
                _ if is_space(byte) => {}
                _ if byte.is_ascii_alphabetic() => return self.read_setting(byte),
                _ => return Err(self.line),
            }
        }
        Ok(None)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// What follows `[`, to the `]`.
    fn read_section(&mut self) -> Result<(), usize> {
        let mut name = Vec::new();
        loop {
            match self.next() {
                Some(b']') if name.is_empty() => return Err(self.line),
                Some(b']') => break,
                Some(byte) if is_space(byte) && byte != b'\n' => {
                    name.push(b'.');
                    self.read_subsection(&mut name)?;
                    break;
                }
                Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.' => {
                    name.push(byte.to_ascii_lowercase());
                }
                _ => return Err(self.line),
            }
        }
        name.push(b'.');
        self.section = name;
        Ok(())
    }

    /// `"sub"]`, with whatever blanks come first.
    fn read_subsection(&mut self, name: &mut Vec<u8>) -> Result<(), usize> {
        let mut first = self.next();
        while first.is_some_and(|byte| is_space(byte) && byte != b'\n') {
            first = self.next();
        }
        if first != Some(b'"') {
            return Err(self.line);
        }
        loop {
            match self.next() {
                None | Some(b'\n' | 0) => return Err(self.line),
                Some(b'"') => break,
                Some(b'\\') => match self.next() {
                    None | Some(b'\n' | 0) => return Err(self.line),
                    Some(byte) => name.push(byte),
                },
                Some(byte) => name.push(byte),
            }
        }
        if self.next() == Some(b']') { Ok(()) } else { Err(self.line) }
    }

    /// A name that begins with `first`, and its value.
    fn read_setting(&mut self, first: u8) -> Result<Option<GitSetting>, usize> {
        let mut name = self.section.clone();
        name.push(first.to_ascii_lowercase());
        while let Some(byte) = self.peek().filter(|b| b.is_ascii_alphanumeric() || *b == b'-') {
            name.push(byte.to_ascii_lowercase());
            self.at += 1;
        }
        while self.peek().is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.at += 1;
        }
        match self.next() {
            None | Some(b'\n') => Ok(Some((name, None))),
            Some(b'=') => Ok(Some((name, Some(self.read_value()?)))),
            _ => Err(self.line),
        }
    }

    fn read_value(&mut self) -> Result<Vec<u8>, usize> {
        let mut value: Vec<u8> = Vec::new();
        // How long the value is without the blanks at its end.
        let (mut quoted, mut end) = (false, 0);
        loop {
            let line = self.line;
            match self.next() {
                None | Some(b'\n') if quoted => return Err(line),
                None | Some(b'\n') => break,
                Some(0) => return Err(line),
                Some(byte) if is_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                Some(b'#' | b';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some(b'\\') => match self.next() {
                    // The end of the file ends a line, also after a backslash.
                    None | Some(b'\n') => continue,
                    Some(b't') => value.push(b'\t'),
                    Some(b'b') => value.push(0x08),
                    Some(b'n') => value.push(b'\n'),
                    Some(byte @ (b'\\' | b'"')) => value.push(byte),
                    _ => return Err(line),
                },
                Some(b'"') => {
                    quoted = !quoted;
                    continue;
                }
                Some(byte) => value.push(byte),
            }
            end = value.len();
        }
        value.truncate(end);
        Ok(value)
    }
}

/// What C's `isspace` says in git, which leaves out the vertical tab and the form feed.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
