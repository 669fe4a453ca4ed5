//! The end of a turn: what is pending is shown, and the person says what becomes of it.

use super::driver::Agent;
use super::event::{Choice, ChoiceQuestion, Event, Question, Reply};
use crate::audit::Kind;
use crate::conversation::CallId;
use crate::permission::Mode;
use crate::text::sanitize;
use crate::tools::{ChangeOverview, Detail, FileDiff, Preview};
use crate::workspace::{
    Applied, ApplyError, Approval, Aside, Assent, ChangeClasses, ChangeSet, Choice as PathChoice, Label,
    LargeLoss, Node, Part, PathChange, Shelf, View, Workspace, patches,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

/// The most of a diff that is put into a question, in bytes; the rest is counted.
const DIFF: usize = 1 << 20;

/// What the person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Nothing was pending from this turn.
    Nothing,
    Applied,
    Discarded,
    /// It stays pending.
    Kept,
    /// It stays pending, and the person wants to look at it file by file.
    Review,
}

impl Agent {
    /// Asks what becomes of the changes that this turn left pending. Without an answer they stay pending.
    pub async fn settle(&mut self, events: &UnboundedSender<Event>) -> Settled {
        let workspace = self.env().workspace.clone();
        let Some(view) = workspace.view().cloned() else { return Settled::Nothing };
        // A background command may have ended between two turns: that is asked about as well.
        if !view.turn().held & !view.take_late() {
            return Settled::Nothing;
        }
        loop {
            let Ok(set) = view.changes(Shelf::Pending) else { return Settled::Nothing };
            if set.is_empty() {
                return Settled::Nothing;
            }
            let classes = view.classify(&set);
            let waiting = self.waiting(&set, &classes);
            if waiting.len() == set.listed(&classes) {
                return self.settle_protected(&view, &workspace, Settled::Kept, events).await;
            }
            let (reply, answer) = oneshot::channel();
            let question = ChoiceQuestion {
                title: headline(&set, &classes, &view, &workspace),
                reason: reason(&view),
                detail: Detail::Changes(Box::new(overview(&set, &view, &workspace))),
                choices: vec![
                    Choice::consent('a', &apply_words(waiting.len())),
                    Choice::plain('r', "review"),
                    Choice::plain('k', "keep pending"),
                    Choice::for_good('d', "discard all"),
                ],
                reply,
            };
            drop(events.send(Event::Choice(question)));
            let mut answer = answer.await.unwrap_or('k');
            if answer == 'a' && !self.confirm_losses(&classes, &workspace, events).await {
                answer = 'k';
            }
            // What was shown is what is decided on: a background command may have ended under the question, and none
            // puts anything there until this is done.
            let still = view.hold_still().await;
            if matches!(answer, 'a' | 'd') && view.changes(Shelf::Pending).is_ok_and(|now| now != set) {
                let words = "what is pending has changed while you looked; here it is again";
                drop(events.send(Event::Notice(words.into())));
                continue;
            }
            match answer {
                // Without an answer they changed meanwhile and were merged: that is another question.
                'a' => {
                    let approval = self.approval_of_mode(&set, &classes);
                    let settled = self.apply_all(&set, &approval, &view, &workspace, events).await;
                    drop(still);
                    match settled {
                        None => {}
                        Some(settled) => {
                            return self.settle_protected(&view, &workspace, settled, events).await;
                        }
                    }
                }
                'd' => {
                    let said = match view.set_aside(&View::everything(&set)) {
                        Ok(aside) => {
                            let back = match aside {
                                Aside::Kept => "/undo brings it back",
                                Aside::TooLarge => "too large to be kept for undo",
                            };
                            self.wrote_down(
                                Kind::Discard,
                                format!("discarded: {}; {back}", counted(&set, &classes)),
                            )
                        }
                        Err(e) => format!("could not be discarded: {e}"),
                    };
                    drop(events.send(Event::Notice(said)));
                    return Settled::Discarded;
                }
                'r' => return Settled::Review,
                _ => {
                    let said = format!("{} pending: /changes, /apply, /discard", counted(&set, &classes));
                    drop(events.send(Event::Notice(said)));
                    return Settled::Kept;
                }
            }
        }
    }

    /// The paths that are asked about one by one: in unrestricted mode none.
    fn waiting(&self, set: &ChangeSet, classes: &ChangeClasses) -> Vec<PathBuf> {
        match self.env().mode.load() {
            Mode::Unrestricted => Vec::new(),
            _ => classes.to_approve(set).into_iter().map(|(path, _)| path.to_path_buf()).collect(),
        }
    }

    fn approval_of_mode(&self, set: &ChangeSet, classes: &ChangeClasses) -> Approval {
        match self.env().mode.load() {
            Mode::Unrestricted => set
                .changes
                .iter()
                .filter(|c| classes.runner(&c.path).is_some())
                .fold(Approval::none(), Approval::shown),
            _ => Approval::none(),
        }
    }

    /// What is taken away on a large scale needs its name typed, as a destroyer does.
    async fn confirm_losses(
        &self,
        classes: &ChangeClasses,
        workspace: &Workspace,
        events: &UnboundedSender<Event>,
    ) -> bool {
        let Some(loss) = classes.losses.first() else { return true };
        let all: Vec<String> = classes.losses.iter().map(|loss| loss_words(loss, workspace)).collect();
        let word = match loss {
            LargeLoss::Repository { path, .. } | LargeLoss::Root { path, .. } => workspace.shown(path),
            LargeLoss::Files { .. } => "remove".into(),
        };
        // A name that cannot be typed is replaced by a word that can.
        let plain = word.chars().all(|c| c.is_ascii_graphic());
        let word = if plain && word != "." { word } else { "remove".into() };
        let (reply, answer) = oneshot::channel();
        drop(events.send(Event::Question(Question {
            id: CallId::new("apply"),
            tool: "apply".into(),
            reason: all.join("; "),
            preview: Preview { line: "apply all".into(), detail: Detail::Text(all.join("\n")) },
            always: None,
            pattern: None,
            typed: Some(word),
            why: String::new(),
            flag: None,
            reply,
        })));
        matches!(answer.await, Ok(Reply::Yes))
    }

    /// Asks about each path that runs later, by itself and with another key than the rest.
    async fn settle_protected(
        &self,
        view: &View,
        workspace: &Workspace,
        mut settled: Settled,
        events: &UnboundedSender<Event>,
    ) -> Settled {
        let mut asked: BTreeSet<PathBuf> = BTreeSet::new();
        loop {
            let Ok(set) = view.changes(Shelf::Pending) else { return settled };
            let classes = view.classify(&set);
            let Some(path) = self.waiting(&set, &classes).into_iter().find(|path| !asked.contains(path))
            else {
                break;
            };
            let Some(change) = set.get(&path) else { break };
            let (reply, answer) = oneshot::channel();
            drop(events.send(Event::Choice(about_one(&set, &classes, change, (view, workspace), reply))));
            let answer = answer.await.unwrap_or('k');
            let _still = view.hold_still().await;
            let now = view.changes(Shelf::Pending).ok();
            if now.and_then(|now| now.get(&path).cloned()).as_ref() != Some(change) {
                let words = "what is pending has changed while you looked; here it is again";
                drop(events.send(Event::Notice(words.into())));
                continue;
            }
            asked.insert(path.clone());
            let only: PathChoice = set.below(&path).into_iter().map(|path| (path, Part::Whole)).collect();
            match answer {
                'y' => {
                    let approval = Approval::none().shown(change);
                    if let Some(Settled::Applied) =
                        self.apply_chosen(only, PathChoice::new(), &approval, view, workspace, events).await
                    {
                        settled = Settled::Applied;
                    }
                }
                'd' => {
                    let name = sanitize::name(&workspace.shown(&path)).into_owned();
                    let said = match view.set_aside(&only) {
                        Ok(Aside::Kept) => {
                            self.wrote_down(Kind::Discard, format!("discarded: {name}; /undo brings it back"))
                        }
                        Ok(Aside::TooLarge) => self.wrote_down(
                            Kind::Discard,
                            format!("discarded: {name}; too large to be kept for undo"),
                        ),
                        Err(e) => format!("could not be discarded: {e}"),
                    };
                    drop(events.send(Event::Notice(said)));
                    if settled == Settled::Kept {
                        settled = Settled::Discarded;
                    }
                }
                'r' => return Settled::Review,
                'n' => {}
                _ => break,
            }
        }
        if let Ok(set) = view.changes(Shelf::Pending)
            && !set.is_empty()
        {
            let said = format!("{} pending: /changes, /apply, /discard", counted(&set, &view.classify(&set)));
            drop(events.send(Event::Notice(said)));
        }
        settled
    }

    /// `said`, and that it is not in the audit log, where it could not be written there.
    fn wrote_down(&self, kind: Kind, said: String) -> String {
        let session = self.session().map(|s| s.id().to_string());
        match self.gate().settled(kind, "the question at the end of a turn", session, &said) {
            Ok(()) => self
                .parts
                .env
                .mounts
                .push_all()
                .into_iter()
                .fold(said, |said, why| format!("{said}; not carried to its store: {why}")),
            Err(e) => format!("{said}; this is not in the audit log: {e}"),
        }
    }

    /// Everything but what runs later and was not approved. `None` when it is to be asked again.
    async fn apply_all(
        &self,
        shown: &ChangeSet,
        approval: &Approval,
        view: &View,
        workspace: &Workspace,
        events: &UnboundedSender<Event>,
    ) -> Option<Settled> {
        let mut chosen = View::everything(shown);
        let special = shown.changes.iter().filter(|c| matches!(c.after, Node::Special { .. }));
        let special: PathChoice = special.filter_map(|c| chosen.remove_entry(&c.path)).collect();
        let (chosen, _) = view.classify(shown).permitted(shown, &chosen, approval);
        self.apply_chosen(chosen, special, approval, view, workspace, events).await
    }

    async fn apply_chosen(
        &self,
        chosen: PathChoice,
        special: PathChoice,
        approval: &Approval,
        view: &View,
        workspace: &Workspace,
        events: &UnboundedSender<Event>,
    ) -> Option<Settled> {
        let label = Label { assent: Assent::you("the question"), ..view.turn().label.clone() };
        let (view, approval) = (view.clone(), approval.clone());
        let done = tokio::task::spawn_blocking(move || {
            let applied = view.apply_approved(&chosen, &approval, label)?;
            if !matches!(applied, Applied::Changed { .. }) {
                // Pipes, sockets and devices are never applied: they would be pending for ever.
                view.discard(&special).map_err(ApplyError::Journal)?;
            }
            Ok::<_, ApplyError>(applied)
        });
        let (said, settled) = match done.await {
            Ok(Ok(Applied::Landed(entry))) => {
                let s = if entry.changes.len() == 1 { "" } else { "s" };
                let mut said = format!("applied {} change{s}; /undo takes them back", entry.changes.len());
                let in_place = entry.changes.iter().filter(|c| c.in_place).map(|c| c.path.clone());
                let in_place: Vec<PathBuf> = in_place.collect();
                if !in_place.is_empty() {
                    let why = "several names, or an owner that cannot be kept";
                    said.push_str(&format!("; written in place ({why}): {}", names(&in_place, workspace)));
                }
                (self.wrote_down(Kind::Apply, said), Some(Settled::Applied))
            }
            Ok(Ok(Applied::Nothing)) => ("there was nothing left to apply".into(), Some(Settled::Nothing)),
            Ok(Ok(Applied::Changed { merged, conflicts })) => changed(&merged, &conflicts, workspace),
            Ok(Err(e)) => (format!("not applied: {e}"), Some(Settled::Kept)),
            Err(e) => (format!("not applied: {e}"), Some(Settled::Kept)),
        };
        drop(events.send(Event::Notice(said)));
        settled
    }
}

fn names(paths: &[PathBuf], workspace: &Workspace) -> String {
    let name = |path: &PathBuf| sanitize::name(&workspace.shown(path)).into_owned();
    paths.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn changed(merged: &[PathBuf], conflicts: &[PathBuf], workspace: &Workspace) -> (String, Option<Settled>) {
    let both = match merged.is_empty() {
        true => String::new(),
        false => format!("{} changed since, and both changes were merged", names(merged, workspace)),
    };
    if conflicts.is_empty() {
        return (format!("nothing was applied: {both}, as shown now"), None);
    }
    let also = if both.is_empty() { both } else { format!("; {both}") };
    let conflicts = names(conflicts, workspace);
    let words = "changed since in the same lines: discard that, or apply the others by name";
    (format!("nothing was applied: {conflicts} {words}{also}"), Some(Settled::Kept))
}

/// The first line: what is taken away on a large scale comes before everything else.
fn headline(set: &ChangeSet, classes: &ChangeClasses, view: &View, workspace: &Workspace) -> String {
    let (added, removed) = set.lines(view.objects());
    let rest = format!("{}, +{added} -{removed} lines: apply?", counted(set, classes));
    let mut parts: Vec<String> = classes.losses.iter().map(|loss| loss_words(loss, workspace)).collect();
    parts.push(rest);
    parts.join("; ")
}

fn apply_words(waiting: usize) -> String {
    match waiting {
        0 => "apply all".into(),
        1 => "apply all but the one marked !".into(),
        count => format!("apply all but the {count} marked !"),
    }
}

/// What a change set takes away, in a sentence.
pub fn loss_words(loss: &LargeLoss, workspace: &Workspace) -> String {
    let name = |path: &std::path::Path| sanitize::name(&workspace.shown(path)).into_owned();
    let counted = |files: usize| format!("{files} file{}", if files == 1 { "" } else { "s" });
    match loss {
        LargeLoss::Repository { path, files } => {
            format!("removes the repository `{}` ({})", name(path), counted(*files))
        }
        LargeLoss::Root { path, files } => {
            format!("removes everything in `{}` ({})", path.display(), counted(*files))
        }
        LargeLoss::Files { files, bytes } => format!("removes {} ({bytes} bytes)", counted(*files)),
    }
}

/// The question about one path that runs later.
fn about_one(
    set: &ChangeSet,
    classes: &ChangeClasses,
    change: &PathChange,
    (view, workspace): (&View, &Workspace),
    reply: oneshot::Sender<char>,
) -> ChoiceQuestion {
    let name = sanitize::name(&workspace.shown(&change.path)).into_owned();
    let why = classes.runner(&change.path).map(|r| sanitize::line(&r.why).into_owned()).unwrap_or_default();
    let part = set.part(|c| c.path.starts_with(&change.path));
    ChoiceQuestion {
        title: format!("! {name} ({}): apply this file?", change.verb().word()),
        reason: why,
        detail: Detail::Changes(Box::new(overview(&part, view, workspace))),
        choices: vec![
            Choice::consent('y', "yes, apply this file"),
            Choice::plain('n', "no, keep it pending"),
            Choice::plain('r', "review"),
            Choice::plain('k', "keep all that are left pending"),
            Choice::for_good('d', "discard it"),
        ],
        reply,
    }
}

/// `3 changes`.
fn counted(set: &ChangeSet, classes: &ChangeClasses) -> String {
    let count = set.listed(classes);
    let s = if count == 1 { "" } else { "s" };
    format!("{count} change{s}")
}

fn reason(view: &View) -> String {
    let reasons = view.turn().braked.clone();
    match reasons.is_empty() {
        true => "none of this is in the workspace yet".into(),
        false => format!("held back: {}", reasons.join("; ")),
    }
}

/// The list of what changes, and then how. Of a very large set some is left out, and counted.
pub fn overview(set: &ChangeSet, view: &View, workspace: &Workspace) -> ChangeOverview {
    let list = set.listing(view.objects(), &view.classify(set), |path| workspace.shown(path));
    let mut room = DIFF;
    let file = |(path, mut patch): (PathBuf, Vec<u8>)| {
        let left_out = patch.len().saturating_sub(room);
        patch.truncate(room);
        room -= patch.len();
        FileDiff { name: sanitize::name(&workspace.shown(&path)).into_owned(), patch, left_out }
    };
    let files = patches(set, view.objects(), workspace.cwd()).into_iter().map(file).collect();
    ChangeOverview { list, files }
}
