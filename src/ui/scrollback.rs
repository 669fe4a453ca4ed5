//! A transcript entry as lines for the scrollback: calls, diffs, notices, the end of a turn. What placet itself says has
//! its mark ([`super::margin_mark`]); all rows below it are as far in as the words behind the mark.

use super::margin_mark;
use super::picture;
use super::theme::Theme;
use super::verbatim;
use crate::agent::TurnEnding;
use crate::conversation::CallOutcome;
use crate::text::{sanitize, visible, width};
use crate::tools::{CallSummary, ChangeOverview, CommandEnd, DisplayDetail, FileDiff, LeftOut};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Lines of a diff shown before it is folded.
const DIFF_LINES: usize = 60;
/// Columns of one line of output; what is longer is cut, and said to be.
const OUTPUT_COLUMNS: usize = 400;

/// The sign of how a call ended, and the label of its style. A command that ended with a `code` other than 0 has failed.
pub(super) fn call_mark(outcome: CallOutcome, code: Option<i32>) -> (&'static str, &'static str) {
    match outcome {
        CallOutcome::Done if code.is_some_and(|code| code != 0) => ("✗ ", "call.failed"),
        CallOutcome::Done => ("✓ ", "call.done"),
        CallOutcome::Failed => ("✗ ", "call.failed"),
        CallOutcome::Denied => ("⊘ ", "call.denied"),
        CallOutcome::Interrupted => ("■ ", "call.denied"),
    }
}

/// A finished call: one line that names its object, and its folded output.
pub fn call(outcome: CallOutcome, summary: &CallSummary, theme: &Theme, fold: usize) -> Vec<Line<'static>> {
    let (mark, label) = call_mark(outcome, summary.command.map(|command| command.code));
    let head = sanitize::line(&summary.line).into_owned();
    let head = vec![Span::styled(mark, theme.style(label)), Span::styled(head, theme.style("call"))];
    let mut lines = vec![margin_mark::line(head, theme)];
    lines.extend(call_detail(summary, theme, fold));
    lines
}

/// What came of a call, folded to `fold` lines. Of a command that failed the last lines say why.
pub fn call_detail(summary: &CallSummary, theme: &Theme, fold: usize) -> Vec<Line<'static>> {
    match (&summary.detail, summary.command) {
        (DisplayDetail::Text(text), Some(command)) => command_output(text, command, theme, fold),
        (other, _) => detail(other, theme, fold),
    }
}

/// `text` is what the screen has of the output: the first and the last lines of it.
fn command_output(text: &str, command: CommandEnd, theme: &Theme, fold: usize) -> Vec<Line<'static>> {
    let missing = command.lines.saturating_sub(text.lines().count());
    let clean = visible::output(text.trim_end_matches('\n'));
    let mut lines: Vec<Line<'static>> = clean.lines().map(|l| styled(l, theme.style("output"))).collect();
    if lines.len() <= fold.saturating_add(1) {
        return lines;
    }
    let hidden = lines.len() - fold + missing;
    let label = theme.style("hint");
    if command.has_failed() {
        lines.drain(..lines.len() - fold);
        lines.insert(0, styled(&format!("… {hidden} earlier lines"), label));
    } else {
        lines.truncate(fold);
        lines.push(styled(&format!("… {hidden} more lines"), label));
    }
    lines
}

/// What came of a call, folded to `fold` lines (diffs to more).
pub fn detail(detail: &DisplayDetail, theme: &Theme, fold: usize) -> Vec<Line<'static>> {
    match detail {
        DisplayDetail::None => Vec::new(),
        DisplayDetail::Text(text) => {
            let clean = visible::output(text.trim_end_matches('\n'));
            folded(clean.lines().map(|l| styled(l, theme.style("output"))), fold, theme)
        }
        DisplayDetail::Diff(diff) => folded(diff_lines(&diff.text, theme).into_iter(), DIFF_LINES, theme),
        DisplayDetail::Changes(overview) => changes(overview, theme),
        DisplayDetail::Image(image) => vec![styled(&picture::chip(image), theme.style("output"))],
    }
}

/// A unified diff in colours; the signs say the same without them. A long line is cut, and shows that it is.
pub fn diff_lines(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    verbatim::diff(text.as_bytes(), theme).into_iter().map(cut_line).collect()
}

/// A change set that the person asked to see: all of it, and no line cut.
fn changes(overview: &ChangeOverview, theme: &Theme) -> Vec<Line<'static>> {
    let mut out: Vec<Line<'static>> =
        overview.list.iter().map(|row| Line::raw(format!("  {}", row.line()))).collect();
    for file in &overview.files {
        out.push(Line::default());
        out.extend(verbatim::diff(&file.patch, theme));
        out.extend(left_out(file, theme));
    }
    out
}

/// What of the difference of a file is not shown, and what shows it.
pub(super) fn left_out(file: &FileDiff, theme: &Theme) -> Option<Line<'static>> {
    let left_out = file.left_out?;
    let (bytes, name) = (left_out.bytes(), &file.name);
    let words = match left_out {
        LeftOut::TooLong { .. } => {
            format!("{bytes} more bytes of {name} are not shown: `placet changes --patch` shows them")
        }
        LeftOut::NotInPatch { .. } => format!(
            "{bytes} bytes of {name} are not shown: a command after `!`, such as `!less`, can read the file"
        ),
        LeftOut::OfCommit { .. } => {
            format!("{bytes} more bytes of {name} are not shown: `!git show` shows them")
        }
    };
    Some(Line::styled(format!("  {words}"), theme.style("warning")))
}

fn cut_line(line: Line<'static>) -> Line<'static> {
    let (mut spans, mut room) = (Vec::new(), OUTPUT_COLUMNS);
    for span in line.spans {
        let wide = width::of(&span.content);
        if wide > room {
            spans.push(Span::styled(width::cut(&span.content, room.max(1)), span.style));
            break;
        }
        room -= wide;
        spans.push(span);
    }
    Line::from(spans)
}

fn folded(lines: impl Iterator<Item = Line<'static>>, fold: usize, theme: &Theme) -> Vec<Line<'static>> {
    let all: Vec<Line<'static>> = lines.collect();
    let hidden = all.len().saturating_sub(fold);
    // One line saved is not worth a line that says so.
    let shown = if hidden <= 1 { all.len() } else { fold };
    let mut out: Vec<Line<'static>> = all.into_iter().take(shown).collect();
    if hidden > 1 {
        out.push(styled(&format!("… {hidden} more lines"), theme.style("hint")));
    }
    out
}

fn styled(text: &str, style: Style) -> Line<'static> {
    Line::from(vec![Span::raw("  "), Span::styled(width::cut(text, OUTPUT_COLUMNS), style)])
}

/// What the person said while a turn ran, as it went to the model.
pub fn said(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    let clean = visible::prose(text.trim_end_matches('\n')).into_owned();
    let lead = |at: usize| if at == 0 { "> " } else { "  " };
    let line = |(at, text): (usize, &str)| {
        let (lead, text) = (Span::styled(lead(at), theme.style("prompt")), text.to_string());
        Line::from(vec![lead, Span::styled(text, theme.style("said"))])
    };
    // An answer may have a line that begins with `> `: the mark says that these are the person's words.
    margin_mark::block(clean.lines().enumerate().map(line), theme)
}

pub fn notice(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    said_by_placet(text, "notice", theme)
}

/// Something that is read only by who looks for it.
pub fn hint(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    said_by_placet(text, "hint", theme)
}

/// More of the block above it.
pub fn under(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    let clean = visible::guard(text);
    let row = |line: &str| {
        Line::from(vec![Span::raw(margin_mark::UNDER), Span::styled(line.to_string(), theme.style("hint"))])
    };
    clean.lines().map(row).collect()
}

fn said_by_placet(text: &str, label: &str, theme: &Theme) -> Vec<Line<'static>> {
    let clean = visible::guard(text);
    let lines = clean.lines().map(|line| Line::styled(line.to_string(), theme.style(label)));
    margin_mark::block(lines, theme)
}

pub fn error(text: &str, hint: Option<&str>, theme: &Theme) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    for (at, line) in visible::guard(text).lines().enumerate() {
        let lead = if at == 0 { "error: " } else { "       " };
        lines.push(Line::from(vec![Span::styled(lead, theme.style("error")), Span::raw(line.to_string())]));
    }
    lines.extend(
        hint.map(|h| Line::from(vec![Span::styled("hint: ", theme.style("hint")), Span::raw(h.to_string())])),
    );
    margin_mark::block(lines, theme)
}

/// What the end of a turn leaves in the scrollback; nothing where it simply ended.
pub fn ending(ending: &TurnEnding, theme: &Theme) -> Vec<Line<'static>> {
    let Some((text, hint)) = ending.words() else { return Vec::new() };
    let clean = visible::guard(&text).into_owned();
    let mut lines: Vec<Line<'static>> =
        clean.lines().map(|line| Line::styled(line.to_string(), theme.style("warning"))).collect();
    lines.extend(hint.map(|h| Line::styled(h, theme.style("hint"))));
    margin_mark::block(lines, theme)
}
