//! Change sets, made by hand over a directory of the test's own, and what each of their changes means.

use super::*;
use crate::changes::change_set::FileChange;
use crate::files::metadata::path_state::FileAttrs;
use crate::files::metadata::path_state::PathState;
use crate::view::{ChangeSelection, LossLimit, SelectedPart};
use placet_permission::{PathClass, ProtectedPaths};
use std::path::{Path, PathBuf};

struct ClassifyFixture {
    dir: tempfile::TempDir,
    protected: ProtectedPaths,
}

impl ClassifyFixture {
    fn new() -> ClassifyFixture {
        ClassifyFixture { dir: tempfile::tempdir().unwrap(), protected: ProtectedPaths::default() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn change(&self, path: &str, before: PathState, after: PathState) -> FileChange {
        FileChange {
            path: self.root().join(path).into(),
            before: before.into(),
            after: after.into(),
            content: None,
            moved_from: None,
            twin: None,
            raced: false,
            by_tool: false,
            steps: std::sync::Arc::default(),
        }
    }

    fn new_file(&self, path: &str) -> FileChange {
        self.change(path, PathState::Absent, file(0o644))
    }

    fn gone_file(&self, path: &str) -> FileChange {
        self.change(path, file(0o644), PathState::Absent)
    }

    fn classes(&self, changes: Vec<FileChange>) -> (ChangeSet, ChangeClasses) {
        let set = ChangeSet::new(changes);
        let roots = [self.root()];
        let classifier = ChangeClassifier::new(&set, &roots, &self.protected);
        let by_path = set.changes.iter().map(|c| (c.path.to_path_buf(), classifier.classify(c))).collect();
        let limit = LossLimit::default();
        let losses = loss::losses(&set, &roots, limit, &|_| true);
        let roots = roots.to_vec();
        (set.clone(), ChangeClasses { by_path, losses, roots, limit, ..ChangeClasses::default() })
    }

    /// Who runs the only change later.
    fn by(&self, change: FileChange) -> Option<String> {
        let path = change.path.clone();
        self.classes(vec![change]).1.runner(&path).map(|r| r.by.clone())
    }
}

fn file(mode: u32) -> PathState {
    let hash = blake3::hash(format!("{mode}").as_bytes());
    PathState::File { hash, size: 4, attrs: FileAttrs { mode, ..FileAttrs::default() } }
}

fn dir() -> PathState {
    PathState::Directory { attrs: FileAttrs { mode: 0o755, ..FileAttrs::default() } }
}

fn link(target: &str) -> PathState {
    PathState::Link { target: target.into() }
}

fn everything(set: &ChangeSet) -> ChangeSelection {
    set.changes.iter().map(|c| (c.path.clone(), SelectedPart::Whole)).collect()
}

#[test]
fn a_file_a_link_and_a_mode_count_and_a_directory_alone_does_not() {
    let b = ClassifyFixture::new();
    assert_eq!(b.by(b.new_file("a/.envrc")).as_deref(), Some("direnv"));
    assert_eq!(b.by(b.change(".envrc", PathState::Absent, link("x"))).as_deref(), Some("direnv"));
    assert_eq!(b.by(b.change(".git/hooks/post-merge", file(0o644), file(0o755))).as_deref(), Some("git"));
    assert_eq!(b.by(b.change(".husky", PathState::Absent, link("scripts"))).as_deref(), Some("husky"));
    assert_eq!(b.by(b.change(".husky", dir(), link("scripts"))).as_deref(), Some("husky"));
    assert_eq!(b.by(b.change(".husky", PathState::Absent, dir())), None);
    assert_eq!(b.by(b.new_file("src/main.rs")), None);
    let (set, classes) = b.classes(vec![b.new_file("build.rs")]);
    assert!(matches!(classes.of(&set.changes[0].path), ChangeClass::RunsWithBuild(_)));
}

#[test]
fn a_file_that_a_protected_link_leads_to_is_protected() {
    let b = ClassifyFixture::new();
    let root = b.root();
    for dir in [".git/hooks", "scripts", "shared"] {
        std::fs::create_dir_all(root.join(dir)).unwrap();
    }
    std::fs::write(root.join("scripts/check.sh"), "x").unwrap();
    std::os::unix::fs::symlink("../../scripts/check.sh", root.join(".git/hooks/pre-commit")).unwrap();
    std::os::unix::fs::symlink("shared", root.join(".husky")).unwrap();
    assert_eq!(b.by(b.change("scripts/check.sh", file(0o644), file(0o755))).as_deref(), Some("git"));
    assert_eq!(b.by(b.new_file("scripts/other.sh")), None);
    assert_eq!(b.by(b.new_file("shared/pre-push")).as_deref(), Some("husky"));
    // Both at once: the link is new as well.
    let (set, classes) = b.classes(vec![
        b.change(".claude", PathState::Absent, link("./conf/../conf")),
        b.new_file("conf/settings.json"),
    ]);
    assert_eq!(classes.to_approve(&set).len(), 2);
}

/// Story: a thousand links came before `.envrc` in the order of names, and its target was applied unasked.
#[test]
fn a_file_with_too_many_links_waits() {
    let b = ClassifyFixture::new();
    let root = b.root();
    std::fs::create_dir(root.join("few")).unwrap();
    for (target, count) in [("env", 1006), ("few/x", 900)] {
        std::fs::write(root.join(target), "x").unwrap();
        let links = (0..count).map(|n| {
            let name = format!("-{}-{n}", target.replace('/', "-"));
            b.change(&name, PathState::Absent, link(target))
        });
        let mut changes: Vec<FileChange> = links.collect();
        changes.push(b.change(target, file(0o644), file(0o600)));
        let (_, classes) = b.classes(changes);
        let found = classes.runner(&root.join(target));
        assert_eq!(
            found.map(|r| r.why.contains("1000 links or more lead to it")),
            (count > 1000).then_some(true)
        );
    }
    // With the link that counts among them, the reason is that of the program.
    std::os::unix::fs::symlink("few/x", root.join(".envrc")).unwrap();
    assert_eq!(b.by(b.change("few/x", file(0o644), file(0o600))).as_deref(), Some("direnv"));
}

/// Story: the target of a move waited, its source was removed with its directory, and the file was nowhere.
#[test]
fn a_move_whose_target_waits_waits_whole() {
    let b = ClassifyFixture::new();
    let empty = PathState::File {
        hash: blake3::hash(b""),
        size: 0,
        attrs: FileAttrs { mode: 0o644, ..FileAttrs::default() },
    };
    let (set, classes) = b.classes(vec![
        b.change("gh", dir(), PathState::Absent),
        b.change("gh/workflows", dir(), PathState::Absent),
        b.gone_file("gh/workflows/x.yml"),
        b.change("gh/workflows/empty.yml", empty.clone(), PathState::Absent),
        b.change("gh/workflows/link.yml", link("x.yml"), PathState::Absent),
        b.change("gh/plain", file(0o600), PathState::Absent),
        b.change(".github", PathState::Absent, dir()),
        b.change(".github/workflows", PathState::Absent, dir()),
        b.new_file(".github/workflows/x.yml"),
        b.change(".github/workflows/empty.yml", PathState::Absent, empty),
        b.change(".github/workflows/link.yml", PathState::Absent, link("x.yml")),
        b.change("plain", PathState::Absent, file(0o600)),
        b.change("other", dir(), PathState::Absent),
    ]);
    let permitted = classes.permitted(&set, everything(&set), &ChangeApproval::none());
    let root = b.root();
    let applied: Vec<&Path> = permitted.choice.keys().map(|path| path.strip_prefix(&root).unwrap()).collect();
    assert_eq!(applied, ["gh/plain", "other", "plain"].map(Path::new));
}

/// Story: `mv x .envrc; mv y x` was applied but for `.envrc`, and after a discard the text of `x` was nowhere.
#[test]
fn a_move_waits_whole_also_where_its_old_place_is_not_empty_afterwards() {
    let b = ClassifyFixture::new();
    let none = || PathState::Absent;
    let (one, two, three) = (|| file(0o600), || file(0o640), || file(0o644));
    let move_and = |rest: Vec<FileChange>| -> Vec<FileChange> {
        [vec![b.change(".envrc", none(), one())], rest].concat()
    };
    let cases: [(&str, Vec<FileChange>, &[&str]); 12] = [
        ("a second move", move_and(vec![b.change("x", one(), two()), b.change("y", two(), none())]), &[]),
        (
            "a longer chain",
            move_and(vec![
                b.change("x", one(), two()),
                b.change("y", two(), three()),
                b.change("z", three(), none()),
            ]),
            &[],
        ),
        ("a swap", vec![b.change(".envrc", two(), one()), b.change("x", one(), two())], &[]),
        ("over the target", vec![b.change(".envrc", two(), one()), b.change("x", one(), none())], &[]),
        ("a new file", move_and(vec![b.change("x", one(), three())]), &[]),
        (
            "a directory that was moved",
            move_and(vec![
                b.change("x", one(), dir()),
                b.change("x/in", none(), two()),
                b.change("d", dir(), none()),
                b.change("d/in", two(), none()),
            ]),
            &[],
        ),
        (
            "a file for the directory",
            move_and(vec![
                b.change("d", dir(), two()),
                b.change("d/x", one(), none()),
                b.change("d/z", file(0o400), none()),
                b.change("y", two(), none()),
            ]),
            &[],
        ),
        ("a link", vec![b.change(".envrc", none(), link("a")), b.change("l", link("a"), link("b"))], &[]),
        (
            "a renamed file with the same content is a copy",
            move_and(vec![
                FileChange { moved_from: Some(b.root().join("x").into()), ..b.change("y", none(), one()) },
                b.change("x", one(), none()),
            ]),
            &["x", "y"],
        ),
        (
            "something else",
            move_and(vec![b.change("x", two(), three()), b.change("z", three(), two())]),
            &["x", "z"],
        ),
        (
            "a repository",
            move_and(vec![
                b.change(".git/description", one(), none()),
                b.change(".git/refs/heads/main", two(), three()),
                b.change("z", none(), dir()),
            ]),
            &["z"],
        ),
        ("only the mode", move_and(vec![b.change("x", one(), one())]), &["x"]),
    ];
    for (name, changes, expected) in cases {
        let set = ChangeSet::new(Vec::new());
        let mut changes = changes;
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let made = ChangeSet::new(changes.clone());
        let set = ChangeSet { changes, repositories: made.repositories, ..set };
        let root = b.root();
        let protected = ProtectedPaths::default();
        let classifier = ChangeClassifier::new(&set, std::slice::from_ref(&root), &protected);
        let by_path = set.changes.iter().map(|c| (c.path.to_path_buf(), classifier.classify(c))).collect();
        let limit = LossLimit::default();
        let classes = ChangeClasses { by_path, roots: vec![root.clone()], limit, ..ChangeClasses::default() };
        let permitted = classes.permitted(&set, everything(&set), &ChangeApproval::none());
        let applied: Vec<&Path> =
            permitted.choice.keys().map(|path| path.strip_prefix(&root).unwrap()).collect();
        assert_eq!(applied, expected.iter().map(Path::new).collect::<Vec<_>>(), "{name}");
        let envrc = set.get(&root.join(".envrc")).unwrap();
        let all = classes.permitted(&set, everything(&set), &ChangeApproval::none().shown(envrc));
        assert_eq!(all.choice, everything(&set), "{name}: with the approval");
    }
}

/// Story: `real/config.toml` was applied in one turn and `.cargo -> real` in the next, and Cargo obeyed the file.
#[test]
fn a_link_that_gives_other_files_protected_names_waits() {
    let b = ClassifyFixture::new();
    let root = b.root();
    for file in [
        "real/config.toml",
        "units/systemd/system/x.service",
        "plain/a.txt",
        "plain/systemd/notes.txt",
        "plain/AGENTS.md",
        "wrapped/wrapper/gradle-wrapper.properties",
        "shared/etc/profile",
    ] {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "x").unwrap();
    }
    std::fs::create_dir_all(root.join("empty/systemd/system")).unwrap();
    std::fs::create_dir(root.join("via")).unwrap();
    std::os::unix::fs::symlink("../units/systemd", root.join("via/systemd")).unwrap();
    std::os::unix::fs::symlink("self", root.join("self")).unwrap();
    let by = |path: &str, target: &str| b.by(b.change(path, PathState::Absent, link(target)));
    for (path, target, program) in [
        (".cargo", "real", "Cargo"),
        (".CARGO", "./plain/../real", "Cargo"),
        (".cargo", "not/there/yet", "Cargo"),
        (".cargo", "plain", "Cargo"),
        (".cargo", "self", "Cargo"),
        (".github", "plain", "programs"),
        (".opam", "plain", "the package manager"),
        (".local/share", "../plain", "programs"),
        ("sub/.config", "../plain", "programs"),
        ("lib", "units", "systemd"),
        ("usr/lib", "../units", "systemd"),
        ("lib", "via", "systemd"),
        ("lib/systemd", "../units/systemd", "systemd"),
        ("gradle", "wrapped", "the Java build"),
        ("etc", "/etc", "the shell"),
    ] {
        let found = by(path, target);
        assert!(
            found.as_deref() == Some(program) || target == "/etc" && found.is_some(),
            "{path} -> {target}: {found:?}"
        );
    }
    for (path, target) in [
        (".config", "plain/a.txt"),
        ("lib", "plain"),
        ("lib", "empty"),
        ("lib", "lib64"),
        ("lib64", "lib"),
        ("lib", "."),
        ("lib", "self"),
        ("etc", "wrapped"),
        ("var", "units"),
        ("gradle", "../shared/gradle"),
        ("latest", "units"),
        ("share", "shared"),
        ("node_modules/.bin/tsc", "../typescript/bin/tsc"),
        ("node_modules/mine", "../packages/mine"),
        ("current", "releases/1"),
    ] {
        assert_eq!(by(path, target), None, "{path} -> {target}");
    }
}

/// The same file and the same link, in every order in which turns can make them, with the first turn applied.
#[test]
fn a_link_that_leads_through_others_waits_with_the_last_of_them() {
    let b = ClassifyFixture::new();
    let root = b.root();
    for file in ["units/systemd/system/x.service", "envs/x"] {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "x").unwrap();
    }
    for (target, name) in [("l", "lib"), ("d/deep", "etc"), ("m/x", ".envrc"), ("c", "var")] {
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    }
    let by = |path: &str, target: &str| b.by(b.change(path, PathState::Absent, link(target)));
    assert_eq!(by("l", "units").as_deref(), Some("systemd"));
    assert_eq!(by("l", "envs"), None);
    assert_eq!(by("m", "envs").as_deref(), Some("direnv"), "what is below the link has another name");
    assert_eq!(by("n", "envs"), None);
    std::fs::create_dir_all(root.join("other/deep/profile.d")).unwrap();
    assert_eq!(by("d", "other"), None);
    std::fs::write(root.join("other/deep/profile.d/x.sh"), "x").unwrap();
    assert_eq!(by("d", "other").as_deref(), Some("the shell"));
    // In one set: the file is new, in a directory that takes the place of another.
    let (set, classes) = b.classes(vec![
        b.change("c", PathState::Absent, link("made")),
        b.change("made", PathState::Absent, dir()),
        b.change("made/spool", PathState::Absent, dir()),
        b.change("made/spool/cron", PathState::Absent, dir()),
        b.new_file("made/spool/cron/root"),
    ]);
    let asked: Vec<_> = classes.to_approve(&set).into_iter().map(|(path, _)| path.to_path_buf()).collect();
    assert_eq!(asked, ["c", "made/spool/cron/root"].map(|path| root.join(path)));
    // What the set removes is not there any more.
    let (set, classes) = b.classes(vec![
        b.change("l", PathState::Absent, link("units")),
        b.change("units/systemd", dir(), PathState::Absent),
        b.change("units/systemd/system", dir(), PathState::Absent),
        b.gone_file("units/systemd/system/x.service"),
    ]);
    assert!(classes.to_approve(&set).is_empty());
}

#[test]
fn a_file_tool_that_writes_one_of_several_names_writes_the_protected_one() {
    let b = ClassifyFixture::new();
    let root = b.root();
    std::fs::write(root.join(".envrc"), "x").unwrap();
    std::fs::hard_link(root.join(".envrc"), root.join("notes")).unwrap();
    let by_tool = FileChange { by_tool: true, ..b.change("notes", file(0o644), file(0o600)) };
    assert_eq!(b.by(by_tool.clone()).as_deref(), Some("direnv"));
    assert_eq!(b.by(FileChange { by_tool: false, ..by_tool }), None);
    let twin = FileChange { twin: Some(root.join(".envrc").into()), ..b.new_file("other") };
    assert_eq!(b.by(twin).as_deref(), Some("direnv"));
}

#[test]
fn a_program_on_the_path_runs_later_and_a_text_there_does_not() {
    let mut b = ClassifyFixture::new();
    let bin = b.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = std::env::join_paths([&bin]).unwrap();
    let dirs = placet_permission::ProgramDirs::from_variable(Some(&path));
    b.protected = ProtectedPaths::with(&[], dirs).unwrap();
    assert_eq!(b.by(b.change("bin/ls", PathState::Absent, file(0o755))).as_deref(), Some("the shell"));
    assert_eq!(b.by(b.change("bin/ls", PathState::Absent, link("../x"))).as_deref(), Some("the shell"));
    assert_eq!(b.by(b.change("bin/notes.txt", PathState::Absent, file(0o644))), None);
    assert_eq!(b.by(b.change("bin", dir(), link("real"))).as_deref(), Some("the shell"));
    std::os::unix::fs::symlink("b/sub", b.root().join("sbin")).unwrap();
    assert_eq!(b.by(b.change("b", PathState::Absent, link("real"))), None);
    assert_eq!(b.by(b.change("lib/ls", PathState::Absent, file(0o755))), None);
}

#[test]
fn what_goes_with_its_project_is_ordinary_and_what_goes_alone_is_not() {
    let b = ClassifyFixture::new();
    assert_eq!(b.by(b.gone_file(".envrc")).as_deref(), Some("direnv"));
    let old = vec![
        b.change("old", dir(), PathState::Absent),
        b.change("old/.vscode", dir(), PathState::Absent),
        b.gone_file("old/.vscode/tasks.json"),
    ];
    assert_eq!(b.classes(old).1.runs_later().count(), 0);
    let husky =
        vec![b.change(".husky", dir(), PathState::Absent), b.gone_file(".husky/a"), b.gone_file(".husky/b")];
    let (set, classes) = b.classes(husky);
    let asked: Vec<_> = classes.to_approve(&set).into_iter().map(|(path, _)| path.to_path_buf()).collect();
    assert_eq!(asked, [b.root().join(".husky")], "one directory, one question");
    let approved = ChangeApproval::none().named(&asked[0]);
    let permitted = classes.permitted(&set, everything(&set), &approved);
    assert_eq!(permitted, PermittedChanges { choice: everything(&set), ..PermittedChanges::default() });
    let permitted = classes.permitted(&set, everything(&set), &ChangeApproval::none());
    assert_eq!((permitted.choice.len(), permitted.waiting), (0, asked));
}

#[test]
fn what_waits_keeps_the_directories_that_only_it_needs_and_the_file_it_was_moved_from() {
    let b = ClassifyFixture::new();
    let moved =
        FileChange { moved_from: Some(b.root().join("plain").into()), ..b.new_file(".husky/pre-commit") };
    let (set, classes) = b.classes(vec![
        b.change(".husky", PathState::Absent, dir()),
        moved,
        b.change("plain", file(0o755), PathState::Absent),
        b.change("src", PathState::Absent, dir()),
        b.new_file("src/a"),
        b.change("src/.vscode", PathState::Absent, dir()),
        b.new_file("src/.vscode/tasks.json"),
    ]);
    let PermittedChanges { choice, waiting, .. } =
        classes.permitted(&set, everything(&set), &ChangeApproval::none());
    let left: Vec<_> =
        choice.keys().map(|p| p.strip_prefix(b.root()).unwrap().display().to_string()).collect();
    assert_eq!(left, ["src", "src/a"]);
    assert_eq!(waiting.len(), 2);
    let seen = set.get(&b.root().join(".husky/pre-commit")).unwrap();
    let left = classes.permitted(&set, everything(&set), &ChangeApproval::none().shown(seen));
    assert!(left.choice.contains_key(&*b.root().join("plain")) && left.waiting.len() == 1);
    let other = FileChange { after: file(0o600).into(), ..seen.clone() };
    assert!(!ChangeApproval::none().shown(&other).covers(seen), "another content needs another approval");
}

#[test]
fn a_removed_repository_a_removed_root_and_much_at_once_are_large_losses() {
    let b = ClassifyFixture::new();
    let root = b.root();
    let repository = vec![
        b.change(".git", dir(), PathState::Absent),
        b.gone_file(".git/HEAD"),
        b.gone_file(".git/hooks/x"),
    ];
    let (set, classes) = b.classes(repository);
    assert_eq!(classes.losses, [LargeLoss::Repository { path: root.join(".git"), files: 2 }]);
    assert!(matches!(classes.of(&root.join(".git")), ChangeClass::LargeLoss(_)));
    assert_eq!(classes.to_approve(&set), []);
    std::fs::write(root.join("a"), "x").unwrap();
    assert_eq!(
        b.classes(vec![b.gone_file("a")]).1.losses,
        [LargeLoss::Root { path: root.clone(), files: 1 }]
    );
    let anew = b.change("c", PathState::Absent, file(0o644));
    assert_eq!(b.classes(vec![b.gone_file("a"), anew.clone()]).1.losses, [], "another name");
    std::fs::write(root.join("b"), "x").unwrap();
    std::fs::write(root.join("d"), "x").unwrap();
    let decoy = vec![b.gone_file("a"), b.gone_file("b"), b.gone_file("d"), anew];
    assert_eq!(b.classes(decoy).1.losses, [LargeLoss::Root { path: root.clone(), files: 2 }]);
    assert_eq!(b.classes(vec![b.gone_file("a")]).1.losses, []);
    let many = (0..21).map(|n| b.gone_file(&format!("many/{n}"))).collect();
    assert!(matches!(b.classes(many).1.losses[..], [LargeLoss::Files { files: 21, .. }]));
}

#[test]
fn a_large_loss_stays_with_all_that_belongs_to_it_until_it_is_approved() {
    let b = ClassifyFixture::new();
    let mut changes: Vec<FileChange> = (0..21).map(|n| b.gone_file(&format!("many/{n:02}"))).collect();
    changes.extend([
        b.change("many", dir(), PathState::Absent),
        b.change("new", PathState::Absent, file(0o600)),
        b.gone_file("old"),
    ]);
    let (set, classes) = b.classes(changes);
    let left = |approval: &ChangeApproval| classes.permitted(&set, everything(&set), approval);
    let none = left(&ChangeApproval::none());
    assert_eq!(none.losses, [LargeLoss::Files { files: 22, bytes: 88 }]);
    assert_eq!(none.choice.into_keys().collect::<Vec<_>>(), [std::sync::Arc::from(b.root().join("new"))]);
    for approval in [
        ChangeApproval::none().removal_of(21),
        ChangeApproval::none().seen(&[]),
        ChangeApproval::none().removal_of(23),
    ] {
        assert_eq!(left(&approval).losses.len(), 1, "{approval:?}");
    }
    for approval in [ChangeApproval::none().removal_of(22), ChangeApproval::none().seen(&classes.losses)] {
        assert_eq!(
            left(&approval),
            PermittedChanges { choice: everything(&set), ..PermittedChanges::default() }
        );
    }
    // A part within the limit is not a loss.
    let few: ChangeSelection =
        everything(&set).into_iter().filter(|(path, _)| path.ends_with("old")).collect();
    assert_eq!(classes.permitted(&set, few.clone(), &ChangeApproval::none()).choice, few);
}

#[test]
fn a_repository_that_goes_is_named_and_its_files_are_not_counted_twice() {
    let b = ClassifyFixture::new();
    let mut changes: Vec<FileChange> = (0..30).map(|n| b.gone_file(&format!(".git/objects/{n}"))).collect();
    changes.extend([
        b.change(".git", dir(), PathState::Absent),
        b.change(".git/objects", dir(), PathState::Absent),
    ]);
    changes.push(b.change("new", PathState::Absent, file(0o600)));
    let (set, classes) = b.classes(changes);
    let git = b.root().join(".git");
    let left = classes.permitted(&set, everything(&set), &ChangeApproval::none());
    assert_eq!(left.losses.first(), Some(&LargeLoss::Repository { path: git.clone(), files: 30 }));
    assert_eq!(left.choice.into_keys().collect::<Vec<_>>(), [std::sync::Arc::from(b.root().join("new"))]);
    let left = classes.permitted(&set, everything(&set), &ChangeApproval::none().named(&git));
    assert_eq!((left.losses, left.choice.len()), (vec![], set.len()));
    let left = classes.permitted(&set, everything(&set), &ChangeApproval::none().removal_of(30));
    assert_eq!((left.losses.len(), left.choice.len()), (1, 1), "the number is not the name");
}

#[test]
fn the_last_names_of_the_root_count_where_the_pattern_goes_on_below_it() {
    let protected = ProtectedPaths::default();
    let later = |root: &str, path: &str| {
        matches!(class_below(&protected, Path::new(root), Path::new(path)), PathClass::RunsLater(_))
    };
    assert!(later("/home/me/.config", "autostart/x.desktop"));
    assert!(later("/home/me/.config/systemd", "user/x.service"));
    assert!(!later("/w/.claude/worktrees/one", "src/main.rs"), "a work tree in a protected directory");
    assert!(later("/w/.claude/worktrees/one", ".envrc"));
}

#[test]
fn a_program_that_becomes_setuid_waits() {
    let b = ClassifyFixture::new();
    let change = |before, after| b.change("id", before, after);
    assert_eq!(b.by(change(PathState::Absent, file(0o4755))).as_deref(), Some("the system"));
    assert_eq!(b.by(change(file(0o755), file(0o2755))).as_deref(), Some("the system"));
    assert_eq!(b.by(change(file(0o4755), file(0o6644))), None);
    assert_eq!(b.by(change(file(0o6755), file(0o4755))), None);
    let mut moved = b.change("new", PathState::Absent, file(0o4755));
    let old = b.change("old", file(0o4755), PathState::Absent);
    moved.moved_from = Some(old.path.clone());
    assert!(b.classes(vec![moved, old]).1.runs_later().next().is_none());
}

/// Story: `a` applied an empty `.github` while the only file in it stayed pending.
#[test]
fn a_new_directory_stays_with_the_only_file_in_it() {
    let b = ClassifyFixture::new();
    let new_dir = |path: &str| b.change(path, PathState::Absent, dir());
    let mut changes =
        vec![new_dir(".github"), new_dir(".github/workflows"), b.new_file(".github/workflows/test.yml")];
    let (set, classes) = b.classes(changes.clone());
    let permitted = classes.permitted(&set, everything(&set), &ChangeApproval::none());
    assert!(permitted.choice.is_empty(), "{:?}", permitted.choice.keys().collect::<Vec<_>>());
    changes.push(b.new_file(".github/notes.md"));
    let (set, classes) = b.classes(changes);
    let permitted = classes.permitted(&set, everything(&set), &ChangeApproval::none());
    let applied: Vec<_> =
        permitted.choice.keys().map(|path| path.strip_prefix(b.root()).unwrap().to_path_buf()).collect();
    assert_eq!(applied, [".github", ".github/notes.md"].map(std::path::PathBuf::from));
}
