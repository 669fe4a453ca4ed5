//! Checks of pending changes on the command line.

use crate::support::binary::{Out, Place};
use crate::support::den::sandbox_or_skip;
use crate::support::require::require;
use placet::audit::AuditKind;
use placet::repl::{apply_review, review_of, taken_by};
use placet::sandbox::SandboxBackend;
use placet::ui::review::ReviewDecision;
use placet::workspace::{
    ChangeSelection, LayerKind, SelectedPart, TransactionLabel, View, ViewPaths, Workspace, hunks,
};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

fn ready() -> bool {
    sandbox_or_skip(SandboxBackend::Overlay)
}

fn printed(out: &Out) -> String {
    out.stdout.clone()
}

#[test]
fn a_check_sees_the_pending_changes_and_leaves_nothing_behind() {
    if !ready() {
        return;
    }
    let settings = "[checks.words]\ncommand = \"cat a.txt && echo x > made.txt && echo y >> notes.txt && ! grep -q bad a.txt\"\n";
    let place = Place::with_notes().config(settings);
    place.run(["-p", "create a.txt with \"good\"", "--mode", "ask"]).code(3);
    let out = place.run(["checks", "run"]).code(0);
    assert!(printed(&out).starts_with("words: passed in "), "{}", printed(&out));
    out.says("it changed 2 files, which was thrown away: made.txt, notes.txt");
    assert!(!place.tree.join("a.txt").exists() && !place.tree.join("made.txt").exists());
    assert_eq!(place.read("notes.txt"), "one\ntwo\n");
    place.run(["changes"]).code(0).says("A a.txt");
    place.run(["checks", "list"]).code(0).says("(this state)");
    // Another state: the result is not one of it.
    place.write("notes.txt", "three\n");
    place.run(["checks", "list"]).code(0).says("(before files of the workspace changed)");
    place.run(["discard"]).code(0);
    place.run(["checks", "list"]).code(0).says("(before the last changes to 1 file)");
    place.run(["checks", "output", "words"]).code(0).says("good");
}

#[test]
fn only_a_state_whose_required_checks_passed_is_applied() {
    if !ready() {
        return;
    }
    let settings =
        "[checks.words]\ncommand = \"! grep -n bad *.txt\"\npaths = [\"*.txt\"]\nrequired = true\n";
    let place = Place::with_notes().config(settings);
    place.run(["-p", "create a.txt with \"bad\"", "--mode", "ask"]).code(3);
    let refused = place.run(["apply", "--checked"]).code(3);
    refused.warns("not applied: the required check words did not pass");
    assert!(!place.tree.join("a.txt").exists());
    place.run(["discard"]).code(0);
    place.run(["-p", "create a.txt with \"good\"", "--mode", "ask"]).code(3);
    let applied = place.run(["apply", "--checked"]).code(0);
    applied.says("words: passed in ").says("checked: words passed in state ");
    assert_eq!(place.read("a.txt"), "good");
    let log = std::fs::read_to_string(place.state_dir().join("audit/log.jsonl")).unwrap();
    assert!(log.contains("\"reach\":[\"check words passed in state "), "{log}");
    // A change on which no required check depends.
    place.run(["-p", "create b.md with \"bad\"", "--mode", "ask"]).code(3);
    place.run(["apply", "--checked"]).code(0).says("no required check depends on these changes");
}

#[test]
fn a_check_that_does_not_end_is_stopped_and_floods_are_bounded() {
    if !ready() {
        return;
    }
    let settings = "[checks.endless]\ncommand = \"sleep 1000 & sleep 1000\"\ntimeout = 1\n\
                    [checks.flood]\ncommand = \"yes 'a.c:1:1: warning: w' | head -c 100000000; exit 3\"\n\
                    [checks.gone]\ncommand = \"no-such-program\"\n";
    let place = Place::with_notes().config(settings);
    let out = place.run(["checks", "run"]).code(1);
    let out = out.says("endless: stopped at its deadline of 1 second");
    let out = out.says("flood: failed with exit code 3: 500 warnings").says(" more\n");
    out.says("gone: failed with exit code 127");
    let stored = std::fs::read_dir(place.state_dir().join("checks")).unwrap().next().unwrap().unwrap().path();
    assert!(std::fs::metadata(stored.join("flood/output")).unwrap().len() < 40_000_000);
}

#[test]
fn a_check_of_a_project_needs_trust() {
    let text = "[checks.mine]\ncommand = \"touch /tmp/placet-was-here\"\n";
    let place = Place::with_notes().file(".placet/config.toml", text);
    place.run(["checks", "list"]).code(0).warns("no checks");
    place.run(["config", "trust"]).code(0);
    place.run(["checks", "list"]).code(0).says("mine: touch /tmp/placet-was-here");
}

#[test]
fn a_wrong_setting_of_a_check_is_an_error_and_not_a_missing_check() {
    let place = Place::with_notes().config("[checks.x]\noutput = \"regex\"\ncommand = \"true\"\n");
    let told = "the check `x` has the output `regex`, which needs a `pattern`";
    place.run(["checks", "run"]).code(1).warns(told);
    place.run(["apply", "--checked"]).code(1).warns(told);
}

#[test]
fn proposals_become_settings_only_when_they_are_asked_for() {
    let ours = "# ours\nmode = \"ask\"\n";
    let place = Place::new().file("go.mod", "module x\n").file(".placet/config.toml", ours);
    let proposed = place.run(["checks", "detect"]).code(0);
    assert_eq!(
        printed(&proposed).split_once('\n').unwrap().1.trim_end(),
        "# from go.mod\n[checks.vet]\ncommand = \"go vet ./...\"\npaths = [\"*.go\", \"go.mod\", \"go.sum\"]\noutput = \"go\"\n\n\
         # from go.mod\n[checks.test]\ncommand = \"go test ./...\"\noutput = \"go\""
    );
    assert_eq!(place.read(".placet/config.toml"), ours);
    place.run(["checks", "detect", "--write"]).code(0).warns("placet config trust");
    assert!(place.read(".placet/config.toml").starts_with(&format!("{ours}\n# from go.mod\n[checks.vet]\n")));
    place.run(["checks", "detect"]).code(0).warns("nothing to propose");
}

/// A rejected change gives a file its old content and its old time: make would take its old output for new.
#[test]
fn build_output_stays_and_is_never_taken_for_that_of_another_state() {
    if !(ready() && require("make")) {
        return;
    }
    let makefile = "out/copy: word\n\tmkdir -p out; echo made; cp word out/copy\n";
    let settings = "[checks.make]\ncommand = \"make -s && ! grep bad out/copy\"\n";
    let place = Place::new()
        .config(settings)
        .file("Makefile", makefile)
        .file(".gitignore", "out/\n")
        .file("word", "good\n");
    let made = |place: &Place| place.run(["checks", "output", "make"]).code(0).stdout.contains("made");
    place.run(["checks", "run"]).code(0);
    assert!(made(&place));
    place.run(["checks", "run"]).code(0);
    assert!(!made(&place), "the second run built again");
    let edit = ["-p", "run echo bad > word", "--mode", "ask"];
    place.run(edit).code(3);
    place.run(["checks", "run"]).code(1);
    place.run(["discard"]).code(0);
    place.run(["checks", "run"]).code(0);
    assert!(made(&place) && !place.tree.join("out").exists());
    place.run(["checks", "run", "--fresh"]).code(0);
    assert!(made(&place));
}

/// What a check sees of a part of the changes is what an apply of this part leaves in the workspace.
#[test]
fn the_checked_tree_is_the_applied_tree_for_random_parts() {
    if !ready() {
        return;
    }
    let mut random = Numbers(std::env::var("PLACET_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(20));
    let rounds = if std::env::var("PLACET_FULL").is_ok() { 200 } else { 20 };
    for round in 0..rounds {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let root = base.join("tree");
        std::fs::create_dir(&root).unwrap();
        for name in FILES {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            let text: String = (0..40).map(|line| format!("line {line} {}\n", random.below(3))).collect();
            std::fs::write(root.join(name), text).unwrap();
        }
        for name in OTHERS {
            std::fs::write(root.join(name), bytes_of(name, 0)).unwrap();
        }
        let places = ViewPaths {
            view: base.join("views/v"),
            layers: vec![base.join("layers")],
            objects: base.join("objects"),
            journal: base.join("journal"),
            scratch: base.join("scratch"),
        };
        let view = View::at(places, std::slice::from_ref(&root));
        change(&view, &root, &mut random);
        let set = view.changes(LayerKind::Pending).unwrap();
        // Every second round the parts are what a person accepts in the review.
        let workspace = Workspace::new(root.clone(), Vec::new()).unwrap().with_view(view.clone());
        let mut review = review_of(&workspace, &view, &[]).unwrap().unwrap();
        for stop in review.stops() {
            let marks = [ReviewDecision::Accepted, ReviewDecision::Rejected, ReviewDecision::Open];
            let mark = marks[usize::try_from(random.below(3)).unwrap()];
            if mark != ReviewDecision::Open {
                review.decide_stop(stop, mark);
            }
        }
        let by_review = round % 2 == 1;
        let mut choice = if by_review { taken_by(&review) } else { ChangeSelection::new() };
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
            let done =
                apply_review(&workspace, &view, &review, |_| true, TransactionLabel::default(), "/undo")
                    .unwrap();
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

const FILES: [&str; 4] = ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt"];

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Files made, changed and deleted, as a command leaves them in its layer.
fn change(view: &View, root: &Path, random: &mut Numbers) {
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
                let device = rustix::fs::makedev(0, 0);
                let (kind, mode) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::empty());
                rustix::fs::mknodat(rustix::fs::CWD, upper.join(name), kind, mode, device).unwrap();
            }
            _ => {
                let edit = |(at, line): (usize, &str)| match at % 8 {
                    3 if random.below(2) == 0 => format!("{line} changed\n"),
                    5 if random.below(3) == 0 => String::new(),
                    _ => format!("{line}\n"),
                };
                let text = old.lines().enumerate().map(edit).collect();
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
        let device = rustix::fs::makedev(0, 0);
        let (kind, mode) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::empty());
        rustix::fs::mknodat(rustix::fs::CWD, upper.join("old.txt"), kind, mode, device).unwrap();
        std::fs::write(upper.join("renamed.txt"), bytes_of("old.txt", 0)).unwrap();
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
        } else if kind.is_char_device() {
            seen.remove(&key);
        } else {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let content = std::fs::read(entry.path()).unwrap();
            seen.insert(key, [format!("{mode:o} ").as_bytes(), &content].concat());
        }
    }
}
