//! Random trees and random commands: apply makes what was folded, undo takes exactly that back, and any part can be
//! chosen or thrown away.

use super::txn_races::{Bench, label};
use crate::support::is_full;
use crate::support::txn::{differences, snap};
use placet::workspace::{ApplyOutcome, ChangeSelection, LayerKind, SelectedPart, View, hunks, with_hunks};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % end
    }

    fn path(&mut self) -> PathBuf {
        (0..=self.below(3)).map(|_| ["a", "b", "c", "ä\n"][self.below(4)]).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Thing {
    File(String, u32),
    Link(String),
    Dir(u32),
}

type Model = BTreeMap<PathBuf, Thing>;

fn remove(model: &mut Model, path: &Path) {
    model.retain(|p, _| !p.starts_with(path));
}

fn put(model: &mut Model, path: &Path, thing: Thing) {
    let parents: Vec<PathBuf> = path.ancestors().skip(1).map(Path::to_path_buf).collect();
    for dir in parents.into_iter().rev().filter(|d| !d.as_os_str().is_empty()) {
        if !matches!(model.get(&dir), Some(Thing::Dir(_))) {
            model.insert(dir, Thing::Dir(0o755));
        }
    }
    remove(model, path);
    model.insert(path.to_path_buf(), thing);
}

/// One step of what a command may do.
fn step(model: &mut Model, recreated: &mut BTreeSet<PathBuf>, random: &mut Random) {
    let path = random.path();
    match random.below(9) {
        0..=2 => {
            let content = ["", "x\n", "y\n", "same\n", "long\nlong\n"][random.below(5)].to_string();
            put(model, &path, Thing::File(content, [0o644, 0o755, 0o600][random.below(3)]));
        }
        3 | 4 => remove(model, &path),
        5 => put(model, &path, Thing::Link(["a", "b/c", "nowhere"][random.below(3)].into())),
        6 => match model.get_mut(&path) {
            Some(Thing::Dir(mode)) => *mode = [0o755, 0o700, 0o2750][random.below(3)],
            // A set-user-id bit that an executable file gets is applied only with an approval: not here.
            Some(Thing::File(_, mode)) => *mode = [0o644, 0o755, 0o4600][random.below(3)],
            _ => {}
        },
        7 => {
            // rm -rf and mkdir of the same name.
            put(model, &path, Thing::Dir(0o755));
            recreated.insert(path);
        }
        _ => {
            let to = random.path();
            if !to.starts_with(&path) && !path.starts_with(&to) {
                let moved: Vec<(PathBuf, Thing)> = model
                    .iter()
                    .filter(|(p, _)| p.starts_with(&path))
                    .map(|(p, t)| (p.strip_prefix(&path).unwrap().to_path_buf(), t.clone()))
                    .collect();
                remove(model, &path);
                for (rel, thing) in moved {
                    let to = if rel.as_os_str().is_empty() { to.clone() } else { to.join(rel) };
                    if matches!(thing, Thing::Dir(_)) {
                        recreated.insert(to.clone());
                    }
                    put(model, &to, thing);
                }
            }
        }
    }
    recreated.retain(|dir| matches!(model.get(dir), Some(Thing::Dir(_))));
}

fn chmod(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn make(root: &Path, rel: &Path, thing: &Thing) {
    let path = root.join(rel);
    match thing {
        Thing::File(content, mode) => {
            std::fs::write(&path, content).unwrap();
            chmod(&path, *mode);
        }
        Thing::Link(target) => symlink(target, &path).unwrap(),
        Thing::Dir(mode) => {
            if !path.exists() {
                std::fs::create_dir(&path).unwrap();
            }
            chmod(&path, *mode);
        }
    }
}

/// What the kernel's overlay leaves in the upper directory when a command turns `old` into `new`.
fn lay(upper: &Path, old: &Model, new: &Model, recreated: &BTreeSet<PathBuf>, random: &mut Random) {
    let above = |path: &Path, what: &BTreeSet<PathBuf>| path.ancestors().skip(1).any(|d| what.contains(d));
    let parents = |path: &Path| {
        let dirs: Vec<PathBuf> = path.ancestors().skip(1).map(Path::to_path_buf).collect();
        for dir in dirs.into_iter().rev().filter(|d| !d.as_os_str().is_empty()) {
            make(upper, &dir, &new[&dir]);
        }
    };
    let mut opaque: BTreeSet<PathBuf> = BTreeSet::new();
    for (path, thing) in new {
        let was = old.get(path);
        let hidden = above(path, &opaque);
        let afresh = matches!(thing, Thing::Dir(_))
            && (recreated.contains(path) || was.is_some_and(|w| !matches!(w, Thing::Dir(_))));
        // Sometimes a file is copied up though nothing in it changes.
        let idle = was == Some(thing) && !hidden && !afresh;
        if idle && random.below(6) > 0 {
            continue;
        }
        parents(path);
        make(upper, path, thing);
        if afresh && !hidden {
            let path = upper.join(path);
            rustix::fs::setxattr(&path, "user.overlay.opaque", b"y", rustix::fs::XattrFlags::empty())
                .unwrap();
        }
        if afresh {
            opaque.insert(path.clone());
        }
    }
    for path in old.keys().filter(|p| !new.contains_key(*p)) {
        let parent = path.parent().unwrap();
        let there = parent.as_os_str().is_empty() || matches!(new.get(parent), Some(Thing::Dir(_)));
        let held = parent.as_os_str().is_empty() || matches!(old.get(parent), Some(Thing::Dir(_)));
        if there && held && !above(path, &opaque) {
            parents(path);
            crate::support::special::whiteout(&upper.join(path));
        }
    }
}

fn changed(model: &Model, random: &mut Random) -> (Model, BTreeSet<PathBuf>) {
    let (mut new, mut recreated) = (model.clone(), BTreeSet::new());
    for _ in 0..=random.below(6) {
        step(&mut new, &mut recreated, random);
    }
    (new, recreated)
}

fn all(b: &Bench) -> ChangeSelection {
    View::everything(&b.view.changes(LayerKind::Pending).unwrap())
}

fn case(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let b = Bench::new();
    let (mut model, wanted) = (Model::new(), b.base.join("wanted"));
    for _ in 0..12 {
        step(&mut model, &mut BTreeSet::new(), &mut random);
    }
    model.iter().for_each(|(path, thing)| make(&b.root, path, thing));
    let original = snap(&b.root);
    for _ in 0..=random.below(3) {
        let (new, recreated) = changed(&model, &mut random);
        b.fold(|upper| lay(upper, &model, &new, &recreated, &mut random)).unwrap();
        model = new;
    }
    assert_eq!(differences(&original, &snap(&b.root)), [], "folding changed the workspace");
    std::fs::create_dir(&wanted).unwrap();
    model.iter().for_each(|(path, thing)| make(&wanted, path, thing));
    let wanted = snap(&wanted);
    if random.below(2) == 0 {
        // Some of it goes, or lands before the rest: what stays must still be possible.
        let set = b.view.changes(LayerKind::Pending).unwrap();
        let part: ChangeSelection = set
            .changes
            .iter()
            .filter(|_| random.below(3) == 0)
            .map(|c| (c.path.clone(), SelectedPart::Whole))
            .collect();
        let gone = random.below(2) == 0;
        if gone {
            b.view.discard(&part).unwrap();
        } else if !part.is_empty() {
            assert!(matches!(b.view.apply(&part, label()).unwrap(), ApplyOutcome::Landed(_)));
        }
        let rest = all(&b);
        if !gone {
            assert!(rest.keys().all(|path| !part.contains_key(path)), "it landed and is pending still");
        }
        let applied = b.view.apply(&rest, label()).unwrap();
        assert_eq!(rest.is_empty(), matches!(applied, ApplyOutcome::Nothing), "{applied:?}");
        let now = snap(&b.root);
        for (path, words) in &now {
            let known = [original.get(path), wanted.get(path)].contains(&Some(words));
            assert!(known, "{path:?} is neither old nor new: {words}");
        }
        if !gone {
            assert_eq!(differences(&wanted, &now), [], "part and the rest are not the whole");
        }
        for path in part.keys().filter(|_| gone) {
            let rel = path.strip_prefix(&b.root).unwrap();
            assert_eq!(now.get(rel), original.get(rel), "{rel:?} was thrown away");
        }
    } else {
        let everything = all(&b);
        let applied = b.view.apply(&everything, label()).unwrap();
        assert_eq!(everything.is_empty(), matches!(applied, ApplyOutcome::Nothing));
        assert_eq!(differences(&wanted, &snap(&b.root)), [], "applied");
    }
    assert!(all(&b).is_empty());
    let landed = snap(&b.root);
    let mut undone = 0;
    while b.undo() {
        undone += 1;
    }
    assert_eq!(differences(&original, &snap(&b.root)), [], "undone");
    if undone == 1 {
        let redo = b.view.journal().to_redo().unwrap();
        b.view.execute_plan(b.view.plan_redo(&redo, label()).unwrap()).unwrap();
        assert_eq!(differences(&landed, &snap(&b.root)), [], "redone");
    }
}

#[test]
fn random_commands_land_and_come_back_exactly() {
    let only: Option<u64> = std::env::var("PLACET_SEED").ok().and_then(|s| s.parse().ok());
    let seeds = only.map_or(1..if is_full() { 5_000 } else { 200 }, |seed| seed..seed + 1);
    let mut failed = Vec::new();
    for seed in seeds {
        if let Err(why) = std::panic::catch_unwind(|| case(seed)) {
            let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
            failed.push(format!("PLACET_SEED={seed}: {why}"));
        }
    }
    assert!(failed.is_empty(), "{} seeds:\n{}", failed.len(), failed[..failed.len().min(8)].join("\n"));
}

#[test]
fn any_subset_of_hunks_lands_as_exactly_those() {
    let mut random = Random(0x5eed);
    for _ in 0..if is_full() { 1_000 } else { 60 } {
        let b = Bench::new();
        let line = |random: &mut Random| {
            ["a\n", "b\n", "c\r\n", "\n", "é\n", "\u{0}\n"][random.below(6)].as_bytes().to_vec()
        };
        let before: Vec<u8> = (0..random.below(30)).flat_map(|_| line(&mut random)).collect();
        let mut after = Vec::new();
        for old in before.split_inclusive(|b| *b == b'\n') {
            match random.below(5) {
                0 => after.extend(line(&mut random)),
                1 => {}
                2 => after.extend([old, &line(&mut random)].concat()),
                _ => after.extend(old),
            }
        }
        after.extend_from_slice([&b"end"[..], b""][random.below(2)]);
        if before == after {
            continue;
        }
        let path = b.root.join("f");
        std::fs::write(&path, &before).unwrap();
        b.fold(|upper| std::fs::write(upper.join("f"), &after).unwrap()).unwrap();
        let all = hunks(&before, &after);
        let chosen: BTreeSet<usize> = (0..all.len()).filter(|_| random.below(2) == 0).collect();
        let expected = with_hunks(&before, &after, &all, |n| chosen.contains(&n));
        let part = ChangeSelection::from([(path.as_path().into(), SelectedPart::Hunks(chosen.clone()))]);
        if random.below(2) == 0 {
            b.view.apply(&part, label()).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), expected);
            b.apply().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), after);
            b.undo();
            b.undo();
        } else {
            // Thrown away instead: the others land.
            b.view.discard(&part).unwrap();
            b.apply().unwrap();
            let others = with_hunks(&before, &after, &all, |n| !chosen.contains(&n));
            assert_eq!(std::fs::read(&path).unwrap(), others);
            b.undo();
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
