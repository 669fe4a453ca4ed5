//! Ctrl-B: a command that runs in the foreground goes to the background. The turn continues, the command is not
//! disturbed, and each of its writes arrives once.

use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;
use crate::support::wait;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CTRL_B: &str = "\x02";

/// True while a process whose command line holds `mark` is alive.
fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let own = entry.file_name().to_str() == Some(&std::process::id().to_string());
        !own && String::from_utf8_lossy(&line).contains(mark)
    })
}

/// A shell whose model runs these commands, one after the other, and then says `done`.
fn with_commands(mode: &str, commands: &[&str]) -> (Pty, MockServer) {
    with_commands_in(shell(), mode, commands)
}

fn with_commands_in(start: Start, mode: &str, commands: &[&str]) -> (Pty, MockServer) {
    let server = MockServer::start([]);
    for (at, command) in commands.iter().enumerate() {
        let input = json!({ "command": command }).to_string();
        server.push(Reply::openai(&[Say::Call(&format!("c{at}"), "run_command", &input)]));
    }
    server.push(Reply::openai(&[Say::Text("all done")]));
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", mode];
    let mut pty = args.iter().fold(start, |start, arg| start.arg(arg)).open();
    pty.line("begin");
    (pty, server)
}

/// What the model got.
fn told(server: &MockServer) -> String {
    server.requests().last().unwrap().body["messages"].to_string()
}

/// A directory that commands and this test share.
fn scratch(pty: &Pty) -> PathBuf {
    let base = pty.home().join(".cache/placet/scratch");
    let found = std::fs::read_dir(base).unwrap().flatten().next().unwrap();
    found.path()
}

/// The command has made its file `began`.
fn has_begun(pty: &Pty) -> bool {
    let places = std::fs::read_dir(pty.home().join(".cache/placet/scratch"));
    places.is_ok_and(|places| places.flatten().any(|place| place.path().join("began").exists()))
}

fn go(pty: &Pty) {
    std::fs::write(scratch(pty).join("go"), "").unwrap();
}

const UNTIL_GO: &str = "while [ ! -e $PLACET_SCRATCH/go ]; do sleep 0.05; done";

/// A file of the layer with the pending changes.
fn pending(pty: &Pty, name: &str) -> Option<String> {
    pending_below(pty.home(), name)
}

fn pending_below(home: &Path, name: &str) -> Option<String> {
    let views = std::fs::read_dir(home.join(".local/state/placet/views")).ok()?;
    views.flatten().find_map(|view| std::fs::read_to_string(view.path().join("pending/0").join(name)).ok())
}

fn press(pty: &mut Pty, key: &str) {
    pty.answer(key);
}

#[test]
fn the_turn_goes_on_and_every_write_before_and_after_arrives_once() {
    if !has_view() {
        return;
    }
    // A file that is open across the move, a file that is opened again, and a pending file that the command removes.
    let slow = format!(
        "exec 3>>held.txt; echo before >> log.txt; echo one >&3; echo so far; {UNTIL_GO}; \
         echo two >&3; echo after >> log.txt; rm gone.txt; cat seen.txt >> log.txt"
    );
    let next = "cat log.txt held.txt; echo of the turn > seen.txt; echo turn > turn.txt";
    let (mut pty, server) =
        with_commands("ask", &["echo p > held.txt; echo p > gone.txt; echo old > seen.txt", &slow, next]);
    pty.until("its output", |s| s.contains("so far") && s.contains("› run exec 3>>held.txt"));
    // The key is named when the command has run for a moment.
    pty.until("the key", |s| s.contains("Ctrl-B: background"));
    pty.send(CTRL_B);
    pty.until("the answer and the question", |s| s.contains("all done") && s.contains("4 files"));
    // The row may be wrapped at any of its words.
    let shown = pty.transcript();
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("moved to the background as job 1"), "{shown}");
    let model = told(&server);
    assert!(
        model.contains("so far\\n[the person moved the command to the background: it runs as job 1, in "),
        "{model}"
    );
    // The next command saw nothing of the job, and the layer as it was.
    assert!(model.contains("log.txt: No such file") && model.contains("\\np\\n[exit code 0"), "{model}");
    assert_eq!(pending(&pty, "held.txt").as_deref(), Some("p\n"));
    go(&pty);
    wait::until("the log", || pending(&pty, "log.txt").is_some());
    press(&mut pty, "a");
    pty.until("what is new", |s| s.contains("pending changes were updated in the meantime"));
    press(&mut pty, "a");
    pty.until_prompt("");
    assert_eq!(pty.read("held.txt"), "p\none\ntwo\n");
    assert_eq!(pty.read("log.txt"), "before\nafter\nof the turn\n", "the job sees later edits");
    assert_eq!(pty.read("seen.txt"), "of the turn\n");
    assert_eq!(pty.read("turn.txt"), "turn\n");
    assert!(!pty.exists("gone.txt"));
    pty.line("/undo");
    pty.until("what undo did", |s| s.contains("undid") || s.contains("undone") || s.contains("reverted"));
    for name in ["held.txt", "log.txt", "seen.txt", "turn.txt", "gone.txt"] {
        assert!(!pty.exists(name), "{name}");
    }
}

#[test]
fn one_that_is_stopped_later_has_done_nothing_and_a_kill_leaves_its_writes_pending() {
    if !has_view() {
        return;
    }
    for (mark, kills) in [("33.0101", false), ("33.0102", true)] {
        let slow = format!("echo job > a.txt; echo so far; setsid sleep {mark} & sleep {mark}");
        let start = shell().file("a.txt", "person\n");
        let (mut pty, _server) = with_commands_in(start, "ask", &["echo p > p.txt", &slow]);
        pty.until("its output", |s| s.contains("so far\n"));
        pty.send(CTRL_B);
        pty.until("the question", |s| s.contains("all done") && s.contains("1 file, +1 -0"));
        assert!(alive(mark));
        if kills {
            let (home, tree) = pty.kill();
            wait::until("the end", || !alive(mark));
            assert_eq!(std::fs::read_to_string(tree.path().join("a.txt")).unwrap(), "person\n");
            assert!(!tree.path().join("p.txt").exists());
            assert_eq!(pending_below(home.path(), "p.txt").as_deref(), Some("p\n"));
            assert_eq!(pending_below(home.path(), "a.txt"), None);
            // The next start has what the job wrote, as everything else that was not applied.
            let dir = tree.path().to_path_buf();
            let next = shell().at(home, tree, &dir).open();
            next.until("what is pending", |s| s.contains("changes to 2 files are pending from session"));
            assert_eq!(pending(&next, "a.txt").as_deref(), Some("job\n"));
            assert_eq!(pending(&next, "p.txt").as_deref(), Some("p\n"));
            assert_eq!(next.read("a.txt"), "person\n");
            continue;
        }
        press(&mut pty, "a");
        pty.until_prompt_with_jobs(1, "");
        pty.line("/jobs kill 1");
        pty.until("its end", |s| {
            s.contains("ended job 1 and everything it started; its changes were discarded")
        });
        assert!(!alive(mark));
        assert_eq!((pty.read("a.txt"), pty.read("p.txt")), ("person\n".into(), "p\n".into()));
    }
}

#[test]
fn a_stop_of_the_turn_after_the_key_leaves_the_job_alone() {
    if !has_view() {
        return;
    }
    let slow = format!("echo so far; {UNTIL_GO}; echo x > made.txt");
    let (mut pty, _server) = with_commands("ask", &[&slow, "sleep 33.0201"]);
    pty.until("its output", |s| s.contains("so far\n"));
    pty.send(CTRL_B);
    pty.until("the next command", |s| s.contains("› run sleep 33.0201"));
    pty.send("\x1b");
    pty.until_prompt_with_jobs(1, "");
    assert!(!alive("33.0201"));
    pty.send("half a liXne\x1b[D\x1b[D\x1b[D");
    pty.until_prompt_with_jobs(1, "half a liXne");
    go(&pty);
    pty.until("word of its end", |s| s.contains("job 1 · exit code 0") && s.contains("1 created, pending"));
    // The prompt counts the change at once, and the line is as it was, with the cursor in its place.
    pty.until("the count", |s| s.trim_end().ends_with("±1 > half a liXne"));
    pty.send("\x1b[3~");
    pty.until("the line", |s| s.trim_end().ends_with("±1 > half a line"));
    assert_eq!(pty.screen().matches("half a li").count(), 1, "{}", pty.screen());
    assert_eq!(pending(&pty, "made.txt").as_deref(), Some("x\n"));
}

/// The command ends while the key is read, at another moment each time: its change is pending once, however it is
/// reported.
#[test]
fn one_that_ends_at_the_moment_of_the_key_is_pending_once() {
    if !has_view() {
        return;
    }
    let start = MockServer::start([]);
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &start.url(), "--mode", "ask"];
    let mut pty = args.iter().fold(shell(), |start, arg| start.arg(arg)).open();
    for round in 0..8 {
        let command = format!("echo begun{round}; sleep 0.1; echo {round} >> r{round}.txt");
        let input = json!({ "command": command }).to_string();
        start.push(Reply::openai(&[Say::Call("c", "run_command", &input)]));
        start.push(Reply::openai(&[Say::Text("all done")]));
        pty.line(&format!("round {round}"));
        pty.until("its output", |s| s.contains(&format!("begun{round}\n")));
        std::thread::sleep(Duration::from_millis(70 + 10 * round));
        pty.send(CTRL_B);
        let name = format!("r{round}.txt");
        wait::until(&name, || pending(&pty, &name).is_some());
        assert_eq!(pending(&pty, &name).unwrap(), format!("{round}\n"));
        // A job that has ended after the end of the turn is not asked about.
        let prompt = |s: &str| s.trim_end().lines().last().is_some_and(|l| l.starts_with("◆ placet ["));
        pty.until("the end of the turn", |s| prompt(s) || s.contains("Apply"));
        if !prompt(&pty.screen()) {
            press(&mut pty, "k");
        }
        pty.until("a prompt", prompt);
    }
    assert!(!alive("begun"));
}

#[test]
fn read_mode_discards_and_without_a_view_the_command_runs_on_but_does_not_stay() {
    if !has_view() {
        return;
    }
    let slow = format!("echo x > made.txt; echo so far; {UNTIL_GO}");
    let (mut pty, _server) = with_commands("read", &["echo y > other.txt", &slow]);
    pty.until("its output", |s| s.contains("so far\n"));
    pty.send(CTRL_B);
    pty.until("the answer", |s| s.contains("all done"));
    pty.until_prompt_with_jobs(1, "");
    go(&pty);
    pty.until("word of its end", |s| {
        s.contains("job 1 · exit code 0") && s.replace("\n  ", " ").contains("discarded (read mode)")
    });
    assert!(!pty.exists("made.txt") && !pty.exists("other.txt"));

    let slow = "echo so far; while [ ! -e go ]; do sleep 0.05; done; echo x > made.txt; sleep 33.0301";
    let (mut pty, server) = with_commands("unrestricted", &[slow]);
    pty.until("its output", |s| s.contains("so far\n"));
    pty.send(CTRL_B);
    pty.until("the answer", |s| s.contains("all done"));
    assert!(told(&server).contains("it runs as job 1, in "));
    pty.until_prompt_with_jobs(1, "");
    std::fs::write(pty.tree.path().join("go"), "").unwrap();
    wait::until("the file", || pty.exists("made.txt"));
    pty.line("/jobs keep 1");
    pty.until("why", |s| s.contains("job 1 began in the foreground, and placet writes its output"));
    pty.send("\x04");
    let warned = |s: &str| s.matches("job 1 is running and would end with placet").count();
    pty.until("the job", |s| warned(s) == 1);
    pty.until_prompt_with_jobs(1, "");
    // Story: a whole turn later one Ctrl-D left, and the job ended without a word.
    pty.line("/mode");
    pty.until("the mode", |s| s.contains("the mode is unrestricted"));
    pty.until_prompt_with_jobs(1, "");
    pty.send("\x04");
    pty.until("the job again", |s| warned(s) == 2);
    pty.until_prompt_with_jobs(1, "");
    pty.send("\x04");
    pty.ended();
    wait::until("the end", || !alive("33.0301"));
}

#[test]
fn its_whole_output_is_in_the_log() {
    if !has_view() {
        return;
    }
    let slow = format!(
        "seq 1 30000; echo so far; {UNTIL_GO}; seq 30001 60000; echo end of it; printf 'no line end'"
    );
    let (mut pty, _server) = with_commands("ask", &[&slow]);
    pty.until("its output", |s| s.contains("so far\n"));
    pty.send(CTRL_B);
    pty.until("the answer", |s| s.contains("all done"));
    pty.until_prompt_with_jobs(1, "");
    go(&pty);
    pty.until("word of its end", |s| s.contains("job 1 · exit code 0"));
    let logs = std::fs::read_dir(pty.home().join(".local/state/placet/jobs")).unwrap().flatten();
    let log = std::fs::read_to_string(logs.last().unwrap().path()).unwrap();
    let mut expected: String = (1..=30000).map(|n| format!("{n}\n")).collect();
    expected.push_str("so far\n");
    expected.extend((30001..=60000).map(|n| format!("{n}\n")));
    expected.push_str("end of it\nno line end");
    assert!(log == expected, "{} of {} bytes", log.len(), expected.len());
}

#[test]
fn a_classified_conversation_keeps_the_command_and_says_why() {
    if !has_view() {
        return;
    }
    let start =
        shell().file("secret/a.txt", "x\n").config("[classification]\npaths = [\"INTERNAL:secret/**\"]\n");
    let server = MockServer::start([]);
    let read = json!({"path": "secret/a.txt"}).to_string();
    server.push(Reply::openai(&[Say::Call("c0", "read_file", &read)]));
    let slow =
        json!({"command": format!("echo so far; {UNTIL_GO}; echo ended in the foreground")}).to_string();
    server.push(Reply::openai(&[Say::Call("c1", "run_command", &slow)]));
    server.push(Reply::openai(&[Say::Text("all done")]));
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", "ask"];
    let mut pty = args.iter().fold(start, |start, arg| start.arg(arg)).open();
    pty.line("begin");
    pty.until("its output", |s| s.contains("so far\n"));
    pty.send(CTRL_B);
    pty.until("why", |s| s.contains("no background commands in a classified conversation"));
    go(&pty);
    pty.until("the answer", |s| s.contains("all done"));
    assert!(told(&server).contains("ended in the foreground"));
}

#[test]
fn in_linear_mode_a_line_does_the_same() {
    if !has_view() {
        return;
    }
    let slow = format!("echo so far; : > $PLACET_SCRATCH/began; {UNTIL_GO}; echo x > made.txt");
    let (mut pty, server) = with_commands_in(shell().config("[ui]\nlinear = true\n"), "ask", &[&slow]);
    pty.until("the call", |s| s.contains("call: run echo so far"));
    // The row of the call comes before its command; in linear mode nothing shows that the command runs.
    wait::until("the command", || has_begun(&pty));
    std::thread::sleep(std::time::Duration::from_millis(200));
    pty.line("/background");
    pty.until("the answer", |s| s.contains("all done"));
    assert!(told(&server).contains("it runs as job 1, in "));
    pty.until_prompt_with_jobs(1, "");
    go(&pty);
    wait::until("the file", || pending(&pty, "made.txt").is_some());
}
