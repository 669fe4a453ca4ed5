//! LangChain deepagents: the tools of its 0.4 documentation, or those of 0.7 where the settings ask for them.
//!
//! Left aside on purpose: an edit never converts line ends, an empty old string is refused, and no message names the
//! directory behind virtual paths.

mod delete;
mod edit;
mod execute;
mod grep;
mod ls;
mod path;
mod read;
mod transfer;

use super::super::Tool;
use super::{DeepagentsVersion, ToolSetSettings};
use regex::Regex;
use std::sync::{Arc, LazyLock};

/// What the tools share.
#[derive(Debug)]
pub(super) struct DeepagentsOptions {
    virtual_paths: bool,
    overwrite: bool,
    version: DeepagentsVersion,
}

impl DeepagentsOptions {
    fn is_newer(&self) -> bool {
        self.version == DeepagentsVersion::V07
    }

    /// The paths that ls and glob give.
    fn list(&self, paths: &[String]) -> String {
        match self.is_newer() && paths.is_empty() {
            true => "No files found".into(),
            false => cut(python_list(paths)),
        }
    }
}

/// The longest result of ls, glob, grep and read_file, in characters: 20,000 tokens of four.
const MOST: usize = 80_000;

pub(super) fn tools(settings: &ToolSetSettings) -> Vec<Arc<dyn Tool>> {
    let surface = Arc::new(DeepagentsOptions {
        virtual_paths: settings.virtual_paths,
        overwrite: settings.overwrite,
        version: settings.deepagents,
    });
    let mut tools = vec![
        ls::ls(&surface),
        read::read_file(&surface),
        edit::write_file(&surface),
        edit::edit_file(&surface),
        ls::glob(&surface),
        grep::grep(&surface),
        execute::execute(&surface),
        read::file_data(&surface),
        transfer::upload(&surface),
        transfer::download(&surface),
    ];
    if surface.is_newer() {
        tools.insert(4, delete::delete(&surface));
    }
    tools
}

/// Cut as ls, glob and grep cut their results.
fn cut(text: String) -> String {
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
fn python_list(items: &[String]) -> String {
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

/// As `str.isprintable` of Python: no control or format character, no separator but the blank. Two names that look alike on
/// a screen would be one name to the reader.
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
