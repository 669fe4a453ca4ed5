//! The menu under the line while `/` or `@` is typed, and Esc Esc: the real binary in a terminal.

use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;
use crate::support::require::require;
use std::time::Duration;

pub(super) const UP: &str = "\x1b[A";

pub(super) const DOWN: &str = "\x1b[B";

pub(super) const ESC: &str = "\x1b";

/// Longer than keys may take to be one burst.
fn pause() {
    std::thread::sleep(Duration::from_millis(120));
}

pub(super) fn press(pty: &mut Pty, key: &str) {
    pause();
    pty.send(key);
}

fn files() -> Start {
    shell().file("src/deep/width.rs", "x").file("README.md", "y").file("two words.txt", "z")
}

/// The rows of the screen that have something in them.
fn rows(pty: &Pty) -> Vec<String> {
    pty.screen().lines().map(|line| line.trim_end().to_string()).filter(|line| !line.is_empty()).collect()
}

/// The prompt and what is below it.
fn from_prompt(pty: &Pty) -> Vec<String> {
    let rows = rows(pty);
    let at = rows.iter().rposition(|row| row.contains("placet [")).unwrap_or(0);
    rows[at..].to_vec()
}

fn no_menu(pty: &Pty) {
    pty.until("no menu", |s| !s.contains('❯'));
    assert!(!pty.transcript().contains('❯'), "{}", pty.transcript());
}

#[test]
fn typed_commands_are_listed_under_the_line_with_what_they_do() {
    let mut pty = shell().arg("--mode").arg("ask").open();
    pty.by_hand("/mo");
    pty.until("the menu", |s| s.contains("❯ /mode") && !s.contains("/theme"));
    insta::assert_snapshot!(from_prompt(&pty).join("\n"), @"
    ◆ placet [a] > /mode
    ❯ /mode        show or change the mode
      /model       show or change the model
      /permission  rules and grants; check a command against them
    ");
    press(&mut pty, DOWN);
    pty.until("the next row", |s| s.contains("❯ /model"));
    press(&mut pty, UP);
    pty.until("the row before", |s| s.contains("❯ /mode "));
    // From the first row to the last one, and back.
    press(&mut pty, UP);
    pty.until("the last row", |s| s.contains("❯ /permission"));
    press(&mut pty, DOWN);
    pty.until("the first row", |s| s.contains("❯ /mode "));
    press(&mut pty, "\x7f");
    pty.until("more rows", |s| s.contains("/theme") && s.contains("❯ /mcp "));
    pty.by_hand("ode w");
    pty.until("the modes", |s| s.contains("\n  write ") && !s.contains('❯'));
    press(&mut pty, "\t");
    pty.until_prompt("/mode write");
    press(&mut pty, "\r");
    pty.until("the mode", |s| s.contains("placet [w]"));
    no_menu(&pty);
}

/// Story: of 53 commands seven were listed although ten rows were free, and none of them was /review, /undo or /apply.
#[test]
fn what_is_needed_most_is_listed_first_in_as_many_rows_as_there_is_room_for() {
    let names = |pty: &Pty| -> Vec<String> {
        let word = |row: &String| row.trim_start_matches(['❯', ' ']).split(' ').next().unwrap().to_string();
        from_prompt(pty).iter().skip(1).map(word).collect()
    };
    let mut pty = shell().arg("--provider").arg("offline").open();
    pty.by_hand("/");
    pty.until("the menu", |s| s.contains("❯ /review") && s.contains("more"));
    let first =
        ["/review", "/undo", "/apply", "/changes", "/resume", "/rewind", "/help", "/mode", "/cd", "/plan"];
    assert_eq!(names(&pty)[..10], first);
    assert_eq!(names(&pty).len(), 12, "{}", pty.screen());
    // At the bottom of the screen the menu moves the prompt up, and closed it leaves the prompt where it is.
    press(&mut pty, ESC);
    press(&mut pty, "\x03");
    pty.until_prompt("");
    pty.line("!seq 30");
    pty.until("the last row", |_| pty.cursor().1 == 23);
    pty.by_hand("/");
    pty.until("the menu", |s| s.contains("❯ /review") && s.contains("more") && s.contains("\n30\n"));
    assert_eq!((names(&pty).len(), pty.cursor().1), (12, 11), "{}", pty.screen());
    // Without a model nothing can be sent.
    let mut pty = shell().open();
    pty.by_hand("/");
    pty.until("the menu", |s| s.contains("❯ /setup") && s.contains("\n  /review "));
}

#[test]
fn enter_runs_a_command_of_which_the_beginning_was_typed() {
    let mut pty = shell().open();
    pty.by_hand("/stat");
    pty.until("the menu", |s| s.contains("❯ /status"));
    press(&mut pty, "\r");
    pty.until("the status", |s| s.contains("workspace") && s.contains("> /status"));
    pty.until_prompt("");
    no_menu(&pty);
    // The letters are somewhere in the name: it is shown before it runs.
    pty.by_hand("/cst");
    pty.until("the menu", |s| s.contains("> /cst") && s.contains("❯ /cost"));
    press(&mut pty, "\r");
    pty.until("the name", |s| s.contains("> /cost"));
    assert!(!pty.screen().contains("no request was sent yet"));
    press(&mut pty, "\r");
    pty.until("the cost", |s| s.contains("no request was sent yet"));
    no_menu(&pty);
    // A command that needs an argument waits for it.
    pty.by_hand("/titl");
    pty.until("the menu", |s| s.contains("❯ /title"));
    press(&mut pty, "\r");
    pty.until("the argument", |s| s.contains("> /title TEXT"));
    pty.by_hand("a name");
    press(&mut pty, "\r");
    pty.until_prompt("");
    no_menu(&pty);
}

/// Story: Enter after `/apply .git` took `.github/x`, and after a directory only the first file in it.
#[test]
fn a_path_that_is_typed_whole_is_what_enter_takes() {
    if !has_view() {
        return;
    }
    let mut pty = shell().arg("--mode").arg("ask").arg("--provider").arg("offline").open();
    pty.line("run mkdir d d.more; echo 1 > d/a; echo 2 > d/b; echo 3 > d.more/c");
    pty.until("the question", |s| s.contains("apply?"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±3 >"));
    pty.by_hand("/apply d");
    pty.until("the menu", |s| s.contains("d.more/c") && s.contains("d/a"));
    press(&mut pty, "\r");
    pty.until("the apply", |s| s.contains("applied changes to 2 files"));
    assert!(pty.exists("d/a") && pty.exists("d/b") && !pty.exists("d.more"), "{}", pty.screen());
    // The beginning of a path is not taken for a path, and Tab completes it.
    pty.until("the prompt", |s| s.contains("±1 >"));
    pty.by_hand("/apply d.m");
    pty.until("the menu", |s| s.contains("\n  d.more\n") && !s.contains('❯'));
    press(&mut pty, "\r");
    pty.until("the refusal", |s| s.contains("nothing is pending at `d.m`"));
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.by_hand("/apply d.m");
    pty.until("the menu", |s| s.contains("/apply d.more\n  d.more\n"));
    press(&mut pty, "\t");
    pty.until("the rest", |s| s.trim_end().ends_with("±1 > /apply d.more"));
    press(&mut pty, "\r");
    pty.until("the apply", |s| s.contains("applied changes to 1 file"));
    assert!(pty.exists("d.more/c"));
}

/// Story: Enter after `/config ui` ran `/config` with the first setting of the list.
#[test]
fn enter_after_an_argument_sends_what_was_typed_unless_the_person_moved_in_the_menu() {
    let mut pty = shell().size(100, 40).open();
    pty.by_hand("/config ui.edit");
    pty.until("the menu", |s| s.contains("/config ui.edit_mode") && s.contains("\n  ui.edit_mode"));
    press(&mut pty, "\r");
    pty.until("the prompt again", |s| s.contains("> /config ui.edit\n") && s.trim_end().ends_with(" >"));
    pty.until("the settings", |s| s.contains("ui.edit_mode  ") || s.contains("ui.editor"));
    no_menu(&pty);
    // A row that the person moved to is taken.
    pty.by_hand("/mode ");
    pty.until("the modes", |s| s.contains("\n  none ") && s.contains("\n  ask "));
    for row in ["❯ none ", "❯ read ", "❯ ask "] {
        press(&mut pty, DOWN);
        pty.until("the next row", |s| s.contains(row));
    }
    press(&mut pty, "\r");
    pty.until("the mode", |s| s.contains("placet [a]"));
    // What is no row is sent as well, and the command refuses it.
    pty.by_hand("/mode wri");
    pty.until("the menu", |s| s.contains("\n  write ") && !s.contains('❯'));
    press(&mut pty, "\r");
    pty.until("the refusal", |s| s.contains("unknown mode `wri`"));
    // What is typed in full is the first row, and marked: Enter and it are the same.
    pty.by_hand("/help plan");
    pty.until("the menu", |s| s.contains("❯ plan "));
    press(&mut pty, "\r");
    pty.until("the help", |s| s.contains("/plan on"));
    no_menu(&pty);
    // The name of a command is whole: nothing longer is taken.
    pty.by_hand("/mode");
    pty.until("the menu", |s| s.contains("❯ /mode "));
    press(&mut pty, "\r");
    pty.until("the mode", |s| s.contains("the mode is ask"));
    no_menu(&pty);
}

/// Story: the menu wrote a sign for the line break in a name, and `/apply` looked for a name with that sign.
#[test]
fn a_name_with_a_line_break_or_a_quote_is_applied_from_the_menu() {
    if !has_view() {
        return;
    }
    let mut pty = shell().size(100, 40).arg("--mode").arg("ask").arg("--provider").arg("offline").open();
    pty.line(r#"run echo 1 > "$(printf 'zq\nb')"; echo 2 > "it's so"; echo 3 > plain"#);
    pty.until("the question", |s| s.contains("apply?") && s.contains("zq␊b"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±3 >"));
    for (typed, row, line, file) in
        [("zq", "zq␊b", "/apply zq␊b", "zq\nb"), ("it", "it's so", "/apply \"it's so\"", "it's so")]
    {
        pty.by_hand(&format!("/apply {typed}"));
        pty.until("the menu", |s| s.contains(&format!("\n  {row}")));
        press(&mut pty, "\t");
        pty.until("the name", |s| s.trim_end().ends_with(&format!("> {line}")));
        press(&mut pty, "\r");
        pty.until("the apply", |s| s.contains(&format!("> {line}\n")) && s.trim_end().ends_with(" >"));
        assert!(pty.exists(file), "{}", pty.screen());
    }
    pty.until("the rest", |s| s.contains("±1 >"));
    assert!(!pty.exists("plain"));
}

#[test]
fn mentioned_files_are_listed_by_the_rules_of_the_workspace() {
    let mut pty = files().file(".gitignore", "target/\n").file("target/width.o", "o").open();
    pty.by_hand("see @wid");
    pty.until("the file", |s| s.contains("❯ src/deep/width.rs"));
    assert!(!pty.screen().contains("width.o"));
    press(&mut pty, "\t");
    pty.until_prompt("see @src/deep/width.rs");
    pty.by_hand("and @two");
    pty.until("the file", |s| s.contains("❯ two words.txt"));
    press(&mut pty, "\r");
    pty.until_prompt("see @src/deep/width.rs and @\"two words.txt\"");
    // A directory goes on.
    pty.by_hand("@src");
    pty.until("the directory", |s| s.contains("❯ src/ "));
    press(&mut pty, "\t");
    // What is in it, and the rest of its first name behind the cursor; the directory itself is not counted.
    pty.until("what is in it", |s| s.contains("@src/deep/\n❯ src/deep/ ") && !s.contains(" more"));
    pty.send("\x03");
    pty.until_prompt("");
    no_menu(&pty);
    // What is typed out and exists is sent as it is.
    pty.by_hand("show @README.md");
    pty.until("the file", |s| s.contains("❯ README.md"));
    press(&mut pty, "\r");
    pty.until("the answer", |s| s.matches("placet [").count() > 1);
    no_menu(&pty);
}

/// Story: a commit was pending, and four of eleven rows of the menu were files below `.git/objects`.
#[test]
fn files_that_git_writes_are_not_offered_while_they_are_pending() {
    if !has_view() || !require("git") {
        return;
    }
    let start = shell().size(100, 40).arg("--mode").arg("ask").arg("--provider").arg("offline");
    let mut pty = start.file("a.txt", "first\n").open();
    pty.line("!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made");
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    pty.line("run echo two > new.txt; git add new.txt; git commit -qm Second");
    pty.until("the question", |s| s.contains("apply?"));
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("[a] ±"));
    pty.by_hand("@");
    pty.until("the menu", |s| s.contains("new.txt") && s.contains("pending") && s.contains("a.txt"));
    assert!(!pty.screen().contains(".git/"), "{}", pty.screen());
}

#[test]
fn escape_closes_the_menu_and_keeps_the_text() {
    let mut pty = files().open();
    pty.by_hand("see @wid");
    pty.until("the menu", |s| s.contains('❯'));
    press(&mut pty, ESC);
    no_menu(&pty);
    pty.until_prompt("see @wid");
    pty.by_hand("th");
    pty.until_prompt("see @width");
    no_menu(&pty);
    press(&mut pty, "\t");
    pty.until("the menu again", |s| s.contains("❯ src/deep/width.rs"));
    // Moving the cursor closes it, too.
    press(&mut pty, "\x1b[D");
    no_menu(&pty);
    press(&mut pty, "\x1b[F");
    press(&mut pty, "\x15");
    pty.line("/mode");
    pty.until_prompt("");
    pty.by_hand("@READ");
    pty.until("the menu of the next word", |s| s.contains("❯ README.md"));
    press(&mut pty, "\x12");
    pty.until("the search", |s| s.contains("reverse-i-search"));
    pty.by_hand("mod");
    pty.until("what is found", |s| s.contains("`mod': /mode"));
    no_menu(&pty);
}

#[test]
fn a_paste_opens_and_chooses_nothing() {
    let mut pty = files().arg("--provider").arg("offline").open();
    for text in ["/mod", "see @wid"] {
        pty.send(&format!("\x1b[200~{text}\x1b[201~"));
        pty.until("the paste", |s| s.contains(&format!("> {text}")));
        pause();
        no_menu(&pty);
        press(&mut pty, "\r");
        let why = if text == "/mod" { "unknown command /mod" } else { "nothing was sent" };
        pty.until("the error", |s| s.contains(why));
        press(&mut pty, "\x03");
        pty.until_prompt("");
    }
    // A terminal that does not mark a paste: its Enter chooses nothing, whatever is listed.
    pty.send("see @READ\r");
    pty.until("the error", |s| s.contains("@READ: "));
    press(&mut pty, "\x03");
    pty.until_prompt("");
    // A paste into an open menu closes it.
    pty.by_hand("see @src/de");
    pty.until("the menu", |s| s.contains('❯'));
    pty.send("\x1b[200~ep/nothing\x1b[201~");
    no_menu(&pty);
    pty.until_prompt("see @src/deep/nothing");
    press(&mut pty, "\r");
    pty.until("the error", |s| s.contains("@src/deep/nothing: "));
}

#[test]
fn an_answer_of_the_terminal_leaves_an_open_menu_as_it_is() {
    const ANSWER: &str = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";
    let mut pty = files().variable("COLORTERM", "truecolor").open();
    pty.by_hand("/mod");
    pty.until("the menu", |s| s.contains("❯ /mode") && !s.contains("/permission"));
    let before = rows(&pty);
    pty.send(ANSWER);
    pause();
    let (first, second) = ANSWER.split_at(9);
    pty.send(first);
    pause();
    pty.send(second);
    pause();
    assert_eq!(rows(&pty), before);
    press(&mut pty, "\x03");
    pty.until_prompt("");
    // In the middle of a paste.
    pty.send("\x1b[200~see @w");
    pty.send(ANSWER);
    pty.send("id\x1b[201~");
    pty.until_prompt("see @wid");
    no_menu(&pty);
}

#[test]
fn nothing_of_the_menu_stays_where_the_window_is_small_or_changes() {
    let mut pty = files().size(40, 10).open();
    pty.line("!seq 20");
    pty.until("the last row", |_| pty.cursor().1 == 9);
    pty.by_hand("/");
    pty.until("the menu", |s| s.contains("❯ /setup") && s.contains("more"));
    assert!(rows(&pty).iter().all(|row| row.chars().count() <= 40), "{:?}", rows(&pty));
    press(&mut pty, ESC);
    no_menu(&pty);
    press(&mut pty, "\x03");
    // The line fills its row, and then one more.
    let prompt = 15;
    for more in [0, 1, 2] {
        let words = "x".repeat(40 - prompt - 3 + more);
        pty.send(&words);
        pty.by_hand(" @w");
        pty.until("the menu", |s| s.contains("❯ src/deep/width.rs"));
        let screen = rows(&pty);
        let menu = screen.iter().position(|row| row.contains("❯ src/")).unwrap();
        assert!(screen[menu - 1].ends_with("@w") || screen[menu - 1].ends_with('w'), "{more} {screen:?}");
        pty.by_hand("i");
        pty.until("the next letter", |s| s.replace('\n', "").contains("@wi"));
        press(&mut pty, "\x03");
        no_menu(&pty);
    }
    pty.resize(80, 24);
    pty.send("one");
    press(&mut pty, "\x1b\r");
    pty.by_hand("two @wid");
    pty.until("the menu", |s| s.contains("two @wid\n❯ src/deep/width.rs"));
    pty.resize(30, 24);
    pty.until("the narrow menu", |s| s.contains("two @wid\n❯ src/deep/width.rs"));
    pty.resize(30, 5);
    pause();
    pty.resize(80, 24);
    pty.until("the menu", |s| s.contains("two @wid\n❯ src/deep/width.rs"));
    assert_eq!(pty.screen().matches('❯').count(), 1, "{}", pty.screen());
    press(&mut pty, "\x1b[A");
    press(&mut pty, "\x03");
    no_menu(&pty);
}

#[test]
fn a_screen_and_a_line_above_leave_nothing_of_the_menu() {
    let mut pty = files().open();
    pty.by_hand("see @wid");
    pty.until("the menu", |s| s.contains('❯'));
    press(&mut pty, "\x14");
    pty.until("the screen", |s| !s.contains("see @wid") || s.contains("no messages"));
    press(&mut pty, "q");
    pty.until("the line", |s| s.contains("see @wid"));
    no_menu(&pty);
}

#[test]
fn names_of_files_act_on_nothing() {
    let mut pty = shell().file("bad\x1b[2J\u{202e}name.txt", "x").file("◆ placet.txt", "x").open();
    pty.by_hand("see @bad");
    pty.until("the name", |s| s.contains("❯ bad"));
    assert!(pty.screen().contains("␛[2J") && !pty.screen().contains('\u{202e}'), "{}", pty.screen());
    press(&mut pty, "\t");
    pty.until("the completed name", |s| s.contains("see @bad␛[2J<U+202E>name.txt"));
    press(&mut pty, "\r");
    pty.until("the answer", |s| s.matches("placet [").count() > 1);
    assert!(!pty.screen().contains("error:"), "{}", pty.screen());
    assert!(!pty.raw().windows(4).any(|bytes| bytes == b"\x1b[2J"));
}

#[test]
fn menus_need_no_colour_and_can_be_switched_off() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm")] {
        let mut pty = files().variable(name, value).open();
        pty.by_hand("/mod");
        pty.until("the menu", |s| s.contains("❯ /mode"));
        press(&mut pty, "\x03");
        no_menu(&pty);
    }
    for options in [["--linear", "--quiet"], ["--set", "ui.menus=tab"]] {
        let options: Vec<&str> = options.into_iter().filter(|option| *option != "--quiet").collect();
        let mut pty = options.iter().fold(files(), |start, option| start.arg(option)).open();
        pty.by_hand("see @wid");
        pty.until_prompt("see @wid");
        no_menu(&pty);
        press(&mut pty, "\t");
        pty.until_prompt("see @src/deep/width.rs");
    }
}

/// Story: four of eleven rows were objects of a pending commit, `.git/objects/05/f521a3...`.
#[test]
fn the_files_of_a_pending_commit_are_listed_and_those_of_git_are_not() {
    if !has_view() || !require("git") {
        return;
    }
    let mut pty = files().arg("--mode").arg("ask").open();
    pty.line("run git init -q .; git config user.name A; git config user.email a@x; echo n > new.txt; git add new.txt; git commit -qm New");
    pty.until("the question", |s| s.contains("apply?") && s.contains("Keep pending"));
    pause();
    pty.answer("k");
    pty.until("the prompt", |s| s.contains("±") && !s.contains("waiting for you"));
    pause();
    pty.by_hand("@");
    pty.until("the list", |s| s.contains("new.txt") && s.contains("README.md"));
    pause();
    assert!(!pty.screen().contains(".git/"), "{}", pty.screen());
}

/// Story: at 40 columns the description of the marked command was cut, while other shells wrap it.
#[test]
fn the_description_of_the_marked_row_is_shown_whole() {
    let mut pty = shell().arg("--mode").arg("ask").size(40, 24).open();
    pty.by_hand("/mo");
    pty.until("the menu", |s| s.contains("❯ /mode"));
    press(&mut pty, UP);
    pty.until("the last row", |s| s.contains("❯ /permission"));
    insta::assert_snapshot!(from_prompt(&pty).join("\n"), @"
    ◆ placet [a] > /mo
      /mode        show or change the mode
      /model       show or change the model
    ❯ /permission  rules and grants; check
                   a command against them
    ");
    press(&mut pty, ESC);
    no_menu(&pty);
}

/// Story: the help was a file of numbered lines, and Enter spoke of checks.
#[test]
fn help_that_does_not_fit_is_a_text_without_numbers() {
    let mut pty = shell().arg("--mode").arg("ask").size(60, 16).open();
    pty.line("/help");
    pty.until("the help", |s| s.contains("Start here") && s.contains("q close"));
    let first = pty.screen().lines().next().unwrap().trim_end().to_string();
    assert_eq!(first, "❯ Start here");
    assert!(!pty.screen().contains("help.txt"), "{}", pty.screen());
    pty.send("\r");
    pty.until("what Enter says", |s| s.contains("nothing to open in this line"));
    pty.send("/undo\r");
    pty.until("the match", |s| s.contains("/undo  match 1 of"));
    // The page of the keys begins at its beginning, and no row of it begins at the margin.
    pty.send("?");
    pty.until("the keys", |s| s.contains("Viewer") && s.contains("others close"));
    let screen = pty.screen();
    let rows = screen.lines().skip(1).take(13);
    let is_right = |row: &str| row.starts_with("  ") || row.is_empty() || row == "Moving";
    assert!(screen.starts_with("Viewer") && rows.clone().all(is_right), "{screen}");
    pty.send("x");
    pty.send("q");
    pty.until_prompt("");
}
