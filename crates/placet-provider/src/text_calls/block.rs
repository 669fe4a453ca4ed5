//! Calls as blocks of text: a code fence whose first line is `call`, the tool and its first argument. What a model is told
//! to write that is offered tools as text, because small models write no valid JSON around a file.
//!
//! The schema says which argument is where: the required texts of a tool come in order, `new_x` with `old_x`, the first
//! behind the tool's name and the rest below, two of them as a search and replace block; other arguments are `name=value`
//! behind the first. A tool that requires more than three texts, or something that is no text, has no such block.

use super::cursor::{Cursor, WrittenArguments, WrittenCall};
use super::format::{BLOCK_OPEN, openers};
use placet_text::conversation::ToolSpec;
use serde_json::{Map, Value};
use thiserror::Error;

const SEARCH: &str = "<<<<<<< SEARCH";
const DIVIDER: &str = "=======";
const REPLACE: &str = ">>>>>>> REPLACE";

/// The calls of one block, behind `open`: one, or one for each pair of a search and a replacement.
pub(super) fn read(cursor: &mut Cursor<'_>, open: &str) -> Option<Vec<WrittenCall>> {
    let fence = open.strip_suffix("call ")?;
    let (first, body) = cursor.rest.split_once('\n')?;
    let (name, head) = first.trim().split_once(' ').unwrap_or((first.trim(), ""));
    let (body, rest) = closed(body, fence)?;
    cursor.rest = rest;
    let pairs = pairs(body);
    let texts = match (pairs.is_empty(), body.is_empty()) {
        (false, _) => pairs,
        (true, true) => vec![Vec::new()],
        (true, false) => vec![vec![body.to_string()]],
    };
    let call = |texts| WrittenCall {
        name: name.into(),
        arguments: WrittenArguments::Block { head: head.trim().into(), texts },
    };
    (!name.is_empty()).then(|| texts.into_iter().map(call).collect())
}

/// The text before the line that closes the block, and what is behind that line. A text may contain such lines: the block
/// ends where the answer ends or the next call begins, or else at the first of them.
fn closed<'t>(text: &'t str, fence: &str) -> Option<(&'t str, &'t str)> {
    let mut at = 0;
    let mut first = None;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim_end() == fence {
            let (body, rest) = (text.get(..at)?, text.get(end..)?);
            let behind = rest.trim_start();
            if behind.is_empty() || openers().any(|open| behind.starts_with(open)) {
                return Some((body, rest));
            }
            first = first.or(Some((body, rest)));
        }
        at = end;
    }
    first
}

/// The old and the new text of each search and replace block, if `body` is nothing else.
fn pairs(body: &str) -> Vec<Vec<String>> {
    let mut pairs = Vec::new();
    let mut lines = body.lines();
    while let Some(line) = lines.find(|line| !line.trim().is_empty()) {
        if line.trim_end() != SEARCH {
            return Vec::new();
        }
        let mut part = |end: &str| {
            let mut part = Vec::new();
            loop {
                match lines.next()? {
                    line if line.trim_end() == end => return Some(part),
                    line => part.push(line),
                }
            }
        };
        let (Some(old), Some(new)) = (part(DIVIDER), part(REPLACE)) else { return Vec::new() };
        // Lines for which there are none are removed with their line ends.
        let end = if new.is_empty() { "\n" } else { "" };
        pairs.push(vec![old.join("\n") + end, new.join("\n")]);
    }
    pairs
}

/// The parameters of a tool that can be called by a block.
struct BlockParameters<'s> {
    required: Vec<&'s str>,
    /// The others, each with its type.
    others: Vec<(&'s str, &'s str)>,
}

fn parameters(spec: &ToolSpec) -> Option<BlockParameters<'_>> {
    let properties = spec.schema.get("properties").and_then(Value::as_object)?;
    let kind =
        |name: &str| properties.get(name).and_then(|schema| schema.get("type")).and_then(Value::as_str);
    let named = spec.schema.get("required").and_then(Value::as_array);
    let named: Vec<&str> = named.into_iter().flatten().filter_map(Value::as_str).collect();
    // The new text may be optional where it can be empty.
    let new_of = |old: &str| {
        let what = old.strip_prefix("old")?;
        properties.keys().map(String::as_str).find(|name| name.strip_prefix("new") == Some(what))
    };
    let with_new = named.iter().flat_map(|name| std::iter::once(*name).chain(new_of(name)));
    let mut required: Vec<&str> = Vec::new();
    with_new.chain(named.iter().copied()).for_each(|name| {
        if !required.contains(&name) {
            required.push(name);
        }
    });
    if required.len() > 3 || required.iter().any(|name| kind(name) != Some("string")) {
        return None;
    }
    let others = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
    let others = others.map(|name| (name, kind(name).unwrap_or("any"))).collect();
    Some(BlockParameters { required, others })
}

/// Why a block is no call of its tool.
#[derive(Debug, Error)]
pub(super) enum BlockError {
    #[error("the block of this tool is\n{usage}")]
    Form { usage: String },
    #[error("this tool has no block: its arguments are JSON")]
    NoBlock,
    #[error("the argument `{name}` is given twice")]
    Twice { name: String },
}

/// The arguments of a block, each as it was written.
pub(super) fn arguments(
    spec: &ToolSpec,
    head: &str,
    texts: &[String],
) -> Result<Vec<(String, String)>, BlockError> {
    let form = || usage(spec).map_or(BlockError::NoBlock, |usage| BlockError::Form { usage });
    let BlockParameters { required, others } = parameters(spec).ok_or_else(form)?;
    let mut words = Vec::new();
    let mut head = head.trim();
    loop {
        let (before, last) = head.rsplit_once(char::is_whitespace).unwrap_or(("", head));
        let Some((name, value)) = last.split_once('=') else { break };
        if !others.iter().any(|(known, _)| *known == name) {
            break;
        }
        words.push((name.to_string(), value.to_string()));
        head = before.trim_end();
    }
    let line = |text: &String| text.strip_suffix('\n').unwrap_or(text).to_string();
    let values = match (required.len(), head, texts) {
        (0, "", []) => Vec::new(),
        (1, "", [text]) => vec![line(text)],
        (1, head, []) if !head.is_empty() => vec![head.into()],
        (2, head, []) if !head.is_empty() => vec![head.into(), String::new()],
        (2, head, [text]) if !head.is_empty() => vec![head.into(), text.clone()],
        (3, head, [old, new]) if !head.is_empty() => vec![head.into(), old.clone(), new.clone()],
        _ => return Err(form()),
    };
    words.extend(required.into_iter().map(String::from).zip(values));
    Ok(words)
}

/// The block of a tool with its arguments' names in capitals; `None` if it has none.
pub(super) fn usage(spec: &ToolSpec) -> Option<String> {
    let BlockParameters { required, others } = parameters(spec)?;
    let option = |(name, kind): &(&str, &str)| format!(" [{name}={}]", kind.to_uppercase());
    let options: String = others.iter().map(option).collect();
    let names: Vec<String> = required.iter().map(|name| name.to_uppercase()).collect();
    let is_name = required.iter().all(|name| name.contains("path"));
    Some(BLOCK_OPEN[0].to_string() + &written(spec, &names, &options, ParameterPlace::of(is_name)) + "```")
}

/// The block of a call, which reads as the same call; `None` if there is none.
pub(super) fn of_call(spec: &ToolSpec, input: &Value) -> Option<String> {
    let BlockParameters { required, others } = parameters(spec)?;
    let fields = input.as_object()?;
    let text = |name: &&str| fields.get(*name)?.as_str().map(String::from);
    let texts = required.iter().map(text).collect::<Option<Vec<String>>>()?;
    let known = others.iter().filter_map(|(name, _)| Some((name, fields.get(*name)?)));
    let options: String = known.map(|(name, value)| format!(" {name}={}", plain(value))).collect();
    let is_name = texts.iter().all(|text| !text.is_empty() && !text.contains(char::is_whitespace));
    let inner = written(spec, &texts, &options, ParameterPlace::of(is_name));
    // What has lines of backticks, or says something else as a block, is not written as this block.
    BLOCK_OPEN.iter().find_map(|open| {
        let block = format!("{inner}{}", open.trim_end_matches("call "));
        let calls = read(&mut Cursor { rest: &block }, open)?;
        let [WrittenCall { arguments: WrittenArguments::Block { head, texts }, .. }] = calls.as_slice()
        else {
            return None;
        };
        let same = typed(spec, &arguments(spec, head, texts).ok()?).is_ok_and(|read| read == *input);
        let has_fence = inner.lines().any(|line| line.trim_start().starts_with("```"));
        (same && (!has_fence || open.len() > BLOCK_OPEN[0].len())).then(|| format!("{open}{block}"))
    })
}

/// True for an answer that ends with a search and replace block that is in no call, as models write it that know the block
/// from elsewhere.
pub(super) fn is_edit_of_nothing(text: &str) -> bool {
    let text = text.trim_end().trim_end_matches('`').trim_end();
    text.ends_with(REPLACE) && text.lines().any(|line| line.trim_end() == SEARCH)
}

/// A block that cannot be read as a call, as it came.
pub(super) fn as_written(name: &str, head: &str, texts: &[String]) -> String {
    format!("{}{name} {head}\n{}```", BLOCK_OPEN[0], body(texts))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

/// Where the only text of a tool is: a name is behind the tool, and a command below.
enum ParameterPlace {
    Behind,
    Below,
}

impl ParameterPlace {
    fn of(is_name: bool) -> ParameterPlace {
        if is_name { ParameterPlace::Behind } else { ParameterPlace::Below }
    }
}

/// The inside of a block, behind `call` and up to its end.
fn written(spec: &ToolSpec, texts: &[String], options: &str, place: ParameterPlace) -> String {
    let (head, below) = match (texts, place) {
        ([text], ParameterPlace::Below) => ("", std::slice::from_ref(text)),
        ([head, below @ ..], _) => (head.as_str(), below),
        ([], _) => ("", &[][..]),
    };
    let body = body(below);
    let blank = if head.is_empty() { "" } else { " " };
    format!("{}{blank}{head}{options}\n{body}", spec.name)
}

/// The texts below the first line.
fn body(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [text] if text.is_empty() || text.ends_with('\n') => text.clone(),
        [text] => format!("{text}\n"),
        [old, new, ..] => match (old.strip_suffix('\n'), new.as_str()) {
            (Some(old), "") => format!("{SEARCH}\n{old}\n{DIVIDER}\n{REPLACE}\n"),
            _ => format!("{SEARCH}\n{old}\n{DIVIDER}\n{new}\n{REPLACE}\n"),
        },
    }
}

/// The values with the types of the schema.
pub(super) fn typed(spec: &ToolSpec, words: &[(String, String)]) -> Result<Value, BlockError> {
    let mut fields = Map::new();
    for (name, text) in words {
        let schema = spec.schema.get("properties").and_then(|all| all.get(name));
        let value = match schema.and_then(|schema| schema.get("type")?.as_str()) {
            None | Some("string") => Value::String(text.clone()),
            // What is not JSON stays text, and the tool says what it expects.
            Some(_) => serde_json::from_str(text.trim()).unwrap_or_else(|_| Value::String(text.clone())),
        };
        if fields.insert(name.clone(), value).is_some() {
            return Err(BlockError::Twice { name: name.clone() });
        }
    }
    Ok(Value::Object(fields))
}
