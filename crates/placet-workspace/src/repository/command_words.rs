//! The paths that a command of git's settings names: `./tools/monitor`, `sh hooks/check.sh`, `python3 tools/x.py -v`.
//!
//! This is no shell. Every word counts that can be a path, also one that the command only reads, because an unnecessary
//! question costs less than a program that nobody saw. The first word of a command counts only with a slash: without one it is
//! looked for on `PATH`. A path that a variable or a pattern makes is not known; what follows a variable counts from the
//! directory on in which git runs the command, for `$(git rev-parse --show-toplevel)/tools/x`.

use super::lexical::flat;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How the value of a setting is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitCommandForm {
    /// A line for the shell, or a program with its arguments.
    Command,
    /// Words of git: only those with a slash may be paths of programs.
    GitWords,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CommandWord {
    text: Vec<u8>,
    /// Nothing of the command comes before it.
    is_first: bool,
    /// It begins after what a variable or another command gives.
    is_rest: bool,
}

/// The paths that the words of `command` may mean. git runs the command in `top`, or in one of `others`.
pub(super) fn named_paths(
    command: &[u8],
    form: GitCommandForm,
    top: &Path,
    others: &[PathBuf],
    home: Option<&Path>,
) -> BTreeSet<PathBuf> {
    // A value without a shell is one path, blanks and all, and a word in quotes may be a command itself.
    let whole = CommandWord { text: command.to_vec(), is_first: true, is_rest: false };
    let all: Vec<CommandWord> =
        [vec![whole], words(command, Quotes::Join), words(command, Quotes::Split)].concat();
    let mut dirs = vec![top.to_path_buf()];
    dirs.extend_from_slice(others);
    for pair in all.windows(2) {
        if let [change, dir] = pair
            && matches!(change.text.as_slice(), b"cd" | b"pushd" | b"-C" | b"--directory")
        {
            dirs.push(flat(&top.join(OsStr::from_bytes(&dir.text))));
        }
    }
    let mut found = BTreeSet::new();
    for word in &all {
        // `--rcfile=./x` and `A=./x` name a path, too.
        let value = memchr::memchr(b'=', &word.text).and_then(|at| word.text.get(at + 1..));
        for text in [Some(word.text.as_slice()), value].into_iter().flatten() {
            let has_slash = text.contains(&b'/');
            let is_option = text.starts_with(b"-");
            if text.is_empty()
                || is_option
                || !has_slash && (word.is_first || form == GitCommandForm::GitWords)
            {
                continue;
            }
            let path = Path::new(OsStr::from_bytes(text));
            match (text.strip_prefix(b"~/"), home) {
                (Some(rest), Some(home)) => {
                    found.insert(flat(&home.join(OsStr::from_bytes(rest))));
                }
                _ => found.extend(dirs.iter().map(|dir| flat(&dir.join(path)))),
            }
            if word.is_rest && path.is_absolute() {
                let rest = path.strip_prefix("/").unwrap_or(path);
                found.extend(dirs.iter().map(PathBuf::as_path).chain(home).map(|dir| flat(&dir.join(rest))));
            }
        }
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// As a shell reads them.
    Join,
    /// As the shell reads them to which the text in them is given.
    Split,
}

fn words(command: &[u8], quotes: Quotes) -> Vec<CommandWord> {
    let mut found = Vec::new();
    let mut word = CommandWord { is_first: true, ..CommandWord::default() };
    let mut quoted = None;
    let mut at = 0;
    while let Some(byte) = command.get(at).copied() {
        at += 1;
        match byte {
            b'\\' if quoted != Some(b'\'') => {
                word.text.extend(command.get(at));
                at += 1;
            }
            b'\'' | b'"' if quotes == Quotes::Split => {
                // A quote may be the beginning of a command.
                let is_first = word.text.is_empty() || word.is_first;
                found.extend(next(&mut word, is_first));
            }
            b'\'' | b'"' if quoted == Some(byte) => quoted = None,
            b'\'' | b'"' if quoted.is_none() => quoted = Some(byte),
            b'$' if quoted != Some(b'\'') => {
                let is_first = word.is_first;
                found.extend(next(&mut word, is_first));
                word.is_rest = true;
                let rest = command.get(at..).unwrap_or_default();
                at += match rest.first() {
                    Some(b'{') => memchr::memchr(b'}', rest).map_or(rest.len(), |end| end + 1),
                    _ => {
                        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
                    }
                };
            }
            b' ' | b'\t' if quoted.is_some() => word.text.push(byte),
            b' ' | b'\t' => {
                let is_first = word.text.is_empty() && word.is_first;
                found.extend(next(&mut word, is_first));
            }
            b'\n' | b';' | b'|' | b'&' | b'(' | b'{' if quoted.is_none() || quotes == Quotes::Split => {
                found.extend(next(&mut word, true));
            }
            // A command in quotes, whose result goes on.
            b')' | b'`' => {
                found.extend(next(&mut word, byte == b'`'));
                word.is_rest = true;
            }
            b'<' | b'>' | b'}' if quoted.is_none() => found.extend(next(&mut word, false)),
            _ => word.text.push(byte),
        }
    }
    found.extend(next(&mut word, false));
    found
}

/// The word that ends here, if there is one.
fn next(word: &mut CommandWord, is_first: bool) -> Option<CommandWord> {
    let ended = std::mem::replace(word, CommandWord { is_first, ..CommandWord::default() });
    (!ended.text.is_empty()).then_some(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(command: &str, path: &str) -> bool {
        let (top, home) = (Path::new("/w"), Path::new("/home/me"));
        let found = named_paths(command.as_bytes(), GitCommandForm::Command, top, &[], Some(home));
        found.contains(&top.join(path))
    }

    #[test]
    fn a_word_that_is_a_path_is_found_however_it_is_written() {
        for command in [
            "./f.sh",
            "f.sh/../f.sh --all",
            "sh f.sh",
            "sh ./f.sh; true",
            "env A=1 sh -e f.sh",
            "sh -c './f.sh | cat'",
            "sh -c \"cd /; ./f.sh\"",
            "A=./f.sh; $A",
            "\"./f.sh\" -x",
            "./'f.sh'",
            "./f\\.sh",
            "$(git rev-parse --show-toplevel)/f.sh a",
            "\"$(git rev-parse --show-toplevel)/f.sh\" a",
            "\"$PWD/f.sh\"",
            "${PWD}/f.sh",
            "`pwd`/f.sh",
            "true && ./f.sh",
            "f() { ./f.sh \"$@\"; }; f",
            "/w/f.sh",
            "bash --rcfile=./f.sh",
            "cat <f.sh",
        ] {
            assert!(names(command, "f.sh"), "{command}");
        }
        assert!(names("cd tools && ./f.sh", "tools/f.sh") && names("make -C tools -f x.mk", "tools/x.mk"));
        assert!(names("./my tool", "my tool") && names("'./my tool' -x", "my tool"));
        assert!(names("~/f.sh", "/home/me/f.sh") && names("$HOME/f.sh", "/home/me/f.sh"));
    }

    #[test]
    fn what_is_looked_for_on_path_names_no_file() {
        for command in ["f.sh", "f.sh --all", "true; f.sh", "true && f.sh | f.sh", "less -R", "$(f.sh)", ""] {
            assert!(!names(command, "f.sh"), "{command}");
        }
        let words = |text: &[u8]| {
            named_paths(text, GitCommandForm::GitWords, Path::new("/w"), &[], None)
                .contains(Path::new("/w/x"))
        };
        assert!(words(b"-c core.fsmonitor=./x status") && !words(b"log x"));
    }
}
