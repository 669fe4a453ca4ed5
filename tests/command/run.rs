//! `placet run`: programs that behave like agents, their state in the home directory, and hostile ones.

use crate::support::binary::{Out, Place, Run};
use crate::support::require::has_view;
use crate::support::require::require;
use crate::support::wait;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

macro_rules! needs_a_view {
    () => {
        if !has_view() {
            return;
        }
    };
}

/// A place with a program in a directory of `PATH`.
struct Bench {
    place: Place,
    bin: PathBuf,
}

impl Bench {
    fn with(name: &str, script: &str) -> Bench {
        let place = Place::with_notes();
        let bin = place.beside("bin");
        std::fs::create_dir(&bin).unwrap();
        let bench = Bench { place, bin };
        bench.program(name, script);
        bench
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn run(&self, words: &[&str]) -> Run {
        let path = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap());
        self.place.placet(std::iter::once(&"run").chain(words)).env("PATH", path)
    }

    fn go(&self, words: &[&str]) -> Out {
        self.run(words).go()
    }

    fn json(&self, words: &[&str]) -> Value {
        let all: Vec<&str> = ["--output-format", "json"].iter().chain(words).copied().collect();
        let out = self.go(&all);
        serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"))
    }

    fn home(&self, name: &str) -> PathBuf {
        self.place.home.join(name)
    }
}

fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.as_ref().display()))
}

/// Writes state like Claude Code, edits, deletes, makes a file, and leaves a daemon.
const AGENT: &str = r#"
mkdir -p ~/.claude/projects/x ~/.claude/projects/x/memory ~/.cache/agent
echo session >> ~/.claude/projects/x/1.jsonl
echo later > ~/.claude/projects/x/memory/M.md
for i in 1 2 3 4 5 6 7 8 9; do echo "{\"n\":$i}" > ~/.claude.json.tmp; mv ~/.claude.json.tmp ~/.claude.json; done
echo "{}" > ~/.claude/.credentials.json
echo hooks > ~/.claude/settings.json
echo cache > ~/.cache/agent/log
echo three >> notes.txt; rm gone.txt; echo made > made.txt
(sleep 60 &)
exit 0"#;

#[test]
fn an_agent_keeps_its_state_and_the_rest_is_asked_about() {
    needs_a_view!();
    let bench = Bench::with("claude", AGENT);
    bench.place.write("gone.txt", "x\n");
    let out = bench.go(&["claude", "-p", "fix it"]).code(3);
    assert!(out.stderr.contains("state of claude: 3 files kept, 1 dropped"), "{}", out.stderr);
    assert!(out.stderr.contains("! A ~/.claude/settings.json"), "{}", out.stderr);
    assert!(out.stderr.contains("! A ~/.claude/projects/x/memory/M.md"), "{}", out.stderr);
    assert_eq!(bench.place.read("notes.txt"), "one\ntwo\n");
    assert_eq!(text(bench.home(".claude/projects/x/1.jsonl")), "session\n");
    assert_eq!(text(bench.home(".claude.json")), "{\"n\":9}\n");
    assert_eq!(text(bench.home(".claude/.credentials.json")), "{}\n");
    let mode = std::fs::metadata(bench.home(".claude/.credentials.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for gone in [".claude/settings.json", ".cache/agent/log", ".claude/projects/x/memory", ".claude.json.tmp"]
    {
        assert!(!bench.home(gone).exists(), "{gone}");
    }
    // The next run continues: the file is longer by two lines, and the conversation has two.
    let out = bench.go(&["claude"]);
    assert!(out.stderr.contains("continues with pending changes to 3 files"), "{}", out.stderr);
    assert_eq!(text(bench.home(".claude/projects/x/1.jsonl")), "session\nsession\n");
    let out = bench.place.run(["changes", "--patch"]);
    assert!(out.stdout.contains("+three\n+three"), "{}", out.stdout);
}

#[test]
fn changes_are_applied_with_the_files_at_home_and_undone() {
    needs_a_view!();
    let bench = Bench::with("claude", AGENT);
    bench.place.write("gone.txt", "x\n");
    let settings = bench.home(".claude/settings.json");
    let named = settings.to_str().unwrap();
    let out = bench.go(&["--apply", "--apply-protected", named, "claude", "-p", "fix it"]).code(3);
    assert_eq!(
        (text(&settings).as_str(), bench.place.read("made.txt").as_str()),
        ("hooks\n", "made\n"),
        "{out:?}"
    );
    let out = bench.place.run(["journal", "list"]);
    assert!(out.stdout.contains("claude -p 'fix it' (exit code 0)"), "{}", out.stdout);
    let line = bench.place.run(["blame", "--json", "made.txt"]).stdout;
    let line: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let program = line.pointer("/origin/program").unwrap();
    assert_eq!(
        *program,
        serde_json::json!({
            "program": "claude", "preset": "claude", "arguments": ["-p", "fix it"], "exit_code": 0
        })
    );
    let log = bench.place.run(["audit", "show"]).stdout;
    assert!(log.contains("run claude -p 'fix it' (exit code 0)"), "{log}");
    bench.place.run(["undo"]).code(0);
    assert!(!settings.exists() && !bench.place.tree.join("made.txt").exists());
    assert_eq!(
        (bench.place.read("notes.txt").as_str(), bench.place.read("gone.txt").as_str()),
        ("one\ntwo\n", "x\n")
    );
    assert_eq!(text(bench.home(".claude/projects/x/1.jsonl")), "session\n", "a conversation is no change");
}

/// The view has the part of the outer repository where that of the submodule is, and not the rest.
#[test]
fn a_commit_in_a_submodule_changes_its_repository() {
    needs_a_view!();
    if !require("git") {
        return;
    }
    let place = Place::new();
    let setup = "git init -q base && cd base && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1 && cd .. \
        && git init -q outer && cd outer && git -c protocol.file.allow=always submodule --quiet add ../base m \
        && git -c user.name=a -c user.email=a@b commit -q -m m";
    let done =
        std::process::Command::new("sh").args(["-c", setup]).current_dir(&place.tree).status().unwrap();
    assert!(done.success());
    let commit = "echo c > f && git add f && git -c user.name=a -c user.email=a@b commit -q -m inside";
    let out = place.placet(["run", "--", "sh", "-c", commit]).cwd(&place.tree.join("outer/m")).go().code(3);
    assert!(!out.stderr.contains("removed the repository"), "{}", out.stderr);
    assert!(
        out.stderr.contains("submodule m: commit") && out.stderr.contains("of the repository)"),
        "{}",
        out.stderr
    );
}

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

/// Story: a bare repository in a kept directory was written home with its hooks, without a question; a `.git` file there
/// vanished without a word.
#[test]
fn repositories_in_a_kept_directory_are_asked_about_whatever_their_names_are() {
    needs_a_view!();
    let settings = "[run.presets.mine]\nprogram = \"sh\"\nkeep = [\".mine/\", \".mine.json\"]\n\
                    later_keys = [\".mine.json:servers\"]\n";
    let bare = "mkdir -p cache/x/objects cache/x/refs/heads cache/x/hooks; echo 'ref: refs/heads/main' > cache/x/HEAD";
    for (script, waits) in [
        (
            format!("{bare}; printf '[core]\\n\\tfsmonitor = /tmp/x\\n' > cache/x/config"),
            Some("cache/x/config"),
        ),
        (
            format!(
                "{bare}; echo > cache/x/config; echo evil > cache/x/hooks/pre-push; chmod +x cache/x/hooks/pre-push"
            ),
            Some("cache/x/hooks/pre-push"),
        ),
        (format!("{bare}; printf '[core]\\n\\tbare = true\\n' > cache/x/config"), None),
        ("mkdir q; echo 'gitdir: ../cache/x' > q/.git".into(), Some("q/.git")),
        ("mkdir q; ln -s ../cache/x q/.git".into(), Some("q/.git")),
        ("printf 'SQLite format 3\\0more' > ../.mine.json".into(), Some("../.mine.json")),
        (
            "echo '{\"Servers\": {\"x\": {\"command\": \"sh\"}}}' > ../.mine.json".into(),
            Some("../.mine.json"),
        ),
    ] {
        let place = Place::with_notes().config(settings);
        std::fs::create_dir_all(place.home.join(".mine")).unwrap();
        let line = format!("cd ~/.mine; {script}");
        let out = place.run(["run", "mine", "-c", &line]);
        let at_home = |name: &str| place.home.join(".mine").join(name).symlink_metadata().is_ok();
        match waits {
            Some(name) => {
                assert_eq!(out.code, 3, "{script}: {out:?}");
                assert!(out.stderr.contains("pending in your home directory"), "{script}: {out:?}");
                assert!(!at_home(name) && !at_home("cache/x/HEAD"), "{script}: {out:?}");
            }
            None => {
                assert_eq!(out.code, 0, "{script}: {out:?}");
                assert!(at_home("cache/x/HEAD") && at_home("cache/x/config"), "{script}: {out:?}");
            }
        }
    }
}

/// A login may name the address that placet's guard cannot see, or variables with commands: the agent obeys it outside.
#[test]
fn a_login_that_can_make_the_agent_run_something_is_asked_about() {
    needs_a_view!();
    let (api, other) =
        (r#"{"x":{"type":"api","key":"1"}}"#, r#"{"x":{"type":"wellknown","key":"A","token":"t"}}"#);
    let opencode = ".local/share/opencode/auth.json";
    for (agent, file, harmless, harmful) in [
        ("opencode", opencode, Some(api), other),
        ("opencode", opencode, None, "no JSON"),
        ("aider", ".aider/oauth-keys.env", None, "AIDER_LINT_CMD=touch x"),
        (
            "qwen",
            ".qwen/oauth_creds.json",
            Some(r#"{"access_token":"1"}"#),
            r#"{"resource_url":"evil.example"}"#,
        ),
    ] {
        // Long enough for the thread that writes a login while the agent runs.
        let write = |text: &str| format!("mkdir -p ~/$(dirname {file}); echo '{text}' > ~/{file}; sleep 0.6");
        let bench = Bench::with(agent, &harmless.map(write).unwrap_or_default());
        bench.go(&["--discard", agent]).code(0);
        let home = || std::fs::read_to_string(bench.home(file)).ok();
        let before = home();
        assert_eq!(before.as_deref().map(str::trim), harmless, "{agent}");
        bench.program(agent, &write(harmful));
        let out = bench.go(&[agent]).code(3);
        assert!(out.stderr.contains(&format!("~/{file}")) && out.stderr.contains("! "), "{}", out.stderr);
        assert_eq!(home(), before, "{agent} wrote {harmful}");
        // Not by the way, either.
        bench.go(&["--apply", agent]).code(3);
        assert_eq!(home(), before, "{agent}");
    }
}

#[test]
fn files_at_home_that_wait_are_listed_and_applied_by_the_subcommands() {
    needs_a_view!();
    let bench = Bench::with("claude", "mkdir -p ~/.claude; echo hooks > ~/.claude/settings.json");
    let out = bench.go(&["claude"]).code(3);
    let name = out.stderr.split_whitespace().find(|word| word.ends_with("-home`")).unwrap().trim_matches('`');
    let out = bench.place.run(["changes", "--session", name]);
    assert!(out.stdout.contains(".claude/settings.json"), "{out:?}");
    // Never without its name.
    let out = bench.place.run(["changes", "--json"]).code(0);
    assert_eq!(out.stdout, "[]\n");
    assert!(out.stderr.contains("a program left changes in your home directory"), "{out:?}");
    bench.place.run(["apply"]).warns("nothing");
    bench.place.run(["discard"]).warns("nothing");
    let path = bench.home(".claude/settings.json");
    bench.place.run(["apply", "--session", name, "--apply-protected", path.to_str().unwrap()]).code(0);
    assert_eq!(text(path), "hooks\n");
}

#[test]
fn a_json_run_prints_facts_and_passes_the_exit_code_on() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo said; echo x > made.txt; exit 7");
    let facts = bench.json(&["--discard", "claude", "a b"]);
    assert_eq!(facts.pointer("/program/arguments/0").unwrap(), "a b");
    assert_eq!((facts["exit_code"].as_i64(), facts["pending"].as_bool()), (Some(7), Some(false)));
    assert_eq!(facts.pointer("/program/exit_code").unwrap(), 7);
    assert!(facts.pointer("/changes/0/path").unwrap().as_str().unwrap().ends_with("made.txt"));
    assert!(!bench.place.tree.join("made.txt").exists());
    let out = bench.go(&["--output-format", "json", "--discard", "claude"]).code(7);
    assert!(out.stderr.contains("said") && !out.stdout.contains("said\n"), "{out:?}");
    bench.go(&["--apply", "claude"]).code(7);
    assert_eq!(bench.place.read("made.txt"), "x\n");
    bench.go(&["--", "sh", "-c", "kill -9 $$"]).code(137);
}

#[test]
fn a_program_gets_its_own_keys_and_no_others() {
    needs_a_view!();
    let bench = Bench::with("claude", "env");
    bench.place.config_dir();
    std::fs::create_dir_all(bench.home(".claude")).unwrap();
    std::fs::create_dir_all(bench.home(".codex")).unwrap();
    std::fs::write(bench.home(".claude/.credentials.json"), "mine").unwrap();
    std::fs::write(bench.home(".codex/auth.json"), "another's").unwrap();
    let secret = |run: Run| {
        run.env("ANTHROPIC_API_KEY", "sk-ant-api03-aaaaaaaaaaaaaaaaaaaa")
            .env("OPENAI_API_KEY", "sk-bbbbbbbbbbbbbbbbbbbbbbbb")
    };
    let out = secret(bench.run(&["claude"])).go().code(0);
    assert!(
        out.stdout.contains("ANTHROPIC_API_KEY=") && out.stdout.contains("IS_SANDBOX=1"),
        "{}",
        out.stdout
    );
    assert!(!out.stdout.contains("OPENAI_API_KEY"), "{}", out.stdout);
    let out = secret(bench.run(&["--", "env"])).go().code(0);
    assert!(!out.stdout.contains("API_KEY"), "{}", out.stdout);
    bench.program("claude", "cat ~/.claude/.credentials.json; cat ~/.codex/auth.json");
    let out = bench.go(&["claude"]);
    assert!(out.stdout.contains("mine") && !out.stdout.contains("another's"), "{}", out.stdout);
}

#[test]
fn a_run_is_in_no_try_and_says_what_there_is() {
    let bench = Bench::with("claude", "touch ran");
    let out = bench.go(&["--try", "x", "claude"]).code(2);
    out.warns("a run has pending changes of its own").warns("hint: `--fresh` leaves the pending changes");
}

#[test]
fn a_dry_run_names_what_a_program_gets_and_runs_nothing() {
    let bench = Bench::with("claude", "touch ran");
    let out = bench
        .run(&["--dry-run", "--network", "crates.io", "claude", "-p", "hi"])
        .env("ANTHROPIC_API_KEY", "k")
        .go()
        .code(0);
    for row in [
        "command      IS_SANDBOX=1 exec claude -p hi",
        "network      api.anthropic.com:443",
        "             crates.io",
        "             ANTHROPIC_API_KEY",
        "credentials  ~/.claude/.credentials.json",
        "runs later   ~/.claude/settings.json",
        "nothing was run (--dry-run)",
    ] {
        assert!(out.stdout.contains(row), "{row}: {}", out.stdout);
    }
    assert!(!bench.place.tree.join("ran").exists());
    let list = bench.go(&["--list"]).code(0).stdout;
    assert!(list.contains(&format!("claude    {}", bench.bin.join("claude").display())), "{list}");
    assert!(list.contains("gemini"), "{list}");
}

#[test]
fn mistakes_are_named_with_what_to_do() {
    let bench = Bench::with("claude", "true");
    let out = bench.go(&["cladue"]).code(2);
    assert!(
        out.stderr.contains("there is no preset `cladue`") && out.stderr.contains("did you mean `claude`"),
        "{out:?}"
    );
    std::fs::remove_file(bench.bin.join("claude")).unwrap();
    let out = bench.place.placet(["run", "claude"]).env("PATH", &bench.bin).go().code(1);
    assert!(out.stderr.contains("claude is not installed"), "{out:?}");
    bench.go(&[]).code(2).warns("the preset or the command is missing");
    bench.go(&["--aply", "claude"]).code(2).warns("unknown option `--aply`");
    bench.go(&["--output-format", "stream-json", "--", "true"]).code(2);
    let wrong = bench.run(&["--set", "run.presets.mine.credentials=[\"../x\"]", "--", "true"]).go();
    assert!(wrong.code == 0 || wrong.stderr.contains("is not a path below"), "{wrong:?}");
}

#[test]
fn presets_of_the_person_add_to_the_table_and_a_project_has_none() {
    needs_a_view!();
    let bench = Bench::with("helper", "mkdir -p ~/.helper; echo x > ~/.helper/state; echo $HELPER_MODE");
    let settings = "[run.presets.mine]\nprogram = \"helper\"\nhosts = [\"api.example.org:443\"]\n\
                    keep = [\".helper/\"]\nenvironment = [\"HELPER_MODE=quiet now\"]\n";
    let bench = Bench { place: bench.place.config(settings), ..bench };
    let out = bench.go(&["mine"]).code(0);
    assert_eq!((out.stdout.as_str(), text(bench.home(".helper/state")).as_str()), ("quiet now\n", "x\n"));
    bench
        .place
        .write(".placet/config.toml", "[run.presets.theirs]\nprogram = \"helper\"\nkeep = [\".ssh/\"]\n");
    let out = bench.go(&["theirs"]).code(2);
    assert!(out.stderr.contains("there is no preset `theirs`"), "{out:?}");
    bench.place.run(["config", "trust"]);
    let out = bench.go(&["theirs"]).code(2);
    assert!(out.stderr.contains("only your own settings can contain it"), "{out:?}");
}

#[test]
fn hostile_state_is_reported_and_reaches_nothing() {
    needs_a_view!();
    let script = r#"
mkdir -p ~/.claude/projects/p
ln -s /etc/passwd ~/.claude/projects/p/link.jsonl
mkfifo ~/.claude/projects/p/pipe.jsonl
rm -f ~/.claude/history.jsonl; mkdir ~/.claude/history.jsonl; echo x > ~/.claude/history.jsonl/in
rm -f ~/.claude/.credentials.json; ln -s /etc/shadow ~/.claude/.credentials.json
rm ~/.claude/projects/old.jsonl
echo good > ~/.claude/projects/p/good.jsonl"#;
    let bench = Bench::with("claude", script);
    std::fs::create_dir_all(bench.home(".claude/projects")).unwrap();
    for name in [".claude/history.jsonl", ".claude/.credentials.json", ".claude/projects/old.jsonl"] {
        std::fs::write(bench.home(name), "mine").unwrap();
    }
    let out = bench.go(&["claude"]);
    assert!(
        out.stderr.contains("not kept: ~/.claude/projects/p/link.jsonl: it is not a regular file")
            || out.stderr.contains("link.jsonl: it is not a regular file"),
        "{}",
        out.stderr
    );
    assert!(out.stderr.contains("pipe.jsonl: it is not a regular file"), "{}", out.stderr);
    for name in [".claude/history.jsonl", ".claude/.credentials.json", ".claude/projects/old.jsonl"] {
        assert_eq!(text(bench.home(name)), "mine", "{name}");
    }
    assert_eq!(text(bench.home(".claude/projects/p/good.jsonl")), "good\n");
    let names: Vec<_> = std::fs::read_dir(bench.home(".claude/projects/p")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_home_directory_that_is_a_link_out_is_not_followed() {
    needs_a_view!();
    let bench = Bench::with("claude", "mkdir -p ~/.claude/projects; echo x > ~/.claude/projects/1.jsonl");
    let outside = bench.place.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    symlink(&outside, bench.home(".claude")).unwrap();
    bench.go(&["claude"]);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_login_is_written_while_the_program_runs_and_never_over_a_newer_one() {
    needs_a_view!();
    let script = "mkdir -p ~/.claude ~/.claude/projects; echo 1 > ~/.claude/.credentials.json; echo started; read go\n\
                  echo mine > ~/.claude/projects/1.jsonl; echo 2 > ~/.claude/.credentials.json";
    let bench = Bench::with("claude", script);
    std::fs::create_dir_all(bench.home(".claude/projects")).unwrap();
    std::fs::write(bench.home(".claude/projects/1.jsonl"), "old").unwrap();
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    let login = bench.home(".claude/.credentials.json");
    wait::until("the login", || login.exists());
    assert_eq!(text(&login), "1\n");
    std::fs::write(&login, "by another program").unwrap();
    std::fs::write(bench.home(".claude/projects/1.jsonl"), "theirs").unwrap();
    running.say("go\n");
    let out = running.end();
    assert!(out.stderr.contains(".credentials.json: it changed outside of the view"), "{}", out.stderr);
    assert!(out.stderr.contains("1.jsonl: it changed outside of the view"), "{}", out.stderr);
    assert_eq!(
        (text(&login).as_str(), text(bench.home(".claude/projects/1.jsonl")).as_str()),
        ("by another program", "theirs")
    );
    assert_eq!(out.code, 3);
}

#[test]
fn two_runs_at_once_have_a_view_each() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo started; read go; echo $go > $go.txt");
    let mut first = bench.run(&["claude"]).start();
    first.line_where(|line| line.contains("started"));
    let mut second = bench.run(&["claude"]).start();
    second.line_where(|line| line.contains("started"));
    first.say("one\n");
    second.say("two\n");
    let (first, second) = (first.end().code(3), second.end().code(3));
    assert!(first.stderr.contains("one.txt") && !first.stderr.contains("two.txt"), "{first:?}");
    assert!(second.stderr.contains("two.txt") && !second.stderr.contains("one.txt"), "{second:?}");
}

#[test]
fn a_fresh_run_leaves_pending_changes_where_they_are() {
    needs_a_view!();
    let bench = Bench::with("claude", "ls; touch a");
    bench.go(&["claude"]).code(3);
    let out = bench.go(&["--fresh", "claude"]).code(3);
    assert_eq!(out.stdout, "notes.txt\n");
    let out = bench.go(&["claude"]).code(3);
    assert_eq!(out.stdout, "a\nnotes.txt\n");
}

#[test]
fn an_empty_directory_that_is_made_anew_is_no_change() {
    needs_a_view!();
    let bench = Bench::with("claude", "rmdir sub && mkdir sub && mv empty away && mv away empty && ls");
    for name in ["sub", "empty"] {
        std::fs::create_dir(bench.place.tree.join(name)).unwrap();
    }
    for _ in 0..2 {
        let out = bench.go(&["claude"]).code(0);
        assert_eq!(out.stdout, "empty\nnotes.txt\nsub\n", "{out:?}");
        let list = bench.place.run(["changes"]).code(0);
        assert!(list.stderr.contains("nothing is pending") && !list.stderr.contains("damaged"), "{list:?}");
    }
}

#[test]
fn what_a_killed_run_left_is_pending_at_the_next_start() {
    needs_a_view!();
    let bench = Bench::with(
        "claude",
        "mkdir -p ~/.claude; echo h > ~/.claude/settings.json; echo x > made.txt; echo started; read go",
    );
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    running.signal(rustix::process::Signal::KILL);
    running.end();
    bench.program("claude", "cat made.txt");
    // The processes of the killed run may need a moment to end.
    wait::until("the run", || {
        let out = bench.go(&["claude"]);
        out.code == 3 && out.stdout == "x\n"
    });
    bench.place.run(["changes"]).says("made.txt");
}

#[test]
fn what_a_killed_run_left_is_shown_and_applied_without_another_run() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo two > notes.txt; echo x > made.txt; echo started; read go");
    bench.place.write("notes.txt", "one\n");
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    let list = bench.place.run(["changes"]).code(0);
    assert!(list.stdout.contains("none of them applied or pending:\n"), "a live run is left alone: {list:?}");
    running.signal(rustix::process::Signal::KILL);
    running.end();
    // The processes of the killed run may need a moment to end.
    wait::until("the run", || {
        let list = bench.place.run(["changes"]).code(0);
        list.stderr.contains("was interrupted; what it changed is pending (2 files)")
            && list.stdout.contains("A made.txt")
            && list.stdout.contains("M notes.txt")
    });
    bench.place.run(["apply"]).code(0);
    assert_eq!(bench.place.read("notes.txt"), "two\n");
    bench.place.run(["undo"]).code(0);
    assert_eq!(bench.place.read("notes.txt"), "one\n");
}

/// Story: SIGTERM and Ctrl-C without a terminal discarded what the program had written, without a word; kill -9 kept it.
#[test]
fn what_a_stopped_run_left_is_pending_and_never_applied() {
    needs_a_view!();
    use rustix::process::Signal;
    let bench = Bench::with("claude", "echo x > made.txt; echo started; read go");
    for (signal, options) in [(Signal::TERM, &["claude"][..]), (Signal::INT, &["--apply", "claude"])] {
        let mut running = bench.run(options).start();
        running.line_where(|line| line.contains("started"));
        running.signal(signal);
        let out = running.end();
        assert_eq!(out.code, 130, "{out:?}");
        assert!(out.stderr.contains("A made.txt") && out.stderr.contains("pending"), "{out:?}");
        assert!(!bench.place.tree.join("made.txt").exists(), "{out:?}");
        bench.place.run(["changes"]).code(0).says("made.txt");
        bench.place.run(["discard"]).code(0);
    }
}

/// Story: `kill -9` of the process in which the program ran, as the kernel does for memory, and a file that the program was
/// about to write again was applied empty.
#[test]
fn what_a_killed_program_left_is_pending_although_apply_was_given() {
    needs_a_view!();
    let bench = Bench::with("half", ": > notes.txt; kill -9 $$");
    let out = bench.go(&["--apply", "--", "half"]).code(3);
    out.warns("not applied: half was killed by signal 9, and its changes may be incomplete");
    assert!(!bench.place.read("notes.txt").is_empty());
    bench.place.run(["changes"]).code(0).says("notes.txt");
    bench.place.run(["discard"]).code(0);

    bench.program("half", ": > notes.txt; echo started; read go");
    let mut running = bench.run(&["--apply", "--", "half"]).start();
    running.line_where(|line| line.contains("started"));
    let parent = running.pid();
    let children = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    for child in children.split_whitespace() {
        let pid = rustix::process::Pid::from_raw(child.parse().unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let out = running.end();
    assert_eq!(out.code, 3, "{out:?}");
    assert!(out.stderr.contains("not applied: the process that ran half was killed"), "{out:?}");
    assert!(!bench.place.read("notes.txt").is_empty());
    bench.place.run(["changes"]).code(0).says("notes.txt");
}

#[test]
fn a_fresh_run_does_not_continue_with_what_a_killed_run_left() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo x > made.txt; rm notes.txt; echo started; read go");
    let mut running = bench.run(&["claude"]).start();
    running.line_where(|line| line.contains("started"));
    running.signal(rustix::process::Signal::KILL);
    running.end();
    bench.program("claude", "ls");
    // The processes of the killed run may need a moment to end.
    wait::until("the killed run", || {
        let out = bench.go(&["--fresh", "--apply", "claude"]).code(0);
        assert_eq!(out.stdout, "notes.txt\n", "{out:?}");
        out.stderr.contains("was interrupted; what it changed is pending (2 files)")
    });
    let made = bench.place.tree.join("made.txt");
    assert!(!made.exists() && bench.place.tree.join("notes.txt").exists());
    bench.place.run(["changes"]).says("made.txt");
}

#[test]
fn a_program_below_tmp_is_found_with_its_interpreter() {
    needs_a_view!();
    let bench = Bench::with("claude", "true");
    let dir = tempfile::Builder::new().prefix("placet-agent").tempdir_in("/tmp").unwrap();
    let lib = dir.path().join("venv/lib");
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::create_dir(dir.path().join("venv/bin")).unwrap();
    std::fs::write(lib.join("words"), "from the library\n").unwrap();
    let program = dir.path().join("venv/bin/agent");
    std::fs::write(&program, format!("#!/bin/sh\ncat {}/words; touch {}/x\n", lib.display(), lib.display()))
        .unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let out = bench.go(&["--", program.to_str().unwrap(), "hi"]);
    assert!(out.stdout.contains("from the library"), "{out:?}");
    assert!(!lib.join("x").exists());
}

#[test]
fn a_home_directory_that_is_the_workspace_is_asked_about_whole() {
    needs_a_view!();
    let bench = Bench::with(
        "claude",
        "mkdir -p ~/.claude/projects; echo s > ~/.claude/projects/1.jsonl; echo w > ~/work.txt",
    );
    let home = bench.place.home.clone();
    let out = bench.run(&["claude"]).cwd(&home).go().code(3);
    assert!(
        out.stderr.contains("A work.txt") && out.stderr.contains(".claude/projects/1.jsonl"),
        "{}",
        out.stderr
    );
    assert!(!home.join(".claude").exists() && !home.join("work.txt").exists());
}

#[test]
fn a_commit_in_a_linked_worktree_goes_through_the_question() {
    needs_a_view!();
    if !require("git") {
        return;
    }
    let bench = Bench::with(
        "claude",
        "echo more >> notes.txt; git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qam work || exit 9",
    );
    let git = |dir: &Path, words: &[&str]| {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
            .args(words)
            .current_dir(dir)
            .env("HOME", &bench.place.home)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let tree = bench.place.tree.clone();
    git(&tree, &["init", "-q"]);
    git(&tree, &["add", "."]);
    git(&tree, &["commit", "-qm", "first"]);
    let linked = bench.place.beside("linked");
    git(&tree, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let before = git(&tree, &["rev-parse", "linked"]);
    let out = bench.run(&["claude"]).cwd(&linked).go();
    assert_eq!(out.code, 3, "{out:?}");
    assert!(out.stderr.contains("work"), "{}", out.stderr);
    assert_eq!(git(&tree, &["rev-parse", "linked"]), before);
    let out = bench.run(&["--apply", "claude"]).cwd(&linked).go();
    assert_eq!(out.code, 0, "{out:?}");
    assert_ne!(git(&tree, &["rev-parse", "linked"]), before);
    git(&linked, &["fsck", "--strict"]);
}

#[test]
fn runs_are_listed_while_they_run_and_can_be_stopped() {
    needs_a_view!();
    let bench = Bench::with("claude", "echo x > a; echo started; read go");
    assert_eq!(bench.place.run(["runs"]).code(0).stdout, "");
    let mut running = bench.run(&["claude", "-p", "x"]).start();
    running.line_where(|line| line.contains("started"));
    let pid = running.pid().to_string();
    let list = bench.place.run(["runs"]).code(0).stdout;
    assert!(
        list.starts_with(&pid) && list.contains("claude -p x") && list.contains("1 file changed"),
        "{list}"
    );
    let rows: Value = serde_json::from_str(&bench.place.run(["runs", "--json"]).stdout).unwrap();
    assert_eq!(rows.pointer("/0/program/program").unwrap(), "claude");
    bench.place.run(["runs", "stop", "1"]).code(1).warns("no run has the process number 1");
    bench.place.run(["runs", "stop", &pid]).code(0);
    running.end().code(130);
    assert_eq!(bench.place.run(["runs"]).code(0).stdout, "");
}

#[test]
fn the_old_name_runs_the_same() {
    needs_a_view!();
    let bench = Bench::with("claude", "touch x");
    let out = bench.place.run(["sandbox", "run", "--apply", "--", "touch", "y"]).code(0);
    assert!(out.stderr.contains("A y") && bench.place.tree.join("y").exists(), "{out:?}");
}

#[test]
fn settings_that_run_nothing_are_written_and_not_asked_about() {
    needs_a_view!();
    let write = |text: &str| format!("mkdir -p ~/.claude; echo '{text}' > ~/.claude/settings.json");
    let bench = Bench::with("claude", &write(r#"{"hooks": {"a": 1}, "env": {"DISABLE_AUTOUPDATER": "1"}}"#));
    std::fs::create_dir_all(bench.home(".claude")).unwrap();
    std::fs::write(bench.home(".claude/settings.json"), "{\"hooks\": {\"a\": 1}}").unwrap();
    let out = bench.go(&["claude"]).code(0);
    assert!(!out.stderr.contains("settings.json"), "{}", out.stderr);
    assert!(text(bench.home(".claude/settings.json")).contains("DISABLE_AUTOUPDATER"));
    for later in
        [r#"{"hooks": {"a": 2}}"#, r#"{"hooks": {"a": 1}, "env": {"LD_PRELOAD": "x"}}"#, "no JSON", "{}"]
    {
        bench.program("claude", &write(later));
        let out = bench.go(&["--fresh", "claude"]).code(3);
        assert!(out.stderr.contains("! M ~/.claude/settings.json"), "{later}: {}", out.stderr);
    }
    bench.program("codex", "mkdir -p ~/.codex; printf '[tui]\\ntheme = \"x\"\\n' > ~/.codex/config.toml");
    bench.go(&["codex"]).code(0);
    bench.program("codex", "printf 'notify = [\"sh\"]\\n' > ~/.codex/config.toml");
    bench.go(&["codex"]).code(3).warns("! M ~/.codex/config.toml");
}

#[test]
fn a_listed_key_of_placets_own_is_named() {
    needs_a_view!();
    let bench = Bench::with("claude", "true");
    let keep = "sandbox.keep_env=[\"OPENAI_API_KEY\"]";
    let out =
        bench.run(&["--set", keep, "--", "env"]).env("OPENAI_API_KEY", "sk-bbbbbbbbbbbbbbbbbbbbbbbb").go();
    assert!(
        out.stderr.contains("OPENAI_API_KEY is not passed although `sandbox.keep_env` lists it"),
        "{out:?}"
    );
    let help = bench.go(&["--help"]).stdout;
    assert!(help.contains("Ctrl-]") && help.contains("placet runs"), "{help}");
}
