//! A transcript entry as lines for the scrollback: calls, diffs, notices, the end of a turn. placet's own lines have
//! its mark ([`super::lines::margin_mark`]); all rows below the mark are indented as far as the words after it.

use super::colors::theme::Theme;
use super::lines::prose::{self, ProseIndent, ProseSpan, ProseWidth};
use super::lines::{margin_mark, markdown, verbatim};
use super::picture;
use placet_agent::TurnEnding;
use placet_text::conversation::CallOutcome;
use placet_text::text::{sanitize, visible, width};
use placet_tools::{CallSummary, ChangeOverview, CommandEnd, DisplayDetail, FileDiff, LeftOut, MatchedText};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Lines of a diff shown before it is folded.
const DIFF_LINES: usize = 60;
/// The indent below the words of a call.
const FURTHER: &str = "    ";
/// Columns of one line of output; a longer line is cut, and shows that it is.
const OUTPUT_COLUMNS: usize = 400;

/// The sign of how a call ended, and the label of its style. A command that ended with a `code` other than 0 has
/// failed.
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

/// What hooks told the model about a call, below its line; `fold` lines of each.
pub fn call_notes(summary: &CallSummary, theme: &Theme, fold: usize) -> Vec<Line<'static>> {
    let lines = |note: &String| {
        let clean = visible::guard(note);
        let styled = |line: &str| {
            let text = Span::styled(line.to_string(), theme.style("notice"));
            Line::from(vec![Span::raw(margin_mark::UNDER), text])
        };
        folded(clean.lines().map(styled), fold, theme)
    };
    summary.notes.iter().flat_map(lines).collect()
}

/// The first line of a call, broken at words where it does not fit. The transcript view has the command as it ran.
pub fn broken_call(head: Line<'static>, width: ProseWidth) -> Vec<Line<'static>> {
    let [lead, mark, text] = head.spans.as_slice() else { return vec![head] };
    let words = vec![ProseSpan { span: text.clone(), is_whole: false }];
    let indent = ProseIndent {
        first: vec![lead.clone(), mark.clone()],
        further: FURTHER.into(),
        ..ProseIndent::default()
    };
    prose::lines(indent, words, width)
}

/// A line of folded output, broken at words where it does not fit, further in than it begins. Folded output is a preview:
/// the expanded view and the transcript view have the lines whole, to be copied. Also here a word wider than the screen
/// stays whole, so that an address can be opened.
pub fn broken_output(line: Line<'static>, width: ProseWidth) -> Vec<Line<'static>> {
    let [lead, text] = line.spans.as_slice() else { return vec![line] };
    let words = text.content.trim_start_matches(' ');
    let blanks = text.content.len() - words.len();
    // A line that begins far in would continue in a narrow column.
    let further = if blanks * 3 <= width.columns { blanks } else { 0 };
    let indent = ProseIndent {
        first: vec![lead.clone(), Span::raw(" ".repeat(blanks))],
        further: format!("{FURTHER}{}", " ".repeat(further)),
        ..ProseIndent::default()
    };
    let words = vec![ProseSpan { span: Span::styled(words.to_string(), text.style), is_whole: false }];
    prose::lines(indent, words, width)
}

/// The output of a call, folded to `fold` lines. Of a failed command, the last lines are shown, because they give the
/// reason.
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

/// What a sub-agent reported, folded to `fold` rows: Markdown, as the answer of the agent is.
pub fn report(text: &str, theme: &Theme, width: ProseWidth, fold: usize) -> Vec<Line<'static>> {
    let inner = ProseWidth { columns: width.columns.saturating_sub(margin_mark::UNDER.len()), ..width };
    let rows = markdown::render(text, theme, inner).into_iter().map(|mut row| {
        row.spans.insert(0, Span::raw(margin_mark::UNDER));
        row
    });
    folded(rows, fold, theme)
}

/// The output of a call, folded to `fold` lines (diffs to more).
pub fn detail(detail: &DisplayDetail, theme: &Theme, fold: usize) -> Vec<Line<'static>> {
    match detail {
        DisplayDetail::None => Vec::new(),
        DisplayDetail::Text(text) | DisplayDetail::Report(text) => {
            let (shown, hidden) = head_of(text.trim_end_matches('\n'), fold);
            let clean = visible::output(shown);
            let lines = clean.lines().map(|l| styled(l, theme.style("output")));
            match hidden {
                0 => folded(lines, fold, theme),
                hidden => lines.chain([more_lines(hidden, theme)]).collect(),
            }
        }
        DisplayDetail::Matches(found) => folded(search_lines(found, theme), fold, theme),
        DisplayDetail::Diff(diff) => folded(diff_lines(&diff.text, theme).into_iter(), DIFF_LINES, theme),
        DisplayDetail::Changes(overview) => changes(overview, theme),
        DisplayDetail::Command(command) => {
            let clean = visible::output(&command.words()).into_owned();
            folded(clean.lines().map(|l| styled(l, theme.style("output"))), fold, theme)
        }
        DisplayDetail::Image(image) => vec![styled(&picture::chip(image), theme.style("output"))],
    }
}

/// The result of a search, with what matched in the colour of matches. It has the same letters without the colour.
fn search_lines<'a>(found: &'a MatchedText, theme: &'a Theme) -> impl Iterator<Item = Line<'static>> + 'a {
    let clean = visible::output(found.text.trim_end_matches('\n')).into_owned();
    let (output, mark) = (theme.style("output"), theme.style("match"));
    let rows: Vec<String> = clean.lines().map(String::from).collect();
    rows.into_iter().enumerate().map(move |(row, text)| {
        let shown = width::cut(&text, OUTPUT_COLUMNS);
        let (mut spans, mut at) = (vec![Span::raw("  ")], 0);
        for range in found.matches_in(row, &text) {
            let (Some(before), Some(matched)) = (shown.get(at..range.start), shown.get(range.clone())) else {
                break;
            };
            spans.push(Span::styled(before.to_string(), output));
            spans.push(Span::styled(matched.to_string(), output.patch(mark)));
            at = range.end;
        }
        spans.push(Span::styled(shown.get(at..).unwrap_or_default().to_string(), output));
        Line::from(spans)
    })
}

/// A unified diff in colours; the signs show the same without them. A long line is cut, and shows that it is.
pub fn diff_lines(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    verbatim::diff(text.as_bytes(), theme).into_iter().map(cut_line).collect()
}

/// A change set that the person asked to see: all of it, and no line cut.
fn changes(overview: &ChangeOverview, theme: &Theme) -> Vec<Line<'static>> {
    let spans = |texts: [String; 2]| Line::from(texts.map(Span::raw).to_vec());
    let mut out: Vec<Line<'static>> =
        overview.list.iter().map(|row| [margin_mark::UNDER.to_string(), row.line()]).map(spans).collect();
    for file in &overview.files {
        out.push(Line::default());
        // The patch of a commit names its files, and not the commit.
        if overview.list.get(file.row).is_some_and(|row| row.commit.is_some()) {
            out.push(Line::raw(format!("  {}", file.name)));
        }
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
        LeftOut::Replaced { .. } => {
            format!("{bytes} bytes of {name} are not shown: the file in the workspace has other content now")
        }
        LeftOut::OfTransaction { id, .. } => {
            format!(
                "{bytes} more bytes of {name} are not shown: `placet journal show {id} --patch` shows them"
            )
        }
        LeftOut::NotRead => format!("not all of it is shown: {name}"),
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
    // A note that one line is hidden would itself take a line.
    let shown = if hidden <= 1 { all.len() } else { fold };
    let mut out: Vec<Line<'static>> = all.into_iter().take(shown).collect();
    if hidden > 1 {
        out.push(more_lines(hidden, theme));
    }
    out
}

fn more_lines(hidden: usize, theme: &Theme) -> Line<'static> {
    styled(&format!("… {hidden} more lines"), theme.style("hint"))
}

/// Bytes from which on only what is shown of a text is rendered.
const LONG_TEXT: usize = 64 * 1024;

/// The first lines of a long text, and how many more there are. The thread that renders the text reads the keys as well: while
/// it rendered all of a page of five megabytes, nobody could stop the turn.
fn head_of(text: &str, fold: usize) -> (&str, usize) {
    if text.len() <= LONG_TEXT {
        return (text, 0);
    }
    let last = fold.checked_sub(1).and_then(|last| text.match_indices('\n').nth(last));
    let parts = last.and_then(|(end, _)| text.get(..end).zip(text.get(end + 1..)));
    let hidden = parts.map_or(0, |(_, rest)| rest.matches('\n').count() + 1);
    match parts {
        Some((head, _)) if hidden > 1 => (head, hidden),
        _ => (text, 0),
    }
}

fn styled(text: &str, style: Style) -> Line<'static> {
    Line::from(vec![Span::raw("  "), Span::styled(width::cut(text, OUTPUT_COLUMNS), style)])
}

/// The person's message during a turn, as it went to the model.
pub fn said(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    let clean = visible::prose(text.trim_end_matches('\n')).into_owned();
    let lead = |at: usize| if at == 0 { "> " } else { "  " };
    let line = |(at, text): (usize, &str)| {
        let (lead, text) = (Span::styled(lead(at), theme.style("prompt")), text.to_string());
        Line::from(vec![lead, Span::styled(text, theme.style("said"))])
    };
    // An answer may have a line that begins with `> `: the mark shows that these are the person's words.
    margin_mark::block(clean.lines().enumerate().map(line), theme)
}

pub fn notice(text: &str, theme: &Theme) -> Vec<Line<'static>> {
    said_by_placet(text, "notice", theme)
}

/// A hint in a muted style.
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

#[cfg(test)]
mod tests {
    use super::*;
    use placet_config::WrapSetting;
    use std::time::{Duration, Instant};

    #[test]
    fn only_what_is_shown_of_a_long_text_is_rendered() {
        let rows = |lines: usize| -> Vec<String> {
            let text: String = (1..=lines).map(|n| format!("line {n} \u{1b}[2J\n")).collect();
            let detail = detail(&DisplayDetail::Text(text), &Theme::plain(), 3);
            detail.iter().map(ToString::to_string).collect()
        };
        let (short, long) = (rows(20), rows(20_000));
        assert_eq!((short.len(), &short[..3]), (4, &long[..3]));
        assert_eq!((short[3].as_str(), long[3].as_str()), ("  … 17 more lines", "  … 19997 more lines"));
        let text = DisplayDetail::Text("five megabytes of a page\n".repeat(200_000));
        let time = || {
            let started = Instant::now();
            assert_eq!(detail(&text, &Theme::plain(), 3).len(), 4);
            started.elapsed()
        };
        let fastest = std::iter::repeat_with(time).take(5).min().unwrap();
        assert!(fastest < Duration::from_millis(400), "{fastest:?}");
    }

    /// Story: at 40 columns `pending` was broken in the word.
    #[test]
    fn a_call_is_broken_at_words_and_as_far_in() {
        let rows = |text: &str| -> Vec<String> {
            let spans = vec![Span::raw(margin_mark::LEAD), Span::raw("✓ "), Span::raw(text.to_string())];
            let lines = broken_call(Line::from(spans), ProseWidth::new(40, WrapSetting::Words));
            lines.iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            rows("edit tests/test_price.py +1 -1 · pending"),
            ["◆ ✓ edit tests/test_price.py +1 -1 ·", "    pending"]
        );
        assert_eq!(rows("edit a.rs +1 -1 · pending"), ["◆ ✓ edit a.rs +1 -1 · pending"]);
        assert_eq!(
            rows("run git commit -qam 'Set the tax' && git push origin main · 12 created, pending"),
            [
                "◆ ✓ run git commit -qam 'Set the tax' &&",
                "    git push origin main · 12 created,",
                "    pending"
            ]
        );
    }

    /// Story: `Read-only file system` was broken in its last word, and the rest of it stood at the margin.
    #[test]
    fn folded_output_is_broken_at_words_and_further_in() {
        let rows = |text: &str, wrap: WrapSetting| -> Vec<String> {
            let lines = detail(&DisplayDetail::Text(text.into()), &Theme::plain(), 6).into_iter();
            let rows = lines.flat_map(|line| broken_output(line, ProseWidth::new(40, wrap)));
            rows.map(|row| row.to_string()).collect()
        };
        let said = "touch: cannot touch '/etc/x': Read-only file system\n  File \"price.py\", line 11, in gross of it\n";
        assert_eq!(
            rows(said, WrapSetting::Words),
            [
                "  touch: cannot touch '/etc/x':",
                "    Read-only file system",
                "    File \"price.py\", line 11, in gross",
                "      of it"
            ]
        );
        // Columns and words that fit are as they were, and a word wider than the screen is the terminal's to break.
        let wide = format!("a   b\n{}", "x".repeat(60));
        assert_eq!(rows(&wide, WrapSetting::Words), ["  a   b".to_string(), format!("  {}", "x".repeat(60))]);
        assert_eq!(rows(said, WrapSetting::Terminal).len(), 2);
    }
}
