//! The format of results: lists as Python prints them, and no result longer than those of 0.4 and 0.7.

use regex::Regex;
use std::sync::LazyLock;

/// The longest result of ls, glob, grep and read_file, in characters: 20,000 tokens of four.
pub(super) const MOST: usize = 80_000;

/// Cuts a text as ls, glob and grep cut their results.
pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(MOST) {
        None => text,
        Some((at, _)) => {
            let head = text.get(..at).unwrap_or_default();
            let head = head.rfind('\n').and_then(|end| head.get(..=end)).unwrap_or(head);
            format!("{head}... [results truncated, try being more specific with your parameters]")
        }
    }
}

/// A list as Python prints one.
pub(super) fn python_list(items: &[String]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| python_string(item)).collect();
    format!("[{}]", quoted.join(", "))
}

fn python_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', c]),
            c if !is_printable(c) => match u32::from(c) {
                code @ 0..=0xFF => out.push_str(&format!("\\x{code:02x}")),
                code @ 0x100..=0xFFFF => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// As `str.isprintable` of Python: no control or format character, no separator except the space. Without this, two
/// different names could look equal on the screen.
fn is_printable(c: char) -> bool {
    static OTHERS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^[\p{C}\p{Z}&&[^ ]]$").ok());
    let mut bytes = [0; 4];
    !OTHERS.as_ref().is_some_and(|others| others.is_match(c.encode_utf8(&mut bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_printed_as_python_prints_it() {
        let items = ["/a b", "/it's", "/new\nline"].map(String::from);
        assert_eq!(python_list(&items), r#"['/a b', "/it's", '/new\nline']"#);
        assert_eq!(python_list(&[]), "[]");
        let items = ["a\u{200b}b", "a\u{202e}b", "\u{a0}", "\u{7f}", "\u{e0041}", "é 日本"].map(String::from);
        assert_eq!(python_list(&items), r"['a\u200bb', 'a\u202eb', '\xa0', '\x7f', '\U000e0041', 'é 日本']");
    }
}
