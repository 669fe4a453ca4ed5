//! What the model tells and asks the person by itself: its list of steps, and questions.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say, openai_events};
use crate::support::pty::{Pty, Start, shell};
use std::time::Duration;

fn model(server: &MockServer) -> [String; 6] {
    ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()].map(String::from)
}

fn with_model(server: &MockServer) -> Start {
    model(server).iter().fold(shell(), |start, arg| start.arg(arg))
}

const QUESTION: &str = r#"{"question":"Which database?","choices":["SQLite","PostgreSQL"]}"#;

/// The result of the call in the request after it.
fn result(server: &MockServer) -> String {
    let body = server.requests()[1].body.clone();
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_string()
}

/// A shell in which the model has asked, and an Enter counts.
fn asked(server: &MockServer, arguments: &[&str]) -> Pty {
    let start = arguments.iter().fold(with_model(server), |start, arg| start.arg(arg));
    let mut pty = start.open();
    pty.line("go on");
    pty.until("the question", |s| s.contains("Which database?") && s.contains("[1] SQLite"));
    pty.until_answers_count();
    pty
}

fn asking() -> MockServer {
    MockServer::start([
        Reply::openai(&[Say::Call("c1", "ask_person", QUESTION)]),
        Reply::openai(&[Say::Text("so be it")]),
    ])
}

#[test]
fn the_person_answers_by_the_mark_a_number_in_words_or_not_at_all() {
    for (keys, answer) in [
        ("\r", "the person answers: SQLite"),
        ("2\r", "the person answers: PostgreSQL"),
        ("both, please\r", "the person answers: both, please"),
        ("\x1b", "the person leaves it open: decide yourself and state your assumption"),
    ] {
        let server = asking();
        let mut pty = asked(&server, &[]);
        pty.by_hand(keys);
        pty.until("the end", |s| s.contains("so be it"));
        assert_eq!(result(&server), answer);
        let told = pty.screen();
        assert!(told.contains("ask: Which database?"), "{told}");
    }
}

#[test]
fn a_draft_is_no_answer_and_is_the_next_message() {
    let server = MockServer::start([
        Reply::stream()
            .wait(Duration::from_millis(700))
            .write(openai_events(&[Say::Call("c1", "ask_person", QUESTION)]).concat())
            .close(),
        Reply::openai(&[Say::Text("so be it")]),
        Reply::openai(&[Say::Text("fruit, then")]),
    ]);
    let mut pty = with_model(&server).open();
    pty.line("go on");
    pty.until("the pane", |s| s.contains("waiting for the model"));
    pty.send("12 apples");
    pty.until("the question", |s| s.contains("Enter sends your text · Esc clears it"));
    pty.line(" and 2 pears");
    pty.until("the queue", |s| s.contains("1 after this turn: 12 apples and 2 pears"));
    pty.until_answers_count();
    pty.send("\r");
    pty.until("the end", |s| s.contains("so be it"));
    assert_eq!(result(&server), "the person answers: SQLite");
    pty.until("the next turn", |s| s.contains("fruit, then"));
}

#[test]
fn a_question_is_answered_by_number_or_words_where_lines_are_read() {
    for (line, answer) in [("2", "PostgreSQL"), ("a flat file", "a flat file")] {
        let server = asking();
        let mut pty = with_model(&server).arg("--linear").open();
        pty.line("go on");
        pty.until("the question", |s| s.contains("answer: type a number, or the answer itself, and Enter"));
        pty.answer_line(line, "the end", |s| s.contains("so be it"));
        assert_eq!(result(&server), format!("the person answers: {answer}"));
    }
}

#[test]
fn nobody_answers_where_nobody_is() {
    let server = asking();
    Place::new().run(model(&server).into_iter().chain(["-p".into(), "go on".into()])).code(0);
    assert_eq!(result(&server), "nobody can answer: decide yourself and state your assumption");
}

const STEPS: &str = r#"{"items":[{"text":"read the code","status":"done"},{"text":"mend it","status":"in_progress"},{"text":"test it","status":"pending"}]}"#;

#[test]
fn the_list_of_steps_stands_in_the_pane_also_after_a_resume() {
    let late = |said: &[Say]| {
        Reply::stream().wait(Duration::from_millis(1500)).write(openai_events(said).concat()).close()
    };
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "todo", STEPS)]),
        late(&[Say::Text("half of it")]),
        late(&[Say::Text("the rest")]),
    ]);
    let mut pty = with_model(&server).open();
    pty.line("go on");
    let shown =
        |s: &str| ["[x] read the code", "[>] mend it", "[ ] test it"].iter().all(|step| s.contains(step));
    pty.until("the list in the pane", |s| {
        let pane = s.rsplit_once("todo: 1 of 3 done").map_or("", |(_, below)| below);
        pane.contains("[x] read the code") && pane.contains("[>] mend it")
    });
    pty.until("the end", |s| s.contains("half of it"));
    pty.until_prompt("");
    assert_eq!(result(&server), "the list has 3 steps, 1 of 3 done");
    let mut again = with_model(&server).arg("--continue").after(pty).open();
    again.line("and now");
    again.until("the list again", |s| s.rsplit_once("and now").is_some_and(|(_, below)| shown(below)));
}

#[test]
fn a_list_that_cannot_be_one_is_refused_with_what_is_wrong() {
    for (input, wrong) in [
        (r#"{"items":[{"text":" ","status":"done"}]}"#, "items[0].text is empty"),
        (r#"{"items":[{"text":"x","status":"finished"}]}"#, "items"),
        (r#"{}"#, "`items` is missing"),
    ] {
        let server = MockServer::start([
            Reply::openai(&[Say::Call("c1", "todo", input)]),
            Reply::openai(&[Say::Text("well")]),
        ]);
        Place::new().run(model(&server).into_iter().chain(["-p".into(), "go".into()]));
        assert!(result(&server).contains(wrong), "{}", result(&server));
    }
}

/// Story: a question from write mode was answered after Shift+Tab, when the row below it said `[r]`, and the file was
/// written all the same.
#[test]
fn a_yes_is_given_in_the_mode_that_the_screen_shows() {
    let write = r#"{"path":".envrc","content":"export A=1\n"}"#;
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "write_file", write)]),
        Reply::openai(&[Say::Text("so be it")]),
    ]);
    let mut pty = with_model(&server).arg("--mode").arg("write").open();
    pty.line("go on");
    pty.until("the question", |s| s.contains(".envrc") && s.contains("[w]"));
    pty.send("\x1b[Z");
    pty.until("read mode", |s| s.contains("[r]"));
    pty.answer("y");
    pty.until("the end", |s| s.contains("so be it"));
    assert!(result(&server).starts_with("denied: "), "{}", result(&server));
    assert!(!pty.exists(".envrc"));
}
