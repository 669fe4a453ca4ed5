//! A crash at any point leaves every file old or new, and the next start makes it all one or the other.

use crate::support::is_full;
use crate::support::require::has_view;
use crate::support::txn::{Snap, Txn, differences};
use rustix::process::Signal;
use std::time::{Duration, Instant};

const SETUP: &str = "printf 'a1\\na2\\n' > a; echo b > b; echo file > ft; mkdir -p td gone/in d; echo x > td/x; \
     echo g > gone/g; echo h > gone/in/h; echo k > d/k; ln -s a l; echo one > h1; ln h1 h2; chmod 600 b; echo m > mode";

const CHANGE: &str = "printf 'a1\\nA2\\n' > a; rm b; rm ft; mkdir ft; echo in > ft/in; rm -r td; echo t > td; rm -r gone; \
     echo k2 > d/k; echo new > d/new; mkdir -p n/e; echo n > n/n; ln n/n n/twin; ln -sfn d l; ln a z; rm h2; chmod 755 mode";

/// A set of changes that waits, and what the tree is without and with it.
struct Waiting {
    txn: Txn,
    old: Snap,
    new: Snap,
}

impl Waiting {
    fn new(setup: &str, change: &str) -> Waiting {
        let txn = Txn::on_disk();
        assert_eq!(txn.sh(&txn.tree, setup), 0);
        // What a large loss needs is tested elsewhere.
        let settings = txn.base.join("home/config/placet/config.toml");
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        std::fs::write(settings, "brake.files = 100000\n").unwrap();
        let old = txn.snap();
        txn.hold(change);
        txn.keep("start");
        txn.run(["apply"]).code(0);
        let new = txn.snap();
        txn.keep("applied");
        Waiting { txn, old, new }
    }

    /// Every file is old or new in full; a path that changes its kind may be missing for a moment.
    fn whole(&self) {
        let now = self.txn.snap();
        for (path, words) in &now {
            let (old, new) = (self.old.get(path), self.new.get(path));
            let ours = path.to_string_lossy().contains(".placet-");
            let directory = words.starts_with("4");
            let fine = [old, new].contains(&Some(words)) || ours || directory;
            // Names of one file come one after the other.
            let content = |words: &str| words.split(" same file as").next().map(String::from);
            let named = [old, new].into_iter().flatten().any(|known| content(known) == content(words));
            assert!(fine || named, "{path:?}: {words}\n  old {old:?}\n  new {new:?}");
        }
        for (path, old) in self.old.iter().filter(|(_, words)| words.starts_with("10")) {
            let stays = self.new.get(path).is_some_and(|new| new.starts_with("10") && old.starts_with("10"));
            assert!(!stays || now.contains_key(path), "{path:?} is missing");
        }
    }

    /// The next start puts it right; whether all of it landed.
    fn recovered(&self) -> bool {
        let open = || {
            let journals = std::fs::read_dir(self.txn.state().join("journal")).unwrap();
            let entries = journals.flat_map(|d| std::fs::read_dir(d.unwrap().path()).unwrap());
            entries.filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().contains(".open.")).count()
        };
        let interrupted = open() > 0;
        let out = self.txn.run(["changes"]).code(0);
        assert_eq!(interrupted, out.stderr.contains("interrupted"), "{out:#?}");
        assert_eq!(open(), 0);
        assert!(self.txn.strays().is_empty(), "{:?}", self.txn.strays());
        let now = self.txn.snap();
        let (old, new) = (differences(&self.old, &now), differences(&self.new, &now));
        assert!(old.is_empty() || new.is_empty(), "neither: old {old:#?}\nnew {new:#?}");
        new.is_empty()
    }
}

impl Txn {
    fn keep(&self, name: &str) {
        let line = format!("mkdir ../{name} && cp -a . ../{name}/tree && cp -a ../home ../{name}/home");
        assert_eq!(self.sh(&self.tree, &line), 0);
    }

    fn restore(&self, name: &str) {
        let line = format!("rm -rf tree home && cp -a {name}/tree {name}/home .");
        assert_eq!(self.sh(&self.base, &line), 0);
    }
}

/// Lets `command` crash at its first, second, ... point until it gets through.
fn matrix(waiting: &Waiting, from: &str, command: &str, after: impl Fn(&Waiting, bool)) {
    let mut crashes = 0;
    for at in 1.. {
        waiting.txn.restore(from);
        let out = waiting.txn.placet_that_crashes(at, [command]).go();
        if out.code == 0 {
            break;
        }
        assert_eq!(out.code, 128 + 6, "crash {at}: {out:#?}");
        crashes += 1;
        waiting.whole();
        let landed = waiting.recovered();
        after(waiting, landed);
    }
    assert!(crashes > 20, "{crashes}");
}

#[test]
fn an_apply_that_crashes_anywhere_is_all_or_nothing_after_the_next_start() {
    if !has_view() {
        return;
    }
    let waiting = Waiting::new(SETUP, CHANGE);
    matrix(&waiting, "start", "apply", |w, landed| {
        let pending = w.txn.run(["changes"]).code(0);
        assert_eq!(landed, pending.stderr.contains("nothing is pending"), "landed {landed}: {pending:#?}");
        if !landed {
            w.txn.run(["apply"]).code(0);
        }
        assert_eq!(differences(&w.new, &w.txn.snap()), []);
    });
}

#[test]
fn an_undo_that_crashes_anywhere_is_all_or_nothing_after_the_next_start() {
    if !has_view() {
        return;
    }
    let mut waiting = Waiting::new(SETUP, CHANGE);
    // What an undo brings back is what matters here: one name of a file with several stays alone.
    waiting.txn.run(["undo"]).code(0);
    waiting.old = waiting.txn.snap();
    matrix(&waiting, "applied", "undo", |w, landed| {
        w.txn.run([if landed { "undo" } else { "redo" }]).code(0);
        let wanted = if landed { &w.old } else { &w.new };
        assert_eq!(differences(wanted, &w.txn.snap()), []);
    });
}

#[test]
fn killed_at_any_moment_two_hundred_files_are_all_old_or_all_new() {
    if !has_view() {
        return;
    }
    let setup = "i=0; while [ $i -lt 200 ]; do echo old $i > f$i; i=$((i+1)); done";
    let change = "for f in f*; do echo new $f > $f; done; rm f1*; mkdir n; echo n > n/n";
    let waiting = Waiting::new(setup, change);
    // How long one takes, to strike within it.
    let started = Instant::now();
    waiting.txn.run(["undo"]).code(0);
    let mut span = started.elapsed();
    let (kills, mut struck, mut seed) = (if is_full() { 300 } else { 20 }, 0, 0x2545_f491_4f6c_dd1d_u64);
    let mut landed = false;
    while struck < kills {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let running = waiting.txn.placet([if landed { "undo" } else { "redo" }]).start();
        std::thread::sleep(Duration::from_micros(seed % u64::try_from(span.as_micros()).unwrap().max(1)));
        running.kill();
        match running.end().code {
            137 => struck += 1,
            // It was faster than the first one.
            _ => span = span * 9 / 10,
        }
        waiting.whole();
        landed = waiting.recovered();
    }
}

#[test]
fn what_is_pending_survives_a_kill_while_it_is_put_on_the_shelf() {
    if !has_view() {
        return;
    }
    let txn = Txn::on_disk();
    assert_eq!(txn.sh(&txn.tree, "for i in $(seq 150); do echo old > f$i; done"), 0);
    let old = txn.snap();
    let line = "for i in $(seq 150); do echo new > f$i; done; echo n > n";
    let started = Instant::now();
    txn.hold(line);
    let span = started.elapsed();
    txn.run(["discard"]).code(0);
    let kills: u32 = if is_full() { 100 } else { 12 };
    for at in 0..kills {
        let running = txn.placet(["sandbox", "run", "--", line]).start();
        // Most of the way it runs the command; the fold comes last.
        std::thread::sleep(span * (60 + 45 * at / kills) / 100);
        running.kill();
        running.end();
        assert_eq!(differences(&old, &txn.snap()), [], "the workspace changed");
        // What is pending is something the command did, and is applied as it is shown. What a killed run left is pending
        // before anything else changes the workspace.
        let shown = txn.run(["changes", "--json"]).code(0);
        let count = shown.json().as_array().unwrap().len();
        if count > 0 {
            txn.run(["apply"]).code(0);
            assert_eq!(differences(&old, &txn.snap()).len(), count);
            // The shell empties a file before it writes it: a kill between the two leaves one file empty, never more.
            let unwritten: Vec<_> = (txn.snap().into_iter())
                .filter(|(path, _)| path.to_string_lossy().starts_with('f'))
                .filter(|(_, words)| !words.contains("\"new") && !words.contains("\"old"))
                .collect();
            assert!(unwritten.len() <= 1, "{unwritten:?}");
            assert!(unwritten.iter().all(|(_, words)| words.ends_with("\"\"")), "{unwritten:?}");
            txn.run(["undo"]).code(0);
            assert_eq!(differences(&old, &txn.snap()), []);
        }
    }
}

impl crate::support::binary::Running {
    fn kill(&self) {
        let pid = rustix::process::Pid::from_raw(self.pid()).unwrap();
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
}
