//! New lines of a reflog, as far as the lines before them and the refs prove them.
//!
//! git only appends to a reflog, and takes old lines out. So lines that stay are in their order, and of the new ones each begins
//! at the object at which the one before it ended, the first where the ref was, the last where it is. In the log of `HEAD`, a
//! checkout also goes from the branch that the person was on to the one that the person is on. `git checkout -` and `main@{1}`
//! take another commit from a log in which that does not hold.

use super::lines;
use crate::workspace::repository::git_reader::object_id::ObjectId;
use std::collections::BTreeSet;

const MOVED: &[u8] = b"checkout: moving from ";
/// Commands whose lines leave `HEAD` where it is: on its branch, or detached. The first commit of a branch may be that of
/// `git checkout --orphan`, which writes no line.
const STAY: [&[u8]; 9] =
    [b"commit", b"reset", b"merge", b"cherry-pick", b"revert", b"am", b"fetch", b"pull", b"rebase"];
/// How lines of a rebase end that detach `HEAD`, and that bring it back to its branch.
const DETACHED: &[u8] = b": checkout ";
const RETURNED: &[u8] = b": returning to ";

/// Where a ref was before the lines, and where it is now.
pub(super) type RefEnds = (Option<ObjectId>, Option<ObjectId>);

/// The lines that were added. `None` where the lines from before are in another order, or where a new one does not begin where
/// the one before it ended.
pub(super) fn added_lines<'l>(old: &'l [u8], new: &'l [u8], (was, is): RefEnds) -> Option<Vec<&'l [u8]>> {
    let old: Vec<&[u8]> = lines(old).collect();
    let (mut left, mut last) = (old.as_slice(), None);
    let mut gone: BTreeSet<&[u8]> = BTreeSet::new();
    let mut new = lines(new).peekable();
    while let Some(line) = new.peek() {
        let Some(at) = left.iter().position(|old| old == line) else { break };
        gone.extend(left.iter().take(at).copied());
        left = left.get(at + 1..).unwrap_or_default();
        last = new.next();
    }
    gone.extend(left.iter().copied());
    let added: Vec<&[u8]> = new.collect();
    // One that is further down now did not expire.
    if added.iter().any(|line| gone.contains(line)) {
        return None;
    }
    // Lines at the end may have gone with the others.
    let to = |line: &'_ [u8]| ends(line).map(|(_, to)| to);
    let mut at = vec![was, last.and_then(to), old.last().copied().and_then(to)];
    // Lines of the agent were joined with those of the person: they begin further up, and lead to where the ref was.
    if was.is_some() && added.iter().any(|line| to(line) == was) {
        at.extend(old.iter().map(|line| to(line)));
    }
    for line in &added {
        let (from, to) = ends(line)?;
        if !is_nothing(from) && !at.contains(&Some(from)) {
            return None;
        }
        at = vec![Some(to).filter(|to| !is_nothing(*to))];
    }
    let ends_there = added.is_empty() || is.is_none() || at == [is];
    ends_there.then_some(added)
}

/// Where `HEAD` is: the short name of its branch, or the commit at which it is detached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LoggedHead {
    Branch(String),
    Detached(ObjectId),
}

/// True where the checkouts in new lines of the log of `HEAD` lead from where it was to where it is. `None`: not known.
pub(super) fn are_moves_of_head(added: &[&[u8]], was: Option<&LoggedHead>, is: Option<&LoggedHead>) -> bool {
    // The names that `HEAD` may have at this line. None: it may be anywhere.
    let mut places: Option<Vec<String>> = was.map(|was| vec![was.name()]);
    for line in added {
        let at = memchr::memchr(b'\t', line).map_or(line.len(), |at| at + 1);
        let message = line.get(at..).unwrap_or_default();
        let Some((was_at, id)) = ends(line) else { return false };
        if let Some(rest) = message.strip_prefix(MOVED) {
            let rest = String::from_utf8_lossy(rest);
            let Some((from, to)) = rest.split_once(" to ") else { return false };
            if places.is_some_and(|places| !places.iter().any(|place| place == from)) {
                return false;
            }
            // It is on a branch of this name, or detached at what the name leads to.
            places = Some(vec![to.to_string(), id.to_hex()]);
        } else if let Some(end) = rebase_end(message, DETACHED) {
            places = (!end.is_empty()).then(|| vec![id.to_hex()]);
        } else if let Some(end) = rebase_end(message, RETURNED) {
            places = Some(vec![end.strip_prefix("refs/heads/").unwrap_or(&end).into(), id.to_hex()]);
        } else if is_nothing(was_at) || !STAY.iter().any(|word| message.starts_with(word)) {
            places = None;
        } else if let Some(places) = &mut places {
            // A detached `HEAD` goes with its commits.
            let detached = places.iter_mut().filter(|place| **place == was_at.to_hex());
            detached.for_each(|place| *place = id.to_hex());
        }
    }
    let (Some(places), Some(is)) = (places, is) else { return true };
    places.contains(&is.name())
}

/// What follows `form` in a line of `git rebase` or `git pull --rebase`.
fn rebase_end(message: &[u8], form: &[u8]) -> Option<String> {
    let is_rebase = message.starts_with(b"rebase") || message.starts_with(b"pull");
    let at = memchr::memmem::find(message, b": ").filter(|_| is_rebase)?;
    let end = message.get(at..)?.strip_prefix(form)?;
    Some(String::from_utf8_lossy(end).into_owned())
}

impl LoggedHead {
    /// As a checkout names the place that it leaves.
    fn name(&self) -> String {
        match self {
            LoggedHead::Branch(name) => name.clone(),
            LoggedHead::Detached(id) => id.to_hex(),
        }
    }
}

/// The name of the ref from which the log came here with its lines: `Branch: renamed refs/heads/a to refs/heads/b`.
pub(super) fn sources(new: &[u8]) -> impl Iterator<Item = &str> {
    lines(new).filter_map(source).filter(|name| name.starts_with("refs/") && !name.contains(".."))
}

fn source(line: &[u8]) -> Option<&str> {
    let message = line.get(memchr::memchr(b'\t', line)? + 1..)?;
    let words = [&b"Branch: renamed "[..], b"Branch: copied ", b"remote: renamed "];
    let rest = words.iter().find_map(|words| message.strip_prefix(*words))?;
    std::str::from_utf8(rest.get(..memchr::memmem::find(rest, b" to ")?)?).ok()
}

/// Both names of a line.
fn ends(line: &[u8]) -> Option<(ObjectId, ObjectId)> {
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let mut next = || words.next().and_then(ObjectId::from_hex);
    Some((next()?, next()?))
}

fn is_nothing(id: ObjectId) -> bool {
    id.as_bytes().iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> ObjectId {
        ObjectId::from_hex(String::from(digit).repeat(40).as_bytes()).unwrap()
    }

    /// Lines `01 text`: both ends by one digit each, and the message.
    fn log(lines: &[&str]) -> Vec<u8> {
        let line = |line: &&str| {
            let mut digits = line.chars();
            let mut end = || digits.next().unwrap().to_string().repeat(40);
            format!("{} {} A <a@x> 1 +0000\t{}\n", end(), end(), line[2..].trim_start())
        };
        lines.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn new_lines_follow_one_another_from_where_the_ref_was_to_where_it_is() {
        let ends = |was: char, is: char| (Some(id(was)), Some(id(is)));
        type LogCase<'c> = (&'c [&'c str], &'c [&'c str], (char, char), Option<usize>);
        // Before, after, where the ref was and is, how many lines were added.
        let cases: &[LogCase<'_>] = &[
            (&["01 a", "12 b"], &["01 a", "12 b", "23 c"], ('2', '3'), Some(1)),
            (&["01 a", "12 b"], &["01 a", "12 b"], ('2', '2'), Some(0)),
            (&["01 a", "12 b"], &["01 a", "12 b", "23 c", "31 d"], ('2', '1'), Some(2)),
            // The same line twice, within one second.
            (&["01 a", "11 b"], &["01 a", "11 b", "11 b"], ('1', '1'), Some(1)),
            // Lines that expired, and one that was taken out at the end.
            (&["01 a", "12 b", "23 c"], &["23 c", "34 d"], ('3', '4'), Some(1)),
            (&["01 a", "12 b"], &["01 a"], ('2', '2'), Some(0)),
            (&["01 a", "12 b"], &[], ('2', '2'), Some(0)),
            // A ref that moved without a line.
            (&["01 a"], &["01 a", "34 c"], ('3', '4'), Some(1)),
            (&[], &["01 a", "12 b"], ('0', '2'), Some(2)),
            // The person made 2, the agent 3, and then 4 on top of 2.
            (&["01 a", "12 b"], &["01 a", "12 b", "13 c", "32 reset", "24 c"], ('2', '4'), Some(3)),
            (&["01 a", "12 b"], &["01 a", "12 b", "13 c", "34 c"], ('2', '4'), None),
            (&["01 a"], &["01 a", "10 renamed", "02 renamed"], ('1', '2'), Some(2)),
            (&["01 a", "12 b"], &["12 b", "01 a"], ('2', '2'), None),
            (&["01 a", "12 b", "23 c"], &["23 c", "12 b", "01 a"], ('3', '3'), None),
            (&["01 a", "12 b"], &["01 a", "21 x", "12 b"], ('2', '2'), None),
            (&["01 a", "12 b"], &["01 a", "12 b", "34 c"], ('2', '4'), None),
            (&["01 a", "12 b"], &["01 a", "12 b", "23 c", "45 d"], ('2', '5'), None),
            (&["01 a", "12 b"], &["01 a", "12 b", "23 c"], ('2', '2'), None),
        ];
        for (old, new, (was, is), wanted) in cases {
            let (old, text) = (log(old), log(new));
            let added = added_lines(&old, &text, ends(*was, *is)).map(|added| added.len());
            assert_eq!(added, *wanted, "{new:?}");
        }
        // A branch without a commit.
        assert_eq!(added_lines(b"", &log(&["01 a"]), (None, None)).map(|added| added.len()), Some(1));
    }

    #[test]
    fn a_checkout_goes_from_where_head_was_to_where_it_is() {
        let on = |name: &str| LoggedHead::Branch(name.into());
        let (main, topic, one) = (on("main"), on("topic"), LoggedHead::Detached(id('1')));
        let hex = id('1').to_hex();
        let leave = format!("11 checkout: moving from {hex} to topic");
        let cases: &[(&LoggedHead, &[&str], &LoggedHead, bool)] = &[
            (&main, &["12 checkout: moving from main to topic"], &topic, true),
            (
                &main,
                &["12 checkout: moving from main to topic", "21 checkout: moving from topic to main"],
                &main,
                true,
            ),
            (
                &main,
                &["12 commit: x", "23 checkout: moving from main to topic", "34 commit: y"],
                &topic,
                true,
            ),
            (&main, &["11 checkout: moving from main to v1"], &one, true),
            (&main, &["11 checkout: moving from main to v1", &leave], &topic, true),
            (&one, &[&leave], &topic, true),
            (&one, &["12 commit: x", "23 commit: y"], &LoggedHead::Detached(id('3')), true),
            (&one, &["12 commit: x"], &one, false),
            (
                &main,
                &["12 rebase (start): checkout x", "22 rebase (finish): returning to refs/heads/topic"],
                &topic,
                true,
            ),
            (&main, &["01 commit (initial): x"], &topic, true),
            (&main, &["12 pull: Fast-forward"], &main, true),
            (&main, &["12 pull: Fast-forward"], &topic, false),
            // Story: after such a line, any checkout counted as proved, and `git checkout -` went to another branch.
            (&main, &["12 pull: Fast-forward", "22 checkout: moving from topic to main"], &main, false),
            (
                &main,
                &[
                    "12 pull --rebase -q (start): checkout 22",
                    "23 pull --rebase -q (pick): x",
                    "33 pull --rebase -q (finish): returning to refs/heads/main",
                    "33 checkout: moving from main to topic",
                ],
                &topic,
                true,
            ),
            (
                &main,
                &["11 rebase (start): checkout x", "11 checkout: moving from main to topic"],
                &topic,
                false,
            ),
            (
                &main,
                &["11 rebase (start): checkout x", "12 rebase (pick): y"],
                &LoggedHead::Detached(id('2')),
                true,
            ),
            (&topic, &["11 checkout: moving from other to topic"], &topic, false),
            (&topic, &["11 checkout: moving from topic to other"], &topic, false),
            (&main, &["11 checkout: moving from main to other"], &topic, false),
            (&main, &["11 commit: x", "11 checkout: moving from other to main"], &main, false),
            (&main, &["11 checkout: moving from main"], &main, false),
        ];
        for (was, added, is, wanted) in cases {
            let text = log(added);
            let lines: Vec<&[u8]> = lines(&text).collect();
            assert_eq!(are_moves_of_head(&lines, Some(was), Some(is)), *wanted, "{added:?}");
            assert!(!wanted || are_moves_of_head(&lines, None, None), "{added:?}");
        }
    }

    #[test]
    fn a_log_with_another_name_says_where_it_comes_from() {
        let text = log(&[
            "01 commit: x",
            "11 Branch: renamed refs/heads/a to refs/heads/b",
            "11 remote: renamed refs/remotes/o/m to refs/remotes/u/m",
            "11 Branch: renamed ../x to y",
        ]);
        assert_eq!(sources(&text).collect::<Vec<_>>(), ["refs/heads/a", "refs/remotes/o/m"]);
    }
}
