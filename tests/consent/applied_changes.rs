//! What stays on the screen after changes were applied, and the commands that show all of it.

use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use crate::support::require::require;

const CART: &str = "class Cart:\n    def total(self):\n        return 0\n";

fn ask_about(pty: &mut Pty, line: &str) {
    pty.line(line);
    pty.until("the question", |s| s.contains("lines: apply?"));
    pty.until("keys to count", |s| !s.contains("a moment"));
}

/// The screen from the last line that says what was applied.
fn below_applied(pty: &Pty) -> String {
    let screen = pty.screen();
    let at = screen.rfind("◆ applied changes").unwrap_or(0);
    screen[at..].lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_string()
}

/// Story: after the answer only `applied changes to 1 file` was left of a difference that the person had just read.
#[test]
fn the_difference_stays_after_each_way_to_apply_it() {
    let open = |columns| {
        let start = shell().size(columns, 40).arg("--mode").arg("ask").arg("--provider").arg("offline");
        start.file("cart.py", CART).open()
    };
    let edit = r#"replace "return 0" with "return 1" in cart.py"#;
    let mut pty = open(80);
    ask_about(&mut pty, edit);
    pty.answer("a");
    pty.until("the prompt", |s| s.trim_end().ends_with("[a] >") && s.contains("applied changes"));
    insta::assert_snapshot!(below_applied(&pty));

    let mut pty = open(40);
    ask_about(&mut pty, edit);
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
    pty.line("/apply cart.py");
    pty.until("the prompt", |s| s.trim_end().ends_with("[a] >") && s.contains("applied changes"));
    insta::assert_snapshot!(below_applied(&pty));

    // Of what was accepted in a review, and of nothing else.
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let start = shell().size(80, 40).arg("--mode").arg("ask").arg("--provider").arg("offline");
    let mut pty = start.file("a.txt", &text).open();
    ask_about(&mut pty, "run sed -i -e s/^line.5$/five/ -e s/^line.35$/thirty-five/ a.txt");
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/2 hunks"));
    for (key, decided) in [("a", "1/2 hunks"), ("r", "2/2 hunks")] {
        pty.answer(key);
        pty.until(decided, |s| s.contains(decided));
    }
    pty.answer("\r");
    pty.until("the summary", |s| s.contains("1 hunk in 1 file: will be discarded"));
    pty.answer("a");
    pty.until("the prompt", |s| s.contains("applied changes to 1 file") && s.contains("1 hunk rejected"));
    let below = below_applied(&pty);
    assert!(
        below.contains("M a.txt  +1 -1") && below.contains("+ five") && !below.contains("thirty"),
        "{below}"
    );
}

#[test]
fn the_setting_and_line_by_line_keep_less() {
    for (setting, has_row) in
        [("ui.applied=rows", true), ("ui.applied=line", false), ("ui.linear=true", false)]
    {
        let start = shell().size(80, 40).arg("--mode").arg("ask").arg("--provider").arg("offline");
        let mut pty = start.arg("--set").arg(setting).file("cart.py", CART).open();
        pty.line(r#"replace "return 0" with "return 1" in cart.py"#);
        pty.until("the question", |s| s.contains("apply?"));
        match setting {
            "ui.linear=true" => {
                // A number counts only where it was typed after the question.
                std::thread::sleep(std::time::Duration::from_millis(1500));
                pty.line("3");
            }
            _ => pty.answer("k"),
        }
        pty.until("the prompt", |s| s.trim_end().ends_with("±1 >"));
        pty.line("/apply .");
        pty.until("the prompt", |s| s.trim_end().ends_with("[a] >") && s.contains("applied changes"));
        let below = below_applied(&pty);
        assert_eq!(below.contains("M cart.py"), has_row, "{setting}: {below}");
        assert!(!below.contains("return 1"), "{setting}: {below}");
    }
}

/// What is too long to stay names a command, and that command shows it, also when the session has gone on.
#[test]
fn the_command_that_is_named_shows_what_was_left_out() {
    if !has_view() || !require("git") {
        return;
    }
    let start = shell().size(100, 60).arg("--mode").arg("ask").arg("--provider").arg("offline");
    let mut pty = start.file("long.txt", "first\n").file("bin", "\0\u{1}").open();
    pty.line("!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made");
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    ask_about(&mut pty, "run seq 100 200 >> long.txt; printf '\\0\\2' > bin; git commit -qam Second");
    pty.answer("a");
    pty.until("the second press", |s| s.contains("[Back]"));
    pty.answer("a");
    pty.until("the rows", |s| {
        s.contains("applied changes to 2 files") && s.contains("more lines: `/journal 1`")
    });
    let below = below_applied(&pty);
    assert!(below.contains("commit ") && below.contains("\"Second\" on main: 2 files"), "{below}");
    assert!(below.contains("M long.txt  +101 -0") && below.contains("+ 120"), "{below}");
    assert!(!below.contains("+ 190") && below.contains("M bin 2 to 2 bytes"), "{below}");
    pty.until("the prompt", |s| s.trim_end().ends_with("[a] >"));
    // It is another file by now.
    ask_about(&mut pty, "run echo last >> long.txt");
    pty.answer("a");
    pty.until("the rows", |s| s.contains("+ last"));
    pty.until("the prompt", |s| s.trim_end().ends_with("[a] >"));
    pty.line("/journal 1");
    pty.until("the whole difference", |s| s.contains("+200") && !s.contains("+last"));
    let shown = pty.transcript();
    let shown = &shown[shown.rfind("> /journal 1").unwrap()..];
    for n in 100..=200 {
        assert!(shown.contains(&format!("\n  +{n}")), "{n}: {shown}");
    }
    assert!(shown.contains("  M long.txt +101 -0"), "{shown}");
}
