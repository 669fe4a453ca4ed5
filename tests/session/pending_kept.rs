//! Pending changes are never lost: random sequences of what people do with sessions and directories, through the real
//! binary. Every change that was accepted is in the workspace, is listed as pending, or was discarded and can be brought
//! back.

use crate::support::binary::Out;
use crate::support::is_full;
use crate::support::pty::shell;
use crate::support::txn::Txn;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Sequences of a normal run, and of a full one.
const SEEDS: u64 = 4;
const ALL_SEEDS: u64 = 300;
/// Steps of a sequence, and files of a project.
const STEPS: usize = 14;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        if of.is_empty() { None } else { Some(of[self.below(of.len())].clone()) }
    }
}

/// What became of a change that was accepted.
#[derive(Clone, Debug, PartialEq)]
enum Fate {
    /// In the session with this ID.
    Pending(String),
    /// In the session with this ID, by a person.
    Discarded(String),
    Applied,
}

struct World {
    txn: Txn,
    random: Random,
    projects: Vec<PathBuf>,
    /// By the word that the change writes into a file.
    fates: BTreeMap<String, Fate>,
    steps: Vec<String>,
    /// Messages that were to change a file. Each has a file of its own, so that no two changes are in conflict.
    messages: usize,
}

fn make_project(dir: &Path) {
    std::fs::create_dir_all(dir.join("src")).unwrap();
    std::fs::create_dir(dir.join(".git")).unwrap();
    for number in 0..STEPS {
        for place in [dir, &dir.join("src")] {
            std::fs::write(place.join(format!("old-{number}")), "first\n").unwrap();
        }
    }
}

/// The changes of which the word is in a file below `dir`.
fn words_below(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            found.append(&mut words_below(&path));
        } else {
            found.append(&mut words_in(&std::fs::read_to_string(&path).unwrap_or_default()));
        }
    }
    found
}

fn words_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(|word| Some(format!("change-{}", word.split_once("change-")?.1))).collect()
}

impl World {
    fn new(seed: u64) -> World {
        let random = Random((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let txn = Txn::on_disk();
        let mut world = World {
            random,
            projects: Vec::new(),
            fates: BTreeMap::new(),
            steps: Vec::new(),
            messages: 0,
            txn,
        };
        world.add_project();
        world.add_project();
        for dir in world.projects.clone() {
            world.change(&dir, &[]);
        }
        world
    }

    fn add_project(&mut self) {
        let names = ["p", "q", "r", "s", "t", "u", "v", "w"];
        let Some(free) = names.iter().map(|name| self.txn.base.join(name)).find(|dir| !dir.exists()) else {
            return;
        };
        make_project(&free);
        self.projects.push(free);
    }

    fn placet(&mut self, dir: &Path, args: &[&str]) -> Out {
        let out = self.txn.placet(args).cwd(dir).go();
        let place = dir.strip_prefix(&self.txn.base).unwrap().display();
        self.steps.push(format!("{place}: placet {}: {}\n{}", args.join(" "), out.code, out.stderr));
        assert!(!out.stderr.contains("panicked"), "{}", self.steps.join("\n"));
        out
    }

    fn sessions(&self) -> Vec<String> {
        let list = self.txn.placet(["session", "list", "--json"]).go().code(0).json();
        list.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_string()).collect()
    }

    fn directory(&mut self) -> PathBuf {
        let mut all: Vec<PathBuf> =
            self.projects.iter().flat_map(|dir| [dir.clone(), dir.join("src")]).collect();
        all.push(self.txn.base.join("plain"));
        self.random.one(&all).unwrap()
    }

    fn applied(&self) -> BTreeSet<String> {
        let places = self.projects.iter().cloned().chain([self.txn.base.join("plain")]);
        places.flat_map(|dir| words_below(&dir)).collect()
    }

    /// Sends a message that changes a file, in ask or write mode.
    fn change(&mut self, dir: &Path, more: &[&str]) {
        let number = self.messages;
        self.messages += 1;
        let word = format!("change-{number}");
        let mode = self.random.one(&["ask", "ask", "write"]).unwrap();
        let message = match self.random.below(2) {
            0 => format!("create new-{number} with \"{word}\""),
            _ => format!("append \"{word}\" to old-{number} anyway"),
        };
        let args: Vec<&str> = more.iter().copied().chain(["-p", &message, "--mode", mode]).collect();
        if self.random.below(5) == 0 {
            // Nobody was told that this change is there: it may be, and the others must be.
            let at = u32::try_from(1 + self.random.below(8)).unwrap();
            let out = self.txn.placet_that_crashes(at, &args).cwd(dir).go();
            self.steps.push(format!("crash at {at}: {}: {}: {}", dir.display(), args.join(" "), out.code));
            return;
        }
        let out = self.placet(dir, &args);
        if self.applied().contains(&word) {
            self.fates.insert(word, Fate::Applied);
        } else if matches!(out.code, 0 | 3) {
            self.fates.extend(self.pending_now(&word).map(|id| (word, Fate::Pending(id))));
        }
    }

    /// The session in which the step before made a change pending.
    fn pending_now(&self, word: &str) -> Option<String> {
        let views = std::fs::read_dir(self.txn.state().join("views")).ok()?.flatten();
        let mut views = views.filter(|view| words_below(&view.path().join("pending")).contains(word));
        Some(views.next()?.file_name().to_str().unwrap().to_string())
    }

    fn step(&mut self) {
        let dir = self.directory();
        let (id, other) = (self.random.one(&self.sessions()), self.directory());
        let other = other.to_str().unwrap();
        match (self.random.below(17), id) {
            (0 | 1, _) => self.change(&dir, &[]),
            (2 | 3, Some(id)) => self.change(&dir, &["-r", &id]),
            (4, Some(id)) => self.change(&dir, &["-r", &id, "--cwd", other]),
            (5, Some(id)) => self.change(&dir, &["-r", &id, "--add-dir", other]),
            (6, _) => self.change(&dir, &["-c", "--add-dir", other]),
            (7, _) => self.change(&dir, &["-c"]),
            (8, Some(id)) => drop(self.placet(&dir, &["-r", &id, "-p", "list .", "--mode", "ask"])),
            (9, Some(id)) => {
                drop(self.placet(&dir, &["-r", &id, "-p", "list .", "--mode", "write", "--dry-run"]))
            }
            (10, Some(id)) => {
                self.placet(&dir, &["apply", "--yes", "--session", &id]);
                let applied = self.applied();
                self.change_fates(|word, _| applied.contains(word).then_some(Fate::Applied));
            }
            (11, Some(id)) => {
                if self.placet(&dir, &["discard", "--session", &id]).code == 0 {
                    let pending = Fate::Pending(id.clone());
                    self.change_fates(|_, fate| (*fate == pending).then(|| Fate::Discarded(id.clone())));
                }
            }
            (12, _) => self.move_project(),
            (13, _) => self.remove_project(),
            (14, id) => self.shell(&dir, id.as_deref(), other),
            (_, _) => {
                self.placet(&dir, &["changes"]);
            }
        }
    }

    /// Some lines in a shell, which then ends or is killed.
    fn shell(&mut self, dir: &Path, id: Option<&str>, other: &str) {
        let home = self.txn.base.join("home");
        let mut start = shell().size(120, 40).arg("--mode").arg("ask");
        for (name, below) in [("HOME", ""), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
            start = start.variable(name, home.join(below).to_str().unwrap());
        }
        let mut pty = start.at(TempDir::new().unwrap(), TempDir::new().unwrap(), dir).open();
        for _ in 0..4 {
            let word = format!("change-{}", self.messages);
            let line = match (self.random.below(5), id) {
                (0, _) => "/new".to_string(),
                (1, _) => format!("/cd {other}"),
                (2, Some(id)) => format!("/resume {id}"),
                _ => format!("create new-{} with \"{word}\"", self.messages),
            };
            self.steps.push(format!("{}: shell: {line}", dir.display()));
            pty.line(&line);
            pty.until("a prompt or a question", |s| {
                s.trim_end().ends_with('>') || s.contains("keep pending")
            });
            if line.starts_with("create") {
                self.messages += 1;
                if pty.screen().contains("keep pending") {
                    pty.answer("k");
                    pty.until("a prompt", |s| s.trim_end().ends_with('>'));
                }
                self.fates.extend(self.pending_now(&word).map(|id| (word, Fate::Pending(id))));
            }
        }
        self.steps.push(pty.transcript());
        if self.random.below(2) == 0 {
            pty.line("/quit");
            pty.ended();
        } else {
            drop(pty.kill());
        }
    }

    fn change_fates(&mut self, new: impl Fn(&str, &Fate) -> Option<Fate>) {
        for (word, fate) in &mut self.fates {
            if let Some(new) = new(word, fate) {
                *fate = new;
            }
        }
    }

    /// To another name; its old name is free for another project.
    fn move_project(&mut self) {
        let Some(from) = self.random.one(&self.projects) else { return };
        let to = self.txn.base.join(format!("moved-{}", self.steps.len()));
        self.steps.push(format!("mv {} {}", from.display(), to.display()));
        std::fs::rename(&from, &to).unwrap();
        self.projects.retain(|dir| *dir != from);
        self.projects.push(to);
        if self.random.below(2) == 0 {
            self.add_project();
        }
    }

    fn remove_project(&mut self) {
        let Some(dir) = self.random.one(&self.projects) else { return };
        self.steps.push(format!("rm -r {}", dir.display()));
        let gone = words_below(&dir);
        std::fs::remove_dir_all(&dir).unwrap();
        self.projects.retain(|known| *known != dir);
        self.fates.retain(|word, fate| *fate != Fate::Applied || !gone.contains(word));
        self.add_project();
    }

    fn listed(&mut self, id: &str) -> BTreeSet<String> {
        let plain = self.txn.base.join("plain");
        words_in(&self.placet(&plain, &["changes", "--patch", "--session", id]).stdout)
    }

    fn check(mut self) {
        let applied = self.applied();
        let mut lost = Vec::new();
        for id in self.sessions() {
            let of = |fates: &BTreeMap<String, Fate>, fate: &Fate| -> BTreeSet<String> {
                fates.iter().filter(|(_, known)| *known == fate).map(|(word, _)| word.clone()).collect()
            };
            let pending = of(&self.fates, &Fate::Pending(id.clone()));
            if !pending.is_empty() {
                lost.extend(pending.difference(&self.listed(&id)).cloned());
            }
            let discarded = of(&self.fates, &Fate::Discarded(id.clone()));
            let mut back = BTreeSet::new();
            let plain = self.txn.base.join("plain");
            while !discarded.is_subset(&back) && self.placet(&plain, &["undo", "--session", &id]).code == 0 {
                back = self.listed(&id);
            }
            lost.extend(discarded.difference(&back).cloned());
        }
        lost.extend(
            self.fates
                .iter()
                .filter(|(word, fate)| **fate == Fate::Applied && !applied.contains(*word))
                .map(|(word, _)| word.clone()),
        );
        assert!(lost.is_empty(), "lost: {lost:?}\n{:#?}\n{}", self.fates, self.steps.join("\n"));
    }
}

fn sequence(seed: u64) -> usize {
    let mut world = World::new(seed);
    for _ in 0..STEPS {
        world.step();
    }
    world.steps.insert(0, format!("seed {seed}"));
    let accepted = world.fates.len();
    world.check();
    accepted
}

#[test]
fn whatever_is_done_with_sessions_and_directories_no_pending_change_is_lost() {
    let seeds: Vec<u64> = (0..if is_full() { ALL_SEEDS } else { SEEDS }).collect();
    let half = seeds.len().div_ceil(2);
    let accepted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = seeds
            .chunks(half)
            .map(|seeds| scope.spawn(|| seeds.iter().map(|seed| sequence(*seed)).sum::<usize>()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(accepted >= seeds.len(), "nearly every message was refused: {accepted} changes");
}
