//! The typed text, cut into requests, and the requests into words.
//!
//! Requests are joined by a line break, `;` or ` and then `. In double quotes nothing separates, and `\n`, `\t`, `\"`
//! and `\\` are escapes. A command (`run ...`) and raw arguments (`call ...`) extend to the end of their line, because
//! both have their own quotes and semicolons; a command in quotes ends with them.

/// One request as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestSegment<'t> {
    pub(super) text: &'t str,
    /// The request was joined by "and then": it waits for the requests before it.
    pub(super) then: bool,
}

/// A word, or a quoted text without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestWord<'t> {
    pub(super) text: String,
    pub(super) quoted: bool,
    /// The request from this word on, as typed.
    pub(super) rest: &'t str,
}

const THEN: &str = " and then ";

pub(super) fn segments(text: &str) -> Vec<RequestSegment<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    let mut then = false;
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let (length, joint) = if takes_the_line(rest) {
            let length = rest.find('\n').unwrap_or(rest.len());
            (length, 0)
        } else {
            until_joint(rest)
        };
        let (segment, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if !segment.trim().is_empty() {
            out.push(RequestSegment { text: segment.trim(), then });
        }
        then = joint == THEN.len();
        rest = after.get(joint..).unwrap_or_default();
    }
    out
}

/// True for a request that is read as typed, to the end of its line.
pub(super) fn takes_the_line(text: &str) -> bool {
    let mut words = text.splitn(2, [' ', '\t']);
    let verb = words.next().unwrap_or_default();
    let quoted = words.next().is_some_and(|rest| rest.trim_start().starts_with('"'));
    verb.eq_ignore_ascii_case("call") || verb.eq_ignore_ascii_case("run") && !quoted
}

/// The length of the request at the beginning of `text`, and of the joint behind it.
fn until_joint(text: &str) -> (usize, usize) {
    let mut inside = false;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if inside => escaped = true,
            '"' => inside = !inside,
            ';' | '\n' if !inside => return (at, 1),
            ' ' if !inside && text.get(at..).is_some_and(|rest| rest.starts_with(THEN)) => {
                return (at, THEN.len());
            }
            _ => {}
        }
    }
    (text.len(), 0)
}

/// Whether every quote was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuoteState {
    Closed,
    Open,
}

/// The words of one request. A quote that is never closed is a letter like others, and is reported.
pub(super) fn words(text: &str) -> (Vec<RequestWord<'_>>, QuoteState) {
    let mut out = Vec::new();
    let mut quotes = QuoteState::Closed;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let quoted = rest.strip_prefix('"').map(unquote);
        if let Some(None) = quoted {
            quotes = QuoteState::Open;
        }
        let (word, length) = match quoted.flatten() {
            Some((text, length)) => (RequestWord { text, quoted: true, rest }, length + 1),
            None => {
                let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let text = rest.get(..length).unwrap_or_default().to_string();
                (RequestWord { text, quoted: false, rest }, length)
            }
        };
        out.push(word);
        rest = rest.get(length..).unwrap_or_default();
        // A comma or a colon directly after a quote ends the quoted word, as in `"a", "b"`.
        if let (Some(RequestWord { quoted: true, .. }), Some(after)) = (out.last(), rest.strip_prefix(',')) {
            out.push(RequestWord { text: ",".into(), quoted: false, rest });
            rest = after;
        }
        rest = rest.trim_start();
    }
    (out, quotes)
}

/// The text up to the closing quote, and the bytes read, the quote included.
fn unquote(text: &str) -> Option<(String, usize)> {
    let mut out = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                other @ ('"' | '\\') => out.push(other),
                other => out.extend(['\\', other]),
            },
            other => out.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<(&str, bool)> {
        segments(text).into_iter().map(|s| (s.text, s.then)).collect()
    }

    #[test]
    fn joints_separate_outside_of_quotes_and_commands() {
        assert_eq!(cut("show a; show b\nlist"), [("show a", false), ("show b", false), ("list", false)]);
        assert_eq!(cut("show a and then show b"), [("show a", false), ("show b", true)]);
        assert_eq!(cut("create f with \"a; b and then \\\" c\n\"; list").len(), 2);
        assert_eq!(
            cut("show a; run ls; pwd\nlist"),
            [("show a", false), ("run ls; pwd", false), ("list", false)]
        );
        assert_eq!(cut("run \"ls; pwd\"; list"), [("run \"ls; pwd\"", false), ("list", false)]);
        assert_eq!(cut("call x {\"a\":\"; \"}; y").len(), 1);
        assert_eq!(cut(" ; \n ;"), []);
    }

    #[test]
    fn words_lose_their_quotes_and_keep_their_place() {
        let (found, quotes) = words("put \"a\\n\\t\\\"\\\\\\x b\", c");
        assert_eq!(quotes, QuoteState::Closed);
        let texts: Vec<&str> = found.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(texts, ["put", "a\n\t\"\\\\x b", ",", "c"]);
        assert_eq!(found[3].rest, "c");
        assert_eq!(words("say \"never closed").1, QuoteState::Open);
    }
}
