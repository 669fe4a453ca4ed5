//! Instructions of directories below the working directory. They are sent with the result of the first call that touches
//! a file there: the beginning of the request stays the same, and a directory in which nobody works costs nothing.

use super::log::Conversation;
use super::notes::newest_first;
use super::reported::may_read;
use crate::event::TurnEvents;
use crate::services::SharedServices;
use placet_session::guidance::{MAX_BYTES, of_directory};
use placet_text::conversation::{CallOutcome, CallResult, Message, Note, Part, ToolCall};
use std::path::{Path, PathBuf};

/// Adds the notes to the results of the calls that touched such directories.
pub(crate) fn add_directory_instructions(
    conversation: &Conversation,
    services: &SharedServices,
    results: &mut [CallResult],
    events: &TurnEvents,
) {
    let Some(Message::Assistant(answer)) = conversation.transcript.last() else { return };
    // The notes that the model still has; those before a summary are sent again when they are needed.
    let sent = newest_first(conversation.unsummarized());
    let mut sent: Vec<(String, String)> = sent.filter_map(sent_text).collect();
    let may_read = may_read(services);
    for call in answer.calls() {
        let Some(result) = results.iter_mut().find(|result| result.id == call.id) else { continue };
        if result.outcome != CallOutcome::Done {
            continue;
        }
        for (dir, root) in directories(call, services) {
            let used: usize = sent.iter().map(|(_, text)| text.len()).sum();
            let found = of_directory(&dir, &root, MAX_BYTES.saturating_sub(used), &may_read);
            let name = dir.to_string_lossy().into_owned();
            let known = sent.iter().find(|(of, _)| *of == name);
            if known.map_or("", |(_, text)| text.as_str()) == found.text {
                continue;
            }
            found.left_out.into_iter().for_each(|line| events.notice(line));
            for source in &found.sources {
                events.notice(format!("instructions from {}", source.path));
            }
            sent.insert(0, (name.clone(), found.text.clone()));
            let note = Note::DirectoryInstructions { dir: name, text: found.text, sources: found.sources };
            result.parts.push(Part::Note(note));
        }
    }
}

fn sent_text(note: &Note) -> Option<(String, String)> {
    match note {
        Note::DirectoryInstructions { dir, text, .. } => Some((dir.clone(), text.clone())),
        _ => None,
    }
}

/// The directories of the files that a call touched, the highest first, and the root of the workspace that contains each.
/// The working directory and those above it are left out: the conversation began with their instructions.
fn directories(call: &ToolCall, services: &SharedServices) -> Vec<(PathBuf, PathBuf)> {
    let workspace = &services.env.workspace;
    let touched = services.registry.touches(&call.name, &call.input);
    let mut out: Vec<(PathBuf, PathBuf)> = Vec::new();
    for path in touched.reads.iter().chain(&touched.writes).filter(|path| !path.contains(':')) {
        let Ok(at) = workspace.resolve(path) else { continue };
        let Some(root) = workspace.roots().iter().find(|root| at.path.starts_with(root)) else { continue };
        let begin = if at.path.is_dir() { Some(at.path.as_path()) } else { at.path.parent() };
        let below = |dir: &&Path| dir.starts_with(root) && !workspace.cwd().starts_with(dir);
        let mut dirs: Vec<&Path> = begin.into_iter().flat_map(Path::ancestors).take_while(below).collect();
        dirs.reverse();
        for dir in dirs {
            if !out.iter().any(|(known, _)| known == dir) {
                out.push((dir.to_path_buf(), root.clone()));
            }
        }
    }
    out
}
