//! What is typed and pasted reaches the line, the pane and the model as it was meant: the real binary and its bytes.

use crate::support::is_full;
use crate::support::mock_server::{MockServer, Reply, Say, openai_events};
use crate::support::pty::{Pty, Start, shell};
use crate::support::wait;
use std::time::{Duration, Instant};

const MARK: &str = "[Pasted text #1";

fn with_model(server: &MockServer) -> Start {
    ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()]
        .iter()
        .fold(shell().arg("--set").arg("context_window=100000000"), |start, arg| start.arg(arg))
}

/// What the person said last in the request with this number, from 0.
fn said(server: &MockServer, request: usize) -> String {
    let content =
        server.requests()[request].body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let text: String = match content.as_str() {
        Some(text) => text.to_string(),
        None => content.as_array().unwrap().iter().map(|part| part["text"].as_str().unwrap_or("")).collect(),
    };
    // What placet itself adds stands behind what was said.
    text.rsplit_once("\n\n[placet: ").map_or(text.clone(), |(own, _)| own.to_string())
}

fn paste(pty: &mut Pty, text: &str) {
    // In pieces that cut characters and the closing sequence.
    for piece in format!("\x1b[200~{text}\x1b[201~").as_bytes().chunks(4093) {
        pty.send_bytes(piece);
    }
}

#[test]
fn shift_enter_is_a_new_line_in_every_protocol() {
    for newline in ["\x1b[13;2u", "\x1b[27;2;13~", "\x1b\r", "\n"] {
        let server = MockServer::start([Reply::openai(&[Say::Text("understood")])]);
        let mut pty = with_model(&server).open();
        pty.send(&format!("one{newline}"));
        pty.until("the first line", |s| s.contains("one"));
        pty.send("two");
        pty.until("the second line", |s| s.contains("\ntwo"));
        pty.send("\r");
        pty.until("the answer", |s| s.contains("understood"));
        assert_eq!(said(&server, 0), "one\ntwo", "{newline:?}");
    }
}

#[test]
fn the_terminal_is_asked_for_more_keys_and_left_as_it_was() {
    let asked = |start: Start| {
        let mut pty = start.open();
        pty.send("\x04");
        assert_eq!(pty.ended(), 0);
        let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
        (raw.matches("\x1b[>1u").count(), raw.matches("\x1b[<u").count())
    };
    assert_eq!(asked(shell()), (1, 1));
    assert_eq!(asked(shell().variable("TERM", "linux")), (0, 0));
    assert_eq!(asked(shell().arg("--set").arg("ui.extended_keys=false")), (0, 0));
    assert_eq!(asked(shell().arg("--linear")), (0, 0));
    // A program of the person's own gets the keys that it knows.
    let mut pty = shell().open();
    pty.line("!echo here");
    pty.until_prompt("");
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let places = ["\x1b[>1u", "\x1b[<u", "here\r\n", "\x1b[>1u"];
    let mut rest = raw.as_str();
    for place in places {
        let (_, after) = rest.split_once(place).unwrap_or_else(|| panic!("{place:?} is missing in {rest:?}"));
        rest = after;
    }
}

#[test]
fn a_late_answer_of_the_terminal_is_never_typed() {
    let server = MockServer::start([Reply::stream()
        .wait(Duration::from_millis(600))
        .write(openai_events(&[Say::Text("done with it")]).concat())
        .close()]);
    let mut pty = with_model(&server).open();
    let answers = [
        "\x1b]11;rgb:1e1e/1e1e/2e2e\x07",
        "\x1b[?62;22c",
        "\x1b[24;80R",
        "\x1bP>|xterm(380)\x1b\\",
        "\x1b[?1u",
    ];
    for answer in answers {
        pty.send("a");
        // Not before the third byte: `ESC [` alone is Alt-[ after 40 ms, and a machine under load sleeps longer than it is asked to.
        let (first, second) = answer.split_at(3.max(answer.len() / 2));
        pty.send(first);
        std::thread::sleep(Duration::from_millis(20));
        pty.send(second);
    }
    pty.until_prompt("aaaaa");
    pty.send("\r");
    pty.until("the pane", |s| s.contains("waiting for the model"));
    for answer in answers {
        pty.send(&format!("b{answer}"));
    }
    pty.until("the end", |s| s.contains("done with it"));
    pty.until_prompt("bbbbb");
    assert_eq!(said(&server, 0), "aaaaa");
}

#[test]
fn keys_typed_at_once_after_enter_reach_the_pane_and_the_next_prompt_in_their_order() {
    for _ in 0..10 {
        let server = MockServer::start([Reply::stream()
            .wait(Duration::from_millis(200))
            .write(openai_events(&[Say::Text("the answer")]).concat())
            .close()]);
        let mut pty = with_model(&server).open();
        // One write: Enter, and what belongs to whoever reads then.
        pty.send("hello\rtyped ahead of everything");
        pty.until("the pane", |s| s.contains("typed ahead"));
        pty.until("the end", |s| s.contains("the answer"));
        pty.until_prompt("typed ahead of everything");
    }
}

#[test]
fn a_megabyte_with_everything_in_it_arrives_whole_and_is_named_by_lines_and_bytes() {
    let piece = "line of text \\\nrow\ttab\0nul \u{1b}[200~ \u{1b}]0;title\u{7} 日本 👩\u{200d}👧\n";
    let text = piece.repeat(1024 * 1024 / piece.len());
    let server =
        MockServer::start([Reply::openai(&[Say::Text("thanks")]), Reply::openai(&[Say::Text("again")])]);
    let mut pty = with_model(&server).open();
    pty.send("look: ");
    let started = Instant::now();
    paste(&mut pty, &text);
    let lines = text.lines().count();
    pty.until("the placeholder", |s| {
        s.replace('\n', "").contains(&format!("{MARK}: {lines} lines, 1.0 MB]"))
    });
    pty.send("!\r");
    pty.until("the answer", |s| s.contains("thanks"));
    let took = started.elapsed();
    assert!(said(&server, 0) == format!("look: {text}!"), "the paste was changed on its way");
    // In the history it is the same line, and the same paste.
    pty.until_prompt("");
    pty.send("\x1b[A");
    pty.until("the line again", |s| s.matches(MARK).count() >= 2);
    pty.send("\r");
    pty.until("the second answer", |s| s.contains("again"));
    assert!(said(&server, 1) == format!("look: {text}!"), "the paste was changed in the history");
    assert!(took < Duration::from_secs(15), "{took:?}");
}

#[test]
fn a_paste_while_a_turn_runs_is_put_away_too_and_queued_whole() {
    let text = "a line of it\n".repeat(40);
    let server = MockServer::start([
        Reply::stream()
            .wait(Duration::from_millis(800))
            .write(openai_events(&[Say::Text("one")]).concat())
            .close(),
        Reply::openai(&[Say::Text("the second answer")]),
    ]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    pty.until("the pane", |s| s.contains("waiting for the model"));
    paste(&mut pty, &text);
    pty.until("the placeholder", |s| s.contains(MARK));
    pty.send("\r");
    pty.until("the second answer", |s| s.contains("the second answer"));
    assert_eq!(said(&server, 1), text);
}

#[test]
fn a_paste_that_is_too_long_is_refused_aloud() {
    let mut pty = shell().size(120, 24).open();
    pty.send("kept ");
    let text = "0123456789abcdef".repeat(64 * 1024 * 11);
    paste(&mut pty, &text);
    pty.until("the refusal", |s| s.contains("was not accepted: it is longer than 10 MB; save it to a file"));
    pty.until_prompt("kept");
}

#[test]
fn lines_that_arrive_at_once_unmarked_are_one_paste() {
    let server = MockServer::start([Reply::openai(&[Say::Text("one message")])]);
    let mut pty = with_model(&server).open();
    pty.send("first line\rsecond line\rthird line\r");
    pty.until("all lines", |s| s.contains("third line"));
    pty.send("\r");
    pty.until("the answer", |s| s.contains("one message"));
    assert_eq!(said(&server, 0), "first line\nsecond line\nthird line");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_paste_is_text_whatever_it_begins_with_and_names_no_file() {
    let server = MockServer::start([Reply::openai(&[Say::Text("read as text")])]);
    let mut pty = with_model(&server).file("secret.txt", "the content").open();
    let text = format!("!touch made\n/quit\n@secret.txt\n{}", "more\n".repeat(20));
    paste(&mut pty, &text);
    pty.until("the placeholder", |s| s.contains(MARK));
    pty.send("\r");
    pty.until("the answer", |s| s.contains("read as text"));
    assert_eq!(said(&server, 0), text);
    assert!(!pty.exists("made"));
}

#[test]
fn a_paste_is_edited_whole_and_outlives_a_kill() {
    let text = "a line of it\n".repeat(40);
    let editor = "sed -i s/line/row/";
    let mut pty = shell().variable("EDITOR", editor).open();
    paste(&mut pty, &text);
    pty.until("the placeholder", |s| s.contains("[Pasted text #1: 40 lines"));
    pty.send("\x07");
    pty.until("the edited one", |s| s.contains("[Pasted text #2: 40 lines"));
    wait::until_stored(&pty.home().join(".local/state/placet/drafts"), "a row of it");
    let server = MockServer::start([Reply::openai(&[Say::Text("thanks")])]);
    let mut again = with_model(&server).after(pty).open();
    again.until("the draft", |s| s.contains("[Pasted text #1: 40 lines"));
    again.send("\r");
    again.until("the answer", |s| s.contains("thanks"));
    assert_eq!(said(&server, 0), text.replace("line", "row").trim_end());
}

#[test]
fn every_key_can_be_asked_for_its_bytes() {
    let mut pty = shell().open();
    pty.line("/keys");
    pty.until("the invitation", |s| s.contains("Ctrl-C ends this"));
    pty.send("\x1b[13;2u");
    pty.until("the key", |s| s.contains("Shift-Enter        ESC [13;2u"));
    pty.send("\x1b]11;rgb:0/0/0\x07");
    pty.until("the answer", |s| s.contains("no key: an answer of the terminal, or unknown"));
    pty.send("\x03");
    pty.until_prompt("");
}

#[test]
fn the_cursor_stands_where_the_next_letter_goes_after_every_edit() {
    use rand_like::Steps;
    let mut pty = shell().size(40, 24).open();
    let mut line: Vec<char> = Vec::new();
    let mut at = 0;
    let edits = if is_full() { 1000 } else { 200 };
    let mut steps = Steps(7);
    let (_, first) = pty.cursor();
    for _ in 0..edits {
        match steps.below(5) {
            0 if at > 0 => {
                pty.send("\x1b[D");
                at -= 1;
            }
            1 if at < line.len() => {
                pty.send("\x1b[C");
                at += 1;
            }
            2 if at > 0 => {
                pty.send("\x7f");
                at -= 1;
                line.remove(at);
            }
            _ if line.len() < 60 => {
                let c = ['a', '日', 'é', '語', ' '][steps.below(5)];
                pty.send(&c.to_string());
                line.insert(at, c);
                at += 1;
            }
            _ => continue,
        }
        let wanted = place(&line[..at], first);
        pty.until(&format!("the cursor at {wanted:?} in {line:?}"), |_| pty.cursor() == wanted);
    }
}

/// Where the cursor stands behind `before`, typed at a prompt of 40 columns in row `row`: a wide letter does not part.
fn place(before: &[char], mut row: u16) -> (u16, u16) {
    let mut column = 15;
    for c in before {
        let wide = if ['日', '語'].contains(c) { 2 } else { 1 };
        if column + wide > 40 {
            (column, row) = (0, row + 1);
        }
        column += wide;
    }
    if column == 40 { (0, row + 1) } else { (column, row) }
}

/// Numbers that are the same in every run.
mod rand_like {
    pub struct Steps(pub u64);

    impl Steps {
        pub fn below(&mut self, most: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            usize::try_from(self.0 >> 33).unwrap() % most
        }
    }
}

/// A picture of 2 by 3 points.
fn png() -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(2, 3).write_to(&mut out, image::ImageFormat::Png).unwrap();
    out.into_inner()
}

#[test]
fn a_picture_dropped_on_the_terminal_is_attached() {
    let server = MockServer::start([Reply::openai(&[Say::Text("a tiny one")])]);
    let mut pty = with_model(&server).arg("--set").arg("vision=true").open();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("screen shot.png");
    std::fs::write(&path, png()).unwrap();
    pty.send("what is ");
    paste(&mut pty, &path.display().to_string().replace(' ', "\\ "));
    pty.until("the mention", |s| s.replace('\n', "").contains("screen shot.png\""));
    pty.send("?\r");
    pty.until("the answer", |s| s.contains("a tiny one"));
    assert!(pty.screen().contains("screen shot.png: 2x3"), "{}", pty.screen());
    assert!(server.requests()[0].body.to_string().contains("data:image/png;base64,"));
}

#[test]
fn a_picture_of_the_clipboard_is_mentioned_by_a_key_or_it_is_said_why_not() {
    use std::os::unix::fs::PermissionsExt;
    let tools = tempfile::tempdir().unwrap();
    let picture = tools.path().join("picture");
    std::fs::write(&picture, png()).unwrap();
    let program = tools.path().join("wl-paste");
    std::fs::write(&program, format!("#!/bin/sh\ncat {}\n", picture.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", tools.path().display(), std::env::var("PATH").unwrap());
    let wayland = || shell().size(140, 24).variable("WAYLAND_DISPLAY", "wayland-0").variable("PATH", &path);
    let mut pty = wayland().open();
    pty.send("\x16");
    pty.until("the mention", |s| s.contains("from the clipboard: 2x3, ") && s.contains("> @"));
    std::fs::write(&picture, "only text").unwrap();
    pty.send("\x16");
    pty.until("the reason", |s| s.contains("the clipboard has no picture"));
    let mut pty = shell().size(140, 24).variable("SSH_CONNECTION", "1 2 3 4").open();
    pty.send("kept\x16");
    pty.until("the way out", |s| {
        s.contains("cannot be reached over ssh: copy the picture to this machine and attach it with @")
    });
    pty.until_prompt("kept");
    let mut pty =
        shell().size(140, 24).variable("WAYLAND_DISPLAY", "wayland-0").variable("PATH", "/nowhere").open();
    pty.send("\x1bv");
    pty.until("what to install", |s| s.contains("the clipboard needs `wl-paste`: install wl-clipboard"));
}

#[test]
fn a_line_whose_paste_was_damaged_is_not_sent() {
    let server = MockServer::start([Reply::openai(&[Say::Text("thanks")])]);
    let mut pty = with_model(&server).size(120, 24).open();
    let text = "a line of it\n".repeat(40);
    paste(&mut pty, &text);
    pty.until("the placeholder", |s| s.contains(MARK));
    // Within the placeholder a key changes one letter.
    pty.send("\x1b[D\x7f\r");
    pty.until("the refusal", |s| {
        s.contains("the placeholder of a paste was changed: restore `[Pasted text #1: 40 lines")
    });
    pty.send("\x1b[DB\r");
    pty.until("the answer", |s| s.contains("thanks"));
    assert_eq!(said(&server, 0), text);
}

#[test]
fn backspace_behind_the_placeholder_of_a_paste_takes_all_of_it() {
    let server = MockServer::start([]);
    for key in ["\x7f", "\x08"] {
        let mut pty = with_model(&server).size(120, 24).open();
        pty.send("look ");
        paste(&mut pty, &"a line of it\n".repeat(40));
        pty.until("the placeholder", |s| s.contains(MARK));
        pty.send(key);
        pty.until("the rest", |s| !s.contains("Pasted"));
        pty.until_prompt("look");
    }
}

#[test]
fn an_editor_that_changes_nothing_leaves_the_line_as_it_was_and_what_it_wrote_is_meant() {
    let server = MockServer::start([Reply::openai(&[Say::Text("thanks")])]);
    let mut pty = with_model(&server).file("a.txt", "alpha").variable("EDITOR", "true").open();
    pty.send("look ");
    paste(&mut pty, &"a line of it\n".repeat(40));
    pty.until("the placeholder", |s| s.contains(MARK));
    pty.send("\x07");
    pty.until("the line again", |s| s.matches("look [Pasted text #1: 40 lines, 520 B]").count() == 2);
    pty.until_prompt("look [Pasted text #1: 40 lines, 520 B]");
    drop(pty);
    // Twelve lines that were written in the editor, a file named in the first.
    let editor = "sh -c 'printf \"see @a.txt\\n1\\n2\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\n\" > \"$1\"' x";
    let mut pty = with_model(&server).file("a.txt", "alpha").variable("EDITOR", editor).open();
    pty.send("\x07");
    pty.until("the words for it", |s| s.contains("[Pasted text #1: 11 lines"));
    pty.send("\r");
    pty.until("the answer", |s| s.contains("thanks"));
    assert!(pty.screen().contains("attached a.txt"), "{}", pty.screen());
}

#[test]
fn lines_pasted_into_a_linear_turn_run_nothing_and_answer_nothing() {
    let server = MockServer::start([
        Reply::stream()
            .wait(Duration::from_millis(900))
            .write(openai_events(&[Say::Text("one")]).concat())
            .close(),
        Reply::openai(&[Say::Text("the second answer")]),
    ]);
    let mut pty = with_model(&server).arg("--linear").open();
    pty.line("first");
    std::thread::sleep(Duration::from_millis(300));
    pty.send("!touch made\r/mode write\rend\r");
    pty.until("the second answer", |s| s.contains("the second answer"));
    assert_eq!(said(&server, 1), "!touch made\n/mode write\nend");
    pty.until("the mode is as it was", |s| s.contains("placet [a] > "));
    assert!(!pty.exists("made"));
}

/// Story: the sent line was cut inside words (`round(total,` / ` 2)`), and what followed began at the margin.
#[test]
fn a_line_that_was_sent_is_broken_at_words_and_indented() {
    let server = MockServer::start([Reply::openai(&[Say::Text("understood")])]);
    let mut pty = with_model(&server).arg("--mode").arg("ask").size(40, 24).open();
    let long = "rewrite the total so that it uses round(total, 2) and nothing else of it";
    pty.send(long);
    pty.until("the line", |s| s.contains("of it"));
    // The cursor is inside the line: the rows below are drawn all the same.
    pty.send("\x1b[D\x1b[D\x1b[D\r");
    pty.until("the answer", |s| s.contains("understood"));
    let rows: Vec<String> = pty.transcript().lines().map(String::from).collect();
    let at = rows.iter().position(|row| row.contains("rewrite the")).unwrap();
    let end = rows.iter().position(|row| row.contains("understood")).unwrap();
    assert_eq!(
        rows[at..end].join("\n").trim_end(),
        "◆ placet [a] > rewrite the total so that\n  it uses round(total, 2) and nothing\n  else of it"
    );
    assert_eq!(rows[at..end].iter().filter(|row| row.is_empty()).count(), 1, "{rows:?}");
    assert_eq!(said(&server, 0), long);
}

/// Story: the second line was typed at the margin, and moved by two columns when it was sent.
#[test]
fn the_lines_of_a_message_stay_where_they_were_typed() {
    let server = MockServer::start([Reply::openai(&[Say::Text("understood")])]);
    let mut pty = with_model(&server).arg("--mode").arg("ask").size(40, 24).open();
    pty.send("first");
    pty.send("\x0a");
    pty.send("second line\x0a  third");
    pty.until("the lines", |s| s.trim_end().ends_with("> first\nsecond line\n  third"));
    pty.send("\r");
    pty.until("the answer", |s| s.contains("understood"));
    let said_now = pty.transcript();
    assert!(said_now.contains("◆ placet [a] > first\nsecond line\n  third\n\nunderstood"), "{said_now}");
    assert_eq!(said(&server, 0), "first\nsecond line\n  third");
}

/// The line as it was typed fills its last row: rustyline goes to the next row by itself.
#[test]
fn a_sent_line_that_fills_its_row_leaves_one_blank_row() {
    for columns in 0..3 {
        let server = MockServer::start([Reply::openai(&[Say::Text("understood")])]);
        let mut pty = with_model(&server).arg("--mode").arg("ask").size(40, 24).open();
        let prompt = "◆ placet [a] > ".chars().count();
        let line = "words ".repeat(20);
        let line = &line[..80 - prompt - columns];
        pty.send(line);
        pty.until("the line", |s| s.split_whitespace().collect::<String>().contains(&line.replace(' ', "")));
        pty.send("\r");
        pty.until("the answer", |s| s.contains("understood"));
        let transcript = pty.transcript();
        let rows: Vec<&str> = transcript.lines().collect();
        let at = rows.iter().position(|row| row.contains("placet [a] > words")).unwrap();
        let end = rows.iter().position(|row| row.contains("understood")).unwrap();
        assert_eq!(rows[at..end].iter().filter(|row| row.is_empty()).count(), 1, "{rows:?}");
    }
}
