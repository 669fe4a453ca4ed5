//! What a check sees of a part of the changes is what an apply of this part leaves in the workspace.

use crate::support::is_full;
use crate::support::require::has_view;
use crate::support::special::whiteout;
use placet::audit::AuditKind;
use placet::repl::{ReviewApply, accepted_changes, apply_review, review_of};
use placet::ui::review::ReviewDecision;
use placet::workspace::{
    ChangeSelection, LayerKind, SelectedPart, TransactionLabel, View, ViewPaths, Workspace, hunks,
};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

#[test]
fn the_checked_tree_is_the_applied_tree_for_random_parts() {
    if !has_view() {
        return;
    }
    let mut random = Numbers(std::env::var("PLACET_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20));
    let rounds = if is_full() { 1000 } else { 30 };
    for round in 0..rounds {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let root = base.join("tree");
        std::fs::create_dir(&root).unwrap();
        for name in FILES {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            let end = ENDS[usize::try_from(random.below(2)).unwrap()];
            let mut text: String =
                (0..40).map(|line| format!("line {line} {}{end}", random.below(3))).collect();
            if random.below(3) == 0 {
                text.truncate(text.trim_end().len());
            }
            std::fs::write(root.join(name), text).unwrap();
        }
        for name in OTHERS {
            std::fs::write(root.join(name), bytes_of(name, 0)).unwrap();
        }
        std::fs::create_dir(root.join("gone")).unwrap();
        for name in ["gone/1.txt", "gone/2.txt", "empty.txt"] {
            std::fs::write(root.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("a.txt", root.join("link")).unwrap();
        let places = ViewPaths {
            view: base.join("views/v"),
            layers: vec![base.join("layers")],
            objects: base.join("objects"),
            journal: base.join("journal"),
            scratch: base.join("scratch"),
        };
        let view = View::at(places, std::slice::from_ref(&root));
        // Every second round the parts are what a person accepts in the review.
        let by_review = round % 2 == 1;
        change(&view, &root, &mut random, by_review);
        let set = view.changes(LayerKind::Pending).unwrap();
        let workspace = Workspace::new(root.clone(), Vec::new()).unwrap().with_view(view.clone());
        let (shown, mut review) = review_of(&workspace, &view, &[]).unwrap().unwrap();
        for stop in review.stops() {
            let marks = [ReviewDecision::Accepted, ReviewDecision::Rejected, ReviewDecision::Open];
            let mark = marks[usize::try_from(random.below(3)).unwrap()];
            if mark != ReviewDecision::Open {
                review.decide_stop(stop, mark);
            }
        }
        let mut choice = if by_review { accepted_changes(&review) } else { ChangeSelection::new() };
        for change in set.changes.iter().filter(|_| !by_review) {
            let parts = change.bytes(view.objects()).map_or(0, |(a, b)| hunks(&a, &b).len());
            match random.below(3) {
                0 => {}
                1 if parts > 1 && change.before.is_file() && change.after.is_file() => {
                    let some = (0..parts).filter(|_| random.below(2) == 0).collect();
                    choice.insert(change.path.clone(), SelectedPart::Hunks(some));
                }
                _ => drop(choice.insert(change.path.clone(), SelectedPart::Whole)),
            }
        }
        let checked = view.begin_check(("x", "y"), (&set, &choice), None).unwrap();
        let mut seen = BTreeMap::new();
        let mount = checked.mounts.first().unwrap();
        // The top layer is empty: the rest, lowest first, is what the check sees.
        for layer in mount.lowers.iter().rev() {
            overlay(layer, Path::new(""), &mut seen);
        }
        drop(checked);
        if by_review {
            let done = apply_review(
                &workspace,
                (shown, &review),
                (|_: &_| true, |apply: ReviewApply<'_>| apply()),
                TransactionLabel::default(),
                "/undo",
            );
            let failed =
                done.steps.iter().filter(|(kind, told)| *kind == AuditKind::Apply && !told.done).count();
            assert_eq!(failed, 0, "round {round}");
        } else {
            view.apply(&choice, TransactionLabel::default()).unwrap();
        }
        let mut applied = BTreeMap::new();
        overlay(&root, Path::new(""), &mut applied);
        assert_eq!(seen, applied, "round {round}");
    }
}

/// A binary file, a program whose mode changes, and a file that is renamed.
const OTHERS: [&str; 3] = ["b.bin", "d/run.sh", "old.txt"];

fn bytes_of(name: &str, version: u8) -> Vec<u8> {
    let text: String = (0..30).map(|line| format!("{name} {line}\n")).collect();
    match name {
        "b.bin" => (0..=255).chain([0, version]).collect(),
        _ => text.into_bytes(),
    }
}

/// Line ends of git and of Windows.
const ENDS: [&str; 2] = ["\n", "\r\n"];

const FILES: [&str; 4] = ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt"];

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Files made, changed and deleted, as a command leaves them in its layer.
fn change(view: &View, root: &Path, random: &mut Numbers, by_review: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let command = runtime.block_on(view.begin(LayerKind::Pending, None)).unwrap();
    let upper = command.mounts.first().unwrap().upper.clone();
    let put = |name: &str, text: String| {
        std::fs::create_dir_all(upper.join(name).parent().unwrap()).unwrap();
        std::fs::write(upper.join(name), text).unwrap();
    };
    for name in FILES {
        let old = std::fs::read_to_string(root.join(name)).unwrap();
        match random.below(4) {
            0 => {}
            1 => {
                std::fs::create_dir_all(upper.join(name).parent().unwrap()).unwrap();
                whiteout(&upper.join(name));
            }
            _ => {
                let edit = |(at, line): (usize, &str)| match at % 8 {
                    3 if random.below(2) == 0 => line.replacen("line", "changed", 1),
                    5 if random.below(3) == 0 => String::new(),
                    _ => line.to_string(),
                };
                let text = old.split_inclusive('\n').enumerate().map(edit).collect();
                put(name, text);
            }
        }
    }
    std::fs::create_dir_all(upper.join("d")).unwrap();
    if random.below(2) == 0 {
        std::fs::write(upper.join("b.bin"), bytes_of("b.bin", 1)).unwrap();
    }
    if random.below(2) == 0 {
        std::fs::write(upper.join("d/run.sh"), bytes_of("d/run.sh", 0)).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(upper.join("d/run.sh"), mode).unwrap();
    }
    if random.below(2) == 0 {
        whiteout(&upper.join("old.txt"));
        std::fs::write(upper.join("renamed.txt"), bytes_of("old.txt", 0)).unwrap();
    }
    match random.below(4) {
        0 => whiteout(&upper.join("link")),
        1 => std::os::unix::fs::symlink("b.txt", upper.join("link")).unwrap(),
        2 => std::fs::write(upper.join("link"), "a file now\n").unwrap(),
        _ => {}
    }
    match random.below(4) {
        // A directory with all that is in it.
        0 if !by_review => whiteout(&upper.join("gone")),
        // A file in its place. In a review each file is a decision of its own, and these need each other.
        1 if !by_review => std::fs::write(upper.join("gone"), "a file now\n").unwrap(),
        2 => {
            std::fs::create_dir(upper.join("gone")).unwrap();
            whiteout(&upper.join("gone/1.txt"));
        }
        _ => {}
    }
    match random.below(3) {
        0 => {
            whiteout(&upper.join("empty.txt"));
        }
        1 => {
            std::fs::write(upper.join("empty.txt"), "").unwrap();
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(upper.join("empty.txt"), mode).unwrap();
        }
        _ => {}
    }
    put("new/x.txt", "new\n".into());
    put("new/deep/y.txt", "also new\n".into());
    view.finish(command, &|_| false).unwrap();
}

/// Adds the files of a layer to what is seen: whiteouts take away. No layer of this test is opaque.
fn overlay(layer: &Path, rel: &Path, seen: &mut BTreeMap<String, Vec<u8>>) {
    use std::os::unix::fs::FileTypeExt;
    for entry in std::fs::read_dir(layer.join(rel)).unwrap() {
        let entry = entry.unwrap();
        let rel = rel.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        let key = rel.to_string_lossy().into_owned();
        if kind.is_dir() {
            seen.insert(key, b"<directory>".to_vec());
            overlay(layer, &rel, seen);
            continue;
        }
        let below = format!("{key}/");
        seen.retain(|path, _| *path != key && !path.starts_with(&below));
        if kind.is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            seen.insert(key, format!("<link> {}", target.display()).into_bytes());
        } else if !kind.is_char_device() {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let content = std::fs::read(entry.path()).unwrap();
            seen.insert(key, [format!("{mode:o} ").as_bytes(), &content].concat());
        }
    }
}
