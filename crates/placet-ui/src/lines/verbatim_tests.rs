use super::*;
use placet_text::text::visible::samples;
use proptest::prelude::*;

fn shown(patch: &str) -> Vec<String> {
    diff(patch.as_bytes(), &Theme::plain()).iter().map(ToString::to_string).collect()
}

/// Each pair was shown as two equal lines (H15), or as an empty string (H1).
#[test]
fn a_change_that_no_eye_can_tell_is_marked() {
    for (patch, rows) in [
        ("-a\n+a\r\n", ["  -a", "  +a⏎"]),
        ("-a b\n+a  b\n", ["  -a b", "  +a ␣b"]),
        ("-a\n+a \n", ["  -a", "  +a␣"]),
        ("-    a\n+\ta\n", ["  -␣␣␣␣a", "  +⇥   a"]),
        ("-let a\n+let a\u{3164}\n", ["  -let a", "  +let a<U+3164>"]),
        ("-a b\n+a\u{a0}b\n", ["  -a␣b", "  +a<U+00A0>b"]),
        (
            "-if admin\n+if \u{430}dmin\n",
            ["  -if admin  (looks like the other line)", "  +if <U+0430>dmin  (looks like the other line)"],
        ),
        (
            "-сор\n+cop\n",
            [
                "  -<U+0441><U+043E><U+0440>  (looks like the other line)",
                "  +cop  (looks like the other line)",
            ],
        ),
        ("-x = 1\n+x = \"\u{1b}]\" ; evil #\u{7}\"\n", ["  -x = 1", "  +x = \"␛]\" ; evil #␇\""]),
    ] {
        assert_eq!(shown(patch), rows, "{patch:?}");
    }
}

/// Story: the names of a file were coloured like a removed and an added line.
#[test]
fn the_names_of_a_file_are_no_changed_lines() {
    let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n--- a/y\n+++ b/y\n";
    let signs: Vec<bool> = diff(patch.as_bytes(), &Theme::plain())
        .iter()
        .map(|line| line.spans.get(1).is_some_and(|span| matches!(&*span.content, "-" | "+")))
        .collect();
    assert_eq!(signs, [false, false, false, false, true, true, false, false, false]);
    assert_eq!(shown(patch).concat().replace("  ", ""), patch.replace('\n', ""));
}

#[test]
fn rows_break_at_the_margin_only() {
    let theme = Theme::plain();
    let rows = |text: &str, columns| -> Vec<String> {
        wrap(&line("  ", text.as_bytes(), Style::default(), &theme), columns, &theme)
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    assert_eq!(rows("the quick brown", 10), ["  the quic", "↪ k brown"]);
    assert_eq!(rows("abc日日日", 6), ["  abc↪", "↪ 日日", "↪ 日"]);
    assert_eq!(rows("", 10), ["  "]);
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        "[ -~]{0,9}".prop_map(String::into_bytes),
        prop::sample::select(vec![
            " ",
            "\t",
            "\r",
            "↪",
            "\u{1b}]0;",
            "\u{7}",
            "日",
            "\u{200b}",
            "а",
            "<U+200B>",
            "◆"
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>().prop_filter("a line", |b| *b != b'\n'), 0..3),
    ];
    prop::collection::vec(part, 0..14).prop_map(|parts| parts.concat())
}

/// Words with one blank or more between them.
fn words() -> impl Strategy<Value = String> {
    let word =
        prop_oneof!["[a-c]{1,14}", "[ab/]{1,14}", "[ ]{1,12}", Just(" ".to_string()), Just("日".to_string())];
    prop::collection::vec(word, 0..12).prop_map(|words| words.concat())
}

#[test]
fn a_command_is_broken_at_words_where_that_is_plain() {
    let theme = Theme::plain();
    let rows = |text: &str, columns| -> Vec<String> {
        let rows = wrap_at_words(&line("  ", text.as_bytes(), Style::default(), &theme), columns, &theme);
        rows.iter().map(ToString::to_string).collect()
    };
    assert_eq!(rows("$ curl -s https://pypi.org/pypi", 24), ["  $ curl -s ", "↪ https://pypi.org/pypi"]);
    // A word that is wider than the screen is broken at the margin, and so is a run of blanks.
    assert_eq!(rows("$ cat /a/very/long/path", 16), ["  $ cat /a/very/", "↪ long/path"]);
    // A path is broken between its names.
    assert_eq!(rows("$ cat /a/very/long/path", 14), ["  $ cat /a/↪", "↪ very/long/↪", "↪ path"]);
    assert_eq!(rows("$ echo a        b", 12), ["  $ echo ", "↪ a        b"]);
    assert_eq!(rows("$abc        defg", 8), ["  $abc ↪", "↪      ↪", "↪   defg"]);
}

proptest! {
    /// The rows of a pane of any width can be joined to the original line.
    #[test]
    fn two_lines_that_differ_are_drawn_differently(one in text(), other in text(), columns in 8usize..60) {
        let theme = Theme::plain();
        let rows = |bytes: &[u8]| -> Vec<String> {
            wrap(&line("  ", bytes, Style::default(), &theme), columns, &theme).iter().map(ToString::to_string).collect()
        };
        prop_assert_eq!(one == other, rows(&one) == rows(&other));
        // The screen knows no blanks at the end of a row.
        let screen = |bytes: &[u8]| -> Vec<String> { rows(bytes).iter().map(|r| format!("{r:<columns$}")).collect() };
        prop_assert_eq!(one == other, screen(&one) == screen(&other));
        for row in rows(&one) {
            prop_assert!(width::of(&row) <= columns && !row.chars().any(char::is_control), "{row:?}");
        }
    }

    /// The same for rows that end at words: a blank at the end of a row is one blank.
    #[test]
    fn two_lines_broken_at_words_are_drawn_differently(one in words(), other in words(), columns in 8usize..60) {
        let theme = Theme::plain();
        let rows = |text: &str| wrap_at_words(&line("  ", text.as_bytes(), Style::default(), &theme), columns, &theme);
        // The screen knows no blanks at the end of a row.
        let screen = |text: &str| -> Vec<String> {
            rows(text).iter().map(|row| row.to_string().trim_end().to_string()).collect()
        };
        prop_assert_eq!(one == other, screen(&one) == screen(&other), "{:?} {:?}", screen(&one), screen(&other));
        for row in rows(&one) {
            prop_assert!(row.width() <= columns, "{row:?}");
        }
    }

    #[test]
    fn two_patches_that_differ_in_a_changed_line_are_drawn_differently(one in text(), other in text()) {
        let patch = |bytes: &[u8]| [b"@@ -1 +1 @@\n-old\n+", bytes, b"\n"].concat();
        let theme = Theme::plain();
        let drawn = |bytes: &[u8]| -> Vec<String> { diff(&patch(bytes), &theme).iter().map(ToString::to_string).collect() };
        prop_assert_eq!(one == other, drawn(&one) == drawn(&other));
    }
}

/// Rows as they are drawn, read to the end, without colours.
fn read(lines: &[Line<'static>], columns: usize) -> String {
    let theme = Theme::plain();
    lines.iter().flat_map(|line| wrap(line, columns, &theme)).map(|row| format!("{row}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// The apply question, the permission question of a file, and the same line by line: what an edit does to a file.
    #[test]
    fn two_edits_that_differ_are_drawn_differently(
        (before, after, other) in samples::three_versions(),
        columns in 8usize..120,
    ) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (before, after, other) = (text(&before), text(&after), text(&other));
        let of = |new: &str| {
            let view = placet_text::text::LineDiff::new(&before, new).unified(3, 1 << 20);
            read(&diff(view.text.as_bytes(), &Theme::plain()), columns)
        };
        let (a, b) = (of(&after), of(&other));
        prop_assert!(after == other || a != b, "{after:?} and {other:?} look the same:\n{a}");
        prop_assert!(!a.chars().any(samples::acts), "{a:?}");
    }

    /// The permission question of a command.
    #[test]
    fn two_commands_that_run_differently_are_drawn_differently(
        (line, other, stdin) in samples::three_versions(),
        which in 0usize..7,
        columns in 8usize..120,
    ) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (line, other) = (text(&line), text(&other));
        let hosts = vec!["example.org".to_string()];
        let one = placet_tools::CommandToApprove {
            cwd: None, background: false, limit: None, hosts: Vec::new(), published: Vec::new(), line: line.clone(),
            stdin: Vec::new(),
        };
        // What could make one command look like another one with input or with the network.
        let imitated = format!("{line}\nstandard input:\n{}", text(&stdin));
        let two = match which {
            0 => placet_tools::CommandToApprove { line: other.clone(), ..one.clone() },
            1 => placet_tools::CommandToApprove { stdin: stdin.clone(), ..one.clone() },
            2 => placet_tools::CommandToApprove { hosts, ..one.clone() },
            3 => placet_tools::CommandToApprove { background: true, ..one.clone() },
            5 => placet_tools::CommandToApprove { published: vec![8123], ..one.clone() },
            4 => placet_tools::CommandToApprove { line: imitated, ..one.clone() },
            _ => placet_tools::CommandToApprove { cwd: Some("/w ".into()), ..one.clone() },
        };
        let differ = match which {
            0 => line != other,
            1 => !stdin.is_empty(),
            _ => true,
        };
        let drawn = |command: &placet_tools::CommandToApprove| {
            let theme = Theme::plain();
            let rows = lines(&command.words(), Style::default(), &theme);
            let rows = rows.iter().flat_map(|line| wrap_at_words(line, columns, &theme));
            rows.map(|row| format!("{row}\n")).collect::<String>()
        };
        let (a, b) = (drawn(&one), drawn(&two));
        prop_assert!(!differ || a != b, "both look like {a}");
        prop_assert!(!b.chars().any(samples::acts), "{b:?}");
    }
}

#[test]
fn a_person_reads_a_patch_without_the_lines_for_git() {
    let patch =
        b"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a\n-index b\n+c\n";
    let shown: Vec<String> =
        diff_for_person(patch, &Theme::plain()).iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["  @@ -1,2 +1 @@", "  --- a", "  -index b", "  +c"]);
    let two = [&patch[..], b"diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"].concat();
    let shown: Vec<String> = diff_for_person(&two, &Theme::plain()).iter().map(ToString::to_string).collect();
    assert!(
        shown.contains(&"  +++ b/y".into()) && !shown.iter().any(|row| row.contains("--git")),
        "{shown:?}"
    );
}
