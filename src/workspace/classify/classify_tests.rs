//! Change sets, made by hand over a directory of the test's own, and what each of their changes means.

use super::super::node::Attrs;
use super::*;
use crate::workspace::view::{Brake, Choice, Part};

struct Bench {
    dir: tempfile::TempDir,
    protected: ProtectedPaths,
}

impl Bench {
    fn new() -> Bench {
        Bench { dir: tempfile::tempdir().unwrap(), protected: ProtectedPaths::default() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn change(&self, path: &str, before: Node, after: Node) -> Change {
        Change {
            path: self.root().join(path),
            before,
            after,
            content: None,
            moved_from: None,
            twin: None,
            raced: false,
            by_tool: false,
            steps: Vec::new(),
        }
    }

    fn new_file(&self, path: &str) -> Change {
        self.change(path, Node::Absent, file(0o644))
    }

    fn gone_file(&self, path: &str) -> Change {
        self.change(path, file(0o644), Node::Absent)
    }

    fn classes(&self, changes: Vec<Change>) -> (ChangeSet, ChangeClasses) {
        let set = ChangeSet::new(changes);
        let roots = [self.root()];
        let classifier = Classifier::new(&set, &roots, &self.protected);
        let by_path = set.changes.iter().map(|c| (c.path.clone(), classifier.classify(c))).collect();
        let limit = Brake::default();
        let losses = loss::losses(&set, &roots, limit, &|_| true);
        (set.clone(), ChangeClasses { by_path, losses, roots: roots.to_vec(), limit })
    }

    /// Who runs the only change later.
    fn by(&self, change: Change) -> Option<String> {
        let path = change.path.clone();
        self.classes(vec![change]).1.runner(&path).map(|r| r.by.clone())
    }
}

fn file(mode: u32) -> Node {
    let hash = blake3::hash(format!("{mode}").as_bytes());
    Node::File { hash, size: 4, attrs: Attrs { mode, ..Attrs::default() } }
}

fn dir() -> Node {
    Node::Directory { attrs: Attrs { mode: 0o755, ..Attrs::default() } }
}

fn link(target: &str) -> Node {
    Node::Link { target: target.into() }
}

fn everything(set: &ChangeSet) -> Choice {
    set.changes.iter().map(|c| (c.path.clone(), Part::Whole)).collect()
}

#[test]
fn a_file_a_link_and_a_mode_count_and_a_directory_alone_does_not() {
    let b = Bench::new();
    assert_eq!(b.by(b.new_file("a/.envrc")).as_deref(), Some("direnv"));
    assert_eq!(b.by(b.change(".envrc", Node::Absent, link("x"))).as_deref(), Some("direnv"));
    assert_eq!(b.by(b.change(".git/hooks/post-merge", file(0o644), file(0o755))).as_deref(), Some("git"));
    assert_eq!(b.by(b.change(".husky", Node::Absent, link("scripts"))).as_deref(), Some("husky"));
    assert_eq!(b.by(b.change(".husky", dir(), link("scripts"))).as_deref(), Some("husky"));
    assert_eq!(b.by(b.change(".husky", Node::Absent, dir())), None);
    assert_eq!(b.by(b.new_file("src/main.rs")), None);
    let (set, classes) = b.classes(vec![b.new_file("build.rs")]);
    assert!(matches!(classes.of(&set.changes[0].path), ChangeClass::RunsWithBuild(_)));
}

#[test]
fn a_file_that_a_protected_link_leads_to_is_protected() {
    let b = Bench::new();
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
        b.change(".claude", Node::Absent, link("./conf/../conf")),
        b.new_file("conf/settings.json"),
    ]);
    assert_eq!(classes.to_approve(&set).len(), 2);
}

#[test]
fn a_file_tool_that_writes_one_of_several_names_writes_the_protected_one() {
    let b = Bench::new();
    let root = b.root();
    std::fs::write(root.join(".envrc"), "x").unwrap();
    std::fs::hard_link(root.join(".envrc"), root.join("notes")).unwrap();
    let by_tool = Change { by_tool: true, ..b.change("notes", file(0o644), file(0o600)) };
    assert_eq!(b.by(by_tool.clone()).as_deref(), Some("direnv"));
    assert_eq!(b.by(Change { by_tool: false, ..by_tool }), None);
    let twin = Change { twin: Some(root.join(".envrc")), ..b.new_file("other") };
    assert_eq!(b.by(twin).as_deref(), Some("direnv"));
}

#[test]
fn a_program_on_the_path_runs_later_and_a_text_there_does_not() {
    let mut b = Bench::new();
    let bin = b.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let path = std::env::join_paths([&bin]).unwrap();
    let dirs = crate::permission::ProgramDirs::from_variable(Some(&path));
    b.protected = ProtectedPaths::with(&[], dirs).unwrap();
    assert_eq!(b.by(b.change("bin/ls", Node::Absent, file(0o755))).as_deref(), Some("the shell"));
    assert_eq!(b.by(b.change("bin/ls", Node::Absent, link("../x"))).as_deref(), Some("the shell"));
    assert_eq!(b.by(b.change("bin/notes.txt", Node::Absent, file(0o644))), None);
    assert_eq!(b.by(b.change("lib/ls", Node::Absent, file(0o755))), None);
}

#[test]
fn what_goes_with_its_project_is_ordinary_and_what_goes_alone_is_not() {
    let b = Bench::new();
    assert_eq!(b.by(b.gone_file(".envrc")).as_deref(), Some("direnv"));
    let old = vec![
        b.change("old", dir(), Node::Absent),
        b.change("old/.vscode", dir(), Node::Absent),
        b.gone_file("old/.vscode/tasks.json"),
    ];
    assert_eq!(b.classes(old).1.runs_later().count(), 0);
    let husky =
        vec![b.change(".husky", dir(), Node::Absent), b.gone_file(".husky/a"), b.gone_file(".husky/b")];
    let (set, classes) = b.classes(husky);
    let asked: Vec<_> = classes.to_approve(&set).into_iter().map(|(path, _)| path.to_path_buf()).collect();
    assert_eq!(asked, [b.root().join(".husky")], "one directory, one question");
    let approved = Approval::none().named(&asked[0]);
    let permitted = classes.permitted(&set, &everything(&set), &approved);
    assert_eq!(permitted, Permitted { choice: everything(&set), ..Permitted::default() });
    let permitted = classes.permitted(&set, &everything(&set), &Approval::none());
    assert_eq!((permitted.choice.len(), permitted.waiting), (0, asked));
}

#[test]
fn what_waits_keeps_the_directories_that_only_it_needs_and_the_file_it_was_moved_from() {
    let b = Bench::new();
    let moved = Change { moved_from: Some(b.root().join("plain")), ..b.new_file(".husky/pre-commit") };
    let (set, classes) = b.classes(vec![
        b.change(".husky", Node::Absent, dir()),
        moved,
        b.change("plain", file(0o755), Node::Absent),
        b.change("src", Node::Absent, dir()),
        b.new_file("src/a"),
        b.change("src/.vscode", Node::Absent, dir()),
        b.new_file("src/.vscode/tasks.json"),
    ]);
    let Permitted { choice, waiting, .. } = classes.permitted(&set, &everything(&set), &Approval::none());
    let left: Vec<_> =
        choice.keys().map(|p| p.strip_prefix(b.root()).unwrap().display().to_string()).collect();
    assert_eq!(left, ["src", "src/a"]);
    assert_eq!(waiting.len(), 2);
    let seen = set.get(&b.root().join(".husky/pre-commit")).unwrap();
    let left = classes.permitted(&set, &everything(&set), &Approval::none().shown(seen));
    assert!(left.choice.contains_key(&b.root().join("plain")) && left.waiting.len() == 1);
    let other = Change { after: file(0o600), ..seen.clone() };
    assert!(!Approval::none().shown(&other).covers(seen), "another content needs another approval");
}

#[test]
fn a_removed_repository_a_removed_root_and_much_at_once_are_large_losses() {
    let b = Bench::new();
    let root = b.root();
    let repository =
        vec![b.change(".git", dir(), Node::Absent), b.gone_file(".git/HEAD"), b.gone_file(".git/hooks/x")];
    let (set, classes) = b.classes(repository);
    assert_eq!(classes.losses, [LargeLoss::Repository { path: root.join(".git"), files: 2 }]);
    assert!(matches!(classes.of(&root.join(".git")), ChangeClass::LargeLoss(_)));
    assert_eq!(classes.to_approve(&set), []);
    std::fs::write(root.join("a"), "x").unwrap();
    assert_eq!(
        b.classes(vec![b.gone_file("a")]).1.losses,
        [LargeLoss::Root { path: root.clone(), files: 1 }]
    );
    let anew = b.change("c", Node::Absent, file(0o644));
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
    let b = Bench::new();
    let mut changes: Vec<Change> = (0..21).map(|n| b.gone_file(&format!("many/{n:02}"))).collect();
    changes.extend([
        b.change("many", dir(), Node::Absent),
        b.change("new", Node::Absent, file(0o600)),
        b.gone_file("old"),
    ]);
    let (set, classes) = b.classes(changes);
    let left = |approval: &Approval| classes.permitted(&set, &everything(&set), approval);
    let none = left(&Approval::none());
    assert_eq!(none.losses, [LargeLoss::Files { files: 22, bytes: 88 }]);
    assert_eq!(none.choice.into_keys().collect::<Vec<_>>(), [b.root().join("new")]);
    for approval in
        [Approval::none().removal_of(21), Approval::none().seen(&[]), Approval::none().removal_of(23)]
    {
        assert_eq!(left(&approval).losses.len(), 1, "{approval:?}");
    }
    for approval in [Approval::none().removal_of(22), Approval::none().seen(&classes.losses)] {
        assert_eq!(left(&approval), Permitted { choice: everything(&set), ..Permitted::default() });
    }
    // A part within the limit is no loss.
    let few: Choice = everything(&set).into_iter().filter(|(path, _)| path.ends_with("old")).collect();
    assert_eq!(classes.permitted(&set, &few, &Approval::none()).choice, few);
}

#[test]
fn a_repository_that_goes_is_named_and_its_files_are_not_counted_twice() {
    let b = Bench::new();
    let mut changes: Vec<Change> = (0..30).map(|n| b.gone_file(&format!(".git/objects/{n}"))).collect();
    changes.extend([b.change(".git", dir(), Node::Absent), b.change(".git/objects", dir(), Node::Absent)]);
    changes.push(b.change("new", Node::Absent, file(0o600)));
    let (set, classes) = b.classes(changes);
    let git = b.root().join(".git");
    let left = classes.permitted(&set, &everything(&set), &Approval::none());
    assert_eq!(left.losses.first(), Some(&LargeLoss::Repository { path: git.clone(), files: 30 }));
    assert_eq!(left.choice.into_keys().collect::<Vec<_>>(), [b.root().join("new")]);
    let left = classes.permitted(&set, &everything(&set), &Approval::none().named(&git));
    assert_eq!((left.losses, left.choice.len()), (vec![], set.len()));
    let left = classes.permitted(&set, &everything(&set), &Approval::none().removal_of(30));
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
