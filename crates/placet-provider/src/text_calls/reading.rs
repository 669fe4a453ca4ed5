//! Decides whether an answer is a call: where in the text it is, and whether its name is a tool.
//!
//! A call with a marker counts where it is the whole answer or its end, outside of code and quotations. A call without one,
//! plain JSON or Python, could be what the person asked for. It counts only if the model has made no real call in this
//! conversation, the person did not name the tool, no other code is in the answer, and, behind other text, if all
//! arguments are those of the tool. What the model has been shown, in a file or a message, it repeats: that is no call.

use super::block::BlockError;
use super::callable_tools::CallableTools;
use super::code_lines::{CodeLines, FENCE_WORDS, QUOTING_TAGS, is_quoted};
use super::cursor::{Cursor, WrittenArguments, WrittenCall};
use super::format::{BLOCK_OPEN, END_TOKENS, openers};
use super::syntax::{ARGUMENT_KEYS, NAME_KEYS, calls, json_calls, written};
use super::{block, python};
use placet_text::conversation::{CallInput, StopReason, TextCallFault, json_repair};
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

/// Longer answers are text: no call of a model that writes calls as text is so long.
const LONGEST: usize = 1 << 20;

pub(super) fn read(text: &str, tools: &CallableTools, end: AnswerEnd) -> TextReading {
    let text = without_end(text);
    if text.len() > LONGEST {
        return TextReading::Plain;
    }
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

/// Where the first marker outside of code and quotations is.
pub(super) fn marker(text: &str) -> Option<usize> {
    let mut lines = CodeLines::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let here = text.get(start..).unwrap_or_default();
        let begins =
            |at: usize| openers().any(|open| here.get(at..).is_some_and(|rest| rest.starts_with(open)));
        let (mut has_open_tick, mut tag) = (false, None);
        for (at, c) in line.char_indices().filter(|_| !lines.is_code()) {
            let begins_with =
                |tag: &str| line.get(at..at + tag.len()).is_some_and(|here| here.eq_ignore_ascii_case(tag));
            match tag {
                Some(close) if begins_with(close) => tag = None,
                Some(_) => continue,
                None if c == '<' => {
                    tag = QUOTING_TAGS.iter().find(|(open, _)| begins_with(open)).map(|(_, close)| *close);
                }
                None => {}
            }
            let is_call =
                matches!(c, '<' | '[' | '`') && !has_open_tick && begins(at) && !is_quoted(line, at);
            if is_call {
                return Some(start + at);
            }
            has_open_tick ^= c == '`';
        }
        lines.pass(line);
        start += line.len();
    }
    None
}

fn marked(text: &str, at: usize, tools: &CallableTools, end: AnswerEnd) -> TextReading {
    let (mut written, rest) = calls(text.get(at..).unwrap_or_default());
    if tools.has_shown(text.get(at..text.len() - rest.len()).unwrap_or_default()) {
        return TextReading::Plain;
    }
    // Only JSON says by itself that it is whole.
    if let (true, AnswerEnd::AtLimit(tokens)) = (rest.is_empty(), end)
        && let Some(WrittenCall { arguments, .. }) = written.last_mut()
        && !matches!(arguments, WrittenArguments::Given(_))
    {
        *arguments = WrittenArguments::Given(CallInput::parse_cut("", tokens));
    }
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
        ['"', '\''].iter().find_map(|quote| {
            let behind =
                body.split_once(&format!("{quote}{key}{quote}"))?.1.trim_start().strip_prefix(':')?;
            Some(behind.trim_start().strip_prefix(*quote)?.split_once(*quote)?.0.to_string())
        })
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
    let Some((prose, written)) = bare(text) else {
        return match tools.begun(text) {
            Some(begun) => TextReading::Fault(TextCallFault::Unreadable { reason: unreadable(begun) }),
            None => TextReading::Plain,
        };
    };
    if written.iter().any(|call| tools.is_asked_about(&call.name))
        || tools.has_shown(last_fence(text).map_or(text.get(prose..).unwrap_or_default(), |(_, body)| body))
    {
        return TextReading::Plain;
    }
    let is_alone = text.get(..prose).is_some_and(|prose| prose.trim().is_empty());
    let read: Vec<(String, CallInput)> = written.iter().map(|call| tools.input(call)).collect();
    match written.iter().find(|call| tools.find(&call.name).is_none()) {
        // What could be the arguments of a tool, and nothing else in the answer.
        Some(unknown) if is_alone && tools.may_take(unknown) => {
            TextReading::Fault(TextCallFault::UnknownTool { name: unknown.name.clone() })
        }
        Some(_) => TextReading::Plain,
        None if is_alone || read.iter().all(|(name, input)| tools.fits(name, input)) => {
            TextReading::Calls { prose: words(text, prose), calls: read }
        }
        None => TextReading::Plain,
    }
}

/// How many bytes are read in search of a call that ends a text: each line may begin it.
const MOST_READ: usize = 4 << 20;

/// The calls without a marker at the end of `text`, and where they begin.
fn bare(text: &str) -> Option<(usize, Vec<WrittenCall>)> {
    if let Some((at, body)) = last_fence(text) {
        return Some((at, whole(body)?));
    }
    let mut lines = CodeLines::default();
    let (mut at, mut left) = (0, MOST_READ);
    for line in text.split_inclusive('\n') {
        lines.pass(line);
        if lines.is_code() {
            return None;
        }
        // An indented line is a quotation.
        let said = line.trim_start();
        let begins = line.len() - said.len() < 4
            && said.starts_with(|c: char| matches!(c, '{' | '[') || c.is_ascii_alphabetic());
        if begins {
            let rest = text.get(at..)?;
            left = left.checked_sub(rest.len())?;
            if let Some(calls) = whole(rest).filter(|_| !openers().any(|open| said.starts_with(open))) {
                return Some((at, calls));
            }
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
    if body.contains("\"arguments\"")
        && let Some(value) = json_repair::repaired_object(body.trim())
    {
        return written(&value);
    }
    if let Some(call) = action(body) {
        return Some(vec![call]);
    }
    let (found, rest) = python::calls(body)?;
    rest.trim().is_empty().then_some(found)
}

/// `Action: NAME` and `Action Input: {...}` (Qwen documentation, Function Calling: ReAct prompting).
fn action(body: &str) -> Option<WrittenCall> {
    let mut cursor = Cursor { rest: body.trim().strip_prefix("Action:")? };
    cursor.blank();
    let name = cursor.name()?;
    cursor.blank();
    let arguments = cursor.rest.strip_prefix("Action Input:")?.trim();
    let arguments = arguments.strip_suffix("Observation:").unwrap_or(arguments).trim_end();
    let is_object = arguments.starts_with('{');
    is_object.then(|| WrittenCall { name, arguments: WrittenArguments::Given(CallInput::parse(arguments)) })
}

/// What is in the code fence at the end, if it is the only one.
fn last_fence(text: &str) -> Option<(usize, &str)> {
    let body = text.strip_suffix("```")?;
    let open = body.find("```")?;
    let at_line = body.get(..open).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let (word, inner) = body.get(open + 3..)?.split_once('\n')?;
    let is_only =
        at_line && !inner.contains("```") && !text.contains("~~~") && FENCE_WORDS.contains(&word.trim());
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
