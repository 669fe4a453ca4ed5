//! Resuming a conversation: its last turns on the screen as they looked, and the lists to choose one from.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::program::placet;
use crate::support::pty::joined;
use crate::support::pty::{Pty, shell};
use placet::conversation::{AssistantBlock, AssistantMessage, Message, StopReason};
use placet::session::{ONE_SHOT, SessionRecord, SessionStateKey, SessionStore};
use std::path::Path;

const ESC: &str = "\x1b";

fn store(pty: &Pty) -> SessionStore {
    SessionStore::open(&pty.home().join(".local/state/placet")).unwrap().0
}

/// A session of `turns` turns.
fn talked(store: &SessionStore, cwd: &Path, title: &str, turns: usize) {
    let mut open = store.create(cwd, title).unwrap();
    let turn = |n: usize| {
        let blocks = vec![AssistantBlock::Text { text: format!("The answer {n} is **bold**.") }];
        let answer = AssistantMessage { blocks, stop: StopReason::EndTurn, ..AssistantMessage::default() };
        [Message::user(format!("{title} {n}")), Message::Assistant(answer)]
    };
    let messages = (1..=turns).flat_map(turn);
    open.append_all(messages.map(|message| SessionRecord::Message { message }).collect()).unwrap();
}

fn lines_with<'s>(screen: &'s str, words: &str) -> Vec<&'s str> {
    screen.lines().filter(|line| line.contains(words)).map(str::trim_end).collect()
}

#[test]
fn a_resumed_conversation_shows_its_last_turns_as_they_looked() {
    let mut pty = shell().size(80, 30).file("a.txt", "alpha\n").open();
    pty.line("show a.txt");
    pty.until("the answer", |s| s.contains("│alpha"));
    pty.until_prompt("");
    pty.line("replace alpha with beta in a.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("a");
    pty.until("the apply", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
    pty.line("show missing.txt");
    pty.until("the failure", |s| s.contains("✗"));
    pty.until_prompt("");
    let live = pty.transcript();
    let resumed = shell().size(80, 60).arg("-c").after(pty).open();
    let again = resumed.transcript();
    for words in ["✓", "✗", "applied changes to 1 file"] {
        assert_eq!(lines_with(&again, words), lines_with(&live, words), "{again}\n-----\n{live}");
    }
    for said in ["> show a.txt", "> replace alpha with beta in a.txt", "> show missing.txt"] {
        assert!(again.contains(&format!("◆ {said}")), "{again}");
    }
    assert!(!again.contains("earlier turn") && again.contains("\n1│alpha\n"), "{again}");
}

#[test]
fn of_a_long_conversation_the_end_is_shown_and_the_turns_before_it_are_counted() {
    let pty = shell().open();
    talked(&store(&pty), pty.tree.path(), "question", 5_000);
    let check = |shown: &Pty| {
        let text = shown.transcript();
        assert!(text.contains("question 5000") && text.contains("The answer 5000 is bold."), "{text}");
        assert!(!text.contains("question 4980"), "{text}");
        assert!(text.contains("earlier turns: Ctrl-T or /transcript shows the whole"), "{text}");
    };
    let screen = shell().size(80, 24).arg("-c").after(pty).open();
    check(&screen);
    check(&shell().size(80, 24).arg("-c").arg("--linear").after(screen).open());
}

/// The messages of a long conversation are read while the first line is typed: the request has all of them, as in a run that
/// reads them first.
#[test]
fn the_first_request_of_a_long_conversation_has_every_message() {
    let server = MockServer::start((0..2).map(|_| Reply::openai(&[Say::Text("noted")])));
    let url = server.url();
    let model = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url, "--mode", "ask"];
    let pty = shell().open();
    talked(&store(&pty), pty.tree.path(), "question", 600);
    let start = model.iter().fold(shell().size(80, 24).arg("-c"), |start, arg| start.arg(arg));
    let mut pty = start.after(pty).open();
    let shown = pty.transcript();
    assert!(shown.contains("(1200 messages)") && shown.contains("question 600"), "{shown}");
    pty.line("one more");
    pty.until("the answer", |s| s.contains("noted"));
    pty.until_prompt("");
    let body = server.requests().pop().unwrap().body;
    let messages = body["messages"].as_array().unwrap();
    let said =
        |n: usize| messages.iter().filter(|m| m.to_string().contains(&format!("question {n}\""))).count();
    assert!((1..=600).all(|n| said(n) == 1), "{}", messages.len());
    assert!(messages.last().unwrap().to_string().contains("one more"));
}

#[test]
fn the_list_begins_with_this_directory_and_a_key_shows_the_others_and_the_runs() {
    for (columns, has_preview) in [(40, false), (80, false), (120, true)] {
        let mut pty = shell().size(columns, 24).open();
        let (sessions, here) = (store(&pty), pty.tree.path().canonicalize().unwrap());
        talked(&sessions, &here, "fix the tests", 3);
        talked(&sessions, Path::new("/elsewhere"), "another project", 1);
        let run = sessions.create(&here, "a single run").unwrap();
        run.set(SessionStateKey::Origin, ONE_SHOT).unwrap();
        drop(run);
        pty.line("/resume");
        // A frame may arrive in pieces: its last row is the one with the keys.
        pty.until("this directory", |s| {
            s.contains("Sessions ❯") && s.contains("fix the") && s.contains("Ctrl-O all")
        });
        let screen = pty.screen();
        assert!(!screen.contains("another") && !screen.contains("a single run"), "{screen}");
        let more = if columns >= 120 { "Ctrl-O all directories" } else { "Ctrl-O all  " };
        assert!(screen.contains(more), "{screen}");
        if columns >= 80 {
            assert!(screen.contains("3 turns"), "{screen}");
            // Story: at 80 columns nothing said that there is another order.
            let order = if columns >= 120 { "Alt-s by title" } else { "Alt-s sort  Esc cancel" };
            assert!(screen.contains("Alt-n rename  Alt-x delete  ") && screen.contains(order), "{screen}");
        }
        if has_preview {
            pty.until("the last words", |s| {
                s.contains("The answer 3 is bold.") && s.contains("│ ◆ > fix the tests 3")
            });
        }
        pty.send("\x0f");
        pty.until("the others", |s| s.contains("another"));
        assert!(!pty.screen().contains("a single run"));
        pty.send("\x0f");
        pty.until("the runs", |s| s.contains("a single ru"));
        pty.send("\x0f");
        pty.until("this directory again", |s| !s.contains("another") && s.contains("fix the"));
        pty.send("\r");
        pty.until("the session", |s| s.contains("The answer 3 is bold."));
        pty.until_prompt("");
    }
}

#[test]
fn without_an_id_the_option_opens_the_list_and_nothing_chosen_is_a_new_conversation() {
    let pty = shell().open();
    talked(&store(&pty), &pty.tree.path().canonicalize().unwrap(), "fix the tests", 1);
    let mut pty = shell().arg("-r").after(pty).spawn();
    pty.until("the list", |s| s.contains("Sessions ❯"));
    pty.send("\x1b");
    pty.until_prompt("");
    assert!(!pty.transcript().contains("resumed"));
}

/// Story: `placet -c` resumed a run of a script, which the list of sessions does not show.
#[test]
fn the_last_session_in_the_shell_is_one_that_the_list_shows() {
    let pty = shell().open();
    let (sessions, here) = (store(&pty), pty.tree.path().canonicalize().unwrap());
    talked(&sessions, &here, "a script", 1);
    let script = sessions.list(1).unwrap().remove(0).id;
    sessions.resume(&script).unwrap().set(SessionStateKey::Origin, ONE_SHOT).unwrap();
    let only_runs = shell().arg("-c").after(pty).open();
    assert!(only_runs.transcript().contains("no earlier session but runs of"), "{}", only_runs.transcript());
    talked(&sessions, &here, "fix the tests", 2);
    // The run is the newest again. Times of use are milliseconds: within the same one the two would be equal.
    std::thread::sleep(std::time::Duration::from_millis(2));
    sessions
        .resume(&script)
        .unwrap()
        .append(SessionRecord::Message { message: Message::user("again") })
        .unwrap();
    assert_eq!(sessions.latest(&here).unwrap(), Some(script.clone()));
    let resumed = shell().arg("-c").after(only_runs).open();
    assert!(resumed.transcript().contains("The answer 2 is bold."), "{}", resumed.transcript());
}

#[test]
fn on_the_command_line_runs_are_folded_and_columns_are_aligned() {
    let place = Place::with_notes();
    place.run(["-p", "show notes.txt"]).code(0);
    let folded =
        place.run(["session", "list"]).code(0).warns("1 more session of `placet -p`: --all lists them");
    assert_eq!(folded.stdout, "");
    let all = place.run(["session", "list", "--all"]).code(0).says("placet -p:").says("show notes.txt");
    assert!(all.stdout.contains("1 turn"), "{all:?}");
    let json = place.run(["session", "list", "--json"]).code(0).json();
    assert_eq!((&json[0]["turns"], &json[0]["one_shot"]), (&1.into(), &true.into()));
    // A run that left something to decide is listed with it.
    place.run(["-p", "append \"x\" to notes.txt", "--mode", "ask"]).code(3);
    place.run(["session", "list"]).code(0).says("±1").says("-p: ");
}

#[test]
fn a_notice_is_printed_once_and_never_into_json() {
    let place = Place::with_notes();
    let note = "no provider is configured";
    let json = place.run(["-p", "show notes.txt", "--output-format", "json"]).code(0);
    assert!(!json.stdout.contains(note), "{json:?}");
    let place = Place::with_notes();
    place.run(["-p", "show notes.txt"]).code(0).warns(note);
    let again = place.run(["-p", "show notes.txt"]).code(0);
    assert!(!again.stderr.contains(note), "{again:?}");
    let file = place.state_dir().join("notices");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // What cannot be remembered is shown again, and fails nothing.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    for _ in 0..2 {
        place.run(["-p", "show notes.txt"]).code(0).warns(note);
    }
}

#[test]
fn pending_changes_of_another_session_are_one_line_with_its_title() {
    let mut pty = shell().size(120, 30).file("a.txt", "alpha\n").open();
    pty.line("replace alpha with beta in a.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
    let mut pty = shell().size(120, 30).after(pty).open();
    let line =
        "changes to 1 file are pending from session \"replace alpha with beta in a.txt\", just now: /resume ";
    pty.until("the line", |s| s.contains(line));
    pty.line("/review");
    pty.until("the same in the review", |s| s.contains("pending in another session: 1 file: /resume "));
    pty.send("q");
    pty.until("the prompt", |s| s.contains("changes to 1 file are pending: /apply"));
}

/// Story: after a turn that changed nothing, nothing said that the changes of an earlier turn still wait.
#[test]
fn a_turn_that_adds_nothing_names_what_is_still_pending_and_asks_nothing() {
    let mut pty = shell().size(120, 30).file("a.txt", "alpha\n").open();
    pty.line("replace alpha with beta in a.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
    pty.line("show a.txt");
    pty.until("one line", |s| {
        s.contains("changes to 1 file are pending: /apply, /review, /discard") && !s.contains("Apply")
    });
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
}

/// A turn that is stopped asks nothing: one row says what is pending.
/// Story: `placet -c` showed only `±1`, and nothing said what decides about the change.
#[test]
fn a_resumed_conversation_says_once_what_is_pending_and_apply_asks_about_it() {
    const NOTE: &str = "changes to 1 file are pending: /apply, /review, /discard";
    let mut pty = shell().size(100, 40).file("a.txt", "alpha\n").open();
    pty.line("replace alpha with beta in a.txt");
    pty.until("the question", |s| s.contains("Keep pending"));
    pty.answer("k");
    pty.until("the note", |s| s.contains(NOTE) && s.trim_end().ends_with("±1 >"));
    // It is the last line of the conversation, and stands there again.
    let mut pty = shell().size(100, 40).arg("-c").after(pty).open();
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    assert_eq!(pty.transcript().matches(NOTE).count(), 1, "{}", pty.transcript());
    pty.line("show a.txt");
    pty.until("the answer", |s| s.contains("│beta") && s.trim_end().ends_with("±1 >"));
    let mut pty = shell().size(100, 60).arg("-c").after(pty).open();
    pty.until("the note below the answer", |s| s.rfind("│beta") < s.rfind(NOTE));
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/apply");
    pty.until("the question", |s| s.contains("1 file, +1 -1 lines: apply?") && s.contains("Keep pending"));
    assert!(pty.screen().contains("- alpha") && pty.screen().contains("+ beta"), "{}", pty.screen());
    pty.answer("a");
    pty.until("the apply", |s| s.contains("applied changes to 1 file; /undo reverts them"));
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), "beta\n");
    pty.line("/undo");
    pty.until("the undo", |s| s.contains("undid changes to 1 file"));
}

#[test]
fn a_stopped_turn_names_what_is_pending() {
    let mut pty = shell().size(120, 30).file("a.txt", "alpha\n").open();
    pty.line("replace alpha with beta in a.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
    pty.line("run echo begun; sleep 60");
    pty.until("the command", |s| s.lines().any(|line| line.trim() == "begun"));
    pty.by_hand("\x1b");
    pty.until("one line", |s| {
        s.contains("interrupted") && s.contains("changes to 1 file are pending: /apply, /review, /discard")
    });
}

/// Story: `quit` said how to resume, and Ctrl-D left without a word.
#[test]
fn each_way_to_leave_says_how_to_resume() {
    for leave in ["quit\r", "exit\r", "/quit\r", "\x04"] {
        let mut pty = shell().size(100, 24).arg("--provider").arg("offline").file("a.txt", "alpha\n").open();
        pty.line("show a.txt");
        pty.until("the answer", |s| s.contains("alpha") && s.contains("placet [a]"));
        pty.until_prompt("");
        pty.by_hand(leave);
        assert_eq!(pty.ended(), 0, "{leave:?}");
        assert!(
            pty.transcript().contains("resume with: placet --resume "),
            "{leave:?}: {}",
            pty.transcript()
        );
    }
}

/// Story: pending changes of a killed session that could not be read were left out without a word.
#[test]
fn pending_changes_of_another_session_that_cannot_be_read_are_an_error() {
    let mut pty = shell().size(120, 30).file("a.txt", "alpha\n").open();
    pty.line("replace alpha with beta in a.txt");
    pty.until("the question", |s| s.contains("apply"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
    let views = pty.home().join(".local/state/placet/views");
    let record = std::fs::read_dir(&views)
        .unwrap()
        .map(|view| view.unwrap().path().join("pending/base.jsonl"))
        .find(|record| record.exists())
        .unwrap();
    std::fs::remove_file(&record).unwrap();
    std::fs::create_dir(&record).unwrap();
    let pty = shell().size(120, 30).after(pty).open();
    pty.until("the error", |s| {
        s.contains("cannot read the changes that another session left pending") && s.contains("placet doctor")
    });
}

/// A session can be renamed, deleted after a question, and found by another order, without leaving the list.
#[test]
fn sessions_are_renamed_deleted_and_sorted_in_the_list() {
    for columns in [40, 100] {
        let mut pty = shell().size(columns, 24).arg("--mode").arg("ask").open();
        pty.line("create a.txt with \"1\"");
        pty.until("the question", |s| s.contains("apply?"));
        pty.answer("k");
        pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
        let (sessions, here) = (store(&pty), pty.tree.path().canonicalize().unwrap());
        talked(&sessions, &here, "beta", 1);
        talked(&sessions, &here, "alpha", 1);
        let titles = || {
            let rows = sessions.list(9).unwrap();
            rows.iter().map(|row| row.title.clone()).collect::<Vec<_>>()
        };
        pty.line("/resume");
        pty.until("the list", |s| s.contains("❯  alpha"));
        // A new name.
        pty.send("\x1bn");
        pty.until("the field", |s| s.contains("new name ❯ alpha"));
        // Story: what was typed was appended to the old name.
        pty.by_hand("zeta");
        pty.until("the typed name alone", |s| s.contains("new name ❯ zeta"));
        pty.by_hand("\r");
        pty.until("the new name", |s| s.contains("❯  zeta") && !s.contains("❯  alpha"));
        // Another order, whose first is selected.
        pty.send("\x1bs");
        pty.until("by title", |s| s.contains("by title") && s.contains("❯  beta"));
        pty.send("\x1bs");
        pty.until("pending first", |s| s.contains("pending first") && s.contains("❯  create a.txt"));
        // The open conversation stays.
        pty.send("\x1bx");
        pty.until("the refusal", |s| s.contains("this conversation is open"));
        pty.send("\x1bs");
        pty.until("newest first", |s| !s.contains("pending first") && s.contains("❯  "));
        pty.by_hand("zet");
        pty.until("the session", |s| s.contains("❯  zeta") && !s.contains("beta"));
        // Every key but one keeps it.
        pty.send("\x1bx");
        pty.until("the question", |s| joined(s).contains("Delete `zeta` (1 turn) for good?"));
        pty.by_hand("n");
        pty.until("the keys", |s| s.contains("Enter choose"));
        assert!(titles().iter().any(|title| title == "zeta"));
        pty.send("\x1bx");
        pty.until("the question", |s| joined(s).contains("Delete `zeta` (1 turn) for good?"));
        pty.by_hand("y");
        pty.until("the rest", |s| s.contains("nothing matches") || s.contains("0 of"));
        assert!(!titles().iter().any(|title| title == "zeta"), "{:?}", titles());
        pty.send(ESC);
        pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    }
}

/// Story: a title with control characters was made visible again at each look at it, and Alt-n and Enter stored the result.
#[test]
fn a_title_that_was_made_visible_stays_as_it_is() {
    let mut pty = shell().size(100, 24).arg("--mode").arg("ask").open();
    pty.until_prompt("");
    let (sessions, here) = (store(&pty), pty.tree.path().canonicalize().unwrap());
    let shown = "a ␛[31m<U+202E>x";
    talked(&sessions, &here, "plan", 1);
    let id = sessions.list(9).unwrap()[0].id.clone();
    sessions.rename(&id, shown).unwrap();
    pty.line("/resume");
    pty.until("the list", |s| s.contains(&format!("❯  {shown}")));
    pty.send("\x1bn");
    // The field shows that these signs are letters of the text.
    pty.until("the field", |s| s.contains("new name ❯ a <U+241B>"));
    pty.by_hand("\r");
    pty.until("the list", |s| s.contains(&format!("❯  {shown}")) && s.contains("Enter choose"));
    pty.send("\x1bx");
    pty.until("the question", |s| s.contains(&format!("Delete `{shown}` (1 turn) for good?")));
    pty.by_hand("n");
    assert_eq!(sessions.list(9).unwrap()[0].title, shown);
}

/// What was pending is not deleted with the conversation, and the command in the question shows it.
#[test]
fn the_pending_changes_of_a_deleted_session_stay_and_the_question_says_so() {
    let mut pty = shell().size(100, 24).arg("--mode").arg("ask").open();
    pty.line("create a.txt with \"1\"");
    pty.until("the question", |s| s.contains("apply?"));
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/new");
    pty.until("the new conversation", |s| s.contains("started a new conversation"));
    pty.line("/resume");
    pty.until("the list", |s| s.contains("❯  create a.txt"));
    pty.send("\x1bx");
    pty.until("the question", |s| {
        joined(s).contains("Not deleted with it: 1 pending change (`placet changes --session ")
    });
    let screen = joined(&pty.screen());
    let id = screen.split("--session ").nth(1).unwrap().split('`').next().unwrap().to_string();
    pty.by_hand("y");
    pty.until("nothing", |s| s.contains("nothing to choose from"));
    pty.send(ESC);
    pty.until_prompt("");
    pty.line(&format!("!{} changes --session {id} --patch", placet()));
    pty.until("the change", |s| s.contains("+1") || s.contains("error"));
    assert!(pty.screen().contains("a.txt"), "{}", pty.screen());
}
