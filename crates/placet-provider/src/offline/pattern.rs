//! Patterns of requests, such as `replace OLD with NEW in FILE [everywhere]`, and how words are matched against them.
//!
//! Small words match themselves, capitals match one word or one quoted text, `[...]` may be left out. Three kinds of
//! capitals match more: a name that ends in `S` a list (`a, b and c`); `COMMAND` and `ARGUMENTS` everything to the end,
//! as typed. `FROM`, `TO` and `COUNT` match numbers only. A colon after a capital is part of the request.

use super::segment::RequestWord;

/// What the capitals matched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatternCaptures(Vec<(&'static str, Vec<String>)>, Vec<&'static str>);

impl PatternCaptures {
    /// What the capital `name` matched; empty where it matched nothing.
    pub(super) fn one(&self, name: &str) -> &str {
        self.all(name).first().map(String::as_str).unwrap_or_default()
    }

    pub(super) fn all(&self, name: &str) -> &[String] {
        self.0.iter().find(|(n, _)| *n == name).map_or(&[], |(_, taken)| taken.as_slice())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| *n == name)
    }

    pub(super) fn number(&self, name: &str) -> u64 {
        self.one(name).parse().unwrap_or_default()
    }

    /// True where the request has the small word `word`.
    pub(super) fn said(&self, word: &str) -> bool {
        self.1.contains(&word)
    }
}

/// Matches `words` against `pattern`. All of both must be used up.
pub(super) fn hold(pattern: &'static str, words: &[RequestWord<'_>]) -> Option<PatternCaptures> {
    let parts = parts(pattern);
    let mut taken = PatternCaptures::default();
    held(&parts, words, &mut taken).then_some(taken)
}

/// The first small word of a pattern: its verb.
pub(super) fn verb(pattern: &'static str) -> &'static str {
    pattern.split(' ').next().unwrap_or_default()
}

#[derive(Clone, Debug)]
enum PatternPiece {
    Small(&'static str),
    Capital { name: &'static str, colon: bool },
    Optional(Vec<PatternPiece>),
}

fn parts(pattern: &'static str) -> Vec<PatternPiece> {
    let mut out = Vec::new();
    let mut optional: Option<Vec<PatternPiece>> = None;
    for token in pattern.split(' ') {
        let opens = token.starts_with('[');
        let closes = token.ends_with(']');
        let bare = token.trim_matches(['[', ']']);
        if opens {
            optional = Some(Vec::new());
        }
        optional.as_mut().unwrap_or(&mut out).push(piece(bare));
        if closes && let Some(group) = optional.take() {
            out.push(PatternPiece::Optional(group));
        }
    }
    out
}

fn piece(token: &'static str) -> PatternPiece {
    let name = token.strip_suffix(':').unwrap_or(token);
    if name.chars().all(|c| c.is_ascii_uppercase()) {
        PatternPiece::Capital { name, colon: name.len() != token.len() }
    } else {
        PatternPiece::Small(token)
    }
}

fn held(pieces: &[PatternPiece], words: &[RequestWord<'_>], taken: &mut PatternCaptures) -> bool {
    let Some((piece, more)) = pieces.split_first() else { return words.is_empty() };
    match piece {
        PatternPiece::Optional(group) => {
            let before = taken.clone();
            let with: Vec<PatternPiece> = group.iter().chain(more).cloned().collect();
            if held(&with, words, taken) {
                return true;
            }
            *taken = before;
            held(more, words, taken)
        }
        PatternPiece::Small(small) => match words.split_first() {
            Some((word, rest)) if !word.quoted && word.text.eq_ignore_ascii_case(small) => {
                taken.1.push(small);
                held(more, rest, taken)
            }
            _ => false,
        },
        PatternPiece::Capital { name: name @ ("COMMAND" | "ARGUMENTS"), .. } => match words {
            [only] if only.quoted => take(taken, name, only.text.clone(), more, &[]),
            [first, ..] => take(taken, name, first.rest.trim_end().to_string(), more, &[]),
            [] => false,
        },
        PatternPiece::Capital { name, .. } if name.ends_with('S') => list(name, words, more, taken),
        PatternPiece::Capital { name, colon } => {
            let Some((word, rest)) = words.split_first() else { return false };
            let text = match colon {
                true => word.text.strip_suffix(':').filter(|_| !word.quoted),
                false => Some(word.text.as_str()),
            };
            let Some(text) = text.filter(|text| !text.is_empty() || word.quoted) else { return false };
            let fits = !matches!(*name, "FROM" | "TO" | "COUNT") || text.parse::<u32>().is_ok();
            fits && take(taken, name, text.to_string(), more, rest)
        }
    }
}

fn take(
    taken: &mut PatternCaptures,
    name: &'static str,
    text: String,
    more: &[PatternPiece],
    rest: &[RequestWord<'_>],
) -> bool {
    taken.0.push((name, vec![text]));
    held(more, rest, taken)
}

/// A list: words joined by commas or "and", any number of them.
fn list(
    name: &'static str,
    words: &[RequestWord<'_>],
    more: &[PatternPiece],
    taken: &mut PatternCaptures,
) -> bool {
    let mut found = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        let bare = if word.quoted { Some(word.text.as_str()) } else { word.text.strip_suffix(',') };
        found.push(bare.unwrap_or(&word.text).to_string());
        let mut joined = !word.quoted && bare.is_some();
        rest = after;
        for joint in [",", "and"] {
            if let Some((next, after)) = rest.split_first()
                && !next.quoted
                && next.text.eq_ignore_ascii_case(joint)
            {
                rest = after;
                joined = true;
            }
        }
        if !joined {
            break;
        }
    }
    if found.is_empty() || found.iter().any(String::is_empty) {
        return false;
    }
    taken.0.push((name, found));
    held(more, rest, taken)
}
