//! Commands in the background: begun, read, waited for and ended by the model and by the person; and nothing of them left
//! but what was asked for.

use crate::support::binary::Place;
use crate::support::job_calls::{background, begun, call, results};
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;
use crate::support::wait;
use rustix::process::{Pid, Signal};
use serde_json::json;

/// True while a process whose command line holds `mark` is alive.
fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let zombie = stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'));
        let own = entry.file_name().to_str() == Some(&std::process::id().to_string());
        !zombie && !own && String::from_utf8_lossy(&line).contains(mark)
    })
}

#[test]
fn one_is_begun_read_waited_for_and_its_effects_are_pending_and_merged_with_edits() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    // The first change makes the file its own: the edit reaches it at its end.
    let line = "echo first; sed -i s/9/nine/ a.txt; until [ -e go ]; do sleep 0.02; done; echo new > b.txt; echo last";
    let edit = json!({"path": "a.txt", "old_string": "1", "new_string": "one"}).to_string();
    let (told, stderr) = results(
        &place,
        &server,
        "ask",
        &[
            ("run_command", background(line)),
            ("read_file", json!({"path": "a.txt"}).to_string()),
            ("edit_file", edit),
            ("job", json!({"action": "list"}).to_string()),
            ("write_file", json!({"path": "go", "content": ""}).to_string()),
            ("job", json!({"action": "wait", "timeout_ms": 20000}).to_string()),
            ("run_command", json!({"command": "cat a.txt b.txt"}).to_string()),
        ],
    );
    assert!(told[0].starts_with("first\n[job 1 runs in the background, in "), "{told:?}");
    assert!(told[0].contains("it sees later edits too"), "{told:?}");
    assert!(told[3].starts_with("1 · running for "), "{told:?}");
    assert!(told[5].starts_with("last\n[job 1: exit code 0 after "), "{told:?}");
    assert!(told[5].contains("[effects: 1 created, 1 modified: a.txt, b.txt; pending"), "{told:?}");
    assert!(told[5].contains("[changed by others as well, and merged: a.txt]"), "{told:?}");
    assert!(told[6].starts_with("one\n2\n3\n4\n5\n6\n7\n8\nnine\nnew\n"), "{told:?}");
    assert!(stderr.contains("M a.txt") && stderr.contains("A b.txt"), "{stderr}");
    assert!(!place.tree.join("b.txt").exists(), "nothing landed");
}

#[test]
fn a_conflict_leaves_both_versions_and_says_where() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let edit = json!({"path": "a.txt", "old_string": "5", "new_string": "five"}).to_string();
    let (told, _) = results(
        &place,
        &server,
        "ask",
        &[
            ("run_command", background("sed -i s/5/fünf/ a.txt; until [ -e go ]; do sleep 0.02; done")),
            ("read_file", json!({"path": "a.txt"}).to_string()),
            ("edit_file", edit),
            ("write_file", json!({"path": "go", "content": ""}).to_string()),
            ("job", json!({"action": "wait"}).to_string()),
            (
                "run_command",
                json!({"command": "grep . a.txt a.txt.job-1 | grep -n 5 ; grep -h f a.*"}).to_string(),
            ),
        ],
    );
    assert!(told[4].contains("[effects: 1 created: a.txt.job-1; pending"), "{told:?}");
    assert!(told[4].contains("this command's version is next to it: a.txt.job-1]"), "{told:?}");
    assert!(told[5].starts_with("five\nfünf\n"), "{told:?}");
}

#[test]
fn what_ends_at_once_is_told_like_any_other_command() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let calls = [
        ("run_command", background("no-such-program-here")),
        ("job", json!({"action": "list"}).to_string()),
        ("job", json!({"action": "output", "job": 7}).to_string()),
        ("job", json!({"action": "wait"}).to_string()),
    ];
    let (told, _) = results(&place, &server, "ask", &calls);
    assert!(told[0].contains("not found") && told[0].contains("[exit code 127, "), "{told:?}");
    assert_eq!(told[1], "no jobs");
    let hint = "no jobs are running; run_command with `background` starts one";
    assert_eq!(told[2], format!("error: no job 7\nhint: {hint}"));
    assert_eq!(told[3], format!("error: `job` is missing\nhint: {hint}"));
}

#[test]
fn one_that_is_killed_has_done_nothing_and_all_it_started_is_gone() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let mark = "31.00041";
    let line = format!("echo x > made.txt; setsid sleep {mark} & sleep {mark}");
    let calls = [
        ("run_command", background(&line)),
        ("job", json!({"action": "wait", "timeout_ms": 100}).to_string()),
        ("job", json!({"action": "kill", "job": 1}).to_string()),
        ("run_command", json!({"command": "ls"}).to_string()),
    ];
    let (told, stderr) = results(&place, &server, "ask", &calls);
    assert!(told[1].contains("nothing new; still running after 0.1 s of waiting"), "{told:?}");
    assert!(told[2].contains("[job 1: stopped after "), "{told:?}");
    assert!(told[2].contains("[its changes were discarded]"), "{told:?}");
    assert!(told[3].starts_with("a.txt\n["), "{told:?}");
    assert!(!alive(mark) && !stderr.contains("A made.txt"), "{stderr}");
}

#[test]
fn read_mode_throws_away_what_it_changed_and_a_time_limit_ends_it() {
    if !has_view() {
        return;
    }
    let (place, server) = begun();
    let limited = json!({"command": "sleep 31.00042", "background": true, "timeout_ms": 1500}).to_string();
    let calls = [
        ("run_command", background("sleep 1.2; echo x > made.txt")),
        ("job", json!({"action": "wait"}).to_string()),
        ("run_command", limited),
        ("job", json!({"action": "wait"}).to_string()),
        ("run_command", json!({"command": "ls"}).to_string()),
    ];
    let (told, _) = results(&place, &server, "read", &calls);
    assert!(told[1].ends_with("[read mode: its changes were discarded]"), "{told:?}");
    assert!(told[3].contains("[job 2: out of time after "), "{told:?}");
    assert!(told[4].starts_with("a.txt\n["), "{told:?}");
    assert!(!alive("31.00042"));
}

#[test]
fn commands_and_jobs_without_a_network_share_one_localhost() {
    let python = std::process::Command::new("python3").arg("-V").output().is_ok_and(|o| o.status.success());
    if !has_view() || !python {
        return;
    }
    let (place, server) = begun();
    let serve = "python3 -u -m http.server 18211 --bind 127.0.0.1";
    let fetch =
        "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:18211/a.txt').read())\"";
    let run = |line: &str| json!({"command": line}).to_string();
    let calls = [
        ("run_command", run(fetch)),
        ("run_command", background(serve)),
        ("job", json!({"action": "wait", "until": "Serving", "timeout_ms": 20000}).to_string()),
        ("run_command", run(fetch)),
        // One in the network of the first, and one that is in it through the second.
        ("run_command", background("sleep 31.00043")),
        ("job", json!({"action": "kill", "job": 1}).to_string()),
        ("run_command", run(fetch)),
        ("run_command", background(serve)),
        ("job", json!({"action": "wait", "job": 3, "until": "Serving", "timeout_ms": 20000}).to_string()),
        ("run_command", run(fetch)),
    ];
    let (told, stderr) = results(&place, &server, "ask", &calls);
    assert!(told[0].contains("refused"), "{told:?}");
    assert!(told[2].contains("its output contains it"), "{told:?}");
    assert!(told[3].contains(r"1\n2\n3"), "{told:?}");
    assert!(told[6].contains("refused"), "{told:?}");
    assert!(told[9].contains(r"1\n2\n3"), "{told:?}");
    // The host has none of it.
    assert!(std::net::TcpStream::connect("127.0.0.1:18211").is_err());
    assert!(stderr.contains("job 2 ended with placet: sleep 31.00043"), "{stderr}");
    assert!(!alive("31.00043"));
}

#[test]
fn what_has_ended_is_told_once_with_the_next_result() {
    let (place, server) = begun();
    let calls = [
        ("run_command", background("echo $PPID > pid; until [ -e go ]; do sleep 0.1; done; exit 3")),
        // The supervisor of the job is placet's child: its pid is gone when placet has waited for it, and not before.
        ("run_command", json!({"command": "until [ -s pid ]; do sleep 0.1; done; touch go; while kill -0 $(cat pid) 2>&-; do sleep 0.1; done; echo between"}).to_string()),
        ("job", json!({"action": "output", "job": 1}).to_string()),
    ];
    let (told, stderr) = results(&place, &server, "unrestricted", &calls);
    assert!(told[1].starts_with("between\n"), "{told:?}");
    assert!(told[1].contains("[placet: job 1 has ended: exit code 3 after "), "{told:?}");
    assert_eq!(told.concat().matches("has ended").count(), 1, "{told:?}");
    assert!(told[2].starts_with("[job 1: exit code 3 after "), "{told:?}");
    assert_eq!(stderr.matches("note: job 1 · exit code 3").count(), 1, "{stderr}");
}

#[test]
fn a_single_call_has_no_place_for_one() {
    let place = Place::new();
    let input = background("true");
    let out = place.run(["tool", "call", "run_command", &input, "--mode", "write"]).code(1);
    out.warns("background commands need a session, and there is none here");
}

/// A shell whose model begins `line` in the background and says that it has.
fn with_job(line: &str, mode: &str) -> (Pty, MockServer) {
    with_job_in(shell(), line, mode)
}

fn with_job_in(start: Start, line: &str, mode: &str) -> (Pty, MockServer) {
    let server = MockServer::start([
        Reply::openai(&[call("c1", "run_command", &background(line))]),
        Reply::openai(&[Say::Text("it runs")]),
    ]);
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", mode];
    let mut pty = args.iter().fold(start, |start, arg| start.arg(arg)).open();
    pty.line("begin");
    pty.until("the answer", |s| s.contains("it runs"));
    pty.until_prompt_with_jobs(1, "");
    (pty, server)
}

#[test]
fn the_person_lists_reads_and_ends_them_and_hears_of_an_end_while_typing() {
    if !has_view() {
        return;
    }
    let (mut pty, server) = with_job("echo hello; sleep 2; echo x > made.txt; exit 4", "ask");
    pty.line("/jobs");
    pty.until("the list", |s| s.contains("1 running for ") && s.contains("echo hello; sleep 2;"));
    pty.line("/jobs 1");
    pty.until("its output", |s| s.contains("job 1 · running for ") && s.contains("hello\n"));
    pty.send("half a li");
    pty.until("word of its end", |s| {
        s.contains("job 1 · exit code 4 after ") && s.contains("1 created, pending")
    });
    pty.until("the prompt counts it", |s| s.trim_end().ends_with("] ±1 > half a li"));
    pty.send("ne");
    pty.until("the line", |s| s.trim_end().ends_with("] ±1 > half a line"));
    pty.send("\x03");
    pty.line("/jobs kill 1");
    pty.until("the answer", |s| s.contains("job 1 has ended already"));
    pty.line("/jobs keep 9");
    pty.until("the mistake", |s| s.contains("no job `9`"));
    server.push(Reply::openai(&[Say::Text("I know")]));
    pty.line("what of it?");
    pty.until("the answer", |s| s.contains("I know"));
    let body = server.requests().last().unwrap().body["messages"].to_string();
    assert!(body.contains("[placet: job 1 has ended: exit code 4 after "), "{body}");
    assert!(body.contains("1 created: made.txt; pending"), "{body}");
}

/// Story: nothing at the prompt showed that a job was running.
#[test]
fn the_prompt_counts_the_jobs_that_run_until_they_end() {
    if !has_view() {
        return;
    }
    let line = "while [ ! -e $PLACET_SCRATCH/go ]; do sleep 0.05; done";
    let (mut pty, _server) = with_job_in(shell().size(40, 24), line, "ask");
    pty.until("the sign", |s| s.contains("\n◆ placet [a] &1 >"));
    pty.send("half a li");
    pty.until_prompt_with_jobs(1, "half a li");
    let scratch = pty.home().join(".cache/placet/scratch");
    let dir = std::fs::read_dir(scratch).unwrap().flatten().next().unwrap().path();
    std::fs::write(dir.join("go"), "").unwrap();
    // It changed nothing: only its end takes the sign away, and the line stays.
    pty.until("word of its end", |s| s.contains("job 1 · exit code 0"));
    pty.until_prompt("half a li");
    let (mut pty, _server) = with_job("sleep 31.0401", "ask");
    pty.line("/jobs kill 1");
    pty.until("its end", |s| s.contains("ended job 1 and everything it started"));
    pty.until_prompt("");
}

#[test]
fn nothing_survives_whatever_way_placet_ends() {
    if !has_view() {
        return;
    }
    let ways: [(&str, Option<Signal>); 4] = [
        ("31.0101", None),
        ("31.0102", Some(Signal::TERM)),
        ("31.0103", Some(Signal::HUP)),
        ("31.0104", Some(Signal::KILL)),
    ];
    for mode in ["ask", "unrestricted"] {
        for (mark, signal) in ways {
            let mark = format!("{mark}{}", mode.len());
            let (mut pty, _server) = with_job(&format!("setsid sleep {mark} & sleep {mark}"), mode);
            assert!(alive(&mark));
            match signal {
                Some(signal) => pty.signal(signal),
                None => {
                    // As in bash, the first time tells of the job, and the second time leaves.
                    pty.send("\x04");
                    pty.until("the job", |s| s.contains("job 1 is running and would end with placet"));
                    assert!(alive(&mark));
                    pty.until_prompt_with_jobs(1, "");
                    pty.send("\x04");
                    pty.ended();
                    let said = pty.transcript();
                    assert!(said.contains("job 1 ended with placet: setsid sleep"), "{said}");
                }
            }
            wait::until(&format!("the end, {mode} {signal:?}"), || !alive(&mark));
        }
    }
}

#[test]
fn one_that_is_to_stay_does_and_its_output_goes_on() {
    let line = "echo begun; while :; do sleep 0.1; echo tick; done";
    let (mut pty, _server) = with_job(line, "unrestricted");
    pty.line("/jobs keep 1");
    pty.until("its number", |s| s.contains("job 1 continues after placet ends; `kill "));
    pty.send("\x04");
    pty.ended();
    // placet breaks lines at words and indents them; the terminal breaks the path.
    let said = pty.transcript().replace("\n  ", " ").replace(['\r', '\n'], "");
    let number = said.rsplit_once("· kill ").unwrap().1;
    let number: i32 = number.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    let log =
        said.split_once("its output is in ").unwrap().1.split_once(".log").unwrap().0.to_string() + ".log";
    let pid = Pid::from_raw(number).unwrap();
    let size = || std::fs::metadata(&log).map_or(0, |meta| meta.len());
    let before = size();
    assert!(before > 0);
    wait::until("it goes on writing", || size() > before);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    wait::until("one signal to end it", || rustix::process::test_kill_process(pid).is_err());
}

#[test]
fn one_in_the_view_cannot_stay() {
    if !has_view() {
        return;
    }
    let (mut pty, _server) = with_job("sleep 31.0201", "ask");
    pty.line("/jobs keep 1");
    pty.until("why", |s| s.contains("job 1 runs in the copy-on-write view, which ends with placet"));
    pty.line("/jobs kill all");
    pty.until("its end", |s| s.contains("ended job 1 and everything it started; its changes were discarded"));
    assert!(!alive("31.0201"));
}

#[test]
fn what_ends_under_the_question_is_shown_before_it_lands_or_goes() {
    if !has_view() {
        return;
    }
    // Discarding is asked about once more.
    let press = |pty: &mut Pty, key: &str| {
        pty.answer(key);
        if key == "d" {
            pty.answer(key);
        }
    };
    for key in ["a", "d"] {
        let job = background("while [ ! -e $PLACET_SCRATCH/go ]; do sleep 0.05; done; echo j > j.txt");
        let write = json!({"command": "echo q > q.txt; echo $PLACET_SCRATCH"}).to_string();
        let server = MockServer::start([
            Reply::openai(&[call("c1", "run_command", &job), call("c2", "run_command", &write)]),
            Reply::openai(&[Say::Text("both begun")]),
        ]);
        let start =
            ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", "ask"];
        let mut pty = start.iter().fold(shell(), |start, arg| start.arg(arg)).open();
        pty.line("begin");
        pty.until("the question", |s| s.contains("1 file, +1 -0 lines: apply?"));
        pty.until("keys to count", |s| !s.contains("a moment"));
        let told = server.requests()[1].body["messages"].to_string();
        let scratch = told.split(['"', '\\', ' ']).find(|word| word.contains("/scratch/")).unwrap();
        std::fs::write(std::path::Path::new(scratch).join("go"), "").unwrap();
        // Nothing on the screen says so while the question stands: the shelf itself is looked at.
        let (home, view) = scratch.split_once("/.cache/placet/scratch/").unwrap();
        let pending = format!("{home}/.local/state/placet/views/{view}/pending/0/j.txt");
        wait::until(&pending, || std::path::Path::new(&pending).exists());
        press(&mut pty, key);
        pty.until("what is new", |s| {
            s.contains("pending changes were updated in the meantime")
                && s.contains("2 files, +2 -0 lines: apply?")
        });
        assert!(!pty.exists("q.txt") && !pty.exists("j.txt"));
        pty.until("keys to count", |s| !s.contains("a moment"));
        press(&mut pty, key);
        pty.until_prompt("");
        assert_eq!((pty.exists("q.txt"), pty.exists("j.txt")), (key == "a", key == "a"), "{key}");
    }
}

#[test]
fn what_ended_between_two_turns_is_asked_about_at_the_end_of_the_next() {
    if !has_view() {
        return;
    }
    let (mut pty, server) = with_job("sleep 2; echo x > made.txt", "ask");
    pty.until("word of its end", |s| s.contains("job 1 · exit code 0 after "));
    server.push(Reply::openai(&[Say::Text("nothing to do")]));
    pty.line("go on");
    pty.until("the question", |s| s.contains("1 file, +1 -0 lines: apply?"));
}
