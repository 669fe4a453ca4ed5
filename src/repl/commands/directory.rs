//! `/cd`: the conversation continues in another directory, in a new process.
//!
//! A process works in one directory from its start to its end: the roots of the policy, the view and its layers, the
//! journal, the mounts of the sandbox, the project's settings and hooks, and whether they are trusted, all belong to
//! that directory, and changing each of them in a running program could leave one behind. So this process ends as
//! `/quit` ends it, and placet starts again in the new directory, where everything is read, asked and checked as at any
//! start.
//!
//! The new directory gets a copy of the session. The first session keeps its directory, its pending changes and its
//! undo, so `-c` finds in each directory the conversation that took place there. Files that the model has read are
//! known by their absolute paths, and stay known. The mode is at most what it is now, and answers "always" end with
//! this process.

use crate::conversation::{Note, SessionId};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::repl::directory_change::{DirectoryChange, DirectoryChangeReason};
use crate::repl::titles::short_id;
use crate::text::{count, visible};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// `/cd [DIR]`
pub(super) fn cd(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    refuse_fixed(context)?;
    let to = destination(context, rest)?;
    let from = context.app.cwd().to_path_buf();
    if to == from {
        return Err(CommandStop::note(format!(
            "this conversation works in {} already",
            shown(context, &from)
        )));
    }
    refuse_running_jobs(context)?;
    let pending = context.conversation.pending();
    let session = copy_session(context, &to)?;
    if pending.total() > 0 {
        let there = shown(context, &from);
        context.output.note(&format!("changes to {pending} stay pending in {there}: `/cd -` returns there"));
    }
    let (mode, answerer) = (context.app.mode.load(), chosen_answerer(context));
    let reason = DirectoryChangeReason::Continue;
    context.directory.next = Some(DirectoryChange { to, from, session, reason, mode, answerer });
    Ok(CommandFollowUp::Quit(0))
}

/// Resumes a session of the directory `to` there, in a new process. This conversation stays as it is.
pub(super) fn resume_there(
    context: &mut CommandContext<'_>,
    id: &SessionId,
    to: PathBuf,
) -> SlashCommandResult {
    refuse_fixed(context).and_then(|()| refuse_running_jobs(context)).map_err(|stop| {
        let dir = crate::text::shell_word::quoted(&to.to_string_lossy());
        stop.or_hint(format!("in another terminal: `placet --cwd {dir} -r {id}`"))
    })?;
    if let Some(agent) = &context.conversation.agent {
        let left = context.runtime.block_on(agent.leave());
        left.map_err(|why| format!("this conversation continues: {why}"))?;
    }
    let (pending, from) = (context.conversation.own_pending(), context.app.cwd().to_path_buf());
    if let Some(own) = context.conversation.session().filter(|_| pending.total() > 0) {
        let (there, own) = (shown(context, &from), short_id(own.id()));
        context.output.note(&format!("changes to {pending} stay pending in {there}: /resume {own}"));
    }
    context.output.note(&format!("resuming in {}, the directory of that session", shown(context, &to)));
    context.directory.next = Some(DirectoryChange {
        to,
        from,
        session: Some(id.clone()),
        reason: DirectoryChangeReason::Resume,
        mode: context.app.mode.load(),
        answerer: None,
    });
    Ok(CommandFollowUp::Quit(0))
}

fn refuse_fixed(context: &CommandContext<'_>) -> Result<(), CommandStop> {
    match &context.directory.fixed {
        Some(why) => Err(CommandStop::error(format!("cannot change the directory: {why}"))),
        None => Ok(()),
    }
}

fn refuse_running_jobs(context: &CommandContext<'_>) -> Result<(), CommandStop> {
    let running = context.app.tools.jobs.running().len();
    if running > 0 {
        let (jobs, verb) =
            (count::of(running, "background command"), if running == 1 { "runs" } else { "run" });
        return Err(CommandStop::with_hint(
            format!("cannot change the directory: {jobs} {verb} in {}", shown(context, context.app.cwd())),
            "/jobs lists them, /jobs kill N ends one",
        ));
    }
    Ok(())
}

/// Placet starts again in the same directory once the settings that it proposed are applied: every part is built from the
/// settings. True where it does.
pub(in crate::repl) fn starts_with_proposed(context: &mut CommandContext<'_>) -> bool {
    let Some(proposed) = &context.directory.proposed else { return false };
    match proposed.accept(&context.app.dirs.trust_file()) {
        Ok(true) => context.directory.proposed = None,
        Ok(false) => return false,
        Err(e) => {
            context.output.error(&format!("trust cannot be stored: {e}"), None);
            context.directory.proposed = None;
            return false;
        }
    }
    let session = context.conversation.session().map(|session| session.id().clone());
    let can_start = refuse_fixed(context).and_then(|()| refuse_running_jobs(context)).is_ok();
    let Some(session) = session.filter(|_| can_start) else {
        context.output.note("the new checks are in effect when placet starts the next time");
        return false;
    };
    if let Some(agent) = &context.conversation.agent
        && let Err(why) = context.runtime.block_on(agent.leave())
    {
        context.output.note(&format!("the new checks are in effect when placet starts the next time: {why}"));
        return false;
    }
    let here = context.app.cwd().to_path_buf();
    let (mode, answerer) = (context.app.mode.load(), chosen_answerer(context));
    context.directory.next = Some(DirectoryChange {
        to: here.clone(),
        from: here,
        session: Some(session),
        reason: DirectoryChangeReason::Continue,
        mode,
        answerer,
    });
    true
}

/// Says where the conversation continues, after placet has started again there, and lets the agent know.
pub(in crate::repl) fn arrived(context: &mut CommandContext<'_>, from: &Path) {
    let here = context.app.cwd().to_path_buf();
    if here == from {
        let names: Vec<String> = context.app.config.checks().into_iter().map(|(name, _)| name).collect();
        let names = names.iter().map(|name| visible::name(name)).collect::<Vec<_>>().join(", ");
        context.output.hint(&format!("checks in effect: {names}; /checks run runs them"));
        context.directory.previous = None;
        return;
    }
    let note = Note::DirectoryChanged { from: from.display().to_string(), to: here.display().to_string() };
    context.conversation.notes.push(note);
    let (from, here) = (shown(context, from), shown(context, &here));
    context
        .output
        .hint(&format!("changed from {from} to {here}: `/cd -` returns; undo and rules are those of {here}"));
}

/// The directory that the argument names, without links; as in a shell, none is the home directory.
fn destination(context: &CommandContext<'_>, rest: &str) -> Result<PathBuf, CommandStop> {
    let home = || {
        let home = context.app.workspace.home().map(Path::to_path_buf);
        home.ok_or_else(|| CommandStop::error("the home directory is unknown: HOME is not set"))
    };
    let typed = unquoted(rest.trim());
    let path = match typed.as_str() {
        "" | "~" => home()?,
        "-" => {
            let previous = context.directory.previous.clone();
            previous.ok_or_else(|| CommandStop::error("there is no previous directory"))?
        }
        typed => match typed.strip_prefix("~/") {
            Some(below) => home()?.join(below),
            None => context.app.cwd().join(typed),
        },
    };
    let name = visible::path_name(&path);
    let failed = |e: std::io::Error| match e.kind() {
        ErrorKind::NotFound => CommandStop::error(format!("`{name}` does not exist")),
        ErrorKind::PermissionDenied => CommandStop::error(format!("cannot open `{name}`: permission denied")),
        _ => CommandStop::error(format!("cannot open `{name}`: {e}")),
    };
    let dir = path.canonicalize().map_err(failed)?;
    if !dir.is_dir() {
        return Err(CommandStop::error(format!("`{name}` is a file, not a directory")));
    }
    // It must be possible to list it, and to reach what is in it.
    std::fs::read_dir(&dir).map_err(failed)?;
    std::fs::metadata(dir.join(".")).map_err(failed)?;
    Ok(dir)
}

/// Quotes around a name are as in a shell; a name needs none.
fn unquoted(text: &str) -> String {
    let inner = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    inner.map_or_else(|| text.replace("\\ ", " "), String::from)
}

fn shown(context: &CommandContext<'_>, dir: &Path) -> String {
    let below = context.app.workspace.home().and_then(|home| dir.strip_prefix(home).ok());
    match below {
        Some(below) if below.as_os_str().is_empty() => "~".into(),
        Some(below) => format!("~/{}", visible::path_name(below)),
        None => visible::path_name(dir),
    }
}

/// The conversation as a session of the new directory. Hooks may keep it from being left.
fn copy_session(context: &CommandContext<'_>, to: &Path) -> Result<Option<SessionId>, CommandStop> {
    let Some(agent) = context.conversation.agent.as_ref().filter(|agent| !agent.transcript().is_empty())
    else {
        return Ok(None);
    };
    let Some(session) = agent.session() else {
        return Err(CommandStop::with_hint(
            "this conversation is not saved, so it cannot continue in another directory",
            "/new, then /cd",
        ));
    };
    let left = context.runtime.block_on(agent.leave());
    left.map_err(|why| format!("this conversation continues here: {why}"))?;
    let (store, id) = (session.store(), session.id());
    // If the person goes back and has sent no message in between, the earlier session continues, with its pending
    // changes.
    if let Ok(Some(last)) = store.latest(to)
        && store.load_for_resume(&last).is_ok_and(|loaded| loaded.transcript == *agent.transcript())
    {
        return Ok(Some(last));
    }
    let copied = store.find(id.as_str()).and_then(|row| store.fork(&row, usize::MAX, to));
    let copy = copied.map_err(|e| format!("the conversation cannot continue there: {e}"))?;
    Ok(Some(copy))
}

/// Who answers, where that is another than the settings name.
fn chosen_answerer(context: &CommandContext<'_>) -> Option<(String, String)> {
    let now = context.conversation.answered_by();
    let usual = context.app.builder.answerer(None, None).ok()?;
    let usual = (usual.provider.name().to_string(), usual.model.name);
    (now != usual).then_some(now)
}

#[cfg(test)]
mod tests {
    use super::unquoted;

    #[test]
    fn a_directory_may_be_quoted_as_in_a_shell() {
        for (typed, path) in
            [("a b", "a b"), ("'a b'", "a b"), ("\"a b\"", "a b"), (r"a\ b", "a b"), ("'", "'")]
        {
            assert_eq!(unquoted(typed), path);
        }
    }
}
