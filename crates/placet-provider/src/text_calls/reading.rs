//! Decides whether an answer is a call: where in the text it is, and whether its name is a tool.
//!
//! A call with a marker counts where it is the whole answer or its end, outside of code. A call without one, plain JSON or
//! Python, could be what the person asked for. It counts only if the model has made no real call in this conversation,
//! the person did not name the tool, no other code is in the answer, and, behind other text, if all arguments are those
//! of the tool.

use super::block::BlockError;
use super::callable_tools::CallableTools;
use super::cursor::{Cursor, WrittenArguments, WrittenCall};
use super::format::{BLOCK_OPEN, END_TOKENS, openers};
use super::syntax::{ARGUMENT_KEYS, NAME_KEYS, calls, json_calls};
use super::{block, python};
use placet_text::conversation::{CallInput, StopReason, TextCallFault};
use serde_json::{Map, Value};

/// What an answer is.
#[derive(Debug, PartialEq)]
pub(super) enum TextReading {
    /// Ordinary text.
    Plain,
    /// Words, and then these calls.
    Calls { prose: String, calls: Vec<(String, CallInput)> },
    /// The model meant a call, and it cannot run.
    Fault(TextCallFault),
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerEnd {
    Whole,
    /// At its limit of so many tokens; 0 if the server did not count them.
    AtLimit(u64),
}

impl AnswerEnd {
    pub(super) fn of(stop: &StopReason, tokens: u64) -> AnswerEnd {
        if *stop == StopReason::MaxTokens { AnswerEnd::AtLimit(tokens) } else { AnswerEnd::Whole }
    }
}

pub(super) fn read(text: &str, tools: &CallableTools, end: AnswerEnd) -> TextReading {
    let text = without_end(text);
    match marker(text) {
        Some(at) => marked(text, at, tools, end),
        None if tools.has_blocks && block::is_edit_of_nothing(text) => {
            let reason = format!("a search and replace block begins with {}TOOL PATH", BLOCK_OPEN[0]);
            TextReading::Fault(TextCallFault::Unreadable { reason })
        }
        None if tools.takes_unmarked => unmarked(text, tools),
        None => TextReading::Plain,
    }
}

/// What stands in front of the calls.
fn words(text: &str, calls: usize) -> String {
    text.get(..calls).unwrap_or_default().trim_end().into()
}

fn without_end(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(rest) = END_TOKENS.iter().find_map(|token| text.strip_suffix(token)) {
        text = rest.trim_end();
    }
    text
}

/// Where the first marker outside of code is.
pub(super) fn marker(text: &str) -> Option<usize> {
    let mut lines = CodeLines::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let here = text.get(start..).unwrap_or_default();
        let begins =
            |at: usize| openers().any(|open| here.get(at..).is_some_and(|rest| rest.starts_with(open)));
        if !lines.is_code() {
            let places = line.char_indices().filter(|(_, c)| matches!(c, '<' | '[' | '`'));
            let found = places.map(|(at, _)| at).find(|at| begins(*at) && !is_quoted(line, *at));
            if let Some(at) = found {
                return Some(start + at);
            }
        }
        lines.pass(line);
        start += line.len();
    }
    None
}

/// True for a place within inline code or behind a quote, and for a fence that does not begin its line.
fn is_quoted(line: &str, at: usize) -> bool {
    let before = line.get(..at).unwrap_or_default();
    if line.get(at..).is_some_and(|rest| rest.starts_with('`')) {
        return !before.trim().is_empty();
    }
    before.matches('`').count() % 2 == 1 || before.ends_with(['"', '\'', '\u{201c}', '`'])
}

/// Which lines are in a code fence.
#[derive(Debug, Default)]
pub(super) struct CodeLines {
    fence: Option<String>,
}

impl CodeLines {
    pub(super) fn is_code(&self) -> bool {
        self.fence.is_some()
    }

    pub(super) fn pass(&mut self, line: &str) {
        let line = line.trim();
        let mark: String =
            line.chars().take_while(|c| line.starts_with(*c) && matches!(c, '`' | '~')).collect();
        match &self.fence {
            Some(open) if line == mark && mark.len() >= open.len() && mark.starts_with(open.as_str()) => {
                self.fence = None;
            }
            None if mark.len() >= 3 => self.fence = Some(mark),
            _ => {}
        }
    }
}

fn marked(text: &str, at: usize, tools: &CallableTools, end: AnswerEnd) -> TextReading {
    let (written, rest) = calls(text.get(at..).unwrap_or_default());
    let is_known = |call: &WrittenCall| tools.find(&call.name).is_some();
    let mut read: Vec<(String, CallInput)> = written.iter().map(|call| tools.input(call)).collect();
    if rest.is_empty() && !written.is_empty() {
        return match written.iter().find(|call| !is_known(call)) {
            Some(unknown) => TextReading::Fault(TextCallFault::UnknownTool { name: unknown.name.clone() }),
            None => TextReading::Calls { prose: words(text, at), calls: read },
        };
    }
    let begun = begun_name(rest).filter(|name| tools.find(name).is_some());
    match (begun, end) {
        (Some(name), AnswerEnd::AtLimit(tokens)) if written.iter().all(is_known) => {
            read.push((name, CallInput::parse_cut(rest, tokens)));
            TextReading::Calls { prose: words(text, at), calls: read }
        }
        // Text about calls also has text behind them; its calls are of other tools.
        _ if written.iter().any(is_known) => TextReading::Fault(TextCallFault::NotLast),
        (Some(_), _) => TextReading::Fault(TextCallFault::Unreadable { reason: unreadable(rest) }),
        _ => TextReading::Plain,
    }
}

/// The name of a call whose arguments cannot be read.
fn begun_name(rest: &str) -> Option<String> {
    let mut body = rest.trim_start();
    while let Some(inner) = openers().find_map(|open| body.strip_prefix(open)) {
        body = inner.trim_start();
    }
    if body.len() == rest.trim_start().len() {
        return None;
    }
    let named = NAME_KEYS.iter().find_map(|key| {
        let behind = body.split_once(&format!("\"{key}\""))?.1.trim_start().strip_prefix(':')?;
        Some(behind.trim_start().strip_prefix('"')?.split_once('"')?.0.to_string())
    });
    let mut cursor = Cursor { rest: body.strip_prefix('[').unwrap_or(body) };
    cursor.take("functions.");
    // A name in front of the arguments comes first: they may contain any text.
    cursor.name().or(named)
}

fn unreadable(rest: &str) -> String {
    if rest.starts_with("```") {
        return "its code block is not closed".into();
    }
    let json = rest.find('{').and_then(|at| rest.get(at..)).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
    match values.next() {
        Some(Err(e)) => format!("its JSON is not valid: {e}"),
        _ => "it does not have the form of a call".into(),
    }
}

fn unmarked(text: &str, tools: &CallableTools) -> TextReading {
    let Some((prose, written)) = bare(text) else { return TextReading::Plain };
    if written.iter().any(|call| tools.is_asked_about(&call.name)) {
        return TextReading::Plain;
    }
    let is_alone = text.get(..prose).is_some_and(|prose| prose.trim().is_empty());
    let read: Vec<(String, CallInput)> = written.iter().map(|call| tools.input(call)).collect();
    match written.iter().find(|call| tools.find(&call.name).is_none()) {
        // A name and arguments, and nothing else in the answer: nobody writes that to a person.
        Some(unknown) if is_alone && unknown.name.contains('_') => {
            TextReading::Fault(TextCallFault::UnknownTool { name: unknown.name.clone() })
        }
        Some(_) => TextReading::Plain,
        None if is_alone || read.iter().all(|(name, input)| tools.fits(name, input)) => {
            TextReading::Calls { prose: words(text, prose), calls: read }
        }
        None => TextReading::Plain,
    }
}

/// The calls without a marker at the end of `text`, and where they begin.
fn bare(text: &str) -> Option<(usize, Vec<WrittenCall>)> {
    if let Some((at, body)) = last_fence(text) {
        return Some((at, whole(body)?));
    }
    let mut lines = CodeLines::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        lines.pass(line);
        if lines.is_code() {
            return None;
        }
        let begins =
            line.trim_start().starts_with(|c: char| matches!(c, '{' | '[') || c.is_ascii_alphabetic());
        if begins && let Some(calls) = whole(text.get(at..)?) {
            return Some((at, calls));
        }
        at += line.len();
    }
    None
}

/// Calls, and nothing else.
fn whole(body: &str) -> Option<Vec<WrittenCall>> {
    let (marked, rest) = calls(body);
    if !marked.is_empty() {
        return rest.trim().is_empty().then_some(marked);
    }
    let mut cursor = Cursor { rest: body.trim() };
    if let Some(found) = json_calls(&mut cursor) {
        // Without arguments it is an object with a name, of which there are many.
        let has_arguments = ARGUMENT_KEYS.iter().any(|key| body.contains(&format!("\"{key}\"")));
        return (cursor.rest.is_empty() && has_arguments).then_some(found);
    }
    let (found, rest) = python::calls(body)?;
    rest.trim().is_empty().then_some(found)
}

/// What is in the code fence at the end, if it is the only one.
fn last_fence(text: &str) -> Option<(usize, &str)> {
    const WORDS: [&str; 7] = ["", "json", "tool_call", "tool_calls", "tool", "python", "xml"];
    let body = text.strip_suffix("```")?;
    let open = body.find("```")?;
    let at_line = body.get(..open).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let (word, inner) = body.get(open + 3..)?.split_once('\n')?;
    let is_only = at_line && !inner.contains("```") && WORDS.contains(&word.trim());
    is_only.then_some((open, inner))
}

impl CallableTools {
    /// The arguments, with the values that came as plain text read by the schema.
    fn input(&self, call: &WrittenCall) -> (String, CallInput) {
        let name = call.name.clone();
        let malformed = |error: BlockError| {
            let raw = match &call.arguments {
                WrittenArguments::Block { head, texts } => block::as_written(&name, head, texts),
                other => format!("{other:?}"),
            };
            CallInput::Malformed { raw, reason: error.to_string(), is_cut: false }
        };
        let input = match (&call.arguments, self.find(&name)) {
            (WrittenArguments::Given(input), _) => input.clone(),
            // The call of an unknown tool does not run.
            (_, None) => CallInput::Object(Value::Object(Map::new())),
            (WrittenArguments::Words(words), Some(spec)) => {
                block::typed(spec, words).map_or_else(malformed, CallInput::Object)
            }
            (WrittenArguments::Block { head, texts }, Some(spec)) => {
                let words = block::arguments(spec, head, texts);
                let values = words.and_then(|words| block::typed(spec, &words));
                values.map_or_else(malformed, CallInput::Object)
            }
        };
        (call.name.clone(), input)
    }
}
