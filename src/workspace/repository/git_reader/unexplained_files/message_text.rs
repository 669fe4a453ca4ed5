//! The text of messages as git cleans it, and the messages that its commands make of that of a commit.

use crate::workspace::repository::git_reader::commit::Commit;
use crate::workspace::repository::git_reader::object_id::ObjectId;

/// Text after this line is not part of a message.
const SCISSORS: &[u8] = b"# ------------------------ >8 ------------------------";

pub(super) fn has_message(commit: &Commit, message: &[u8]) -> bool {
    let plain = tidy(message);
    tidy(&commit.message) == plain || tidy(&without_comments(&commit.message)) == plain
}

/// As git makes a message of what an editor leaves.
pub(super) fn without_comments(text: &[u8]) -> Vec<u8> {
    let end = memchr::memmem::find(text, SCISSORS).unwrap_or(text.len());
    let text = text.get(..end).unwrap_or_default();
    let kept = text.split_inclusive(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    kept.flatten().copied().collect()
}

/// Without blanks at the ends of lines, and without empty lines at both ends and next to each other.
pub(super) fn tidy(text: &[u8]) -> Vec<&[u8]> {
    let mut tidy: Vec<&[u8]> = Vec::new();
    for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if !line.is_empty() || tidy.last().is_some_and(|last| !last.is_empty()) {
            tidy.push(line);
        }
    }
    if tidy.last().is_some_and(|last| last.is_empty()) {
        tidy.pop();
    }
    tidy
}

/// What `git revert` writes.
pub(super) fn is_revert(message: &str, id: &ObjectId, commit: &Commit) -> bool {
    let Some((title, body)) = message.split_once("\n\n") else { return false };
    let subject = &commit.subject;
    let reapplied = subject.strip_prefix("Revert \"").and_then(|rest| rest.strip_suffix('"'));
    let has_title = title == format!("Revert \"{subject}\"")
        || reapplied.is_some_and(|subject| title == format!("Reapply \"{subject}\""));
    let reverts = format!("This reverts commit {}", id.to_hex());
    let of_merge =
        |parent: &ObjectId| body == format!("{reverts}, reversing\nchanges made to {}.", parent.to_hex());
    has_title && (body == format!("{reverts}.") || commit.parents.iter().any(of_merge))
}

/// What `git cherry-pick -x` writes.
pub(super) fn is_cherry_pick(message: &str, id: &ObjectId, commit: &Commit) -> bool {
    let end = format!("(cherry picked from commit {})", id.to_hex());
    message.strip_suffix(&end).is_some_and(|rest| has_message(commit, rest.as_bytes()))
}

/// The messages that `git rebase` puts together for `squash`, without those that `fixup` leaves out. `None` for any other text.
pub(super) fn combined(text: &str) -> Option<Vec<String>> {
    let rest = text.strip_prefix("# This is a combination of ")?;
    let mut parts: Vec<String> = Vec::new();
    let mut is_in_part = false;
    for line in rest.lines().skip(1) {
        if line.starts_with('#') {
            let is_header = line.starts_with("# This is the ") && line.ends_with(':');
            if is_header {
                parts.push(String::new());
            }
            is_in_part = is_header || is_in_part && !line.starts_with("# The ");
            continue;
        }
        match parts.last_mut().filter(|_| is_in_part) {
            Some(part) => {
                part.push_str(line);
                part.push('\n');
            }
            None if line.trim().is_empty() => {}
            None => return None,
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_a_squash_are_parted() {
        let of = |text: &str| {
            combined(text).map(|parts| parts.iter().map(|part| part.trim().to_string()).collect::<Vec<_>>())
        };
        let begin =
            "# This is a combination of 3 commits.\n# This is the 1st commit message:\n\nOne\n\nBody\n\n";
        let second = "# This is the commit message #2:\n\nTwo\n\n";
        let skipped = "# The commit message #3 will be skipped:\n\n# Three\n";
        for (text, want) in [
            (format!("{begin}{second}{skipped}"), Some(vec!["One\n\nBody", "Two"])),
            (format!("{begin}{skipped}EVIL\n{second}"), None),
            (format!("{begin}{second}EVIL"), Some(vec!["One\n\nBody", "Two\n\nEVIL"])),
            (format!("EVIL\n{begin}"), None),
            ("# This is a combination of 2 commits.\nEVIL\n".into(), None),
        ] {
            let want = want.map(|parts| parts.into_iter().map(String::from).collect::<Vec<_>>());
            assert_eq!(of(&text), want, "{text}");
        }
    }
}
