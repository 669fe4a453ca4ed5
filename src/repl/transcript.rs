//! `/transcript`, `/last` and `/copy`: what was said already, again.
//!
//! The screens are `ui`'s; here they get the conversation, the clipboard and the person's editor.

use super::Shell;
use super::command_table::CommandFollowUp;
use crate::config::AppDirs;
use crate::conversation::Message;
use crate::text::{count, visible};
use crate::ui::clipboard::Clipboard;
use crate::ui::full_screen;
use crate::ui::full_screen::FullScreenPane;
use crate::ui::keymap::{KeyBinding, Keymap};
use crate::ui::line_ui::TerminalLineUi;
use crate::ui::{code_blocks, editor, markdown, pager, term, transcript};

/// What `/copy` is asked for: an answer, counted from the last one, and a block of code in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CopyRequest {
    answer: usize,
    block: Option<usize>,
}

/// `3`, `3.2`, `code 2`, or nothing for the last answer.
fn wanted(rest: &str) -> Option<CopyRequest> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|n| *n > 0);
    let rest = rest.trim();
    if rest.is_empty() {
        return Some(CopyRequest { answer: 1, block: None });
    }
    if let Some(after) = rest.strip_prefix("code") {
        let block = if after.trim().is_empty() { Some(1) } else { number(after) };
        return block.map(|block| CopyRequest { answer: 1, block: Some(block) });
    }
    match rest.split_once('.') {
        Some((answer, block)) => Some(CopyRequest { answer: number(answer)?, block: Some(number(block)?) }),
        None => Some(CopyRequest { answer: number(rest)?, block: None }),
    }
}

/// The texts of the answers, the last one first.
fn answers(messages: &[Message]) -> impl Iterator<Item = String> + '_ {
    let text = |message: &Message| match message {
        Message::Assistant(answer) => Some(answer.text()).filter(|text| !text.trim().is_empty()),
        _ => None,
    };
    messages.iter().rev().filter_map(text)
}

/// The exact bytes that are wanted, or why there are none.
fn text_for(messages: &[Message], wanted: CopyRequest) -> Result<String, String> {
    let Some(text) = answers(messages).nth(wanted.answer - 1) else {
        let count = answers(messages).count();
        let answers = count::of(count, "answer");
        let are = if count == 1 { "is" } else { "are" };
        return Err(if count == 0 {
            "no answers yet".into()
        } else {
            format!("there {are} {answers} so far")
        });
    };
    let Some(block) = wanted.block else { return Ok(text) };
    let blocks = code_blocks(&text);
    let count = blocks.len();
    blocks
        .into_iter()
        .nth(block - 1)
        .ok_or_else(|| format!("that answer has {} of code", count::of(count, "block")))
}

impl Shell<'_> {
    /// The keys of a screen, as the settings have them; a mistake in them is reported and changes nothing.
    pub(super) fn keymap<A: Copy + PartialEq>(
        &self,
        screen: &str,
        table: &'static [KeyBinding<A>],
    ) -> Keymap<A> {
        super::review::keymap(self.app.config(), screen, table).unwrap_or_else(|why| {
            self.error(&why, Some("using the default keys"));
            Keymap::usual(screen, table)
        })
    }

    /// Shows a screen until it closes.
    pub(super) fn show(&self, pane: &mut dyn FullScreenPane) {
        if self.is_linear() {
            return pane.run_line_ui(&mut TerminalLineUi);
        }
        if let Err(e) = full_screen::run(pane) {
            self.error(&format!("the terminal failed: {e}"), None);
        }
    }

    pub(super) fn clipboard(&self) -> Clipboard {
        let variable = |name: &str| std::env::var(name).ok();
        Clipboard::new(variable, &AppDirs::from_variables(variable).cache)
    }

    pub(super) fn editor(&self) -> String {
        editor::program(self.app.config().settings().conversation.editor.as_deref())
    }

    pub(super) fn transcript(&self) {
        let Some(agent) = &self.conversation.agent else {
            return self.note("no messages yet");
        };
        let (clipboard, program) = (self.clipboard(), self.editor());
        let hands = transcript::TranscriptCallbacks {
            keys: self.keymap("transcript", transcript::KEYS),
            pager: self.keymap("pager", pager::KEYS),
            copy: Box::new(move |text| match clipboard.copy(text) {
                Ok(copied) => copied.words(),
                Err(e) => format!("not copied: {e}"),
            }),
            edit: Box::new(move |text| {
                editor::edit(&program, text, ".md").map(drop).map_err(|e| e.to_string())
            }),
        };
        let mut pane = transcript::TranscriptView::new(agent.transcript().messages(), &self.theme, hands);
        loop {
            self.show(&mut pane);
            let Some(path) = pane.take_view() else { return };
            match self.view(&path) {
                Ok(None) => {}
                Ok(Some(words)) | Err(words) => pane.tell(words),
            }
        }
    }
}

pub(super) fn transcript(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    shell.transcript();
    None
}

/// `/last`: the last answer again, all of it.
pub(super) fn last(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    let messages = shell.conversation.agent.as_ref().map_or(&[][..], |a| a.transcript().messages());
    let text = answers(messages).next();
    match text {
        Some(text) => {
            let columns = usize::from(term::size().0);
            shell.print(&markdown::render(&visible::prose(&text), &shell.theme, columns));
        }
        None => shell.note("no answers yet"),
    }
    None
}

/// `/copy`: exact bytes to the clipboard.
pub(super) fn copy(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let Some(wanted) = wanted(rest) else {
        shell.error(
            &format!("no such answer: `{rest}`"),
            Some("/copy, /copy 2 (the answer before the last), /copy 2.1 (its first block of code), /copy code 3"),
        );
        return None;
    };
    let messages = shell.conversation.agent.as_ref().map_or(&[][..], |a| a.transcript().messages());
    match text_for(messages, wanted).map(|text| shell.clipboard().copy(&text)) {
        Ok(Ok(copied)) => shell.note(&copied.words()),
        Ok(Err(e)) => shell.error(&format!("nothing was copied: {e}"), None),
        Err(why) => shell.error(&why, Some("/transcript shows the whole conversation")),
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{AssistantBlock, AssistantMessage};

    fn said(texts: &[&str]) -> Vec<Message> {
        let answer = |text: &&str| {
            let blocks = vec![AssistantBlock::Text { text: (*text).to_string() }];
            Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() })
        };
        texts.iter().map(answer).collect()
    }

    #[test]
    fn what_is_to_be_copied_is_counted_from_the_last_answer() {
        for (rest, want) in [
            ("", Some((1, None))),
            (" 2 ", Some((2, None))),
            ("2.3", Some((2, Some(3)))),
            ("code", Some((1, Some(1)))),
            ("code 4", Some((1, Some(4)))),
            ("0", None),
            ("1.0", None),
            ("last", None),
        ] {
            let got = wanted(rest).map(|w| (w.answer, w.block));
            assert_eq!(got, want, "{rest:?}");
        }
    }

    #[test]
    fn an_answer_and_its_code_are_exact_bytes() {
        let messages = said(&["one\n\n```\nfirst  \n\tsecond\n```\n", " ", "two\r\n  padded  \n"]);
        let text = |rest: &str| text_for(&messages, wanted(rest).unwrap());
        assert_eq!(text(""), Ok("two\r\n  padded  \n".into()));
        assert_eq!(text("2"), Ok("one\n\n```\nfirst  \n\tsecond\n```\n".into()));
        assert_eq!(text("2.1"), Ok("first  \n\tsecond".into()));
        assert_eq!(text("code"), Err("that answer has 0 blocks of code".into()));
        assert_eq!(text("3"), Err("there are 2 answers so far".into()));
    }
}
