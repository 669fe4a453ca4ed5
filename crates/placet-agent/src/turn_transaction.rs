//! The view at the beginning and at the end of a turn: the name under which changes are journaled, and the end of the
//! changes that only this turn may see.

use super::config::TurnStart;
use super::conversation::log::Conversation;
use super::event::{TurnEvent, TurnEvents};
use super::services::SharedServices;
use placet_permission::Mode;
use placet_text::text::width;
use placet_workspace::TransactionLabel;

/// The columns of a message that the journal stores: some rows of a narrow screen.
const TITLE: usize = 200;

/// From now on, applied changes are journaled under this turn's name.
pub(super) fn begin(services: &SharedServices, conversation: &Conversation, start: &TurnStart) {
    let Some(view) = services.env.workspace.view().filter(|_| !services.subagents.is_child) else { return };
    let said = start.text();
    let said = services.secrets().redact(&said);
    let title = width::cut_words(said.lines().next().unwrap_or_default().trim(), TITLE);
    let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    if let Err(e) = view.drop_unchanged() {
        tracing::warn!("files whose changes cancel out are still listed as pending: {e}");
    }
    let turn = TransactionLabel::turn_of(&name, conversation.transcript.len(), conversation.branches);
    let session = services.origin.session.clone();
    view.begin_turn(TransactionLabel { turn, session, title, ..TransactionLabel::default() });
}

/// Uploads what was applied in mounts, and discards what read mode's commands changed.
pub(super) fn end(services: &SharedServices, events: &TurnEvents) {
    if services.subagents.is_child {
        return;
    }
    for why in services.env.mounts.push() {
        events.notice(format!("not saved to the store: {why}"));
    }
    let Some(view) = services.env.workspace.view() else { return };
    if let Err(e) = view.drop_scratch() {
        events.notice(format!("could not discard the changes of commands: {e}"));
    }
    let dropped = view.turn().dropped;
    if dropped.total() > 0 {
        events.notice(format!("read mode: discarded changes to {dropped} made by commands"));
        events.send(TurnEvent::LimitedByMode(Mode::Read));
    }
}
