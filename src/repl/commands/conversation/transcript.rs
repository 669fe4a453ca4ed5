//! `/transcript`, `/last` and `/copy`: show or copy earlier messages of the conversation.
//!
//! The screens are `ui`'s; here they get the conversation, the clipboard and the person's editor.

use crate::conversation::Message;
use crate::repl::commands::view::show_file;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::text::{count, visible};
use crate::ui::{code_blocks, editor, markdown, pager, transcript};
use thiserror::Error;

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

/// Why there is nothing to copy.
#[derive(Debug, Error, PartialEq, Eq)]
enum CopyRequestError {
    #[error("no answers yet")]
    NoAnswers,
    #[error("there {} {} so far", if *.0 == 1 { "is" } else { "are" }, count::of(*.0, "answer"))]
    FewAnswers(usize),
    #[error("that answer has {} of code", count::of(*.0, "block"))]
    FewBlocks(usize),
}

/// The exact bytes that are wanted.
fn text_for(messages: &[Message], wanted: CopyRequest) -> Result<String, CopyRequestError> {
    let Some(text) = answers(messages).nth(wanted.answer - 1) else {
        return Err(match answers(messages).count() {
            0 => CopyRequestError::NoAnswers,
            count => CopyRequestError::FewAnswers(count),
        });
    };
    let Some(block) = wanted.block else { return Ok(text) };
    let blocks = code_blocks(&text);
    let count = blocks.len();
    blocks.into_iter().nth(block - 1).ok_or(CopyRequestError::FewBlocks(count))
}

pub(in crate::repl::commands) fn transcript(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let (output, agent) = (&context.output, context.conversation.agent.as_ref());
    let agent = agent.ok_or_else(|| CommandStop::note("no messages yet"))?;
    let (clipboard, program) = (output.clipboard(), output.editor());
    let hands = transcript::TranscriptCallbacks {
        keys: output.keymap("transcript", transcript::KEYS),
        pager: output.keymap("pager", pager::KEYS),
        copy: Box::new(move |text| match clipboard.copy(text) {
            Ok(copied) => copied.words(),
            Err(e) => format!("not copied: {e}"),
        }),
        edit: Box::new(move |text| editor::edit(&program, text, ".md").map(drop)),
    };
    let mut pane = transcript::TranscriptView::new(agent.transcript().messages(), &output.theme, hands);
    loop {
        output.show(&mut pane);
        let Some(path) = pane.take_view() else { return Ok(CommandFollowUp::Nothing) };
        match show_file(context, &path) {
            Ok(None) => {}
            Ok(Some(words)) => pane.tell(words),
            Err(error) => pane.tell(error.to_string()),
        }
    }
}

/// `/last`: the last answer again, all of it.
pub(in crate::repl::commands) fn last(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let text = answers(context.conversation.messages()).next();
    let text = text.ok_or_else(|| CommandStop::note("no answers yet"))?;
    let output = &context.output;
    output.print(&markdown::render(&visible::prose(&text), &output.theme, output.width()));
    Ok(CommandFollowUp::Nothing)
}

/// `/copy`: exact bytes to the clipboard.
pub(in crate::repl::commands) fn copy(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let wanted = wanted(rest).ok_or_else(|| {
        CommandStop::with_hint(
            format!("no such answer: `{rest}`"),
            "/copy, /copy 2 (the answer before the last), /copy 2.1 (its first block of code), /copy code 3",
        )
    })?;
    let text = text_for(context.conversation.messages(), wanted).map_err(|error| {
        CommandStop::with_hint(error.to_string(), "/transcript shows the whole conversation")
    })?;
    let copied = context.output.clipboard().copy(&text);
    context.output.note(&copied.map_err(|e| format!("nothing was copied: {e}"))?.words());
    Ok(CommandFollowUp::Nothing)
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
        assert_eq!(text("code").unwrap_err().to_string(), "that answer has 0 blocks of code");
        assert_eq!(text("3").unwrap_err().to_string(), "there are 2 answers so far");
    }
}
