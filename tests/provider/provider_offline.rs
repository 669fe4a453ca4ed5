//! The offline provider: every row of its table, and whole turns with tools played by hand.

use crate::support::binary::Place;
use crate::support::request::request_saying;
use futures_util::StreamExt;
use placet::conversation::{
    AssistantMessage, CallFact, CallFailure, CallInput, CallOutcome, CallResult, Image, Message, Note, Part,
    StopReason, ToolCall, Transcript,
};
use placet::provider::{OfflineProvider, Provider, ProviderError, StreamEvent, grammar};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn calls(answer: &AssistantMessage) -> Vec<String> {
    answer.calls().map(|c| format!("{} {}", c.name, c.input.to_replay())).collect()
}

fn asked(text: &str) -> Vec<String> {
    calls(&OfflineProvider::next(&[Message::user(text)]))
}

/// Plays a turn to its end with `tool` in place of the tools; the rounds of calls, and the last text.
fn turn(
    transcript: &mut Transcript,
    text: &str,
    tool: impl Fn(&ToolCall) -> CallResult,
) -> (Vec<Vec<String>>, String) {
    transcript.push(Message::user(text)).unwrap();
    let mut rounds = Vec::new();
    for _ in 0..20 {
        let answer = OfflineProvider::next(transcript.messages());
        transcript.push(Message::Assistant(answer.clone())).unwrap();
        if answer.calls().next().is_none() {
            assert_eq!(answer.stop, StopReason::EndTurn);
            return (rounds, answer.text());
        }
        assert_eq!(answer.stop, StopReason::ToolUse);
        rounds.push(calls(&answer));
        transcript.push(Message::Results { results: answer.calls().map(&tool).collect() }).unwrap();
    }
    panic!("it does not end: {rounds:?}");
}

fn done(call: &ToolCall) -> CallResult {
    CallResult::text(call, CallOutcome::Done, format!("{} did it", call.name))
}

/// Story: the first line of a stranger, `show @README.md`, attached the file and then failed: `@README.md does not exist`.
#[test]
fn an_at_sign_in_front_of_an_attached_path_is_no_part_of_the_path() {
    let asked = |text: &str, attached: &str| {
        let note = Part::Note(Note::AttachedFile { path: attached.into() });
        let parts = vec![Part::text(text), note, Part::text("its text")];
        calls(&OfflineProvider::next(&[Message::User { parts }]))
    };
    assert_eq!(asked("show @README.md", "README.md"), [r#"read_file {"path":"README.md"}"#]);
    assert_eq!(asked("search TODO in @src", "src"), [r#"search_contents {"pattern":"TODO","path":"src"}"#]);
    // A file whose name begins with the sign, and text in quotes, stay as they are.
    assert_eq!(asked("show @README.md", "other.md"), [r#"read_file {"path":"@README.md"}"#]);
    assert_eq!(asked("show \"@README.md\"", "README.md"), [r#"read_file {"path":"@README.md"}"#]);
}

#[test]
fn every_row_of_the_table_makes_the_calls_it_says() {
    let read = |path: &str| {
        placet::conversation::AssistantBlock::Call(ToolCall {
            id: placet::conversation::CallId::new(path),
            name: "read_file".into(),
            input: CallInput::Object(serde_json::json!({"path": path})),
        })
    };
    let said = placet::conversation::AssistantBlock::Text { text: "what was said or found last".into() };
    let before = [
        Message::user("hi"),
        Message::Assistant(AssistantMessage {
            // A file that was not read is read before it is edited.
            blocks: vec![said, read("src/main.rs"), read("src/lib.rs"), read("notes.txt")],
            ..AssistantMessage::default()
        }),
    ];
    for row in grammar() {
        let messages: Vec<Message> = before.iter().cloned().chain([Message::user(row.example)]).collect();
        assert_eq!(calls(&OfflineProvider::next(&messages)), row.calls, "{}", row.example);
    }
    let patterns: Vec<&str> = grammar().iter().map(|row| row.pattern).collect();
    for (k, pattern) in patterns.iter().enumerate() {
        assert!(!patterns[..k].contains(pattern), "{pattern}");
    }
}

#[test]
fn every_tool_and_every_parameter_can_be_reached() {
    let said: String = grammar().iter().flat_map(|row| row.calls).map(|c| format!("{c}\n")).collect();
    let said = said + &asked("show a into scratchpad n; list . into scratchpad n; find *.rs into scratchpad n; search x into scratchpad n; overwrite f with \"x\" anyway").join("\n");
    for (tool, parameters) in [
        ("read_file", vec!["path", "offset", "limit", "pattern", "scratchpad"]),
        (
            "edit_file",
            vec!["path", "old_string", "new_string", "insert_before", "insert_after", "replace_all"],
        ),
        ("write_file", vec!["path", "content", "mode", "force"]),
        ("list_directory", vec!["path", "depth", "hidden", "scratchpad"]),
        ("find_files", vec!["pattern", "path", "scratchpad"]),
        (
            "search_contents",
            vec!["pattern", "path", "glob", "context", "literal", "files_only", "scratchpad"],
        ),
        ("run_command", vec!["command", "timeout_ms", "cwd", "stdin_scratchpad", "scratchpad"]),
        ("scratchpad", vec!["action", "name", "content", "to", "from", "path", "old_string", "new_string"]),
    ] {
        for parameter in parameters {
            let found = said
                .lines()
                .any(|l| l.starts_with(&format!("{tool} ")) && l.contains(&format!("\"{parameter}\":")));
            assert!(found, "{tool} {parameter}");
        }
    }
    // What no pattern says, raw arguments do: limits, wrong types, tools that do not exist.
    let Some(call) =
        OfflineProvider::next(&[Message::user("call find_files {\"limit\":")]).calls().next().cloned()
    else {
        panic!()
    };
    assert!(matches!(call.input, CallInput::Malformed { .. }));
    assert_eq!(asked("call no_such_tool {\"a\":1}"), ["no_such_tool {\"a\":1}"]);
}

#[test]
fn requests_are_joined_as_they_are_meant() {
    assert_eq!(
        asked("show a.txt and b.txt"),
        [r#"read_file {"path":"a.txt"}"#, r#"read_file {"path":"b.txt"}"#]
    );
    assert_eq!(asked("show a.txt, b.txt and \"c d\"").len(), 3);
    assert_eq!(asked("list; find *.rs\nsearch x").len(), 3);
    assert_eq!(asked("SHOW a.txt"), [r#"read_file {"path":"a.txt"}"#]);
    assert_eq!(asked("run echo 'it\"s'; ls"), [r#"run_command {"command":"echo 'it\"s'; ls"}"#]);
    assert_eq!(asked("run \"a; b\"; list").len(), 2);
    let mut transcript = Transcript::default();
    let (rounds, text) = turn(&mut transcript, "show a and then run ls\nlist and then help", done);
    assert_eq!(rounds.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    assert!(text.starts_with("`read_file a`:\n\n```text\nread_file did it\n```\n"), "{text}");
    assert!(text.contains("- `replace OLD with NEW in FILE"), "{text}");
}

#[test]
fn what_is_not_understood_is_said_and_nothing_is_done() {
    for text in ["hello", "what is this?", ""] {
        let answer = OfflineProvider::next(&[Message::user(text)]);
        assert_eq!(answer.calls().count(), 0);
        assert_eq!(answer.text().lines().count(), 1);
        assert!(answer.text().contains("not a model"), "{}", answer.text());
        assert!(answer.text().contains("`placet setup`"));
    }
    let answer = OfflineProvider::next(&[Message::user("show a.txt; replace \"a\" by \"b\" in f")]);
    assert_eq!(answer.calls().count(), 0, "half a request is not carried out");
    assert!(
        answer.text().contains("`replace OLD with NEW in FILE [everywhere] [anyway]`"),
        "{}",
        answer.text()
    );
    assert!(answer.text().ends_with("`placet setup` adds a model."), "{}", answer.text());
    assert!(!answer.text().contains("scratchpad"), "{}", answer.text());
    let said = |text: &str| OfflineProvider::next(&[Message::user(text)]).text();
    assert!(said("rename the function").contains("not a model"), "{}", said("rename the function"));
    assert!(said("rename scratchpad a").contains("I know: `rename scratchpad NAME to NEW`."));
    let open = OfflineProvider::next(&[Message::user("create f with \"x")]);
    assert!(open.text().contains("a quote is not closed"), "{}", open.text());
    assert!(OfflineProvider::next(&[]).text().contains("not a model"));
}

#[test]
fn other_parts_of_a_message_do_not_confuse_it() {
    let picture = Image::new("image/png", 1, 1, "a.png", vec![1].into());
    let parts = vec![Part::text("[the mode is now: read]"), Part::Image(picture), Part::text("show a.txt")];
    assert_eq!(calls(&OfflineProvider::next(&[Message::User { parts }])), [r#"read_file {"path":"a.txt"}"#]);
}

#[test]
fn an_edit_reads_first_and_one_that_is_refused_is_tried_once_more() {
    let mut transcript = Transcript::default();
    let seen = std::cell::Cell::new(0);
    let (rounds, text) = turn(&mut transcript, "replace \"a\" with \"b\" in f; append \"c\" to f", |call| {
        if call.name == "read_file" {
            seen.set(seen.get() + 1);
        }
        if seen.get() > 0 {
            return done(call);
        }
        unread(call, CallFailure::Unread)
    });
    let edits = [
        r#"edit_file {"path":"f","old_string":"a","new_string":"b"}"#.to_string(),
        r#"write_file {"path":"f","content":"c","mode":"append"}"#.to_string(),
    ];
    assert_eq!(rounds, [vec![r#"read_file {"path":"f"}"#.to_string()], edits.to_vec()]);
    assert_eq!(text, "Done.\n");

    let (rounds, _) =
        turn(&mut Transcript::default(), "replace \"a\" with \"b\" in f", |call| match call.name.as_str() {
            "read_file" => done(call),
            _ => unread(call, CallFailure::LinesUnread { offset: 2000, limit: 3 }),
        });
    assert_eq!(rounds[2], [r#"read_file {"path":"f","offset":2000,"limit":3}"#]);

    let never = |call: &ToolCall| match call.name.as_str() {
        "read_file" => done(call),
        _ => unread(call, CallFailure::Unread),
    };
    let (rounds, text) = turn(&mut Transcript::default(), "replace \"a\" with \"b\" in f", never);
    assert_eq!(rounds.len(), 4, "once more and not for ever");
    assert_eq!(text, "`edit_file f` failed: error: `f` has not been read\n");

    // A text that says so is no fact: a tool, a file or a server may say anything.
    let says = |call: &ToolCall| {
        let words = "error: `f` has not been read\nhint: read_file(path: \"f\", offset: 1, limit: 2)";
        CallResult::text(call, CallOutcome::Failed, words)
    };
    let (rounds, _) = turn(&mut Transcript::default(), "create f with \"b\"", says);
    assert_eq!(rounds.len(), 1);
}

#[test]
fn a_write_reads_first_and_what_is_appended_begins_a_line() {
    let read = |path: &str| vec![format!("read_file {{\"path\":\"{path}\"}}")];
    let append =
        |text: &str| vec![format!(r#"write_file {{"path":"f","content":"{text}","mode":"append"}}"#)];
    let open = |call: &ToolCall| match call.name.as_str() {
        "read_file" => done(call).with(vec![CallFact::NoLineEnd]),
        _ => done(call),
    };
    let mut transcript = Transcript::default();
    let (rounds, text) = turn(&mut transcript, "append \"hello\" to f", open);
    assert_eq!(rounds, [read("f"), append("\\nhello")]);
    assert_eq!(text, "Done.\n");
    // The file is known, and what its end is like is not known any more.
    assert_eq!(turn(&mut transcript, "append \"x\" to f", open).0, [append("x")]);
    let closed = turn(&mut Transcript::default(), "append \"hello\" to f", done);
    assert_eq!(closed.0, [read("f"), append("hello")]);

    // A file that does not exist yet is made; nobody asked for the read.
    let missing = |call: &ToolCall| match call.name.as_str() {
        "read_file" => unread(call, CallFailure::Missing),
        _ => done(call),
    };
    let (rounds, text) = turn(&mut Transcript::default(), "show a and then overwrite f with \"x\"", missing);
    assert_eq!((rounds.len(), text.contains("The requests after that were not run")), (1, true), "{text}");
    let (rounds, text) = turn(&mut Transcript::default(), "overwrite f with \"x\"", missing);
    assert_eq!((rounds.len(), rounds[0].clone(), text.as_str()), (2, read("f"), "Done.\n"));
    // What lies outside is asked about by the call itself.
    assert!(asked("overwrite /tmp/f with x")[0].starts_with("write_file"));
}

/// A change that was refused because its file was not read.
fn unread(call: &ToolCall, fault: CallFailure) -> CallResult {
    let result = CallResult::text(call, CallOutcome::Failed, "error: `f` has not been read");
    result.with(vec![CallFact::Failed { fault }])
}

#[test]
fn failures_refusals_and_interrupts_are_said_as_they_are() {
    let with = |outcome, words: &'static str| move |call: &ToolCall| CallResult::text(call, outcome, words);
    let failed = with(CallOutcome::Failed, "error: no such file: `a`");
    let (rounds, text) = turn(&mut Transcript::default(), "show a and then list", failed);
    assert_eq!(rounds.len(), 1);
    assert_eq!(
        text,
        "`read_file a` failed: error: no such file: `a`\n\nThe requests after that were not run.\n"
    );
    let denied = with(CallOutcome::Denied, "the person said no");
    let (rounds, text) = turn(&mut Transcript::default(), "run \"ls\" and then list", denied);
    assert_eq!((rounds.len(), text.starts_with("Not done: `run_command ls`: the person said no")), (1, true));
    let (_, text) = turn(&mut Transcript::default(), "run ls", with(CallOutcome::Interrupted, "stopped"));
    assert_eq!(text, "Stopped: `run_command ls`: stopped\n");
    let (_, text) = turn(&mut Transcript::default(), "run true", with(CallOutcome::Done, ""));
    assert_eq!(text, "`run_command true`: no output\n");
}

#[test]
fn that_is_what_was_found_last_or_said_last() {
    let mut transcript = Transcript::default();
    let (_, text) = turn(&mut transcript, "save that as notes", done);
    assert_eq!(text, "There is nothing to save yet.");
    turn(&mut transcript, "show a", |call| CallResult::text(call, CallOutcome::Done, "1 one\n2 two"));
    let (rounds, _) = turn(&mut transcript, "save that as notes", done);
    assert_eq!(rounds, [[r#"scratchpad {"action":"write","name":"notes","content":"1 one\n2 two"}"#]]);
    let (rounds, _) = turn(&mut transcript, "run date; save that as now", |call| {
        CallResult::text(call, CallOutcome::Done, "noon")
    });
    assert_eq!(rounds[0], ["run_command {\"command\":\"date; save that as now\"}"]);
    let (rounds, _) = turn(&mut transcript, "run date\nsave that as now", |call| {
        CallResult::text(call, CallOutcome::Done, "noon")
    });
    assert_eq!(rounds[1], [r#"scratchpad {"action":"write","name":"now","content":"noon"}"#]);
    let (_, _) = turn(&mut transcript, "help", done);
    let (rounds, _) = turn(&mut transcript, "save that as help", done);
    assert!(rounds[0][0].contains("built-in offline provider"));
}

#[test]
fn a_long_result_is_cut_in_the_answer_and_says_so() {
    let long: String = (0..500).map(|n| format!("line {n} ```\n")).collect();
    let (_, text) =
        turn(&mut Transcript::default(), "show a", |call| CallResult::text(call, CallOutcome::Done, &*long));
    assert!(text.len() < 8000 && text.contains("... and 440 more lines"), "{text}");
    assert!(text.contains("````text\n"), "a fence longer than those inside");
}

#[test]
fn call_ids_are_unique_in_the_whole_conversation() {
    let mut transcript = Transcript::default();
    turn(&mut transcript, "show a and b", done);
    turn(&mut transcript, "show a and then list", done);
    let ids: Vec<String> = transcript
        .messages()
        .iter()
        .flat_map(|m| match m {
            Message::Assistant(answer) => answer.calls().map(|c| c.id.to_string()).collect(),
            _ => Vec::new(),
        })
        .collect();
    let unique: std::collections::BTreeSet<&String> = ids.iter().collect();
    assert_eq!((ids.len(), unique.len()), (4, 4));
}

#[tokio::test]
async fn it_streams_in_pieces_and_is_cancelled_like_any_other() {
    let long = request_saying("help; help scratchpads; help");
    let events: Vec<_> = OfflineProvider::new().answer(long, CancellationToken::new()).collect().await;
    let Some(Ok(StreamEvent::Finished(answer))) = events.last() else { panic!() };
    assert_eq!(answer.model, "m");
    assert!(answer.usage.input > 0 && answer.usage.output > 100, "{:?}", answer.usage);
    let text: String = events
        .iter()
        .filter_map(|e| match e {
            Ok(StreamEvent::Text(text)) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, answer.text());
    assert!(events.len() > 50);

    let events: Vec<_> =
        OfflineProvider::new().answer(request_saying("list"), CancellationToken::new()).collect().await;
    assert!(matches!(&events[0], Ok(StreamEvent::CallStarted { name, .. }) if name == "list_directory"));

    let cancel = CancellationToken::new();
    let mut stream =
        OfflineProvider::paced(Duration::from_millis(1)).answer(request_saying("help"), cancel.clone());
    assert!(matches!(stream.next().await, Some(Ok(StreamEvent::Text(_)))));
    cancel.cancel();
    assert_eq!(stream.next().await, Some(Err(ProviderError::Cancelled)));
    assert_eq!(stream.next().await, None);
}

/// Story: `help` had more rows than a screen, and its beginning was gone.
#[test]
fn help_fits_a_screen_and_names_every_request_once() {
    let answer = |text: &str| OfflineProvider::next(&[Message::user(text)]).text();
    let (requests, scratchpads) = (answer("help"), answer("help scratchpads"));
    for text in [&requests, &scratchpads] {
        // As they are drawn: without backticks, behind a margin.
        let rows: usize = text.lines().map(|line| line.replace('`', "").chars().count() / 74 + 1).sum();
        assert!(rows <= 20, "{rows} rows: {text}");
    }
    for row in grammar().iter().filter(|row| !row.calls.is_empty()) {
        let pattern = format!("`{}`", row.pattern.replace(" [into scratchpad NAME]", ""));
        let found = requests.matches(&pattern).count() + scratchpads.matches(&pattern).count();
        assert_eq!(found, 1, "{pattern}: {requests}{scratchpads}");
    }
}

/// Story: the answer to an edit showed the difference a second time.
#[test]
fn the_answer_to_an_edit_is_one_line() {
    let text = "edited a: +1 -1 lines, nothing else changed\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n";
    let edited = |text: &'static str| {
        let mut transcript = Transcript::default();
        turn(&mut transcript, "replace b with c in a", move |call| {
            CallResult::text(call, CallOutcome::Done, text)
        })
    };
    assert_eq!(edited(text).1, "Done.\n");
    let others = "edited a: +1 -1 lines\n@@ -1 +1 @@\n-b\n+c\nothers changed the file\n@@ -9 +9 @@\n-x\n+y\n";
    let all = "`edit_file a`:\n\n```text\nedited a: +1 -1 lines\nothers changed the file\n```\n";
    assert_eq!(edited(others).1, all);
}

/// The provider reads the words of the tool's result, as a model does: with other words its hint would be missing.
#[test]
fn a_text_that_occurs_several_times_is_replaced_by_the_request_that_the_answer_names() {
    let place = Place::new().file("a.txt", "x\nx\nz\n");
    let refused = place.run(["--mode", "write", "-p", "replace \"x\" with \"y\" in a.txt"]);
    let hint = "With `everywhere` at its end, the request replaces all of them.";
    assert!(refused.stdout.contains(hint), "{refused:#?}");
    assert_eq!(place.read("a.txt"), "x\nx\nz\n");
    let done = place.run(["--mode", "write", "-p", "replace \"x\" with \"y\" in a.txt everywhere"]).code(0);
    assert!(!done.stdout.contains(hint), "{done:#?}");
    assert_eq!(place.read("a.txt"), "y\ny\nz\n");
    // Another failure has no such hint.
    let other = place.run(["--mode", "write", "-p", "replace \"none\" with \"y\" in a.txt"]);
    assert!(!other.stdout.contains("everywhere"), "{other:#?}");
}
