//! Random sequences of commands, partial decisions, undo, redo, restored discards and outside edits and commits, through the
//! one way to decide, against a copy that is kept by hand. A decision about what was shown does exactly that, or nothing.

use super::txn_races::{Bench, label};
use crate::support::is_full;
use crate::support::require::require;
use placet::serve::changes::{UndoTarget, redo, undo};
use placet::workspace::{
    ChangeDecision, ChangeSelection, LayerKind, MovedCause, RestoreError, SelectedPart, ShownChanges,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files by name; nothing is where there is no entry.
type Files = BTreeMap<&'static str, String>;

const NAMES: [&str; 6] = ["a", "b", "c", "d/e", "d/f", "d/g"];

/// What the copy says is pending at a path: what was there, and what is to be there.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    before: Option<String>,
    after: Option<String>,
}

type Pending = BTreeMap<&'static str, Change>;

/// What an apply changed, path by path.
type Transaction = BTreeMap<&'static str, Change>;

struct Machine {
    bench: Bench,
    random: u64,
    /// Each content is there once: nothing looks like a move.
    contents: u32,
    files: Files,
    pending: Pending,
    applied: Vec<Transaction>,
    undone: Vec<Transaction>,
    discarded: Vec<Pending>,
    shown: Option<(ShownChanges, Pending)>,
    log: Vec<String>,
}

impl Machine {
    fn new(seed: u64) -> Machine {
        let bench = Bench::new();
        std::fs::create_dir(bench.root.join("d")).unwrap();
        std::fs::write(bench.root.join("always there"), "x\n").unwrap();
        let mut machine = Machine {
            bench,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            contents: 0,
            files: Files::new(),
            pending: Pending::new(),
            applied: Vec::new(),
            undone: Vec::new(),
            discarded: Vec::new(),
            shown: None,
            log: Vec::new(),
        };
        for name in NAMES.iter().take(4) {
            let content = machine.content();
            machine.write(name, Some(content));
        }
        machine
    }

    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random >> 11).unwrap() % end
    }

    fn name(&mut self) -> &'static str {
        NAMES[self.below(NAMES.len())]
    }

    fn content(&mut self) -> String {
        self.contents += 1;
        format!("content {}\n", self.contents)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.bench.root.join(name)
    }

    /// In the workspace, outside of placet.
    fn write(&mut self, name: &'static str, content: Option<String>) {
        match content {
            Some(content) => {
                std::fs::write(self.path(name), &content).unwrap();
                self.files.insert(name, content);
            }
            None => {
                drop(std::fs::remove_file(self.path(name)));
                self.files.remove(name);
            }
        }
    }

    /// A command of the agent writes or removes one to three files.
    fn command(&mut self) {
        let mut written: Vec<(&'static str, Option<String>)> = Vec::new();
        for _ in 0..=self.below(3) {
            let name = self.name();
            let after = if self.below(4) == 0 { None } else { Some(self.content()) };
            let now = self.pending.get(name).map_or(self.files.get(name), |change| change.after.as_ref());
            if after.is_none() && now.is_none() || written.iter().any(|(other, _)| *other == name) {
                continue;
            }
            written.push((name, after));
        }
        self.log.push(format!("command {written:?}"));
        self.bench
            .fold(|upper| {
                for (name, after) in &written {
                    let path = upper.join(name);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    match after {
                        Some(content) => std::fs::write(path, content).unwrap(),
                        None => crate::support::special::whiteout(&path),
                    }
                }
            })
            .unwrap();
        self.bench.view.drop_unchanged().unwrap();
        for (name, after) in written {
            let before = match self.pending.get(name) {
                Some(change) => change.before.clone(),
                None => self.files.get(name).cloned(),
            };
            match before == after {
                true => drop(self.pending.remove(name)),
                false => drop(self.pending.insert(name, Change { before, after })),
            }
        }
    }

    fn edit_outside(&mut self) {
        let name = self.name();
        let content = match self.below(4) {
            0 => None,
            // What is pending is there already.
            1 => self.pending.get(name).and_then(|change| change.after.clone()),
            _ => Some(self.content()),
        };
        self.log.push(format!("outside {name}: {content:?}"));
        self.write(name, content);
    }

    fn commit_outside(&mut self) {
        if !require("git") {
            return;
        }
        let git = |words: &[&str]| {
            let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
            let mut command = Command::new("git");
            command.args(identity).args(words).current_dir(&self.bench.root).env("HOME", &self.bench.base);
            assert!(command.output().unwrap().status.success(), "{words:?}");
        };
        if !self.path(".git").exists() {
            git(&["init", "-q"]);
        }
        git(&["add", "-A"]);
        git(&["commit", "-q", "--allow-empty", "-m", "outside"]);
        self.log.push("outside: a commit".into());
    }

    fn look(&mut self) {
        self.log.push("shown".into());
        self.shown = Some((self.bench.view.shown().unwrap(), self.pending.clone()));
    }

    fn decide(&mut self) {
        let Some((shown, seen)) = self.shown.take() else { return };
        let (mut apply, mut discard) = (Vec::new(), Vec::new());
        for name in seen.keys() {
            match self.below(4) {
                0 | 1 => apply.push(*name),
                2 => discard.push(*name),
                _ => {}
            }
        }
        self.log.push(format!("decide: apply {apply:?}, discard {discard:?}"));
        let root = self.bench.root.clone();
        let whole = |names: &[&str]| -> ChangeSelection {
            names.iter().map(|name| (root.join(name).as_path().into(), SelectedPart::Whole)).collect()
        };
        let decision = ChangeDecision {
            apply: whole(&apply),
            discard: whole(&discard),
            label: label(),
            ..ChangeDecision::default()
        };
        let outcome = self.bench.view.decide(shown, decision);
        let change = |name: &&'static str| (*name, seen[name].clone());
        let is_there = |change: &Change, files: &Files, name: &str| files.get(name) == change.after.as_ref();
        let fits = |change: &Change, files: &Files, name: &str| files.get(name) == change.before.as_ref();
        if seen != self.pending {
            let moved = outcome.expect_err("it was about other changes");
            assert_eq!(moved.cause, MovedCause::Pending);
            self.shown = Some((moved.shown, self.pending.clone()));
            return;
        }
        let chosen: Transaction = apply.iter().map(change).collect();
        let is_blocked = chosen
            .iter()
            .any(|(name, change)| !fits(change, &self.files, name) && !is_there(change, &self.files, name));
        if is_blocked {
            let moved = outcome.expect_err("a file has another content in the workspace");
            assert!(matches!(moved.cause, MovedCause::Workspace { .. }), "{:?}", moved.cause);
            // What the workspace has already is not pending any more.
            let files = &self.files;
            self.pending.retain(|name, change| !chosen.contains_key(name) || !is_there(change, files, name));
            self.shown = Some((moved.shown, self.pending.clone()));
            return;
        }
        let report = outcome.unwrap_or_else(|moved| panic!("nothing moved: {:?}", moved.cause));
        assert!(report.is_done(), "{report:?}");
        let mut made = Transaction::new();
        for (name, change) in chosen {
            self.pending.remove(name);
            if fits(&change, &self.files, name) {
                match &change.after {
                    Some(content) => drop(self.files.insert(name, content.clone())),
                    None => drop(self.files.remove(name)),
                }
                made.insert(name, change);
            }
        }
        assert_eq!(report.entry().is_some(), !made.is_empty(), "{report:?}");
        if !made.is_empty() {
            self.applied.push(made);
            self.undone.clear();
        }
        let gone: Pending = discard.iter().map(change).collect();
        self.pending.retain(|name, _| !gone.contains_key(name));
        if !gone.is_empty() {
            self.discarded.push(gone);
        }
    }

    /// All of a transaction goes back, or nothing.
    fn revert(&mut self, transaction: &Transaction) -> bool {
        let fits = |name: &str, change: &Change| {
            let now = self.files.get(name);
            now == change.after.as_ref() || now == change.before.as_ref()
        };
        if !transaction.iter().all(|(name, change)| fits(name, change)) {
            return false;
        }
        for (name, change) in transaction {
            match &change.before {
                Some(content) => drop(self.files.insert(name, content.clone())),
                None => drop(self.files.remove(name)),
            }
        }
        true
    }

    fn undo(&mut self) {
        let told = undo(&self.bench.view, &UndoTarget::Turns(1), false, &label(), &Path::to_path_buf);
        self.log.push(format!("undo: {:?}", told.lines));
        let Some(last) = self.applied.last().cloned() else {
            assert!(told.done, "{told:?}");
            return;
        };
        let is_here = last.iter().all(|(name, change)| self.files.get(name) == change.before.as_ref());
        assert_eq!(self.revert(&last), told.done, "{told:?}");
        // An undo that finds nothing to do is no transaction.
        if told.done && !is_here {
            self.applied.pop();
            self.undone.push(last);
        }
    }

    fn redo(&mut self) {
        let told = redo(&self.bench.view, false, &label(), &Path::to_path_buf);
        self.log.push(format!("redo: {:?}", told.lines));
        let Some(last) = self.undone.last().cloned() else {
            assert!(told.done, "{told:?}");
            return;
        };
        let swapped = last.iter().map(|(name, Change { before, after })| {
            (*name, Change { before: after.clone(), after: before.clone() })
        });
        let is_here = last.iter().all(|(name, change)| self.files.get(name) == change.after.as_ref());
        assert_eq!(self.revert(&swapped.collect()), told.done, "{told:?}");
        if told.done && !is_here {
            self.undone.pop();
            self.applied.push(last);
        }
    }

    fn restore(&mut self) {
        let Some(record) = self.bench.view.last_discard().unwrap() else {
            assert!(self.discarded.is_empty());
            return;
        };
        let restored = self.bench.view.restore(&record);
        self.log.push(format!("restore: {restored:?}"));
        let last = self.discarded.last().cloned().expect("a discard");
        let collides = |(name, change): (&&str, &Change)| {
            self.pending.get(*name).is_some_and(|now| now.after != change.after)
        };
        if last.iter().any(collides) {
            assert!(matches!(restored, Err(RestoreError::Pending(_))), "{restored:?}");
            return;
        }
        restored.unwrap();
        self.discarded.pop();
        for (name, change) in last {
            self.pending.entry(name).or_insert(change);
        }
    }

    /// The workspace and what is pending are what the copy says.
    fn check(&mut self) {
        for name in NAMES {
            let now = std::fs::read_to_string(self.path(name)).ok();
            assert_eq!(now.as_ref(), self.files.get(name), "{name} in the workspace");
        }
        let set = self.bench.view.changes(LayerKind::Pending).unwrap();
        // The removal of what is gone already need not be pending.
        let files = &self.files;
        let is_needed = |name: &str, change: &Change| change.after.is_some() || files.contains_key(name);
        let root = &self.bench.root;
        self.pending.retain(|name, change| is_needed(name, change) || set.get(&root.join(name)).is_some());
        let listed: Vec<&Path> =
            set.changes.iter().map(|change| change.path.strip_prefix(root).unwrap()).collect();
        let known: Vec<&Path> = self.pending.keys().map(Path::new).collect();
        assert_eq!(listed, known, "pending");
        for change in &set.changes {
            let name = change.path.strip_prefix(&self.bench.root).unwrap().to_str().unwrap();
            let Change { before, after } = &self.pending[name];
            let hash = |content: &Option<String>| content.as_ref().map(|text| blake3::hash(text.as_bytes()));
            assert_eq!(
                (change.before.hash(), change.after.hash()),
                (hash(before), hash(after)),
                "{name} is pending"
            );
        }
    }
}

fn sequence(seed: u64) -> Result<(), String> {
    let mut machine = Machine::new(seed);
    let steps = 10 + machine.below(9);
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..steps {
            match machine.below(16) {
                0..=4 => machine.command(),
                5 | 6 => machine.look(),
                7..=9 => {
                    if machine.shown.is_none() {
                        machine.look();
                    }
                    machine.decide();
                }
                10 | 11 => machine.edit_outside(),
                12 => machine.undo(),
                13 => machine.redo(),
                14 => machine.restore(),
                _ => machine.commit_outside(),
            }
            machine.check();
        }
    }));
    ran.map_err(|why| {
        let why = why
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| why.downcast_ref::<&str>().map(|text| (*text).to_string()))
            .unwrap_or_default();
        format!("PLACET_SEED={seed}: {why}\n  {}", machine.log.join("\n  "))
    })
}

#[test]
fn a_decision_does_exactly_what_was_shown_or_nothing() {
    let only: Option<u64> = std::env::var("PLACET_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = only.map_or(1..if is_full() { 1_001 } else { 101 }, |seed| seed..seed + 1);
    let failed: Vec<String> = seeds.filter_map(|seed| sequence(seed).err()).collect();
    assert!(failed.is_empty(), "{} sequences:\n{}", failed.len(), failed[..failed.len().min(4)].join("\n"));
}
