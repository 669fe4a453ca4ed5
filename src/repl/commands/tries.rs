//! `/try`: several attempts at one task, each with pending changes of its own.
//!
//! A try is a session with a name. Opening one is resuming a session: this conversation is left as it is, and so are its
//! pending changes.

use super::conversation::sessions;
use crate::audit::AuditKind;
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::conversation::ShellConversation;
use crate::repl::error::ReplError;
use crate::repl::prompt::TryMark;
use crate::repl::titles::{age_words, now, short_id};
use crate::repl::try_rows::{tries_of, try_table};
use crate::serve::changes;
use crate::session::{OpenSession, SessionRow, SessionStore, TryName};
use crate::text::{count, nearest, visible, width};
use crate::ui::term;
use crate::workspace::Workspace;

/// `/try [NAME|new NAME|list|switch NAME|rename [NAME] NAME|drop NAME]`
pub(super) fn tries(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [] | ["list"] => list(context),
        ["new", name] => open(context, &parsed(name)?),
        ["switch", name] => {
            let name = parsed(name)?;
            if context.store()?.find_try(context.app.cwd(), &name)?.is_none() {
                return Err(missing(&name));
            }
            open(context, &name)
        }
        ["rename", to] => rename(context, None, &parsed(to)?),
        ["rename", from, to] => rename(context, Some(&parsed(from)?), &parsed(to)?),
        ["drop", name] => discard_try(context, &parsed(name)?),
        ["new" | "switch" | "rename" | "drop", ..] => Err(CommandStop::with_hint(
            format!("/try {rest}: a name is missing, or there is one too many"),
            "for example: /try drop second-idea",
        )),
        [name] => {
            let name = parsed(name)?;
            refuse_misspelt(context, &name)?;
            open(context, &name)
        }
        _ => Err(CommandStop::with_hint("the name of a try is one word", "for example: /try second-idea")),
    }
}

/// Columns of a title within a line.
const TITLE: usize = 40;

/// `placet --try NAME`
pub(in crate::repl) fn begin(context: &mut CommandContext<'_>, name: &TryName) -> Result<(), ReplError> {
    let Some(store) = context.conversation.store.clone() else { return Ok(()) };
    match store.find_try(context.app.cwd(), name)? {
        Some(row) => sessions::resume_and_show(context, &row),
        None => create(context, store.create_try(context.app.cwd(), name)?, name),
    }
}

/// What the prompt says of the try that this conversation is.
pub(in crate::repl) fn mark(conversation: &ShellConversation<'_>) -> Option<TryMark> {
    let name = conversation.try_name()?.to_string();
    let view = conversation.own_workspace().and_then(Workspace::view);
    let outdated = view.and_then(|view| view.outdated().ok()).unwrap_or_default().files;
    Some(TryMark { name, outdated })
}

fn list(context: &CommandContext<'_>) -> SlashCommandResult {
    let store = context.store()?;
    let view = |session: &str| context.app.builder.workspace_of(session).view().cloned();
    let rows = tries_of(&store, context.app.cwd(), view)?;
    let unnamed = unnamed(context, &store)?;
    if rows.is_empty() && unnamed.is_empty() {
        return Err(CommandStop::note("there are no tries here; /try NAME begins one"));
    }
    let room = usize::from(term::size().0).saturating_sub(2);
    context.output.say_plain(try_table(&rows, context.conversation.try_name().as_ref(), room));
    unnamed.iter().for_each(|line| context.output.note(line));
    context.output.hint("/try NAME opens one; `placet compare A B` compares two");
    Ok(CommandFollowUp::Nothing)
}

/// How many conversations without a name `/try` lists.
const MOST_UNNAMED: usize = 5;

/// The conversations of this directory that are no try and have pending changes: a line for each.
fn unnamed(context: &CommandContext<'_>, store: &SessionStore) -> Result<Vec<String>, ReplError> {
    let (pending, now) = (context.app.builder.pending_counts(), now());
    let tries: Vec<_> = store.tries(context.app.cwd())?.into_iter().map(|one| one.session.id).collect();
    let own = context.conversation.session().map(OpenSession::id);
    let rows = store.of_directory(context.app.cwd())?.into_iter().filter(|row| !tries.contains(&row.id));
    let line = |row: SessionRow| {
        let files = count::of(*pending.get(row.id.as_str()).filter(|files| **files > 0)?, "file");
        let title = width::cut(&visible::prose_line(&row.title), TITLE);
        Some(match own == Some(&row.id) {
            true => format!("without a name, this conversation: {files} pending; /try rename NAME names it"),
            false => {
                let (age, id) = (age_words(row.updated, now), short_id(&row.id));
                format!("without a name, \"{title}\", {age}: {files} pending; /resume {id} opens it")
            }
        })
    };
    Ok(rows.filter_map(line).take(MOST_UNNAMED).collect())
}

/// A shorter name is never taken for a misspelt one.
const SHORTEST_MISSPELT: usize = 4;

/// A name that is nearly that of a try is rather a slip than a new try. Names that differ in a number are not.
fn refuse_misspelt(context: &CommandContext<'_>, name: &TryName) -> Result<(), CommandStop> {
    let tries: Vec<TryName> =
        context.store()?.tries(context.app.cwd())?.into_iter().map(|one| one.name).collect();
    let without_number = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_string();
    // Short names are near each other without a slip.
    let is_long = name.as_str().len() >= SHORTEST_MISSPELT;
    let is_slip = |known: &&str| is_long && without_number(known) != without_number(name.as_str());
    let near = nearest(name.as_str(), tries.iter().map(TryName::as_str).filter(is_slip));
    let near = near.filter(|_| !tries.contains(name));
    match near {
        Some(near) => Err(CommandStop::with_hint(
            format!("this directory has no try {name}; did you mean {near}?"),
            format!("/try {near} opens {near}, /try new {name} begins {name}"),
        )),
        None => Ok(()),
    }
}

fn open(context: &mut CommandContext<'_>, name: &TryName) -> SlashCommandResult {
    let store = context.store()?;
    let row = store.find_try(context.app.cwd(), name)?;
    let is_open = |id| context.conversation.session().map(OpenSession::id) == Some(id);
    if row.as_ref().is_some_and(|row| is_open(&row.id)) {
        return Err(CommandStop::note(format!("this is the try {name} already")));
    }
    let running = context.app.tools.jobs.running().len();
    if running > 0 {
        let (jobs, verb) =
            (count::of(running, "background command"), if running == 1 { "runs" } else { "run" });
        return Err(CommandStop::with_hint(
            format!("cannot open the try {name}: {jobs} of this conversation still {verb}"),
            "/jobs lists them, /jobs kill N ends one",
        ));
    }
    let left = context.conversation.pending();
    // The name of a try finds it again; another conversation has only its id.
    let before = context.conversation.session().map(|session| short_id(session.id()).to_string());
    let before = before.filter(|_| context.conversation.try_name().is_none());
    match row {
        Some(row) => {
            sessions::change_to(context, &row)?;
            sessions::show_past(context);
        }
        None => {
            if let Some(agent) = &context.conversation.agent {
                let left = context.runtime.block_on(agent.leave());
                left.map_err(|why| format!("this conversation continues: {why}"))?;
            }
            let session = store.create_try(context.app.cwd(), name)?;
            create(context, session, name)?;
        }
    }
    // Nothing of another attempt comes into sight here.
    context.conversation.earlier = None;
    if left.total() > 0 {
        context.output.note(&format!("changes to {left} stay pending in the conversation that you left"));
    }
    if let Some(id) = before {
        context.output.hint(&format!("/resume {id} goes back to the conversation before"));
    }
    Ok(CommandFollowUp::Nothing)
}

/// A conversation that is a new try. The provider that answered before answers here as well.
fn create(context: &mut CommandContext<'_>, session: OpenSession, name: &TryName) -> Result<(), ReplError> {
    let answered_by = context.conversation.agent.as_ref().map(|agent| {
        let (provider, model) = (agent.provider_name(), agent.model().name.as_str());
        context.app.builder.answerer(Some(provider), Some(model))
    });
    if let Some(Ok(answerer)) = answered_by {
        context.conversation.answerer = Some(answerer);
    }
    let agent = context.conversation.build(Some(session))?;
    context.conversation.agent = Some(agent);
    context.conversation.pinned.clear();
    context.output.note(&format!(
        "began the try {name}: it has the files of the workspace, and pending changes of its own"
    ));
    Ok(())
}

/// Without `from`, this conversation gets the name: it is a try from then on.
fn rename(context: &mut CommandContext<'_>, from: Option<&TryName>, to: &TryName) -> SlashCommandResult {
    let (store, cwd) = (context.store()?, context.app.cwd().to_path_buf());
    let id = match from {
        Some(from) => store.find_try(&cwd, from)?.ok_or_else(|| missing(from))?.id,
        None => context.saved()?.1,
    };
    store.name_try(&id, &cwd, to)?;
    let what = from.map_or_else(|| "this conversation".to_string(), |from| format!("the try {from}"));
    context.output.note(&format!("{what} is the try {to} now"));
    Ok(CommandFollowUp::Nothing)
}

/// Discards what is pending in a try and takes its name away. Its session stays.
fn discard_try(context: &mut CommandContext<'_>, name: &TryName) -> SlashCommandResult {
    let store = context.store()?;
    let row = store.find_try(context.app.cwd(), name)?.ok_or_else(|| missing(name))?;
    let is_this = context.conversation.session().map(OpenSession::id) == Some(&row.id);
    // Held until the end: nobody works in it meanwhile.
    let held = if is_this { None } else { Some(store.resume(&row.id)?) };
    let workspace = match context.conversation.own_workspace().filter(|_| is_this) {
        Some(own) => own.clone(),
        None => context.app.builder.workspace_of(row.id.as_str()),
    };
    let view = workspace.view().cloned().ok_or(CommandStop::Cancelled)?;
    let report = match changes::shown(&view) {
        Ok(shown) => changes::discard(shown, &[], "/undo", &|path| workspace.shortened(path)),
        Err(report) => report,
    };
    let is_done = report.done;
    context.record(AuditKind::Discard, "/try drop", report);
    if is_done {
        store.unname_try(&row.id)?;
        let id = short_id(&row.id);
        let back = if is_this { String::new() } else { format!("; /resume {id} opens its conversation") };
        context.output.note(&format!("{name} is not a try any more{back}"));
    }
    drop(held);
    Ok(CommandFollowUp::Nothing)
}

fn parsed(name: &str) -> Result<TryName, CommandStop> {
    TryName::parse(name).map_err(|e| CommandStop::with_hint(e.to_string(), "for example: /try second-idea"))
}

fn missing(name: &TryName) -> CommandStop {
    let hint = format!("/try lists them, /try {name} begins it");
    CommandStop::with_hint(format!("this directory has no try {name}"), hint)
}
