//! `/changes`, `/apply`, `/discard`, `/undo`, `/redo`, `/journal`: what is pending, and what was applied.

use super::Shell;
use super::command::After;
use crate::agent::overview;
use crate::audit::Kind;
use crate::serve::changes::{self, Back, Told};
use crate::tools::Detail;
use crate::ui::cell;
use crate::workspace::{Assent, Label, Shelf, View, Workspace};
use std::path::{Path, PathBuf};

impl Shell<'_> {
    /// The conversation's workspace and view; before the first message there is none.
    pub(super) fn viewed(&self) -> Option<(Workspace, View)> {
        let waits = |workspace: &&Workspace| workspace.view().is_some_and(|v| !v.is_empty(Shelf::Pending));
        let own = self.conversation.agent.as_ref().map(|agent| &agent.env().workspace);
        // What an earlier session left comes into sight again when this one has nothing of its own.
        let workspace = match own.filter(waits).or(self.earlier.as_ref().filter(waits)).or(own) {
            Some(workspace) => workspace.clone(),
            None => self.app.viewed(),
        };
        let view = workspace.view()?.clone();
        Some((workspace, view))
    }

    /// Changes that wait for the person.
    pub(super) fn pending(&self) -> usize {
        let view = self.viewed();
        let count = |view: View| view.changes(Shelf::Pending).map_or(0, |set| set.listed());
        view.filter(|(_, view)| !view.is_empty(Shelf::Pending)).map_or(0, |(_, view)| count(view))
    }

    /// Writes down what was done, and tells it.
    pub(super) fn done(&mut self, kind: Kind, by: &str, told: Told) -> After {
        if told.done {
            let session = self.conversation.agent.as_ref().and_then(|a| a.session());
            let session = session.map(|s| s.id().to_string());
            if let Err(e) = self.app.gate().settled(kind, by, session, &told.lines.join("\n")) {
                self.error(&format!("this is not in the audit log: {e}"), Some(&e.hint()));
            }
            for why in self.app.carry() {
                self.error(&format!("not carried to its store: {why}"), None);
            }
        }
        self.told(told)
    }

    pub(super) fn told(&mut self, told: Told) -> After {
        let mut lines = told.lines.into_iter();
        let first = lines.next().unwrap_or_default();
        match told.done {
            true => self.note(&first),
            false => self.error(&first, None),
        }
        for line in lines {
            self.hint(&format!("  {line}"));
        }
        None
    }
}

/// Words of a command as paths; quotes hold blanks together.
pub(super) fn paths(workspace: &Workspace, rest: &str) -> Result<Vec<PathBuf>, String> {
    let words = super::line::words(rest);
    words.iter().map(|word| Ok(workspace.resolve(word).map_err(|e| e.to_string())?.path)).collect()
}

pub(super) fn label(view: &View, title: &str) -> Label {
    let turn = view.turn().label.clone();
    let name = view.dir().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let fresh = || Label { turn: name, title: title.into(), ..Label::default() };
    let label = if turn.turn.is_empty() { fresh() } else { turn };
    Label { assent: Assent::you(title), ..label }
}

pub(super) fn changes(shell: &mut Shell<'_>, rest: &str) -> After {
    let (workspace, view) = shell.viewed()?;
    let set = match view.changes(Shelf::Pending) {
        Ok(set) => set,
        Err(e) => {
            shell.error(&format!("what is pending cannot be read: {e}"), None);
            return None;
        }
    };
    if set.is_empty() {
        shell.note("nothing is pending");
        return None;
    }
    let only = match paths(&workspace, rest) {
        Ok(only) => only,
        Err(e) => {
            shell.error(&e, None);
            return None;
        }
    };
    let shown = |path: &Path| workspace.shown(path);
    if only.is_empty() {
        for line in set.listing(view.objects(), shown) {
            shell.print(&[ratatui::text::Line::raw(line)]);
        }
        shell.hint("/changes PATH shows how; /apply, /discard with or without paths");
        return None;
    }
    let mut part = set.clone();
    part.changes.retain(|c| only.iter().any(|path| c.path.starts_with(path)));
    let text = overview(&part, &view, &workspace);
    shell.print(&cell::detail(&Detail::Diff(text), &shell.theme, usize::MAX));
    None
}

pub(super) fn apply(shell: &mut Shell<'_>, rest: &str) -> After {
    let (workspace, view) = shell.viewed()?;
    let told = match paths(&workspace, rest) {
        Ok(paths) => changes::apply(&view, &paths, label(&view, "/apply"), &|path| workspace.shown(path)),
        Err(e) => Told { lines: vec![e], done: false },
    };
    shell.done(Kind::Apply, "/apply", told)
}

pub(super) fn discard(shell: &mut Shell<'_>, rest: &str) -> After {
    let (workspace, view) = shell.viewed()?;
    let told = match paths(&workspace, rest) {
        Ok(paths) => changes::discard(&view, &paths, &|path| workspace.shown(path)),
        Err(e) => Told { lines: vec![e], done: false },
    };
    shell.done(Kind::Discard, "/discard", told)
}

pub(super) fn undo(shell: &mut Shell<'_>, rest: &str) -> After {
    let (workspace, view) = shell.viewed()?;
    let (rest, others) = match rest.strip_suffix("rest") {
        Some(before) if before.is_empty() || before.ends_with(' ') => (before.trim(), true),
        _ => (rest, false),
    };
    let back = match rest.parse::<usize>() {
        _ if rest.is_empty() => Back::Turns(1),
        Ok(count) => Back::Turns(count.max(1)),
        Err(_) => match workspace.resolve(rest) {
            Ok(at) => Back::Path(at.path),
            Err(e) => return shell.told(Told { lines: vec![e.to_string()], done: false }),
        },
    };
    let told = changes::undo(&view, &back, others, &label(&view, "/undo"), &|path| workspace.shown(path));
    shell.done(Kind::Undo, "/undo", told)
}

pub(super) fn redo(shell: &mut Shell<'_>, rest: &str) -> After {
    let (workspace, view) = shell.viewed()?;
    let told = changes::redo(&view, rest == "rest", &label(&view, "/redo"), &|path| workspace.shown(path));
    shell.done(Kind::Undo, "/redo", told)
}

pub(super) fn journal(shell: &mut Shell<'_>, rest: &str) -> After {
    let (workspace, view) = shell.viewed()?;
    if let Ok(id) = rest.parse::<u64>() {
        match view.journal().entry(id) {
            None => shell.error(&format!("there is no transaction {id}"), Some("/journal lists them")),
            Some(entry) => {
                shell.note(&changes::entry_line(&entry));
                for change in &entry.changes {
                    let name = crate::text::sanitize::name(&workspace.shown(&change.path)).into_owned();
                    shell.hint(&format!("  {} {name}", change.letter()));
                }
            }
        }
        return None;
    }
    let entries = view.journal().entries();
    if entries.is_empty() {
        shell.note("nothing was applied here yet");
    }
    for entry in entries.iter().rev().take(20) {
        shell.print(&[ratatui::text::Line::raw(changes::entry_line(entry))]);
    }
    None
}

pub(super) fn review(shell: &mut Shell<'_>, rest: &str) -> After {
    shell.review = Some(rest.to_string());
    None
}

pub(super) fn rewind(shell: &mut Shell<'_>, rest: &str) -> After {
    shell.rewind(rest);
    None
}
