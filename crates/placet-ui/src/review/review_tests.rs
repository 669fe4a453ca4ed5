//! The review by its keys: the visible effect of each key, any sequence of keys, and the picture.

use super::action::{ReviewAction, TABLE};
use super::content::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewLines, WholeChange};
use super::content::inline_diff::InlineDiffCache;
use super::content::side_text::SideText;
use super::picture::paint::{DrawContext, NoAnnotations};
use super::state::{Review, ReviewEffect, ReviewSubject};
use crate::keymap::{KeyChord, Keymap, Move};
use crate::terminal::ansi::ColorDepth;
use crate::{Theme, test_screen};
use crossterm::event::KeyEvent;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

#[path = "decided_again_tests.rs"]
mod decided_again;

/// A review with a screen around it, and no terminal.
struct ReviewHarness {
    review: Review,
    keys: Keymap<ReviewAction>,
    theme: Theme,
    inside: InlineDiffCache,
    effects: Vec<ReviewEffect>,
}

fn file(name: &str, letter: char, body: ReviewBody) -> ReviewFile {
    ReviewFile {
        name: name.into(),
        path: format!("/w/{name}").into(),
        paths: vec![std::path::PathBuf::from(format!("/w/{name}")).into()],
        renamed: None,
        letter,
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: None,
        body,
        key: name.into(),
    }
}

fn lines(old: &str, new: &str) -> ReviewBody {
    let doc = |text: &str| SideText::new(text.as_bytes().to_vec()).unwrap();
    ReviewBody::Lines(ReviewLines::new(doc(old), doc(new)))
}

fn numbered(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

fn files() -> Vec<ReviewFile> {
    let old = numbered(60);
    let new = old
        .replace("line 5\n", "line five\nline five and a half\n")
        .replace("line 30\n", "line   30\n")
        .replace("line 50\n", "");
    let long = format!("{} tail\n", "word ".repeat(60));
    let mut image =
        WholeChange { words: vec!["not text: 10 bytes becomes 12 bytes".into()], ..WholeChange::default() };
    image.reviewed = false;
    vec![
        file("src/app.rs", 'M', lines(&old, &new)),
        file(
            "docs/long.md",
            'M',
            lines(&format!("intro\n{long}"), &format!("intro\n{}", long.replace("tail", "end"))),
        ),
        file("logo.png", 'M', ReviewBody::Whole(image)),
    ]
}

impl ReviewHarness {
    fn new(columns: u16, rows: u16) -> ReviewHarness {
        ReviewHarness::with(files(), columns, rows, Theme::plain())
    }

    fn with(files: Vec<ReviewFile>, columns: u16, rows: u16, theme: Theme) -> ReviewHarness {
        let mut review = Review::new("a turn", ReviewSubject::Pending, files);
        review.resize(columns, rows);
        let keys = Keymap::usual("review", TABLE);
        let mut desk =
            ReviewHarness { review, keys, theme, inside: InlineDiffCache::default(), effects: Vec::new() };
        desk.scroll_to_cursor();
        desk
    }

    fn scene(&self) -> DrawContext<'_> {
        DrawContext {
            theme: &self.theme,
            keys: &self.keys,
            annotations: &NoAnnotations,
            inline: &self.inside,
        }
    }

    fn scroll_to_cursor(&mut self) {
        let ReviewHarness { review, keys, theme, inside, .. } = self;
        review.scroll_to_cursor(&DrawContext { theme, keys, annotations: &NoAnnotations, inline: inside });
    }

    fn event(&mut self, key: KeyEvent) {
        self.effects.extend(self.review.key(key, &self.keys));
        self.inside.forget();
        self.scroll_to_cursor();
    }

    /// Letters are pressed; a name in `<>` is that key.
    fn press(&mut self, keys: &str) -> &mut ReviewHarness {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            let (word, after) = match named {
                Some((word, after)) => (word.to_string(), after),
                None => (c.to_string(), &rest[c.len_utf8()..]),
            };
            self.event(event(&word));
            rest = after;
        }
        self
    }

    fn buffer(&self) -> Buffer {
        let (columns, rows) = self.review.window.size;
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        self.review.draw(&mut buffer, &self.scene());
        buffer
    }

    fn screen(&self) -> String {
        test_screen::rows(&self.buffer()).into_iter().map(|row| row + "\n").collect()
    }

    /// The row with the cursor.
    fn here(&self) -> String {
        let screen = self.screen();
        screen.lines().find(|l| l.contains('▌')).unwrap_or("").trim_start_matches('▌').trim().to_string()
    }

    fn marks(&self) -> String {
        let letter = |m: &ReviewDecision| match m {
            ReviewDecision::Open => 'o',
            ReviewDecision::Accepted => 'a',
            ReviewDecision::Rejected => 'r',
        };
        let each = self.review.files.iter().map(|f| match &f.body {
            ReviewBody::Lines(lines) => {
                let hunks = lines.hunks.iter().map(|h| h.marks.iter().map(letter).collect::<String>());
                hunks.collect::<Vec<_>>().join(" ")
            }
            ReviewBody::Whole(whole) => letter(&whole.mark).to_string(),
        });
        each.collect::<Vec<_>>().join("/")
    }
}

fn event(word: &str) -> KeyEvent {
    KeyChord::parse(word).unwrap().event()
}

/// The keys that lead to where an action can be seen, and what is seen after it.
fn seen(action: ReviewAction) -> (&'static str, fn(&ReviewHarness, &ReviewHarness)) {
    fn moved(before: &ReviewHarness, after: &ReviewHarness) {
        assert_ne!(before.here(), after.here(), "{}", after.screen());
    }
    use ReviewAction as A;
    match action {
        A::Move(Move::Down) => ("g", |b, a| assert_eq!(a.review.window.cursor, b.review.window.cursor + 1)),
        A::Move(Move::Up) => ("", |b, a| assert_eq!(a.review.window.cursor + 1, b.review.window.cursor)),
        A::Move(Move::HalfDown) | A::Move(Move::PageDown) | A::Move(Move::Bottom) => ("g", moved),
        A::Move(Move::HalfUp) | A::Move(Move::PageUp) | A::Move(Move::Top) => ("G", moved),
        A::Move(Move::Right) => ("W}", |b, a| {
            assert!(b.screen().contains("intro") && !a.screen().contains("intro"), "{}", a.screen());
        }),
        A::Move(Move::Left) => {
            ("W}ll", |b, a| assert!(a.review.window.left < b.review.window.left && b.screen() != a.screen()))
        }
        A::NextHunk => ("", |_, a| assert!(a.here().contains("line 30"), "{}", a.here())),
        A::PrevHunk => ("]]", |_, a| assert!(a.here().contains("line 30"), "{}", a.here())),
        A::NextFile => ("", |_, a| assert!(a.here().starts_with("M docs/long.md"), "{}", a.here())),
        A::PrevFile => ("}}", |_, a| assert!(a.here().starts_with("M docs/long.md"), "{}", a.here())),
        A::NextOpen => ("]ag", |_, a| assert!(a.here().contains("line 5"), "{}", a.here())),
        A::Reopen => ("ag]", |b, a| {
            assert_eq!((b.marks(), a.marks()), ("aaa oo o/oo/o".into(), "ooo oo o/oo/o".into()))
        }),
        A::Accept => ("", |_, a| assert_eq!(a.marks(), "aaa oo o/oo/o")),
        A::Reject => ("", |_, a| assert_eq!(a.marks(), "rrr oo o/oo/o")),
        A::AcceptFile => ("", |_, a| assert_eq!(a.marks(), "aaa aa a/oo/o")),
        A::RejectFile => ("", |_, a| assert_eq!(a.marks(), "rrr rr r/oo/o")),
        A::AcceptAll => ("r", |_, a| assert_eq!(a.marks(), "rrr aa a/aa/a")),
        A::RejectAll => ("a", |_, a| assert_eq!(a.marks(), "aaa rr r/rr/r")),
        A::Visual => {
            ("", |_, a| assert!(a.screen().lines().last().unwrap().contains("Esc end"), "{}", a.screen()))
        }
        A::Split => ("jj", |_, a| {
            assert_eq!(a.marks(), "oo o oo o/oo/o");
            assert!(a.screen().contains("split"));
        }),
        A::Edit => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::Edit { file: 0, hunk: 0 }])),
        A::Comment | A::CommentFile | A::CommentTurn => ("", |_, a| {
            assert!(a.screen().lines().last().unwrap().starts_with("comment"), "{}", a.screen());
        }),
        A::DeleteComment => ("cwhy?<Enter>j", |b, a| {
            assert!(b.screen().contains("» why?") && !a.screen().contains("» why?"));
        }),
        A::Reviewed => ("", |_, a| {
            assert!(a.review.files[0].lines().unwrap().hunks[0].reviewed);
            assert!(a.here().contains("line 30") && a.screen().contains("reviewed"));
        }),
        A::ReviewedFile => {
            ("", |_, a| assert!(a.screen().contains("1/3  reviewed") || a.screen().contains("0/3  reviewed")))
        }
        A::Undo => ("a", |_, a| {
            assert_eq!(a.marks(), "ooo oo o/oo/o");
            assert!(a.screen().contains("undone: accepted 1 hunk"));
        }),
        A::Redo => ("au", |_, a| assert_eq!(a.marks(), "aaa oo o/oo/o")),
        A::Search => ("", |_, a| assert!(a.screen().lines().last().unwrap().starts_with('/'))),
        A::NextMatch => ("/line 3<Enter>", moved),
        A::PrevMatch => ("/line<Enter>", moved),
        A::Filter => ("", |_, a| assert!(a.screen().lines().last().unwrap().starts_with("files:"))),
        A::Open => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::Open { file: 0, line: 5 }])),
        A::Yank => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::Copy("line 5\n".into())])),
        A::Enter => {
            ("a", |_, a| assert!(a.screen().contains("accepted   1 hunk in 1 file: will be applied")))
        }
        A::More => ("", |b, a| {
            assert!(!b.screen().contains("line 12") && a.screen().contains("line 12"), "{}", a.screen())
        }),
        A::Less => ("+", |b, a| assert!(b.screen().contains("line 12") && !a.screen().contains("line 12"))),
        A::Side => ("", |_, a| {
            assert!(
                a.screen().contains("5 - line 5") && a.screen().contains("5 + line five"),
                "{}",
                a.screen()
            )
        }),
        A::Whitespace => {
            ("", |_, a| assert!(a.screen().contains("2 lines change only blanks; w shows them")))
        }
        A::Invisibles => {
            ("", |b, a| assert!(!b.screen().contains("line·5") && a.screen().contains("line·5")))
        }
        A::Wrap => ("}", |b, a| assert!(b.screen() != a.screen() && a.screen().contains("h and l scroll"))),
        A::Fold => ("", |_, a| assert!(a.screen().contains("(folded)") && !a.screen().contains("line 5"))),
        A::Blame => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::Blame { file: 0 }])),
        A::Checks => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::RunChecks])),
        A::CheckOutput => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::ShowCheckOutput])),
        A::Tree => ("", |b, a| {
            assert!(
                !b.screen().contains("logo.png   ")
                    && a.screen().contains("src/app.rs")
                    && a.review.shows_tree()
            )
        }),
        A::Focus => ("", |_, a| assert!(a.screen().lines().last().unwrap().contains("to the lines"))),
        A::Help => ("", |_, a| assert!(a.screen().contains("a line down") && a.screen().contains("Ctrl-D"))),
        A::Close => ("", |_, a| assert_eq!(a.effects, [ReviewEffect::Close])),
        A::Escape => ("v", |b, a| {
            assert!(
                b.review.window.anchor.is_some() && a.review.window.anchor.is_none() && a.effects.is_empty()
            )
        }),
    }
}

#[test]
fn every_key_on_the_help_page_does_what_can_be_seen() {
    for row in TABLE {
        for key in row.keys.split_whitespace() {
            let (way, check) = seen(row.action);
            let mut before = ReviewHarness::new(80, 40);
            before.press(way);
            before.effects.clear();
            let mut after = ReviewHarness::new(80, 40);
            after.press(way);
            after.effects.clear();
            let name = KeyChord::parse(key).unwrap().to_string();
            let word = if name.chars().count() == 1 { name } else { format!("<{name}>") };
            after.press(&word);
            after.effects.retain(|e| *e != ReviewEffect::Remember);
            check(&before, &after);
        }
    }
}

#[test]
fn on_a_narrow_screen_the_help_page_has_every_word_below_its_key() {
    let mut desk = ReviewHarness::new(40, 60);
    let screen = desk.press("?").screen();
    let rows: Vec<&str> = screen.lines().map(str::trim_end).collect();
    let at = rows.iter().position(|row| *row == "  E").unwrap();
    assert_eq!(rows[at + 1..at + 3], ["      edit the hunk in your editor; the", "      result is accepted"]);
    // The page is scrolled to its end by rows, not by keys.
    let pages: Vec<String> = std::iter::repeat_with(|| {
        let words = desk.screen().split_whitespace().collect::<Vec<_>>().join(" ");
        desk.press("<PageDown>");
        words
    })
    .take(6)
    .collect();
    for row in TABLE {
        assert!(pages.iter().any(|page| page.contains(row.help)), "{}", row.help);
    }
}

#[test]
fn a_selection_decides_its_lines_and_no_others() {
    let mut desk = ReviewHarness::new(80, 30);
    desk.press("jva");
    assert_eq!(desk.marks(), "oao oo o/oo/o");
    assert_eq!(desk.review.window.anchor, None);
    // From the middle of one hunk over unchanged lines into the next.
    desk.press("[jv]r");
    assert_eq!(desk.marks(), "orr ro o/oo/o");
}

/// Story: in a file longer than the screen no row had its name.
#[test]
fn the_title_names_the_file_whose_head_is_above_the_screen() {
    let title = |desk: &ReviewHarness| desk.screen().lines().next().unwrap().to_string();
    for columns in [80, 40] {
        let mut desk = ReviewHarness::new(columns, 12);
        assert!(title(&desk).starts_with("a turn "), "{}", desk.screen());
        desk.press("a");
        assert!(title(&desk).starts_with("src/app.rs "), "{}", desk.screen());
        // Also while a comment is typed.
        desk.press("c");
        assert!(title(&desk).starts_with("src/app.rs "), "{}", desk.screen());
        desk.press("<Esc>g");
        assert!(title(&desk).starts_with("a turn "), "{}", desk.screen());
    }
}

/// Story: after `g` each `a` and `r` decided the first file again.
#[test]
fn a_key_on_the_head_of_a_file_decides_the_file_and_goes_on() {
    let mut desk = ReviewHarness::new(80, 30);
    assert_eq!(desk.press("ga").marks(), "aaa aa a/oo/o");
    assert_eq!(desk.press("r").marks(), "aaa aa a/rr/o");
    assert_eq!(desk.press("gr").marks(), "rrr rr r/rr/o");
}

#[test]
fn only_the_enter_of_the_summary_applies_and_letters_move_its_mark() {
    let mut desk = ReviewHarness::new(80, 30);
    desk.press("a<Enter>ysraAYXa");
    assert!(!desk.effects.iter().any(|e| matches!(e, ReviewEffect::Apply { .. })));
    assert!(desk.screen().contains("accepted   1 hunk"));
    desk.press("<Enter>");
    assert_eq!(desk.effects.last(), Some(&ReviewEffect::Apply { tell: false }));
    let mut desk = ReviewHarness::new(80, 30);
    desk.press("r<Enter>A<Enter>");
    assert_eq!(desk.effects.last(), Some(&ReviewEffect::Apply { tell: true }));
    // With nothing to report, nothing is sent.
    let mut desk = ReviewHarness::new(80, 30);
    desk.press("a<Enter>A");
    assert_eq!(desk.effects, [ReviewEffect::Remember, ReviewEffect::LookAtChecks]);
}

#[test]
fn a_paste_is_text_and_never_keys() {
    let mut desk = ReviewHarness::new(80, 30);
    desk.review.paste("aaYy\r<Enter>");
    assert_eq!(desk.marks(), "ooo oo o/oo/o");
    desk.press("c");
    desk.review.paste("two\r\nlines");
    desk.press("<Enter>");
    assert_eq!(desk.review.comments.list[0].text, "two\nlines");
}

#[test]
fn comments_searches_and_filters_are_edited_like_every_other_line() {
    let mut desk = ReviewHarness::new(80, 30);
    desk.press(
        "cfirst second third<Alt-b><Alt-Backspace><Ctrl-K><Ctrl-A><Ctrl-Y> <Ctrl-Right><Alt-Enter>!<Enter>",
    );
    assert_eq!(desk.review.comments.list[0].text, "third first\n! ");
    desk.press("/one<Ctrl-Left>x<Alt-d>");
    desk.review.paste("two\nlines\n");
    assert_eq!(desk.review.finder.search, "xtwo lines");
    desk.press("<Esc>fsrc/a/b<Ctrl-W><Left>x");
    assert_eq!(desk.review.finder.filter, "src/ax/");
}

#[test]
fn a_comment_left_with_escape_comes_back_with_the_same_key() {
    let mut desk = ReviewHarness::new(80, 30);
    desk.press("chalf a thou<Esc>");
    assert!(desk.review.comments.list.is_empty());
    desk.press("cght<Enter>");
    assert_eq!(desk.review.comments.list[0].text, "half a thought");
}

#[test]
fn a_change_far_out_in_a_long_line_is_on_the_screen() {
    let old = format!("{}needle{}\n", "x".repeat(5000), "y".repeat(5000));
    let body = lines(&old, &old.replace("needle", "pin"));
    let mut desk = ReviewHarness::with(vec![file("min.js", 'M', body)], 80, 24, Theme::plain());
    // One word has no partner in a line that is all one word: the whole of it is shown.
    assert!(desk.screen().contains("xxxx"));
    let spaced = format!("{}needle {}\n", "ab ".repeat(2000), "cd ".repeat(2000));
    let body = lines(&spaced, &spaced.replace("needle", "pin"));
    desk = ReviewHarness::with(vec![file("min.js", 'M', body)], 80, 24, Theme::plain());
    let screen = desk.screen();
    assert!(
        screen.contains("needle") && screen.contains("pin") && screen.contains("unchanged bytes ↪"),
        "{screen}"
    );
}

#[test]
fn every_byte_of_a_line_taller_than_the_screen_can_be_reached() {
    let text: String = (0..900).map(|n| format!("<{n}>")).collect();
    let mut desk = ReviewHarness::with(vec![file("a", 'A', lines("", &text))], 40, 12, Theme::plain());
    let mut seen = desk.screen();
    for _ in 0..20 {
        let scene = DrawContext {
            theme: &desk.theme,
            keys: &desk.keys,
            annotations: &NoAnnotations,
            inline: &desk.inside,
        };
        if !desk.review.scroll_in_row(true, &scene) {
            break;
        }
        seen.push_str(&desk.screen());
    }
    assert!(seen.contains("<0>") && seen.contains("<450>"), "{seen}");
    desk.press("W");
    // `<80>` to `<99>` look like bytes, so their brackets are written out.
    desk.review.window.left = 4370 + 20 * 7;
    assert!(desk.screen().contains("<899>"), "{}", desk.screen());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn whatever_is_pressed_at_whatever_size_nothing_falls_over(
        keys in prop::collection::vec((0usize..TABLE.len(), 0u8..12), 1..60),
        sizes in prop::collection::vec((1u16..130, 1u16..50), 1..6),
    ) {
        let mut desk = ReviewHarness::new(80, 24);
        for (n, (row, how)) in keys.into_iter().enumerate() {
            let words: Vec<&str> = TABLE[row].keys.split_whitespace().collect();
            let word = KeyChord::parse(words[n % words.len()]).unwrap().to_string();
            let key = if word.chars().count() == 1 { word } else { format!("<{word}>") };
            match how {
                0 => desk.review.paste("p\u{1b}[2J\r\nq"),
                1 => drop(desk.press("<Enter>")),
                2 => drop(desk.press("x")),
                3 => {
                    let (columns, rows) = sizes[n % sizes.len()];
                    desk.review.resize(columns, rows);
                    desk.scroll_to_cursor();
                }
                _ => drop(desk.press(&key)),
            }
            desk.buffer();
        }
        // Undo leads back to the beginning from anywhere.
        desk.press("<Esc><Esc><Esc>");
        for _ in 0..600 {
            desk.review.handle(ReviewAction::Undo);
        }
        prop_assert_eq!(desk.marks(), "ooo oo o/oo/o");
        prop_assert!(desk.review.comments.list.is_empty());
    }
}

#[test]
fn the_review_as_it_looks() {
    let mut desk = ReviewHarness::new(80, 24);
    desk.press("ar");
    insta::assert_snapshot!("review_80x24", desk.screen());
    let mut desk = ReviewHarness::new(120, 40);
    desk.press("acsure?<Enter>s");
    insta::assert_snapshot!("review_120x40", desk.screen());
    let mut desk = ReviewHarness::new(40, 12);
    desk.press("a");
    insta::assert_snapshot!("review_40x12", desk.screen());
}

/// The colours: where they change, with what.
fn styled(desk: &ReviewHarness, row: usize) -> String {
    let buffer = desk.buffer();
    let width = usize::from(buffer.area.width);
    let cells = &buffer.content[row * width..(row + 1) * width];
    let mut out = String::new();
    let mut last = None;
    for cell in cells {
        let style = (cell.fg, cell.bg, cell.modifier);
        if last != Some(style) {
            out.push_str(&format!(
                "[{}/{}{}]",
                cell.fg,
                cell.bg,
                if cell.modifier.is_empty() { String::new() } else { format!(" {:?}", cell.modifier) }
            ));
            last = Some(style);
        }
        out.push_str(cell.symbol());
    }
    out.trim_end().to_string()
}

#[test]
fn changed_words_are_marked_in_every_theme_and_without_colour() {
    for name in ["dark", "light", "mono"] {
        let theme = Theme::load(name, std::path::Path::new("/nowhere"), ColorDepth::True, |_| None).unwrap();
        let body = lines("a\nlet limit = 10;\nb\n", "a\nlet limit = 25;\nb\n");
        let mut desk = ReviewHarness::with(vec![file("x.rs", 'M', body)], 60, 10, theme);
        desk.press("G");
        let rows = [styled(&desk, 3), styled(&desk, 4)].join("\n");
        insta::assert_snapshot!(format!("words_{name}"), rows);
    }
}

#[test]
fn a_report_is_known_again_by_its_words() {
    let mut desk = ReviewHarness::new(100, 30);
    desk.press("rc this is wrong<Enter>");
    let report = super::report(&desk.review, super::ReviewEnd::CarriedOut).unwrap();
    assert_eq!(super::summary(&report).as_deref(), Some("review: 1 rejected, 1 comment, 3 undecided"));
    assert_eq!(super::summary("{ not a report"), None);
}

#[test]
fn what_runs_later_is_not_accepted_with_others() {
    use super::content::file::CombinedDecision;
    let later =
        ReviewFile { runs_later: Some("direnv runs it".into()), ..file(".envrc", 'A', lines("", "x\n")) };
    let plain = file("a.txt", 'M', lines("1\n", "2\n"));
    let mut desk = ReviewHarness::with(vec![later, plain], 100, 30, Theme::plain());
    let standing = |desk: &ReviewHarness| -> Vec<CombinedDecision> {
        desk.review.files.iter().map(ReviewFile::standing).collect()
    };
    desk.press("Y");
    assert_eq!(
        standing(&desk),
        [CombinedDecision::All(ReviewDecision::Open), CombinedDecision::All(ReviewDecision::Accepted)]
    );
    assert!(desk.screen().contains("accept it on its own"), "{}", desk.screen());
    // As a directory of the tree does it, also where the file is the only one in it.
    desk.review.decide_unopened(&[0], ReviewDecision::Accepted);
    assert_eq!(standing(&desk)[0], CombinedDecision::All(ReviewDecision::Open));
    desk.review.decide_unopened(&[0], ReviewDecision::Rejected);
    assert_eq!(standing(&desk)[0], CombinedDecision::All(ReviewDecision::Rejected));
    desk.review.decide_files(&[0], ReviewDecision::Accepted);
    assert_eq!(standing(&desk)[0], CombinedDecision::All(ReviewDecision::Accepted));
}

#[test]
fn rows_of_the_summary_are_whole_and_what_is_below_is_announced() {
    let mut desk = ReviewHarness::new(40, 10);
    desk.press("A<Enter>");
    let screen = desk.screen();
    for row in screen.lines() {
        assert!(placet_text::text::width::of(row) <= 40, "{row}");
    }
    assert!(screen.contains(" more: Down"), "{screen}");
    let mut last = screen;
    for _ in 0..40 {
        desk.press("<Down>");
        last = desk.screen();
    }
    assert!(!last.contains(" more: ") && last.contains("src/app.rs  3/3"), "{last}");
    // Up is not counted from beyond the end.
    desk.press("<Up>");
    assert!(desk.screen().contains(" more: "), "{}", desk.screen());
}

#[test]
fn where_everything_is_rejected_the_summary_discards() {
    let mut desk = ReviewHarness::new(80, 20);
    desk.press("r<Enter>");
    assert!(desk.screen().contains("[Discard]"), "{}", desk.screen());
    let mut desk = ReviewHarness::new(80, 20);
    desk.press("a<Enter>");
    assert!(desk.screen().contains("[Apply]"), "{}", desk.screen());
}
