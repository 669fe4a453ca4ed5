//! `placet run`: programs that behave like agents, their state in the home directory, and hostile ones.

use crate::support::binary::{Out, Place, Run};
use crate::support::wait;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

macro_rules! needs_a_view {
    () => {
        if !$crate::support::require::has_view() {
            return;
        }
    };
}
pub(super) use needs_a_view;

/// A place with a program in a directory of `PATH`.
pub(super) struct Bench {
    pub(super) place: Place,
    pub(super) bin: PathBuf,
}

impl Bench {
    pub(super) fn with(name: &str, script: &str) -> Bench {
        let place = Place::with_notes();
        let bin = place.beside("bin");
        std::fs::create_dir(&bin).unwrap();
        let bench = Bench { place, bin };
        bench.program(name, script);
        bench
    }

    pub(super) fn program(&self, name: &str, script: &str) {
        let path = self.bin.join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    pub(super) fn run(&self, words: &[&str]) -> Run {
        let path = format!("{}:{}", self.bin.display(), std::env::var("PATH").unwrap());
        self.place.placet(std::iter::once(&"run").chain(words)).env("PATH", path)
    }

    pub(super) fn go(&self, words: &[&str]) -> Out {
        self.run(words).go()
    }

    pub(super) fn json(&self, words: &[&str]) -> Value {
        let all: Vec<&str> = ["--output-format", "json"].iter().chain(words).copied().collect();
        let out = self.go(&all);
        serde_json::from_str(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"))
    }

    pub(super) fn home(&self, name: &str) -> PathBuf {
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
