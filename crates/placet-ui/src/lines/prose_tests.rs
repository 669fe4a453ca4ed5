use super::*;
use proptest::prelude::*;

fn words(columns: usize) -> ProseWidth {
    ProseWidth::new(columns, WrapSetting::Words)
}

fn plain(text: &str) -> Vec<ProseSpan> {
    vec![ProseSpan { span: Span::raw(text.to_string()), is_whole: false }]
}

fn indent(first: &str) -> ProseIndent {
    ProseIndent {
        first: vec![Span::raw(first.to_string())],
        further: " ".repeat(width::of(first)),
        ..ProseIndent::default()
    }
}

fn broken(lead: &str, text: &str, columns: usize) -> Vec<String> {
    lines(indent(lead), plain(text), words(columns)).iter().map(ToString::to_string).collect()
}

#[test]
fn lines_break_at_words_and_further_lines_are_indented() {
    assert_eq!(broken("", "the quick brown fox", 12), ["the quick", "brown fox"]);
    assert_eq!(broken("• ", "the quick, brown fox jumps", 14), ["• the quick,", "  brown fox", "  jumps"]);
    assert_eq!(broken("", "fits in here", 12), ["fits in here"]);
    assert_eq!(broken("", "", 12), [""]);
    // Paths, options and punctuation stay together.
    assert_eq!(broken("", "see src/main.rs, --apply-loss", 18), ["see src/main.rs,", "--apply-loss"]);
    // No-break space.
    assert_eq!(broken("", "see page\u{a0}12 there now", 14), ["see page\u{a0}12", "there now"]);
}

#[test]
fn a_word_wider_than_the_screen_is_left_to_the_terminal() {
    let address = "https://example.org/a/long/path";
    assert_eq!(
        broken("", &format!("see {address} for several words"), 20),
        [
            "see".to_string(),
            // The terminal breaks this at 20, so that ten columns are left in its second row.
            format!("{address} for"),
            "several words".to_string()
        ]
    );
    assert_eq!(broken("• ", address, 20), [format!("• {address}")]);
}

#[test]
fn wide_and_combining_characters_count_as_they_are_drawn() {
    assert_eq!(broken("", "日本語のテキスト。です", 12), ["日本語のテキ", "スト。です"]);
    // A closing sign does not begin a line.
    assert_eq!(broken("", "日本語のテキ。スト", 12), ["日本語のテ", "キ。スト"]);
    let accents = "e\u{301}e\u{301}e\u{301} ".repeat(4);
    assert_eq!(
        broken("", accents.trim_end(), 12),
        [
            "e\u{301}e\u{301}e\u{301} e\u{301}e\u{301}e\u{301} e\u{301}e\u{301}e\u{301}",
            "e\u{301}e\u{301}e\u{301}"
        ]
    );
    assert_eq!(
        broken("", "👩\u{200d}👩\u{200d}👧 👩\u{200d}👩\u{200d}👧 👩 👩 👩", 12),
        ["👩\u{200d}👩\u{200d}👧 👩\u{200d}👩\u{200d}👧 👩 👩", "👩"]
    );
}

#[test]
fn code_between_words_is_whole() {
    let own = of_spans([Span::raw("run `placet apply --all` or type `x`".to_string())]);
    let rows = lines(ProseIndent::default(), own, words(22));
    let rows: Vec<String> = rows.iter().map(ToString::to_string).collect();
    assert_eq!(rows, ["run", "`placet apply --all`", "or type `x`"]);
}

#[test]
fn a_screen_without_room_for_the_indent_has_none() {
    assert_eq!(broken("          • ", "one two three", 16), ["          • one", "two three"]);
}

#[test]
fn with_the_terminals_own_wrapping_nothing_is_broken() {
    let text = "word ".repeat(100);
    let rows = lines(indent("• "), plain(&text), ProseWidth::unbroken(20));
    assert_eq!(rows.iter().map(ToString::to_string).collect::<Vec<_>>(), [format!("• {text}")]);
}

/// The rows that a terminal draws for a line.
fn drawn(line: &str, columns: usize) -> usize {
    let (mut rows, mut used) = (1, 0);
    for grapheme in line.graphemes(true) {
        let wide = width::of_grapheme(grapheme);
        if used + wide > columns {
            (rows, used) = (rows + 1, 0);
        }
        used += wide;
    }
    rows
}

proptest! {
    #[test]
    fn without_its_breaks_the_text_is_the_same(
        pieces in prop::collection::vec(("([a-z 日本。👧/]|e\u{301}){0,30}", any::<bool>(), any::<bool>()), 0..8),
        columns in 1usize..40,
        lead in "[ •>]{0,6}",
    ) {
        let text: String = pieces.iter().map(|(text, ..)| text.as_str()).collect();
        let style = |bold: &bool| if *bold { Style::new().bold() } else { Style::new() };
        let spans = pieces.iter().map(|(text, bold, is_whole)| ProseSpan {
            span: Span::styled(text.clone(), style(bold)),
            is_whole: *is_whole,
        });
        let rows = lines(indent(&lead), spans.collect(), words(columns));
        let further = rows.get(1).map_or(0, |_| if width::of(&lead) + LEAST_COLUMNS <= columns { width::of(&lead) } else { 0 });
        let mut rest = text.as_str();
        for (at, row) in rows.iter().enumerate() {
            let row = row.to_string();
            let skipped = if at == 0 { lead.len() } else { further };
            prop_assert!(row[..skipped] == *lead || row[..skipped].trim().is_empty());
            let row = &row[skipped..];
            // A break replaces blanks; those at the beginning of code stay.
            while at > 0 && rest.starts_with(' ') && !rest.starts_with(row) {
                rest = &rest[1..];
            }
            prop_assert!(rest.starts_with(row), "{row:?} is not the beginning of {rest:?}");
            rest = &rest[row.len()..];
        }
        prop_assert!(rest.trim_matches(' ').is_empty(), "{rest:?} is missing");
    }

    #[test]
    fn only_a_word_wider_than_the_screen_takes_a_second_row(text in "([a-z 日本👧]|e\u{301}){0,200}", columns in 2usize..40) {
        for row in broken("", &text, columns) {
            if drawn(&row, columns) > 1 {
                let longest = row.split(' ').map(width::of).max().unwrap_or(0);
                prop_assert!(longest > columns || row.starts_with(' '), "{row:?} is wider than {columns}");
            }
        }
    }
}
