use super::*;
use placet_config::WrapSetting;

fn plain(text: &str) -> String {
    plain_at(text, 60)
}

fn plain_at(text: &str, columns: usize) -> String {
    let lines = render(text, &Theme::plain(), ProseWidth::new(columns, WrapSetting::Words));
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn blocks_become_logical_lines() {
    insta::assert_snapshot!(plain(
        "# Title\n\nA *paragraph* that\nis one line, with `code` and **weight**.\n\n- one\n- two\n  - inner\n    more\n\n3. three\n4. four\n\n> quoted\n> twice\n\n---\n\n```rust\nfn main() {\n\n    x();\n}\n```\nafter"
    ), @r"
    Title

    A paragraph that is one line, with code and weight.

    • one
    • two
      • inner more

    3. three
    4. four

    > quoted twice

    ────────────────────────────────────────

    fn main() {

        x();
    }

    after
    ");
}

#[test]
fn tables_are_aligned_and_too_wide_ones_become_lists() {
    let table = "| name | size |\n|:-----|-----:|\n| a.rs | 1 |\n| 日本.rs | 1234 |\n";
    insta::assert_snapshot!(plain(table), @r"
    name     size
    ───────  ────
    a.rs        1
    日本.rs  1234
    ");
    insta::assert_snapshot!(plain_at(table, 10), @r"
    name: a.rs
    size: 1

    name: 日
    本.rs
    size: 1234
    ");
}

#[test]
fn a_link_shows_where_it_leads() {
    assert_eq!(plain("see [the docs](https://example.org/x)"), "see the docs (https://example.org/x)");
    assert_eq!(plain("<https://example.org>"), "https://example.org");
}

#[test]
fn code_is_copied_as_it_was_written() {
    let code = "\tindented\n    spaced   \n\nlong ".to_string() + &"x".repeat(300);
    assert_eq!(plain(&format!("```\n{code}\n```")), code);
}

#[test]
fn markup_is_shown_and_not_interpreted() {
    assert_eq!(plain("a <b>bold</b> &amp; more"), "a <b>bold</b> & more");
    assert_eq!(
        plain("<details>\n<summary>x</summary>\n</details>"),
        "<details>\n<summary>x</summary>\n</details>"
    );
}

/// Story: 100,000 times `&#8203;` in an answer were 800 kB of signs on the screen.
#[test]
fn characters_without_ink_are_counted_also_where_markdown_makes_them() {
    assert_eq!(plain(&format!("a{}b", "&#8203;".repeat(100_000))), "a<U+200B x100000>b");
    assert_eq!(plain(&format!("a{}b", "&#8203;&#8288;".repeat(100_000))), "a<(U+200B U+2060) x100000>b");
    assert_eq!(plain(&format!("`a`{}", "&#0;".repeat(3))), format!("a{}", "\u{fffd}".repeat(3)));
    assert_eq!(plain(&"&#27;".repeat(5)), "<U+001B x5>");
    assert_eq!(plain(&"&#27;".repeat(2)), "␛␛");
}

const WIDE_TABLE: &str = "| path | what it does | n |\n|---|---|--:|\n| `src/a.rs` | reads the settings and reports each mistake with its place | 12 |\n| `src/longer.rs` | short | 3456 |\n";

#[test]
fn a_wide_table_is_broken_at_words_within_its_columns() {
    insta::assert_snapshot!(plain_at(WIDE_TABLE, 50));
    insta::assert_snapshot!(plain_at(WIDE_TABLE, 40));
    insta::assert_snapshot!(plain_at(WIDE_TABLE, 26));
}

/// Nothing is lost, no line is too wide, and no word is broken, however wide the screen is.
#[test]
fn a_table_fits_at_every_width_with_all_of_its_words() {
    let words = ["`src/a.rs`", "settings", "mistake", "3456", "short"].map(|word| word.trim_matches('`'));
    for columns in 20..100 {
        let shown = plain_at(WIDE_TABLE, columns);
        for line in shown.lines() {
            assert!(placet_text::text::width::of(line) <= columns, "{columns}: {line}");
        }
        for word in words {
            assert!(shown.contains(word), "{columns}: {word}\n{shown}");
        }
    }
}
