//! Reading the settings files of other programs: JSON, JSON with comments, TOML. All of them become one JSON value.

use crate::text::regular_file;
use serde_json::Value;
use std::io;
use std::path::Path;
use thiserror::Error;

/// The largest settings file that is read. Claude Code's `~/.claude.json` also has its state.
const LARGEST: u64 = 32 << 20;

#[derive(Debug, Error)]
pub(super) enum SourceFileError {
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("it is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("it is not valid TOML: {0}")]
    Toml(String),
}

/// The value of a file; `None` where there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Value>, SourceFileError> {
    let text = match regular_file::read_to_string(path, LARGEST) {
        Ok(text) => text,
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(e) => return Err(e.into()),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if path.extension().is_some_and(|end| end == "toml") {
        let table: toml::Table =
            text.parse().map_err(|e: toml::de::Error| SourceFileError::Toml(e.message().to_string()))?;
        return Ok(Some(serde_json::to_value(table)?));
    }
    if text.trim().is_empty() {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&without_comments(text))?))
}

/// JSON without comments and without commas before a closing bracket, as the other programs read it. Bytes that go
/// become blanks, so that an error names the right place.
fn without_comments(text: &str) -> String {
    let mut out: Vec<char> = Vec::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let (mut in_string, mut comma) = (false, None);
    while let Some(c) = rest.next() {
        if in_string {
            out.push(c);
            match c {
                '\\' => out.extend(rest.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match (c, rest.peek()) {
            ('/', Some('/')) => {
                while let Some(c) = rest.next_if(|c| *c != '\n') {
                    out.push(if c == '\r' { c } else { ' ' });
                }
                continue;
            }
            ('/', Some('*')) => {
                let mut before = ' ';
                for c in rest.by_ref() {
                    out.push(if c == '\n' { c } else { ' ' });
                    if before == '*' && c == '/' {
                        break;
                    }
                    before = c;
                }
                continue;
            }
            _ => {}
        }
        match c {
            '"' => (in_string, comma) = (true, None),
            ',' => comma = Some(out.len()),
            '}' | ']' => {
                if let Some(place) = comma.take().and_then(|at: usize| out.get_mut(at)) {
                    *place = ' ';
                }
            }
            c if c.is_whitespace() => {}
            _ => comma = None,
        }
        out.push(c);
    }
    out.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_go_and_texts_stay() {
        let text = "{ // a\n \"u\": \"http://x//y /* no */ \\\" // no\", /* b\n */ \"l\": [1, 2,\n], }";
        let read: Value = serde_json::from_str(&without_comments(text)).unwrap();
        assert_eq!(read, serde_json::json!({"u": "http://x//y /* no */ \" // no", "l": [1, 2]}));
        assert!(serde_json::from_str::<Value>(&without_comments("{\"a\": 1 /")).is_err());
        assert!(
            serde_json::from_str::<Value>(&without_comments("[,]")).is_ok_and(|v| v == serde_json::json!([]))
        );
    }
}
