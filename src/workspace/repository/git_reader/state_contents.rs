//! What may be in the state files of git (a rebase in progress, the sequencer, bisect, reflogs): names of objects, and values
//! that name no program. Anything else is not understood.
//!
//! The formats are those of `sequencer.c`, `builtin/rebase.c`, `rerere.c` and `object-name.c` of git 2.47.

use super::object_id::ObjectId;
use super::plain_path::is_plain_path;
use crate::workspace::repository::StateFileReader;
use crate::workspace::repository::config::settings;
use std::collections::BTreeSet;

/// git takes no shorter name of an object.
const SHORTEST: usize = 4;
/// The number of commits at the end of `v1.0-3-g1234567` has at least so many digits.
const SHORTEST_DESCRIBED: usize = 7;
/// Names in one file. Those of git have a few for each step.
const MOST: usize = 20_000;
const MOVED: &[u8] = b"checkout: moving from ";

const NO_NAME: &str = "it has something else than names of objects";
const UNKNOWN_OBJECT: &str = "it names an object that is not there";
const REVISION: &str = "it names a commit in another way than by its name or its branch";

/// How the names in a file are looked up.
pub(super) struct NameLookup<'a> {
    /// Bytes of a whole name.
    pub(super) width: usize,
    /// The objects whose names begin with these digits.
    pub(super) of_short_name: &'a dyn Fn(&[u8]) -> Vec<ObjectId>,
    /// True for the full name of a ref.
    pub(super) is_ref: &'a dyn Fn(&str) -> bool,
}

/// The objects that a file names, or why it is not understood.
pub(super) type NamedObjects = Result<BTreeSet<ObjectId>, &'static str>;

impl NameLookup<'_> {
    /// The objects that git would find by the content of a file. `known` is its content before.
    pub(super) fn objects_in(&self, reader: StateFileReader, text: &[u8], known: &[u8]) -> NamedObjects {
        let found = match reader {
            StateFileReader::Words => Ok(self.words(text)),
            StateFileReader::Names => self.names(text),
            StateFileReader::Start => self.place(text.trim_ascii()),
            StateFileReader::Steps => self.steps(text),
            StateFileReader::Log => self.log(text, known),
            StateFileReader::Labels => of_rule(
                lines_of(text).all(|line| line.starts_with(b"refs/rewritten/")),
                "it has refs of yours",
            ),
            StateFileReader::Options => options(text).map(|()| BTreeSet::new()),
            StateFileReader::Strategy => of_rule(
                is_own_strategy(text.trim_ascii()),
                "it names a merge strategy that is no part of git",
            ),
            StateFileReader::StrategyOptions => of_rule(
                are_strategy_options(text),
                "it has options of a merge strategy that placet does not know",
            ),
            StateFileReader::SigningOption => {
                of_rule(is_signing_option(text.trim_ascii()), "it has more than a key")
            }
            StateFileReader::ApplyOptions => {
                of_rule(are_apply_options(text), "it has options of `git apply` that placet does not know")
            }
            StateFileReader::Author => of_rule(is_author(text), "it has more than an author"),
            StateFileReader::ConflictPaths => {
                of_rule(are_conflict_paths(text), "it has something else than paths")
            }
            _ => Ok(BTreeSet::new()),
        }?;
        if found.len() > MOST { Err("it names more than 20,000 objects") } else { Ok(found) }
    }

    /// The object that any file names which git takes for a ref: its name comes first, and a blank or nothing follows.
    pub(super) fn as_ref(&self, text: &[u8]) -> Option<ObjectId> {
        let (name, rest) = text.split_at_checked(2 * self.width)?;
        let ends = rest.first().is_none_or(|byte| *byte == 0 || byte.is_ascii_whitespace() || *byte == 0x0b);
        ObjectId::from_hex(name).filter(|_| ends)
    }

    fn whole(&self, word: &[u8]) -> Option<ObjectId> {
        ObjectId::from_hex(word).filter(|_| word.len() == 2 * self.width)
    }

    /// Both columns of a reflog. A message may have any name in it.
    pub(super) fn columns(&self, log: &[u8]) -> BTreeSet<ObjectId> {
        let words = lines_of(log).flat_map(|line| line.split(|byte| *byte == b' ').take(2));
        words.filter_map(|word| self.whole(word)).collect()
    }

    fn words(&self, text: &[u8]) -> BTreeSet<ObjectId> {
        let words = text.split(|byte| !byte.is_ascii_alphanumeric());
        words.filter_map(|word| self.whole(word)).collect()
    }

    fn names(&self, text: &[u8]) -> NamedObjects {
        // The other ref is looked at when it changes. git writes only those below `refs`.
        if let Some(name) = text.strip_prefix(b"ref:") {
            let is_ref = name.trim_ascii_start().starts_with(b"refs/");
            return if is_ref { Ok(BTreeSet::new()) } else { Err(NO_NAME) };
        }
        let mut found = BTreeSet::new();
        for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            found.extend(self.object(word)?);
        }
        Ok(found)
    }

    /// A whole name or a short one.
    fn object(&self, word: &[u8]) -> Result<Vec<ObjectId>, &'static str> {
        if let Some(id) = self.whole(word) {
            return Ok(vec![id]);
        }
        if !self.is_short(word) {
            return Err(NO_NAME);
        }
        let found = (self.of_short_name)(word);
        if found.is_empty() { Err(UNKNOWN_OBJECT) } else { Ok(found) }
    }

    fn is_short(&self, word: &[u8]) -> bool {
        (SHORTEST..2 * self.width).contains(&word.len()) && word.iter().all(u8::is_ascii_hexdigit)
    }

    /// Where git goes back to: a branch by its name, or a commit. What a ref or a reflog leads to is looked at there, so that
    /// only names of objects count.
    fn place(&self, name: &[u8]) -> NamedObjects {
        let Ok(text) = std::str::from_utf8(name) else { return Err(REVISION) };
        if let Some(id) = self.whole(name) {
            return Ok(BTreeSet::from([id]));
        }
        let is_odd = |c: char| c.is_ascii_control() || " ^~:?*[\\".contains(c);
        if text.starts_with('-') || text.contains(is_odd) || text.contains("..") || text.contains("@{") {
            return Err(REVISION);
        }
        // A file at the top of `.git` comes before a branch, and some have names that are no objects now.
        let is_file = text.bytes().all(|byte| byte.is_ascii_uppercase() || b"_-".contains(&byte));
        if is_file && !(self.is_ref)(&format!("refs/heads/{text}")) {
            return Err(REVISION);
        }
        // `v1.0-3-g1234567` is a commit, too.
        let described =
            text.rsplit_once("-g").map(|(_, end)| end.as_bytes()).filter(|end| self.is_short(end));
        let Some(short) = described.or_else(|| self.is_short(name).then_some(name)) else {
            return Ok(BTreeSet::new());
        };
        let found = (self.of_short_name)(short);
        let may_be_branch = described.is_some_and(|end| end.len() < SHORTEST_DESCRIBED);
        let is_branch = || may_be_branch || (self.is_ref)(&format!("refs/heads/{text}"));
        if found.is_empty() && !is_branch() { Err(UNKNOWN_OBJECT) } else { Ok(found.into_iter().collect()) }
    }

    /// Both columns of the lines that are new, and what `git checkout -` goes back to.
    fn log(&self, text: &[u8], known: &[u8]) -> NamedObjects {
        let (known, text) = match text.strip_prefix(known) {
            Some(new) => (BTreeSet::new(), new),
            None => (lines_of(known).collect(), text),
        };
        let mut found = BTreeSet::new();
        for line in lines_of(text).filter(|line| !known.contains(line)) {
            let (head, message) = line.split_at(memchr::memchr(b'\t', line).unwrap_or(line.len()));
            let mut words = head.split(|byte| *byte == b' ');
            for _ in 0..2 {
                found.insert(words.next().and_then(|word| self.whole(word)).ok_or(NO_NAME)?);
            }
            let from = message.get(1..).unwrap_or_default().strip_prefix(MOVED);
            let from = from.and_then(|rest| rest.get(..memchr::memmem::find(rest, b" to ")?));
            if let Some(from) = from {
                found.extend(self.place(from)?);
            }
        }
        Ok(found)
    }

    fn steps(&self, text: &[u8]) -> NamedObjects {
        const UNKNOWN_STEP: &str = "it has a step that placet does not know";
        let steps: Vec<Vec<String>> = lines_of(text)
            .map(|line| line.trim_ascii())
            .filter(|line| !line.is_empty() && !line.starts_with(b"#"))
            .map(|line| String::from_utf8_lossy(line).split_ascii_whitespace().map(String::from).collect())
            .collect();
        // git takes the name for that of an object where no step above has made the label.
        let mut labels: BTreeSet<&str> = BTreeSet::new();
        let is_ref = |word: &str| (self.is_ref)(&format!("refs/rewritten/{word}"));
        let mut found = BTreeSet::new();
        for words in &steps {
            let mut words = words.iter().map(String::as_str);
            let command = words.next().unwrap_or_default();
            let mut words = words.take_while(|word| *word != "#").peekable();
            match command {
                // What it runs is a fact of its own.
                "exec" | "x" | "break" | "b" | "noop" => {}
                "pick" | "p" | "revert" | "edit" | "e" | "reword" | "r" | "fixup" | "f" | "squash" | "s"
                | "drop" | "d" => {
                    words.next_if(|word| matches!(*word, "-C" | "-c"));
                    found.extend(self.object(words.next().ok_or(UNKNOWN_STEP)?.as_bytes())?);
                }
                "label" | "l" => labels.extend(words.next()),
                "update-ref" | "u" if words.clone().all(|word| word.starts_with("refs/")) => {}
                "reset" | "t" if words.clone().eq(["[new", "root]"]) => {}
                "reset" | "t" | "merge" | "m" => {
                    if words.next_if(|word| matches!(*word, "-C" | "-c")).is_some() {
                        found.extend(self.object(words.next().ok_or(UNKNOWN_STEP)?.as_bytes())?);
                    }
                    for word in words {
                        match self.object(word.as_bytes()) {
                            Ok(objects) => found.extend(objects),
                            Err(_) if labels.contains(word) || is_ref(word) => {}
                            Err(why) => return Err(why),
                        }
                    }
                }
                _ => return Err(UNKNOWN_STEP),
            }
        }
        Ok(found)
    }
}

fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn of_rule(holds: bool, why: &'static str) -> NamedObjects {
    if holds { Ok(BTreeSet::new()) } else { Err(why) }
}

/// The settings of `sequencer/opts` that name no program.
fn options(text: &[u8]) -> Result<(), &'static str> {
    const PLAIN: [&str; 12] = [
        "no-commit",
        "edit",
        "allow-empty",
        "allow-empty-message",
        "drop-redundant-commits",
        "keep-redundant-commits",
        "signoff",
        "record-origin",
        "allow-ff",
        "mainline",
        "allow-rerere-auto",
        "default-msg-cleanup",
    ];
    let (settings, None) = settings(text) else { return Err("it is not valid") };
    let is_known = |(key, values): (&Vec<u8>, &Vec<Option<Vec<u8>>>)| {
        let Some(name) = key.strip_prefix(b"options.").and_then(|name| std::str::from_utf8(name).ok()) else {
            return false;
        };
        let all =
            |rule: fn(&[u8]) -> bool| values.iter().all(|value| rule(value.as_deref().unwrap_or_default()));
        match name {
            "strategy" => all(is_own_strategy),
            "strategy-option" => all(is_strategy_option),
            "gpg-sign" => all(is_key),
            name => PLAIN.contains(&name),
        }
    };
    match settings.iter().all(is_known) {
        true => Ok(()),
        false => Err("it has a setting that placet does not know, or a program in one"),
    }
}

/// git runs `git-merge-NAME` for any other.
fn is_own_strategy(name: &[u8]) -> bool {
    const OWN: [&[u8]; 6] = [b"ort", b"recursive", b"resolve", b"octopus", b"ours", b"subtree"];
    name.is_empty() || OWN.contains(&name)
}

fn are_strategy_options(text: &[u8]) -> bool {
    let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words
        .map(|word| word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word))
        .all(|word| is_strategy_option(word.strip_prefix(b"--").unwrap_or(word)))
}

fn is_strategy_option(option: &[u8]) -> bool {
    const NAMES: [&[u8]; 16] = [
        b"ours",
        b"theirs",
        b"subtree",
        b"patience",
        b"histogram",
        b"diff-algorithm",
        b"ignore-space-change",
        b"ignore-all-space",
        b"ignore-space-at-eol",
        b"ignore-cr-at-eol",
        b"renormalize",
        b"no-renormalize",
        b"no-renames",
        b"find-renames",
        b"rename-threshold",
        b"",
    ];
    let name = option.split(|byte| *byte == b'=').next().unwrap_or_default();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-=%./_".contains(byte);
    NAMES.contains(&name) && option.iter().all(is_plain)
}

/// Quoted words. `--directory` changes the names in the patches.
fn are_apply_options(text: &[u8]) -> bool {
    const BEGINS: [&[u8]; 8] = [
        b"--whitespace=",
        b"--ignore-space-change",
        b"--ignore-whitespace",
        b"--reject",
        b"--include=",
        b"--exclude=",
        b"-C",
        b"-p",
    ];
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.all(|word| {
        let word = word.strip_prefix(b"'").and_then(|word| word.strip_suffix(b"'")).unwrap_or(word);
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-=*._/".contains(byte);
        BEGINS.iter().any(|begin| word.starts_with(begin)) && word.iter().all(is_plain)
    })
}

fn is_signing_option(option: &[u8]) -> bool {
    option.is_empty() || option.strip_prefix(b"-S").is_some_and(is_key)
}

fn is_key(key: &[u8]) -> bool {
    !key.starts_with(b"-")
        && key.iter().all(|byte| byte.is_ascii_alphanumeric() || b"@.+_- <>/".contains(byte))
}

/// Each line is an assignment of one quoted word: an old git gives the file to a shell.
fn is_author(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let is_quoted = |value: &str| {
        // `\'` and `\!` may stand between quotes.
        let rest = value.replace("'\\''", "").replace("'\\!'", "");
        rest.len() >= 2 && rest.starts_with('\'') && rest.ends_with('\'') && rest.matches('\'').count() == 2
    };
    text.lines().all(|line| {
        let value = line
            .strip_prefix("GIT_AUTHOR_")
            .and_then(|rest| ["NAME=", "EMAIL=", "DATE="].iter().find_map(|name| rest.strip_prefix(name)));
        value.is_some_and(is_quoted)
    })
}

/// The name of a conflict and a path, each with a zero at its end.
fn are_conflict_paths(text: &[u8]) -> bool {
    let entries = text.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    entries.into_iter().all(|entry| {
        let mut parts = entry.splitn(2, |byte| *byte == b'\t');
        let name = parts.next().unwrap_or_default();
        let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'.');
        is_name && parts.next().is_some_and(is_plain_path)
    })
}

#[cfg(test)]
#[path = "state_contents_tests.rs"]
mod tests;
