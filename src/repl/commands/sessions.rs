//! Beginning, finding, naming and leaving conversations: `/new`, `/clear`, `/resume`, `/search`, `/title`, `/pin`, `/cd`,
//! `/retry`, `/quit`.

use crate::agent::{Agent, TurnStart};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::error::ReplError;
use crate::repl::output::is_interactive;
use crate::repl::titles::{short_id, title_of, when};
use crate::session::{OpenSession, SessionHit, SessionPin, SessionRow};
use crate::text::{sanitize, shell_word, visible};
use crate::ui::picker::{PickerFeed, PickerItem, PickerPreview};
use crate::ui::term;
use ratatui::text::Line;

/// Hits of a search, and sessions, that can be chosen from.
const HITS: usize = 200;
const SESSIONS: usize = 20_000;

pub(super) fn clear(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    term::write_all(b"\x1b[H\x1b[2J");
    new(context, rest)
}

pub(super) fn new(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let conversation = &mut context.conversation;
    if let Some(agent) = &conversation.agent {
        let left = context.runtime.block_on(agent.leave());
        left.map_err(|why| format!("this conversation continues: {why}"))?;
    }
    conversation.pinned.clear();
    let mut previous = None;
    if let Some(agent) = conversation.agent.take() {
        // The next conversation is answered by the provider that answered this one.
        let (provider, model) = (agent.provider_name(), agent.model().name.as_str());
        conversation.answerer = context.app.builder.answerer(Some(provider), Some(model)).ok();
        previous = agent.session().map(|session| format!("; the previous session is {}", session.id()));
    }
    context.output.note(&format!("started a new conversation{}", previous.unwrap_or_default()));
    Ok(CommandFollowUp::Nothing)
}

pub(super) fn retry(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    match &context.conversation.agent {
        Some(agent) if !agent.transcript().is_empty() => Ok(CommandFollowUp::Turn(TurnStart::Retry)),
        _ => Err(CommandStop::note("nothing to send again")),
    }
}

pub(super) fn quit(context: &mut CommandContext<'_>, _: &str) -> SlashCommandResult {
    let pending = context.conversation.pending();
    if pending > 0 {
        let (s, stay, them) = if pending == 1 { ("", "stays", "it") } else { ("s", "stay", "them") };
        context.output.note(&format!(
            "{pending} change{s} {stay} pending: `placet apply` applies {them}, `placet changes` shows {them}"
        ));
    }
    if let Some(session) = context.conversation.session() {
        context.output.hint(&format!("resume with: placet --resume {}", short_id(session.id())));
    }
    Ok(CommandFollowUp::Quit(0))
}

pub(super) fn resume(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
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
            store.list(number).map(|mut rows| rows.pop().filter(|_| rows.len() + 1 == number))
        }
        _ => store.find(&named).map(Some),
    };
    let hint = "/resume lists the sessions";
    let row = row.map_err(|e| CommandStop::with_hint(e.to_string(), hint))?;
    let row = row.ok_or_else(|| CommandStop::with_hint(format!("no session number {named}"), hint))?;
    change_to(context, &row)
}

/// A session's name.
fn pick(context: &CommandContext<'_>) -> Option<String> {
    let store = context.conversation.store.as_ref();
    let rows = store.and_then(|store| store.list(SESSIONS).ok()).unwrap_or_default();
    let item = |row: &SessionRow| {
        let note = format!("{}  {}", when(row.updated), short_id(&row.id));
        PickerItem::new(format!("{}{}", pin_mark(row), row.title), note).with_value(row.id.to_string())
    };
    let feed = PickerFeed::of(rows.iter().map(item).collect());
    let about = |item: &PickerItem| {
        let Some(row) = rows.iter().find(|row| row.id.as_str() == item.value()) else {
            return PickerPreview::default();
        };
        let text = format!(
            "{}\n\nstarted    {}\nlast used  {}\nentries    {}\ndirectory  {}\nname       {}",
            visible::line(&row.title),
            when(row.created),
            when(row.updated),
            row.entries,
            visible::path(&row.cwd),
            row.id
        );
        let drawn = text.lines().map(|line| Line::raw(visible::guard_line(line).into_owned())).collect();
        PickerPreview { drawn, ..PickerPreview::default() }
    };
    context.output.pick_one(context.output.picker("Sessions", feed).with_preview(about))
}

fn pin_mark(row: &SessionRow) -> &'static str {
    if row.pinned { "pinned: " } else { "" }
}

pub(in crate::repl) fn list(context: &CommandContext<'_>) {
    let output = &context.output;
    let Some(store) = &context.conversation.store else {
        return output.note("conversations are not saved");
    };
    let rows = match store.list(15) {
        Ok(rows) => rows,
        Err(e) => return output.error(&e.to_string(), None),
    };
    if rows.is_empty() {
        return output.note("no sessions yet");
    }
    let line = |(at, row): (usize, &SessionRow)| {
        let text =
            format!("{:>3}  {}  {}  {}{}", at + 1, when(row.updated), row.id, pin_mark(row), row.title);
        sanitize::line(&text).into_owned()
    };
    output.say_plain(rows.iter().enumerate().map(line));
    output.hint("/resume NUMBER or /resume ID resumes a session");
}

/// Goes on with a session: its conversation, its scratchpads, what the model has seen.
pub(in crate::repl) fn resume_session(
    context: &mut CommandContext<'_>,
    row: &SessionRow,
) -> Result<(), ReplError> {
    let Some(store) = context.conversation.store.clone() else { return Ok(()) };
    // The lock comes first: what is read after it cannot change any more.
    let open = store.resume(&row.id)?;
    let loaded = store.load_for_resume(&row.id)?;
    let messages = loaded.transcript.len();
    let mut agent = context.conversation.build(Some(open))?;
    for note in agent.resume(loaded)? {
        context.output.note(&note);
    }
    context.conversation.agent = Some(agent);
    context.conversation.pinned.clear();
    context.output.note(&format!("resumed {}: {} ({messages} messages)", row.id, row.title));
    Ok(())
}

/// The same, or this conversation goes on.
pub(super) fn change_to(context: &mut CommandContext<'_>, row: &SessionRow) -> SlashCommandResult {
    if context.conversation.session().map(OpenSession::id) == Some(&row.id) {
        context.output.note("this is the current conversation");
        return Ok(CommandFollowUp::Nothing);
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
pub(super) fn search(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
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
    change_to(context, &store.find(&chosen.ok_or(CommandStop::Cancelled)?)?)
}

/// `/title TEXT`
pub(super) fn title(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
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
pub(super) fn pin(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
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

/// `/cd`: a conversation keeps its working directory, because what is pending and what can be undone belong to it.
pub(super) fn cd(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let workspace = context.app.workspace;
    let here = visible::path(workspace.cwd());
    if rest.is_empty() {
        context.output.note(&format!("this conversation works in {here}"));
        return Ok(CommandFollowUp::Nothing);
    }
    let there = match (rest.strip_prefix("~/"), workspace.home()) {
        (Some(below), Some(home)) => home.join(below),
        (None, Some(home)) if rest == "~" => home.to_path_buf(),
        _ => workspace.cwd().join(rest),
    };
    if !there.is_dir() {
        return Err(CommandStop::error(format!("`{}` is not a directory", visible::name(rest))));
    }
    // The shell does not expand a quoted `~`.
    let there = if rest.starts_with('~') { there } else { rest.into() };
    let there = shell_word::quoted(&there.to_string_lossy());
    let hint = format!(
        "start placet there: `placet --cwd {}`; -c resumes the last session of that directory",
        visible::name(&there)
    );
    Err(CommandStop::with_hint(format!("a conversation cannot change its directory ({here})"), hint))
}
