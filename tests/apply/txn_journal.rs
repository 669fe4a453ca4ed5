//! What is kept for undo, whose it is, and what lands together or not at all.

use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::txn::{Snap, Txn, differences, snap};
use std::path::PathBuf;

const GIT: &str = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=e GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=e \
     GIT_CONFIG_NOSYSTEM=1 GIT_OPTIONAL_LOCKS=0; ";

fn repository(txn: &Txn) {
    let line = format!(
        "{GIT} git init -q -b main . && echo one > a && echo two > b && git add . && git commit -qm 1"
    );
    assert_eq!(txn.sh(&txn.tree, &line), 0);
}

#[test]
fn a_commit_in_the_view_lands_as_one_and_goes_back_as_one() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    repository(&txn);
    let before = txn.snap();
    txn.hold(&format!("{GIT} echo more >> a; git commit -qam second"));
    assert_eq!(differences(&before, &txn.snap()), []);
    // Any one of its files brings all of them.
    txn.run(["apply", ".git/HEAD"]).code(1);
    txn.run(["apply", ".git/refs/heads/main"]).code(0);
    assert_eq!(
        txn.sh(&txn.tree, &format!("{GIT} git fsck --strict && test $(git rev-list --count HEAD) = 2")),
        0
    );
    txn.run(["apply"]).code(0);
    // Each call of the command line is a turn of its own.
    txn.run(["undo", "2"]).code(0);
    // Objects stay for `git gc`: someone may have built on them. A reflog says what happened, and an index has times.
    let is_same = |path: &std::path::Path| {
        !path.starts_with(".git/objects") && !path.starts_with(".git/logs") && !path.ends_with(".git/index")
    };
    let (mut before, mut now) = (before, txn.snap());
    before.retain(|path, _| is_same(path));
    now.retain(|path, _| is_same(path));
    assert_eq!(differences(&before, &now), []);
    assert_eq!(txn.sh(&txn.tree, "git diff --quiet && git diff --cached --quiet && git fsck --strict"), 0);
}

/// Objects that nothing leads to stay for `git gc`.
fn without_objects(mut snap: Snap) -> Snap {
    snap.retain(|path, _| !path.starts_with(".git/objects"));
    snap
}

#[test]
fn a_repository_that_another_git_has_locked_is_left_alone() {
    if !has_view() || !require("git") {
        return;
    }
    // What only the person moved is in no change's way: `placet-git` has a table of it.
    let locks = [("touch .git/refs/heads/main.lock", "main.lock"), ("touch .git/index.lock", "index.lock")];
    for (line, named) in locks {
        let txn = Txn::on_disk();
        repository(&txn);
        txn.hold(&format!("{GIT} echo more >> a; git commit -qam second; git tag t"));
        assert_eq!(txn.sh(&txn.tree, &format!("{GIT} {line}")), 0);
        let before = without_objects(txn.snap());
        txn.run(["apply"]).code(1).warns(named);
        assert_eq!(differences(&before, &without_objects(txn.snap())), [], "{line}");
        // What is no repository lands nevertheless, and back.
        txn.run(["apply", "a"]).code(0);
        let other = without_objects(txn.snap());
        assert_eq!(differences(&before, &other).len(), 1, "{line}");
    }
    let txn = Txn::on_disk();
    repository(&txn);
    txn.hold(&format!("{GIT} echo more >> a; git commit -qam second; git tag t"));
    assert_eq!(txn.sh(&txn.tree, &format!("{GIT} git branch side")), 0);
    assert_eq!(txn.run(["apply"]).code, 0);
    let both =
        format!("{GIT} git rev-parse -q --verify t && test $(git rev-parse side) = $(git rev-parse main~1)");
    assert_eq!(txn.sh(&txn.tree, &both), 0, "the person's branch stays where it was");
    // The same after it landed: nothing of the repository goes back.
    for (line, _) in locks {
        let txn = Txn::on_disk();
        repository(&txn);
        txn.hold(&format!("{GIT} echo more >> a; git commit -qam second; git tag t"));
        txn.run(["apply"]).code(0);
        assert_eq!(txn.sh(&txn.tree, &format!("{GIT} {line}")), 0);
        let before = without_objects(txn.snap());
        let out = txn.run(["undo"]);
        assert_ne!(out.code, 0, "{line}: {out:#?}");
        assert!(out.stderr.contains(".git"), "{line}: {out:#?}");
        assert_eq!(differences(&before, &without_objects(txn.snap())), [], "{line}");
    }
}

#[test]
fn placet_itself_writes_nothing_into_a_repository() {
    if !has_view() || !require("git") {
        return;
    }
    let txn = Txn::on_disk();
    repository(&txn);
    // A git that tells: it must never be run.
    let bin = txn.base.join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), "#!/bin/sh\ntouch ../git-was-run\n").unwrap();
    assert_eq!(txn.sh(&bin, "chmod 755 git"), 0);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let before = snap(&txn.tree.join(".git"));
    for args in [
        &["sandbox", "run", "--", "echo x > a; rm b; mkdir d"][..],
        &["changes"],
        &["apply"],
        &["undo"],
        &["redo"],
    ] {
        txn.placet(args).env("PATH", &path).go();
        assert_eq!(differences(&before, &snap(&txn.tree.join(".git"))), [], "{args:?}");
    }
    assert_eq!(std::fs::read_to_string(txn.tree.join("a")).unwrap(), "x\n");
    assert!(!txn.base.join("git-was-run").exists());
}

#[test]
fn ten_changes_with_one_that_fails_are_none() {
    if !has_view() {
        return;
    }
    let change = "for i in 1 2 3 4; do echo new > f$i; done; mkdir n; echo n > n/n; echo x > shut/x; rm gone; chmod 600 mode; ln -s f1 l";
    let setup = "for i in 1 2 3 4; do echo old > f$i; done; echo g > gone; echo m > mode; mkdir shut; echo s > shut/s";
    // Somebody changed one of them.
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, setup), 0);
    txn.hold(change);
    txn.write("f3", "theirs\n");
    let before = txn.snap();
    txn.run(["apply"]).code(1).warns("f3");
    assert_eq!(differences(&before, &txn.snap()), []);
    assert!(txn.strays().is_empty());
    // One of them lies where the disk does not let anybody write.
    if rustix::process::geteuid().is_root() && require("mount") {
        let txn = Txn::on_disk();
        assert_eq!(txn.sh(&txn.tree, setup), 0);
        txn.hold(change);
        let before = txn.snap();
        let shut = "mount --bind shut shut && mount -o remount,bind,ro shut";
        // In a mount namespace of its own: nothing is left mounted if this fails.
        let line =
            format!("unshare -m sh -c '{shut}; {} apply; echo code $?'", crate::support::program::placet());
        let out = txn.base.join("out");
        assert_eq!(txn.sh(&txn.tree, &format!("{line} > {} 2>&1", out.display())), 0);
        let said = std::fs::read_to_string(&out).unwrap();
        assert!(said.contains("code 1") && said.contains("shut/x"), "{said}");
        assert_eq!(differences(&before, &txn.snap()), []);
        assert!(txn.strays().is_empty());
        txn.run(["apply"]).code(0);
        // The disk is full.
        let txn = Txn::on_disk();
        assert_eq!(txn.sh(&txn.tree, setup), 0);
        txn.hold(&format!("{change}; head -c 500000 /dev/urandom > shut/big"));
        let line = format!(
            "unshare -m sh -c 'mount -t tmpfs -o size=600k tmpfs shut && echo s > shut/s && \
             head -c 400000 /dev/zero > shut/filler; {} apply; echo code $?; ls -A shut'",
            crate::support::program::placet()
        );
        let before = txn.snap();
        assert_eq!(txn.sh(&txn.tree, &format!("{line} > {} 2>&1", txn.base.join("out").display())), 0);
        let said = std::fs::read_to_string(txn.base.join("out")).unwrap();
        assert!(
            said.contains("code 1") && said.contains("No space") && said.ends_with("filler\ns\n"),
            "{said}"
        );
        assert_eq!(differences(&before, &txn.snap()), []);
    }
}

#[test]
fn state_on_another_file_system_makes_no_difference() {
    if !has_view() || !rustix::process::geteuid().is_root() || !require("unshare") {
        return;
    }
    let txn = Txn::on_disk();
    let setup = "echo a > a; echo b > b; mkdir d; echo c > d/c; ln a a2; head -c 9000000 /dev/zero > big";
    let change = "echo A > a; rm b; mv d e; echo n > n; ln n m; echo more >> big; chmod 700 e";
    assert_eq!(txn.sh(&txn.tree, &format!("mkdir -p ../st; {setup}")), 0);
    let placet = crate::support::program::placet();
    let st = txn.base.join("st").display().to_string();
    let steps = format!(
        "mount -t tmpfs tmpfs ../st; export XDG_STATE_HOME={st}; cp -a . ../0; {placet} sandbox run -- \"{change}\"; \
         {placet} apply && cp -a . ../1 && {placet} undo && cp -a . ../2 && {placet} redo && cp -a . ../3"
    );
    let line = format!("unshare -m sh -c '{steps}' 2>../said");
    let said = || std::fs::read_to_string(txn.base.join("said")).unwrap();
    assert_eq!(txn.sh(&txn.tree, &line), 0, "{}", said());
    let [original, applied, undone, redone] = ["0", "1", "2", "3"].map(|name| snap(&txn.base.join(name)));
    assert_ne!(differences(&original, &applied), [], "{}", said());
    // Which other names a file had is not brought back.
    let left = differences(&original, &undone);
    assert!(left.iter().all(|(path, _)| path.to_str() == Some("a2")), "{left:#?}");
    assert_eq!(differences(&applied, &redone), []);
    assert!(txn.strays().is_empty());
}

#[test]
fn pruning_keeps_what_others_need_and_what_is_pending() {
    if !has_view() {
        return;
    }
    let txn = Txn::on_disk();
    txn.write("a", "shared content\n");
    txn.write("b", "shared content\n");
    txn.write("p", "1\n2\n3\n4\n5\n6\n7\n8\n");
    // Two transactions that displaced the same content, and large ones before them.
    for number in 0..4 {
        txn.hold(&format!("head -c 700000 /dev/urandom > big; echo {number} > n"));
        txn.run(["apply"]).code(0);
    }
    txn.hold("echo new > a");
    txn.run(["apply"]).code(0);
    txn.hold("echo new > b");
    txn.run(["apply"]).code(0);
    txn.hold("sed -i s/8/EIGHT/ p");
    let config = txn.base.join("home/config/placet");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "journal.max_mb = 1\n").unwrap();
    txn.run(["journal", "prune"]).code(0).says("removed");
    let size = |dir: PathBuf| -> u64 {
        let mut todo = vec![dir];
        let mut sum = 0;
        while let Some(dir) = todo.pop() {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                let meta = entry.metadata().unwrap();
                if meta.is_dir() { todo.push(entry.path()) } else { sum += meta.len() }
            }
        }
        sum
    };
    let kept = size(txn.state().join("objects")) + size(txn.state().join("journal"));
    assert!(kept <= 1 << 20, "{kept} bytes are kept");
    // What is pending can be merged with the person's own change: its base is still there.
    txn.write("p", "ONE\n2\n3\n4\n5\n6\n7\n8\n");
    txn.run(["apply"]).code(1).warns("merged");
    txn.run(["apply"]).code(0);
    assert_eq!(std::fs::read_to_string(txn.tree.join("p")).unwrap(), "ONE\n2\n3\n4\n5\n6\n7\nEIGHT\n");
    txn.run(["undo", "3"]).code(0);
    for name in ["a", "b"] {
        assert_eq!(std::fs::read_to_string(txn.tree.join(name)).unwrap(), "shared content\n");
    }
    // By age: everything goes.
    std::fs::write(config.join("config.toml"), "journal.max_days = 0\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(5));
    txn.run(["journal", "prune"]).code(0);
    assert_eq!(txn.run(["journal", "list"]).code(0).stdout, "");
    assert_eq!(size(txn.state().join("objects")), 0);
    txn.run(["undo"]).code(0).says("nothing to undo");
}

#[test]
fn two_processes_do_not_work_on_one_set_of_changes() {
    if !has_view() {
        return;
    }
    let txn = Txn::on_disk();
    txn.write("a", "old\n");
    // The first one stands in the middle of its command.
    let mut running = txn
        .placet(["sandbox", "run", "--apply", "--", "echo new > a; echo ready; sleep 1; echo n > n"])
        .start();
    running.line_where(|line| line == "ready");
    let name = std::fs::read_dir(txn.state().join("views")).unwrap().next().unwrap().unwrap().file_name();
    let name = name.to_str().unwrap().to_string();
    // Something is on its shelf, as after an earlier command.
    let pid = running.pid();
    let lock = std::fs::read_to_string(txn.state().join("views").join(&name).join("lock")).unwrap();
    assert_eq!(lock.trim(), pid.to_string());
    running.end().code(0);
    assert_eq!(std::fs::read_to_string(txn.tree.join("a")).unwrap(), "new\n");
    // A view that somebody holds is refused, with its name and his.
    txn.hold("echo newer > a");
    let views = txn.state().join("views");
    let held = std::fs::read_dir(&views)
        .unwrap()
        .flatten()
        .find(|e| e.path().join("pending/base.jsonl").exists())
        .unwrap()
        .path();
    let lock = std::fs::OpenOptions::new().read(true).write(true).open(held.join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    std::fs::write(held.join("lock"), "1\n").unwrap();
    let view = held.file_name().unwrap().to_str().unwrap().to_string();
    let before = txn.snap();
    for command in ["apply", "discard"] {
        txn.run([command]).code(1).warns(&view).warns("(process ");
    }
    assert_eq!(differences(&before, &txn.snap()), []);
    drop(lock);
    // Between fork and exec a child of another test has every open file, this lock too.
    let began = std::time::Instant::now();
    while txn.run(["apply"]).code != 0 {
        assert!(began.elapsed() < crate::support::wait::DEADLINE, "the lock is held");
    }
    assert_eq!(std::fs::read_to_string(txn.tree.join("a")).unwrap(), "newer\n");
}

#[test]
fn nothing_of_a_command_that_ended_is_left_where_layers_lie() {
    if !has_view() {
        return;
    }
    let txn = Txn::on_disk();
    txn.hold("echo n > n; echo h > ~/h");
    txn.run(["apply"]).code(0);
    let views = txn.state().join("views");
    let mut left = Vec::new();
    for view in std::fs::read_dir(&views).unwrap().flatten() {
        for entry in std::fs::read_dir(view.path()).unwrap().flatten() {
            left.push(entry.file_name().into_string().unwrap());
        }
    }
    assert!(left.iter().all(|name| !name.starts_with("run-")), "{left:?}");
    // The view itself goes when the next one comes; one that holds something stays.
    txn.hold("echo m > m");
    txn.run(["run", "--fresh", "--", "echo k > k"]).code(3);
    txn.run(["discard", "--session", "run-echo"]).code(0);
    let names = |dir: PathBuf| std::fs::read_dir(dir).map_or(0, Iterator::count);
    assert_eq!(names(views.clone()), 2);
    assert!(names(txn.base.join("home/cache/placet/scratch")) <= 2);
}

#[test]
fn a_patch_of_what_is_pending_does_the_same_in_another_tree() {
    if !has_view() || !require("git") || !require("patch") {
        return;
    }
    let setup = "printf 'a\\nb\\nc\\nd\\ne\\nf\\ng\\nh\\n' > a; printf 'no end' > b; : > empty; echo g > gone; mkdir d; echo x > d/x; \
         echo s > 'with space'; printf 'crlf\\r\\nline\\r\\n' > crlf; echo r > run; printf 'latin \\344\\n' > latin";
    let texts = [
        "sed -i s/b/B/ a; sed -i s/h/H/ a",
        "printf 'no end\\nnow' > b",
        "printf 'an end\\n' > b",
        "echo text > empty",
        "rm gone",
        "echo new > new; mkdir -p n/m; echo deep > n/m/deep",
        "echo more >> 'with space'; echo n > 'new space'",
        "sed -i s/line/LINE/ crlf",
        "mv d/x d/y",
        ": > new-empty; echo z > z",
        "printf 'latin \\366\\n' > latin",
        "rm -r d",
        "printf '' > a",
        "seq 400 | sed 's/7/seven/' > long",
        "printf -- '-- \\n--- a\\n+++ b\\n@@ -1 +1 @@\\n' > a",
        "echo q > 'quo\"te'; echo t > \"$(printf 'tab\\there')\"; echo b > 'back\\slash'; echo u > ünï",
    ];
    let others = [
        "chmod 755 run",
        "ln -s a l",
        "rm b; ln -s a b",
        "printf 'x\\000y' > bin; head -c 5000 /dev/urandom >> bin",
        "printf 'z\\000' > a",
    ];
    let scenarios = texts.iter().map(|t| (*t, true)).chain(others.iter().map(|t| (*t, false)));
    for (line, text) in scenarios {
        let txn = Txn::on_disk();
        let plain = txn.base.join("plain");
        for dir in [&txn.tree, &plain] {
            assert_eq!(txn.sh(dir, setup), 0);
        }
        assert_eq!(txn.sh(&txn.tree, &format!("cp -a ../plain ../third; {setup}")), 0);
        txn.hold(line);
        let out = txn.base.join("patch");
        assert_eq!(
            txn.sh(
                &txn.tree,
                &format!("{} changes --patch > {}", crate::support::program::placet(), out.display())
            ),
            0
        );
        txn.run(["apply"]).code(0);
        // A patch has no directories: those that are empty on either side do not count.
        let tree = |dir: &std::path::Path| {
            let mut tree = snap(dir);
            tree.retain(|_, words| !words.starts_with('4'));
            tree
        };
        let wanted = tree(&txn.tree);
        assert_eq!(txn.sh(&plain, "git apply -p1 --whitespace=nowarn ../patch"), 0, "git apply: {line}");
        assert_eq!(differences(&wanted, &tree(&plain)), [], "git apply: {line}");
        if text {
            let third = txn.base.join("third");
            assert_eq!(txn.sh(&third, "patch -p1 -s --binary < ../patch"), 0, "patch: {line}");
            // GNU patch removes what became empty, and makes nothing that begins so.
            let differing = differences(&wanted, &tree(&third));
            let hollow = |words: &str| words.contains(" 0 af1349b9");
            let real: Vec<_> =
                differing.iter().filter(|(path, _)| !wanted.get(path).is_some_and(|w| hollow(w))).collect();
            assert!(real.is_empty(), "patch: {line}: {real:#?}");
        }
        // A call carries UTF-8, and links are refused: see the guide.
        let words = String::from_utf8(std::fs::read(&out).unwrap()).ok();
        if let Some(words) = words.filter(|words| !words.contains("mode 120000")) {
            let bench = crate::support::tool_bench::Bench::new();
            assert_eq!(txn.sh(&bench.root, setup), 0);
            bench.call("apply_patch", serde_json::json!({"patch": words})).done();
            assert_eq!(differences(&wanted, &tree(&bench.root)), [], "apply_patch: {line}");
        }
    }
}
