//! Databases of a program at home: kept whole with their log, or not at all, also after a kill.

use super::run::needs_a_view;
use crate::support::binary::Place;
use crate::support::require::require;
use crate::support::wait;
use std::path::{Path, PathBuf};

/// A program that keeps a database of SQLite.
const DATABASE: &str = "import sqlite3, os
os.makedirs(os.path.expanduser('~/.mine'), exist_ok=True)
c = sqlite3.connect(os.path.expanduser('~/.mine/x.db'), isolation_level=None)
c.execute('pragma journal_mode=wal')
c.execute('create table if not exists t(a)')
for i in range(50): c.execute('insert into t values(?)', ('x' * 4000,))
";

fn rows(database: &Path) -> i64 {
    let open = rusqlite::Connection::open(database).unwrap();
    let check: String = open.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    open.query_row("select count(*) from t", [], |row| row.get(0)).unwrap()
}

/// A log of one history over the database of another would lose what one of them wrote, or destroy both.
#[test]
fn a_database_of_a_program_is_kept_with_its_log_or_not_at_all() {
    needs_a_view!();
    if !require("python3") {
        return;
    }
    let place =
        Place::with_notes().config("[run.presets.mine]\nprogram = \"python3\"\nkeep = [\".mine/\"]\n");
    let (ends, closes) = (format!("{DATABASE}os._exit(0)"), format!("{DATABASE}c.close()"));
    let go = |script: &str| place.placet(["run", "--discard", "mine", "-c", script]).go();
    let (database, log) = (place.home.join(".mine/x.db"), place.home.join(".mine/x.db-wal"));
    go(&ends).code(0);
    assert!(log.exists(), "the log of a program that did not close its database");
    wait::until_old(&place.home.join(".mine"));
    go(&closes).code(0);
    assert!(!log.exists(), "the program removed it");
    assert_eq!(rows(&database), 100);
    // Another program has it open.
    let outside = rusqlite::Connection::open(&database).unwrap();
    outside.execute("insert into t values('outside')", []).unwrap();
    let out = go(&ends).code(0);
    assert!(out.stderr.contains("another program has it open"), "{}", out.stderr);
    assert_eq!(rows(&database), 101);
    drop(outside);
    assert_eq!(rows(&database), 101);
    let dirs = std::fs::read_dir(place.state_dir().join("databases")).unwrap();
    let copies: Vec<PathBuf> = dirs.map(|dir| dir.unwrap().path().join("x.db")).collect();
    assert_eq!(copies.iter().map(|copy| rows(copy)).collect::<Vec<_>>(), [151]);
    assert!(out.stderr.contains(copies[0].parent().unwrap().file_name().unwrap().to_str().unwrap()));
    // A killed placet left a copy: the next run removes it, and no file that has another name.
    let (left, theirs) =
        (place.home.join(".mine/.placet-4194305-1-0.tmp"), place.home.join(".mine/.placet-1-0.tmp"));
    std::fs::write(&left, "a copy").unwrap();
    std::fs::write(&theirs, "mine").unwrap();
    wait::until_old(&place.home.join(".mine"));
    let out = go(&closes).code(0);
    assert_eq!(rows(&database), 151, "{}", out.stderr);
    assert!(!left.exists() && theirs.exists());
}

/// Story: on a full disk the only copy of what the program wrote was discarded with the view.
#[test]
fn a_database_that_can_neither_be_kept_nor_copied_stays_pending() {
    needs_a_view!();
    if !require("python3") {
        return;
    }
    let place =
        Place::with_notes().config("[run.presets.mine]\nprogram = \"python3\"\nkeep = [\".mine/\"]\n");
    let run = |script: &str| place.placet(["run", "mine", "-c", script]).go();
    let database = place.home.join(".mine/x.db");
    run(&format!("{DATABASE}c.close()")).code(0);
    let outside = rusqlite::Connection::open(&database).unwrap();
    outside.execute("insert into t values('outside')", []).unwrap();
    // No directory of copies can be made in the place of a file.
    std::fs::write(place.state_dir().join("databases"), "").unwrap();
    let out = run(&format!("{DATABASE}c.close()"));
    assert!(out.stderr.contains("its files stay pending"), "{}", out.stderr);
    assert_eq!(rows(&database), 51);
    assert!(out.stderr.contains("pending in your home directory: 3 files"), "{}", out.stderr);
}

/// Story: a kill between two renames left the database at home without its log, which nobody put back.
#[test]
fn a_database_that_was_being_replaced_at_a_kill_is_whole_at_the_next_start() {
    needs_a_view!();
    if !require("python3") {
        return;
    }
    let (ends, closes) = (format!("{DATABASE}os._exit(0)"), format!("{DATABASE}c.close()"));
    // The stage, what the second run does, whether its rows are there, and whether placet had to do anything.
    let cases = [
        ("database", &closes, 50, false),
        ("set aside", &closes, 50, true),
        ("put", &closes, 100, false),
        ("set aside", &ends, 50, true),
        ("put", &ends, 100, true),
    ];
    for (stage, script, wanted, is_noted) in cases {
        let place =
            Place::with_notes().config("[run.presets.mine]\nprogram = \"python3\"\nkeep = [\".mine/\"]\n");
        let database = place.home.join(".mine/x.db");
        // The first statement of the second run moves rows from the log into the database.
        let moves = format!(
            "import sqlite3, os\nsqlite3.connect(os.path.expanduser('~/.mine/x.db')).execute('pragma wal_checkpoint(truncate)')\n{script}"
        );
        let run = |script: &str| place.placet(["run", "--discard", "mine", "-c", script]);
        run(&ends).go().code(0);
        wait::until_old(&place.home.join(".mine"));
        let hold = place.beside("hold");
        std::fs::write(&hold, "").unwrap();
        let args = ["run", "--discard", "mine", "-c", &moves];
        let running = place.placet_that_holds((stage, &hold), args).start();
        wait::until(stage, || hold.with_file_name("hold.reached").exists());
        running.signal(rustix::process::Signal::KILL);
        assert_eq!(running.end().code, 137);
        let out = place.run(["run", "--list"]).code(0);
        assert_eq!(out.stderr.contains("the database has its log again"), is_noted, "{stage}: {out:?}");
        assert_eq!(rows(&database), wanted, "{stage}: {out:?}");
        let left = std::fs::read_dir(place.home.join(".mine")).unwrap();
        let names: Vec<String> =
            left.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| name.ends_with(".placet-old")), "{stage}: {names:?}");
        assert!(!place.run(["run", "--list"]).code(0).stderr.contains("database"), "once");
    }
}

/// Story: another program's changes to the database, made without its log, were about to get the old log over them.
#[test]
fn a_database_that_was_used_without_its_log_does_not_get_it_back() {
    needs_a_view!();
    if !require("python3") {
        return;
    }
    let place =
        Place::with_notes().config("[run.presets.mine]\nprogram = \"python3\"\nkeep = [\".mine/\"]\n");
    let database = place.home.join(".mine/x.db");
    let run = |script: &str| place.placet(["run", "--discard", "mine", "-c", script]);
    run(&format!("{DATABASE}os._exit(0)")).go().code(0);
    wait::until_old(&place.home.join(".mine"));
    let hold = place.beside("hold");
    std::fs::write(&hold, "").unwrap();
    let closes = format!("{DATABASE}c.close()");
    let args = ["run", "--discard", "mine", "-c", &closes];
    let running = place.placet_that_holds(("set aside", &hold), args).start();
    wait::until("the stage", || hold.with_file_name("hold.reached").exists());
    running.signal(rustix::process::Signal::KILL);
    assert_eq!(running.end().code, 137);
    let outside = rusqlite::Connection::open(&database).unwrap();
    outside.execute_batch("create table theirs(a); insert into theirs values(1);").unwrap();
    drop(outside);
    let out = place.run(["run", "--list"]).code(0);
    assert!(out.stderr.contains("another program used it without its log"), "{out:?}");
    assert!(place.home.join(".mine/x.db-wal.placet-old").exists());
    let open = rusqlite::Connection::open(&database).unwrap();
    let count: i64 = open.query_row("select count(*) from theirs", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
}
