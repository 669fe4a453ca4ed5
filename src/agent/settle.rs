//! The end of a turn: what is pending is shown, and the person says what becomes of it.

use super::driver::Agent;
use super::event::{Choice, ChoiceQuestion, Event};
use crate::audit::Kind;
use crate::text::sanitize;
use crate::tools::Detail;
use crate::workspace::{
    Applied, ApplyError, Assent, ChangeSet, Choice as PathChoice, Label, Node, Shelf, View, Workspace, patch,
};
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
            let (reply, answer) = oneshot::channel();
            let question = ChoiceQuestion {
                title: headline(&set, &view),
                reason: reason(&view),
                detail: Detail::Diff(overview(&set, &view, &workspace)),
                choices: vec![
                    Choice::consent('a', "apply all"),
                    Choice::plain('r', "review"),
                    Choice::plain('k', "keep pending"),
                    Choice::for_good('d', "discard all"),
                ],
                reply,
            };
            drop(events.send(Event::Choice(question)));
            let answer = answer.await.unwrap_or('k');
            // What was shown is what is decided on: a background command may have ended under the question, and none
            // puts anything there until this is done.
            let _still = view.hold_still().await;
            if matches!(answer, 'a' | 'd') && view.changes(Shelf::Pending).is_ok_and(|now| now != set) {
                let words = "what is pending has changed while you looked; here it is again";
                drop(events.send(Event::Notice(words.into())));
                continue;
            }
            match answer {
                // Without an answer they changed meanwhile and were merged: that is another question.
                'a' => {
                    if let Some(settled) = self.apply_all(&set, &view, &workspace, events).await {
                        return settled;
                    }
                }
                'd' => {
                    let said = match view.discard(&View::everything(&set)) {
                        Ok(()) => self.wrote_down(Kind::Discard, format!("discarded: {}", counted(&set))),
                        Err(e) => format!("could not be discarded: {e}"),
                    };
                    drop(events.send(Event::Notice(said)));
                    return Settled::Discarded;
                }
                'r' => return Settled::Review,
                _ => {
                    let said = format!("{} pending: /changes, /apply, /discard", counted(&set));
                    drop(events.send(Event::Notice(said)));
                    return Settled::Kept;
                }
            }
        }
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

    /// `None` when it is to be asked again.
    async fn apply_all(
        &self,
        shown: &ChangeSet,
        view: &View,
        workspace: &Workspace,
        events: &UnboundedSender<Event>,
    ) -> Option<Settled> {
        let label = Label { assent: Assent::you("the question"), ..view.turn().label.clone() };
        let (view, set) = (view.clone(), shown.clone());
        let done = tokio::task::spawn_blocking(move || {
            let mut chosen = View::everything(&set);
            let special = set.changes.iter().filter(|c| matches!(c.after, Node::Special { .. }));
            let special: PathChoice = special.filter_map(|c| chosen.remove_entry(&c.path)).collect();
            let applied = view.apply(&chosen, label)?;
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

fn headline(set: &ChangeSet, view: &View) -> String {
    let (added, removed) = set.lines(view.objects());
    format!("{}, +{added} -{removed} lines: apply?", counted(set))
}

/// `3 changes`.
fn counted(set: &ChangeSet) -> String {
    let count = set.listed();
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

/// The list of what changes, and then how.
pub fn overview(set: &ChangeSet, view: &View, workspace: &Workspace) -> String {
    let mut text = set.listing(view.objects(), |path| workspace.shown(path)).join("\n");
    let bytes = patch(set, view.objects(), workspace.cwd());
    let diff = String::from_utf8_lossy(&bytes);
    text.push_str("\n\n");
    text.push_str(diff.get(..diff.floor_char_boundary(DIFF)).unwrap_or_default());
    if diff.len() > DIFF {
        let more = diff.len() - DIFF;
        text.push_str(&format!(
            "\n[{more} more bytes of this diff: `placet changes --patch` has all of it]\n"
        ));
    }
    text
}
