//! `@file`: attaches a file or a picture to the message.

use super::pasted_pictures::is_picture;
use crate::agent::{Agent, ApprovalReply};
use crate::conversation::{CallOutcome, CallResult, Image, Note, Part};
use crate::repl::context::CommandContext;
use crate::text::visible;
use crate::ui::picture;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use thiserror::Error;

/// Why a mention is not sent.
#[derive(Debug, Error)]
pub(crate) enum AttachError {
    #[error("no such file or directory")]
    NoFile,
    /// A template of a server, without a value.
    #[error("the address needs a value for `{value}`")]
    NoValue { value: String },
    /// What the tool answered.
    #[error("{0}")]
    Refused(String),
    #[error("the model {model} does not accept pictures")]
    Blind { model: String },
    #[error(
        "the model {model} does not accept PDF here; attach its text: `!pdftotext {path} {path}.txt`, then `@{path}.txt`"
    )]
    Unread { model: String, path: String },
}

/// The file that a mention names, if it exists.
pub(crate) fn named_file(context: &CommandContext<'_>, path: &str) -> Option<PathBuf> {
    let exists = |at: &PathBuf| std::fs::symlink_metadata(at).is_ok();
    // Tab completes some characters as signs such as `<U+25C6>`: both spellings name the file.
    let shown = PathBuf::from(OsString::from_vec(visible::read_back(path)));
    [PathBuf::from(path), shown].map(|path| context.app.cwd().join(path)).into_iter().find(exists)
}

/// Reads `path` with placet's own tool, through the gate of every call; the model has then seen it. The mention is the
/// person's: it does not depend on the tools that the model has.
pub(crate) fn attach(context: &CommandContext<'_>, path: &str) -> Result<Vec<Part>, AttachError> {
    let file = named_file(context, path).ok_or(AttachError::NoFile)?;
    let agent = context.conversation.agent.as_ref().ok_or(AttachError::NoFile)?;
    let tool = if file.is_dir() { "list_directory" } else { "read_file" };
    let input = serde_json::json!({ "path": path });
    // A picture that they named is dropped or pasted from anywhere; what is denied stays denied. Text from outside is
    // not taken on a word that may have come with a short paste.
    let reply = if is_picture(&file) { ApprovalReply::Yes } else { ApprovalReply::Nobody };
    let (result, _) = context.call_for_person(agent, ("attached", tool), input, reply);
    if result.outcome != CallOutcome::Done {
        // With its hint, such as the command that converts a picture.
        return Err(AttachError::Refused(result.body()));
    }
    accepted(context, agent, result, path)
}

/// What was read, for a message, if the model can have it. The person reads what it is.
pub(super) fn accepted(
    context: &CommandContext<'_>,
    agent: &Agent,
    result: CallResult,
    path: &str,
) -> Result<Vec<Part>, AttachError> {
    let parts = attached_parts(agent, result, path)?;
    let shown = parts.iter().filter_map(Part::as_image);
    let chips: Vec<String> =
        shown.map(|image| format!("attached {} {}", image.word(), picture::chip(image))).collect();
    match chips.is_empty() {
        true => context.output.note(&format!("attached {path}")),
        false => chips.iter().for_each(|chip| context.output.note(chip)),
    }
    Ok(parts)
}

/// What was read, for a message, if the model can have it.
pub(crate) fn attached_parts(
    agent: &Agent,
    result: CallResult,
    path: &str,
) -> Result<Vec<Part>, AttachError> {
    let (blind, unread) = (!agent.model().capabilities.vision, !agent.model().capabilities.pdf);
    let model = || agent.model().name.clone();
    if result.outcome != CallOutcome::Done {
        return Err(AttachError::Refused(result.reason()));
    }
    let shown = || result.parts.iter().filter_map(Part::as_image);
    if blind && shown().any(|image| !image.is_pdf()) {
        return Err(AttachError::Blind { model: model() });
    }
    if unread && shown().any(Image::is_pdf) {
        return Err(AttachError::Unread { model: model(), path: path.into() });
    }
    let mut parts = vec![Part::Note(Note::AttachedFile { path: path.into() })];
    parts.extend(result.parts);
    Ok(parts)
}
