//! Links that can be clicked: addresses and files in the text, where the terminal is known to follow links.
//!
//! Only what is visible becomes a link, and the visible text is the target: a link cannot lead to another place than
//! its text. In a terminal without known support, the bytes are those of [`ansi::line`].

use super::ansi;
use crate::Theme;
use crate::lines::margin_mark;
use ratatui::style::Style;
use ratatui::text::Line;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};

const SCHEMES: [&str; 4] = ["https://", "http://", "file://", "mailto:"];
/// What a call's line begins with.
const MARKS: [&str; 4] = ["✓ ", "✗ ", "⊘ ", "■ "];
/// The longest target; terminals refuse more.
const MOST_BYTES: usize = 2000;

/// True when the environment names a terminal that follows links.
pub fn are_supported(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    let inside = set("TMUX").is_some() || term.starts_with("tmux") || term.starts_with("screen");
    if inside || term == "dumb" {
        return inside && set("TERM_FEATURES").is_some_and(|features| names_links(&features));
    }
    let program = set("TERM_PROGRAM").unwrap_or_default();
    let vte = set("VTE_VERSION").and_then(|version| version.parse::<u32>().ok()).unwrap_or(0);
    set("KITTY_WINDOW_ID").is_some()
        || matches!(term.as_str(), "xterm-kitty" | "xterm-ghostty")
        || matches!(program.as_str(), "WezTerm" | "iTerm.app" | "ghostty")
        || vte >= 5000
        || set("WT_SESSION").is_some()
}

/// `TERM_FEATURES` is codes of one capital letter and what follows it (`H` is links), or words with commas.
fn names_links(features: &str) -> bool {
    let mut codes: Vec<String> = Vec::new();
    for c in features.chars() {
        match codes.last_mut() {
            Some(code) if !c.is_ascii_uppercase() => code.push(c),
            _ => codes.push(c.into()),
        }
    }
    codes.iter().any(|code| code == "H") || features.split(',').any(|word| word.trim() == "hyperlinks")
}

/// Finds what can be clicked in lines for the scrollback.
#[derive(Clone, Debug)]
pub struct LinkFinder {
    /// Where relative paths begin; `None` where there are no links.
    cwd: Option<PathBuf>,
    /// Files are searched for only after the mark of a call, and in text of this style: code in sentences.
    code: Style,
}

impl LinkFinder {
    pub fn none() -> LinkFinder {
        LinkFinder { cwd: None, code: Style::default() }
    }

    pub fn is_none(&self) -> bool {
        self.cwd.is_none()
    }

    pub fn new(cwd: &Path, theme: &Theme) -> LinkFinder {
        LinkFinder { cwd: Some(cwd.into()), code: theme.style("code") }
    }

    /// A styled line as text for the terminal, without its line break.
    pub fn line(&self, line: &Line<'_>) -> String {
        let Some(cwd) = &self.cwd else { return ansi::line(line) };
        let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        let mut found = addresses(&text);
        let is_call = line.spans.get(1).is_some_and(|span| MARKS.contains(&span.content.as_ref()))
            && line.spans.first().is_some_and(|span| span.content == margin_mark::LEAD);
        let mut at = 0;
        for span in &line.spans {
            let (from, to) = (at, at + span.content.len());
            at = to;
            let is_code = span.style != Style::default() && span.style == self.code;
            if is_code || is_call && from > 0 {
                found.extend(files(&text, from..to, cwd));
            }
        }
        found.sort_by_key(|(range, _)| range.start);
        found.dedup_by(|next, before| next.0.start < before.0.end);
        if found.is_empty() { ansi::line(line) } else { with_links(line, &found) }
    }
}

/// A piece of a line's text and where it leads.
type LinkSpan = (Range<usize>, String);

fn with_links(line: &Line<'_>, found: &[LinkSpan]) -> String {
    let mut out = String::new();
    let mut at = 0;
    for span in &line.spans {
        let end = at + span.content.len();
        let mut cuts: Vec<usize> = found
            .iter()
            .flat_map(|(range, _)| [range.start, range.end])
            .filter(|c| at < *c && *c < end)
            .collect();
        cuts.push(end);
        let mut from = at;
        for to in cuts {
            let piece = span.content.get(from - at..to - at).unwrap_or("");
            let styled =
                ansi::line(&Line::from(ratatui::text::Span::styled(piece, line.style.patch(span.style))));
            match found.iter().find(|(range, _)| range.start <= from && to <= range.end) {
                Some((range, target)) => {
                    let mut hasher = DefaultHasher::new();
                    (range.start, target).hash(&mut hasher);
                    // The same number in all its pieces: a terminal marks them together.
                    let id = hasher.finish() as u32;
                    out.push_str(&format!("\x1b]8;id={id:x};{target}\x1b\\{styled}\x1b]8;;\x1b\\"));
                }
                None => out.push_str(&styled),
            }
            from = to;
        }
        at = end;
    }
    out
}

/// The addresses in a text, unchanged.
fn addresses(text: &str) -> Vec<LinkSpan> {
    let mut found: Vec<LinkSpan> = Vec::new();
    for scheme in SCHEMES {
        for (start, _) in text.match_indices(scheme) {
            let before = text.get(..start).and_then(|t| t.chars().next_back());
            if before.is_some_and(char::is_alphanumeric) {
                continue;
            }
            let rest = text.get(start..).unwrap_or("");
            let stops = |c: char| c.is_whitespace() || c.is_control() || "<>\"`{}|\\^│".contains(c);
            let word = rest.get(..rest.find(stops).unwrap_or(rest.len())).unwrap_or("");
            let word = without_tail(word);
            if word.len() > scheme.len() && word.len() <= MOST_BYTES {
                found.push((start..start + word.len(), encoded(word)));
            }
        }
    }
    found
}

/// Without the punctuation of the sentence around it.
fn without_tail(mut word: &str) -> &str {
    loop {
        let Some(last) = word.chars().next_back() else { return word };
        let closes = |open: char, close: char| {
            last == close && word.matches(close).count() > word.matches(open).count()
        };
        if !(".,;:!?'*_".contains(last) || closes('(', ')') || closes('[', ']')) {
            return word;
        }
        word = word.get(..word.len() - last.len_utf8()).unwrap_or("");
    }
}

/// Existing files that are named in `range` of `text`; `:12` after a name is not part of the name.
fn files(text: &str, range: Range<usize>, cwd: &Path) -> Vec<LinkSpan> {
    let part = text.get(range.clone()).unwrap_or("");
    let mut found = Vec::new();
    let mut at = range.start;
    for piece in part.split_inclusive([' ', ',', '(', ')', ':']) {
        let word = piece.trim_end_matches([' ', ',', '(', ')', ':']);
        let path = cwd.join(word);
        let named = word.contains(['.', '/']) && !word.chars().all(|c| c == '.' || c == '/');
        if named && path.is_absolute() && path.is_file() {
            let clean = path.to_string_lossy().replace("/./", "/");
            found.push((at..at + word.len(), format!("file://{}", encoded(&clean))));
        }
        at += piece.len();
    }
    found
}

/// Only characters that an address may hold; the others by their bytes.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'!'..=b'~' if byte != b'"' && byte != b'<' && byte != b'>' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Modifier;
    use ratatui::text::Span;

    fn supported(variables: &[(&str, &str)]) -> bool {
        are_supported(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_string()))
    }

    #[test]
    fn links_are_for_terminals_that_are_known_to_follow_them() {
        for yes in [
            &[("TERM", "xterm-kitty")][..],
            &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")],
            &[("TERM", "xterm-256color"), ("VTE_VERSION", "7003")],
            &[("TERM", "xterm-256color"), ("WT_SESSION", "x")],
            &[("TERM", "tmux-256color"), ("TMUX", "x"), ("TERM_FEATURES", "T3CwLrMSc7UUw9Ts3BFGsSyHNo")],
        ] {
            assert!(supported(yes), "{yes:?}");
        }
        for no in [
            &[][..],
            &[("TERM", "xterm-256color")],
            &[("TERM", "xterm-256color"), ("VTE_VERSION", "4800")],
            &[("TERM", "tmux-256color"), ("TMUX", "x"), ("VTE_VERSION", "7003")],
            &[("TERM", "tmux-256color"), ("TERM_FEATURES", "T3CwHi")],
            &[("TERM", "dumb"), ("WT_SESSION", "x")],
        ] {
            assert!(!supported(no), "{no:?}");
        }
    }

    fn targets(text: &str) -> Vec<(String, String)> {
        addresses(text).into_iter().map(|(range, to)| (text[range].to_string(), to)).collect()
    }

    #[test]
    fn an_address_ends_where_the_sentence_goes_on() {
        for (text, wanted) in [
            ("see https://a.example/x.", "https://a.example/x"),
            ("(https://a.example/x_(y))", "https://a.example/x_(y)"),
            ("<http://a.example>, and", "http://a.example"),
            ("mailto:a@b.example!", "mailto:a@b.example"),
        ] {
            assert_eq!(targets(text), [(wanted.to_string(), wanted.to_string())], "{text}");
        }
        assert_eq!(targets("https://a.example/é")[0].1, "https://a.example/%C3%A9");
        for none in ["javascript:x", "ftp://a", "https://", "xhttps://a.example", "data:text/html,x"] {
            assert_eq!(targets(none), [], "{none}");
        }
    }

    #[test]
    fn all_pieces_of_an_address_and_only_they_carry_one_link() {
        let links = LinkFinder::new(Path::new("/"), &Theme::plain());
        let line = Line::from(vec![
            Span::raw("at https://a.exa"),
            Span::styled("mple/b", Style::new().add_modifier(Modifier::BOLD)),
            Span::raw(" now"),
        ]);
        let out = links.line(&line);
        let opens: Vec<&str> = out.matches("\x1b]8;id=").collect();
        assert_eq!((opens.len(), out.matches("\x1b]8;;\x1b\\").count()), (2, 2), "{out:?}");
        let first = out.split("\x1b]8;").nth(1).unwrap().split('\x1b').next().unwrap();
        assert!(first.ends_with(";https://a.example/b"));
        assert_eq!(out.matches(first).count(), 2, "one id, one target");
        assert!(out.starts_with("at \x1b]8;id=") && out.ends_with("\x1b]8;;\x1b\\ now"), "{out:?}");
        assert_eq!(LinkFinder::none().line(&line), ansi::line(&line));
    }

    #[test]
    fn an_address_over_three_rows_is_one_link_and_every_letter_of_it_is_there() {
        let links = LinkFinder::new(Path::new("/"), &Theme::plain());
        let address = format!("https://a.example/{}", "abcdefghij".repeat(9));
        let out = links.line(&Line::raw(format!("see {address} now")));
        assert_eq!(
            (out.matches("\x1b]8;id=").count(), out.matches("\x1b]8;;\x1b\\").count()),
            (1, 1),
            "{out:?}"
        );
        let mut parser = vt100::Parser::new(6, 40, 0);
        parser.process(out.as_bytes());
        let rows: Vec<String> = parser.screen().rows(0, 40).collect();
        assert_eq!(rows.concat().trim_end(), format!("see {address} now"));
        assert!(rows[2].starts_with("ijabc"), "three rows: {rows:?}");
    }

    #[test]
    fn a_file_that_is_there_can_be_opened_and_one_that_is_not_cannot() {
        let dir = tempfile::TempDir::new().unwrap();
        std::fs::write(dir.path().join("a b.rs"), "").unwrap();
        std::fs::write(dir.path().join("lib.rs"), "").unwrap();
        let look = Style::new().add_modifier(Modifier::BOLD);
        let links = LinkFinder { cwd: Some(dir.path().into()), code: look };
        let line = |text: &str| links.line(&Line::from(Span::styled(text.to_string(), look)));
        let target = format!("file://{}/lib.rs\x1b\\", dir.path().display());
        assert!(line("read lib.rs:12 (3 lines)").contains(&target));
        assert!(!line("read gone.rs").contains("\x1b]8"));
        assert!(!links.line(&Line::raw("lib.rs in a sentence")).contains("\x1b]8"));
    }
}
