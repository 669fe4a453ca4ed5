//! The scratchpads without a screen: numbered, and a word for what is to be done with one.

use super::{ScratchpadBrowser, ScratchpadItem, ScratchpadItemKind, ScratchpadRequest};
use crate::line_ui::{LineUi, chosen, say_numbered};
use placet_text::text::sanitize;
use thiserror::Error;

/// Why an answer names nothing that can be done.
#[derive(Debug, Error)]
enum ScratchpadAnswerError {
    #[error("no scratchpad `{0}`")]
    Unknown(String),
    #[error("`{0}` is a picture: only text can be edited or saved as a file")]
    Picture(String),
}

const WORDS: &str =
    "a number shows one, `diff N M`, `edit N`, `file N PATH`, `attach N`, `delete N`, Enter leaves: ";

impl ScratchpadBrowser {
    /// Until something is wished for, or nothing is.
    pub(super) fn converse(&mut self, talk: &mut dyn LineUi) {
        match self.note.take() {
            Some(note) => talk.say(&sanitize::line(&note)),
            None => self.list(talk),
        }
        loop {
            let Some(answer) = talk.ask(WORDS) else { return };
            if answer.trim().is_empty() {
                return;
            }
            match self.wished(answer.trim()) {
                Ok(ScratchpadRequest::Delete(name)) if !is_sure(talk, &name) => talk.say("not deleted"),
                Ok(wish) => {
                    self.wish = Some(wish);
                    return;
                }
                Err(why) => talk.say(&sanitize::line(&why.to_string())),
            }
        }
    }

    fn list(&self, talk: &mut dyn LineUi) {
        talk.say(&format!("scratchpads: {}", self.pads.len()));
        let words = |pad: &ScratchpadItem| {
            let kind = if pad.kind == ScratchpadItemKind::Picture { ", a picture" } else { "" };
            format!("{}{kind}, {} bytes", sanitize::name(&pad.name), pad.bytes)
        };
        say_numbered(talk, 0, self.pads.iter().map(words));
    }

    fn named(&self, word: &str) -> Result<&ScratchpadItem, ScratchpadAnswerError> {
        let by_name = || self.pads.iter().find(|pad| pad.name == word);
        chosen(&self.pads, word).or_else(by_name).ok_or_else(|| ScratchpadAnswerError::Unknown(word.into()))
    }

    /// What an answer asks for.
    fn wished(&self, answer: &str) -> Result<ScratchpadRequest, ScratchpadAnswerError> {
        let (verb, rest) = answer.split_once(' ').unwrap_or((answer, ""));
        let rest = rest.trim();
        let text = |word: &str| match self.named(word)? {
            pad if pad.kind == ScratchpadItemKind::Picture => {
                Err(ScratchpadAnswerError::Picture(pad.name.clone()))
            }
            pad => Ok(pad.name.clone()),
        };
        Ok(match (verb, rest.split_once(' ')) {
            ("diff", Some((old, new))) => {
                ScratchpadRequest::Diff(self.named(old)?.name.clone(), self.named(new.trim())?.name.clone())
            }
            ("edit", None) => ScratchpadRequest::Edit(text(rest)?),
            ("file", Some((name, path))) => {
                ScratchpadRequest::Promote { name: text(name)?, path: path.trim().into() }
            }
            ("attach", None) => ScratchpadRequest::Pin(self.named(rest)?.name.clone()),
            ("delete", None) => ScratchpadRequest::Delete(self.named(rest)?.name.clone()),
            _ => ScratchpadRequest::View(self.named(answer)?.name.clone()),
        })
    }
}

fn is_sure(talk: &mut dyn LineUi, name: &str) -> bool {
    let question = format!("type `yes` to delete {}: ", sanitize::name(name));
    talk.ask(&question).is_some_and(|word| word.trim() == "yes")
}
