//! The pane while a turn runs, and what is told to the terminal: the real binary, its bytes and its cells.

use crate::support::mock_server::{MockServer, Reply, Say, openai_events};
use crate::support::pty::{Pty, Start, shell};
use crate::support::wait;
use std::time::Duration;

const ESC: &str = "\x1b";
const CTRL_S: &str = "\x13";

fn with_model(server: &MockServer) -> Start {
    ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()]
        .iter()
        .fold(shell(), |start, arg| start.arg(arg))
}

/// An answer that comes after `wait`.
fn late(wait: Duration, said: &[Say]) -> Reply {
    Reply::stream().wait(wait).write(openai_events(said).concat()).close()
}

fn running(pty: &Pty) {
    pty.until("the pane", |s| s.contains("waiting for the model"));
}

fn said(server: &MockServer, request: usize) -> Vec<String> {
    let body = server.requests()[request].body.clone();
    let messages = body["messages"].as_array().unwrap().clone();
    messages.iter().map(|m| format!("{}: {}", m["role"].as_str().unwrap(), m["content"])).collect()
}

#[test]
fn lines_queued_while_a_turn_runs_are_sent_in_their_order() {
    let server = MockServer::start([
        late(Duration::from_millis(1500), &[Say::Text("answer one")]),
        Reply::openai(&[Say::Text("answer two")]),
        Reply::openai(&[Say::Text("answer three")]),
    ]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send("second\rthird\rdraft");
    pty.until("the queue", |s| {
        s.contains("1 after this turn: second") && s.contains("2 after this turn: third")
    });
    pty.until("all answers", |s| s.contains("answer two") && s.contains("answer three"));
    pty.until_prompt("draft");
    assert!(said(&server, 2).last().unwrap().contains("third"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_line_that_steers_reaches_the_model_before_its_next_request() {
    let call = r#"{"command":"sleep 1"}"#;
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "run_command", call)]),
        Reply::openai(&[Say::Text("with tabs then")]),
        Reply::openai(&[Say::Text("the queued one")]),
    ]);
    let mut pty = with_model(&server).arg("--mode").arg("write").arg("--allow").arg("run_command").open();
    pty.line("go on");
    pty.until("the command", |s| s.contains("› run sleep 1"));
    pty.send("later\r");
    pty.until("the queue", |s| s.contains("1 after this turn: later"));
    pty.send(&format!("use tabs{CTRL_S}"));
    pty.until("both ways", |s| s.contains("2 with the next request: use tabs"));
    pty.until("the answers", |s| s.contains("with tabs then") && s.contains("the queued one"));
    assert!(pty.screen().contains("> use tabs"), "{}", pty.screen());
    let second = said(&server, 1);
    let [.., result, steered] = second.as_slice() else { panic!("{second:?}") };
    assert!(result.starts_with("tool: "), "{second:?}");
    assert!(steered.starts_with("user: ") && steered.contains("use tabs"), "{second:?}");
    assert!(!second.join("").contains("later"));
    assert!(said(&server, 2).last().unwrap().contains("later"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn an_interrupt_gives_back_every_line_that_was_not_sent() {
    let server = MockServer::start([Reply::stream().stall()]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send(&format!("one\rtwo{CTRL_S}three\rfour"));
    pty.until("the draft", |s| s.contains("3 after this turn: three") && s.contains("> four"));
    pty.send(ESC);
    pty.until("the prompt", |s| s.contains("] > one") && s.trim_end().ends_with("four"));
    let screen = pty.screen();
    let lines: Vec<&str> = screen.lines().skip_while(|l| !l.contains("] > one")).map(str::trim).collect();
    assert_eq!(lines.get(1..4), Some(&["two", "three", "four"][..]), "{screen}");
    assert_eq!(server.requests().len(), 1);
    // Story: what was cleared there came back with the next start.
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("\x04");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let pty = shell().after(pty).open();
    pty.until_prompt("");
    assert!(!pty.screen().contains("restored the text"), "{}", pty.screen());
}

/// Story: after the terminal was closed, the queued lines came back twice, and again after they were cleared.
#[test]
fn what_a_closed_terminal_left_comes_back_once_until_it_is_cleared() {
    let server = MockServer::start([Reply::stream().stall()]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send("queued one\rqueued two\rdraft");
    pty.until("the draft", |s| s.contains("2 after this turn: queued two") && s.contains("> draft"));
    pty.signal(rustix::process::Signal::HUP);
    pty.ended();
    let mut pty = shell().after(pty).open();
    pty.until("the text", |s| s.contains("restored the text") && s.trim_end().ends_with("draft"));
    let screen = pty.screen();
    for text in ["queued one", "queued two", "draft"] {
        assert_eq!(screen.matches(text).count(), 1, "{screen}");
    }
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("\x04");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let pty = shell().after(pty).open();
    pty.until_prompt("");
    assert!(!pty.screen().contains("restored the text"), "{}", pty.screen());
}

/// Where what was typed is stored, in the home directory.
const DRAFTS: &str = ".local/state/placet/drafts";

#[test]
fn what_was_typed_and_queued_outlives_a_kill() {
    let server = MockServer::start([Reply::stream().stall()]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send("one\rtwo");
    pty.until("the queue", |s| s.contains("1 after this turn: one") && s.contains("> two"));
    wait::until_stored(&pty.home().join(DRAFTS), "two");
    let mut pty = shell().after(pty).open();
    pty.until("the draft", |s| {
        s.contains("restored the text that you typed") && s.contains("] > one") && s.contains("two")
    });
    // Also what is typed at the prompt itself.
    pty.send(" and more");
    pty.until("the text", |s| s.trim_end().ends_with("two and more"));
    wait::until_stored(&pty.home().join(DRAFTS), "two and more");
    let mut pty = shell().after(pty).open();
    pty.until("the draft", |s| s.trim_end().ends_with("two and more"));
    pty.send("\x03");
    pty.until_prompt("");
    pty.line("help");
    pty.until("an answer", |s| s.contains("call TOOL ARGUMENTS"));
    pty.until_prompt("");
    wait::until("the draft to be removed", || {
        std::fs::read_dir(pty.home().join(DRAFTS))
            .into_iter()
            .flatten()
            .flatten()
            .all(|file| !std::fs::read_to_string(file.path()).unwrap_or_default().contains("two"))
    });
    let pty = shell().after(pty).open();
    pty.until_prompt("");
    assert!(!pty.screen().contains("is back"), "{}", pty.screen());
}

#[test]
fn the_unfinished_line_of_a_running_command_is_shown_and_a_secret_in_it_is_not() {
    let mut pty = shell().arg("--mode").arg("write").arg("--allow").arg("run_command").open();
    // Put together here, so that the typed line itself holds no secret.
    pty.line(
        "run printf 'step 3 of 9'; sleep 2; printf ' key sk-ant-%s' api03-aB3dE6gH9jK2mN5pQ8sT1vW4; sleep 3",
    );
    pty.until("the line", |s| s.contains("\n  step 3 of 9\n"));
    pty.until("more of it", |s| s.contains("\n  step 3 of 9 key"));
    pty.send(ESC);
    pty.until("the end", |s| s.contains("interrupted"));
    assert!(!String::from_utf8_lossy(&pty.raw()).contains("step 3 of 9 key sk-"), "{}", pty.screen());
}

const FOCUS_IN: &str = "\x1b[I";
const FOCUS_OUT: &str = "\x1b[O";

fn text_of(pty: &Pty) -> String {
    String::from_utf8_lossy(&pty.raw()).into_owned()
}

#[test]
fn who_looks_elsewhere_is_called_once_when_the_turn_ends_and_nobody_else_is() {
    for (focus, calls) in [(FOCUS_OUT, 1), (FOCUS_IN, 0), (&*format!("{FOCUS_OUT}{FOCUS_IN}"), 0), ("", 0)] {
        let server = MockServer::start([late(Duration::from_millis(900), &[Say::Text("the answer")])]);
        let mut pty = with_model(&server).open();
        assert!(!text_of(&pty).contains("\x1b[?1004h"));
        pty.line("hello");
        running(&pty);
        pty.send(focus);
        pty.until("the answer", |s| s.contains("the answer"));
        pty.until_prompt("");
        let raw = text_of(&pty);
        assert_eq!(raw.matches('\x07').count(), calls, "{focus:?}");
        assert!(raw.rfind("\x1b[?1004l") > raw.rfind("\x1b[?1004h"), "reports are switched off again");
    }
}

#[test]
fn the_way_of_calling_is_a_setting_and_a_wrong_one_is_told() {
    let said = |setting: &str, variables: &[(&str, &str)]| {
        let server = MockServer::start([late(Duration::from_millis(900), &[Say::Text("the answer")])]);
        let start = with_model(&server).arg("--set").arg(&format!("ui.notify={setting}"));
        let start = variables.iter().fold(start, |start, (name, value)| start.variable(name, value));
        let mut pty = start.open();
        pty.line("hello");
        running(&pty);
        pty.send(FOCUS_OUT);
        pty.until("the answer", |s| s.contains("the answer"));
        pty.until_prompt("");
        text_of(&pty)
    };
    let off = said("off", &[]);
    assert!(!off.contains('\x07') && !off.contains("1004h"));
    assert!(said("osc9", &[]).contains("\x1b]9;placet is done\x1b\\"));
    assert!(
        said("osc9", &[("TMUX", "/tmp/t,1,0")])
            .contains("\x1bPtmux;\x1b\x1b]9;placet is done\x1b\x1b\\\x1b\\")
    );
    let wrong = said("shout", &[]);
    assert!(wrong.contains("`ui.notify` is `shout`; it may be off, bell"));
}

#[test]
fn a_command_of_the_person_s_own_hears_what_it_is_about() {
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("told");
    let setting = format!("ui.notify=command printf %s \"$PLACET_NOTICE\" > {}", file.display());
    let server = MockServer::start([late(Duration::from_millis(900), &[Say::Text("the answer")])]);
    let mut pty = with_model(&server).arg("--set").arg(&setting).open();
    pty.line("hello");
    running(&pty);
    pty.send(FOCUS_OUT);
    pty.until("the command", |_| std::fs::read_to_string(&file).is_ok_and(|text| text == "placet is done"));
    assert!(!text_of(&pty).contains('\x07'));
}

#[test]
fn a_key_that_comes_with_the_focus_answers_nothing() {
    let mut pty = shell().arg("--mode").arg("ask").file("a.txt", "alpha\n").open();
    pty.line("append \"y\" to a.txt");
    pty.until("a question", |s| s.contains("lines: apply?"));
    pty.until_answers_count();
    pty.send(&format!("{FOCUS_OUT}{FOCUS_IN}\r"));
    pty.until("the moment after a return", |s| s.contains("a moment"));
    assert_eq!(pty.read("a.txt"), "alpha\n");
    // The question is still there, and answered by an Enter that was meant for it.
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
}

#[test]
fn the_window_is_named_and_prompts_and_answers_are_marked() {
    let mut pty = shell().arg("--provider").arg("offline").open();
    pty.line("show me everything");
    pty.until("an answer", |s| s.contains("I did nothing"));
    pty.until_prompt("");
    pty.send("\x04");
    pty.ended();
    let raw = text_of(&pty);
    let mut rest = raw.as_str();
    for part in [
        "\x1b]133;A\x1b\\",
        "\x1b]133;B\x1b\\",
        "\x1b]133;C\x1b\\",
        "\x1b[22;2t\x1b]2;placet: show me everything\x1b\\",
        "I did nothing",
        "\x1b]133;D;0\x1b\\\x1b]133;A\x1b\\",
        "\x1b[23;2t",
    ] {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing or out of order in {rest:?}"));
        rest = &rest[at + part.len()..];
    }
    let mut pty = shell().arg("--set").arg("ui.title=false").arg("--set").arg("ui.marks=false").open();
    pty.line("help");
    pty.until("an answer", |s| s.contains("call TOOL ARGUMENTS"));
    // The question about the background is neither.
    let raw = text_of(&pty).replace("\x1b]11;?\x1b\\", "");
    assert!(!raw.contains("\x1b]") && !raw.contains("22;2t"), "{raw:?}");
}

#[test]
fn addresses_and_files_can_be_clicked_where_the_terminal_follows_links() {
    let shown = |variables: &[(&str, &str)]| {
        let answer = "See https://a.example/guide for more.\n\nAnd `notes.txt`.";
        let server = MockServer::start([
            Reply::openai(&[Say::Call("c1", "read_file", r#"{"path":"notes.txt"}"#)]),
            Reply::openai(&[Say::Text(answer)]),
        ]);
        let start = variables.iter().fold(with_model(&server), |start, (n, v)| start.variable(n, v));
        let mut pty = start.file("notes.txt", "one\n").open();
        pty.line("hello");
        pty.until("the answer", |s| s.contains("for more."));
        pty.until_prompt("");
        (text_of(&pty), pty.tree.path().canonicalize().unwrap())
    };
    let (raw, tree) = shown(&[("VTE_VERSION", "7003")]);
    assert!(raw.contains(";https://a.example/guide\x1b\\"), "{raw:?}");
    let file = format!(";file://{}/notes.txt\x1b\\", tree.display());
    assert_eq!(raw.matches(&file).count(), 2, "the call and the answer: {raw:?}");
    for none in [&[][..], &[("VTE_VERSION", "7003"), ("TMUX", "/tmp/t,1,0")]] {
        assert!(!shown(none).0.contains("\x1b]8;"));
    }
}

/// What an input method draws stands where the cursor is.
#[test]
fn the_cursor_is_at_the_caret_after_every_frame() {
    let server = MockServer::start([Reply::stream().stall()]);
    let mut pty = with_model(&server).size(40, 12).open();
    pty.line("hello");
    running(&pty);
    let mut typed = String::new();
    let mut seed = 7_u32;
    for _ in 0..120 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let piece = ["a", "日", "é", "👩", " ", "\x7f"][(seed >> 24) as usize % 6];
        match piece {
            "\x7f" => drop(typed.pop()),
            piece if typed.chars().count() < 14 => typed.push_str(piece),
            _ => continue,
        }
        pty.send(piece);
        let (wanted, end) = (format!("> {typed}"), 2 + placet::text::width::of(&typed));
        pty.until(&format!("the caret at {end} of {wanted:?}"), |screen| {
            let last = screen.trim_end_matches('\n').lines().last().unwrap_or("").to_string();
            last.trim_end() == wanted.trim_end() && usize::from(pty.cursor().0) == end
        });
    }
}

/// What was written between the first `from` and the last `to`.
fn between(pty: &Pty, from: &str, to: &str) -> String {
    let raw = text_of(pty);
    let (start, end) = (raw.find(from).unwrap(), raw.rfind(to).unwrap() + to.len());
    raw[start..end].to_string()
}

#[test]
fn a_linear_turn_only_appends_and_its_questions_are_answered_by_number() {
    let mut pty = shell().arg("--linear").arg("--mode").arg("ask").file("a.txt", "alpha\nbeta\n").open();
    pty.line("replace \"beta\" with \"gamma\" in a.txt");
    pty.until("the question", |s| s.contains("answer: type a number and Enter"));
    for part in ["-beta", "+gamma", "1: apply", "because: "] {
        assert!(pty.screen().contains(part), "{part} in {}", pty.screen());
    }
    pty.answer_line("1", "the end", |s| {
        s.contains("answered: apply") && s.contains("applied changes to 1 file")
    });
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), "alpha\ngamma\n");
    let told = between(&pty, "call: ", "answered: apply");
    assert!(!told.contains('\x1b') && !told.contains('\x08') && !told.contains('\x07'), "{told:?}");
    assert!(!text_of(&pty).contains("\x1b]"));
}

#[test]
fn a_digit_begun_before_a_linear_question_does_not_answer_it() {
    let mut pty = shell().variable("ACCESSIBLE", "1").arg("--mode").arg("ask").file("a.txt", "x\n").open();
    pty.line("run sleep 1; echo y >> a.txt");
    pty.until("the call", |s| s.contains("call: run sleep 1"));
    pty.send("1");
    pty.until("the question", |s| s.contains("answer: type a number and Enter"));
    std::thread::sleep(Duration::from_millis(800));
    pty.send("\r");
    pty.until("the refusal", |s| s.contains("Type it again"));
    assert_eq!(pty.read("a.txt"), "x\n");
    pty.by_hand("1\r");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "x\ny\n");
}

#[test]
fn lines_typed_in_a_linear_turn_are_queued_steer_and_stop() {
    let call = r#"{"command":"sleep 2"}"#;
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "run_command", call)]),
        Reply::openai(&[Say::Text("with **tabs** then")]),
        Reply::stream().stall(),
    ]);
    let mut pty = with_model(&server)
        .arg("--linear")
        .arg("--mode")
        .arg("write")
        .arg("--allow")
        .arg("run_command")
        .open();
    pty.line("go on");
    pty.until("the call", |s| s.contains("call: run sleep 2"));
    // Typed, and not pasted: lines that come at once are one paste.
    pty.send("later\r");
    pty.until("the first line", |s| s.contains("queued: 1"));
    pty.send("/steer use tabs\r");
    pty.until("the queue", |s| {
        s.contains("queued: 1 after") && s.contains("queued: 2 with the next request")
    });
    pty.until("the answer", |s| s.contains("model: with tabs then") && s.contains("you: later"));
    assert!(said(&server, 1).last().unwrap().contains("use tabs"));
    assert!(pty.screen().contains("you: use tabs"), "{}", pty.screen());
    let told = between(&pty, "call: run", "you: later");
    assert!(!told.contains('\x1b'), "{told:?}");
    // The third request waits for ever.
    pty.until("the request", |_| server.requests().len() == 3);
    pty.send("half a line\x03");
    pty.until("the line is cleared", |s| s.contains("Ctrl-C again stops"));
    pty.send("a draft");
    std::thread::sleep(Duration::from_millis(200));
    pty.send("\x03\x03");
    pty.until("the end", |s| s.contains("stopped: interrupted"));
    pty.until_prompt("");
    assert_eq!(server.violations(), Vec::<String>::new());
}
