//! Files that settings of git name: git runs them at its next command, although their names say nothing.

use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::Txn;

const BEFORE: &str = "export GIT_CONFIG_NOSYSTEM=1; git init -q -b main . && git config user.name A && git config user.email a@x \
    && mkdir -p tools && echo true > f.sh && echo true > tools/x && chmod +x f.sh tools/x && echo one > a.txt && git add . \
    && git commit -qm First";

/// What the person set before, what the agent does, the file that waits, and the setting that names it.
const CASES: [(&str, &str, &str, &str); 22] = [
    ("git config core.fsmonitor ./f.sh", "echo y >> f.sh", "f.sh", "core.fsmonitor"),
    ("git config core.fsmonitor \"$PWD/f.sh\"", "echo y >> f.sh", "f.sh", "core.fsmonitor"),
    ("git config core.fsmonitor 'sh f.sh'", "echo y >> f.sh", "f.sh", "core.fsmonitor"),
    ("git config core.sshCommand ./tools/x", "echo y >> tools/x", "tools/x", "core.sshcommand"),
    ("git config core.editor 'tools/x -w'", "echo y >> tools/x", "tools/x", "core.editor"),
    ("git config sequence.editor ./tools/x", "echo y >> tools/x", "tools/x", "sequence.editor"),
    ("git config core.pager 'sh ./tools/x | less'", "echo y >> tools/x", "tools/x", "core.pager"),
    ("git config filter.a.clean 'python3 tools/x %f'", "echo y >> tools/x", "tools/x", "filter.a.clean"),
    ("git config filter.a.smudge tools/x", "echo y >> tools/x", "tools/x", "filter.a.smudge"),
    ("git config filter.a.process tools/x", "echo y >> tools/x", "tools/x", "filter.a.process"),
    ("git config diff.a.textconv tools/x", "echo y >> tools/x", "tools/x", "diff.a.textconv"),
    ("git config diff.a.command tools/x", "echo y >> tools/x", "tools/x", "diff.a.command"),
    ("git config merge.a.driver 'tools/x %O %A %B'", "echo y >> tools/x", "tools/x", "merge.a.driver"),
    ("git config gpg.program tools/x", "echo y >> tools/x", "tools/x", "gpg.program"),
    ("git config credential.helper '!./tools/x'", "echo y >> tools/x", "tools/x", "credential.helper"),
    ("git config alias.x '!cd tools && ./x'", "echo y >> tools/x", "tools/x", "alias.x"),
    // A file that is not there yet, one that replaces the other, one to which a link leads, and one that becomes a link.
    ("git config core.fsmonitor new.sh/../new.sh", "echo y > new.sh", "new.sh", "core.fsmonitor"),
    ("git config core.fsmonitor ./f.sh", "mv a.txt f.sh", "f.sh", "core.fsmonitor"),
    (
        "ln -s tools/x link; git config core.fsmonitor ./link",
        "echo y >> tools/x",
        "tools/x",
        "core.fsmonitor",
    ),
    ("git config core.fsmonitor ./f.sh", "ln -sf a.txt f.sh", "f.sh", "core.fsmonitor"),
    // Settings that another file has, and those of the person.
    (
        "printf '[core]\\n\\tfsmonitor = ./f.sh\\n' > ../more; git config include.path ../../more",
        "echo y >> f.sh",
        "f.sh",
        "core.fsmonitor",
    ),
    ("git config --file ../home/.gitconfig alias.x '!sh tools/x'", "echo y >> tools/x", "tools/x", "alias.x"),
];

fn after_turn(before: &str, agent: &str) -> Txn {
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, &format!("{BEFORE} && {before}")), 0, "{before}");
    let out = txn.run(["-p", &format!("run {agent}"), "--mode", "ask"]);
    assert_eq!(out.code, 3, "{agent}: {out:#?}");
    txn
}

#[test]
fn a_file_that_a_setting_runs_waits() {
    if !has_view() || !require("git") {
        return;
    }
    for (before, agent, file, key) in CASES {
        let txn = after_turn(before, &format!("{agent}; echo plain > plain.txt"));
        let listed = txn.run(["changes"]).stdout;
        let row = listed.lines().find(|row| row.starts_with("! ") && row.contains(file)).unwrap_or_default();
        assert!(row.contains(&format!("(git runs it: `{key}` names it)")), "{before}: {listed}");
        let content = txn.read(file);
        let out = txn.run(["apply"]);
        assert_ne!(out.code, 0, "{before}: {out:#?}");
        assert!(out.stdout.contains(&format!("not applied: {file}: git runs it")), "{before}: {out:#?}");
        assert_eq!(content, txn.read(file), "{before}");
        assert_eq!(txn.read("plain.txt").as_deref(), Some("plain\n"), "{before}");
        let out = txn.run(["apply", "--apply-protected", file]);
        assert!(!out.stdout.contains("not applied"), "{before}: {out:#?}");
        assert_ne!(content, txn.read(file), "{before}");
    }
}

/// A setting that a turn gives waits, and so does the file that it names.
#[test]
fn a_setting_and_its_file_wait_together() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = after_turn("true", "git config core.fsmonitor ./f.sh; echo y >> f.sh");
    let listed = txn.run(["changes"]).stdout;
    assert!(listed.contains("! M .git/config") && listed.contains("! M f.sh"), "{listed}");
}

/// The settings of many people, and changes of files that they do not name.
#[test]
fn a_setting_that_names_no_file_of_the_workspace_makes_none_wait() {
    if !has_view() || !require("git") {
        return;
    }
    const SETTINGS: &str = "g='git config --file ../home/.gitconfig'; $g core.pager 'delta --side-by-side'; \
        $g core.editor 'code --wait'; $g alias.st 'status -sb'; $g alias.lg 'log --oneline --graph'; \
        $g alias.up '!git fetch --all && git rebase origin/main'; $g filter.lfs.process 'git-lfs filter-process'; \
        $g filter.lfs.clean 'git-lfs clean -- %f'; $g credential.helper 'store --file ~/.credentials'; \
        $g diff.tool vimdiff; $g difftool.vimdiff.cmd 'vimdiff \"$LOCAL\" \"$REMOTE\"'; $g merge.ours.driver true; \
        $g diff.word.textconv 'pandoc --to=plain'; $g gpg.program gpg2; $g core.hooksPath ~/hooks; \
        $g core.excludesFile ~/.ignore; git config core.fsmonitor true";
    let agent = "for n in a.txt f.sh tools/x delta code status gpg2 git src/main.rs; do mkdir -p $(dirname $n); \
        echo y >> $n; done";
    let txn = after_turn(SETTINGS, agent);
    let listed = txn.run(["changes"]).stdout;
    assert!(!listed.contains('!'), "{listed}");
    assert_eq!(txn.run(["apply"]).code, 0);
    assert_eq!(txn.run(["changes"]).stdout, "");
}
