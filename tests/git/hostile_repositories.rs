//! Repositories that nobody should trust, and those that go by another name than `.git`: the real binary and the real
//! git. Each program that git would run is a canary that leaves a file behind.

use crate::support::binary::{Out, Run};
use crate::support::program::placet;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// For the person's git as well as for the agent's.
const GIT: &str = "set -e; umask 022; export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n \
                   GIT_COMMITTER_EMAIL=e GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=1 \
                   GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always;";

/// git removes loose objects and packs when it has put the objects into a new pack.
#[test]
fn packing_objects_is_no_loss() {
    let setup = "git init -q .; for n in $(seq 40); do echo $n > f$n; git add f$n; git commit -qm $n; done";
    let Some(ground) = Ground::new(setup) else { return };
    ground.hold("git gc -q; git fsck --strict");
    let out = ground.txn.run(["apply"]);
    assert_eq!(out.code, 0, "{out:#?}");
    ground.person("git fsck --strict; test $(git rev-list --count HEAD) = 40");
    ground.hold("echo x > x; git add x; git commit -qm x; git repack -adq");
    let out = ground.txn.run(["apply"]);
    assert_eq!(out.code, 0, "{out:#?}");
    ground.hold(
        "for n in $(seq 50); do echo new $n > n; git add n; git commit -qm $n; done; old=$(ls .git/objects/pack/*.pack); \
         git repack -q; rm -f $old ${old%.pack}.idx",
    );
    // What the agent's pack lost is in the person's.
    let out = ground.txn.run(["apply"]);
    assert_eq!(out.code, 0, "{out:#?}");
    ground.hold("rm -f .git/objects/pack/*");
    let out = ground.txn.run(["apply"]);
    assert_eq!(out.code, 0, "{out:#?}");
    ground.person("git fsck --strict; test $(git rev-list --count HEAD) = 91");
}

struct Ground {
    txn: Txn,
    canary: PathBuf,
}

impl Ground {
    /// A directory of the test's own, after `setup` in it. `None` where the machine lacks something.
    fn new(setup: &str) -> Option<Ground> {
        if !has_view() || !require("git") {
            return None;
        }
        let ground = Ground::plain();
        ground.person(setup);
        Some(ground)
    }

    fn plain() -> Ground {
        let txn = Txn::on_disk();
        let canary = txn.base.join("canary");
        std::fs::write(&canary, format!("#!/bin/sh\ntouch '{}'\ncat\n", txn.base.join("sang").display()))
            .unwrap();
        std::fs::set_permissions(&canary, std::fs::Permissions::from_mode(0o755)).unwrap();
        Ground { txn, canary }
    }

    /// What the person does, outside of any view.
    #[track_caller]
    fn person(&self, line: &str) {
        assert_eq!(self.txn.sh(&self.txn.tree, &self.words(line)), 0, "{line}");
    }

    /// A line with git's variables set; `CANARY` is the program that must not run.
    fn words(&self, line: &str) -> String {
        format!("{GIT} {}", line.replace("CANARY", &self.canary.display().to_string()))
    }

    /// What the agent does in write mode, where everything but what is protected is applied at once.
    fn write_mode(&self, line: &str) -> Out {
        let input = json!({ "command": self.words(line) }).to_string();
        self.txn.run(["tool", "call", "run_command", input.as_str(), "--mode", "write"])
    }

    #[track_caller]
    fn hold(&self, line: &str) -> Out {
        self.txn.hold(&self.words(line))
    }

    #[track_caller]
    fn done(&self, args: &[&str]) -> String {
        let out = self.txn.run(args);
        assert_eq!(out.code, 0, "{args:?}: {out:#?}");
        out.stdout + &out.stderr
    }

    #[track_caller]
    fn nothing_ran(&self, what: &str) {
        assert!(!self.txn.base.join("sang").exists(), "{what}: git ran the canary");
    }

    /// The list of what is pending.
    fn listed(&self) -> String {
        self.txn.run(["changes"]).stdout
    }

    #[track_caller]
    fn is_sound(&self, dir: &str) {
        self.person(&format!(
            "git -C {dir} fsck --strict --no-dangling 2>&1 | tee ../fsck; test ! -s ../fsck"
        ));
    }
}

/// The same command, under a limit of memory that a program without a bound exceeds at once.
fn limited(txn: &Txn, args: &[&str]) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 6000000; exec \"$0\" \"$@\"", placet()]).args(args);
    let home = txn.base.join("home");
    command.current_dir(&txn.tree).env("HOME", &home).env("XDG_CONFIG_HOME", home.join("config"));
    command.env("XDG_STATE_HOME", home.join("state")).env("XDG_CACHE_HOME", home.join("cache"));
    Run::of(command)
}

const FIRST: &str = "git init -q -b main . && echo 1 > a && git add a && git commit -q -m first";

#[test]
fn a_repository_of_any_name_is_not_changed_without_a_person() {
    let separate =
        "git init -q -b main --separate-git-dir gd . && echo 1 > a && git add a && git commit -q -m 1";
    let fsmonitor = |dir: &str| format!("git config -f {dir}/config core.fsmonitor CANARY");
    // Written in the view, where the canary itself is out of sight: what it does is the same.
    let hook = |dir: &str| {
        let file = format!("{dir}/hooks/post-checkout");
        format!(
            "mkdir -p {dir}/hooks && printf '#!/bin/sh\\nexec CANARY </dev/null\\n' > {file} && chmod +x {file}"
        )
    };
    let common = "mkdir -p c/objects c/refs g && git init -q t && cp t/.git/HEAD g/ && cp t/.git/config c/ && rm -r t \
                  && echo ../c > g/commondir && echo 'gitdir: g' > .git && git status >/dev/null";
    let worktree =
        format!("{FIRST} && git worktree add -q -b w ../wt && git config extensions.worktreeConfig true");
    // What lies there before, what the agent does, what the person does next, and what the list must name.
    let cases: [(&str, String, &str, &str); 9] = [
        (separate, fsmonitor("gd"), "git status", "core.fsmonitor = "),
        (separate, hook("gd"), "git checkout -q -b x", "gd/hooks/post-checkout"),
        ("git init -q --bare b.git", fsmonitor("b.git"), "git -C b.git config --list", "core.fsmonitor = "),
        (
            "git init -q --bare b.git",
            hook("b.git"),
            "git -C b.git config --list",
            "b.git/hooks/post-checkout",
        ),
        ("true", format!("git init -q --bare x && {}", fsmonitor("x")), "test ! -e x", "core.fsmonitor = "),
        ("true", format!("git init -q n && {}", fsmonitor("n/.git")), "test ! -e n", "core.fsmonitor = "),
        (common, fsmonitor("c"), "git status", "core.fsmonitor = "),
        (
            &worktree,
            "git config -f .git/worktrees/wt/config.worktree core.fsmonitor CANARY".into(),
            "git -C ../wt status",
            "core.fsmonitor = ",
        ),
        (
            "git init -q -b main up && git -C up commit -q --allow-empty -m 1 && git init -q . \
             && git submodule -q add ./up sub",
            fsmonitor(".git/modules/sub"),
            "git -C sub status",
            "core.fsmonitor = ",
        ),
    ];
    for (setup, line, next, named) in cases {
        let Some(ground) = Ground::new(setup) else { return };
        let before = ground.txn.snap();
        let out = ground.write_mode(&line);
        assert_eq!(ground.txn.snap(), before, "{line}: applied without a person: {out:#?}");
        let list = ground.listed();
        assert!(list.contains(named) && list.contains("! "), "{line}: not named in:\n{list}\n{out:#?}");
        ground.person(next);
        ground.nothing_ran(&line);
    }
}

#[test]
fn a_directory_that_becomes_a_repository_shows_all_that_git_obeys_in_it() {
    let Some(ground) =
        Ground::new("mkdir -p x/refs x/objects; printf '[core]\\n\\tfsmonitor = CANARY\\n' > x/setup")
    else {
        return;
    };
    ground.write_mode("mv x/setup x/config.txt");
    let before = ground.txn.snap();
    ground.write_mode("mv x/config.txt x/config; echo 'ref: refs/heads/main' > x/HEAD");
    assert_eq!(ground.txn.snap(), before);
    assert!(ground.listed().contains("core.fsmonitor = "), "{}", ground.listed());
    // File tools ask as well, also for the file that completes it.
    for path in ["x/config", "x/hooks/post-checkout", "x/HEAD"] {
        let input = json!({ "path": path, "content": "x" }).to_string();
        let out = ground.txn.run(["tool", "call", "write_file", input.as_str(), "--mode", "write"]);
        assert!(!ground.txn.tree.join(path).exists(), "{path}: {out:#?}");
    }
}

#[test]
fn a_ref_is_applied_with_its_objects() {
    let setup = "git init -q -b main . && echo 1 > a && git add a && git commit -q -m 1";
    let Some(ground) = Ground::new(setup) else { return };
    ground.hold("echo 2 >> a && git commit -q -am second");
    ground.done(&["apply", ".git/refs/heads/main"]);
    ground.is_sound(".");
    ground.person("test \"$(git log -1 --format=%s)\" = second");
    // And is discarded with them: nothing of the repository is left pending.
    ground.hold("git commit -q --allow-empty -m third");
    ground.done(&["discard", ".git/refs/heads/main"]);
    assert!(!ground.listed().contains(".git"), "{}", ground.listed());
}

#[test]
fn undo_leaves_every_object_that_someone_may_have_built_on() {
    let commit = "echo 2 >> a && git add a && git commit -q -m second";
    // Without a ref of the main repository that moved: its state alone does not tell.
    let cases = [
        (
            "linked worktree",
            "git worktree add -q --detach ../wt",
            commit,
            "git -C ../wt checkout -q --detach main && git -C ../wt commit -q --allow-empty -m mine",
            "../wt",
        ),
        (
            "branch on top",
            "true",
            commit,
            "git checkout -q -b mine && git commit -q --allow-empty -m mine",
            ".",
        ),
        (
            "commit without a ref",
            "true",
            commit,
            "git commit-tree 'HEAD^{tree}' -p HEAD -m mine > ../id",
            ".",
        ),
        ("stash", "true", commit, "echo 3 >> a && git stash -q && git stash list", "."),
        ("note", "true", commit, "git notes add -m note", "."),
        (
            "repository of the agent",
            "true",
            "git init -q -b main n && git -C n commit -q --allow-empty -m 1",
            "git -C n commit-tree 'HEAD^{tree}' -p HEAD -m mine > ../id",
            ".",
        ),
    ];
    for (name, more, agent, person, check) in cases {
        let Some(ground) = Ground::new(&format!("{FIRST} && {more}")) else { return };
        ground.hold(agent);
        ground.done(&["apply"]);
        ground.person(person);
        let out = ground.txn.run(["undo", "--rest"]);
        eprintln!("{name}: {}{}", out.stdout, out.stderr);
        ground.is_sound(".");
        ground.is_sound(check);
        if ground.txn.tree.join("n").exists() {
            ground.is_sound("n");
        }
    }
}

#[test]
fn undo_in_a_submodule_leaves_what_was_built_there() {
    let setup = "git init -q -b main ../up && git -C ../up commit -q --allow-empty -m 1 && git init -q -b main . \
                 && git submodule -q add ../up sub && git commit -q -m sub";
    let Some(ground) = Ground::new(setup) else { return };
    ground.hold("cd sub && echo x > x && git add x && git commit -q -m agent");
    ground.done(&["apply"]);
    ground.person(
        "git -C ../up commit -q --allow-empty -m 2 && git -C sub fetch -q && git -C sub checkout -q -b mine \
                   && git -C sub commit -q --allow-empty -m mine",
    );
    let out = ground.txn.run(["undo", "--rest"]);
    assert!(out.stdout.contains("skipped .git/modules/sub: HEAD changed in the meantime"), "{out:#?}");
    ground.is_sound("sub");
    ground.is_sound(".");
}

#[test]
fn undo_and_redo_bring_refs_back_and_leave_objects_for_git_gc() {
    let Some(ground) = Ground::new(FIRST) else { return };
    ground.hold("echo 2 >> a && git commit -q -am second");
    ground.done(&["apply"]);
    let said = ground.done(&["undo"]);
    assert!(said.contains("\nundid commit ") && said.contains("\"second\" on main"), "{said}");
    ground.person("test \"$(git log -1 --format=%s)\" = first");
    ground.is_sound(".");
    // Gone by the time of the redo: it brings them back, or refs would lead nowhere.
    ground.person(
        "git reflog expire --expire=now --all && git gc -q --prune=now; test -z \"$(git fsck --lost-found)\"",
    );
    let out = ground.txn.run(["redo", "--rest"]);
    ground.is_sound(".");
    eprintln!("{}{}", out.stdout, out.stderr);
}

#[test]
fn a_link_to_a_device_and_a_pipe_among_the_refs_neither_hang_nor_fill_the_memory() {
    for trap in
        ["ln -s /dev/zero .git/refs/heads/z", "mkfifo .git/refs/heads/z", "truncate -s 1T .git/refs/heads/z"]
    {
        // There before: the state of the repository is recorded with it.
        let Some(ground) = Ground::new(&format!("{FIRST} && {trap}")) else { return };
        let line = "git -c user.name=n -c user.email=e commit -q --allow-empty -m other";
        let held = limited(&ground.txn, &["sandbox", "run", "--", line]).go();
        assert_eq!(held.code, 3, "{trap}: {held:#?}");
        let out = limited(&ground.txn, &["apply"]).go();
        assert_eq!(out.code, 0, "{trap}: {out:#?}");
        assert_eq!(limited(&ground.txn, &["undo"]).go().code, 0);
        ground.person("test $(git rev-list --count main) = 1");
        // There afterwards.
        let Some(ground) = Ground::new(FIRST) else { return };
        ground.hold("echo 2 >> a && git commit -q -am second");
        ground.person(trap);
        let out = limited(&ground.txn, &["apply"]).go();
        assert!(
            out.code != 0 && out.stderr.contains("cannot read these refs: refs/heads/z"),
            "{trap}: {out:#?}"
        );
    }
}

/// Story: `placet review` drew nothing while git waited for a pipe in the place of one of its files.
#[test]
fn a_review_starts_no_git_that_would_wait_for_a_pipe() {
    let names = [
        ".git/HEAD",
        ".git/index",
        ".git/config",
        ".git/packed-refs",
        ".git/info/attributes",
        ".git/info/exclude",
        ".git/objects/info/alternates",
        ".git/refs/heads/main",
        ".gitattributes",
        "sub/.gitattributes",
    ];
    for (name, trap) in names.iter().flat_map(|name| [(name, "mkfifo"), (name, "ln -s /dev/zero")]) {
        let Some(ground) = Ground::new(FIRST) else { return };
        let tree = &ground.txn.tree;
        let line = format!(
            "mkdir -p sub .git/info; echo 2 >> a; rm -f {name}; {trap} {name}; ln -s {name} linked; true"
        );
        assert_eq!(ground.txn.sh(tree, &line), 0);
        let cwd = if name.starts_with("sub") { tree.join("sub") } else { tree.clone() };
        for args in [&["review"][..], &["review", "--staged"], &["review", "HEAD"]] {
            let out = limited(&ground.txn, args).cwd(&cwd).go();
            let file = name.rsplit('/').next().unwrap();
            assert_eq!(out.code, 1, "{trap} {name} {args:?}: {out:#?}");
            assert!(
                out.stderr.contains(file) && out.stderr.contains("and git would wait for it"),
                "{trap} {name} {args:?}: {out:#?}"
            );
        }
    }
}

#[test]
fn files_of_a_project_that_are_pipes_or_devices_are_reported_and_not_waited_for() {
    let ground = Ground::plain();
    let tree = &ground.txn.tree;
    for trap in ["mkfifo", "ln -s /dev/zero"] {
        for name in
            ["AGENTS.md", ".gitignore", ".ignore", ".placet/config.toml", ".git/info/exclude", ".git/HEAD"]
        {
            let line = format!("rm -rf x; mkdir -p x/.placet x/.git/info && {trap} x/{name}");
            assert_eq!(ground.txn.sh(tree, &line), 0);
            for args in [
                vec!["tool", "call", "find_files", r#"{"pattern":"*"}"#],
                vec!["tool", "call", "read_file", r#"{"path":"AGENTS.md"}"#],
                vec!["changes"],
            ] {
                let out = limited(&ground.txn, &args).cwd(&tree.join("x")).go();
                assert!(out.code < 100, "{trap} {name} {args:?}: {out:#?}");
            }
        }
    }
}

#[test]
fn reviewing_a_revision_runs_nothing_that_the_repository_names() {
    let setups = [
        ("filter.clean", "echo 'a filter=f' > .gitattributes; git config filter.f.clean CANARY"),
        (
            "filter.process",
            "echo 'a filter=f' > .gitattributes; git config filter.f.process CANARY; git config filter.f.required true",
        ),
        ("a name with dots", "echo 'a filter=x.y' > .gitattributes; git config filter.x.y.clean CANARY"),
        ("info/attributes", "echo 'a filter=f' > .git/info/attributes; git config filter.f.clean CANARY"),
        (
            "include",
            "echo 'a filter=f' > .gitattributes; git config -f ../inc filter.f.clean CANARY; git config include.path ../../inc",
        ),
        (
            "worktree",
            "git config extensions.worktreeConfig true; git config --worktree filter.f.clean CANARY; echo 'a filter=f' > .gitattributes",
        ),
        ("textconv", "echo 'a diff=f' > .gitattributes; git config diff.f.textconv CANARY"),
        ("diff.command", "echo 'a diff=f' > .gitattributes; git config diff.f.command CANARY"),
        ("diff.external", "git config diff.external CANARY"),
        ("fsmonitor", "git config core.fsmonitor CANARY; git config core.untrackedCache true"),
        ("hooks", "mkdir h; cp CANARY h/post-index-change; git config core.hooksPath h"),
        (
            "pager",
            "git config core.pager CANARY; git config pager.diff CANARY; git config pager.config CANARY",
        ),
        (
            "submodule",
            "git init -q ../up; git -C ../up commit -q --allow-empty -m 1; git submodule -q add ../up sub; \
                       git commit -q -m s; git config -f .git/modules/sub/config core.fsmonitor CANARY",
        ),
        (
            "lazy fetch",
            "git config remote.o.url 'ext::sh -c CANARY'; git config remote.o.promisor true; \
                        git config extensions.partialClone o; git config protocol.ext.allow always; \
                        rm -f .git/objects/$(git rev-parse HEAD:a | sed 's,^..,&/,')",
        ),
    ];
    if !require("git") {
        return;
    }
    for (name, setup) in setups {
        let ground = Ground::plain();
        // The set-up itself may have run it.
        ground.person(&format!("{FIRST}; {setup}; sleep 0; echo changed >> a; rm -f ../sang"));
        for args in
            [vec!["review", "HEAD", "--linear"], vec!["review", "--staged"], vec!["review", "HEAD", "--json"]]
        {
            let out = ground.txn.placet(&args).stdin("").go();
            ground.nothing_ran(&format!("{name}: {args:?}: {out:#?}"));
        }
    }
}

#[test]
fn a_repository_that_goes_is_called_so() {
    let Some(ground) = Ground::new(FIRST) else { return };
    let files = count(&ground.txn.tree.join(".git"));
    let out = ground.hold("rm -rf .git");
    let line = format!("D .git (removed the repository, {files} files)");
    assert!(out.stderr.contains(&line) && ground.listed().contains(&line), "{line}\n{out:#?}");
    assert!(!out.stderr.contains("M .git"));
    ground.done(&["discard"]);
    let out = ground.hold("git init -q --bare x");
    assert!(out.stderr.contains("A x (new repository, "), "{out:#?}");
    assert!(!out.stderr.contains("! "), "a new bare repository runs nothing: {out:#?}");
    // Story: the list of what was applied said `M`, as for a commit.
    let out = ground.txn.run(["apply", "--yes"]).code(0);
    assert!(out.stdout.contains("A x (new repository)"), "{out:#?}");
    ground.hold("rm -rf .git");
    let out = ground.txn.run(["apply", "--apply-protected", ".git"]).code(0);
    assert!(out.stdout.contains(&line), "{line}\n{out:#?}");
}

fn count(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    entries.map(|path| if path.is_dir() { count(&path) } else { 1 }).sum()
}

#[test]
fn settings_that_run_nothing_are_named_and_a_commit_names_none() {
    let Some(ground) = Ground::new(FIRST) else { return };
    let out =
        ground.hold("git commit -q --allow-empty -m second; git config remote.o.url https://example.org/x");
    assert!(out.stderr.contains("  .git/config: remote.o.url = https://example.org/x"), "{out:#?}");
    assert!(!out.stderr.contains("! "), "{out:#?}");
}

#[test]
fn a_worktree_outside_of_the_workspace_is_reported_as_missing() {
    let Some(ground) = Ground::new(FIRST) else { return };
    let out = ground.hold("git worktree add -q -b w ../wt2");
    let named = "registered, its directory was not created";
    let row = out.stderr.lines().find(|row| row.starts_with("worktree "));
    assert!(row.is_some_and(|row| row.contains(named)), "{out:#?}");
    assert!(!out.stderr.contains("! "), "nothing waits for an answer of its own: {out:#?}");
    assert!(out.stderr.contains("wt2 "), "{out:#?}");
    ground.done(&["discard"]);
    let out = ground.hold("git worktree add -q -b w wt3");
    assert!(!out.stderr.contains(named), "{out:#?}");
}
