//! The path table: what each spelling of a path means, and that every surface holds to it in reading and in writing.
//!
//! The model chooses the spelling, so the table is written as an attacker would write it. For each surface and each
//! spelling a workspace is laid out anew with a canary beside it; at the end the canary was never shown, everything
//! outside has the bytes it had, and inside only the file that was meant has changed.

mod ground;
mod spellings;

use crate::support::tool_bench::{Bench, Person};
use ground::{CANARY, Kept, Tree, content_of, lay_out, outside, tree};
use placet::conversation::CallOutcome;
use placet::permission::Mode;
use placet::tools::{ToolSet, ToolSetSettings};
use serde_json::{Value, json};
use spellings::{Means, spellings};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// What is written through a spelling.
const WRITTEN: &str = "written through the table\n";

/// The longest that one spelling may keep one surface busy, on a machine that does other things too.
const DEADLINE: Duration = Duration::from_secs(30);

fn bench(dialect: ToolSet) -> Bench {
    let mut bench = Bench::new().speaking(dialect, &ToolSetSettings::default());
    bench.mode = Mode::Write;
    bench.person = Person::Away;
    bench
}

/// A tool and its arguments for a path.
type Call = fn(&str) -> (&'static str, Value);

/// The calls by which a surface reads and writes the file of a path.
struct Surface {
    dialect: ToolSet,
    read: Option<Call>,
    write: Call,
    /// It takes paths as the workspace does. Others refuse more, or mean something of their own by some of them.
    exact: bool,
}

fn surfaces() -> Vec<Surface> {
    let plain = |dialect| Surface {
        dialect,
        read: Some(|p| ("read_file", json!({ "path": p }))),
        write: |p| ("write_file", json!({"path": p, "content": WRITTEN})),
        exact: true,
    };
    vec![
        plain(ToolSet::Native),
        plain(ToolSet::Agsh),
        plain(ToolSet::Triggerfish),
        Surface {
            dialect: ToolSet::Agentos,
            read: Some(|p| ("file_read", json!({ "path": p }))),
            write: |p| ("file_write", json!({"path": p, "content": WRITTEN})),
            exact: true,
        },
        Surface {
            dialect: ToolSet::TextEditor,
            read: Some(|p| ("str_replace_based_edit_tool", json!({"command": "view", "path": p}))),
            write: |p| {
                ("str_replace_based_edit_tool", json!({"command": "create", "path": p, "file_text": WRITTEN}))
            },
            exact: true,
        },
        Surface {
            dialect: ToolSet::Deepagents,
            read: Some(|p| ("read_file", json!({ "file_path": p }))),
            write: |p| ("write_file", json!({"file_path": p, "content": WRITTEN})),
            exact: false,
        },
        Surface {
            dialect: ToolSet::Typestack,
            read: Some(|p| ("agent_prompt", in_batch(p, "read"))),
            write: |p| ("agent_prompt", in_batch(p, "overwrite")),
            exact: false,
        },
        Surface {
            dialect: ToolSet::Codex,
            read: None,
            write: |p| {
                let patch = format!("*** Begin Patch\n*** Add File: {p}\n+{WRITTEN}*** End Patch\n");
                ("apply_patch", json!({ "input": patch }))
            },
            exact: false,
        },
    ]
}

fn in_batch(path: &str, mode: &str) -> Value {
    json!({"aOperations": [{"sTool": "fs", "sBase": "app", "sPath": path, "sMode": mode, "sContent": WRITTEN}]})
}

/// Whether a call did what it was asked; a batch answers for each operation by itself.
fn succeeded(outcome: CallOutcome, body: &str) -> bool {
    outcome == CallOutcome::Done
        && !body.contains("\"bSuccess\":false")
        && !body.contains("\"bSuccess\": false")
}

/// What one spelling did, as far as it is wrong.
struct Findings<'a> {
    surface: &'a Surface,
    spelling: &'a str,
    wrong: Vec<String>,
}

impl Findings<'_> {
    fn add(&mut self, what: impl std::fmt::Display) {
        let shown: String = self.spelling.chars().take(80).collect();
        self.wrong.push(format!("{} {shown:?}: {what}", self.surface.dialect));
    }

    fn read(&mut self, bench: &Bench, means: &Means) {
        let Some(read) = self.surface.read else { return };
        let (tool, input) = read(self.spelling);
        let got = bench.call(tool, input);
        let (body, done) = (got.body(), succeeded(got.0.outcome, &got.body()));
        if body.contains(CANARY) {
            self.add("the canary was read");
        }
        match means {
            Means::File(name) if self.surface.exact => {
                if !done || !body.contains(content_of(name).trim_end()) {
                    self.add(format!("reads `{name}`, but: {body}"));
                }
            }
            Means::File(name) => {
                if done && !self.own_meaning() && !body.contains(content_of(name).trim_end()) {
                    self.add(format!("reads `{name}` or nothing, but: {body}"));
                }
            }
            // A surface may show what is in a directory of the workspace.
            Means::Directory => {}
            Means::New(_) | Means::Outside | Means::Error | Means::Protected => {
                if done && !self.own_meaning() {
                    self.add(format!("must not be read, but: {body}"));
                }
            }
        }
    }

    fn write(&mut self, bench: &Bench, means: &Means) {
        let before = tree(&bench.root);
        let (tool, input) = (self.surface.write)(self.spelling);
        let got = bench.call(tool, input);
        let (body, done) = (got.body(), succeeded(got.0.outcome, &got.body()));
        if body.contains(CANARY) {
            self.add("the canary was told when writing");
        }
        let after = tree(&bench.root);
        let changed = changed(&before, &after);
        if waits(means) {
            if !changed.is_empty() {
                self.add(format!("writes a file with several names at once: {changed:?}"));
            }
            if let Some(read) = self.surface.read.filter(|_| done) {
                let (tool, input) = read(self.spelling);
                let body = bench.call(tool, input).body();
                if !body.contains(WRITTEN.trim_end()) {
                    self.add(format!("writes a file with several names, but then reads: {body}"));
                }
            }
            return;
        }
        if changed.is_empty() == done {
            self.add(format!("says {body:?}, but changed {changed:?}"));
        }
        let meant = match means {
            Means::File(name) => Some(name.as_str()),
            Means::New(name) => Some(name.as_str()),
            Means::Directory | Means::Outside | Means::Error | Means::Protected => None,
        };
        if self.own_meaning() {
            return;
        }
        match meant {
            Some(name)
                if (self.surface.exact || done)
                    && (changed != [name.to_string()] || bench.bytes(name) != WRITTEN.as_bytes()) =>
            {
                self.add(format!("writes {name:?}, but changed {changed:?}: {body}"));
            }
            Some(_) => {}
            None if done => self.add(format!("must not be written, but changed {changed:?}: {body}")),
            None => {}
        }
    }

    /// Roots, backslashes and blanks that a surface reads in its own way: there only the walls are tested.
    fn own_meaning(&self) -> bool {
        let virtual_root = matches!(self.surface.dialect, ToolSet::Deepagents | ToolSet::Typestack);
        // To a batch of typestack every path is below its base, also one that begins with `~`.
        let home = self.surface.dialect == ToolSet::Typestack && self.spelling.starts_with('~');
        let slashes = self.surface.dialect == ToolSet::Deepagents && self.spelling.contains('\\');
        let patch = self.surface.dialect == ToolSet::Codex
            && self.spelling.chars().any(|c| c.is_control() || c.is_whitespace() || c == '"');
        virtual_root && self.spelling.starts_with('/') || home || slashes || patch
    }
}

/// A change of a file with several names waits, also in write mode: each of them would change.
fn waits(means: &Means) -> bool {
    matches!(means, Means::File(name) if name == "hard-one")
}

/// The files that are new, gone or different.
fn changed(before: &Tree, after: &Tree) -> Vec<String> {
    let names = before.keys().chain(after.keys()).collect::<BTreeSet<_>>();
    let differs = |name: &&&String| before.get(**name) != after.get(**name);
    // A directory that was made for a file is no change of its own.
    let is_new_directory = |name: &&&String| after.get(**name) != Some(&None) || before.contains_key(**name);
    names.iter().filter(differs).filter(is_new_directory).map(|name| (*name).clone()).collect()
}

/// Runs `work` for each of `items` in a thread of its own; one that takes longer than the deadline is a failure.
fn each_in_time(
    name: &str,
    items: Vec<usize>,
    mut work: impl FnMut(&usize) -> Vec<String> + Send + 'static,
) -> Vec<String> {
    let told = items.clone();
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::spawn(move || {
        for item in &items {
            if sender.send(work(item)).is_err() {
                return;
            }
        }
    });
    let mut wrong = Vec::new();
    for item in &told {
        match receiver.recv_timeout(DEADLINE) {
            Ok(found) => wrong.extend(found),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{name} is blocked at spelling {item}"),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let message = worker.join().err().and_then(|e| e.downcast::<String>().ok());
                panic!("{name} stumbled over spelling {item}: {message:?}");
            }
        }
    }
    wrong
}

/// A workspace laid out, with what it was like then.
struct Laid {
    bench: Bench,
    _kept: Kept,
    table: Vec<(String, Means)>,
    inside: Tree,
    beside: Tree,
}

impl Laid {
    fn out(dialect: ToolSet) -> Laid {
        let bench = bench(dialect);
        let kept = lay_out(&bench.root);
        let table = spellings(&bench.root, &kept);
        let (inside, beside) = (tree(&bench.root), outside(bench.root.parent().unwrap()));
        Laid { bench, _kept: kept, table, inside, beside }
    }

    fn beside_changed(&self) -> bool {
        outside(self.bench.root.parent().unwrap()) != self.beside
    }

    fn is_as_it_was(&self) -> bool {
        tree(&self.bench.root) == self.inside && !self.beside_changed()
    }
}

fn tried(surface: &Surface, laid: &Laid, number: usize) -> Vec<String> {
    let (spelling, means) = &laid.table[number];
    let mut findings = Findings { surface, spelling, wrong: Vec::new() };
    findings.read(&laid.bench, means);
    findings.write(&laid.bench, means);
    if laid.beside_changed() {
        findings.add("something outside has changed");
    }
    findings.wrong
}

/// Tries every spelling; the workspace is laid out anew after each one that changed it.
fn every_spelling(
    name: &str,
    dialect: ToolSet,
    work: impl Fn(&Laid, usize) -> Vec<String> + Send + 'static,
) -> Vec<String> {
    let count = Laid::out(dialect).table.len();
    let mut laid: Option<Laid> = None;
    each_in_time(name, (0..count).collect(), move |number| {
        let now = laid.take().unwrap_or_else(|| Laid::out(dialect));
        let wrong = work(&now, *number);
        let is_pending = waits(&now.table[*number].1);
        laid = (now.is_as_it_was() && !is_pending).then_some(now);
        wrong
    })
}

#[test]
fn the_table_has_spellings_enough_and_none_twice() {
    let table = Laid::out(ToolSet::Native).table;
    let names: BTreeSet<&String> = table.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), table.len());
    assert!(table.len() >= 160, "{}", table.len());
}

#[test]
fn every_spelling_means_the_same_in_reading_and_in_writing_through_every_surface() {
    let threads: Vec<_> = surfaces()
        .into_iter()
        .map(|surface| {
            std::thread::spawn(move || {
                let dialect = surface.dialect;
                every_spelling(dialect.name(), dialect, move |laid, number| tried(&surface, laid, number))
            })
        })
        .collect();
    let wrong: Vec<String> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

/// Calls of the native tools that take a path in some other place than reading and writing a file.
fn other_calls(path: &str) -> Vec<(&'static str, Value)> {
    let operation = |one: Value| json!({"operations": [one], "force": true});
    vec![
        ("list_directory", json!({"path": path, "depth": 3})),
        ("find_files", json!({"pattern": "**", "path": path})),
        ("find_files", json!({ "pattern": path })),
        ("search_contents", json!({"pattern": "ANARY-OUTSI", "path": path})),
        ("search_contents", json!({"pattern": "ANARY-OUTSI", "glob": path})),
        ("edit_file", json!({"path": path, "old_string": "CANARY", "new_string": "x", "force": true})),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n")}),
        ),
        ("operations", operation(json!({"op": "read", "path": path}))),
        ("operations", operation(json!({"op": "append", "path": path, "content": "x"}))),
        ("operations", operation(json!({"op": "copy", "path": path, "to": "copied"}))),
        ("operations", operation(json!({"op": "copy", "path": "dot.", "to": path}))),
        ("operations", operation(json!({"op": "move", "path": path, "to": "moved"}))),
        ("operations", operation(json!({"op": "move", "path": "...", "to": path}))),
        ("operations", operation(json!({"op": "delete", "path": path}))),
    ]
}

fn holds_canary(root: &Path) -> Vec<String> {
    let holds = |content: &Vec<u8>| content.windows(CANARY.len()).any(|w| w == CANARY.as_bytes());
    tree(root).into_iter().filter(|(_, c)| c.as_ref().is_some_and(holds)).map(|(name, _)| name).collect()
}

#[test]
fn no_other_argument_that_is_a_path_leads_outside() {
    let wrong = every_spelling("other calls", ToolSet::Native, |laid, number| {
        let (bench, spelling) = (&laid.bench, &laid.table[number].0);
        let mut wrong = Vec::new();
        for (tool, input) in other_calls(spelling) {
            let got = bench.call(tool, input.clone());
            if got.body().contains(CANARY) {
                wrong.push(format!("{tool} {input}: shows the canary"));
            }
            if laid.beside_changed() {
                wrong.push(format!("{tool} {input}: something outside has changed"));
            }
        }
        let inside = holds_canary(&bench.root);
        if !inside.is_empty() {
            wrong.push(format!("{spelling:?}: the canary is inside now: {inside:?}"));
        }
        wrong
    });
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

/// A file with two names is one file: a write would show under both, so it waits, and both are as they were until then.
#[test]
fn a_hard_link_is_its_file_whatever_its_other_names_are() {
    let bench = bench(ToolSet::Native);
    bench.write("kept", "old\n");
    std::fs::hard_link(bench.path("kept"), bench.outside("other-name")).unwrap();
    bench.call("read_file", json!({"path": "kept"})).done();
    bench.call("write_file", json!({"path": "kept", "content": "new\n"})).done();
    assert!(bench.call("read_file", json!({"path": "kept"})).done().contains("new"));
    for path in [bench.path("kept"), bench.outside("other-name")] {
        assert_eq!(std::fs::read_to_string(path).unwrap(), "old\n");
    }
}
