//! A glob in which only a dot matches the dot of a name, segment by segment.
//!
//! The glob library matches whole paths and knows no rule about dots, so each segment is a glob of its own. `**` stands for
//! any number of names without a dot.

use placet_text::text::NameGlob;
use std::path::Path;

/// More alternatives than this are not expanded from braces.
const MOST: usize = 1000;

#[derive(Clone, Debug)]
pub(super) struct DottedGlob(Vec<Vec<Segment>>);

#[derive(Clone, Debug)]
enum Segment {
    Any,
    Name { matcher: Box<NameGlob>, begins_with_dot: bool },
}

impl DottedGlob {
    /// `None` for a pattern that the library refuses.
    pub(super) fn new(pattern: &str) -> Option<DottedGlob> {
        let segment = |text: &str| match text {
            "**" => Some(Segment::Any),
            _ => {
                let matcher = Box::new(NameGlob::of_path(text).ok()?);
                let begins_with_dot = text.starts_with('.') || text.starts_with("\\.");
                Some(Segment::Name { matcher, begins_with_dot })
            }
        };
        let alternatives = expanded(pattern)?;
        let all = alternatives.iter().map(|one| one.split('/').map(segment).collect::<Option<Vec<_>>>());
        all.collect::<Option<Vec<_>>>().map(DottedGlob)
    }

    pub(super) fn fits(&self, path: &Path) -> bool {
        let names: Vec<&Path> = path.iter().map(Path::new).collect();
        self.0.iter().any(|segments| fits(segments, &names))
    }
}

fn fits(segments: &[Segment], names: &[&Path]) -> bool {
    let is_dotted = |name: &Path| name.as_os_str().as_encoded_bytes().first() == Some(&b'.');
    match segments {
        [] => names.is_empty(),
        // What `**` ends with is below a directory, not the directory itself.
        [Segment::Any] => !names.is_empty() && !names.iter().any(|name| is_dotted(name)),
        [Segment::Any, rest @ ..] => {
            let below = names.split_first().filter(|(name, _)| !is_dotted(name));
            fits(rest, names) || below.is_some_and(|(_, below)| fits(segments, below))
        }
        [Segment::Name { matcher, begins_with_dot }, rest @ ..] => {
            names.split_first().is_some_and(|(name, below)| {
                (*begins_with_dot || !is_dotted(name)) && matcher.is_match(name) && fits(rest, below)
            })
        }
    }
}

/// The alternatives of a pattern, without its braces; a pattern with too many is refused.
fn expanded(pattern: &str) -> Option<Vec<String>> {
    let (mut done, mut todo) = (Vec::new(), vec![pattern.to_string()]);
    while let Some(one) = todo.pop() {
        if done.len() + todo.len() > MOST {
            return None;
        }
        match first_braces(&one) {
            None => done.push(one),
            Some((head, choices, tail)) => {
                todo.extend(choices.iter().map(|choice| format!("{head}{choice}{tail}")));
            }
        }
    }
    Some(done)
}

/// The text before the first braces, the choices in them, and the text after them.
fn first_braces(text: &str) -> Option<(&str, Vec<&str>, &str)> {
    let (mut depth, mut from, mut choices, mut open) = (0, 0, Vec::new(), None);
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        let was_escaped = escaped;
        escaped = c == '\\' && !was_escaped;
        if was_escaped {
            continue;
        }
        match (c, depth) {
            ('{', 0) => (depth, from, open) = (1, at + 1, Some(at)),
            ('{', _) => depth += 1,
            (',', 1) => {
                choices.push(text.get(from..at)?);
                from = at + 1;
            }
            ('}', 1) => {
                choices.push(text.get(from..at)?);
                return Some((text.get(..open?)?, choices, text.get(at + 1..)?));
            }
            ('}', 2..) => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_match_names_and_only_a_dot_matches_a_dot() {
        #[rustfmt::skip]
        let table = [
            ("a.py/**", "a.py", false), ("a/**", "a/b/c", true), ("a/**", "a/.b", false), ("**", "a", true),
            ("**", "a/b", true), ("**", ".a", false), ("**/b", "b", true), ("**/b", "a/c/b", true),
            ("**/b", ".a/b", false), (".a/**/b", ".a/b", true), ("a/**/**", "a", false), ("a/**/**", "a/b", true),
            ("{a,b}/*", "b/c", true), ("*", ".a", false), (".*", ".a", true), ("*/b", "a", false),
        ];
        for (pattern, path, expected) in table {
            let glob = DottedGlob::new(pattern).unwrap();
            assert_eq!(glob.fits(Path::new(path)), expected, "{pattern} {path}");
        }
    }
}
