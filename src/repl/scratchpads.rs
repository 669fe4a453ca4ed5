//! What the screen of scratchpads asks for: viewing, comparing, editing, deleting, a file made of one, one attached to
//! the next message.
//!
//! A file is written by the tool the model would use, through the same gate and into the same view, so that the same
//! review decides about it. What is attached is read by the model's own tool as well.

use super::Shell;
use crate::agent::{Agent, ApprovalReply, call_once};
use crate::conversation::{CallId, CallInput, CallOutcome, CallResult, Note, Part, ToolCall};
use crate::session::{ScratchpadEntry, Scratchpads};
use crate::text::LineDiff;
use crate::ui::scratchpads::{
    KEYS, ScratchpadBrowser, ScratchpadItem, ScratchpadItemKind, ScratchpadRequest,
};
use crate::ui::viewer::{self, Viewer, ViewerText};
use crate::ui::{editor, pager, picture, term};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Bytes of a scratchpad that are shown next to the list.
const HEAD: usize = 8 << 10;
/// The most of a difference that is shown.
const DIFF: usize = 8 << 20;

/// A scratchpad that goes along with the next message.
pub(super) struct PinnedScratchpad {
    pub(super) name: String,
    parts: Vec<Part>,
}

impl Shell<'_> {
    /// The screen of scratchpads, until it is closed for good.
    pub(super) fn browse_scratchpads(&mut self) {
        let Some(agent) = &self.conversation.agent else { return self.note("no scratchpads yet") };
        let (keys, pager) = (self.keymap("scratchpads", KEYS), self.keymap("pager", pager::KEYS));
        let mut pane = ScratchpadBrowser::new(listed(&agent.env().scratchpads), &self.theme, keys, pager);
        loop {
            self.show(&mut pane);
            let Some(wish) = pane.take_wish() else { break };
            let words = self.grant(wish).unwrap_or_else(Some);
            let Some(agent) = &self.conversation.agent else { break };
            pane.tell(listed(&agent.env().scratchpads), words);
        }
        let pinned = self.conversation.pinned.iter().map(|p| format!("`{}`", p.name)).collect::<Vec<_>>();
        if !pinned.is_empty() {
            self.note(&format!("your next message attaches {}", pinned.join(", ")));
        }
    }

    /// Does it; what there is to say of it, or why it could not be done.
    fn grant(&mut self, wish: ScratchpadRequest) -> Result<Option<String>, String> {
        let agent = self.conversation.agent.as_ref().ok_or("no conversation")?;
        let pads = &agent.env().scratchpads;
        match wish {
            ScratchpadRequest::View(name) => {
                self.look_at(&name, &text_of(pads, &name)?);
                Ok(None)
            }
            ScratchpadRequest::Diff(old, new) => {
                let (before, after) = (text_of(pads, &old)?, text_of(pads, &new)?);
                let diff = LineDiff::new(&before, &after).unified(3, DIFF);
                if diff.text.is_empty() {
                    return Ok(Some(format!("`{old}` and `{new}` are the same")));
                }
                self.look_at(&format!("{old} → {new}.diff"), &diff.text);
                let left_out = diff.left_out;
                Ok((left_out > 0).then(|| format!("{left_out} more lines differ (too many to show)")))
            }
            ScratchpadRequest::Edit(name) => self.edit_scratchpad(pads, &name).map(Some),
            ScratchpadRequest::Delete(name) => {
                pads.delete(&name).map_err(|e| e.to_string())?;
                self.conversation.pinned.retain(|pinned| pinned.name != name);
                Ok(Some(format!("deleted `{name}`")))
            }
            ScratchpadRequest::Promote { name, path } => {
                let content = text_of(pads, &name)?;
                let input = json!({ "path": path, "content": content, "mode": "create" });
                done(self.call_for_person(agent, "write_file", input))?;
                Ok(Some(format!("{path} is pending: decide with /review, or apply it with /apply")))
            }
            ScratchpadRequest::Pin(name) => self.pin(&name).map(Some),
        }
    }

    /// Through the gate, as if the model had called.
    fn call_for_person(&self, agent: &Agent, tool: &str, input: Value) -> CallResult {
        let call =
            ToolCall { id: CallId::new("by-hand"), name: tool.into(), input: CallInput::Object(input) };
        let (registry, env) = (Arc::new(self.app.registry().for_person()), Arc::clone(agent.env()));
        let policy = Arc::clone(self.app.policy());
        let running = call_once(
            registry,
            env,
            policy,
            agent.call_origin(),
            call,
            ApprovalReply::Nobody,
            CancellationToken::new(),
        );
        self.runtime.block_on(running)
    }

    pub(super) fn look_at(&self, name: &str, text: &str) {
        let (clipboard, program) = (self.clipboard(), self.editor());
        let hands = viewer::ViewerCallbacks {
            keys: self.keymap("viewer", viewer::KEYS),
            pager: self.keymap("pager", pager::KEYS),
            copy: Box::new(move |text| clipboard.copy(text).map_or_else(|e| e.to_string(), |c| c.words())),
            edit: Box::new(|_| editor::edit(&program, text, ".txt").map(drop).map_err(|e| e.to_string())),
        };
        let shown = ViewerText::in_memory(text.into());
        self.show(&mut Viewer::new(shown, name, None, &self.theme, hands));
    }

    fn edit_scratchpad(&self, pads: &Scratchpads, name: &str) -> Result<String, String> {
        let before = text_of(pads, name)?;
        let program = self.editor();
        let after = term::with_original_mode(|| editor::edit(&program, &before, ".txt"))
            .map_err(|e| e.to_string())?;
        if after == before {
            return Ok(format!("`{name}` is unchanged"));
        }
        let bytes = after.len();
        pads.put(name, ScratchpadEntry::Text(after)).map_err(|e| e.to_string())?;
        Ok(format!("`{name}` has {bytes} bytes now"))
    }

    /// As the model would read it; a long one is a page of it.
    fn pin(&mut self, name: &str) -> Result<String, String> {
        let agent = self.conversation.agent.as_ref().ok_or("no conversation")?;
        let blind = !agent.model().capabilities.vision;
        let result = self.call_for_person(agent, "scratchpad", json!({ "action": "read", "name": name }));
        let parts = done(result)?.parts;
        if blind && parts.iter().any(|part| matches!(part, Part::Image(_))) {
            return Err(format!("the model {} does not accept pictures", agent.model().name));
        }
        let told: Vec<String> = parts.iter().filter_map(Part::as_image).map(picture::chip).collect();
        let bytes: usize = parts.iter().map(size).sum();
        let mut all = vec![Part::Note(Note::AttachedScratchpad { name: name.into() })];
        all.extend(parts);
        self.conversation.pinned.retain(|pinned| pinned.name != name);
        self.conversation.pinned.push(PinnedScratchpad { name: name.into(), parts: all });
        Ok(match told.is_empty() {
            true => format!("your next message attaches `{name}`: {bytes} bytes"),
            false => format!("attached to your next message: {}", told.join("; ")),
        })
    }

    /// What goes along with a message, once.
    pub(super) fn take_pinned(&mut self) -> Vec<Part> {
        std::mem::take(&mut self.conversation.pinned).into_iter().flat_map(|pinned| pinned.parts).collect()
    }
}

fn done(result: CallResult) -> Result<CallResult, String> {
    if result.outcome == CallOutcome::Done { Ok(result) } else { Err(result.body()) }
}

fn size(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Note(note) => note.words().len(),
        Part::Image(image) => image.bytes.len(),
    }
}

fn text_of(pads: &Scratchpads, name: &str) -> Result<String, String> {
    match pads.get(name) {
        Ok(ScratchpadEntry::Text(text)) => Ok(text.to_string()),
        Ok(ScratchpadEntry::Image(image)) => Ok(image.describe()),
        Err(e) => Err(e.to_string()),
    }
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
