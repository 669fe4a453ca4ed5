//! File names as diffs write them: quoted, followed by a time, with a prefix.

use super::PatchError;

/// The prefix of the names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StripLevels {
    /// Detected: the first directories of the two sides are a prefix if they differ and the rest is equal.
    #[default]
    Auto,
    /// This number of directories, like `patch -p`.
    Levels(usize),
}

const DIRECTORY: &str = "it ends with `/`, and a patch is for files";

/// A name read from a header line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatchFileName {
    /// `None` for `/dev/null`.
    pub(super) path: Option<String>,
    /// The time after the name is the beginning of 1970: GNU diff uses it for a file that does not exist.
    pub(super) epoch: bool,
}

/// The name after `--- ` or `+++ `.
pub(super) fn read(text: &[u8], line: usize) -> Result<PatchFileName, PatchError> {
    if text.starts_with(b"\"") {
        let (name, rest) = unquote(text, line)?;
        return Ok(PatchFileName { path: Some(name).filter(|n| n != "/dev/null"), epoch: is_epoch(rest) });
    }
    let (name, time) = match text.iter().position(|b| *b == b'\t') {
        Some(tab) => text.split_at(tab),
        None => text.split_at(date_at(text).unwrap_or(text.len())),
    };
    let name = if time.starts_with(b"\t") { name } else { name.trim_ascii_end() };
    if name.is_empty() {
        return Err(PatchError::BadName { line, reason: "there is none" });
    }
    if name.ends_with(b"/") {
        return Err(PatchError::BadName { line, reason: DIRECTORY });
    }
    Ok(PatchFileName {
        path: Some(utf8(name.to_vec(), line)?).filter(|n| n != "/dev/null"),
        epoch: is_epoch(time),
    })
}

/// A name that git quoted; `None` for any other.
pub fn unquoted(text: &[u8]) -> Option<String> {
    text.starts_with(b"\"").then(|| unquote(text, 0).ok())?.map(|(name, _)| name)
}

/// A whole line as a name, as after `rename from `.
pub(super) fn whole(text: &[u8], line: usize) -> Result<String, PatchError> {
    if text.starts_with(b"\"") {
        return Ok(unquote(text, line)?.0);
    }
    match text.last() {
        None => Err(PatchError::BadName { line, reason: "there is none" }),
        Some(b'/') => Err(PatchError::BadName { line, reason: DIRECTORY }),
        Some(_) => utf8(text.to_vec(), line),
    }
}

fn utf8(bytes: Vec<u8>, line: usize) -> Result<String, PatchError> {
    if bytes.contains(&0) {
        return Err(PatchError::BadName { line, reason: "it contains a NUL byte" });
    }
    String::from_utf8(bytes).map_err(|_| PatchError::BadName { line, reason: "it is not UTF-8" })
}

/// The start of a date that only spaces separate from the name: ` 2024-05-01 12:00:00`.
fn date_at(text: &[u8]) -> Option<usize> {
    let shape = b" 0000-00-00 00:00:00";
    let fits = |window: &[u8]| {
        window.iter().zip(shape).all(|(b, s)| if *s == b'0' { b.is_ascii_digit() } else { b == s })
    };
    text.windows(shape.len()).position(fits)
}

fn is_epoch(time: &[u8]) -> bool {
    let time = time.trim_ascii();
    time.starts_with(b"1970-01-01 ") || time.starts_with(b"1969-12-31 ") || time.starts_with(b"Thu Jan  1 ")
}

/// A name in quotes with C escapes, and the text after the closing quote.
fn unquote(text: &[u8], line: usize) -> Result<(String, &[u8]), PatchError> {
    let bad = |reason| PatchError::BadName { line, reason };
    let mut out = Vec::new();
    let mut rest = text.strip_prefix(b"\"").unwrap_or(text);
    loop {
        rest = match rest {
            [] => return Err(bad("the closing quote is missing")),
            [b'"', rest @ ..] => return Ok((utf8(out, line)?, rest)),
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                out.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest
            }
            [b'\\', letter, rest @ ..] => {
                out.push(match letter {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => *letter,
                    _ => return Err(bad("it has an unknown escape")),
                });
                rest
            }
            [byte, rest @ ..] => {
                out.push(*byte);
                rest
            }
        };
    }
}

/// The two names of `diff --git `: both quoted, one of them, or none; without quotes only equal halves show where to
/// split.
pub(super) fn git_pair(text: &[u8], line: usize) -> Result<Option<(String, String)>, PatchError> {
    if text.starts_with(b"\"") {
        let (first, rest) = unquote(text, line)?;
        let second = rest.strip_prefix(b" ").unwrap_or(rest);
        return Ok(Some((first, whole(second, line)?)));
    }
    if text.ends_with(b"\"")
        && let Some(at) = text.windows(2).position(|w| w == b" \"")
    {
        let (first, second) = text.split_at(at);
        return Ok(Some((utf8(first.to_vec(), line)?, whole(second.get(1..).unwrap_or_default(), line)?)));
    }
    let text = utf8(text.to_vec(), line)?;
    let halves = || {
        text.match_indices(' ')
            .map(|(at, _)| (text.get(..at).unwrap_or(""), text.get(at + 1..).unwrap_or("")))
    };
    let equal = halves().find(|(a, b)| common_rest(a, b).is_some() || a == b);
    let only = || Some(halves().next()?).filter(|_| halves().count() == 1);
    Ok(equal.or_else(only).map(|(a, b)| (a.to_string(), b.to_string())))
}

/// The common rest of both names, if their first directories differ and the rest is equal.
pub(super) fn common_rest<'a>(old: &'a str, new: &str) -> Option<&'a str> {
    let ((a, old_rest), (b, new_rest)) = (old.split_once('/')?, new.split_once('/')?);
    (a != b && !a.is_empty() && !b.is_empty() && old_rest == new_rest && !old_rest.is_empty())
        .then_some(old_rest)
}

/// True if both mean the same file: either may have a prefix of one directory.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one == other
        || without(one, 1) == other
        || without(other, 1) == one
        || without(one, 1) == without(other, 1)
}

/// The name without `levels` directories; the last component always remains.
pub(super) fn without(name: &str, levels: usize) -> String {
    let mut rest = name;
    for _ in 0..levels {
        match rest.split_once('/') {
            Some((_, after)) if !after.trim_start_matches('/').is_empty() => {
                rest = after.trim_start_matches('/')
            }
            _ => break,
        }
    }
    rest.to_string()
}
