//! A sample of a theme: a prompt in each mode, a call, a change, code, a question and a hint.
//!
//! It is made of the same parts as the real screens where these can be used alone. It asks and runs nothing.

use super::contrast::ContrastAdjuster;
use super::syntax;
use super::theme::Theme;
use crate::lines::margin_mark;
use crate::scrollback;
use crate::turn_pane::mode_label;
use placet_permission::Mode;
use placet_text::conversation::CallOutcome;
use placet_text::text::{sanitize, width};
use placet_tools::CallSummary;
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

const RUST: &str = "/// Twice is enough.\nfn retry(limit: u8) -> Option<&'static str> {\n    (limit > 2).then_some(\"no\") // 3\n}";
const PYTHON: &str = "# one line each\ndef names(rows):\n    return [row[\"name\"] for row in rows]";

/// The sample, `columns` wide at most.
pub fn sample(theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let mut out = vec![heading(theme), Line::default()];
    out.extend(Mode::ALL.map(|mode| prompt(mode, theme)));
    out.push(Line::default());
    let summary = CallSummary::text("run_command cargo test", "42 passed");
    out.extend(scrollback::call(CallOutcome::Done, &summary, theme, 5));
    let failed = CallSummary::line("read_file gone.txt");
    out.extend(scrollback::call(CallOutcome::Failed, &failed, theme, 5));
    let denied = CallSummary::line("run_command rm -rf /");
    out.extend(scrollback::call(CallOutcome::Denied, &denied, theme, 5));
    out.push(Line::default());
    out.extend(change(theme, columns));
    out.push(Line::default());
    for (code, language) in [(RUST, "rs"), (PYTHON, "py")] {
        out.extend(syntax::highlight(code, language, theme));
    }
    out.push(Line::default());
    out.extend(said(theme));
    out
}

fn span(text: &str, label: &str, theme: &Theme) -> Span<'static> {
    Span::styled(text.to_string(), theme.style(label))
}

fn heading(theme: &Theme) -> Line<'static> {
    let hex = |colour: &Color| colour.to_string().to_lowercase();
    let grounds: Vec<String> = theme.backgrounds.iter().map(hex).collect();
    let about = match grounds.as_slice() {
        [] => String::new(),
        all => format!("  for a background of {}", all.join(", ")),
    };
    Line::from(vec![span(&sanitize::name(&theme.name), "title", theme), span(&about, "dim", theme)])
}

fn prompt(mode: Mode, theme: &Theme) -> Line<'static> {
    Line::from(vec![
        margin_mark::lead(theme),
        span("placet ", "prompt", theme),
        span(&format!("[{}]", mode.letter()), mode_label(mode), theme),
        span(" ±2", "question", theme),
        span(" > ", "prompt", theme),
        span(mode.name(), "text", theme),
    ])
}

/// A hunk as the review shows it: changed words set off, the line's background up to the edge.
fn change(theme: &Theme, columns: usize) -> Vec<Line<'static>> {
    let line = |number: &str, sign: &str, label: &str, back: &str, pieces: [(&str, &str); 3]| {
        let ground = theme.style(back);
        let (look, text) = (theme.style(label).patch(ground), theme.changed_text(label).patch(ground));
        let mut spans = vec![
            Span::styled(format!("{number} "), gutter_on(ground, theme)),
            Span::styled(format!("{sign} "), look),
        ];
        for (words, word) in pieces {
            let look = if word.is_empty() { text } else { text.patch(theme.style(word)) };
            spans.push(Span::styled(words.to_string(), look));
        }
        let used: usize = spans.iter().map(|s| width::of(&s.content)).sum();
        spans.push(Span::styled(" ".repeat(columns.min(60).saturating_sub(used)), ground));
        Line::from(spans)
    };
    let (old, new) = ("diff.remove.word", "diff.add.word");
    vec![
        Line::from(span("@@ -7,2 +7,2 @@ fn main", "diff.hunk", theme)),
        line("7", " ", "text", "text", [("let name = ", ""), ("\"a\"", "match"), (";", "")]),
        line("8", "-", "diff.remove", "diff.remove.line", [("let limit = ", ""), ("10", old), (";", "")]),
        line("8", "+", "diff.add", "diff.add.line", [("let limit = ", ""), ("25", new), (";", "")]),
        line("9", " ", "text", "select", [("the row under the cursor", ""), ("", ""), ("", "")]),
        Line::from(vec![
            span("✓ accepted ", "accepted", theme),
            span("✗ rejected ", "rejected", theme),
            span("» a comment", "comment", theme),
        ]),
    ]
}

/// The style of a line's number, as the review draws it on that line.
fn gutter_on(line: Style, theme: &Theme) -> Style {
    let gutter = theme.style("gutter");
    let gutter = match line.bg.filter(|_| theme.adjusts_on(line)) {
        Some(ground) => ContrastAdjuster::new(&[ground], theme.depth).style(gutter),
        None => gutter,
    };
    gutter.patch(Style { bg: line.bg, ..Style::default() })
}

fn said(theme: &Theme) -> Vec<Line<'static>> {
    let keys = vec![
        span("y", "key", theme),
        span(" yes  ", "hint", theme),
        span("n", "key", theme),
        span(" no  ", "hint", theme),
    ];
    let question = [Line::from(span("Run `cargo test`?", "question", theme)), Line::from(keys)];
    let mut out = margin_mark::block(question, theme);
    out.push(margin_mark::line(span("⠙ working, 12 s, Esc stops", "status", theme), theme));
    out.extend(scrollback::notice("a notice", theme));
    out.push(margin_mark::line(span("a warning", "warning", theme), theme));
    out.extend(scrollback::error("what failed", None, theme));
    out.push(Line::from(vec![
        span("a heading ", "heading", theme),
        span("code ", "code", theme),
        span("a link", "link", theme),
        span(" thinking", "thinking", theme),
    ]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::ansi::{self, ColorDepth};
    use std::path::Path;

    #[test]
    fn the_sample_shows_every_kind_of_text_in_the_colours_of_the_theme() {
        let load = |name: &str, depth| Theme::load(name, Path::new("/nowhere"), depth, |_| None).unwrap();
        let lines = sample(&load("solarized-dark", ColorDepth::True), 60);
        let text: Vec<String> = lines.iter().map(|l| l.to_string().trim_end().to_string()).collect();
        insta::assert_snapshot!("sample_text", text.join("\n"));
        let styled: Vec<String> = lines.iter().map(|l| ansi::line(l).replace('\x1b', "␛")).collect();
        insta::assert_snapshot!("sample_solarized_dark", styled.join("\n"));
        let plain = sample(&Theme::plain(), 60).iter().map(ansi::line).collect::<String>();
        assert!(!plain.contains('\x1b'), "{plain:?}");
    }
}
