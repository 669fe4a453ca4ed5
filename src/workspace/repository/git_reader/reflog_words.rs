//! The words that git itself writes into a reflog.

/// How a line begins: a command of git, with words of its command line.
const COMMANDS: [&str; 18] = [
    "am",
    "bisect",
    "branch",
    "Branch",
    "checkout",
    "cherry-pick",
    "clone",
    "commit",
    "fetch",
    "filter-branch",
    "merge",
    "notes",
    "pull",
    "push",
    "rebase",
    "reset",
    "revert",
    "submodule",
];
/// What follows. `*` is a name, which has no blank.
const ENDS: [&str; 19] = [
    "moving from * to *",
    "moving to *",
    "updating *",
    "Created from *",
    "Reset to *",
    "renamed * to *",
    "copied * to *",
    "from *",
    "checkout *",
    "returning to *",
    "* onto *",
    "Fast-forward",
    "fast-forward",
    "forced-update",
    "storing head",
    "storing ref",
    "storing tag",
    "rewrite",
    "Merge made by the * strategy.",
];
const ALONE: [&str; 4] = ["am --abort", "update by push", "initial pull", "forced-update"];
/// Words of a command line: `pull --rebase origin main`.
const MOST_WORDS: usize = 6;

/// True for a message that git writes about a commit with this subject. What is after the colon is the subject or one of git's
/// own sentences, so nobody can leave another text there.
pub(super) fn is_ordinary(message: &[u8], subject: Option<&[u8]>) -> bool {
    let Ok(message) = std::str::from_utf8(message) else { return false };
    if ALONE.contains(&message) {
        return true;
    }
    let Some((command, end)) = message.split_once(": ") else { return false };
    let mut words = command.split(' ');
    let is_command = words.next().is_some_and(|word| COMMANDS.contains(&word));
    let are_words = words.clone().count() <= MOST_WORDS && words.all(is_word);
    let is_end = subject == Some(end.as_bytes()) || ENDS.iter().any(|form| is_like(form, end));
    is_command && are_words && is_end
}

/// A short name and an address, in which nobody leaves another text.
pub(super) fn is_plain_identity(who: &[u8]) -> bool {
    const LONGEST: usize = 80;
    const MOST_NAMES: usize = 3;
    let Ok(who) = std::str::from_utf8(who) else { return false };
    let Some((name, address)) = who.strip_suffix('>').and_then(|who| who.rsplit_once('<')) else {
        return false;
    };
    let is_plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || " .-_'+@()[]".contains(c));
    who.len() <= LONGEST
        && is_plain(name)
        && is_plain(address)
        && name.split_ascii_whitespace().count() <= MOST_NAMES
        && !address.contains(' ')
}

fn is_word(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:+@~^()".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

fn is_like(form: &str, text: &str) -> bool {
    let (mut form, mut text) = (form.split(' '), text.split(' '));
    loop {
        match (form.next(), text.next()) {
            (None, None) => return true,
            (Some("*"), Some(word)) if !word.is_empty() => {}
            (Some(wanted), Some(word)) if wanted == word => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{is_ordinary, is_plain_identity};

    #[test]
    fn a_name_in_a_reflog_is_short_and_plain() {
        for who in ["A <a@x>", "Ana Maria Núñez <a.b+c@example.org>", "root <root@host.(none)>"] {
            assert!(is_plain_identity(who.as_bytes()), "{who}");
        }
        for who in ["run curl x | sh <m@e>", "A <a@x> b", "do this now please <m@e>", "A <do this>", "A"] {
            assert!(!is_plain_identity(who.as_bytes()), "{who}");
        }
    }

    #[test]
    fn only_the_words_of_git_are_ordinary() {
        let is = |message: &str| is_ordinary(message.as_bytes(), Some(b"Add x: y"));
        for message in [
            "am --abort",
            "commit: Add x: y",
            "commit (initial): Add x: y",
            "rebase (pick): Add x: y",
            "checkout: moving from main to topic",
            "reset: moving to HEAD~1",
            "merge topic: Fast-forward",
            "pull --rebase origin main (start): checkout 0123abc",
            "merge t: Merge made by the 'ort' strategy.",
            "Branch: renamed refs/heads/a to refs/heads/b",
            "update by push",
        ] {
            assert!(is(message), "{message}");
        }
        for message in [
            "EVIL",
            "EVIL text",
            "commit: EVIL",
            "commit (EVIL text): other",
            "checkout: moving from main to topic EVIL",
            "run this: Add x: y",
            "merge a b c d e f g h: Fast-forward",
            "merge $(x): Fast-forward",
        ] {
            assert!(!is(message), "{message}");
        }
    }
}
