//! What runs later is never applied with the rest, whatever the door: findings H6, H7 and H8 of the hostile reading.

use crate::support::binary::{Out, Place};
use crate::support::pty;
use crate::support::require::has_view;

/// The paths of finding H8: programs run or obey them, and they were applied unasked in write mode.
const PATHS: [&str; 80] = [
    ".envrc",
    ".git/hooks/pre-commit",
    ".husky/pre-commit",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".idea/workspace.xml",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".config/fish/config.fish",
    ".gitmodules",
    ".gitconfig",
    ".config/git/config",
    ".gitlab-ci.yml",
    ".travis.yml",
    "Jenkinsfile",
    ".github/workflows/ci.yml",
    ".gitea/workflows/ci.yml",
    ".forgejo/workflows/ci.yml",
    ".circleci/config.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".woodpecker.yml",
    ".buildkite/pipeline.yml",
    ".drone.yml",
    ".cirrus.yml",
    "appveyor.yml",
    ".npmrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "pip.conf",
    ".cargo/config.toml",
    ".cargo/config",
    ".bundle/config",
    ".gemrc",
    ".mvn/extensions.xml",
    "gradle/wrapper/gradle-wrapper.properties",
    "rust-toolchain.toml",
    "rust-toolchain",
    "mise.toml",
    ".mise.toml",
    ".tool-versions",
    "devbox.json",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".overcommit.yml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/commands/x.md",
    ".cursor/mcp.json",
    ".cursorrules",
    ".codex/config.toml",
    ".gemini/settings.json",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".devcontainer/devcontainer.json",
    ".gdbinit",
    ".lldbinit",
    ".vimrc",
    ".exrc",
    ".emacs.d/init.el",
    ".dir-locals.el",
    ".tmux.conf",
    ".ssh/authorized_keys",
    ".config/systemd/user/evil.service",
    ".config/autostart/evil.desktop",
];

/// What one turn plants: finding H6.
const PLANT: &str = "mkdir -p .husky .vscode && echo 'export X=1' > .envrc && echo x > .husky/pre-commit \
    && echo '{}' > .vscode/tasks.json && echo x > .git/hooks/post-merge && chmod +x .git/hooks/post-merge \
    && git config core.fsmonitor /bin/evil && echo new > plain.txt";
const PLANTED: [&str; 5] =
    [".envrc", ".husky/pre-commit", ".vscode/tasks.json", ".git/hooks/post-merge", ".git/config"];

/// A key counts when nothing was typed for half a second before it.
fn quiet() {
    std::thread::sleep(std::time::Duration::from_millis(700));
}

/// Settings and hooks come as ordinary files, and become those of a repository in a later turn.
#[test]
fn what_completes_a_repository_is_approved_like_its_settings() {
    let settings = "[core]\nbare = false\nworktree = ..\nfsmonitor = touch PWNED\n";
    let place = Place::new().file("first.sh", format!("mkdir r; printf '{settings}' > r/config"));
    if !has_view() {
        return;
    }
    place.write(
        "hooked.sh",
        "mkdir -p h/hooks; printf '#!/bin/sh\n' > h/hooks/pre-commit; chmod +x h/hooks/pre-commit",
    );
    place.write("plain.sh", "mkdir p; echo '[core]' > p/config");
    let completed = |dir: &str| {
        let head = format!("mkdir -p {dir}/objects {dir}/refs; echo ref: refs/heads/main > {dir}/HEAD");
        place.write("second.sh", head);
        place.run(["-p", "run sh second.sh", "--mode", "ask", "--apply"])
    };
    for script in ["first.sh", "hooked.sh", "plain.sh"] {
        place.run(["-p", &format!("run sh {script}"), "--mode", "ask", "--apply"]).code(0);
    }
    for (dir, why) in [("r", "core.fsmonitor"), ("h", "hooks/pre-commit")] {
        let out = completed(dir).code(3).warns("completes a git repository").warns(why);
        for name in ["HEAD", "objects", "refs"] {
            assert!(!place.tree.join(dir).join(name).exists(), "{dir}/{name}: {out:#?}");
        }
        place.run(["apply"]).code(3);
        assert!(!place.tree.join(dir).join("HEAD").exists(), "{dir}");
        place.run(["discard"]).code(0);
    }
    // A repository is made as a whole, and not beside what is there.
    completed("p").code(3).warns("is there already");
    assert!(!place.tree.join("p/HEAD").exists());
}

/// A submodule's directory is a repository, or is none and has nothing that git would transfer.
#[test]
fn the_hooks_of_a_submodule_that_is_not_complete_are_not_applied() {
    let place = Place::new().file(".git/HEAD", "ref: refs/heads/main\n");
    if !has_view() {
        return;
    }
    place.write(".git/objects/aa/b", "x");
    place.write(".git/refs/heads/main", "x");
    place.write(
        "do.sh",
        "mkdir -p .git/modules/x/hooks; printf '#!/bin/sh\n' > .git/modules/x/hooks/post-checkout; \
         echo '[core]' > .git/modules/x/config",
    );
    place.run(["-p", "run sh do.sh", "--mode", "ask", "--apply"]);
    assert!(!place.tree.join(".git/modules/x/hooks/post-checkout").exists());
    assert!(!place.tree.join(".git/modules/x/config").exists());
}

fn git(place: &Place, args: &[&str]) {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=n", "-c", "user.email=n@example.org"]).args(args);
    command
        .current_dir(&place.tree)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null");
    let out = command.output().unwrap();
    assert!(out.status.success(), "{args:?}: {out:?}");
}

fn repository() -> Place {
    let place = Place::new().file("README.md", "one\n").file("plant.sh", PLANT);
    git(&place, &["init", "-q", "-b", "main"]);
    git(&place, &["add", "README.md"]);
    git(&place, &["commit", "-q", "-m", "first"]);
    place
}

#[track_caller]
fn nothing_is_planted(place: &Place, out: &Out) {
    for path in PLANTED {
        let at = place.tree.join(path);
        let text = std::fs::read_to_string(&at).unwrap_or_default();
        assert!(path == ".git/config" || !at.exists(), "{path} was applied: {out:#?}");
        assert!(!text.contains("fsmonitor"), "{path}: {text}: {out:#?}");
    }
}

/// H6: flags of the command line applied what "no flag permits".
#[test]
fn no_flag_applies_what_runs_later_with_the_rest() {
    if !crate::support::require::require("git") {
        return;
    }
    for args in [
        vec!["-p", "run sh plant.sh", "--mode", "ask", "--apply"],
        vec!["-p", "run sh plant.sh", "--mode", "write", "--apply"],
        vec!["sandbox", "run", "--apply", "--", "sh plant.sh"],
    ] {
        let place = repository();
        if !has_view() {
            return;
        }
        let out = place.run(&args).code(3).warns("direnv runs it when you enter the directory");
        nothing_is_planted(&place, &out);
        assert_eq!(place.read("plain.txt"), "new\n", "{args:?}: the rest is applied: {out:#?}");
        // The first lines are those that need care.
        let marked: Vec<&str> = out.stderr.lines().filter(|l| l.starts_with("! ")).collect();
        assert!(marked.len() >= 5, "{args:?}: {out:#?}");
        place.run(["apply"]).code(3).warns("--apply-protected");
        nothing_is_planted(&place, &out);
        place.run(["apply", ".envrc", ".husky"]).code(3);
        nothing_is_planted(&place, &out);
        place
            .run(["apply", "plain.txt", "--apply-protected", ".envrc"])
            .code(1)
            .warns("nothing is pending at `plain.txt`");
        place.run(["apply", "--apply-protected", ".envrc"]).code(3).says("applied changes to 1 file");
        assert_eq!(place.read(".envrc"), "export X=1\n");
        assert!(!place.tree.join(".husky/pre-commit").exists());
        place
            .run(["apply", "--apply-protected", ".git/hooks/post-merge", "--apply-protected", ".git/config"])
            .code(3);
        assert!(
            place.read(".git/config").contains("fsmonitor")
                && !place.tree.join(".vscode/tasks.json").exists()
        );
    }
}

/// H6, without `--apply`: write mode applies what commands do, but not this.
#[test]
fn write_mode_applies_nothing_of_a_command_that_plants_something() {
    let place = repository();
    if !has_view() {
        return;
    }
    let out = place.run(["-p", "run sh plant.sh", "--mode", "write"]).code(3).warns("! ");
    nothing_is_planted(&place, &out);
    let out = place.run(["-p", "run sh plant.sh", "--mode", "write", "--apply-protected", ".envrc"]);
    let out = out.code(3);
    assert_eq!(place.read(".envrc"), "export X=1\n");
    assert!(
        !place.tree.join(".husky/pre-commit").exists() && !place.tree.join("plain.txt").exists(),
        "{out:#?}"
    );
}

/// H8: 64 of 76 of these were applied unasked.
#[test]
fn none_of_the_paths_that_something_runs_is_applied_unasked() {
    let mut script = String::from("set -e\n");
    for path in PATHS {
        script.push_str(&format!("mkdir -p \"$(dirname {path})\"; echo evil > {path}\n"));
    }
    script.push_str("echo new > plain.txt; echo '{}' > package.json\n");
    let place = Place::new().file("all.sh", script);
    if !has_view() {
        return;
    }
    place.run(["-p", "run sh all.sh", "--mode", "write"]).code(3);
    let out = place.run(["changes", "--json"]).code(0);
    let changes: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    let of = |path: &str| {
        let end = format!("/{path}");
        let found = changes.as_array().unwrap().iter().find(|c| c["path"].as_str().unwrap().ends_with(&end));
        found.unwrap_or_else(|| panic!("{path} is not pending")).clone()
    };
    for path in PATHS {
        assert!(of(path)["runs_later"]["by"].is_string(), "{path}: {}", of(path));
    }
    assert_eq!(of(".envrc")["runs_later"]["by"], "direnv");
    assert!(of("plain.txt")["runs_later"].is_null());
    assert_eq!(of("package.json")["runs_with_build"]["by"], "npm");
    place.run(["apply"]).code(3);
    assert_eq!(place.read("plain.txt"), "new\n");
    for path in PATHS {
        assert!(!place.tree.join(path).exists(), "{path} was applied unasked");
    }
    place.run(["apply", "--apply-protected", "AGENTS.md"]).code(3);
    let there: Vec<&str> = PATHS.into_iter().filter(|path| place.tree.join(path).exists()).collect();
    assert_eq!(there, ["AGENTS.md"], "exactly what was named");
}

/// Story: of `mv gh .github` the target waited, the source was removed, and the file was nowhere.
#[test]
fn a_move_to_a_protected_place_waits_whole_or_is_made_whole() {
    let moves = [
        ("gh/workflows/x.yml", ".github/workflows/x.yml", "mv gh .github"),
        ("claude/settings.json", ".claude/settings.json", "mv claude .claude"),
        ("k/e", ".mcp.json", "mv k/e .mcp.json; rmdir k"),
        ("zz.txt", ".mcp.json", "mv zz.txt .mcp.json"),
    ];
    for (old, new, line) in moves {
        for door in ["-p", "run", "apply", "write"] {
            let place =
                Place::new().file(old, "only copy\n").file("do.sh", format!("{line}; echo new > plain.txt"));
            place.write("claude/notes", "notes\n");
            if !has_view() {
                return;
            }
            let out = match door {
                "-p" => place.run(["-p", "run sh do.sh", "--mode", "ask", "--apply"]),
                "run" => place.run(["run", "--apply", "--", "sh", "do.sh"]),
                "apply" => {
                    place.run(["-p", "run sh do.sh", "--mode", "ask"]).code(3);
                    place.run(["apply"])
                }
                _ => {
                    place.run(["-p", "run sh do.sh", "--mode", "write"]).code(3);
                    place.run(["apply"])
                }
            };
            let what = format!("{door}, {line}: {out:#?}");
            assert_eq!(place.read(old), "only copy\n", "{what}");
            assert!(!place.tree.join(new).exists(), "{what}");
            assert_eq!(place.read("plain.txt"), "new\n", "{what}");
            let listed = place.run(["changes"]).code(0);
            assert!(listed.stdout.contains(&format!("R {old} -> {new}")), "{listed:#?}");
            match door {
                // The target goes, and its source stays.
                "-p" => drop(place.run(["discard", new]).code(0)),
                "run" => drop(place.run(["discard"]).code(0)),
                _ => {
                    // With that directory another file moves, which waits on.
                    let code = if line.starts_with("mv claude") { 3 } else { 0 };
                    place.run(["apply", "--apply-protected", new]).code(code);
                    assert_eq!(place.read(new), "only copy\n", "{what}");
                    assert!(!place.tree.join(old).exists(), "{what}");
                    continue;
                }
            }
            assert_eq!(place.read(old), "only copy\n", "{what}");
            let left = place.run(["changes"]).code(0);
            assert!(!left.stdout.contains(old), "{left:#?}");
        }
    }
}

/// The same files by a file tool, in the modes that write: asked, and without a person refused.
#[test]
fn file_tools_do_not_write_what_runs_later_in_write_mode() {
    let place = Place::new();
    for path in
        [".envrc", "AGENTS.md", ".claude/settings.json", "rust-toolchain.toml", "lefthook.yml", ".gdbinit"]
    {
        let prompt = format!("create {path} with \"x\"");
        place.run(["-p", &prompt, "--mode", "write"]).code(3);
        assert!(!place.tree.join(path).exists(), "{path}");
        place.run(["-p", &prompt, "--mode", "ask", "--apply"]).code(3);
        assert!(!place.tree.join(path).exists(), "{path}");
        place.run(["discard"]).code(0);
    }
    place.run(["-p", "create src.rs with \"x\"", "--mode", "write"]).code(0);
    assert_eq!(place.read("src.rs"), "x");
}

/// A link makes a plain file something that runs later.
#[test]
fn links_to_a_plain_name_and_from_one_do_not_help() {
    let place = Place::new().file("scripts/check.sh", "ok\n").file(".envrc", "old\n");
    if !has_view() {
        return;
    }
    std::fs::create_dir_all(place.tree.join(".git/hooks")).unwrap();
    std::os::unix::fs::symlink("../../scripts/check.sh", place.tree.join(".git/hooks/pre-commit")).unwrap();
    std::os::unix::fs::symlink(".envrc", place.tree.join("notes")).unwrap();
    for line in [
        "echo evil > scripts/check.sh",
        "echo evil > notes",
        "mkdir h && echo evil > h/pre-push && mv h .husky",
        "ln -s scripts .githooks",
        "echo evil > .ENVRC",
        "chmod +x .envrc",
    ] {
        let run = format!("run {line}");
        place.run(["-p", &run, "--mode", "ask", "--apply"]).code(3).warns("! ");
        assert_eq!(place.read("scripts/check.sh"), "ok\n", "{line}");
        assert_eq!(place.read(".envrc"), "old\n", "{line}");
        assert!(!place.tree.join(".husky").exists() && !place.tree.join(".ENVRC").exists(), "{line}");
        place.run(["discard"]).code(0);
    }
    place.run(["-p", "overwrite scripts/check.sh with \"evil\" anyway", "--mode", "write"]).code(3);
    assert_eq!(place.read("scripts/check.sh"), "ok\n");
}

#[test]
fn a_person_adds_paths_and_a_project_may_only_add() {
    let place = Place::new().config("[permission]\nprotected = [\"deploy/*.sh\"]\n");
    place.write(".placet/config.toml", "[permission]\nprotected = [\"ops/\"]\n");
    for path in ["deploy/run.sh", "ops/x", ".envrc"] {
        let prompt = format!("create {path} with \"x\"");
        place.run(["-p", &prompt, "--mode", "ask", "--apply"]).code(3).warns("not applied: ");
        assert!(!place.tree.join(path).exists(), "{path}");
        place.run(["discard"]).code(0);
    }
    let out =
        place.run(["-p", "create a.txt with \"x\"", "--set", "permission.protected=a//b", "--mode", "ask"]);
    assert!(out.stderr.contains("a//b"), "{out:#?}");
}

/// `rm -rf .git` was `M .git`.
#[test]
fn the_removal_of_a_repository_is_said_first() {
    let place = repository();
    if !has_view() {
        return;
    }
    let out = place.run(["-p", "run rm -rf .git plant.sh", "--mode", "ask"]).code(3);
    let at = |words: &str| out.stderr.find(words).unwrap_or_else(|| panic!("{words}: {out:#?}"));
    assert!(at("removes the repository `.git`") < at("D plant.sh"));
    assert!(at("! D .git (removed the repository") < at("D plant.sh"));
}

/// The review called `.git/hooks` with its files "an empty directory that is removed".
#[test]
fn the_removal_of_the_hooks_counts_and_lists_their_files() {
    let place = repository();
    if !has_view() {
        return;
    }
    let hooks = place.tree.join(".git/hooks");
    let _ = std::fs::remove_dir_all(&hooks);
    for name in ["post-merge", "pre-commit", "pre-push"] {
        place.write(&format!(".git/hooks/{name}"), "exit 0\n");
    }
    place.run(["-p", "run rm -r .git/hooks", "--mode", "ask"]).code(3);
    let row = "! D .git/hooks/ (the directory and everything in it: 3 files)";
    let out = place.run(["changes"]);
    assert!(out.stdout.contains(row), "{out:#?}");
    let mut pty =
        pty::shell().size(110, 40).arg("--mode").arg("ask").file(".git/HEAD", "ref: refs/heads/main\n");
    pty = pty.file(".git/objects/info/packs", "").file(".git/refs/heads/.keep", "");
    for name in ["post-merge", "pre-commit", "pre-push"] {
        pty = pty.file(&format!(".git/hooks/{name}"), "exit 0\n");
    }
    let mut pty = pty.open();
    pty.line("run rm -r .git/hooks");
    pty.until("the question", |s| s.contains(".git/hooks/ (the directory and everything in it: 3 files)"));
    pty.answer("r");
    pty.until("the review", |s| s.contains("D .git/hooks/pre-push"));
    let screen = pty.screen();
    assert!(screen.contains("the directory and everything in it: 3 files"), "{screen}");
    assert!(!screen.contains("an empty directory"), "{screen}");
}

/// H7: in the question a planted file looked like any other, and one key applied it.
#[test]
fn the_question_names_what_runs_later_first_and_asks_about_it_alone() {
    let mut pty = pty::shell().size(110, 40).arg("--mode").arg("ask").file("notes.txt", "one\n").open();
    pty.line(
        "run echo two > notes.txt; echo 'export X=1' > .envrc; mkdir .vscode; echo '{}' > .vscode/tasks.json",
    );
    pty.until("the question", |s| s.contains("Apply all but the 2 marked !"));
    let screen = pty.screen();
    let at = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(
        at("! A .envrc") < at("M notes.txt") && at("direnv runs it when you enter") < at("M notes.txt"),
        "{screen}"
    );
    pty.answer("a");
    pty.until("the first file alone", |s| s.contains(".envrc (created): apply this file?"));
    assert!(pty.read("notes.txt") == "two\n" && !pty.exists(".envrc") && !pty.exists(".vscode/tasks.json"));
    pty.answer("n");
    pty.until("the second file", |s| s.contains("tasks.json (created): apply this file?"));
    assert!(!pty.exists(".envrc"));
    pty.answer("y");
    pty.until("what is left", |s| s.contains("changes to 1 file are pending"));
    assert!(pty.exists(".vscode/tasks.json") && !pty.exists(".envrc"));
    pty.line("/apply .");
    pty.until("that it stays", |s| s.contains("`/apply .envrc` applies it"));
    assert!(!pty.exists(".envrc"));
    pty.line("/apply .envrc");
    pty.until("that it is applied", |_| pty.exists(".envrc"));
}

/// A large loss needs its name typed, also in ask mode.
#[test]
fn the_question_about_a_removed_repository_wants_its_name() {
    if !crate::support::require::require("git") {
        return;
    }
    let mut pty = pty::shell().size(110, 40).arg("--mode").arg("ask").file("notes.txt", "one\n").open();
    pty.line("!git init -q . && git add . && echo made");
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    pty.line("run rm -rf .git; echo two > notes.txt");
    pty.until("the question", |s| s.contains("removes the repository `.git`") && s.contains("Apply"));
    pty.answer("a");
    pty.until("the second look", |s| s.contains("asks because: removes the repository `.git`"));
    pty.answer("y");
    pty.until("the word", |s| s.contains("type `.git`"));
    assert!(pty.exists(".git/HEAD") && pty.read("notes.txt") == "one\n");
    quiet();
    pty.send(".git");
    pty.until("the typed word", |s| s.contains("> .git"));
    quiet();
    pty.send("\r");
    pty.until("that it is applied", |_| !pty.exists(".git/HEAD") && pty.read("notes.txt") == "two\n");
}
