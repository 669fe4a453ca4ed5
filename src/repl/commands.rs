//! What the shell's commands do.

use super::command_table::{COMMANDS, CommandFollowUp};
use super::{Shell, pickers, session};
use crate::agent::TurnStart;
use crate::permission::{Mode, PlanModeState};
use crate::session::{MarkdownPictures, ScratchpadEntry, html, markdown, to_json};
use crate::text::{sanitize, visible};
use crate::ui::{margin_mark, term};
use ratatui::text::{Line, Span};
use std::path::Path;

impl Shell<'_> {
    /// Rows of two columns; what is somebody else's in them was rendered before.
    pub(super) fn rows(&self, rows: &[(String, String)]) {
        let width = rows.iter().map(|(name, _)| crate::text::width::of(name)).max().unwrap_or(0);
        let line = |(name, text): &(String, String)| {
            let pad = " ".repeat(width.saturating_sub(crate::text::width::of(name)) + 2);
            Line::from(vec![
                Span::styled(visible::guard_line(name).into_owned(), self.theme.style("key")),
                Span::raw(pad),
                Span::raw(visible::guard_line(text).into_owned()),
            ])
        };
        self.say_lines(rows.iter().map(line));
    }

    /// Several lines of placet's own.
    pub(super) fn text(&self, text: &str) {
        self.say_lines(sanitize::block(text).lines().map(|line| Line::raw(line.to_string())));
    }

    /// Somebody else's text, below a line of placet's own.
    pub(super) fn quote(&self, text: &str) {
        let line = |line: &str| Line::raw(format!("{}{line}", margin_mark::UNDER));
        self.print(&sanitize::block(text).lines().map(line).collect::<Vec<_>>());
    }
}

pub(super) fn help(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let pair = |a: &str, b: &str| (a.to_string(), b.to_string());
    let name = rest.trim_start_matches('/');
    let commands: Vec<(String, String)> = COMMANDS
        .iter()
        .filter(|row| name.is_empty() || row.name == name)
        .map(|row| (format!("/{} {}", row.name, row.arguments).trim().to_string(), row.help.into()))
        .collect();
    if !name.is_empty() {
        match commands.is_empty() {
            true => shell.error(&format!("unknown command /{name}"), Some("/help lists the commands")),
            false => shell.rows(&commands),
        }
        return None;
    }
    shell.rows(&commands);
    shell.print(&[Line::default()]);
    shell.rows(&[
        pair("@FILE", "attach a file, a picture or the list of a directory"),
        pair("!COMMAND", "run a command in your own terminal"),
        pair("Shift+Tab", "the next mode"),
        pair("Tab", "complete commands, arguments and @paths"),
        pair("Alt+Enter, Ctrl-J", "a new line; so do a `\\` at the end and an open ```"),
        pair("Ctrl-X Ctrl-E, Ctrl-G", "edit this line in your editor"),
        pair("Ctrl-P", "choose files to attach; with `/` typed, a command"),
        pair("Ctrl-T", "the full transcript of this conversation; `?` shows its keys"),
        pair("Up, Ctrl-R", "earlier lines; search in them"),
        pair("Esc, Ctrl-C", "stop a turn that runs; Ctrl-C clears a draft first"),
        pair("Ctrl-D", "leave"),
    ]);
    None
}

pub(super) fn mode(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    if !rest.is_empty() {
        match Mode::parse(rest) {
            Some(mode) if shell.app.mode().store(mode) => {}
            Some(mode) => {
                let names: Vec<&str> = shell.app.mode().permitted().iter().map(|mode| mode.name()).collect();
                let hint = format!("`permission.modes` allows {}", names.join(", "));
                shell.error(&format!("the settings do not allow the mode `{mode}`"), Some(&hint));
                return None;
            }
            None => {
                let names = Mode::ALL.map(Mode::name).join(", ");
                shell.error(&format!("unknown mode `{rest}`"), Some(&format!("the modes are {names}")));
                return None;
            }
        }
    }
    let mode = shell.app.mode().load();
    shell.note(&format!("{mode}: {}", mode.meaning()));
    if shell.app.mode().planning() != PlanModeState::No {
        shell.note("planning: until `/plan approve`, every mode is limited to read");
    }
    None
}

/// `/plan`: whether a plan must be approved before anything is written; the person's own word settles it.
pub(super) fn plan(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let cell = shell.app.mode();
    match rest {
        "" => {}
        "on" | "reject" => cell.plan(PlanModeState::Making),
        "approve" if cell.planning() != PlanModeState::No => {
            cell.plan(PlanModeState::No);
            shell.note(&format!("plan approved: back to {} mode", cell.load()));
            return None;
        }
        "approve" => {}
        _ => {
            shell.error(
                &format!("unknown argument `{rest}` of /plan"),
                Some("use /plan, /plan on, /plan approve or /plan reject"),
            );
            return None;
        }
    }
    shell.note(match cell.planning() {
        PlanModeState::No => "no plan is required; only the mode decides",
        PlanModeState::Making => "planning: nothing can be written until `/plan approve`",
        PlanModeState::Presented => "a plan is waiting for you: `/plan approve` or `/plan reject`",
    });
    None
}

pub(super) fn model(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    if rest == "pick" {
        return pick_model(shell);
    }
    let provider = current(shell).0;
    switch(shell, &provider, rest)
}

fn pick_model(shell: &mut Shell<'_>) -> CommandFollowUp {
    let (provider, model) = shell.pick_model()?;
    switch_to(shell, &provider, Some(model.as_str()).filter(|model| !model.is_empty()))
}

/// `/history`: a line that was typed before comes into the prompt.
pub(super) fn history(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    let line = shell.pick_line()?;
    shell.typed = Some(super::prompt::UnfinishedLine { before: line, after: String::new() });
    None
}

pub(super) fn provider(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    if rest == "pick" {
        return pick_model(shell);
    }
    if rest.is_empty() {
        return switch(shell, "", "");
    }
    let (name, model) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    switch_to(shell, name, Some(model.trim()).filter(|m| !m.is_empty()))
}

pub(super) fn current(shell: &Shell<'_>) -> (String, String) {
    match (&shell.conversation.agent, &shell.answerer) {
        (Some(agent), _) => (agent.provider_name().to_string(), agent.model().name.clone()),
        (None, Some(answerer)) => (answerer.provider.name().to_string(), answerer.model.name.clone()),
        (None, None) => ("none".into(), "none".into()),
    }
}

fn switch(shell: &mut Shell<'_>, provider: &str, model: &str) -> CommandFollowUp {
    if model.is_empty() {
        let (provider, model) = current(shell);
        shell.note(&format!("{provider} with {model}"));
        return None;
    }
    switch_to(shell, provider, Some(model))
}

fn switch_to(shell: &mut Shell<'_>, provider: &str, model: Option<&str>) -> CommandFollowUp {
    match shell.app.answerer(Some(provider), model) {
        Ok(answerer) => {
            let told =
                format!("{} with {} from the next message on", answerer.provider.name(), answerer.model.name);
            let mut notes = vec![told];
            notes.extend(answerer.note.clone());
            match &mut shell.conversation.agent {
                Some(agent) => {
                    agent.switch(answerer.provider, answerer.model, answerer.max_output);
                    notes.extend(agent.lost_on_switch());
                }
                None => shell.answerer = Some(answerer),
            }
            notes.iter().for_each(|note| shell.note(note));
        }
        Err(e) => shell.error(&e.message, e.hint.as_deref()),
    }
    None
}

pub(super) fn clear(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    term::write_all(b"\x1b[H\x1b[2J");
    new(shell, rest)
}

pub(super) fn new(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    if let Some(agent) = &shell.conversation.agent
        && let Err(why) = shell.runtime.block_on(agent.leave())
    {
        shell.error(&format!("this conversation continues: {why}"), None);
        return None;
    }
    shell.conversation.pinned.clear();
    if let Some(agent) = shell.conversation.agent.take() {
        // The next conversation is answered by the provider that answered this one.
        let (provider, model) = (agent.provider_name().to_string(), agent.model().name.clone());
        shell.answerer = shell.app.answerer(Some(&provider), Some(&model)).ok();
        if let Some(session) = agent.session() {
            shell.note(&format!("started a new conversation; the previous session is {}", session.id()));
            return None;
        }
    }
    shell.note("started a new conversation");
    None
}

pub(super) fn resume(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let picked = match rest {
        "" if !pickers::is_interactive() => {
            shell.list_sessions();
            return None;
        }
        "" => shell.pick_session()?,
        named => named.to_string(),
    };
    let rest = picked.as_str();
    let Some(store) = shell.store.clone() else {
        shell.note("conversations are not saved");
        return None;
    };
    let row = match rest.parse::<usize>() {
        // A longer number is the beginning of an ID, which may consist of digits only.
        Ok(number) if number >= 1 && rest.len() <= 3 => {
            store.list(number).map(|mut rows| rows.pop().filter(|_| rows.len() + 1 == number))
        }
        _ => store.find(rest).map(Some),
    };
    match row {
        Ok(Some(row)) => {
            shell.change_to(&row);
        }
        Ok(None) => shell.error(&format!("no session number {rest}"), Some("/resume lists the sessions")),
        Err(e) => shell.error(&e.to_string(), Some("/resume lists the sessions")),
    }
    None
}

pub(super) fn retry(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    let has_something = shell.conversation.agent.as_ref().is_some_and(|a| !a.transcript().is_empty());
    if has_something {
        return Some(TurnStart::Retry);
    }
    shell.note("nothing to send again");
    None
}

pub(super) fn export(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let found = shell
        .conversation
        .agent
        .as_ref()
        .and_then(|a| a.session())
        .map(|s| (s.id().clone(), s.store().clone()));
    let Some((id, store)) = found else {
        shell.note("nothing is saved yet");
        return None;
    };
    let document =
        store.find(id.as_str()).and_then(|row| Ok((store.load(&id)?, store.scratchpads(&id)?, row)));
    let (loaded, pads, row) = match document {
        Ok(document) => document,
        Err(e) => {
            shell.error(&e.to_string(), None);
            return None;
        }
    };
    if rest.is_empty() {
        shell.quote(&markdown(&row, &loaded, MarkdownPictures::Named));
        return None;
    }
    let path = shell.app.cwd().join(rest);
    let text = match path.extension().and_then(|kind| kind.to_str()) {
        Some("json") => {
            serde_json::to_string_pretty(&to_json(&row, &loaded, &pads)).unwrap_or_default() + "\n"
        }
        Some("html" | "htm") => html(&row, &loaded),
        _ => markdown(&row, &loaded, MarkdownPictures::Named),
    };
    match write_new(&path, &text) {
        Ok(()) => shell.note(&format!("wrote {}", path.display())),
        Err(e) => shell.error(
            &format!("cannot write `{}`: {e}", path.display()),
            Some("a file that is there already is left alone"),
        ),
    }
    None
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    // A session is for this person alone, as `placet session export` has it.
    let options = std::fs::OpenOptions::new().write(true).create_new(true).mode(crate::private::FILE).clone();
    options.open(path)?.write_all(text.as_bytes())
}

pub(super) fn scratchpad(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    if rest == "pick" {
        shell.browse_scratchpads();
        return None;
    }
    let Some(agent) = &shell.conversation.agent else {
        shell.note("no scratchpads yet");
        return None;
    };
    let pads = &agent.env().scratchpads;
    if rest.is_empty() {
        let rows: Vec<(String, String)> =
            pads.list().into_iter().map(|(name, size)| (name, format!("{size} bytes"))).collect();
        if rows.is_empty() {
            shell.note("no scratchpads yet");
        }
        shell.rows(&rows);
        return None;
    }
    match pads.get(rest) {
        Ok(ScratchpadEntry::Text(text)) => shell.quote(&text),
        Ok(ScratchpadEntry::Image(image)) => shell.note(&image.describe()),
        Err(e) => shell.error(&e.to_string(), None),
    }
    None
}

pub(super) fn tools(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    if rest.is_empty() {
        let rows: Vec<(String, String)> = shell
            .app
            .registry()
            .specs()
            .into_iter()
            .map(|s| (s.name, s.description.split_inclusive('.').next().unwrap_or("").trim().to_string()))
            .collect();
        shell.rows(&rows);
        return None;
    }
    match shell.app.registry().get(rest) {
        Ok(tool) => {
            let spec = tool.spec();
            shell.text(spec.description.trim());
            shell.text(&serde_json::to_string_pretty(&spec.schema).unwrap_or_default());
        }
        Err(e) => shell.error(&e.message, e.hint.map(|hint| hint.to_string()).as_deref()),
    }
    None
}

pub(super) fn status(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    let (provider, model) = current(shell);
    let mode = shell.app.mode().load();
    let session = shell.conversation.agent.as_ref().and_then(|a| a.session()).map(|s| s.id().to_string());
    let roots: Vec<String> = shell.app.workspace().roots().iter().map(|r| r.display().to_string()).collect();
    let pair = |a: &str, b: String| (a.to_string(), b);
    let mut rows = vec![
        pair("mode", format!("{mode}: {}", mode.meaning())),
        pair("provider", format!("{provider} with {model}")),
        pair("session", session.unwrap_or_else(|| "starts with the first message".into())),
        pair("workspace", roots.join(", ")),
        pair("theme", shell.theme.name.clone()),
    ];
    let grants: Vec<String> = match shell.app.policy().lock() {
        Ok(policy) => policy.live().map(|g| g.grant.describe()).collect(),
        Err(_) => Vec::new(),
    };
    rows.extend(grants.into_iter().map(|g| pair("always", g)));
    shell.rows(&rows);
    None
}

pub(super) fn config(shell: &mut Shell<'_>, rest: &str) -> CommandFollowUp {
    let all = shell.app.config().all();
    let rows: Vec<(String, String)> = all
        .into_iter()
        .filter(|(name, ..)| rest.is_empty() || name.starts_with(rest))
        .map(|(name, value, origin)| (name, format!("{value}  ({origin})")))
        .collect();
    if rows.is_empty() {
        let known = crate::text::nearest(rest, crate::config::SettingKey::all().map(|k| k.name));
        let hint = known.map(|k| format!("did you mean `{k}`?"));
        shell.error(&format!("unknown setting `{rest}`"), hint.as_deref());
    }
    shell.rows(&rows);
    None
}

pub(super) fn quit(shell: &mut Shell<'_>, _: &str) -> CommandFollowUp {
    shell.quit = Some(0);
    let pending = shell.pending();
    if pending > 0 {
        let (s, stay, them) = if pending == 1 { ("", "stays", "it") } else { ("s", "stay", "them") };
        shell.note(&format!(
            "{pending} change{s} {stay} pending: `placet apply` applies {them}, `placet changes` shows {them}"
        ));
    }
    if let Some(session) = shell.conversation.agent.as_ref().and_then(|a| a.session()) {
        shell.hint(&format!("resume with: placet --resume {}", session::short_id(session.id())));
    }
    None
}

/// `/batch {"aOperations": [...]}`
pub(super) fn batch(shell: &mut Shell<'_>, rest: &str) -> Option<TurnStart> {
    let start = shell.app.operations(rest);
    if start.is_none() {
        shell.error("this is not a batch", Some("a batch is one JSON object: {\"aOperations\": [...]}"));
        return None;
    }
    match shell.agent_for(rest) {
        Ok(_) => start,
        Err(e) => {
            shell.error(&e.to_string(), None);
            None
        }
    }
}
