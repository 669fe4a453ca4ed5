//! Beginning, finding, naming and leaving conversations: `/new`, `/clear`, `/resume`, `/search`, `/title`, `/pin`,
//! `/retry`, `/quit`.

use super::session_list::{SessionList, SharedListing, scopes_of};
use crate::agent::{Agent, TurnStart, pending_words};
use crate::repl::coming::ComingMessages;
use crate::repl::commands::{directory, jobs};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::error::ReplError;
use crate::repl::output::is_interactive;
use crate::repl::session_rows::{
    SessionListRow, SessionListing, last_shown, picker_title_columns, session_table, table_room,
    title_columns,
};
use crate::repl::titles::{short_id, title_of, when};
use crate::repl::turn;
use crate::session::{
    CONVERSATION, OpenSession, SessionError, SessionHit, SessionPin, SessionRow, SessionStateKey,
    SessionStore,
};
use crate::text::{count, visible, width};
use crate::ui::list::{self, PreviewArea};
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::ui::turn_pane::{
    PastConversation, PastTurnsScreen, TurnDisplay, TurnPaneStatus, last_turn, past_turns,
};
use crate::ui::{term, wrap};
use ratatui::text::Line;
use std::cell::RefCell;
use std::rc::Rc;

/// Hits of a search, and sessions, that can be chosen from.
const HITS: usize = 200;
const SESSIONS: usize = 20_000;
/// Sessions that are listed in lines.
const LISTED: usize = 15;
/// Columns of a row of the picker before its text.
const PICKER_LEAD: usize = 3;
/// Entries from which the preview of a session is made.
const PREVIEW_ENTRIES: i64 = 30;

pub(in crate::repl::commands) fn clear(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    term::write_all(b"\x1b[H\x1b[2J");
    new(context, rest)
}

pub(in crate::repl::commands) fn new(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let conversation = &mut context.conversation;
    if let Some(agent) = &conversation.agent {
        let left = context.runtime.block_on(agent.leave());
        left.map_err(|why| format!("this conversation continues: {why}"))?;
        let said = context.runtime.block_on(agent.end_session("clear"));
        said.iter().for_each(|words| context.output.note(words));
    }
    conversation.pinned.clear();
    let pending = conversation.own_pending();
    let mut previous = None;
    if let Some(agent) = conversation.agent.take() {
        // The next conversation is answered by the provider that answered this one.
        let (provider, model) = (agent.provider_name(), agent.model().name.as_str());
        conversation.answerer = context.app.builder.answerer(Some(provider), Some(model)).ok();
        previous = agent.session().map(|session| session.id().to_string());
    }
    let words = previous.as_ref().map(|id| format!("; the previous session is {id}"));
    context.output.note(&format!("started a new conversation{}", words.unwrap_or_default()));
    // The prompt no longer shows them.
    if let Some(id) = previous.filter(|_| pending.total() > 0) {
        context.output.note(&format!("changes to {pending} stay pending there: /resume {id}"));
    }
    Ok(CommandFollowUp::Nothing)
}

pub(in crate::repl::commands) fn retry(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    match &context.conversation.agent {
        Some(agent) if !agent.transcript().is_empty() => Ok(CommandFollowUp::Turn(TurnStart::Retry)),
        _ => Err(CommandStop::note("nothing to send again")),
    }
}

/// True for the commands that leave.
pub(in crate::repl) fn is_quit(name: &str) -> bool {
    matches!(name, "quit" | "exit")
}

pub(in crate::repl::commands) fn quit(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    if !jobs::may_leave(context) {
        return Ok(CommandFollowUp::Nothing);
    }
    say_how_to_continue(context);
    Ok(CommandFollowUp::Quit(0))
}

/// For a person who leaves: what is pending, and how to resume.
pub(in crate::repl) fn say_how_to_continue(context: &CommandContext<'_>) {
    if context.conversation.is_temporary {
        return;
    }
    let pending = context.conversation.pending();
    if pending.total() > 0 {
        context.output.note(&format!(
            "changes to {pending} stay pending: `placet apply` applies them, `placet changes` shows them"
        ));
    }
    if let Some(session) = context.conversation.session() {
        context.output.hint(&format!("resume with: placet --resume {}", short_id(session.id())));
    }
}

pub(in crate::repl::commands) fn resume(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let named = match rest {
        "" if !is_interactive() => {
            list(context);
            return Ok(CommandFollowUp::Nothing);
        }
        "" => pick(context).ok_or(CommandStop::Cancelled)?,
        named => named.to_string(),
    };
    let store = context.store()?;
    let row = match named.parse::<usize>() {
        // A longer number is the beginning of an ID, which may consist of digits only.
        Ok(number) if number >= 1 && named.len() <= 3 => {
            let listing = listing(context, &store);
            listing.map(|listing| listing.conversations().nth(number - 1).map(|one| one.row.clone()))
        }
        _ => store.find(&named).map(Some),
    };
    let hint = "/resume lists the sessions";
    let row = row.map_err(|e| CommandStop::with_hint(e.to_string(), hint))?;
    let row = row.ok_or_else(|| CommandStop::with_hint(format!("no session number {named}"), hint))?;
    change_and_show(context, &row)
}

/// `placet -r`: one of the sessions, or a new one where nothing is chosen.
pub(in crate::repl) fn choose(context: &mut CommandContext<'_>) -> Result<(), ReplError> {
    let Some(store) = context.conversation.store.clone() else { return Ok(()) };
    let Some(id) = pick(context) else { return Ok(()) };
    let row = store.find(&id)?;
    match resume_elsewhere(context, &row) {
        Ok(Some(_)) => Ok(()),
        Ok(None) => resume_and_show(context, &row),
        Err(stop) => {
            stop.tell(&context.output);
            Ok(())
        }
    }
}

/// Leaves for the directory of a session that belongs to another one. `None` for a session of this directory.
fn resume_elsewhere(
    context: &mut CommandContext<'_>,
    row: &SessionRow,
) -> Result<Option<CommandFollowUp>, CommandStop> {
    match context.app.builder.session_directory(row)? {
        Some(dir) => directory::resume_there(context, &row.id, dir).map(Some),
        None => Ok(None),
    }
}

/// `placet -c`: the last session of this directory that the list of sessions shows, or a new one.
pub(in crate::repl) fn resume_last(context: &mut CommandContext<'_>) -> Result<(), ReplError> {
    let Some(store) = context.conversation.store.clone() else { return Ok(()) };
    let cwd = context.app.cwd();
    if let Some(row) = last_shown(&store, cwd, || context.app.builder.pending_counts())? {
        resume_and_show(context, &row)?;
    } else if store.latest(cwd)?.is_some() {
        context.output.note(
            "this directory has no earlier session but runs of `placet -p`; started a new one; /resume and Ctrl-O list \
             the runs",
        );
    } else {
        context.output.note("no earlier session in this directory; started a new one");
    }
    Ok(())
}

fn listing(context: &CommandContext<'_>, store: &SessionStore) -> Result<SessionListing, SessionError> {
    let pending = context.app.builder.pending_counts();
    SessionListing::of(store, SESSIONS, context.app.cwd(), &pending)
}

/// The name of a session that the person chooses.
fn pick(context: &CommandContext<'_>) -> Option<String> {
    let store = context.conversation.store.as_ref()?;
    let read = move || listing(context, store).unwrap_or_default();
    let shared: SharedListing = Rc::new(RefCell::new(read()));
    let (columns, rows) = term::size();
    let room = usize::from(list::areas((columns, rows)).0.width).saturating_sub(PICKER_LEAD);
    let of_preview = Rc::clone(&shared);
    let about = move |item: &PickerItem| {
        let listing = of_preview.borrow();
        let row = listing.all().find(|one| one.row.id.as_str() == item.value());
        row.map_or_else(PickerPreview::default, |one| preview(context, store, one, (columns, rows)))
    };
    let scopes = scopes_of(&shared.borrow(), 0, room);
    let wide = picker_title_columns(&shared.borrow().all().collect::<Vec<_>>(), room);
    let feed = PickerFeed::of(scopes.first().map(|scope| scope.items.clone()).unwrap_or_default());
    let store = store.clone();
    let owner = SessionList { context, store, listing: shared, read: Box::new(read), room };
    let picker = context.output.picker("Sessions", feed).with_preview(about).with_scopes(scopes);
    context.output.pick_one(picker.in_columns(wide).owned_by(owner))
}

/// How a session ended, as it looked.
fn preview(
    context: &CommandContext<'_>,
    store: &SessionStore,
    one: &SessionListRow,
    (columns, rows): (u16, u16),
) -> PickerPreview {
    let Some(area) = list::preview_areas((columns, rows)).1.map(PreviewArea::inside) else {
        return PickerPreview::default();
    };
    let (theme, row) = (&context.output.theme, &one.row);
    let (columns, rows) = (usize::from(area.width), usize::from(area.height));
    let messages = store.last_messages(row, PREVIEW_ENTRIES);
    let past = PastConversation { messages: &messages, first: 0, closing: &[] };
    let wrap = context.app.config.settings().ui.wrap;
    let display = TurnDisplay { wrap, ..TurnDisplay::default() };
    let facts = TurnPaneStatus { display, ..TurnPaneStatus::default() };
    let screen = PastTurnsScreen { theme: theme.clone(), facts, columns, rows: rows / 2, is_linear: false };
    let text = past_turns(&past, &screen).lines;
    let mut end: Vec<Line<'static>> = text.iter().flat_map(|line| wrap::wrap(line, columns)).collect();
    let place = format!("{} · {}", when(row.updated), visible::path(&row.cwd));
    let head = |text: &str, label: &str| {
        Line::styled(width::cut(&visible::guard_line(text), columns), theme.style(label))
    };
    let mut drawn = vec![head(&one.title(), "title"), head(&place, "dim")];
    end.drain(..end.len().saturating_sub(rows.saturating_sub(drawn.len())));
    drawn.append(&mut end);
    PickerPreview { drawn, ..PickerPreview::default() }
}

/// Lists the sessions in lines. On a screen, the person chooses from a list instead.
pub(in crate::repl) fn list(context: &CommandContext<'_>) {
    let output = &context.output;
    let Some(store) = &context.conversation.store else {
        return output.note("conversations are not saved");
    };
    let listing = match listing(context, store) {
        Ok(listing) => listing,
        Err(e) => return output.error(&e.to_string(), None),
    };
    let rows: Vec<&SessionListRow> = listing.conversations().take(LISTED).collect();
    if rows.is_empty() && listing.one_shots.is_empty() {
        return output.note("no sessions yet");
    }
    let room = usize::from(term::size().0).saturating_sub(2);
    output.say_plain(session_table(
        &rows,
        Some(1),
        (title_columns(&rows, table_room(Some(1), &rows, room)), room),
    ));
    let others = listing.all().count() - rows.len();
    if others > 0 {
        output.hint(&format!("{} more: `placet session list --all`", count::of(others, "session")));
    }
    output.hint("/resume NUMBER or /resume ID resumes a session");
}

/// Resumes a session and shows how it ended. The messages of a long one are read while the person types the next line.
pub(in crate::repl) fn resume_and_show(
    context: &mut CommandContext<'_>,
    row: &SessionRow,
) -> Result<(), ReplError> {
    let Some(store) = context.conversation.store.clone() else { return Ok(()) };
    if !is_interactive() {
        return resume_session(context, row);
    }
    let open = store.resume(&row.id)?;
    // Read again under the lock: another process may have added entries.
    let row = &store.find(row.id.as_str())?;
    let Some(coming) = ComingMessages::of(&store, row)? else {
        drop(open);
        resume_session(context, row)?;
        show_past(context);
        return Ok(());
    };
    drop(open.set(SessionStateKey::Origin, CONVERSATION));
    let mut agent = context.conversation.build(Some(open))?;
    agent.begin_resume()?;
    context.conversation.agent = Some(agent);
    context.conversation.pinned.clear();
    say_resumed(context, row, coming.outline().messages);
    context.conversation.coming = Some(coming);
    show_past(context);
    Ok(())
}

fn say_resumed(context: &CommandContext<'_>, row: &SessionRow, messages: usize) {
    context.output.note(&format!("resumed {}: {} ({})", row.id, row.title, count::of(messages, "message")));
}

/// Resumes a session: its conversation, its scratchpads, what the model has seen.
pub(in crate::repl) fn resume_session(
    context: &mut CommandContext<'_>,
    row: &SessionRow,
) -> Result<(), ReplError> {
    let Some(store) = context.conversation.store.clone() else { return Ok(()) };
    // The lock comes first: what is read after it cannot change any more.
    let open = store.resume(&row.id)?;
    // Somebody talks in it now: lists show it, also where `-p` began it.
    drop(open.set(SessionStateKey::Origin, CONVERSATION));
    let loaded = store.load_for_resume(&row.id)?;
    let messages = loaded.transcript.len();
    let mut agent = context.conversation.build(Some(open))?;
    for note in agent.resume(loaded)? {
        context.output.note(&note);
    }
    context.conversation.agent = Some(agent);
    context.conversation.pinned.clear();
    say_resumed(context, row, messages);
    Ok(())
}

/// Shows the last turns of the conversation that was resumed, as they looked.
pub(in crate::repl) fn show_past(context: &CommandContext<'_>) {
    let CommandContext { app, output, conversation, .. } = context;
    let Some(agent) = conversation.agent.as_ref().filter(|_| is_interactive()) else { return };
    let transcript = agent.transcript();
    let outline = conversation.coming.as_ref().map(ComingMessages::outline);
    let (messages, count, said) = match outline {
        Some(outline) => (outline.last.as_slice(), outline.messages, outline.said),
        // What was summed up lies elsewhere and is not read for this.
        None => (transcript.since(transcript.begins()), transcript.len(), transcript.user_message_count()),
    };
    let first = count.saturating_sub(messages.len());
    let closing = agent.session().map(|session| session.closing_lines(count)).unwrap_or_default();
    let past = PastConversation { messages, first, closing: &closing };
    let (columns, rows) = term::size();
    let screen = PastTurnsScreen {
        theme: output.theme.clone(),
        facts: turn::status(app, agent, false),
        columns: usize::from(columns),
        rows: usize::from(rows),
        is_linear: output.is_linear(),
    };
    let shown = past_turns(&past, &screen);
    let earlier = said.saturating_sub(shown.said);
    if earlier > 0 {
        let turns = count::of(earlier, "earlier turn");
        output.hint(&format!("{turns}: Ctrl-T or /transcript shows the whole conversation"));
    }
    output.print(&shown.lines);
    if !output.is_linear() && !shown.lines.is_empty() {
        output.print(&[Line::default()]);
    }
}

/// Shows the last turn again, where the terminal may have lost its rows.
pub(in crate::repl) fn show_last_turn(context: &CommandContext<'_>) {
    let CommandContext { app, output, conversation, .. } = context;
    let Some(agent) = conversation.agent.as_ref() else { return };
    let transcript = agent.transcript();
    let messages = transcript.since(transcript.begins());
    let first = transcript.len().saturating_sub(messages.len());
    let (columns, rows) = term::size();
    let screen = PastTurnsScreen {
        theme: output.theme.clone(),
        facts: turn::status(app, agent, false),
        columns: usize::from(columns),
        rows: usize::from(rows),
        is_linear: output.is_linear(),
    };
    output.print(&last_turn(&PastConversation { messages, first, closing: &[] }, &screen));
}

/// Says what is pending in the conversation that was resumed, unless that is the last line that it shows.
pub(in crate::repl) fn say_pending(context: &CommandContext<'_>) {
    let pending = context.conversation.own_pending();
    if pending.total() == 0 {
        return;
    }
    let words = pending_words(pending);
    let outline = context.conversation.coming.as_ref().map(|coming| coming.outline().messages);
    let count = outline.unwrap_or_else(|| context.conversation.messages().len());
    let closing = context.conversation.session().map(|session| session.closing_lines(count));
    let closing = closing.unwrap_or_default();
    let is_shown = closing.last().is_some_and(|last| last.messages == count && last.line == words);
    if !is_shown || !is_interactive() {
        context.output.note(&words);
    }
}

/// Changes to a session and shows how it ended. This conversation is on the screen already.
fn change_and_show(context: &mut CommandContext<'_>, row: &SessionRow) -> SlashCommandResult {
    let is_this = context.conversation.session().map(OpenSession::id) == Some(&row.id);
    let followed = change_to(context, row)?;
    if !is_this && context.directory.next.is_none() {
        show_past(context);
        say_pending(context);
    }
    Ok(followed)
}

/// Resumes a session. If that fails, the current conversation continues.
pub(in crate::repl::commands) fn change_to(
    context: &mut CommandContext<'_>,
    row: &SessionRow,
) -> SlashCommandResult {
    if context.conversation.session().map(OpenSession::id) == Some(&row.id) {
        context.output.note("this is the current conversation");
        return Ok(CommandFollowUp::Nothing);
    }
    if let Some(leaving) = resume_elsewhere(context, row)? {
        return Ok(leaving);
    }
    let before = context.conversation.agent.take();
    if let Err(e) = resume_session(context, row) {
        // The failed attempt may have set its own level in the policy, which all conversations share.
        before.iter().for_each(Agent::reclaim);
        context.conversation.agent = before;
        return Err(e.into());
    }
    Ok(CommandFollowUp::Nothing)
}

/// `/search WORDS`: where a screen is, the hit that is chosen is gone to.
pub(in crate::repl::commands) fn search(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    if rest.is_empty() {
        return Err(CommandStop::with_hint("/search needs words", "for example: /search landlock"));
    }
    let store = context.store()?;
    let hits = store.search(rest, HITS)?;
    if hits.is_empty() {
        return Err(CommandStop::note("no matches"));
    }
    if context.output.is_linear() || !is_interactive() {
        for hit in &hits {
            context.output.text(&format!("{}  {}\n    {}", hit.session, hit.title, hit.marked("«", "»")));
        }
        context.output.hint("/resume ID resumes a session");
        return Ok(CommandFollowUp::Nothing);
    }
    let item = |hit: &SessionHit| {
        PickerItem::new(hit.marked("«", "»"), hit.title.clone()).with_value(hit.session.clone())
    };
    let feed = PickerFeed::of(hits.iter().map(item).collect());
    let about = |item: &PickerItem| PickerPreview { text: item.text.clone(), ..PickerPreview::default() };
    let chosen = context.output.pick_one(context.output.picker("Found", feed).with_preview(about));
    change_and_show(context, &store.find(&chosen.ok_or(CommandStop::Cancelled)?)?)
}

/// `/title TEXT`
pub(in crate::repl::commands) fn title(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (store, id) = context.saved()?;
    let title = title_of(rest);
    if title.is_empty() {
        let title = store.find(id.as_str())?.title;
        context.output.note(&format!("the title of this conversation is: {title}"));
        return Ok(CommandFollowUp::Nothing);
    }
    store.rename(&id, &title)?;
    context.output.note(&format!("renamed this conversation to: {title}"));
    Ok(CommandFollowUp::Nothing)
}

/// `/pin` and `/pin off`
pub(in crate::repl::commands) fn pin(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let (store, id) = context.saved()?;
    let (pin, told) = match rest {
        "" | "on" => {
            (SessionPin::On, "pinned this conversation: it is listed first and never removed automatically")
        }
        "off" => (SessionPin::Off, "unpinned this conversation"),
        _ => {
            let what = format!("unknown argument `{rest}` of /pin");
            return Err(CommandStop::with_hint(what, "/pin, /pin off"));
        }
    };
    store.pin(&id, pin)?;
    context.output.note(told);
    Ok(CommandFollowUp::Nothing)
}
