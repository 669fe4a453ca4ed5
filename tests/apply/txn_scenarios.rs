//! Whatever a shell line does, the view shows it first, `apply` makes exactly it, `undo` takes exactly
//! it back, `redo` makes it again, and another `undo` takes it back again.
//!
//! Each scenario runs plainly in one tree and in the view over an identical one, with the real binary.

use crate::support::is_full;
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::{Snap, Txn, differences, snap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Scenario {
    name: &'static str,
    /// Before, in the common tree.
    setup: &'static str,
    run: &'static str,
    needs: &'static [&'static str],
    /// Paths at and below which the applied tree is not the plain one, and why it cannot be.
    applied: &'static [(&'static str, &'static str)],
    /// The same for the tree after undo against the one at the beginning.
    undone: &'static [(&'static str, &'static str)],
    /// What is applied only with an answer of its own.
    protected: &'static [&'static str],
    /// Also run by a user who is not root.
    user: bool,
}

const fn case(name: &'static str, run: &'static str) -> Scenario {
    Scenario { name, setup: "", run, needs: &[], applied: &[], undone: &[], protected: &[], user: false }
}

impl Scenario {
    const fn after(self, setup: &'static str) -> Scenario {
        Scenario { setup, ..self }
    }

    const fn needs(self, needs: &'static [&'static str]) -> Scenario {
        Scenario { needs, ..self }
    }

    const fn applied_but(self, applied: &'static [(&'static str, &'static str)]) -> Scenario {
        Scenario { applied, ..self }
    }

    const fn undone_but(self, undone: &'static [(&'static str, &'static str)]) -> Scenario {
        Scenario { undone, ..self }
    }

    const fn protected(self, protected: &'static [&'static str]) -> Scenario {
        Scenario { protected, ..self }
    }

    const fn by_a_user_too(self) -> Scenario {
        Scenario { user: true, ..self }
    }
}

/// A little of everything.
const COMMON: &str = r#"
printf 'alpha\nbeta\ngamma\n' > a.txt; printf 'one\ntwo\n' > b.txt; printf 'three' > c.txt
printf 'x\000y\377\n' > bin; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; printf ro > ro; chmod 444 ro
: > empty; mkdir -p dir/sub emptydir d2; echo x > dir/x; echo y > dir/y; echo z > dir/sub/z; echo q > d2/q
ln -s a.txt link; ln -s dir dlink; ln -s nowhere dangling
echo shared > h1; ln h1 h2; mkdir sg; chmod 2775 sg; echo s > sg/s; echo hid > .hidden; echo sp > 'name with space'
head -c 200000 /dev/zero | tr '\0' z > big
"#;

const GIT: &str = r#"
export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e
export GIT_AUTHOR_DATE='2024-01-01T00:00:00Z' GIT_COMMITTER_DATE='2024-01-01T00:00:00Z' GIT_CONFIG_NOSYSTEM=1
"#;

const REPOSITORY: &str = "git init -q -b main . && git add a.txt b.txt dir && git commit -q -m first \
     && git branch side && echo more >> b.txt && git commit -q -am second && echo dirty >> a.txt";

const SOCKET: &str = "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"s\")'";

const STAYS: &str = "a file that is neither a regular file nor a directory is never moved";

const SPLIT: &str = "in the view a name of a file with several is a file of its own: what was shown lands, and no other \
                     name changes with it";
const APART: &str = "contents come back, but which other names a file had is not recorded";

#[rustfmt::skip]
const SCENARIOS: &[Scenario] = &[
    case("redirect over a file", "echo new > a.txt").by_a_user_too(),
    case("append", "echo more >> a.txt"),
    case("no final newline", "printf x >> c.txt"),
    case("same bytes again", "cat a.txt > t && cat t > a.txt && rm t"),
    case("mv over a file", "mv b.txt a.txt").by_a_user_too(),
    case("mv over a link", "mv b.txt link"),
    case("mkdir on a file's name", "rm a.txt && mkdir a.txt && echo in > a.txt/in").by_a_user_too(),
    case("file on a directory's name", "rm -rf dir && echo file > dir").by_a_user_too(),
    case("file, directory, file", "rm a.txt && mkdir a.txt && rmdir a.txt && echo again > a.txt"),
    case("directory to link", "rm -r dir && ln -s d2 dir"),
    case("link to directory", "rm dlink && mkdir dlink && echo n > dlink/n"),
    case("link to file", "rm link && echo file > link"),
    case("file to link", "rm a.txt && ln -s b.txt a.txt"),
    case("link to another target", "ln -sfn b.txt link"),
    case("write through a link", "echo through >> link"),
    case("write through a link to a directory", "echo through > dlink/new"),
    case("dangling link gets its target", "echo there > dangling"),
    case("mv a directory into another", "mv d2 dir/").by_a_user_too(),
    case("mv a lower directory", "mv dir moved").by_a_user_too(),
    case("mv a directory over an empty one", "mv -T dir emptydir"),
    case("mv a new directory", "mkdir n && echo 1 > n/1 && mv n m && echo 2 > m/2"),
    case("tar x", "tar cf ../t.tar -C . dir d2 && mkdir out && tar xf ../t.tar -C out && rm -f ../t.tar")
        .after("mkdir -p out0"),
    case("tar over what is there", "tar cf t.tar dir && echo changed > dir/x && tar xf t.tar && rm t.tar"),
    case("sed -i", "sed -i s/beta/BETA/ a.txt").by_a_user_too(),
    case("sed -i on many", "sed -i 's/^/> /' a.txt b.txt dir/x dir/sub/z"),
    case("hard link to a file that is there", "ln a.txt z.txt && ln b.txt 0.txt"),
    case("two new hard links", "echo n > n1 && ln n1 n2 && ln n1 0n"),
    case("a third name", "ln h1 h3"),
    case("one of two names goes", "rm h2").undone_but(&[("h2", APART)]),
    case("both names go", "rm h1 h2"),
    case("a name goes to another file", "ln -f b.txt a.txt"),
    case("sed -i breaks a hard link", "sed -i s/shared/alone/ h2").undone_but(&[("h2", APART)]),
    case("append to one of two names", "echo more >> h2").applied_but(&[("h1", SPLIT), ("h2", SPLIT)])
        .undone_but(&[("h2", APART)]),
    case("chmod of one of two names", "chmod 600 h2").protected(&["h2"]),
    case("cp -al", "cp -al d2 d3").by_a_user_too(),
    case("ln -s", "ln -s dir/x s1 && ln -s /etc/hostname s2 && ln -s loop loop"),
    case("chmod", "chmod 600 a.txt && chmod 755 b.txt && chmod 4755 c.txt")
        .protected(&["c.txt"])
        .by_a_user_too(),
    case("chmod and content", "echo c > c.txt && chmod 640 c.txt").by_a_user_too(),
    case("chmod of a directory", "chmod 700 dir && chmod 1777 emptydir").by_a_user_too(),
    case("chmod of the root", "chmod 750 ."),
    case("chmod of the root and a file", "chmod 750 . && echo n > n"),
    case("a file nobody may read", "chmod 000 a.txt && echo s > s && chmod 000 s").by_a_user_too(),
    case("a file and a root nobody may write", "echo n > n && chmod 500 .").by_a_user_too(),
    case("a directory that cannot be listed", "mkdir w && echo in > w/in && chmod 300 w").by_a_user_too(),
    case("a new read-only directory", "mkdir w && echo in > w/in && chmod 555 w").by_a_user_too(),
    case("a new file in a read-only directory", "chmod 755 w && echo new > w/new && rm w/old && chmod 555 w")
        .after("mkdir w && echo old > w/old && chmod 555 w").by_a_user_too(),
    case("a read-only directory goes", "chmod -R u+w w && rm -r w")
        .after("mkdir -p w/v && echo old > w/v/old && chmod 555 w w/v").by_a_user_too(),
    case("a directory opened for good", "chmod 755 w && echo new > w/new")
        .after("mkdir w && chmod 555 w").by_a_user_too(),
    case("a read-only file replaced", "rm -f ro && echo new > ro").by_a_user_too(),
    case("touch only", "touch a.txt dir/x"),
    case("touch a new file", "touch n"),
    case("truncate shorter", "truncate -s 7 a.txt"),
    case("truncate to nothing", "truncate -s 0 big"),
    case("truncate longer", "truncate -s 5000 a.txt"),
    case("dd conv=notrunc", "printf ZZ | dd of=big bs=1 seek=1000 conv=notrunc 2>/dev/null"),
    case("mmap", "/usr/bin/python3 -c 'import mmap; f=open(\"big\",\"r+b\"); m=mmap.mmap(f.fileno(),0); m[5:8]=b\"abc\"; m.close()'")
        .needs(&["python3"]),
    case("in-process rename of a directory", "/usr/bin/python3 -c '\nimport os, shutil\nshutil.move(\"dir\", \"dmoved\")'")
        .needs(&["python3"]),
    case("a background job", "(sleep 0.05; echo late > late) & echo early > early; wait"),
    case("rm -rf and the same name again", "rm -rf dir && mkdir dir && echo other > dir/other").by_a_user_too(),
    case("rm -rf and the same content again", "cp -a dir keep && rm -rf dir && mv keep dir"),
    case("rm -rf and nearly the same again", "cp -a dir keep && rm -rf dir && mv keep dir && echo X > dir/x && rm dir/y"),
    case("rm -rf and recreated twice", "rm -rf dir && mkdir dir && echo 1 > dir/1 && rm -rf dir && mkdir dir && echo 2 > dir/2"),
    case("names with anything in them", "printf 1 > 'new\nline'; printf 2 > \"$(printf 'bad\\377utf')\"; printf 3 > -dash; printf 4 > ' lead'; printf 5 > 'tab\there'; printf 6 > '*?[x]'; printf 7 > 'hex:00'; printf 8 > 'back\\slash\"'; printf 9 > 'a:b,c'")
        .by_a_user_too(),
    case("odd names change and go", "rm \"$(printf 'bad\\377utf')\" && echo more >> 'new\nline'")
        .after("printf 1 > 'new\nline'; printf 2 > \"$(printf 'bad\\377utf')\""),
    case("hard link to a name that is no text", "ln \"$(printf 'bad\\377utf')\" z && echo n > \"$(printf 'n\\377')\" && ln \"$(printf 'n\\377')\" \"$(printf 'm\\376')\"")
        .after("printf 2 > \"$(printf 'bad\\377utf')\""),
    case("a link to a target that is no text", "ln -s \"$(printf 't\\377')\" l2"),
    case("dot files", "echo h > .env2 && mkdir .d && echo i > .d/.i && rm .hidden"),
    case("empty directories", "mkdir -p e1/e2/e3 && rmdir emptydir"),
    case("rmdir and mkdir", "rmdir emptydir && mkdir emptydir"),
    case("a sparse file", "truncate -s 3000000 sparse && printf end >> sparse"),
    case("more than 16 MB", "head -c 17000000 /dev/zero | tr '\\0' q > large && echo tail >> huge")
        .after("head -c 17000000 /dev/zero > huge"),
    case("no bytes", ": > n && : > a.txt && rm empty"),
    case("a cycle of three names", "mv a.txt t && mv b.txt a.txt && mv c.txt b.txt && mv t c.txt"),
    case("a chain of names", "mv c.txt d.txt && mv b.txt c.txt && mv a.txt b.txt"),
    case("two files trade places", "mv a.txt t && mv b.txt a.txt && mv t b.txt"),
    case("a pipe among files", "mkfifo p && echo n > n").applied_but(&[("p", "pipes are told and never applied")]),
    case("a file becomes a pipe", "rm b.txt && mkfifo b.txt && echo n > n")
        .applied_but(&[("b.txt", "pipes are told and never applied: what was there stays")]),
    case("a pipe goes", "rm p && echo n > n").after("mkfifo p && chmod 620 p").by_a_user_too(),
    case("a file in the place of a pipe", "rm p && echo n > p").after("mkfifo p"),
    case("a directory in the place of a pipe", "rm p && mkdir p && echo n > p/n").after("mkfifo p"),
    case("a directory with a pipe goes", "rm -r d2").after("mkfifo -m 600 d2/p"),
    case("a pipe is moved", "mv d2 d3").after("mkfifo d2/p").applied_but(&[("d2", STAYS), ("d3/p", STAYS)]).by_a_user_too(),
    case("a pipe is renamed", "mv p q && echo n > n").after("mkfifo p").applied_but(&[("p", STAYS), ("q", STAYS)]),
    case("a socket goes", "rm s && echo n > n").after(SOCKET).needs(&["python3"])
        .undone_but(&[("s", "only the program that listens can make a socket")]),
    case("a socket is moved", "mkdir n && mv s n/").after(SOCKET).needs(&["python3"]).applied_but(&[("s", STAYS), ("n/s", STAYS)]),
    case("setgid directory", "echo in > sg/in && mkdir sg/sub && mkdir g && chmod 2770 g && echo i > g/i").by_a_user_too(),
    case("extended attributes", "setfattr -n user.k -v v a.txt && setfattr -n user.d -v w dir && echo n > n && setfattr -n user.n -v 1 n")
        .needs(&["setfattr"]).by_a_user_too(),
    case("an attribute goes", "setfattr -x user.k b.txt && echo edited >> c.txt")
        .after("setfattr -n user.k -v v b.txt && setfattr -n user.k -v v c.txt").needs(&["setfattr"]),
    case("an access list", "setfacl -m u:1:rw a.txt && setfacl -m u:2:rx dir").needs(&["setfacl"]),
    case("access lists of directories closed to their owner", "setfacl -m u:1234:r dir && chmod 600 dir && setfacl -m u:1234:r d2 \
        && mkdir n && setfacl -m u:1:rx,d:u:2:rw n && chmod 40 n && setfacl -m u:1:rw a.txt && chmod 40 a.txt && echo x >> c.txt")
        .needs(&["setfacl"]),
    case("an access list of a directory that was closed", "setfacl -m u:1234:r dir && echo x >> c.txt").after("chmod 444 dir")
        .needs(&["setfacl"]),
    case("300 files", "mkdir many && i=0; while [ $i -lt 300 ]; do echo $i > many/f$i; i=$((i+1)); done"),
    case("300 files go", "rm -r many").after("mkdir many && for i in $(seq 300); do echo $i > many/f$i; done"),
    case("deep nesting", "d=deep; for i in $(seq 60); do d=$d/a_long_name_$i; done; mkdir -p $d && echo bottom > $d/f").by_a_user_too(),
    case("find -delete", "find . -name '[xyz]' -type f -delete && find . -type d -empty -delete"),
    case("find -exec", "find dir -type f -exec chmod 600 {} +"),
    case("patch", "printf -- '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n' | patch -p1 -s").needs(&["patch"]),
    case("cp -p", "cp -p run.sh run2.sh && cp -p ro ro2").by_a_user_too(),
    case("cp -a of a tree", "cp -a dir copy && cp -a link copylink"),
    case("install -m", "install -m 750 a.txt i && install -d -m 711 id").by_a_user_too(),
    case("unzip", "zip -qr ../z.zip dir && mkdir un && cd un && unzip -q ../../z.zip && rm ../../z.zip").needs(&["zip", "unzip"]),
    case("rsync", "rsync -a --delete d2/ dir/").needs(&["rsync"]),
    case("a shell script that fails half way", "echo half > half; rm a.txt; false"),
    case("chown", "chown 1:1 a.txt && chown 2:2 dir"),
    case("special modes", "chmod 2755 a.txt && chmod 1755 b.txt && chmod 6711 run.sh")
        .protected(&["a.txt", "run.sh"]),
    case("swap file and directory", "mv a.txt t && mv dir a.txt && mv t dir"),
    case("a directory into its own place", "mkdir n && mv dir n/dir && rmdir emptydir && mv n emptydir"),
    case("a file written, then only its mode left", "echo x >> a.txt && printf 'alpha\nbeta\ngamma\n' > a.txt && chmod 600 a.txt"),
    case("git add", "git add a.txt c.txt").after(REPOSITORY).needs(&["git"]),
    case("git commit", "git commit -q -am third").after(REPOSITORY).needs(&["git"]).by_a_user_too(),
    case("git checkout", "git stash -q && git checkout -q side").after(REPOSITORY).needs(&["git"]),
    case("git stash", "git stash -q").after(REPOSITORY).needs(&["git"]),
    case("git reset --hard", "git reset -q --hard HEAD~1").after(REPOSITORY).needs(&["git"]).by_a_user_too(),
    case("git clean", "git clean -fdxq").after(REPOSITORY).needs(&["git"]),
    case("git mv of a directory", "git mv dir renamed").after(REPOSITORY).needs(&["git"]).by_a_user_too(),
    case("git mv of a directory, committed", "git mv dir renamed && git commit -q -m moved").after(REPOSITORY).needs(&["git"]),
    case("a directory renamed by a program", "/usr/bin/python3 -c 'import os; os.rename(\"dir\", \"emptydir\")'")
        .needs(&["python3"]).by_a_user_too(),
    case("git mv", "mkdir r && git mv dir/x dir/y r && git mv b.txt bb.txt && git commit -q -m moved").after(REPOSITORY).needs(&["git"]),
    case("git commit and gc", "git commit -q -am third && git tag t && git branch x && git gc -q")
        .after(REPOSITORY).needs(&["git"]).by_a_user_too(),
    case("git init", "git init -q -b main new && cd new && echo f > f && git add f && git commit -q -m 1")
        .needs(&["git"]),
];

/// Carries a scenario through; the error says where it went wrong.
fn carry(scenario: &Scenario, user: Option<u32>) -> Result<(), String> {
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), user);
    let plain = txn.base.join("plain");
    for dir in [&txn.tree, &plain] {
        let script = format!("set -e; umask 022; {GIT}{COMMON}\n{}", scenario.setup);
        if txn.sh(dir, &script) != 0 {
            return Err("the setup failed".into());
        }
    }
    let original = txn.snap();
    let git = scenario.needs.contains(&"git");
    same("both trees at the beginning", &files(original.clone()), &files(snap(&plain)), &[])?;
    let answers_before = answers(&txn.tree, &txn);
    let line = format!("umask 022; {GIT}{}", scenario.run);
    let code = txn.sh(&plain, &line);
    let out = txn.run(["sandbox", "run", "--", line.as_str()]);
    same("the workspace before apply", &original, &txn.snap(), &[])?;
    let wanted = snap(&plain);
    let none = differences(&original, &wanted).is_empty();
    let expected = if none { code } else { 3 };
    if out.stderr.contains("error:") || out.code != expected && out.code != code {
        return Err(format!("the run: plainly {code}, in the view {out:#?}"));
    }
    if none {
        return if out.stderr.contains("no changes") {
            Ok(())
        } else {
            Err(format!("a change out of nothing: {out:#?}"))
        };
    }
    let done = |step: &str, args: &[&str]| {
        let out = txn.run(args);
        if out.code == 0 { Ok(out) } else { Err(format!("{step}: {out:#?}")) }
    };
    // What a large loss needs is tested elsewhere.
    let mut apply = vec!["apply", "--set", "brake.files=100000", "--set", "brake.bytes=1000000000"];
    apply.extend(scenario.protected.iter().flat_map(|path| ["--apply-protected", *path]));
    done("apply", &apply)?;
    let (original, applied) = (files(original), files(txn.snap()));
    same("plain | applied", &files(wanted), &applied, scenario.applied)?;
    let pending = txn.run(["changes"]);
    if !pending.stderr.contains("nothing is pending")
        && !scenario.applied.iter().any(|(_, why)| why.contains("pipes"))
    {
        return Err(format!("still pending after apply: {pending:#?}"));
    }
    let answers_applied = answers(&txn.tree, &txn);
    if git && answers_applied != answers(&plain, &txn) {
        return Err(format!("git says something else than without placet: {answers_applied}"));
    }
    done("undo", &["undo"])?;
    same("original | undone", &original, &files(txn.snap()), scenario.undone)?;
    if git && answers(&txn.tree, &txn) != answers_before {
        return Err("git says something else after the undo".into());
    }
    done("redo", &["redo"])?;
    same("applied | redone", &applied, &files(txn.snap()), &[])?;
    if git && answers(&txn.tree, &txn) != answers_applied {
        return Err("git says something else after the redo".into());
    }
    done("undo after redo", &["undo"])?;
    same("original | undone again", &original, &files(txn.snap()), scenario.undone)?;
    match txn.strays().as_slice() {
        [] => Ok(()),
        strays => Err(format!("left behind: {strays:?}")),
    }
}

/// Without the files of git, of which git itself says what is in them.
fn files(mut snap: Snap) -> Snap {
    snap.retain(|path, _| path.components().all(|part| part.as_os_str() != ".git"));
    snap
}

/// What git says of the repository in `dir`, or in the directory `new` of it.
fn answers(dir: &Path, txn: &Txn) -> String {
    let line = "export GIT_OPTIONAL_LOCKS=0; test ! -d new || cd new; test -e .git && { git fsck --strict --no-dangling; \
                git for-each-ref; cat .git/HEAD; git ls-files -s; git stash list; git status --short; } 2>&1";
    let file = txn.base.join("answers");
    txn.sh(dir, &format!("({line}) > '{}'", file.display()));
    std::fs::read_to_string(file).unwrap_or_default()
}

/// Two trees are the same but for the paths named, and those differ indeed.
fn same(what: &str, one: &Snap, other: &Snap, but: &[(&str, &str)]) -> Result<(), String> {
    let named = |path: &Path| but.iter().any(|(dir, _)| path.starts_with(dir));
    let (expected, found): (Vec<_>, Vec<_>) =
        differences(one, other).into_iter().partition(|(path, _)| named(path));
    let expected: Vec<PathBuf> = expected.into_iter().map(|(path, _)| path).collect();
    if let Some((path, _)) = but.iter().find(|(dir, _)| !expected.iter().any(|p| p.starts_with(dir))) {
        return Err(format!(
            "{what}: `{path}` does not differ any more: take the exception out of the table"
        ));
    }
    let lines: Vec<String> = found.into_iter().map(|(_, line)| line).collect();
    if lines.is_empty() { Ok(()) } else { Err(format!("{what}\n      {}", lines.join("\n      "))) }
}

fn run_all(scenarios: &[&Scenario], user: Option<u32>) {
    let only = std::env::var("PLACET_SCENARIO").unwrap_or_default();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wanted = scenario.name.contains(&only) && scenario.needs.iter().all(|p| require(p));
                    if wanted && let Err(why) = carry(scenario, user) {
                        failed.lock().unwrap().push(format!("{}: {why}", scenario.name));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(
        failed.is_empty(),
        "{} of {} scenarios:\n  {}",
        failed.len(),
        scenarios.len(),
        failed.join("\n  ")
    );
}

#[test]
fn every_scenario_is_shown_applied_undone_and_redone_exactly() {
    if !has_view() {
        return;
    }
    run_all(&SCENARIOS.iter().collect::<Vec<_>>(), None);
}

#[test]
fn an_ordinary_user_gets_the_same() {
    if !has_view() || !rustix::process::geteuid().is_root() || !require("setpriv") {
        return;
    }
    let fit = |s: &&Scenario| s.user || is_full() && !s.run.contains("chown") && !s.run.contains("setfacl");
    run_all(&SCENARIOS.iter().filter(fit).collect::<Vec<_>>(), Some(1000));
}
