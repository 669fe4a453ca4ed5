//! `@file`: a file or a picture that goes along with what is said.

use super::Shell;
use super::pasted_pictures::is_picture;
use crate::agent::{ApprovalReply, call_once};
use crate::conversation::{CallId, CallInput, CallOutcome, Image, Note, Part, ToolCall};
use crate::text::visible;
use crate::ui::picture;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) enum AttachError {
    /// Nothing of that name: the word is a word.
    NoFile,
    Because(String),
}

/// The paths named with `@` at the start of a word, each once: `@src/main.rs`, `@"two words.txt"`.
pub(super) fn mentioned(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut rest = text;
    let mut at_word_start = true;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        if c == '@' && at_word_start {
            let (path, tail) = match after.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            };
            // A sentence's own punctuation is no part of the path.
            let path = if after.starts_with('"') {
                path
            } else {
                path.trim_end_matches([',', ';', ':', '?', '!', ')', '.'])
            };
            if !path.is_empty() && !out.iter().any(|p| p == path) {
                out.push(path.to_string());
            }
            rest = tail;
            at_word_start = false;
            continue;
        }
        at_word_start = c.is_whitespace() || c == '(';
        rest = after;
    }
    out
}

impl Shell<'_> {
    /// Reads `path` with placet's own tool, through the gate of every call; the model has then seen it. The mention is the
    /// person's: it does not depend on the tools that the model has.
    pub(super) fn attach(&mut self, path: &str) -> Result<Vec<Part>, AttachError> {
        let exists = |at: &PathBuf| std::fs::symlink_metadata(at).is_ok();
        // Tab completes some characters as signs such as `<U+25C6>`: both spellings name the file.
        let shown = PathBuf::from(OsString::from_vec(visible::read_back(path)));
        let named =
            [PathBuf::from(path), shown].map(|path| self.app.cwd().join(path)).into_iter().find(exists);
        let Some(file) = named else { return Err(AttachError::NoFile) };
        let Some(agent) = &self.conversation.agent else { return Err(AttachError::NoFile) };
        let is_dir = file.is_dir();
        let name = if is_dir { "list_directory" } else { "read_file" };
        let input = CallInput::Object(serde_json::json!({ "path": path }));
        let call = ToolCall { id: CallId::new("attached"), name: name.into(), input };
        let (registry, env, policy) = (
            Arc::new(self.app.registry().for_person()),
            Arc::clone(agent.env()),
            Arc::clone(self.app.policy()),
        );
        let (blind, unread) = (!agent.model().capabilities.vision, !agent.model().capabilities.pdf);
        let model = agent.model().name.clone();
        let visit = agent.call_origin();
        // A picture that they named is dropped or pasted from anywhere; what is denied stays denied. Text from outside is not
        // taken on a word that may have come with a short paste.
        let reply = if is_picture(&file) { ApprovalReply::Yes } else { ApprovalReply::Nobody };
        let running = call_once(registry, env, policy, visit, call, reply, CancellationToken::new());
        let result = self.runtime.block_on(running);
        if result.outcome != CallOutcome::Done {
            return Err(AttachError::Because(result.body()));
        }
        let shown = || result.parts.iter().filter_map(Part::as_image);
        if blind && shown().any(|image| !image.is_pdf()) {
            return Err(AttachError::Because(format!("the model {model} does not accept pictures")));
        }
        if unread && shown().any(Image::is_pdf) {
            return Err(AttachError::Because(format!(
                "the model {model} does not accept PDF here; attach its text: `!pdftotext {path} {path}.txt`, then `@{path}.txt`"
            )));
        }
        let chips: Vec<String> =
            shown().map(|image| format!("attached {} {}", image.word(), picture::chip(image))).collect();
        match chips.is_empty() {
            true => self.note(&format!("attached {path}")),
            false => chips.iter().for_each(|chip| self.note(chip)),
        }
        let mut parts = vec![Part::Note(Note::AttachedFile { path: path.into() })];
        parts.extend(result.parts);
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_mentioned_at_the_start_of_words_only() {
        assert_eq!(
            mentioned("look at @src/main.rs, and @\"two words.txt\" (@x.png)."),
            ["src/main.rs", "two words.txt", "x.png"]
        );
        assert_eq!(mentioned("mail me@example.org @ @a @a"), ["a"]);
        assert_eq!(mentioned("@\"open"), ["open"]);
    }
}
