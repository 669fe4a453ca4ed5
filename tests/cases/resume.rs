//! Resuming a conversation: its last turns on the screen as they looked, and the lists to choose one from.

use crate::support::binary::Place;
use crate::support::pty::{Pty, shell};
use placet::conversation::{AssistantBlock, AssistantMessage, Message, StopReason};
use placet::session::{ONE_SHOT, SessionRecord, SessionStateKey, SessionStore};
use std::path::Path;

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
    pty.until("the apply", |s| s.contains("applied 1 change"));
    pty.until_prompt("");
    pty.line("show missing.txt");
    pty.until("the failure", |s| s.contains("✗"));
    pty.until_prompt("");
    let live = pty.transcript();
    let resumed = shell().size(80, 60).arg("-c").after(pty).open();
    let again = resumed.transcript();
    for words in ["✓", "✗", "applied 1 change"] {
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
        pty.until("this directory", |s| s.contains("Sessions ❯") && s.contains("fix the"));
        let screen = pty.screen();
        assert!(!screen.contains("another") && !screen.contains("a single run"), "{screen}");
        assert!(screen.contains("Ctrl-O all directories"), "{screen}");
        if columns >= 80 {
            assert!(screen.contains("3 turns"), "{screen}");
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
    let line = "1 change is pending from session \"replace alpha with beta in a.txt\", just now: /resume ";
    pty.until("the line", |s| s.contains(line));
    pty.line("/review");
    pty.until("the same in the review", |s| s.contains("pending from session"));
    pty.send("q");
    pty.until("the prompt", |s| s.contains("1 change still pending"));
}
