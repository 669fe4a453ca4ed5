//! Changes that another session of this directory left pending: one line that says so, when a conversation starts and in
//! the review.

use super::context::CommandContext;
use super::titles::{age_words, now, short_id};
use super::user_context::EarlierPending;
use crate::agent::PENDING_COMMANDS;
use crate::session::SessionStore;
use crate::text::{count, visible, width};
use crate::workspace::{ChangeCount, Workspace};

/// Columns of a title within the line.
const TITLE: usize = 40;

/// Another session, or a command without one, and its workspace.
pub(super) struct PendingElsewhere {
    pub(super) workspace: Workspace,
    pub(super) line: String,
    /// The same in a row of a screen that is about something else.
    short_line: String,
    /// They are of a try: nothing but its own conversation shows or applies them.
    pub(super) is_of_try: bool,
}

/// What the newest other session of this directory left pending, and a line for each view that cannot be read. A session
/// that is open elsewhere is not this person's to decide here.
pub(super) fn pending_elsewhere(context: &CommandContext<'_>) -> (Option<PendingElsewhere>, Vec<String>) {
    let own = context.conversation.session().map(|session| session.id().as_str());
    let EarlierPending { newest, others, mut unread } = context.app.builder.earlier(own);
    let found = newest.and_then(|(name, workspace)| {
        let view = workspace.view()?;
        match view.pending_count() {
            Ok(count) => Some(found(context, (&name, &others), workspace, count)),
            Err(e) => {
                unread.push(format!("`{name}`: {e}"));
                None
            }
        }
    });
    let lines = unread.iter().map(|why| {
        let why = visible::guard_line(why);
        format!("cannot read the changes that another session left pending: {why}; `placet doctor` says what to do")
    });
    (found, lines.collect())
}

/// The lines about other sessions, for a review that shows nothing else.
pub(super) fn lines_about_others(context: &CommandContext<'_>) -> Vec<String> {
    let (found, unread) = pending_elsewhere(context);
    found.map(|found| found.line).into_iter().chain(unread).collect()
}

/// The same in short, for a review that shows changes: its rows are for them.
pub(super) fn short_lines_about_others(context: &CommandContext<'_>) -> Vec<String> {
    let (found, unread) = pending_elsewhere(context);
    found.map(|found| found.short_line).into_iter().chain(unread).collect()
}

fn found(
    context: &CommandContext<'_>,
    (name, others): (&str, &[String]),
    workspace: Workspace,
    pending: ChangeCount,
) -> PendingElsewhere {
    let store = context.conversation.store.as_ref();
    let tries = store.and_then(|store| store.tries(context.app.cwd()).ok()).unwrap_or_default();
    let more = more(others, |other| tries.iter().any(|one| one.session.id.as_str() == other));
    let of_try = tries.into_iter().find(|one| one.session.id.as_str() == name);
    let (line, short_line) = match &of_try {
        Some(one) => (
            format!("changes to {pending} are pending in the try {}: /try {}", one.name, one.name),
            format!("pending in the try {}: {pending}", one.name),
        ),
        None => line(store, name, pending),
    };
    let (line, short_line) = (format!("{line}{more}"), format!("{short_line}{more}"));
    PendingElsewhere { workspace, line, short_line, is_of_try: of_try.is_some() }
}

/// `; 1 more try: /try`, `; 2 more sessions: /resume`: the others that have pending changes, and what lists them.
fn more(others: &[String], is_try: impl Fn(&str) -> bool) -> String {
    let tries = others.iter().filter(|name| is_try(name)).count();
    let one = |number: usize, noun: &str, command: &str| match number {
        0 => String::new(),
        number => format!("; {}: {command}", count::of(number, noun)),
    };
    one(tries, "more try", "/try") + &one(others.len() - tries, "more session", "/resume")
}

/// `changes to 3 files are pending from session "fix the tests", yesterday: /resume 06h02x7712x67`,
/// and the same in short.
fn line(store: Option<&SessionStore>, name: &str, pending: ChangeCount) -> (String, String) {
    let changes = format!("changes to {pending} are");
    let Some(row) = store.and_then(|store| store.find(name).ok()).filter(|row| row.id.as_str() == name)
    else {
        // `placet run` and a single tool call have a view and no session.
        let from = "pending from an earlier command";
        return (format!("{changes} {from}: {PENDING_COMMANDS}"), format!("{from}: {pending}"));
    };
    let title = width::cut(&visible::prose_line(&row.title), TITLE);
    let (age, id) = (age_words(row.updated, now()), short_id(&row.id));
    (
        format!("{changes} pending from session \"{title}\", {age}: /resume {id}"),
        format!("pending in another session: {pending}: /resume {id}"),
    )
}

#[cfg(test)]
mod tests {
    use super::more;

    /// Story: of two tries with pending changes the note at the start named one, and nothing said that there was another.
    #[test]
    fn the_others_with_pending_changes_are_counted_with_what_lists_them() {
        let is_try = |name: &str| name.starts_with('t');
        let words =
            |names: &[&str]| more(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>(), is_try);
        assert_eq!(words(&[]), "");
        assert_eq!(words(&["t1"]), "; 1 more try: /try");
        assert_eq!(words(&["t1", "s1", "t2"]), "; 2 more tries: /try; 1 more session: /resume");
    }
}
