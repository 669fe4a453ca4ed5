//! The shell as a person uses it: the real binary in a terminal.

use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, shell};
use crate::support::wait;
use std::time::{Duration, Instant};

const SHIFT_TAB: &str = "\x1b[Z";

pub(super) const ESC: &str = "\x1b";

fn pause(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

fn asked(pty: &Pty) {
    pty.until("a question", |screen| screen.contains("lines: apply?"));
}

#[test]
fn the_mode_changes_while_text_is_typed_and_the_text_stays() {
    let mut pty = shell().open();
    pty.until_prompt("");
    assert!(pty.screen().contains("placet [a] >"));
    pty.send("half a line");
    pty.until_prompt("half a line");
    for (letter, meaning) in [
        ("[w]", "write: changes in the workspace are applied"),
        ("[r]", "read: files may be read"),
        ("[a]", "ask: files may be changed"),
    ] {
        pty.send(SHIFT_TAB);
        pty.until("the next mode, and what it means", |s| {
            s.contains(&format!("placet {letter} > half a line")) && s.contains(meaning)
        });
        let shown = ["write: changes", "read: files", "ask: files"].map(|one| pty.screen().contains(one));
        assert_eq!(shown.iter().filter(|one| **one).count(), 1, "{}", pty.screen());
    }
    pty.send("r");
    pty.until("the line alone", |s| s.contains("half a liner") && !s.contains("ask: files"));
}

#[test]
fn a_first_conversation_says_how_to_add_a_model_and_answers() {
    let mut pty = shell().file("notes.txt", "one\ntwo\n").open();
    assert!(pty.screen().contains("/setup adds a model"));
    pty.line("show notes.txt");
    pty.until("the answer", |s| s.contains("✓ read notes.txt") && s.contains("2│two"));
    pty.until_prompt("");
    pty.line("gibberish that nobody understands");
    pty.until("an honest answer", |s| s.contains("not a model"));
    pty.until_prompt("");
    pty.send("\x04");
    assert_eq!(pty.ended(), 0);
    assert!(pty.is_cooked());
}

#[test]
fn an_edit_asks_shows_its_diff_and_lands_only_after_yes() {
    let mut pty = shell().arg("--mode").arg("ask").file("a.txt", "alpha\nbeta\n").open();
    pty.line("replace \"beta\" with \"gamma\" in a.txt");
    asked(&pty);
    pty.until("the diff", |s| s.contains("- beta") && s.contains("+ gamma"));
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
    pty.answer("d");
    pty.until("the second look", |s| s.contains("[Keep]"));
    pty.answer("d");
    pty.until("the refusal", |s| s.contains("discarded changes to 1 file"));
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
    pty.line("show a.txt");
    pty.until("it is as it was", |s| s.contains("2│beta"));
    pty.until_prompt("");
    pty.line("replace \"beta\" with \"gamma\" in a.txt");
    asked(&pty);
    pty.answer("a");
    pty.until("the edit", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "alpha\ngamma\n");
    pty.until_prompt("");
    pty.line("/undo");
    pty.until("the way back", |s| s.contains("undid changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
}

#[test]
fn a_review_goes_hunk_by_hunk_and_a_rewind_takes_words_and_files_back() {
    let lines: Vec<String> = (0..12).map(|n| format!("l{n}")).collect();
    let mut pty = shell()
        .arg("--mode")
        .arg("ask")
        .file("a.txt", &(lines.join("\n") + "\n"))
        .file("old/x", "x\n")
        .open();
    pty.line("run sed -i -e s/^l0$/first/ -e s/l11/last/ a.txt; rm -r old");
    asked(&pty);
    pty.answer("r");
    pty.until("the review and its keys", |s| s.contains("0/3 hunks") && s.contains(" accept  "));
    // The first hunk is accepted, the second rejected; a directory that goes is one thing.
    pty.answer("ara");
    pty.until("all decided", |s| s.contains("3/3 hunks"));
    pty.by_hand("\r");
    pty.until("the summary", |s| s.contains("accepted   2 hunks in 2 files: will be applied"));
    pty.answer("a");
    pty.until("the end", |s| {
        s.contains("applied changes to 3 files") || s.contains("applied changes to 2 files")
    });
    pty.until("what the agent will hear", |s| s.contains("will be sent with your next message"));
    pty.until_prompt("");
    assert!(pty.read("a.txt").starts_with("first\nl1\n") && pty.read("a.txt").ends_with("l10\nl11\n"));
    assert!(!pty.exists("old"));
    pty.line("/rewind");
    pty.until("the turns", |s| s.contains("Rewind to before a turn") && s.contains("2 files +1"));
    pty.send(ESC);
    pty.until_prompt("");
    pty.line("/rewind 1 both");
    pty.until("the way back", |s| s.contains("the conversation is rewound to before that turn"));
    assert_eq!(pty.read("a.txt"), lines.join("\n") + "\n");
    assert_eq!(pty.read("old/x"), "x\n");
    pty.line("/rewind");
    pty.until("nothing is left", |s| s.contains("no messages yet"));
}

/// Story: the terminal broke words of the end of `placet run`, of errors and of questions at its margin.
#[test]
fn messages_of_the_command_line_are_broken_at_words() {
    let pty = shell().size(36, 20).arg("undo").arg("0").spawn();
    let words = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
    pty.until("the error", |s| words(s).contains("undo needs a number of turns of 1 or more, or a path"));
}

/// Story: the terminal broke rows of lists in a word, and a word longer than the row continued at column 0.
#[test]
fn rows_of_every_list_are_broken_at_words_and_paths_below_their_letter() {
    let path = "src/a-directory/of-the-project/file-with-a-name-that-is-long.txt";
    for arguments in ["permission list", "tool list", "config show", "provider list", "audit show", "changes"]
    {
        let command = crate::support::program::placet();
        let script = format!(
            "'{command}' tool call write_file '{{\"path\": \"{path}\", \"content\": \"x\"}}' --mode ask >/dev/null 2>&1 </dev/null
             '{command}' {arguments} >plain; clear; '{command}' {arguments}; echo the end of it\n"
        );
        let pty = shell().size(44, 400).program("sh").arg("script").file("script", script).spawn();
        pty.until("the list", |s| s.contains("the end of it"));
        let screen = pty.screen();
        let shown: std::collections::HashSet<&str> = screen.split_whitespace().collect();
        let plain = pty.read("plain");
        assert!(!plain.trim().is_empty(), "{arguments}");
        for word in plain.split_whitespace().filter(|word| word.len() < 36 && !word.contains('/')) {
            assert!(shown.contains(word), "{arguments}: {word:?} is broken:\n{screen}");
        }
        if arguments == "changes" {
            assert!(screen.contains("A src/a-directory/of-the-project/\n    file-with-"), "{screen}");
        }
    }
}

/// Story: the journal named an undo by the message of the turn after the one that was undone.
#[test]
fn the_journal_names_an_undo_by_the_turn_that_was_undone() {
    let mut pty = shell().size(100, 30).arg("--mode").arg("write").open();
    for line in ["create a.txt with \"1\"", "list"] {
        pty.line(line);
        pty.until(line, |s| {
            s.contains(&format!("placet [w] > {line}")) && s.trim_end().ends_with("placet [w] >")
        });
    }
    pty.line("/undo");
    pty.until("the undo", |s| s.contains("undid changes to 1 file"));
    pty.line("/journal");
    pty.until("the journal", |s| s.contains("undo of 1  1 file  create a.txt with \"1\""));
}

#[test]
fn what_is_kept_stands_in_the_prompt_and_lands_by_command() {
    let mut pty = shell().size(110, 30).arg("--mode").arg("ask").file("a.txt", "alpha\n").open();
    pty.line("run echo one > new.txt; rm a.txt");
    pty.until("a question", |s| s.contains("2 files, +1 -1 lines: apply?"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±2 >"));
    assert!(!pty.exists("new.txt") && pty.exists("a.txt"));
    pty.line("/changes");
    pty.until("the list", |s| s.contains("D a.txt +0 -1") && s.contains("A new.txt +1 -0"));
    pty.line("/discard a.txt");
    pty.until("one left", |s| s.contains("placet [a] ±1 >"));
    // Story: `/apply` applied what was not on the screen, while `placet apply` asked.
    pty.line("/apply");
    pty.until("the question", |s| s.contains("1 file, +1 -0 lines: apply?") && s.contains("Keep pending"));
    assert!(pty.screen().contains("1 + one"), "{}", pty.screen());
    assert!(!pty.exists("new.txt"));
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/1 hunks"));
    pty.answer("q");
    pty.until("the question again", |s| {
        s.contains("1 file, +1 -0 lines: apply?") && s.contains("Keep pending")
    });
    pty.answer("k");
    pty.until("what is pending", |s| s.contains("changes to 1 file are pending: /apply, /review, /discard"));
    pty.until("the prompt", |s| s.trim_end().ends_with("placet [a] ±1 >"));
    pty.line("/apply");
    pty.until("the question", |s| s.contains("1 file, +1 -0 lines: apply?") && s.contains("Keep pending"));
    pty.answer("a");
    pty.until("it lands", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("new.txt"), "one\n");
    assert!(pty.exists("a.txt"));
}

#[test]
fn a_line_typed_while_a_question_comes_up_neither_answers_nor_is_lost() {
    let mut pty =
        shell().arg("--mode").arg("ask").arg("--allow").arg("run_command").file("a.txt", "x\n").open();
    // The command is long enough that the first key comes before the question, and short enough that the last may not.
    pty.line("run sleep 0.3; echo y >> a.txt");
    pty.until("the command", |s| s.contains("› run sleep"));
    for key in "yes please y y a".chars() {
        pty.send(&key.to_string());
        pause(15);
    }
    asked(&pty);
    pty.until("the draft", |s| s.contains("> yes please y y a") && s.contains("Enter sends your text"));
    // A paste that looks like an answer is text, and Tab moves no mark while there is text.
    pty.send("\x1b[200~y\ry\r\x1b[201~");
    pty.until("the paste", |s| s.contains("> yes please y y ay"));
    pty.send("\t");
    assert!(pty.screen().contains("[Apply]"), "{}", pty.screen());
    // Begun before the question, it is the next message.
    pty.send("\r");
    pty.until("an empty line", |s| s.contains("Enter answers"));
    assert_eq!(pty.read("a.txt"), "x\n");
    pty.answer("k");
    pty.until("the next turn", |s| s.contains("> yes please y y ay") && s.contains("not a model"));
    assert_eq!(pty.read("a.txt"), "x\n");
}

#[test]
fn escape_stops_a_command_and_everything_it_started() {
    let mut pty = shell().arg("--mode").arg("write").arg("--allow").arg("run_command").open();
    pty.line("run sleep 871.1 & sleep 871.2");
    pty.until("the command", |s| s.contains("› run sleep"));
    let running = || {
        let found = std::process::Command::new("pgrep").args(["-f", "sleep 871"]).output();
        found.is_ok_and(|o| !o.stdout.is_empty())
    };
    let started = Instant::now();
    pty.send(ESC);
    pty.until("the end of the turn", |s| s.contains("interrupted"));
    assert!(started.elapsed() < crate::support::wait::DEADLINE, "{:?}", started.elapsed());
    pty.until_prompt("");
    assert!(!running());
}

#[test]
fn ctrl_c_clears_a_draft_then_asks_again_then_quits() {
    let mut pty = shell().open();
    pty.send("a draft");
    pty.until_prompt("a draft");
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("\x1b[A");
    pty.until_prompt("a draft");
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("\x03");
    pty.until("the warning", |s| s.contains("again to quit"));
    pty.until_prompt("");
    pty.send("\x03");
    assert_eq!(pty.ended(), 130);
    assert!(pty.is_cooked());
}

#[test]
fn the_terminal_is_given_back_after_a_signal() {
    for (signal, code) in [(rustix::process::Signal::TERM, 143), (rustix::process::Signal::HUP, 129)] {
        let mut pty = shell().open();
        pty.send("typing");
        pty.until_prompt("typing");
        pty.signal(signal);
        assert_eq!(pty.ended(), code);
        assert!(pty.is_cooked());
        let raw = pty.raw();
        let text = String::from_utf8_lossy(&raw);
        assert!(text.rfind("\x1b[?2004l") > text.rfind("\x1b[?2004h"), "bracketed paste is switched off");
    }
}

#[test]
fn a_paste_arrives_whole_and_never_submits() {
    let mut pty = shell().open();
    pty.send("\x1b[200~first line\nsecond line\n\x1b[201~");
    pty.until("the paste", |s| s.contains("second line"));
    pause(200);
    assert!(!pty.screen().contains("not a model"), "no request was sent yet");
    for newline in ["\n", "\x1b\r"] {
        pty.send(&format!("more{newline}"));
    }
    pty.until("new lines", |s| s.matches("more").count() == 2);
    assert!(!pty.screen().contains("not a model"), "Ctrl-J and Alt+Enter make lines");
}

#[test]
fn long_output_goes_to_the_scrollback_once_and_in_order() {
    let text: String = (0..1000).map(|n| format!("line number {n}\n")).collect();
    // What was read is in the scrollback only in the expanded view.
    let mut pty = shell().arg("--set").arg("ui.expanded=true").file("long.txt", &text).open();
    pty.line("show lines 1 to 1000 of long.txt");
    pty.until("the end", |s| s.contains("more lines, not shown here") && s.trim_end().ends_with("] >"));
    let transcript = pty.transcript();
    // The call's own output is indented by two; the answer after it is not.
    let numbers: Vec<usize> = transcript
        .lines()
        .filter(|l| l.starts_with("  "))
        .filter_map(|l| l.split_once("│line number ").and_then(|(_, n)| n.trim().parse().ok()))
        .collect();
    let wanted: Vec<usize> = (0..1000).collect();
    assert!(numbers.starts_with(&wanted), "{} lines, in another order or more than once", numbers.len());
}

#[test]
fn nothing_but_our_own_sequences_reaches_the_terminal() {
    let evil =
        "\x1b]0;owned\x07\x1b]52;c;QUJD\x07\x1b[2J\x1b[?1049h\u{202e}reversed\u{9b}31m\r overwritten\n";
    let mut pty = shell().file("evil.txt", evil).file("\u{1b}[31mname.txt", "x").open();
    let before = pty.raw().len();
    pty.line("show evil.txt");
    pty.until("the answer", |s| s.contains("reversed"));
    pty.until_prompt("");
    pty.line("list");
    pty.until("the list", |s| s.contains("name.txt"));
    pty.until_prompt("");
    let raw = pty.raw();
    let text = String::from_utf8_lossy(&raw[before..]).into_owned();
    let text = ["A", "B", "C", "D;0"].iter().fold(text, |t, m| t.replace(&format!("\x1b]133;{m}\x1b\\"), ""));
    let text = ["show evil.txt", "list"]
        .iter()
        .fold(text, |t, w| t.replace(&format!("\x1b]2;placet: {w}\x1b\\"), ""));
    for forbidden in [
        "\x1b]",
        "\x1b[2J",
        "\x1b[3J",
        "\x1b[?1049h",
        "\x1b[?1000h",
        "\x1b[?1002h",
        "\x1b[6n",
        "\x07",
        "\u{202e}",
        "\u{9b}",
    ] {
        assert!(!text.contains(forbidden), "{forbidden:?}");
    }
}

#[test]
fn no_color_means_no_colour() {
    let mut pty = shell().variable("NO_COLOR", "1").file("a.rs", "fn main() {}\n").open();
    pty.line("show a.rs");
    pty.until("the answer", |s| s.contains("fn main"));
    pty.until_prompt("");
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    for code in (30..=37).chain(40..=47).chain(90..=97) {
        for form in [format!("\x1b[{code}m"), format!(";{code}m"), format!("\x1b[{code};")] {
            assert!(!raw.contains(&form), "{form:?}");
        }
    }
    assert!(!raw.contains("38;5") && !raw.contains("38;2"));
}

#[test]
fn the_pane_survives_resizes_while_text_streams() {
    let mut pty = shell().arg("--mode").arg("write").arg("--allow").arg("run_command").open();
    pty.line("run for i in 1 2 3 4 5 6; do echo tick $i; sleep 0.2; done");
    for (columns, rows) in [(60, 20), (120, 30), (40, 10), (80, 24)] {
        pty.until("the pane", |s| s.contains("Esc") || s.contains("] >"));
        pty.resize(columns, rows);
        pause(150);
    }
    pty.until("the end", |s| s.contains("tick 6") && s.trim_end().ends_with("] >"));
    assert_eq!(pty.screen().matches("Esc stops").count(), 0, "no pane is left behind:\n{}", pty.screen());
}

#[test]
fn history_is_shared_and_found_again() {
    let mut pty = shell().file("a.txt", "x").open();
    pty.line("show a.txt");
    pty.until_prompt("");
    pty.send("\x1b[A");
    pty.until_prompt("show a.txt");
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("\x12sho");
    pty.until("the search", |s| s.contains("show a.txt") && s.contains("sho"));
    // Story: Esc, which takes the line in readline, dropped it; Ctrl-G goes back.
    pty.until("what is found", |s| s.contains("`sho': show a.txt"));
    pty.send("\x1b");
    pty.until_prompt("show a.txt");
    pty.send("\x05\x15draft");
    pty.until_prompt("draft");
    pty.send("\x12sho");
    pty.until("what is found", |s| s.contains("`sho': show a.txt"));
    pty.send("\x07");
    pty.until_prompt("draft");
}

#[test]
fn tab_completes_commands_and_paths() {
    let mut pty = shell().file("src/deep/width.rs", "x").file("README.md", "y").open();
    pty.send("/mod\t");
    pty.until("the commands", |s| s.contains("/mode") && s.contains("/model"));
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("look at @wid\t");
    pty.until_prompt("look at @src/deep/width.rs");
}

#[test]
fn a_command_of_the_shell_answers_and_an_unknown_one_is_corrected() {
    let mut pty = shell().open();
    for (line, expected) in [
        ("/mode ask", "you decide what"),
        ("/status", "workspace"),
        ("/tools", "run_command"),
        ("/config mode", "(default)"),
        ("/scratchpad", "no scratchpad"),
        ("/cost", "no request was sent yet"),
        ("/modle", "did you mean /mode"),
        ("!echo $((6 * 7)) from the terminal", "42 from the terminal"),
    ] {
        pty.line(line);
        pty.until(line, |s| s.contains(expected));
        pty.until_prompt("");
    }
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn a_session_is_taken_up_where_it_was_left() {
    let mut pty = shell().file("a.txt", "alpha\n").open();
    pty.line("show a.txt");
    pty.until("the answer", |s| s.contains("│alpha"));
    pty.until_prompt("");
    pty.line("/new");
    pty.until_prompt("");
    pty.line("/resume 1");
    pty.until("the session", |s| s.contains("resumed"));
    pty.until_prompt("");
    pty.line("save that as kept");
    pty.until("the scratchpad", |s| s.contains("wrote the scratchpad `kept`"));
    pty.until_prompt("");
    pty.line("/scratchpad");
    pty.until("its name", |s| s.contains("bytes"));
}

#[test]
fn the_cursor_stands_where_wide_text_ends() {
    let mut pty = shell().open();
    pty.send("日本語 é 👩");
    pty.until("the text", |s| s.contains("日本語"));
    wait::until_eq(&(15 + 6 + 1 + 1 + 1 + 2), || pty.cursor().0);
}

#[test]
fn a_question_can_be_read_and_answered_in_a_small_terminal() {
    let long: String = (0..30).map(|n| format!("line {n}\n")).collect();
    let mut pty = shell().size(40, 12).arg("--mode").arg("ask").file("a.txt", "x\n").open();
    pty.line(&format!("create b.txt with \"{}\"", long.replace('\n', "\\n")));
    asked(&pty);
    pty.until("its row", |s| s.contains("lines hidden: PageDown shows more"));
    for _ in 0..200 {
        if pty.screen().contains("+ line 29") {
            break;
        }
        pty.send("\x1b[6~");
        pause(50);
    }
    pty.until("its end", |s| s.contains("+ line 29") && !s.contains("lines hidden"));
    pty.answer("a");
    // What stays fits the terminal.
    pty.until("the end of what was applied", |s| {
        s.contains("applied changes to 1 file")
            && s.contains("more lines: `/journal 1`")
            && s.contains("[a] >")
    });
    assert_eq!(pty.read("b.txt"), long);
}

#[test]
fn a_line_goes_to_the_editor_and_comes_back_changed() {
    let mut pty = shell().variable("EDITOR", "sed -i s/one/two/").open();
    pty.send("line one");
    pty.until_prompt("line one");
    pty.send("\x18\x05");
    pty.until_prompt("line two");
    pty.send(" more");
    pty.until_prompt("line two more");
}

#[test]
fn a_file_named_with_an_at_sign_goes_along_and_counts_as_read() {
    let call = r#"{"path":"notes.txt","old_string":"beta","new_string":"gamma"}"#;
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "edit_file", call)]),
        Reply::openai(&[Say::Text("edited")]),
    ]);
    let mut pty = with_model(&server).arg("--mode").arg("write").file("notes.txt", "alpha\nbeta\n").open();
    pty.line("change @notes.txt please");
    pty.until("the end", |s| s.contains("attached notes.txt") && s.contains("edited"));
    assert_eq!(pty.read("notes.txt"), "alpha\ngamma\n");
    let said = server.requests()[0].body.to_string();
    assert!(said.contains("the person attached notes.txt") && said.contains("2│beta"), "{said}");
}

/// The person's mention is not a call of the model: it works whatever the model's tools are called.
#[test]
fn a_file_named_with_an_at_sign_goes_along_in_every_tool_set() {
    for dialect in placet::tools::ToolSet::ALL.map(|set| set.name()) {
        let server = MockServer::start([Reply::openai(&[Say::Text("read it")])]);
        let start = with_model(&server).arg("--dialect").arg(dialect);
        let mut pty = start.file("d/notes.txt", "alpha\nbeta\n").open();
        pty.line("look at @d/notes.txt and @d please");
        pty.until(dialect, |s| s.contains("read it"));
        let said = server.requests()[0].body.to_string();
        assert!(
            said.contains("the person attached d/notes.txt") && said.contains("2│beta"),
            "{dialect}: {said}"
        );
        assert!(said.contains("the person attached d]"), "{dialect}: {said}");
        assert!(!pty.screen().contains("error"), "{dialect}: {}", pty.screen());
    }
}

pub(super) fn with_model(server: &MockServer) -> crate::support::pty::Start {
    shell()
        .arg("--provider")
        .arg("openai-compatible")
        .arg("--model")
        .arg("m")
        .arg("--base-url")
        .arg(&server.url())
}
