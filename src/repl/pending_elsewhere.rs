//! Changes that another session of this directory left pending: one line that says so, when a conversation starts and in
//! the review.

use super::context::CommandContext;
use super::titles::{age_words, now, short_id};
use crate::session::SessionStore;
use crate::text::{count, visible, width};
use crate::workspace::{LayerKind, Workspace};

/// Columns of a title within the line.
const TITLE: usize = 40;

/// Another session, or a command without one, and its workspace.
pub(super) struct PendingElsewhere {
    pub(super) workspace: Workspace,
    pub(super) line: String,
}

/// What the newest other session of this directory left pending. One that is open elsewhere is not this person's to
/// decide here.
pub(super) fn pending_elsewhere(context: &CommandContext<'_>) -> Option<PendingElsewhere> {
    let own = context.conversation.session().map(|session| session.id().as_str());
    let (name, workspace) = context.app.builder.earlier(own)?;
    let view = workspace.view()?;
    let set = view.changes(LayerKind::Pending).ok()?;
    let pending = set.listed(&view.classify(&set));
    let line = line(context.conversation.store.as_ref(), &name, pending);
    Some(PendingElsewhere { workspace, line })
}

/// `3 changes are pending from session "fix the tests", yesterday: /resume 06h02x7712x67`
fn line(store: Option<&SessionStore>, name: &str, pending: usize) -> String {
    let changes = format!("{} {}", count::of(pending, "change"), if pending == 1 { "is" } else { "are" });
    let Some(row) = store.and_then(|store| store.find(name).ok()).filter(|row| row.id.as_str() == name)
    else {
        // `placet sandbox run` and a single tool call have a view and no session.
        return format!("{changes} pending from an earlier command: /changes, /apply, /discard");
    };
    let title = width::cut(&visible::prose_line(&row.title), TITLE);
    let (age, id) = (age_words(row.updated, now()), short_id(&row.id));
    format!("{changes} pending from session \"{title}\", {age}: /resume {id}")
}
