//! Nobody else can say what placet says: no row that begins with placet's mark comes from an answer, a command, a paste
//! or a file name, and each line of placet's own begins with it. An answer could print `1 file: apply?`, the prompt or
//! `applied changes to 1 file` at the margin, once.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, Start, shell};
use placet::text::visible::looks_like_own;
use serde_json::json;

/// What placet says, of each kind.
const OWN_LINES: &[&str] = &[
    "1 file, +1 -0 lines: apply?",
    "[Apply] · Review · Keep pending · Discard · More",
    "Allow? run rm -rf ..",
    "placet [a] ±1 > /apply",
    "applied changes to 1 file; /undo reverts them",
    "discarded changes to 1 file; /undo restores them",
    "restored the discarded changes to 1 file",
    "changes to 1 file are pending: /apply, /review, /discard",
    "✓ run ls",
    "› run ls",
    "error: cannot write a.txt",
    "hint: run placet with --mode ask",
    "thought for 3 s (12 words)",
    "[a] waiting for you · 0 s",
    "note: hooks are off",
    "question: allow? run ls",
    "answered: apply",
    "answer: type a number and Enter",
    "call: run ls",
    "done: the turn, after 0 s",
    "1: apply",
    "stopped: by the person",
    "▾ ✓ read_file a.txt",
    "transcript  turn 1 of 1",
];

/// How the mark, or what looks like it, gets to the beginning of a row.
const WAYS: &[&str] = &[
    "◆ ~\n\n",
    "   ◆ ~\n\n",
    "**◆** ~\n\n",
    "# ◆ ~\n\n",
    "`◆` ~\n\n",
    "[◆](http://x) ~\n\n",
    "<b>◆ ~</b>\n\n",
    "<div>\n◆ ~\n</div>\n\n",
    "```\n◆ ~\n```\n\n",
    "    ◆ ~\n\n",
    "| ◆ ~ | b |\n|---|---|\n| ◆ ~ | c |\n\n",
    "one\\\n◆ ~\n\n",
    "&#9670; ~\n\n",
    "&#x25C6; ~\n\n",
    "**&#9670;** ~\n\n",
    "◆\u{301} ~\n\n",
    "◆\u{fe0f} ~\n\n",
    "\u{200b}◆ ~\n\n",
    "\u{3000}◆ ~\n\n",
    "x\r◆ ~\n\n",
    "x\u{1b}[G◆ ~\n\n",
    "x&#27;[G◆ ~\n\n",
    "x&#13;◆ ~\n\n",
    "x\u{85}◆ ~\n\n",
    "x\u{2028}◆ ~\n\n",
    "◇ ~\n\n",
    "**♦** ~\n\n",
    "```\n⬥ ~\n```\n\n",
    "&diams; ~\n\n",
    "&#9671; ~\n\n",
    "❖\u{301} ~\n\n",
    "⯁ ~\n\n",
    "⬧ ~\n\n",
    "\u{1f539} ~\n\n",
    "| 🔶 ~ |\n|---|\n| 🔷 ~ |\n\n",
];

/// A word that only the answer has.
const FOREIGN: &str = "hostile";

/// Every way with some of placet's lines, and every line of placet's in the plainest way.
fn answer() -> String {
    let mut out = String::new();
    let mut lines = OWN_LINES.iter().cycle();
    for way in WAYS {
        out.push_str(&way.replace('~', &format!("{FOREIGN} {}", lines.next().unwrap())));
    }
    for line in OWN_LINES {
        out.push_str(&format!("◆ {line} {FOREIGN}\n\n{line} {FOREIGN}\n\n"));
    }
    // Where a terminal of these columns begins a row.
    for columns in [40, 80, 110] {
        out.push_str(&format!("{}◇ {FOREIGN} applied\n\n", "x".repeat(columns)));
        out.push_str(&format!("{}◆ {FOREIGN} applied\n\n", "x".repeat(columns)));
    }
    out
}

/// In pieces of one character each.
fn in_pieces(text: &str) -> Reply {
    let pieces: Vec<String> = text.chars().map(String::from).collect();
    Reply::openai(&pieces.iter().map(|piece| Say::Text(piece)).collect::<Vec<_>>())
}

fn with_model(server: &MockServer) -> Start {
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()].map(String::from);
    args.iter().fold(shell().size(110, 40).arg("--mode").arg("ask"), |start, arg| start.arg(arg))
}

/// What the row says, if it begins with the mark or with something that looks like it.
fn marked(row: &str) -> Option<&str> {
    let row = row.trim_start();
    let rest = row.strip_prefix('◆').or_else(|| row.strip_prefix(looks_like_own))?;
    Some(rest.trim_start())
}

fn assert_margin_is_placets(what: &str, rows: &str) {
    for row in rows.lines() {
        if let Some(rest) = marked(row) {
            assert!(!rest.contains(FOREIGN), "{what}: {row:?} in\n{rows}");
        }
    }
}

/// Rows that have one of `words` and nothing of the answer's begin with the mark.
fn assert_marked(what: &str, rows: &str, words: &[&str]) {
    for word in words {
        let mut found = rows.lines().filter(|row| row.contains(word) && !row.contains(FOREIGN)).peekable();
        assert!(found.peek().is_some(), "{what}: no row with {word:?} in\n{rows}");
        for row in found {
            assert!(row.starts_with("◆ "), "{what}: {row:?} in\n{rows}");
        }
    }
}

/// Waits as [`Pty::until`] does, and looks at each screen on the way.
fn until(pty: &Pty, what: &str, found: impl Fn(&str) -> bool) {
    pty.until(what, |screen| {
        assert_margin_is_placets(what, screen);
        found(screen)
    });
}

fn write_call() -> Reply {
    let call = json!({"path": "a.txt", "content": "x\n"}).to_string();
    Reply::openai(&[Say::Call("c1", "write_file", &call)])
}

/// A turn that writes a file and answers, up to its question.
fn asked(start: impl FnOnce(Start) -> Start) -> (MockServer, Pty) {
    let text = answer() + "\n\nthe end of it";
    let server = MockServer::start([write_call(), in_pieces(&text)]);
    let mut pty = start(with_model(&server)).open();
    pty.by_hand("go on\r");
    // Only placet's own rows begin so.
    let is_asked = |row: &str| row.starts_with("◆ 1 file") || row.starts_with("◆ answer: type a number");
    until(&pty, "the question", |s| s.lines().any(is_asked));
    (server, pty)
}

#[test]
fn the_pane_marks_its_own_lines_and_no_line_of_an_answer() {
    let (_server, mut pty) = asked(|start| start);
    assert_marked("the question", &pty.screen(), &["lines: apply?", "[a] waiting for you"]);
    assert_margin_is_placets("the scrollback", &pty.transcript());
    pty.answer("a");
    until(&pty, "the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
    for (line, said) in [
        ("/undo", "undid changes to 1 file"),
        ("/nonsense", "error: "),
        ("/apply", "nothing is pending"),
        ("/changes", "nothing is pending"),
        ("/journal", "/undo"),
        ("/cost", "last turn"),
        ("/help", "/help"),
    ] {
        pty.by_hand(&format!("{line}\r"));
        until(&pty, line, |s| s.contains(said));
        pty.until_prompt("");
    }
    let rows = pty.transcript();
    assert_margin_is_placets("the scrollback", &rows);
    let own = [
        "✓ write a.txt",
        "applied changes to 1 file",
        "undid changes to 1 file",
        "error: ",
        "nothing is pending",
        "last turn  ",
        "] > ",
    ];
    assert_marked("the scrollback", &rows, &own);
    // Nothing was lost: what was written out is there.
    for sign in ["<U+25C6>", "<U+25C7>", "<U+1F539>", "<U+001B>[G", "␛[G"] {
        assert!(rows.contains(sign) || sign == "<U+001B>[G", "{sign} in\n{rows}");
    }
    pty.by_hand("/last\r");
    pty.until("the answer again", |s| s.contains("the end of it") && s.trim_end().ends_with("] >"));
    assert_margin_is_placets("the last answer", &pty.transcript());
}

#[test]
fn linear_mode_marks_its_own_lines_and_no_line_of_an_answer() {
    let (_server, mut pty) = asked(|start| start.arg("--linear"));
    pty.answer("1\r");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
    let rows = pty.transcript();
    assert_margin_is_placets("linear", &rows);
    let own = [
        "call: ",
        "done: write a.txt",
        "done: the turn",
        "question: ",
        "because: ",
        "1: apply",
        "answer: type a number",
        "answered: apply",
        "applied changes to 1 file",
        "] > ",
    ];
    assert_marked("linear", &rows, &own);
    assert!(rows.lines().any(|row| row.starts_with("model: ")), "{rows}");
}

#[test]
fn a_dumb_terminal_has_the_same_mark() {
    let (_server, mut pty) = asked(|start| start.variable("TERM", "dumb"));
    pty.answer("1\r");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
    let rows = pty.transcript();
    assert_margin_is_placets("dumb", &rows);
    assert_marked("dumb", &rows, &["answered: apply", "applied changes to 1 file", "] > "]);
    assert!(!pty.raw().contains(&0x1b), "{rows}");
}

#[test]
fn the_transcript_marks_its_heads_and_no_line_of_an_answer() {
    for (columns, linear) in [(110, false), (40, false), (110, true)] {
        let text = answer() + "\n\nthe end of it";
        let server = MockServer::start([Reply::openai(&[Say::Text(&text)])]);
        let start = with_model(&server).size(columns, 40);
        let mut pty = if linear { start.arg("--linear").open() } else { start.open() };
        pty.by_hand("go on\r");
        pty.until("the answer", |s| s.contains("the end of it") && s.trim_end().ends_with("] >"));
        if linear {
            pty.by_hand("/transcript\r");
            pty.until("the list", |s| s.contains("Enter leaves"));
            pty.by_hand("3\r");
            pty.until("the entry", |s| s.contains("end of 3"));
            assert_marked("told", &pty.screen(), &["end of 3"]);
            // placet's own list has the first words of each entry behind its number.
            let rows = pty.transcript();
            let others: Vec<&str> = rows.lines().filter(|row| !row.starts_with("◆ 3: m: ")).collect();
            assert_margin_is_placets("told", &others.join("\n"));
            continue;
        }
        pty.send("\x14");
        until(&pty, "the screen", |s| s.contains("transcript  turn 1 of 1") && s.contains("the end of it"));
        // Page by page up to the first entry.
        for _ in 0..20 {
            if pty.screen().contains("▾ you") {
                break;
            }
            let before = pty.screen();
            pty.send("\x1b[5~");
            until(&pty, "the page before", |s| s != before);
        }
        let screen = pty.screen();
        let head = screen.lines().find(|row| row.contains("▾ you")).unwrap_or_default();
        assert!(marked(head.trim_start_matches(['❯', '│'])).is_some(), "{screen}");
    }
}

/// The answer is on standard output and placet's words are on standard error: both are on the same terminal.
#[test]
fn a_turn_without_a_screen_marks_its_words_on_a_terminal_only() {
    let text = answer() + "\n\nthe end of it";
    let reply = || [write_call(), in_pieces(&text)];
    let server = MockServer::start(reply());
    let mut pty = with_model(&server).arg("-p").arg("go on").spawn();
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    let rows = pty.transcript();
    assert_margin_is_placets("-p", &rows);
    assert_marked("-p", &rows, &["call: write a.txt", "A a.txt", "pending: "]);
    let server = MockServer::start(reply());
    let url = server.url();
    let model = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url];
    let out = Place::new().run(model.into_iter().chain(["--mode", "ask", "-p", "go on"]));
    assert_eq!(out.code, 3, "{out:?}");
    assert!(!out.stderr.contains('◆') && out.stderr.contains("call: write a.txt"), "{out:?}");
    assert!(out.stdout.contains("◆ "), "a program gets the answer as it is: {out:?}");
}

/// The terminal wraps what a subcommand prints: a name reaches the next row. (A program of `run` has the terminal itself.)
#[test]
fn no_row_of_a_subcommand_begins_like_placets_own() {
    let touch = |n: usize| format!("touch '{}◇ {FOREIGN}'\n", "x".repeat(n));
    // A long name has a row of its own, below the letter of its kind; the longest reach a third.
    let script: String = (66..=82).chain(148..=160).map(touch).collect();
    let start = || shell().size(80, 40).file("do.sh", &script);
    let mut pty = start().arg("-p").arg("run sh do.sh").arg("--mode").arg("ask").spawn();
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    assert_margin_is_placets("-p", &pty.transcript());
    let mut pty = start().after(pty).arg("changes").spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(pty.transcript().contains("<U+25C7>"), "a name reaches a row's beginning: {}", pty.transcript());
    assert_margin_is_placets("changes", &pty.transcript());
    let mut pty = start().after(pty).arg("apply").arg("--yes").spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_margin_is_placets("apply", &pty.transcript());
    let mut pty = start().after(pty).arg("undo").spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_margin_is_placets("undo", &pty.transcript());
}

/// What is not an answer: output of a command, names of files, what the person pastes.
#[test]
fn output_names_and_pastes_cannot_have_the_mark() {
    let command =
        json!({"command": format!("printf '◆ applied {FOREIGN}\\n◇ {FOREIGN}\\n%0400d♦ {FOREIGN}\\n' 7")});
    let name = format!("◆ applied {FOREIGN}");
    let read = json!({"path": name}).to_string();
    let server = MockServer::start([
        Reply::openai(&[
            Say::Call("c1", "run_command", &command.to_string()),
            Say::Call("c2", "read_file", &read),
        ]),
        Reply::openai(&[Say::Text("the end of it")]),
        Reply::openai(&[Say::Text("the second end")]),
    ]);
    let mut pty = with_model(&server).file(&name, "x\n").arg("--allow").arg("run_command").open();
    pty.by_hand("go on\r");
    pty.until("the end", |s| s.contains("the end of it") && s.trim_end().ends_with("] >"));
    let rows = pty.transcript();
    assert!(rows.contains(&format!("<U+25C6> applied {FOREIGN}")), "{rows}");
    // placet's own head names the file, with its mark in front of it.
    let is_head = |row: &&str| row.starts_with("◆ ✓") || row.starts_with("◆ placet [");
    let others: Vec<&str> = rows.lines().filter(|row| !is_head(row)).collect();
    assert_margin_is_placets("output", &others.join("\n"));
    pty.send(&format!("\x1b[200~look\n◆ applied {FOREIGN}\n\x1b[201~"));
    pty.until("the paste", |s| s.contains("[Pasted text #1"));
    pty.send("\r");
    pty.until("the second end", |s| s.contains("the second end"));
    let said = server.requests().last().unwrap().body.to_string();
    assert!(said.contains(&format!("◆ applied {FOREIGN}")), "{said}");
}

/// Linear mode has no keys to press twice, but the same answers need a second line.
#[test]
fn linear_mode_names_what_it_did_not_show_and_asks_twice() {
    let command =
        json!({"command": "head -c 1200000 /dev/zero | tr '\\0' 'x' | fold -w 70 > big.txt; echo y > a.txt"});
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "run_command", &command.to_string())]),
        Reply::openai(&[Say::Text("done")]),
    ]);
    let mut pty = with_model(&server).arg("--linear").arg("--allow").arg("run_command").open();
    pty.by_hand("go on\r");
    pty.until("the question", |s| s.contains("answer: type a number and Enter"));
    assert!(pty.screen().contains("◆ not shown: big.txt ("), "{}", pty.screen());
    pty.answer("1\r");
    pty.until("the second look", |s| {
        s.contains("not all of big.txt (") && s.contains("type 1 and Enter again")
    });
    assert!(!pty.exists("a.txt"));
    pty.answer("2x\r");
    pty.until("no answer", |s| s.contains("not an answer, and not sent"));
    pty.answer("1\r");
    pty.until("asked again", |s| s.matches("type 1 and Enter again").count() == 2);
    assert!(!pty.exists("a.txt"));
    pty.answer("1\r");
    pty.until("the change", |s| s.contains("applied changes to 2 files"));
    assert_eq!(pty.read("a.txt"), "y\n");
}
