use super::*;
use crate::ExpectedContent;
use crate::history::journal::TransactionLabel;
use crate::view::{ApplyOutcome, ChangeSelection, SelectedPart, ViewPaths};
use placet_permission::WritePolicy;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

struct BackgroundFixture {
    _dir: tempfile::TempDir,
    root: PathBuf,
    view: View,
}

fn bench(files: &[(&str, &str)]) -> BackgroundFixture {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let root = base.join("w");
    fs::create_dir(&root).unwrap();
    for (name, text) in files {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    let places = ViewPaths {
        view: base.join("state/view"),
        layers: Vec::new(),
        objects: base.join("state/objects"),
        journal: base.join("state/journal"),
        scratch: base.join("scratch"),
    };
    let view = View::at(places, std::slice::from_ref(&root));
    BackgroundFixture { _dir: dir, root, view }
}

impl BackgroundFixture {
    fn begin(&self) -> CommandView {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.view.begin_background(LayerKind::Pending, None)).unwrap()
    }

    /// What the command wrote: the layer gets what the overlay would have put there.
    fn wrote(&self, command: &CommandView, name: &str, text: &str) {
        let path = command.mounts[0].upper.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn deleted(&self, command: &CommandView, name: &str) {
        let path = command.mounts[0].upper.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let dir = open_dir(path.parent().unwrap()).unwrap();
        Layer::whiteout(&dir, path.file_name().unwrap()).unwrap();
    }

    /// What a file tool writes meanwhile.
    fn hold(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        let before = match self.seen(name) {
            None => ExpectedContent::Absent,
            Some(now) => ExpectedContent::Content(blake3::hash(now.as_bytes())),
        };
        self.view.write(&path, text.as_bytes(), before, WritePolicy::Hold).unwrap();
    }

    fn apply(&self) {
        let set = self.view.changes(LayerKind::Pending).unwrap();
        let label = TransactionLabel { turn: "t".into(), ..TransactionLabel::default() };
        let applied = self.view.apply(&View::everything(&set), label).unwrap();
        assert!(matches!(applied, ApplyOutcome::Landed(_)), "{applied:?}");
    }

    fn end(&self, command: CommandView) -> CommandEffects {
        self.view.finish_background(command, "job-1", &|_| false).unwrap()
    }

    /// A file as the view has it.
    fn seen(&self, name: &str) -> Option<String> {
        let real = self.view.real(&self.root.join(name)).unwrap()?;
        fs::read_to_string(real).ok()
    }

    fn names(&self, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|p| p.strip_prefix(&self.root).unwrap().display().to_string()).collect()
    }
}

const TEXT: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn what_it_sees_stands_still_while_others_go_on() {
    let bench = bench(&[("a", "old\n")]);
    bench.hold("a", "pending\n");
    bench.hold("new/b", "new\n");
    let command = bench.begin();
    bench.hold("a", "later\n");
    bench.hold("c", "later\n");
    bench.apply();
    let lower = &command.mounts[0].lowers[0];
    assert_eq!(fs::read_to_string(lower.join("a")).unwrap(), "pending\n");
    assert_eq!(fs::read_to_string(lower.join("new/b")).unwrap(), "new\n");
    assert!(!lower.join("c").exists());
    let kept = lower.clone();
    drop(command);
    assert!(!kept.exists(), "its copies go with it");
}

#[test]
fn what_only_the_command_changed_is_pending() {
    let bench = bench(&[("a", "a\n"), ("b", "b\n"), ("gone", "x\n")]);
    let command = bench.begin();
    bench.wrote(&command, "a", "changed\n");
    bench.wrote(&command, "dir/new", "new\n");
    bench.deleted(&command, "gone");
    bench.hold("b", "by a tool\n");
    let effects = bench.end(command);
    // The directory and the file in it.
    assert_eq!((effects.created, effects.modified, effects.deleted), (2, 1, 1));
    assert!(
        effects.merged.is_empty() && effects.beside.is_empty() && effects.raced.is_empty(),
        "{effects:?}"
    );
    assert_eq!(bench.seen("a").as_deref(), Some("changed\n"));
    assert_eq!(bench.seen("b").as_deref(), Some("by a tool\n"));
    assert_eq!(bench.seen("dir/new").as_deref(), Some("new\n"));
    assert_eq!(bench.seen("gone"), None);
    assert_eq!(fs::read_to_string(bench.root.join("a")).unwrap(), "a\n", "nothing has landed");
}

#[test]
fn changes_of_both_are_merged_whether_pending_or_landed_and_conflicts_lie_beside() {
    for landed in [false, true] {
        for held_before in [false, true] {
            let bench = bench(&[("m", TEXT), ("c", TEXT)]);
            if held_before {
                // The state that the command found was itself pending.
                bench.hold("m", &TEXT.replace('5', "five"));
                bench.hold("c", &TEXT.replace('5', "five"));
            }
            let command = bench.begin();
            let found = bench.seen("m").unwrap();
            bench.hold("m", &found.replace('1', "one"));
            bench.hold("c", &found.replace('1', "one"));
            if landed {
                bench.apply();
            }
            bench.wrote(&command, "m", &found.replace('9', "nine"));
            bench.wrote(&command, "c", &found.replace('1', "uno"));
            let effects = bench.end(command);
            let case = format!("landed {landed}, held before {held_before}");
            assert_eq!(bench.names(&effects.merged), ["m"], "{case}");
            assert_eq!(bench.names(&effects.beside), ["c.job-1"], "{case}");
            assert_eq!(bench.seen("m").unwrap(), found.replace('1', "one").replace('9', "nine"), "{case}");
            assert_eq!(bench.seen("c").unwrap(), found.replace('1', "one"), "{case}");
            assert_eq!(bench.seen("c.job-1").unwrap(), found.replace('1', "uno"), "{case}");
        }
    }
}

#[test]
fn what_the_person_changed_in_the_workspace_is_never_taken_for_what_the_command_saw() {
    let bench = bench(&[("a", TEXT)]);
    let command = bench.begin();
    bench.wrote(&command, "a", &TEXT.replace('9', "nine"));
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(bench.root.join("a"), TEXT.replace('1', "one")).unwrap();
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.beside), ["a.job-1"]);
    assert_eq!(bench.seen("a").unwrap(), TEXT.replace('1', "one"));
    assert_eq!(bench.seen("a.job-1").unwrap(), TEXT.replace('9', "nine"));
}

#[test]
fn what_was_deleted_on_one_side_and_changed_on_the_other_is_kept() {
    let bench = bench(&[("a", "a\n"), ("d/x", "x\n"), ("d/y", "y\n"), ("mine", "m\n")]);
    let command = bench.begin();
    bench.deleted(&command, "a");
    bench.deleted(&command, "d");
    bench.wrote(&command, "mine", "changed\n");
    bench.hold("a", "newer\n");
    bench.hold("d/y", "newer\n");
    let path = bench.root.join("mine");
    fs::remove_file(path).unwrap();
    let effects = bench.end(command);
    assert_eq!(bench.seen("a").as_deref(), Some("newer\n"));
    assert_eq!(bench.seen("d/y").as_deref(), Some("newer\n"));
    assert_eq!(bench.seen("d/x").as_deref(), Some("x\n"), "a directory goes whole or not at all");
    assert_eq!(bench.seen("mine").as_deref(), Some("changed\n"), "the command's work is kept, and pending");
    assert_eq!(bench.names(&effects.beside), ["a", "d"]);
}

#[test]
fn a_directory_that_both_made_holds_what_both_put_there() {
    let bench = bench(&[]);
    let command = bench.begin();
    bench.wrote(&command, "out/from-command", "1\n");
    bench.wrote(&command, "out/same", "same\n");
    bench.wrote(&command, "out/other", "1\n");
    // As the overlay marks a directory that is new.
    let made = open_dir(&command.mounts[0].upper.join("out")).unwrap();
    rustix::fs::fsetxattr(&made, layer::OPAQUE, b"y", rustix::fs::XattrFlags::empty()).unwrap();
    bench.hold("out/from-tool", "2\n");
    bench.hold("out/same", "same\n");
    bench.hold("out/other", "2\n");
    let effects = bench.end(command);
    let seen = |name: &str| bench.seen(name).unwrap_or_default();
    assert_eq!((seen("out/from-command"), seen("out/from-tool")), ("1\n".into(), "2\n".into()));
    assert_eq!((seen("out/same"), seen("out/other")), ("same\n".into(), "2\n".into()));
    assert_eq!(seen("out/other.job-1"), "1\n");
    assert_eq!(bench.names(&effects.beside), ["out/other.job-1"]);
}

#[test]
fn a_directory_that_was_replaced_while_others_worked_in_it_lies_beside() {
    let bench = bench(&[("d/x", "x\n")]);
    let command = bench.begin();
    bench.wrote(&command, "d/fresh", "fresh\n");
    let made = open_dir(&command.mounts[0].upper.join("d")).unwrap();
    rustix::fs::fsetxattr(&made, layer::OPAQUE, b"y", rustix::fs::XattrFlags::empty()).unwrap();
    bench.hold("d/x", "newer\n");
    let effects = bench.end(command);
    assert_eq!(bench.names(&effects.beside), ["d.job-1"]);
    assert_eq!(bench.seen("d/x").as_deref(), Some("newer\n"));
    assert_eq!(bench.seen("d/fresh"), None);
    assert_eq!(bench.seen("d.job-1/fresh").as_deref(), Some("fresh\n"));
}

/// Story: the edit of `d/x` was gone, without a word.
#[test]
fn a_file_or_link_in_place_of_a_directory_in_which_others_worked_lies_beside() {
    for is_link in [true, false] {
        for is_applied in [true, false] {
            let bench = bench(&[("d/sub/x", "x\n"), ("d/y", "y\n"), ("e/y", "y\n")]);
            let command = bench.begin();
            let upper = &command.mounts[0].upper;
            for name in ["d", "e"] {
                match is_link {
                    true => std::os::unix::fs::symlink("other", upper.join(name)).unwrap(),
                    false => fs::write(upper.join(name), "file\n").unwrap(),
                }
            }
            bench.hold("d/sub/x", "newer\n");
            if is_applied {
                bench.apply();
            }
            let effects = bench.end(command);
            let case = format!("{is_link} {is_applied}");
            assert_eq!(bench.names(&effects.beside), ["d.job-1"], "{case}");
            assert_eq!(bench.seen("d/sub/x").as_deref(), Some("newer\n"), "{case}");
            assert_eq!(bench.seen("d/y").as_deref(), Some("y\n"), "{case}");
            // Where nobody else worked, the directory is what the command made of it.
            assert_eq!(bench.seen("e/y"), None, "{case}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_are_never_merged() {
    let bench = bench(&[("b", "\0\n1\n2\n3\n4\n5\n")]);
    let command = bench.begin();
    bench.hold("b", "\0\none\n2\n3\n4\n5\n");
    bench.wrote(&command, "b", "\0\n1\n2\n3\n4\nfive\n");
    let effects = bench.end(command);
    assert_eq!((effects.merged.len(), bench.names(&effects.beside)), (0, vec!["b.job-1".to_string()]));
}

#[test]
fn a_discard_meanwhile_is_a_change_of_others() {
    let bench = bench(&[("a", "old\n")]);
    bench.hold("a", "pending\n");
    let command = bench.begin();
    bench.wrote(&command, "a", "pending\nand more\n");
    let set = bench.view.changes(LayerKind::Pending).unwrap();
    let all: ChangeSelection = set.changes.iter().map(|c| (c.path.clone(), SelectedPart::Whole)).collect();
    bench.view.discard(&all).unwrap();
    bench.end(command);
    assert_eq!(bench.seen("a").as_deref(), Some("old\n"));
    assert_eq!(bench.seen("a.job-1").as_deref(), Some("pending\nand more\n"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever both do to the same files, the lines of each side are in the result.
    #[test]
    fn no_line_of_either_side_is_lost(
        command_edits in proptest::collection::btree_map(0..4usize, 0..9usize, 0..4),
        tool_edits in proptest::collection::btree_map(0..4usize, 0..9usize, 0..4),
        landed in any::<bool>(),
    ) {
        let names = ["a", "b", "c/d", "c/e"];
        let bench = bench(&names.map(|name| (name, TEXT)));
        let command = bench.begin();
        let edit = |line: usize, by: &str| {
            let lines: Vec<String> = TEXT
                .lines()
                .enumerate()
                .map(|(at, text)| if at == line { format!("{by}{at}\n") } else { format!("{text}\n") })
                .collect();
            lines.concat()
        };
        for (file, line) in &command_edits {
            bench.wrote(&command, names[*file], &edit(*line, "command"));
        }
        for (file, line) in &tool_edits {
            bench.hold(names[*file], &edit(*line, "tool"));
        }
        if landed && !tool_edits.is_empty() {
            bench.apply();
        }
        bench.end(command);
        let mut found: BTreeMap<&str, String> = BTreeMap::new();
        for name in names {
            let beside = bench.seen(&format!("{name}.job-1")).unwrap_or_default();
            found.insert(name, bench.seen(name).unwrap() + &beside);
        }
        for (edits, by) in [(&command_edits, "command"), (&tool_edits, "tool")] {
            for (file, line) in edits {
                prop_assert!(found[names[*file]].contains(&format!("{by}{line}\n")), "{found:?}");
            }
        }
        for (file, line) in &tool_edits {
            let at_its_place = bench.seen(names[*file]).unwrap().contains(&format!("tool{line}\n"));
            prop_assert!(at_its_place, "others' changes stay where they are");
        }
    }
}
