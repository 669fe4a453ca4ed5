//! `placet review` and `placet review --staged` in a repository: the real binary in a terminal, and the index afterwards
//! compared with that of the same repository in which git did the same.

use crate::support::binary::Place;
use crate::support::pty::{Pty, shell};
use crate::support::require::require;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

const SHELL: &str = r#"
umask 022; export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A
export GIT_COMMITTER_EMAIL=a@x GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000' GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
git init -q -b main .; printf 'one\ntwo\n' > a.txt; echo b > b.txt; git add .; git commit -qm First
save() { git add .; git commit -qm Saved; }
lines() { seq 40 > n; save; sed -i -e s/^3$/three/ -e s/^33$/thirty/ n; }
"#;

struct IndexCase {
    title: &'static str,
    before: &'static str,
    args: &'static [&'static str],
    keys: &'static [&'static str],
    /// What the summary says before the key that confirms it.
    says: &'static str,
    /// The same with git.
    git: &'static str,
}

const fn stage(title: &'static str, before: &'static str, git: &'static str) -> IndexCase {
    IndexCase { title, before, args: &["review"], keys: &["Y"], says: "stages 1 hunk in 1 file", git }
}

const fn unstage(title: &'static str, before: &'static str, git: &'static str) -> IndexCase {
    let says = "unstages 1 hunk in 1 file";
    IndexCase { title, before, args: &["review", "--staged"], keys: &["X"], says, git }
}

#[rustfmt::skip]
const CASES: &[IndexCase] = &[
    IndexCase { says: "stages 3 hunks in 2 files", ..stage("two files", "lines; echo x >> a.txt", "git add -u") },
    IndexCase { keys: &["a"], ..stage("the first hunk", "lines", r"printf 'y\nn\n' | git add -p") },
    IndexCase { keys: &["r", "a"], ..stage("the second hunk", "lines", r"printf 'n\ny\n' | git add -p") },
    IndexCase { keys: &["v", "a"], ..stage("one of two new lines", r"printf 'x\ny\n' >> b.txt", r"printf 'b\nx\n' > b.txt; git add b.txt") },
    stage("line ends of Windows", r"printf 'a\r\nb\r\n' > n; save; printf 'a\r\nB\r\n' > n", "git add -u"),
    stage("autocrlf", r"git config core.autocrlf true; printf 'a\nb\n' > n; save; printf 'a\r\nB\r\n' > n", "git add -u"),
    stage("a mode", "chmod +x a.txt", "git add -u"),
    stage("a mode and a line", "chmod +x a.txt; echo x >> a.txt", "git add -u"),
    stage("intent-to-add", r"printf '1\n2\n' > n; git add -N n", "git add n"),
    IndexCase { keys: &["v", "a"], ..stage("one line of intent-to-add", r"printf '1\n2\n' > n; git add -N n", "echo 1 > n; git add n") },
    stage("binary", r"printf '\0\1' > p; save; printf '\0\5\7' > p", "git add -u"),
    IndexCase { says: "stages 2 hunks in 2 files", ..stage("odd names",
        r#"printf x > "$(printf 'ä \t"q')"; printf y > "$(printf 'bad\377')"; save; for f in ä* bad*; do echo z >> "$f"; done"#, "git add -u") },
    stage("no newline at the end", r"printf 'a\nb' > n; save; printf 'a\nb\nc' > n", "git add -u"),
    stage("the last newline goes", r"printf 'a\nb\n' > n; save; printf 'a\nb' > n", "git add -u"),
    stage("a file goes", "rm b.txt", "git add -u"),
    IndexCase { keys: &["v", "a"], ..stage("one line of a file that goes", "rm a.txt", "echo two > a.txt; git add a.txt") },
    stage("a link", "ln -s a.txt l; save; ln -sfn b.txt l", "git add -u"),
    stage("a file becomes a link", "rm b.txt; ln -s a.txt b.txt", "git add -u"),
    stage("a submodule", "git init -q s; (cd s; echo 1 > s; save); git submodule --quiet add ./s s 2>&1; save; (cd s; echo 2 > s; save)", "git add -u"),
    stage("a split index", "git update-index --split-index; echo x >> a.txt", "git add -u"),
    stage("a sparse index", "mkdir d e; echo d > d/d; echo e > e/e; save; git sparse-checkout set --sparse-index d; echo x > d/d", "git add -u"),
    stage("SHA-256", "rm -rf .git; git init -q --object-format=sha256 .; save; echo 2 > b.txt", "git add -u"),
    stage("settings of git diff", "git config diff.noprefix true; git config diff.mnemonicPrefix true; git config diff.suppressBlankEmpty true; git config apply.whitespace fix; printf 'x \n\n' >> a.txt", "git add -u"),
    IndexCase { args: &["review", "--cwd", "d"], says: "stages 2 hunks in 2 files",
        ..stage("from a directory below", "mkdir d; echo d > d/d; save; echo x >> a.txt; echo y >> d/d", "git add -u") },
    stage("next to a conflict", "git switch -qc t; echo T > a.txt; save; git switch -q main; echo M > a.txt; save; git merge -q t; echo x >> b.txt", "git add b.txt"),
    stage("next to a filter of the repository", "git config filter.f.clean 'touch .git/ran; cat'; echo 'n filter=f' > .gitattributes; echo 1 > n; save; rm -f .git/ran; echo 2 > n; echo x >> a.txt", "git add a.txt"),
    IndexCase { says: "unstages 3 hunks in 3 files", ..unstage("everything", "echo x >> a.txt; echo n > n; git rm -q b.txt; git add .", "git reset -q") },
    IndexCase { keys: &["r"], ..unstage("the first hunk of two", "lines; git add n", r"printf 'y\nn\n' | git reset -q -p") },
    unstage("a new file", r"printf '1\n2\n' > n; git add n", "git reset -q"),
    IndexCase { keys: &["v", "r"], ..unstage("one line of a new file", r"printf '1\n2\n' > n; git add n", "cp n keep; echo 2 > n; git add n; mv keep n") },
    unstage("a staged mode", "chmod +x a.txt; git add a.txt", "git reset -q"),
    unstage("a removed file", "git rm -q b.txt", "git reset -q"),
];

fn sh(dir: &Path, line: &str) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let out = shell.env("LC_ALL", "C.UTF-8").output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// The index as git reads it, and the files of the work tree.
fn state(dir: &Path) -> (String, String) {
    let index = "git ls-files -s; git ls-files -v | grep ^S; git diff --cached --name-status";
    let files = "find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 md5sum; find . -type l | sort | xargs -r ls -l";
    (sh(dir, index), sh(dir, files))
}

impl IndexCase {
    fn run(&self) -> Result<(), String> {
        let other = TempDir::new().unwrap();
        let (ours, theirs) = (TempDir::new().unwrap(), other.path().join("t"));
        std::fs::create_dir(&theirs).unwrap();
        for dir in [ours.path(), &theirs] {
            sh(dir, &format!("{SHELL}{}", self.before));
        }
        let before = state(ours.path());
        let variables: Vec<&str> = SHELL.lines().take(3).collect();
        sh(&theirs, &format!("{}\n{}", variables.join("\n"), self.git));
        let (wanted, _) = state(&theirs);
        let mut pty = reviewing(ours, self.args);
        for key in self.keys.iter().chain(&["\r"]) {
            by_hand(&mut pty, key);
        }
        pty.until(self.says, |screen| screen.contains(&format!(" {};", self.says)));
        pty.answer("a");
        let code = pty.ended();
        let tree = pty.tree.path().to_path_buf();
        let (index, files) = state(&tree);
        match () {
            () if code != 0 => Err(format!("exit code {code}: {}", pty.screen())),
            () if tree.join(".git/ran").exists() => Err("the filter ran".into()),
            () if files != before.1 => Err("the work tree changed".into()),
            () if index != wanted => Err(format!("before\n{}placet\n{index}git\n{wanted}", before.0)),
            () => Ok(()),
        }
    }
}

/// A key, once the review takes keys.
fn by_hand(pty: &mut Pty, key: &str) {
    pty.answer(key);
}

/// The review of a repository, once it is on the screen.
fn reviewing(tree: TempDir, args: &[&str]) -> Pty {
    let start = shell().size(100, 30).after_in(tree);
    let pty = args.iter().fold(start, |start, arg| start.arg(arg)).spawn();
    pty.until("the review", |screen| screen.contains(" hunks"));
    pty
}

#[test]
fn the_review_stages_and_unstages_exactly_what_git_does() {
    if !require("git") {
        return;
    }
    let only = std::env::var("PLACET_SCENARIO").unwrap_or_default();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if case.title.contains(&only)
                        && let Err(why) = case.run()
                    {
                        failed.lock().unwrap().push(format!("{}: {why}", case.title));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}:\n  {}", failed.len(), CASES.len(), failed.join("\n  "));
}

/// Story: `core.worktree` led into another repository. Its filter ran, and the patch went to its index.
#[test]
fn a_work_tree_in_another_repository_is_staged_in_the_repository_that_is_reviewed() {
    if !require("git") {
        return;
    }
    let tree = TempDir::new().unwrap();
    let make = "mkdir -p A/B; cd A/B; git init -q .; echo 1 > a; echo 1 > b; git add .; git commit -qm x; \
        cp -a .git ../.git; git -C .. config core.worktree ../B; echo 2 >> a; touch -d 2026-11-01 b; \
        git config core.checkStat minimal; git config core.trustctime false; git add b; touch -d 2026-10-01 .git/index; \
        git config filter.x.clean 'echo run >> ran; cat'; echo '* filter=x' > .git/info/attributes; rm -f ran";
    let variables: Vec<&str> = SHELL.lines().take(3).collect();
    sh(tree.path(), &format!("{}\n{make}", variables.join("\n")));
    let staged =
        |tree: &Path, dir: &str| sh(tree, &format!("git --git-dir {dir}/.git --work-tree . ls-files -s"));
    let (reviewed, other) = (staged(tree.path(), "A"), staged(tree.path(), "A/B"));
    assert!(!reviewed.is_empty() && !other.is_empty());
    let mut pty = reviewing(tree, &["--cwd", "A", "review"]);
    by_hand(&mut pty, "Y");
    by_hand(&mut pty, "\r");
    pty.until("the summary", |screen| screen.contains("stages 1 hunk"));
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let tree = pty.tree.path();
    assert!(!tree.join("A/B/ran").exists(), "the filter of the other repository ran");
    assert_eq!(staged(tree, "A/B"), other, "the other index");
    assert_ne!(staged(tree, "A"), reviewed, "the index that was reviewed");
}

#[test]
fn a_lock_of_another_git_is_reported_and_left_there() {
    if !require("git") {
        return;
    }
    let tree = TempDir::new().unwrap();
    sh(tree.path(), &format!("{SHELL}echo x >> a.txt; touch .git/index.lock"));
    let before = state(tree.path());
    let mut pty = reviewing(tree, &["review"]);
    by_hand(&mut pty, "Y");
    by_hand(&mut pty, "\r");
    pty.until("the summary", |screen| screen.contains("stages 1 hunk"));
    pty.answer("a");
    assert_eq!(pty.ended(), 1);
    assert!(pty.screen().contains("the index was not changed"), "{}", pty.screen());
    assert!(pty.tree.path().join(".git/index.lock").exists());
    assert_eq!(state(pty.tree.path()), before);
}

/// A conflict has three versions, and no hunk of it can be staged.
#[test]
fn a_file_in_conflict_says_why_it_cannot_be_decided() {
    if !require("git") {
        return;
    }
    let tree = TempDir::new().unwrap();
    let conflict =
        "git switch -qc t; echo T > a.txt; save; git switch -q main; echo M > a.txt; save; git merge -q t";
    sh(tree.path(), &format!("{SHELL}{conflict}"));
    let mut pty = reviewing(tree, &["review"]);
    pty.until("the reason", |screen| screen.contains("in conflict: resolve it"));
    by_hand(&mut pty, "a");
    by_hand(&mut pty, "\r");
    pty.until("no decision", |screen| screen.contains("no decisions yet"));
}

/// Story: git follows a link in the place of the index or of the objects, so staging wrote outside of the repository.
#[test]
fn nothing_is_staged_through_a_link_that_leads_out_of_the_repository() {
    if !require("git") {
        return;
    }
    let links = [
        ("index", "mv .git/index ../out/index; ln -s ../../out/index .git/index"),
        ("objects", "mv .git/objects ../out/objects; ln -s ../../out/objects .git/objects"),
        ("objects/pack", "mv .git/objects/pack ../out/pack; ln -s ../../../out/pack .git/objects/pack"),
    ];
    for (name, link) in links {
        let place = Place::new();
        let sh = |line: &str| sh(&place.tree, &format!("{SHELL}{line}"));
        sh(&format!("mkdir -p ../out; echo x >> a.txt; {link}"));
        let out = place.run(["review", "--linear"]).code(1);
        assert!(
            out.stderr.contains(&format!(".git/{name}` is a link that leads out of the repository")),
            "{out:?}"
        );
        assert!(out.stderr.contains("hint: "), "{out:?}");
        // A patch of what is accepted writes nothing there.
        let patch = place.run(["review", "--linear", "--output", "x.patch"]);
        assert!(!patch.stderr.contains("leads out of the repository"), "{patch:?}");
    }
    // A linked worktree, a link within the repository and alternates stay as they are.
    for before in [
        "git worktree add -q ../wt; cd ../wt; echo x >> a.txt",
        "mv .git/objects .git/o; ln -s o .git/objects; echo x >> a.txt",
        "mkdir -p ../alt; cp -r .git/objects ../alt/objects; echo $PWD/../alt/objects > .git/objects/info/alternates; echo x >> a.txt",
    ] {
        let place = Place::new();
        sh(&place.tree, &format!("{SHELL}{before}"));
        let dir = if before.contains("worktree") { "../wt" } else { "." };
        let out = place.run(["--cwd", dir, "review", "--linear"]);
        assert!(!out.stderr.contains("leads out"), "{before}: {out:?}");
    }
}

/// Story: while git was slow, the terminal stayed empty and nothing said what it waited for.
#[test]
fn a_slow_git_is_named_and_ctrl_c_stops_the_wait() {
    use std::os::unix::fs::PermissionsExt;
    let dir = TempDir::new().unwrap();
    let git = dir.path().join("git");
    std::fs::write(&git, "#!/bin/sh\nexec sleep 60\n").unwrap();
    std::fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", dir.path().display());
    let mut pty = shell().size(80, 24).variable("PATH", &path).arg("review").spawn();
    pty.until("what it waits for", |s| s.contains("waiting for git; Ctrl-C stops"));
    pty.send("\x03");
    assert_ne!(pty.ended(), 0);
}
