//! The texts of the offline provider. Every text is about what really happened; none pretends to be the thought of a
//! model.

use super::grammar::{HelpTopic, OfflineGrammarRow};
use super::setup_command::SetupCommand;
use placet_text::conversation::{CallOutcome, CallResult, Part, ToolCall};
use serde_json::Value;

/// A call and its result.
pub(super) struct CallWithResult<'m> {
    pub(super) call: &'m ToolCall,
    pub(super) result: &'m CallResult,
}

/// The most of one result that is repeated; the transcript has the whole of it.
const MOST_LINES: usize = 60;
const MOST_BYTES: usize = 6000;

const WHO: &str = "I am the built-in offline provider, not a model";

/// One line: the requests themselves are in the answer to `help`.
pub(super) fn not_understood(setup: SetupCommand) -> String {
    format!("{WHO}: `{setup}` adds a model, and `help` lists the requests that I understand.")
}

pub(super) fn misread(request: &str, near: &[String], setup: SetupCommand) -> String {
    let patterns: Vec<String> = near.iter().map(|p| format!("`{p}`")).collect();
    let request: String = request.chars().take(80).collect();
    let known = patterns.join(", ");
    format!(
        "I did nothing, because I do not understand `{request}`. I know: {known}. `{setup}` adds a model."
    )
}

pub(super) fn open_quote(request: &str) -> String {
    let request: String = request.chars().take(80).collect();
    format!("I did nothing, because a quote is not closed in `{request}`.")
}

pub(super) fn nothing_to_save() -> String {
    "There is nothing to save yet.".into()
}

pub(super) fn reading_first() -> String {
    "The change needs the file as it is now, so I read it first.".into()
}

/// After an edit that was refused.
pub(super) fn reading_again() -> String {
    "The change needs the file as it is now; I read it and then try again.".into()
}

/// The requests about one topic, those that call the same tool on one line: it fits a screen of 24 rows.
pub(super) fn help(rows: &[OfflineGrammarRow], topic: HelpTopic) -> String {
    let about = match topic {
        HelpTopic::Requests => "these requests",
        HelpTopic::Scratchpads => "these requests about scratchpads",
    };
    let mut out = format!("{WHO}. I understand {about}:\n\n");
    let of_topic: Vec<&OfflineGrammarRow> =
        rows.iter().filter(|row| row.topic() == topic && !row.subject().is_empty()).collect();
    for same in of_topic.chunk_by(|one, next| one.subject() == next.subject()) {
        let patterns: Vec<String> = same.iter().map(|row| format!("`{}`", row.short_pattern())).collect();
        out.push_str(&format!("- {}\n", patterns.join(", ")));
    }
    out.push_str(match topic {
        HelpTopic::Requests => {
            "\nReplace the words in capitals, leave out what is in brackets. Join requests with `;`, or with ` and then ` \
             to run them in order. Texts and names with spaces go in double quotes. `help scratchpads` lists the requests \
             about scratchpads.\n"
        }
        HelpTopic::Scratchpads => {
            "\n`show`, `list`, `find`, `search` and `run` store their result with `into scratchpad NAME`.\n"
        }
    });
    out
}

/// The answer where every call is an edit that was made: the rows above it show the edits.
const DONE: &str = "Done.\n";

/// Everything that was found, in order.
pub(super) fn all(found: &[CallWithResult<'_>], given_up: bool) -> String {
    let mut out = String::new();
    let is_shown = |found: &&CallWithResult<'_>| !is_plain_edit(found);
    if !given_up && !found.is_empty() && !found.iter().any(|found| is_shown(&found)) {
        return DONE.into();
    }
    for found in found.iter().filter(is_shown) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&one(found));
    }
    if given_up {
        out.push_str("\nThe requests after that were not run.\n");
    }
    out
}

/// True for an answer that [`all`] wrote: it repeats results and adds nothing.
pub(super) fn is_report(text: &str) -> bool {
    text == DONE || text.starts_with("`") || text.starts_with("Not done: `") || text.starts_with("Stopped: `")
}

/// An edit that was made, of which the result has one line besides the difference.
fn is_plain_edit(found: &CallWithResult<'_>) -> bool {
    found.result.outcome == CallOutcome::Done
        && edits(found.call)
        && !text_of(found).trim_end().contains('\n')
}

/// The text of a result. The difference of an edit is left out: it is on the screen already, and in the result that a
/// model would get.
fn text_of(found: &CallWithResult<'_>) -> String {
    let body = found.result.body();
    if edits(found.call) { without_differences(&body) } else { body }
}

fn one(found: &CallWithResult<'_>) -> String {
    let name = label(found.call);
    let rest = text_of(found);
    let body = rest.trim_end();
    match found.result.outcome {
        CallOutcome::Denied => return format!("Not done: `{name}`: {}\n", shortened(body).0),
        CallOutcome::Interrupted => return format!("Stopped: `{name}`: {}\n", shortened(body).0),
        CallOutcome::Failed if !body.contains('\n') => return format!("`{name}` failed: {body}\n"),
        _ => {}
    }
    let pictures = found.result.parts.iter().filter_map(|part| match part {
        Part::Image(image) => Some(image.describe()),
        Part::Text { .. } | Part::Note(_) => None,
    });
    let mut out = String::new();
    let failed = if found.result.is_error() { " failed" } else { "" };
    if edits(found.call) && !body.is_empty() && !body.contains('\n') {
        out.push_str(&format!("`{name}`{failed}: {body}\n"));
    } else if body.is_empty() {
        out.push_str(&format!("`{name}`{failed}: no output\n"));
    } else {
        let (body, effects) = effects_apart(body);
        let (shown, more) = shortened(body);
        let fence = fence(shown);
        out.push_str(&format!("`{name}`{failed}:\n\n{fence}text\n{shown}\n{fence}\n"));
        if more > 0 {
            out.push_str(&format!("... and {more} more lines, not shown here.\n"));
        }
        for line in effects.lines() {
            out.push_str(&format!("\n{}\n", literal(line)));
        }
    }
    if is_ambiguous(found) {
        out.push_str("With `everywhere` at its end, the request replaces all of them.\n");
    }
    for picture in pictures {
        out.push_str(&format!("A picture: {picture}. The offline provider cannot see it.\n"));
    }
    out
}

/// The output of a command, and what placet reports after it about the files: sentences, which a screen breaks at words.
fn effects_apart(body: &str) -> (&str, &str) {
    let is_report = |line: &&str| line.starts_with('[');
    let report = body.split_inclusive('\n').rev().take_while(is_report).map(str::len).sum::<usize>();
    let (before, report) = body.split_at_checked(body.len() - report).unwrap_or((body, ""));
    match report.find("[effects: ") {
        Some(at) if at == 0 || report.as_bytes().get(at - 1) == Some(&b'\n') => {
            let end = before.len() + at;
            (body.get(..end).unwrap_or(body).trim_end(), body.get(end..).unwrap_or_default())
        }
        _ => (body, ""),
    }
}

/// A line as text of Markdown: no name in it becomes markup.
fn literal(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        if "\\`*_<&~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The call changes a file, and its result has the difference.
fn edits(call: &ToolCall) -> bool {
    matches!(call.name.as_str(), "edit_file" | "write_file" | "apply_patch")
}

/// True for a replacement that was refused because the text occurs several times. As a model does, the provider has only
/// the text of the result; if its words change, the hint is missing and nothing else.
fn is_ambiguous(found: &CallWithResult<'_>) -> bool {
    found.call.name == "edit_file" && found.result.is_error() && text_of(found).contains(" times in `")
}

/// `text` without the hunks of unified differences in it.
fn without_differences(text: &str) -> String {
    let mut in_hunk = false;
    let is_kept = |line: &&str| {
        // Blanks at the end of a line may be cut off, and a long difference ends with a remark in brackets.
        let may_be_in_one = line.starts_with([' ', '+', '-', '\\', '[']) || line.trim_end().is_empty();
        in_hunk = line.starts_with("@@ ") || in_hunk && may_be_in_one;
        !in_hunk
    };
    text.split_inclusive('\n').filter(is_kept).collect()
}

/// The call by its tool and the argument that names its object.
fn label(call: &ToolCall) -> String {
    let input = call.input.to_replay();
    let object = ["path", "command", "pattern", "name"].into_iter().find_map(|key| input.get(key)?.as_str());
    let action = input.get("action").and_then(Value::as_str);
    let words: Vec<&str> = [Some(call.name.as_str()), action, object].into_iter().flatten().collect();
    // The label is printed between backticks, on one line.
    let line = words.join(" ").replace(['\n', '`'], " ");
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The beginning of a text, and how many lines are left out.
fn shortened(text: &str) -> (&str, usize) {
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number == MOST_LINES || end + line.len() > MOST_BYTES && end > 0 {
            let left = text.get(end..).unwrap_or_default().lines().count();
            return (text.get(..end).unwrap_or_default().trim_end(), left);
        }
        end += line.len();
    }
    match text.char_indices().map(|(at, _)| at).find(|at| *at >= MOST_BYTES) {
        Some(cut) if !text.contains('\n') => (text.get(..cut).unwrap_or_default(), 1),
        _ => (text, 0),
    }
}

/// A fence longer than any within.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Story: at 80 columns the tour had a line of code that the terminal broke in `they`.
    #[test]
    fn what_placet_says_after_the_output_is_prose() {
        let report = "[exit code 0, 0.0 s, in /w]\n[effects: 1 deleted: a_b; pending]";
        let (output, effects) = effects_apart(report);
        assert_eq!((output, effects), ("[exit code 0, 0.0 s, in /w]", "[effects: 1 deleted: a_b; pending]"));
        assert_eq!(literal(effects), "[effects: 1 deleted: a\\_b; pending]");
        let quoted = "[effects: none]\nend";
        assert_eq!(effects_apart(quoted), (quoted, ""), "the output of the command itself");
    }
}
