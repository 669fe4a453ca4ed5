//! What a person reads of a command of git, and that apply, undo and redo make it exactly: about a hundred commands, run
//! by the agent in ask mode with the real binary.
//!
//! The commands are in `tests/fixtures/git_commands.txt`. Each runs once without placet, and once with it over a tree
//! made in the same way, under the same path. The clock of git is a variable, so the names of all commits are the same
//! each time.

use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::{Snap, Txn, differences, snap};
use placet_git::{GitFileClass, GitName, class_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The functions of the person's and the agent's shell. Each command of git comes a minute after the one before it. Without
/// templates a repository has half of the files, and each is copied ten times.
const SHELL: &str = r#"
umask 022; export GIT_TEMPLATE_DIR= GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=5 GIT_EDITOR=true GIT_TERMINAL_PROMPT=0
export GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always GIT_CONFIG_KEY_1=gc.auto GIT_CONFIG_VALUE_1=0
export GIT_CONFIG_KEY_2=pack.threads GIT_CONFIG_VALUE_2=1 GIT_CONFIG_KEY_3=maintenance.auto GIT_CONFIG_VALUE_3=false
export GIT_CONFIG_KEY_4=init.defaultBranch GIT_CONFIG_VALUE_4=main
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@x
git() {
    T=$((T + 60)); export GIT_AUTHOR_DATE="$T +0000" GIT_COMMITTER_DATE="$T +0000"; command git "$@"
}
repository() {
    mkdir -p "$1"; cd "$1"; git init -q -b main .; printf 'one\ntwo\n' > a.txt; git add .; git commit -qm First
    echo b > b.txt; git add .; git commit -qm Second
}
beside() {
    git switch -q -c topic; echo "$1" > "$2"; git add .; git commit -qm Topic; git switch -q main
    printf '1\ntwo\n' > a.txt; git commit -qam Main
}
diverge() { beside c c.txt; }
conflict() { beside ONE a.txt; }
"#;

#[derive(Default)]
struct GitCase {
    title: String,
    before: String,
    agent: String,
    apply: String,
}

fn cases() -> Vec<GitCase> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/git_commands.txt");
    let text = std::fs::read_to_string(file).unwrap().replace("\n  ", " ");
    let mut cases: Vec<GitCase> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix("== ") {
            cases.push(GitCase { title: title.into(), ..GitCase::default() });
            continue;
        }
        let case = cases.last_mut().unwrap();
        let (key, value) = line.split_once(": ").unwrap();
        match key {
            "before" => case.before = value.into(),
            "agent" => case.agent = value.into(),
            "apply" => case.apply = value.into(),
            other => panic!("{other}"),
        }
    }
    cases
}

/// What git says of every repository below a directory, without the times and inodes in its index.
///
/// It is read in a copy: git writes trees when it reads a sparse index.
const STATE: &str = r#"
rm -rf ../copy; cp -a . ../copy; cd ../copy
export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_COUNT=1
export GIT_CONFIG_KEY_0=advice.sparseIndexExpanded GIT_CONFIG_VALUE_0=false
find . -name HEAD ! -path '*/logs/*' ! -path '*/refs/*' | sort | while read -r head; do
    dir=${head%/HEAD}; test -f $head || continue; test -d $dir/objects || test -f $dir/commondir || continue
    echo "== $dir"; cat $head 2>/dev/null
    git --git-dir=$dir for-each-ref; git --git-dir=$dir rev-parse -q --verify HEAD
    git --git-dir=$dir ls-files -s -v
    git --git-dir=$dir ls-files -s --debug --sparse | grep -v -e '^ *[cm]time:' -e '^ *dev:' -e '^ *uid:' -e '^ *size:'
    git --git-dir=$dir stash list
    git --git-dir=$dir config --local --list
    git --git-dir=$dir worktree list --porcelain | grep -v ^prunable | sed "s:$PWD/:TREE/:; s:${PWD%/copy}/tree/:TREE/:"
    git --git-dir=$dir fsck --full --no-progress --no-dangling 2>&1 | grep -v "missing tree 4b825dc"
    test $dir = ${dir%.git} || git -C ${dir%.git} status --porcelain=v2 --branch 2>&1
done
"#;

impl GitCase {
    /// What the person reads.
    fn run(&self) -> Result<String, String> {
        let txn = Txn::on_disk();
        let plain = txn.base.join("plain");
        let script = |clock: &str, line: &str| format!("{SHELL}T={clock}\n{line}\n");
        let (before, agent) = (script("1700000000", &self.before), script("1700100000", &self.agent));
        // Absolute paths that git writes have to be the same: the plain run is at the same place, and moved away.
        txn.sh(&txn.tree, &before);
        txn.sh(&txn.tree, &agent);
        let wanted_state = state(&txn);
        std::fs::remove_dir(&plain).unwrap();
        std::fs::rename(&txn.tree, &plain).unwrap();
        let _ = std::fs::remove_dir_all(txn.base.join("wt"));
        std::fs::create_dir(&txn.tree).unwrap();
        txn.sh(&txn.tree, &before);
        let (original, original_state) = (txn.snap(), state(&txn));
        let done = |args: &[&str]| {
            let out = txn.placet(args).env("AGENT_SCRIPT", &agent).go();
            // A turn that leaves changes pending ends with 3.
            let expected = if args.contains(&"-p") { [0, 3] } else { [0, 0] };
            if expected.contains(&out.code) { Ok(out) } else { Err(format!("{args:?}: {out:#?}")) }
        };
        let turn = done(&["-p", "run eval \"$AGENT_SCRIPT\"", "--mode", "ask"])?;
        let listed = done(&["changes"])?.stdout;
        if let Some(row) = listed.lines().find(|row| !turn.stderr.contains(row.trim_start())) {
            return Err(format!("the turn does not show `{row}`: {turn:#?}"));
        }
        same("before apply", &original, &txn.snap())?;
        let options: Vec<&str> = self.apply.split_whitespace().collect();
        let apply = [&["apply", "--set", "brake.files=1000"][..], &options].concat();
        if !listed.is_empty() {
            done(&apply)?;
            let (applied, wanted) = (without_state(txn.snap()), without_state(snap(&plain)));
            let original = without_state(original);
            same("without placet | applied", &with_kept(wanted, &original, &applied), &applied)?;
            equal("git without placet | applied", &wanted_state, &state(&txn))?;
            done(&["undo"])?;
            same("at the beginning | undone", &original, &without_state(txn.snap()))?;
            equal("git at the beginning | undone", &original_state, &state(&txn))?;
            done(&["redo"])?;
            same("applied | redone", &applied, &without_state(txn.snap()))?;
            equal("git applied | redone", &wanted_state, &state(&txn))?;
        }
        let base = txn.base.display().to_string();
        let listed = listed.replace(&base, "BASE");
        Ok(listed.lines().map(|line| without_counts(line) + "\n").collect())
    }
}

/// How many files git writes for a command differs between its versions.
fn without_counts(line: &str) -> String {
    let Some((row, rest)) = line.split_once(" (").filter(|_| line.contains("repository")) else {
        return line.into();
    };
    let (counts, end) = rest.split_once(')').unwrap_or((rest, ""));
    let parts = counts.split(' ').map(|word| if word.parse::<u32>().is_ok() { "N" } else { word });
    let counts = parts.collect::<Vec<_>>().join(" ");
    let counts = if counts.ends_with("N file") { format!("{counts}s") } else { counts };
    format!("{row} ({}){end}", counts.replace("N file of", "N files of"))
}

fn is_in_repository(path: &Path) -> bool {
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.ends_with(".git") || part == "gd"
    })
}

/// Without the files of which git itself says what is in them.
fn without_state(mut snap: Snap) -> Snap {
    snap.retain(|path, _| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let has = |dir: &str| path.components().any(|part| part.as_os_str() == dir);
        let is_of_state = ["reftable", "objects", "refs", "logs"].into_iter().any(has)
            || ["HEAD", "index", "packed-refs"].contains(&&*name)
            || name.starts_with("sharedindex.");
        // A worktree that was removed comes back without what git keeps for its own comfort.
        let is_comfort = has("worktrees") && name == "ORIG_HEAD";
        !(is_in_repository(path) && (is_of_state || is_comfort))
    });
    // git makes some of its files for the person alone.
    for words in snap.iter_mut().filter(|(path, _)| is_in_repository(path)).map(|(_, words)| words) {
        *words = words.replacen("100600", "100644", 1);
    }
    snap
}

/// A file of git that is applied where its name was approved.
fn waits(path: &Path) -> bool {
    let is_directory = |dir: &&Path| {
        dir.to_string_lossy().ends_with(".git")
            || dir.ends_with("gd")
            || dir.parent().is_some_and(|dir| dir.ends_with("modules"))
    };
    let rel = path.ancestors().find(is_directory).and_then(|dir| path.strip_prefix(dir).ok());
    let class = rel.map(|rel| class_of(&GitName::from(rel)));
    class.is_some_and(|class| {
        !matches!(class, GitFileClass::Carried | GitFileClass::NotCarried | GitFileClass::OperationTrace(_))
    })
}

/// What is not applied of a repository is there as it was before.
fn with_kept(mut wanted: Snap, original: &Snap, applied: &Snap) -> Snap {
    let is_kept = |path: &&PathBuf| is_in_repository(path) && !waits(path);
    let paths: Vec<PathBuf> = wanted.keys().chain(original.keys()).filter(is_kept).cloned().collect();
    for path in paths {
        match original.get(&path) {
            now if now != applied.get(&path) => {}
            Some(words) => drop(wanted.insert(path, words.clone())),
            None => drop(wanted.remove(&path)),
        }
    }
    wanted
}

fn state(txn: &Txn) -> String {
    let file = txn.base.join("state");
    txn.sh(&txn.tree, &format!("({STATE}) > ../state"));
    std::fs::read_to_string(file).unwrap()
}

fn same(what: &str, one: &Snap, other: &Snap) -> Result<(), String> {
    let lines: Vec<String> = differences(one, other).into_iter().map(|(_, line)| line).collect();
    if lines.is_empty() { Ok(()) } else { Err(format!("{what}\n      {}", lines.join("\n      "))) }
}

fn equal(what: &str, one: &str, other: &str) -> Result<(), String> {
    let of = |text: &str| text.lines().map(String::from).collect::<BTreeSet<_>>();
    let (one_lines, other_lines) = (of(one), of(other));
    let only: Vec<String> = one_lines
        .difference(&other_lines)
        .map(|line| format!("- {line}"))
        .chain(other_lines.difference(&one_lines).map(|line| format!("+ {line}")))
        .collect();
    if one == other { Ok(()) } else { Err(format!("{what}\n      {}", only.join("\n      "))) }
}

#[test]
fn each_command_of_git_is_shown_applied_undone_and_redone_exactly() {
    if !has_view() || !require("git") {
        return;
    }
    let only = std::env::var("PLACET_SCENARIO").unwrap_or_default();
    let cases: Vec<GitCase> = cases().into_iter().filter(|case| case.title.contains(&only)).collect();
    assert!(!only.is_empty() || cases.len() >= 50);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(vec![None; cases.len()]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { return };
                    let result = case.run();
                    results.lock().unwrap()[at] = Some(result);
                }
            });
        }
    });
    let (mut shown, mut failed) = (String::new(), Vec::new());
    for (case, result) in cases.iter().zip(results.into_inner().unwrap()) {
        shown.push_str(&format!("== {}\n   {}\n", case.title, case.agent));
        match result.unwrap() {
            Ok(rows) => shown.push_str(&rows),
            Err(why) => failed.push(format!("{}: {why}", case.title)),
        }
    }
    if let Ok(file) = std::env::var("PLACET_GIT_ROWS") {
        std::fs::write(file, &shown).unwrap();
    }
    assert!(failed.is_empty(), "{} of {}:\n  {}", failed.len(), cases.len(), failed.join("\n  "));
    if only.is_empty() {
        insta::assert_snapshot!("git_commands", shown);
    }
}
