//! An entry as lines: its head, and what is in it unless it is folded.
//!
//! Lines are made when an entry becomes visible. Code in answers is plain at first and coloured in the background.

use super::entry::{TranscriptContent, TranscriptEntry};
use crate::lines::prose::ProseWidth;
use crate::lines::{margin_mark, markdown};
use crate::{Theme, picture, scrollback};
use placet_text::conversation::{CallInput, CallOutcome, Part};
use placet_text::text::{sanitize, visible, width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use serde_json::Value;

/// Lines of an entry that are shown at most; a copy and the editor get all of them.
const LINES: usize = 50_000;

/// Whether an entry shows what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoldState {
    Open,
    Closed,
}

/// How code in an answer looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HighlightStatus {
    NotYet,
    Known,
}

/// The head and, unless folded, the body; an empty line ends what is open.
pub(super) fn lines(
    entry: &TranscriptEntry<'_>,
    next: Option<&TranscriptEntry<'_>>,
    fold: FoldState,
    body: impl FnOnce() -> Vec<Line<'static>>,
    theme: &Theme,
) -> Vec<Line<'static>> {
    let mut out = vec![head(entry, fold, theme)];
    if fold == FoldState::Open {
        out.extend(body());
        if out.len() > LINES {
            let rest = out.len() - LINES;
            out.truncate(LINES);
            let more = format!("… {rest} more lines: `e` opens all of it");
            out.push(margin_mark::line(Line::styled(more, theme.style("hint")), theme));
        }
    }
    if fold == FoldState::Open || !is_small(entry) || !next.is_some_and(is_small) {
        out.push(Line::default());
    }
    out
}

/// Folded calls are listed without a blank line between them.
fn is_small(entry: &TranscriptEntry<'_>) -> bool {
    matches!(
        entry.what,
        TranscriptContent::Call(..) | TranscriptContent::Thinking(_) | TranscriptContent::Attached(_)
    )
}

fn head(entry: &TranscriptEntry<'_>, fold: FoldState, theme: &Theme) -> Line<'static> {
    let sign = if fold == FoldState::Open { "▾ " } else { "▸ " };
    // The text is foreign: no line of it can look like a head.
    let mut spans = vec![margin_mark::lead(theme), Span::styled(sign, theme.style("dim"))];
    let words = sanitize::line(&entry.head()).into_owned();
    let words = width::cut(&words, 400);
    match entry.what {
        TranscriptContent::Person(_) => {
            spans.push(Span::styled(words, theme.style("prompt")));
            spans.push(Span::styled(format!("  turn {}", entry.turn), theme.style("dim")));
        }
        TranscriptContent::Answer(..) => spans.push(Span::styled(words, theme.style("title"))),
        TranscriptContent::Thinking(_) => spans.push(Span::styled(words, theme.style("thinking"))),
        TranscriptContent::Attached(_) => spans.push(Span::styled(words, theme.style("notice"))),
        TranscriptContent::Call(..) => {
            let outcome = entry.outcome().unwrap_or(CallOutcome::Interrupted);
            let (mark, label) = scrollback::call_mark(outcome, entry.exit_code());
            spans.push(Span::styled(mark, theme.style(label)));
            spans.push(Span::styled(words, theme.style("call")));
        }
    }
    if let Some(note) = entry.note() {
        spans.push(Span::styled(format!("  {}", sanitize::line(&note)), theme.style("warning")));
    }
    if fold == FoldState::Closed {
        let lines = count(entry);
        let s = if lines == 1 { "" } else { "s" };
        spans.push(Span::styled(format!("  {lines} line{s}"), theme.style("dim")));
    }
    Line::from(spans)
}

fn count(entry: &TranscriptEntry<'_>) -> usize {
    match entry.what {
        TranscriptContent::Person(text)
        | TranscriptContent::Answer(_, text)
        | TranscriptContent::Thinking(text) => text.lines().count(),
        TranscriptContent::Attached(part) => part.words().map_or(1, |text| text.lines().count()),
        TranscriptContent::Call(_, result) => result.map_or(0, |result| result.body().lines().count()),
    }
}

/// What is in an entry, unfolded.
pub(super) fn body(
    entry: &TranscriptEntry<'_>,
    colours: HighlightStatus,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    match entry.what {
        TranscriptContent::Person(text) => plain(text, theme.style("text")),
        TranscriptContent::Thinking(text) => plain(text, theme.style("thinking")),
        TranscriptContent::Attached(Part::Text { text }) => plain(text, theme.style("output")),
        TranscriptContent::Attached(Part::Note(note)) => plain(&note.words(), theme.style("output")),
        TranscriptContent::Attached(Part::Image(image)) => {
            plain(&picture::chip(image), theme.style("output"))
        }
        TranscriptContent::Answer(_, text) => answer(text, colours, theme, columns),
        TranscriptContent::Call(call, result) => {
            let mut out = Vec::new();
            match &call.input {
                CallInput::Object(value) => arguments(value, 1, theme, &mut out),
                CallInput::Malformed { raw, reason, .. } => {
                    out.extend(plain(reason, theme.style("warning")));
                    out.extend(plain(raw, theme.style("output")));
                }
            }
            let words = match result.map(|result| result.outcome) {
                Some(CallOutcome::Done) => "result",
                Some(CallOutcome::Failed) => "failed",
                Some(CallOutcome::Denied) => "denied",
                Some(CallOutcome::Interrupted) => "interrupted",
                None => "no result",
            };
            out.push(Line::from(vec![Span::styled(format!("  ── {words} ──"), theme.style("rule"))]));
            for part in result.iter().flat_map(|result| &result.parts) {
                match part {
                    Part::Text { text } => out.extend(plain(text, theme.style("output"))),
                    Part::Note(note) => out.extend(plain(&note.words(), theme.style("dim"))),
                    Part::Image(image) => {
                        let chip = format!("{} {}", image.word(), picture::chip(image));
                        out.extend(plain(&chip, theme.style("output")));
                    }
                }
            }
            out
        }
    }
}

/// An answer's Markdown, two columns in.
pub(super) fn answer(
    text: &str,
    colours: HighlightStatus,
    theme: &Theme,
    columns: usize,
) -> Vec<Line<'static>> {
    let clean = visible::prose(text);
    // The pager breaks lines when it draws, so that a search finds words on both sides of a break.
    let width = ProseWidth::unbroken(columns.saturating_sub(2));
    let lines = match colours {
        HighlightStatus::Known => markdown::render(&clean, theme, width),
        HighlightStatus::NotYet => markdown::render_draft(&clean, theme, width),
    };
    lines.into_iter().map(indented).collect()
}

fn indented(mut line: Line<'static>) -> Line<'static> {
    line.spans.insert(0, Span::raw("  "));
    line
}

fn plain(text: &str, style: Style) -> Vec<Line<'static>> {
    indented_lines(&visible::output(text.trim_end_matches('\n')), style)
}

fn indented_lines(clean: &str, style: Style) -> Vec<Line<'static>> {
    clean
        .lines()
        .map(|line| Line::from(vec![Span::raw("  "), Span::styled(line.to_string(), style)]))
        .collect()
}

/// Arguments as `name: value`, a value of several lines below its name: as they are, not as JSON writes them.
fn arguments(value: &Value, depth: usize, theme: &Theme, out: &mut Vec<Line<'static>>) {
    let pairs: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, value)| (format!("{}.", at + 1), value)).collect()
        }
        _ => return,
    };
    let lead = "  ".repeat(depth.min(12));
    for (name, value) in pairs {
        let name = sanitize::line(&name).into_owned();
        let mut spans = vec![Span::raw(lead.clone()), Span::styled(name.clone(), theme.style("key"))];
        match value {
            Value::Object(_) | Value::Array(_) => {
                out.push(Line::from(spans));
                arguments(value, depth + 1, theme, out);
            }
            Value::String(text) if text.trim_end_matches('\n').contains('\n') => {
                out.push(Line::from(spans));
                let rows = match is_patch(&name, text) {
                    true => scrollback::diff_lines(text, theme),
                    false => {
                        indented_lines(&sanitize::block(text.trim_end_matches('\n')), theme.style("text"))
                    }
                };
                let deeper = |mut line: Line<'static>| {
                    line.spans.insert(0, Span::raw(lead.clone()));
                    line
                };
                out.extend(rows.into_iter().map(deeper));
            }
            other => {
                let text = other.as_str().map_or_else(|| other.to_string(), String::from);
                spans.push(Span::raw(" "));
                spans.push(Span::styled(
                    sanitize::line(text.trim_end_matches('\n')).into_owned(),
                    theme.style("text"),
                ));
                out.push(Line::from(spans));
            }
        }
    }
}

fn is_patch(name: &str, text: &str) -> bool {
    matches!(name, "patch" | "diff") || text.starts_with("*** Begin Patch") || text.starts_with("diff --git")
}
