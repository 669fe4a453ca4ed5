//! `/scratchpad`, and what the screen of scratchpads asks for: viewing, comparing, editing, deleting, a file made of one,
//! one attached to the next message.
//!
//! A file is written by the tool the model would use, through the same gate and into the same view, so that the same
//! review decides about it. What is attached is read by the model's own tool as well.

use crate::agent::{Agent, ApprovalReply};
use crate::conversation::{CallOutcome, CallResult, Note, Part};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::conversation::PinnedScratchpad;
use crate::session::{ScratchpadEntry, ScratchpadError, Scratchpads};
use crate::text::LineDiff;
use crate::ui::scratchpads::{
    KEYS, ScratchpadBrowser, ScratchpadItem, ScratchpadItemKind, ScratchpadRequest,
};
use crate::ui::{editor, pager, picture, term};
use serde_json::json;
use thiserror::Error;

/// Bytes of a scratchpad that are shown next to the list.
const HEAD: usize = 8 << 10;
/// The most of a difference that is shown.
const DIFF: usize = 8 << 20;

pub(super) fn scratchpad(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let agent = context.conversation.agent.as_ref();
    let pads = &agent.ok_or_else(|| CommandStop::note("no scratchpads yet"))?.env().scratchpads;
    match rest {
        "pick" => browse(context)?,
        "" => {
            let rows = pads.list().into_iter().map(|(name, size)| (name, format!("{size} bytes")));
            let rows: Vec<(String, String)> = rows.collect();
            if rows.is_empty() {
                return Err(CommandStop::note("no scratchpads yet"));
            }
            context.output.rows(&rows);
        }
        name => match pads.get(name)? {
            ScratchpadEntry::Text(text) => context.output.quote(&text),
            ScratchpadEntry::Image(image) => context.output.note(&image.describe()),
        },
    }
    Ok(CommandFollowUp::Nothing)
}

/// Why what the screen of scratchpads asked for was not done.
#[derive(Debug, Error)]
enum ScratchpadRequestError {
    #[error("no conversation")]
    NoConversation,
    #[error(transparent)]
    Scratchpad(#[from] ScratchpadError),
    #[error(transparent)]
    Editor(#[from] std::io::Error),
    #[error("the model {model} does not accept pictures")]
    NoPictures { model: String },
    /// A call was refused or failed; its result says why.
    #[error("{}", .0.body())]
    Call(Box<CallResult>),
}

impl From<ScratchpadRequestError> for CommandStop {
    fn from(error: ScratchpadRequestError) -> CommandStop {
        CommandStop::error(error.to_string())
    }
}

fn agent_of<'c>(context: &'c CommandContext<'_>) -> Result<&'c Agent, ScratchpadRequestError> {
    context.conversation.agent.as_ref().ok_or(ScratchpadRequestError::NoConversation)
}

/// The screen of scratchpads, until it is closed for good.
fn browse(context: &mut CommandContext<'_>) -> Result<(), ScratchpadRequestError> {
    let items = listed(&agent_of(context)?.env().scratchpads);
    let output = &context.output;
    let (keys, pager) = (output.keymap("scratchpads", KEYS), output.keymap("pager", pager::KEYS));
    let mut pane = ScratchpadBrowser::new(items, &output.theme, keys, pager);
    loop {
        context.output.show(&mut pane);
        let Some(wish) = pane.take_wish() else { break };
        let words = grant(context, wish).unwrap_or_else(|error| Some(error.to_string()));
        pane.tell(listed(&agent_of(context)?.env().scratchpads), words);
    }
    let pinned = context.conversation.pinned.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>();
    if !pinned.is_empty() {
        context.output.note(&format!("your next message attaches {}", pinned.join(", ")));
    }
    Ok(())
}

/// Does it; what there is to say of it.
fn grant(
    context: &mut CommandContext<'_>,
    wish: ScratchpadRequest,
) -> Result<Option<String>, ScratchpadRequestError> {
    let agent = agent_of(context)?;
    let pads = &agent.env().scratchpads;
    match wish {
        ScratchpadRequest::View(name) => {
            context.output.look_at(&name, &text_of(pads, &name)?);
            Ok(None)
        }
        ScratchpadRequest::Diff(old, new) => {
            let (before, after) = (text_of(pads, &old)?, text_of(pads, &new)?);
            let diff = LineDiff::new(&before, &after).unified(3, DIFF);
            if diff.text.is_empty() {
                return Ok(Some(format!("`{old}` and `{new}` are the same")));
            }
            context.output.look_at(&format!("{old} → {new}.diff"), &diff.text);
            let left_out = diff.left_out;
            Ok((left_out > 0).then(|| format!("{left_out} more lines differ (too many to show)")))
        }
        ScratchpadRequest::Edit(name) => edit(&context.output.editor(), pads, &name).map(Some),
        ScratchpadRequest::Delete(name) => {
            pads.delete(&name)?;
            context.conversation.pinned.retain(|pinned| pinned.name != name);
            Ok(Some(format!("deleted `{name}`")))
        }
        ScratchpadRequest::Promote { name, path } => {
            let content = text_of(pads, &name)?;
            let input = json!({ "path": path, "content": content, "mode": "create" });
            done(context.call_for_person(agent, ("by-hand", "write_file"), input, ApprovalReply::Nobody).0)?;
            Ok(Some(format!("{path} is pending: decide with /review, or apply it with /apply")))
        }
        ScratchpadRequest::Pin(name) => pin(context, &name).map(Some),
    }
}

fn edit(program: &str, pads: &Scratchpads, name: &str) -> Result<String, ScratchpadRequestError> {
    let before = text_of(pads, name)?;
    let after = term::with_original_mode(|| editor::edit(program, &before, ".txt"))?;
    if after == before {
        return Ok(format!("`{name}` is unchanged"));
    }
    let bytes = after.len();
    pads.put(name, ScratchpadEntry::Text(after))?;
    Ok(format!("`{name}` has {bytes} bytes now"))
}

/// As the model would read it; a long one is a page of it.
fn pin(context: &mut CommandContext<'_>, name: &str) -> Result<String, ScratchpadRequestError> {
    let agent = agent_of(context)?;
    let blind = !agent.model().capabilities.vision;
    let input = json!({ "action": "read", "name": name });
    let (result, _) = context.call_for_person(agent, ("by-hand", "scratchpad"), input, ApprovalReply::Nobody);
    let parts = done(result)?.parts;
    if blind && parts.iter().any(|part| matches!(part, Part::Image(_))) {
        return Err(ScratchpadRequestError::NoPictures { model: agent.model().name.clone() });
    }
    let told: Vec<String> = parts.iter().filter_map(Part::as_image).map(picture::chip).collect();
    let bytes: usize = parts.iter().map(size).sum();
    let mut all = vec![Part::Note(Note::AttachedScratchpad { name: name.into() })];
    all.extend(parts);
    let pinned = &mut context.conversation.pinned;
    pinned.retain(|pinned| pinned.name != name);
    pinned.push(PinnedScratchpad { name: name.into(), parts: all });
    Ok(match told.is_empty() {
        true => format!("your next message attaches `{name}`: {bytes} bytes"),
        false => format!("attached to your next message: {}", told.join("; ")),
    })
}

fn done(result: CallResult) -> Result<CallResult, ScratchpadRequestError> {
    match result.outcome {
        CallOutcome::Done => Ok(result),
        _ => Err(ScratchpadRequestError::Call(Box::new(result))),
    }
}

fn size(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Note(note) => note.words().len(),
        Part::Image(image) => image.bytes.len(),
    }
}

fn text_of(pads: &Scratchpads, name: &str) -> Result<String, ScratchpadError> {
    Ok(match pads.get(name)? {
        ScratchpadEntry::Text(text) => text,
        ScratchpadEntry::Image(image) => image.describe(),
    })
}

fn listed(pads: &Scratchpads) -> Vec<ScratchpadItem> {
    let row = |(name, bytes): (String, usize)| {
        let entry = pads.get(&name).ok()?;
        let (head, kind) = match entry {
            ScratchpadEntry::Text(text) => (
                text.get(..text.floor_char_boundary(HEAD)).unwrap_or("").to_string(),
                ScratchpadItemKind::Text,
            ),
            ScratchpadEntry::Image(image) => (image.describe(), ScratchpadItemKind::Picture),
        };
        Some(ScratchpadItem { name, bytes, head, kind })
    };
    pads.list().into_iter().filter_map(row).collect()
}
