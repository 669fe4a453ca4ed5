//! How a program continues with a message: its preset says which arguments resume a conversation, and which options of the
//! person are given again.

use super::preset::RunPreset;
use crate::workspace::is_home_match;
use std::path::{Path, PathBuf};

/// The most bytes of a message. A command line has at most 128 KB, and a quote takes four bytes in it.
const MOST_MESSAGE: usize = 24 << 10;

/// The id of a conversation, in the arguments of a preset.
const SESSION: &str = "{session}";

/// The message as an argument: no bytes that an argument cannot have, and no control characters.
pub(super) fn argument(message: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    let clean: String = message.chars().map(shown).collect();
    let cut = clean.floor_char_boundary(MOST_MESSAGE);
    let (begins, rest) = clean.split_at(cut);
    match rest.len() {
        0 => clean,
        left => format!("{begins}\n[{left} more bytes of this message are not sent]"),
    }
}

impl RunPreset {
    /// The arguments that continue the conversation `session` with `message`; `words` are those of the start before.
    /// Without a session, `{session}` and the word before it are left out: a new conversation begins with the message.
    /// `None` where the preset knows no such arguments.
    pub(super) fn resumed(
        &self,
        words: &[String],
        session: Option<&str>,
        message: &str,
    ) -> Option<Vec<String>> {
        let is_headless = words.iter().any(|word| self.headless.contains(word));
        let template = if is_headless { &self.resume_headless } else { &self.resume };
        if template.is_empty() {
            return None;
        }
        let named = template.iter().position(|word| word == SESSION).filter(|_| session.is_none());
        let is_left_out = |at: usize| named.is_some_and(|named| at == named || at + 1 == named);
        let mut options = Some(self.repeated(words));
        let mut out = Vec::new();
        if !template.iter().any(|word| word == "{options}") {
            out.extend(options.take().unwrap_or_default());
        }
        for (_, word) in template.iter().enumerate().filter(|(at, _)| !is_left_out(*at)) {
            match word.as_str() {
                "{options}" => out.extend(options.take().unwrap_or_default()),
                SESSION => out.extend(session.map(String::from)),
                "{message}" => out.push(argument(message)),
                word => out.push(word.into()),
            }
        }
        Some(out)
    }

    /// The options among `words` that a resumed start gets again. The others, and what is no option, belonged to the
    /// start before: a prompt, for instance.
    fn repeated(&self, words: &[String]) -> Vec<String> {
        let mut out = Vec::new();
        let mut rest = words.iter().take_while(|word| *word != "--").peekable();
        while let Some(word) = rest.next() {
            let (name, has_value) = match word.split_once('=') {
                Some((name, _)) if name.starts_with("--") => (name, true),
                _ => (word.as_str(), false),
            };
            let bare = |known: &str| {
                known.trim_start_matches('!').trim_end_matches("...").trim_end_matches('=') == name
            };
            let Some(known) = self.repeat.iter().find(|known| bare(known)) else {
                if self.repeat.iter().any(|known| known == "*") {
                    out.push(word.clone());
                }
                continue;
            };
            let mut taken = vec![word.clone()];
            if !has_value && known.ends_with('=') {
                taken.extend(rest.next().cloned());
            }
            while !has_value && known.ends_with("...") {
                let Some(value) = rest.next_if(|value| !value.starts_with('-')) else { break };
                taken.push(value.clone());
            }
            if !known.starts_with('!') {
                out.append(&mut taken);
            }
        }
        out
    }

    /// The id of the conversation that was written last. `kept` are paths below `home`.
    pub(super) fn session_in(&self, kept: &[PathBuf], home: &Path) -> Option<String> {
        let of_session = |path: &&PathBuf| self.sessions.iter().any(|pattern| is_home_match(pattern, path));
        let modified =
            |path: &PathBuf| std::fs::metadata(home.join(path)).and_then(|meta| meta.modified()).ok();
        let newest = kept.iter().filter(of_session).max_by_key(|path| modified(path))?;
        uuid_in(newest.file_name()?.to_str()?)
    }
}

/// The last UUID in a name.
fn uuid_in(name: &str) -> Option<String> {
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
    const LENGTH: usize = 36;
    let is_uuid = |text: &&str| {
        let mut groups = text.split('-');
        GROUPS.iter().all(|length| {
            groups
                .next()
                .is_some_and(|group| group.len() == *length && group.chars().all(|c| c.is_ascii_hexdigit()))
        })
    };
    (0..name.len()).rev().filter_map(|at| name.get(at..at + LENGTH)).find(is_uuid).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    fn preset() -> RunPreset {
        RunPreset {
            headless: words("-p exec"),
            resume: words("{options} --resume {session} {message}"),
            resume_headless: words("exec {options} resume --last {message}"),
            repeat: words("--yes --model= --tools..."),
            ..RunPreset::default()
        }
    }

    #[test]
    fn options_are_repeated_and_prompts_are_not() {
        let resumed = |line: &str, session| preset().resumed(&words(line), session, "a b");
        let expected = |line: &str| Some([words(line), vec!["a b".to_string()]].concat());
        assert_eq!(
            resumed("--model x --yes --other 1 --tools A B --model=y prompt -- --yes", Some("id")),
            expected("--model x --yes --tools A B --model=y --resume id")
        );
        assert_eq!(resumed("--yes prompt", None), expected("--yes"), "a new conversation");
        assert_eq!(resumed("--yes -p prompt", None), expected("exec --yes resume --last"));
        let all = RunPreset { repeat: words("* !--message="), ..preset() };
        assert_eq!(
            all.resumed(&words("--model x --message prompt a.py"), Some("id"), "a b"),
            expected("--model x a.py --resume id")
        );
        assert_eq!(RunPreset::default().resumed(&[], Some("id"), "a b"), None);
    }

    #[test]
    fn a_message_is_an_argument_of_a_bounded_size() {
        assert_eq!(argument("a\u{0}\u{1b}b\n\tc"), "a\u{fffd}\u{fffd}b\n\tc");
        let long = argument(&"é".repeat(MOST_MESSAGE));
        assert!(
            long.len() < MOST_MESSAGE + 100 && long.ends_with("more bytes of this message are not sent]")
        );
    }

    #[test]
    fn the_id_of_a_conversation_is_in_the_name_of_its_file() {
        let id = "0b7cf9a0-1234-4abc-9def-0123456789ab";
        for name in [format!("{id}.jsonl"), format!("rollout-2026-11-23T18-00-00-{id}.jsonl")] {
            assert_eq!(uuid_in(&name).as_deref(), Some(id));
        }
        assert_eq!(uuid_in("session-2026-11-23T18-00-00-0b7cf9a0.json"), None);
        assert_eq!(uuid_in("é"), None);
    }
}
