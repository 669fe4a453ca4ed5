//! The only way from a result to the model: a long result is stored whole in a scratchpad, and every cut is reported.

use super::tool_names::ToolNames;
use super::{CallSummary, CommandResult, OutputFacts, ToolContext, ToolError, ToolOutput};
use placet_session::session::ScratchpadEntry;
use placet_text::conversation::{CallFact, CallOutcome, Part, text_of};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;

/// The longest line of a preview, in characters.
const LINE: usize = 2000;
/// How much of a spilled output is shown: its beginning and its end, in bytes.
const HEAD: usize = 4000;
const TAIL: usize = 2000;
/// How many bytes the report about a cut may take.
const TOLD: usize = 400;

/// Records facts with a result for code that reads the conversation later.
pub(super) fn record(mut output: ToolOutput) -> ToolOutput {
    match &output.facts {
        OutputFacts::Ran(CommandResult { output: text, code, effects, .. }) => {
            let code = *code;
            let digest = digest(&[text, &format!("{code:?}"), effects]);
            // A hook may have put something else in the place of the result.
            let is_there = matches!(output.for_model.first(), Some(Part::Text { text: all }) if all.starts_with(text.as_str()));
            let printed = is_there.then_some(CallFact::Printed { bytes: text.len() });
            output.recorded.extend([CallFact::Exit { code }, CallFact::Same { digest }]);
            output.recorded.extend(printed);
        }
        OutputFacts::Steady(text) => {
            let digest = digest(&[text]);
            output.recorded.push(CallFact::Same { digest });
        }
        _ => {}
    }
    output
}

fn digest(pieces: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in pieces {
        hasher.update(&piece.len().to_le_bytes());
        hasher.update(piece.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(32).collect()
}

/// Converts a result into the form that the model gets. With `name`, a success goes to that scratchpad whole.
pub(super) fn deliver(
    output: ToolOutput,
    tool: &str,
    name: Option<&str>,
    (env, names): (&ToolContext, &ToolNames),
) -> ToolOutput {
    match name {
        Some(name) if output.outcome == CallOutcome::Done => keep(output, name, env),
        _ => spill(output, tool, (env, names)),
    }
}

/// The same for a page, in a thread of its own: to store five megabytes takes a moment, and seconds on a busy machine. A call
/// that is stopped meanwhile ends at once, and what the thread stores then is removed again. A scratchpad that the model has
/// named may replace an older one: that is waited for.
pub(super) async fn deliver_page(
    output: ToolOutput,
    (tool, name): (String, Option<String>),
    (env, names): (Arc<ToolContext>, ToolNames),
    cancel: &CancellationToken,
) -> ToolOutput {
    let title = output.for_person.line.clone();
    // The first of the two that sets it decides: the thread with its result, or the stop.
    let is_decided = Arc::new(AtomicBool::new(name.is_some()));
    let by_stop = Arc::clone(&is_decided);
    let is_named = name.is_some();
    let mut storing = tokio::task::spawn_blocking(move || {
        let done = deliver(output, &tool, name.as_deref(), (&env, &names));
        if is_decided.swap(true, Ordering::AcqRel) && !is_named {
            remove_stored(&done, &env);
        }
        done
    });
    let stored = match cancel.run_until_cancelled(&mut storing).await {
        None if !by_stop.swap(true, Ordering::AcqRel) => return interrupted(&title),
        None => storing.await,
        Some(stored) => stored,
    };
    stored.unwrap_or_else(|e| failed(&title, &ToolError::new(format!("the tool failed: {e}"))))
}

fn remove_stored(output: &ToolOutput, env: &ToolContext) {
    for fact in &output.recorded {
        if let CallFact::StoredIn { scratchpad } = fact
            && let Err(e) = env.scratchpads.delete(scratchpad)
        {
            tracing::warn!("the scratchpad `{scratchpad}` of a stopped call was not removed: {e}");
        }
    }
}

fn keep(mut output: ToolOutput, name: &str, env: &ToolContext) -> ToolOutput {
    let image = output.for_model.iter().find_map(|part| match part {
        Part::Image(image) => Some(image.clone()),
        Part::Text { .. } | Part::Note(_) => None,
    });
    let (entry, what) = match image {
        Some(image) => (ScratchpadEntry::Image(image.clone()), image.describe()),
        None => {
            let text = take_text(&mut output.for_model);
            let what = size_of(&text);
            (ScratchpadEntry::Text(text), what)
        }
    };
    match env.scratchpads.put(name, entry) {
        Ok(()) => {
            let line = format!("stored in the scratchpad `{name}`: {what}");
            let summary =
                CallSummary { line: format!("{} -> {name}", output.for_person.line), ..output.for_person };
            output.recorded.push(CallFact::StoredIn { scratchpad: name.into() });
            ToolOutput { for_model: vec![Part::text(line)], for_person: summary, ..output }
        }
        Err(error) => failed(&output.for_person.line, &ToolError::new(error.to_string())),
    }
}

fn spill(mut output: ToolOutput, tool: &str, (env, names): (&ToolContext, &ToolNames)) -> ToolOutput {
    if output.text_bytes() <= env.limits.inline() {
        return output;
    }
    let text = take_text(&mut output.for_model);
    // If there is little room, both ends become shorter.
    let shown = env.limits.inline().saturating_sub(TOLD).min(HEAD + TAIL);
    let (view, _) = preview(&text, shown * 2 / 3, shown / 3);
    let (bytes, size) = (text.len(), size_of(&text));
    if !output.recorded.iter().any(|fact| matches!(fact, CallFact::Same { .. })) {
        // The shown text names the scratchpad, whose name is different each time.
        output.recorded.push(CallFact::Same { digest: digest(&[&text]) });
    }
    output.recorded.push(CallFact::Cut { bytes: bytes.saturating_sub(view.len()) as u64 });
    let told = match env.scratchpads.put_new(&format!("{tool}-output"), ScratchpadEntry::Text(text)) {
        Ok(name) => {
            output.recorded.push(CallFact::StoredIn { scratchpad: name.clone() });
            format!(
                "[{size}: too long to show whole; all of it is in the scratchpad `{name}`. Beginning and end follow.{}]",
                names.page(&name, &env.limits.offered)
            )
        }
        Err(error) => format!("[{size}: too long to show whole, and it could not be stored: {error}]"),
    };
    let mut for_model = vec![Part::text(format!("{told}\n{view}"))];
    for_model.append(&mut output.for_model);
    ToolOutput { for_model, ..output }
}

/// Takes the texts out of `parts`. A single text is moved, because it may be large.
fn take_text(parts: &mut Vec<Part>) -> String {
    let (texts, rest): (Vec<Part>, Vec<Part>) = parts.drain(..).partition(|part| part.as_text().is_some());
    *parts = rest;
    match <[Part; 1]>::try_from(texts) {
        Ok([Part::Text { text }]) => text,
        Ok(other) => text_of(&other),
        Err(texts) => text_of(&texts),
    }
}

/// Beginning and end of a long text, in whole lines if they fit, and how many lines were cut.
pub(super) fn preview(text: &str, head: usize, tail: usize) -> (String, usize) {
    if text.len() <= head + tail {
        return (cap_lines(text), 0);
    }
    let cut = floor(text, head);
    let begin = text.get(..cut).unwrap_or_default();
    let begin = begin.rfind('\n').and_then(|at| begin.get(..=at)).unwrap_or(begin);
    let rest = text.get(begin.len()..).unwrap_or_default();
    let cut = floor(rest, rest.len().saturating_sub(tail));
    let end = rest.get(cut..).unwrap_or_default();
    let end = end.find('\n').and_then(|at| end.get(at + 1..)).filter(|e| !e.is_empty()).unwrap_or(end);
    let middle = rest.len() - end.len();
    let lines = rest.get(..middle).unwrap_or_default().matches('\n').count();
    let joint = if begin.ends_with('\n') { "" } else { "\n" };
    let view = format!(
        "{}{joint}[... {lines} lines, {middle} bytes left out ...]\n{}",
        cap_lines(begin),
        cap_lines(end)
    );
    (view, lines)
}

/// Cuts each line at the cap and reports how much of it is missing.
fn cap_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.char_indices().nth(LINE) {
            Some((at, _)) if line.len() > at + 1 => {
                let left = line.trim_end_matches('\n').len() - at;
                out.push_str(line.get(..at).unwrap_or(line));
                out.push_str(&format!(" [... {left} bytes of this line left out]\n"));
            }
            _ => out.push_str(line),
        }
    }
    out
}

/// `1200 lines, 48213 bytes`.
pub(super) fn size_of(text: &str) -> String {
    let lines = text.lines().count();
    format!("{lines} {}, {} bytes", if lines == 1 { "line" } else { "lines" }, text.len())
}

/// The last character boundary at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A call that did not succeed.
pub(super) fn failed(title: &str, error: &ToolError) -> ToolOutput {
    ToolOutput {
        outcome: CallOutcome::Failed,
        for_model: vec![Part::text(error.for_model())],
        for_person: CallSummary::failure(title, &error.message),
        facts: OutputFacts::Failed(error.clone()),
        recorded: vec![CallFact::Failed { fault: error.fault }],
    }
}

/// A call that was stopped.
pub(super) fn interrupted(title: &str) -> ToolOutput {
    ToolOutput {
        outcome: CallOutcome::Interrupted,
        for_model: vec![Part::text("interrupted: the person stopped this call before it ended")],
        for_person: CallSummary::line(format!("{title}: interrupted")),
        facts: OutputFacts::None,
        recorded: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_keeps_whole_lines_at_both_ends_and_counts_the_rest() {
        let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        let (view, left) = preview(&text, 100, 50);
        assert!(view.starts_with("line 0\n") && view.ends_with("line 999\n"));
        let shown = view.lines().filter(|l| l.starts_with("line ")).count();
        assert_eq!(shown + left, 1000, "{view}");
    }

    #[test]
    fn one_endless_line_is_cut_at_characters() {
        let (view, _) = preview(&"é".repeat(100_000), 4001, 2001);
        assert!(view.len() < 7000 && view.contains("bytes left out"));
    }
}
