//! Screens for reading, in the real binary: opened by a key, left by a key, and the draft stays.

use crate::support::pty::{Pty, shell};

const LEFT: &str = "\x1b[D";
const CTRL_T: &str = "\x14";
const CTRL_P: &str = "\x10";

/// A shell that has said something about a file.
fn after_a_turn() -> Pty {
    let mut pty = shell().file("notes.txt", "one\ntwo\n").open();
    pty.line("show notes.txt");
    pty.until("the answer", |s| s.contains("✓ read notes.txt") && s.contains("2│two"));
    pty.until_prompt("");
    pty
}

#[test]
fn the_transcript_opens_over_a_draft_unfolds_a_call_and_leaves_the_draft_as_it_was() {
    let mut pty = after_a_turn();
    pty.send("half a line");
    pty.until_prompt("half a line");
    pty.send(LEFT);
    pty.send(CTRL_T);
    pty.until("the transcript", |s| {
        s.contains("transcript  turn 1 of 1") && s.contains("▸ ✓ read_file notes.txt")
    });
    pty.send("[\r");
    pty.until("the whole call", |s| s.contains("── result ──") && s.contains("path notes.txt"));
    pty.send("/2│t");
    pty.until("the match", |s| s.contains("/2│t"));
    pty.send("\rq");
    pty.until_prompt("half a line");
    assert_eq!(pty.transcript().matches("half a line").count(), 1, "{}", pty.transcript());
    pty.send("X");
    pty.until("the cursor where it was", |s| s.trim_end().ends_with("half a linXe"));
}

#[test]
fn the_last_answer_comes_again_and_its_bytes_go_to_the_clipboard() {
    let mut pty = after_a_turn();
    pty.line("/last");
    pty.until("the answer again", |s| s.matches("notes.txt").count() > 3);
    pty.until_prompt("");
    pty.line("/copy");
    pty.until("how many bytes", |s| s.contains("copied ") && s.contains(" bytes"));
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let code = raw.split("\x1b]52;c;").nth(1).and_then(|rest| rest.split('\x07').next()).unwrap();
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(code).unwrap();
    assert!(pty.screen().contains(&format!("copied {} bytes", bytes.len())), "{}", pty.screen());
    pty.line("/copy code 9");
    pty.until("the refusal", |s| s.contains("of code"));
}

#[test]
fn a_file_opens_at_a_line_with_what_the_model_has_seen_and_what_is_pending() {
    let mut pty =
        shell().arg("--mode").arg("ask").file("notes.txt", "one\ntwo\n").file("blob", "a\0b").open();
    pty.line("replace \"two\" with \"three\" in notes.txt");
    pty.until("a question", |s| s.contains("lines: apply?"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("placet [a] ±1 >"));
    pty.line("/view notes.txt:2");
    pty.until("the pending content", |s| {
        s.contains("❯ ▎  2  three") && s.contains("seen in turn 1  pending")
    });
    pty.send("/one\r");
    pty.until("the match", |s| s.contains("❯1▎  1  one"));
    pty.send("b");
    pty.until("who wrote it", |s| {
        s.lines().any(|l| l.contains("1 pending edit_file") && l.ends_with("three"))
    });
    pty.send("q");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/view blob");
    pty.until("what it is", |s| s.contains("blob: binary data, 3 bytes, blake3"));
    pty.line("/view none.txt");
    pty.until("that there is none", |s| s.contains("does not exist"));
}

#[test]
fn a_rule_that_denies_reading_holds_for_the_viewer_too() {
    let pty = shell().file("secret.env", "KEY=1\n");
    let mut pty = pty.arg("--deny").arg("read(secret.env)").open();
    pty.line("/view secret.env");
    pty.until("the refusal", |s| s.contains("a rule denies reading it"));
    assert!(!pty.transcript().contains("KEY=1"));
}

#[test]
fn a_list_of_files_opens_over_a_draft_and_puts_a_path_where_the_cursor_stands() {
    let mut pty = shell()
        .file("src/main.rs", "fn main() {}\n")
        .file("two words.txt", "x\n")
        .file(".gitignore", "target/\n")
        .file("target/debug/out.txt", "x\n")
        .file(".git/config", "x\n")
        .open();
    pty.send("look at  please");
    pty.until_prompt("look at  please");
    for _ in 0.." please".len() {
        pty.send(LEFT);
    }
    pty.send(CTRL_P);
    pty.until("the list", |s| {
        s.contains("Files ❯") && s.contains("src/main.rs") && s.contains("two words.txt")
    });
    assert!(!pty.screen().contains("target/debug") && !pty.screen().contains(".git/"), "{}", pty.screen());
    pty.send("\x1b");
    pty.until_prompt("look at  please");
    pty.send(CTRL_P);
    pty.until("the list again", |s| s.contains("Files ❯"));
    pty.send("two");
    pty.until("one file", |s| s.contains("1 of ") && s.contains("❯  two words.txt"));
    pty.send("\r");
    pty.until_prompt("look at @\"two words.txt\" please");
    pty.send("\x03");
    pty.until_prompt("");
    pty.send("see @target/deb");
    pty.until("the path", |s| s.contains("> see @target/deb"));
    pty.send(CTRL_P);
    pty.until("the ignored directory", |s| s.contains("target/debug/"));
    pty.send("ug/o");
    pty.until("the ignored file", |s| s.contains("❯  target/debug/out.txt"));
    pty.send("\r");
    pty.until_prompt("see @target/debug/out.txt");
}

#[test]
fn commands_sessions_and_earlier_lines_are_chosen_from_lists() {
    let mut pty = after_a_turn();
    pty.send("/stat");
    pty.until("the typed line", |s| s.contains("> /stat"));
    pty.send(CTRL_P);
    pty.until("the commands", |s| s.contains("Commands ❯ stat") && s.contains("❯  /status"));
    pty.send("\r");
    pty.until_prompt("/status");
    pty.send("\r");
    pty.until("what holds", |s| s.contains("workspace"));
    pty.until_prompt("");
    pty.line("/history");
    pty.until("the history", |s| s.contains("History ❯") && s.contains("show notes.txt"));
    pty.send("show");
    pty.until("the line", |s| s.contains("❯  show notes.txt"));
    pty.send("\r");
    pty.until_prompt("show notes.txt");
    pty.send("\x03");
    pty.line("/new");
    pty.until_prompt("");
    pty.line("/resume");
    pty.until("the sessions", |s| s.contains("Sessions ❯") && s.contains("❯  show notes.txt"));
    pty.send("\r");
    pty.until("the session", |s| s.contains("resumed"));
    pty.until_prompt("");
}

/// A shell in ask mode with the scratchpads `p` and `q`.
fn with_scratchpads() -> Pty {
    let mut pty = shell()
        .size(104, 30)
        .arg("--mode")
        .arg("ask")
        .file("notes.txt", "one\ntwo\n")
        .file("other.txt", "one\nthree\n")
        .open();
    for (file, name) in [("notes.txt", "p"), ("other.txt", "q")] {
        pty.line(&format!("load {file} as {name}"));
        pty.until("the scratchpad", |s| s.contains(&format!("scratchpad load {file} -> {name}")));
        pty.until_prompt("");
    }
    pty.line("/scratchpad pick");
    pty.until("the list", |s| s.contains(" Scratchpads  2") && s.contains("│ one"));
    pty
}

#[test]
fn a_scratchpad_becomes_a_file_that_is_pending_and_decided_like_any_other() {
    let mut pty = with_scratchpads();
    pty.send("pnew.txt");
    pty.until("the path", |s| s.contains("file for `p`: new.txt"));
    pty.send("\r");
    pty.until("the word", |s| s.contains("new.txt is pending: decide with /review, or apply it with /apply"));
    // A file that is there is left alone.
    pty.send("pnotes.txt\r");
    pty.until("the refusal", |s| s.contains("notes.txt") && s.contains("exists"));
    pty.send("q");
    pty.until("the prompt with one pending", |s| s.contains("±1"));
    assert!(!pty.tree.path().join("new.txt").exists(), "nothing is written before it is decided");
    pty.line("/changes");
    pty.until("the change", |s| s.contains("A new.txt +2 -0") && s.trim_end().ends_with("±1 >"));
    pty.line("/apply");
    pty.until("the question", |s| s.contains("Keep pending"));
    pty.answer("a");
    pty.until("that it landed", |s| s.trim_end().ends_with("placet [a] >"));
    assert_eq!(std::fs::read_to_string(pty.tree.path().join("new.txt")).unwrap(), "one\ntwo\n");
}

#[test]
fn scratchpads_are_compared_deleted_and_attached_to_the_next_message() {
    let mut pty = with_scratchpads();
    pty.send("\t\td");
    pty.until("the difference", |s| s.contains("p → q.diff") && s.contains("-two") && s.contains("+three"));
    pty.send("q");
    pty.until("the list again", |s| s.contains(" Scratchpads  2"));
    pty.send("gP");
    pty.until("how many bytes", |s| s.contains("your next message attaches `p`: "));
    pty.send("jx");
    pty.until("the question", |s| s.contains("delete `q` permanently?"));
    pty.answer("y");
    pty.until("that it went", |s| s.contains("deleted `q`") && s.contains(" Scratchpads  1"));
    pty.send("q");
    pty.until("what goes along", |s| s.contains("your next message attaches `p`"));
    pty.until_prompt("");
    pty.line("hello there");
    pty.until_prompt("");
    pty.line("/export");
    pty.until("the message", |s| s.contains("the person attached the scratchpad `p`") && s.contains("1│one"));
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_fn(width, height, |x, y| image::Rgb([x as u8, y as u8, 128]))
        .write_to(&mut out, image::ImageFormat::Png)
        .unwrap();
    out.into_inner()
}

fn sent(pty: &Pty) -> String {
    String::from_utf8_lossy(&pty.raw()).into_owned()
}

#[test]
fn a_picture_is_shown_as_one_in_the_viewer_and_taken_off_the_screen_with_it() {
    let pty = shell().file("logo.png", png(40, 30));
    let mut pty = pty.arg("--set").arg("ui.pictures=kitty").open();
    pty.line("/view logo.png");
    pty.until("what it is", |s| s.contains("logo.png  a PNG picture of 40x30 pixels"));
    pty.until("the picture", |_| sent(&pty).contains("\x1b_Ga=T,f=100,q=2,C=1,"));
    pty.send("?");
    pty.until("its keys", |s| s.contains("these keys"));
    assert_eq!(sent(&pty).matches("\x1b_Ga=d,d=I,").count(), 1, "the page of keys has the screen");
    pty.send("q");
    pty.until("the picture again", |_| sent(&pty).matches("\x1b_Ga=T,").count() == 2);
    pty.send("q");
    pty.until_prompt("");
    assert_eq!(sent(&pty).matches("\x1b_Ga=d,d=I,").count(), 2);
    pty.line("/view logo.png");
    pty.until("it is there again", |s| s.contains("a PNG picture"));
}

#[test]
fn without_pictures_a_sentence_says_what_a_file_is() {
    for setting in ["ui.pictures=off", "ui.linear=true"] {
        let mut pty = shell().file("logo.png", png(40, 30)).arg("--set").arg(setting).open();
        pty.line("/view logo.png");
        pty.until("the sentence", |s| s.contains("logo.png: a PNG picture of 40x30 pixels"));
        assert!(!sent(&pty).contains("\x1b[?1049h"));
    }
}

#[test]
fn a_picture_that_goes_along_is_told_before_and_in_the_transcript() {
    let mut pty = shell().size(100, 24).file("logo.png", png(40, 30)).open();
    pty.line("look at @logo.png");
    let chip = "picture logo.png: 40x30, ";
    pty.until("the chip", |s| {
        s.contains(&format!("attached {chip}")) && s.contains("as it is, about 100 tokens")
    });
    pty.until_prompt("");
    pty.send(CTRL_T);
    pty.until("the transcript", |s| {
        s.contains("transcript  turn 1 of 1") && s.contains(&format!("▸ {chip}"))
    });
    pty.send("q");
    pty.until_prompt("");
}

#[test]
fn line_by_line_lists_and_texts_are_numbered_and_a_number_answers() {
    let mut pty = shell().size(100, 40).arg("--linear").file("notes.txt", "one\ntwo\n").open();
    pty.line("show notes.txt");
    pty.until("the end of the turn", |s| s.contains("done: the turn"));
    pty.until_prompt("");
    pty.line("/transcript");
    pty.until("its entries", |s| {
        s.contains("1: turn 1, you: show notes.txt") && s.contains("Enter leaves: ")
    });
    pty.send("3\r");
    let asked = "Enter leaves: ";
    pty.until("the call", |s| s.contains("path notes.txt") && s.contains("end of 3"));
    pty.until("the question after it", |s| s.matches(asked).count() == 2);
    pty.send("view 3\r");
    pty.until("the file", |s| {
        s.contains("notes.txt: 2 lines") && s.contains("1, seen in turn 1: one") && s.contains("`q` leaves: ")
    });
    pty.send("q\r");
    pty.until("the transcript again", |s| s.matches("transcript: 1 turn, 4 entries").count() == 2);
    pty.until("the question after it", |s| s.matches(asked).count() == 3);
    pty.send("\r");
    pty.until_prompt("");
    pty.line("/theme");
    pty.until("the themes", |s| {
        s.contains("Themes: ") && s.matches("a number, words to search").count() == 1
    });
    pty.send("auto\r");
    pty.until("what matches", |s| {
        s.contains("1: auto, light or dark") && s.matches("a number, words to search").count() == 2
    });
    pty.send("1\r");
    pty.until("the theme", |s| s.contains("the theme is auto until this shell ends"));
    pty.until_prompt("");
    pty.send(CTRL_P);
    pty.until("the files", |s| {
        s.contains("Files: 1") && s.contains("1: notes.txt") && s.matches("or Enter to leave").count() == 3
    });
    pty.send("1\r");
    pty.until_prompt("@notes.txt ");
    assert!(!sent(&pty).contains("\x1b[?1049h"), "no screen of its own");
}

/// Text that would act on a terminal, and marks without end.
fn hostile() -> String {
    let tower: String = std::iter::once('e').chain(std::iter::repeat_n('\u{301}', 100_000)).collect();
    format!("\x1b]0;owned\x07\x1b]52;c;aGk=\x07\x1b[2J\x1b[?1000h\u{9b}?1002h\x1bcquiet\u{202e}rtl {tower}")
}

#[test]
fn hostile_text_changes_no_title_no_clipboard_and_no_mode_wherever_it_is_shown() {
    let text = format!("the head\n{}\n", hostile());
    let pty = shell().size(100, 30).arg("--mode").arg("ask").file("bad.txt", &text);
    let mut pty = pty.file("a\x1b]0;owned\x07\u{202e}.txt", "x\n").open();
    // What a tool gave, while it is told and in the transcript.
    pty.line("show bad.txt");
    pty.until("the answer", |s| s.contains("✓ read bad.txt") && s.contains("the head"));
    pty.until_prompt("");
    pty.send(CTRL_T);
    pty.until("the transcript", |s| s.contains("transcript  turn 1 of 1"));
    pty.send("ZZ");
    pty.send("g/the head\r");
    pty.until("it, unfolded", |s| s.lines().any(|line| line.contains("the head") && !line.contains('/')));
    pty.send("q");
    pty.until_prompt("");
    // A file, a list of files.
    pty.line("/view bad.txt");
    pty.until("the file", |s| s.contains("bad.txt") && s.contains("1  the head"));
    pty.send("q");
    pty.until_prompt("");
    pty.send(CTRL_P);
    pty.until("the names", |s| s.contains("Files ❯") && s.contains("<U+202E>.txt"));
    pty.send("\x1b");
    pty.until_prompt("");
    // A difference, and a comment that was pasted.
    pty.line("run echo more >> bad.txt");
    pty.until("a question", |s| s.contains("apply?"));
    pty.answer("r");
    pty.until("the review", |s| s.contains(" hunks"));
    pty.answer("c");
    pty.until("a comment to be typed", |s| s.contains("comment:"));
    pty.send("\x1b[200~said \x1b]0;owned\x07\x1b[?1003h\u{202e}so\x1b[201~");
    pty.until("what was pasted", |s| s.contains("comment: said "));
    pty.send("\r");
    pty.until("the comment", |s| s.contains("» said "));
    pty.send("q");
    pty.until("the question again", |s| s.contains("Keep pending"));
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    let raw = sent(&pty);
    for bad in [
        "\x1b]0;owned",
        "\x1b]52;",
        "\x1b[?1000h",
        "\x1b[?1002h",
        "\x1b[?1003h",
        "\x1bc",
        "\u{9b}",
        "\u{202e}",
    ] {
        assert!(!raw.contains(bad), "{bad:?} was written");
    }
    assert!(!raw.contains(&"\u{301}".repeat(20)), "a tower of marks was written");
}
