//! `/review`: through what is pending, file by file and hunk by hunk, with one answer for each.
//!
//! Answers are words with Enter, and Enter alone keeps: a key too many applies nothing. A file's answers are carried
//! out when its last hunk has been seen.

use super::changes::{label, paths};
use super::prompt::{Prompter, STOPPED};
use super::{ReplError, Shell};
use crate::agent::overview;
use crate::audit::Kind;
use crate::serve::changes::{Told, apply_choice};
use crate::tools::Detail;
use crate::ui::cell;
use crate::workspace::{
    ChangeSet, Choice, Part, PathChange, Shelf, View, Workspace, hunks, repository_of, with_hunks,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Apply,
    Discard,
    Keep,
    ApplyFile,
    DiscardFile,
    Quit,
}

fn read(answer: &str) -> Option<Answer> {
    Some(match answer.trim() {
        "a" | "apply" => Answer::Apply,
        "d" | "discard" => Answer::Discard,
        "" | "k" | "keep" => Answer::Keep,
        "A" => Answer::ApplyFile,
        "D" => Answer::DiscardFile,
        "q" | "quit" | STOPPED => Answer::Quit,
        _ => return None,
    })
}

/// The directory that goes with this path in it, the topmost one; else the path itself.
fn going_with(set: &ChangeSet, path: &Path) -> PathBuf {
    let goes = |dir: &&Path| set.get(dir).is_some_and(|c| c.before.is_directory() && !c.after.is_directory());
    path.ancestors().filter(goes).last().unwrap_or(path).to_path_buf()
}

/// What a file's answers come to.
#[derive(Default)]
struct Answers {
    apply: BTreeSet<usize>,
    discard: BTreeSet<usize>,
    quit: bool,
}

impl Shell<'_> {
    pub(super) fn go_through(&mut self, prompter: &mut Prompter, rest: &str) -> Result<(), ReplError> {
        let Some((workspace, view)) = self.viewed() else { return Ok(()) };
        let only = match paths(&workspace, rest) {
            Ok(only) => only,
            Err(e) => {
                self.error(&e, None);
                return Ok(());
            }
        };
        let set = view.changes(Shelf::Pending)?;
        let wanted = |path: &PathBuf| only.is_empty() || only.iter().any(|p| path.starts_with(p));
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut any = false;
        for change in set.changes.iter().filter(|c| wanted(&c.path)) {
            let unit = repository_of(&change.path).unwrap_or_else(|| going_with(&set, &change.path));
            // A directory comes and goes with what is in it; a repository is one thing.
            let plain_directory = change.after.is_directory() && change.before.is_absent();
            if !seen.insert(unit.clone()) || plain_directory && set.below(&change.path).len() > 1 {
                continue;
            }
            any = true;
            let quit = if unit == change.path && !change.before.is_directory() {
                self.file(prompter, &view, &workspace, change)?
            } else {
                self.unit(prompter, &view, &workspace, &set, &unit)?
            };
            if quit {
                break;
            }
        }
        if !any {
            self.note("nothing is pending");
        } else if let left @ 1.. = self.pending() {
            self.note(&format!("{left} still pending"));
        }
        Ok(())
    }

    /// One file: by hunks where it has several, else as a whole.
    fn file(
        &mut self,
        prompter: &mut Prompter,
        view: &View,
        workspace: &Workspace,
        change: &PathChange,
    ) -> Result<bool, ReplError> {
        let contents = change.bytes(view.objects()).filter(|_| change.texts(view.objects()).is_some());
        let Some((before, after)) = contents else { return self.whole(prompter, view, workspace, change) };
        let parts = hunks(&before, &after);
        if parts.len() < 2 {
            return self.whole(prompter, view, workspace, change);
        }
        let mut answers = Answers::default();
        let name = crate::text::sanitize::name(&workspace.shown(&change.path)).into_owned();
        for index in 0..parts.len() {
            let one = with_hunks(&before, &after, &parts, |n| n == index);
            let (old, new) = (String::from_utf8_lossy(&before), String::from_utf8_lossy(&one));
            let diff = crate::text::LineDiff::new(&old, &new).unified(3, 1 << 20).text;
            self.print(&cell::detail(&Detail::Diff(diff), &self.theme, usize::MAX));
            let place = format!("{name}, hunk {} of {}", index + 1, parts.len());
            match self.answer(prompter, &place, true)? {
                Answer::Apply => drop(answers.apply.insert(index)),
                Answer::Discard => drop(answers.discard.insert(index)),
                Answer::Keep => {}
                Answer::ApplyFile => answers.apply.extend(index..parts.len()),
                Answer::DiscardFile => answers.discard.extend(index..parts.len()),
                Answer::Quit => answers.quit = true,
            }
            let rest_decided =
                [&answers.apply, &answers.discard].iter().any(|s| s.contains(&(parts.len() - 1)));
            if answers.quit || rest_decided {
                break;
            }
        }
        self.carry_out(view, workspace, change, parts.len(), &answers);
        Ok(answers.quit)
    }

    fn carry_out(
        &mut self,
        view: &View,
        workspace: &Workspace,
        change: &PathChange,
        count: usize,
        answers: &Answers,
    ) {
        let part = |set: BTreeSet<usize>| match set.len() == count {
            true => Part::Whole,
            false => Part::Hunks(set),
        };
        let shown = |path: &Path| workspace.shown(path);
        if !answers.apply.is_empty() {
            let choice = Choice::from([(change.path.clone(), part(answers.apply.clone()))]);
            let told = apply_choice(view, &choice, label(view, "/review"), &shown);
            let done = told.done;
            self.done(Kind::Apply, "/review", told);
            if !done {
                return;
            }
        }
        if answers.discard.is_empty() {
            return;
        }
        // What was applied is no hunk any more: the others move up.
        let left: Vec<usize> = (0..count).filter(|n| !answers.apply.contains(n)).collect();
        let moved: BTreeSet<usize> =
            left.iter().enumerate().filter(|(_, n)| answers.discard.contains(n)).map(|(at, _)| at).collect();
        let whole = moved.len() == left.len();
        let now = view.changes(Shelf::Pending).ok();
        let now = now.as_ref().and_then(|set| set.get(&change.path)?.bytes(view.objects()));
        if now.is_none_or(|(before, after)| hunks(&before, &after).len() != left.len()) {
            self.error(
                "the file changed meanwhile: nothing of it was discarded",
                Some("/review shows it anew"),
            );
            return;
        }
        let part = if whole { Part::Whole } else { Part::Hunks(moved.clone()) };
        match view.discard(&Choice::from([(change.path.clone(), part)])) {
            Ok(()) => {
                let line = format!("discarded {} of {count} hunks", moved.len());
                self.done(Kind::Discard, "/review", Told { lines: vec![line], done: true });
            }
            Err(e) => self.error(&format!("not discarded: {e}"), None),
        }
    }

    fn whole(
        &mut self,
        prompter: &mut Prompter,
        view: &View,
        workspace: &Workspace,
        change: &PathChange,
    ) -> Result<bool, ReplError> {
        let set = ChangeSet { changes: vec![change.clone()] };
        self.unit(prompter, view, workspace, &set, &change.path)
    }

    /// Everything of `set` at or below `unit`, with one answer.
    fn unit(
        &mut self,
        prompter: &mut Prompter,
        view: &View,
        workspace: &Workspace,
        set: &ChangeSet,
        unit: &Path,
    ) -> Result<bool, ReplError> {
        let mut part = set.clone();
        part.changes.retain(|c| c.path.starts_with(unit));
        let choice = View::everything(&part);
        let text = overview(&part, view, workspace);
        self.print(&cell::detail(&Detail::Diff(text), &self.theme, usize::MAX));
        let name = crate::text::sanitize::name(&workspace.shown(unit)).into_owned();
        match self.answer(prompter, &name, false)? {
            Answer::Apply | Answer::ApplyFile => {
                let told = apply_choice(view, &choice, label(view, "/review"), &|path| workspace.shown(path));
                self.told(told);
            }
            Answer::Discard | Answer::DiscardFile => match view.discard(&choice) {
                Ok(()) => self.note(&format!("discarded {name}")),
                Err(e) => self.error(&format!("not discarded: {e}"), None),
            },
            Answer::Keep => {}
            Answer::Quit => return Ok(true),
        }
        Ok(false)
    }

    fn answer(&mut self, prompter: &mut Prompter, place: &str, hunks: bool) -> Result<Answer, ReplError> {
        let more = if hunks { ", A or D for the rest of the file" } else { "" };
        loop {
            let question = format!("{place}: a apply, d discard, Enter keep{more}, q quit: ");
            match read(&prompter.ask_word(&question)?) {
                Some(answer) => return Ok(answer),
                None => self.hint("a, d, q, or Enter alone"),
            }
        }
    }
}
