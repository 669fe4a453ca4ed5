//! After any sequence of edits, decisions and undo, each line is told to be its author's.

use super::blame::Desk;
use crate::support::special::whiteout;
use placet::permission::Mode;
use placet::workspace::{BlameLine, LayerKind, LineStatus};
use std::path::PathBuf;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }
}

/// The lines of a file and their authors: what blame must find out.
type Model = Vec<(String, String)>;

struct Played {
    desk: Desk,
    random: Random,
    name: PathBuf,
    model: Model,
    /// As it was before what is pending, and its name then.
    landed: (Model, PathBuf),
    /// As it was before the last transaction, while nothing came after it.
    undoable: Option<(Model, PathBuf)>,
    count: usize,
    moved: bool,
    /// Some transaction is known: what the person wrote before the first one is older than placet.
    known: bool,
}

impl Played {
    /// Takes lines out and puts new ones in, each unlike every other line.
    fn edit(&mut self, author: &str) {
        for _ in 0..=self.random.below(3) {
            let at = self.random.below(self.model.len() + 1);
            if self.random.below(2) == 0 && !self.model.is_empty() {
                self.model.remove(at.min(self.model.len() - 1));
            } else {
                self.count += 1;
                self.model.insert(at, (format!("line {}", self.count), author.to_string()));
            }
        }
    }

    fn text(&self) -> String {
        self.model.iter().map(|(line, _)| format!("{line}\n")).collect()
    }

    fn is_pending(&self) -> bool {
        if !self.desk.view().changes(LayerKind::Pending).unwrap().is_empty() {
            return true;
        }
        // Calls that undid each other leave a copy in the layer, which would hide what the person writes next.
        self.desk.view().discard_everything().unwrap();
        false
    }

    fn step(&mut self, number: usize) {
        match self.random.below(8) {
            0..=2 => {
                let author = format!("call {number}");
                self.edit(&author);
                let (name, text) = (self.name.clone(), self.text());
                self.desk.command(&author, |upper| std::fs::write(upper.join(name), text).unwrap());
            }
            3 | 4 if self.is_pending() => {
                self.desk.apply("/apply");
                self.undoable =
                    Some(std::mem::replace(&mut self.landed, (self.model.clone(), self.name.clone())));
                (self.moved, self.known) = (false, true);
                self.desk.turn(&format!("turn {number}"));
            }
            5 if self.is_pending() => {
                self.desk.view().discard_everything().unwrap();
                (self.model, self.name) = self.landed.clone();
                self.moved = false;
            }
            6 if self.is_pending() && !self.moved && !self.model.is_empty() => {
                let (old, new, text) = (self.name.clone(), PathBuf::from(format!("f{number}")), self.text());
                if self.desk.0.root.join(&old).exists() {
                    self.desk.command("move", |upper| {
                        whiteout(&upper.join(&old));
                        std::fs::write(upper.join(&new), text).unwrap();
                    });
                    (self.name, self.moved) = (new, true);
                }
            }
            7 if !self.is_pending() => {
                self.edit(if self.known { "outside" } else { "before" });
                self.desk.0.write(self.name.to_str().unwrap(), self.text());
                self.landed = (self.model.clone(), self.name.clone());
                self.undoable = None;
            }
            _ if !self.is_pending() => {
                if let Some(earlier) = self.undoable.take() {
                    self.desk.undo();
                    (self.model, self.name) = earlier.clone();
                    self.landed = earlier;
                }
            }
            _ => {}
        }
    }
}

#[test]
fn after_any_sequence_of_edits_each_line_is_its_authors() {
    let rounds = if crate::support::is_full() { 400 } else { 12 };
    for seed in 1..=rounds {
        let desk = Desk::new(Mode::Ask);
        let model: Model = (0..6).map(|n| (format!("old {n}"), "before".to_string())).collect();
        let name = PathBuf::from("f");
        let landed = (model.clone(), name.clone());
        let random = Random(u64::wrapping_mul(seed, 0x9E37_79B9_7F4A_7C15));
        let mut played = Played {
            desk,
            random,
            name,
            model,
            landed,
            undoable: None,
            count: 0,
            moved: false,
            known: false,
        };
        played.desk.0.write("f", played.text());
        played.desk.turn("turn 0");
        for number in 1..=40 {
            played.step(number);
            let author = |line: &BlameLine| match &line.claim.standing {
                LineStatus::Before => "before".to_string(),
                LineStatus::Outside { .. } => "outside".to_string(),
                LineStatus::Unknown { why } => format!("unknown: {why}"),
                _ => line.claim.origin.as_ref().unwrap().title.clone(),
            };
            let found = played.desk.lines(&played.name);
            let found: Model = found.iter().map(|line| (line.text.clone(), author(line))).collect();
            assert_eq!(found, played.model, "seed {seed}, step {number}");
        }
    }
}
