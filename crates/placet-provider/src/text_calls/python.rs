//! Calls as Python writes them, with literals as arguments: `[read_file(path="a.rs", limit=20)]`.
//!
//! Only keyword arguments, because a position means nothing in a schema. An expression is not a literal, and a call with
//! one is not read.

use super::cursor::{Cursor, WrittenArguments, WrittenCall};
use placet_text::conversation::CallInput;
use serde_json::{Map, Number, Value};

/// The deepest list in a list.
const DEEPEST: usize = 32;

/// The calls at the beginning, and the text behind them.
pub(super) fn calls(text: &str) -> Option<(Vec<WrittenCall>, &str)> {
    let mut cursor = Cursor { rest: text.trim_start() };
    let is_list = cursor.take("[");
    let mut all = Vec::new();
    loop {
        cursor.blank();
        let prints = cursor.take("print(");
        all.push(call(&mut cursor)?);
        cursor.blank();
        if prints && !cursor.take(")") {
            return None;
        }
        let after = cursor.rest;
        cursor.blank();
        match is_list {
            true if cursor.take(",") => {}
            true => return cursor.take("]").then_some((all, cursor.rest)),
            false if starts_call(cursor.rest) => {}
            false => return Some((all, after)),
        }
    }
}

/// Another call on the next line.
fn starts_call(text: &str) -> bool {
    let mut cursor = Cursor { rest: text };
    cursor.take("print(");
    cursor.name().is_some() && cursor.rest.starts_with('(')
}

fn call(cursor: &mut Cursor<'_>) -> Option<WrittenCall> {
    let name = cursor.name()?;
    // The built-in tools of Llama 3.1 have the method `call`.
    let name = name.strip_suffix(".call").unwrap_or(&name).to_string();
    if !cursor.take("(") {
        return None;
    }
    let mut arguments = Map::new();
    cursor.blank();
    while !cursor.take(")") {
        let key = cursor.name()?;
        cursor.blank();
        if !cursor.take("=") {
            return None;
        }
        let value = literal(cursor, 0)?;
        if arguments.insert(key, value).is_some() {
            return None;
        }
        cursor.blank();
        if !cursor.take(",") && !cursor.rest.starts_with(')') {
            return None;
        }
        cursor.blank();
    }
    let input = CallInput::Object(Value::Object(arguments));
    Some(WrittenCall { name, arguments: WrittenArguments::Given(input) })
}

fn literal(cursor: &mut Cursor<'_>, depth: usize) -> Option<Value> {
    cursor.blank();
    if depth > DEEPEST {
        return None;
    }
    for (word, value) in [
        ("True", Value::Bool(true)),
        ("true", Value::Bool(true)),
        ("False", Value::Bool(false)),
        ("false", Value::Bool(false)),
        ("None", Value::Null),
        ("null", Value::Null),
    ] {
        if cursor.take(word) {
            return Some(value);
        }
    }
    if cursor.take("[") {
        return list(cursor, depth).map(Value::Array);
    }
    if cursor.take("{") {
        return dict(cursor, depth).map(Value::Object);
    }
    if cursor.rest.starts_with(['"', '\'']) {
        return string(cursor).map(Value::String);
    }
    number(cursor)
}

fn list(cursor: &mut Cursor<'_>, depth: usize) -> Option<Vec<Value>> {
    let mut items = Vec::new();
    cursor.blank();
    while !cursor.take("]") {
        items.push(literal(cursor, depth + 1)?);
        cursor.blank();
        if !cursor.take(",") && !cursor.rest.starts_with(']') {
            return None;
        }
        cursor.blank();
    }
    Some(items)
}

fn dict(cursor: &mut Cursor<'_>, depth: usize) -> Option<Map<String, Value>> {
    let mut fields = Map::new();
    cursor.blank();
    while !cursor.take("}") {
        let key = string(cursor)?;
        cursor.blank();
        if !cursor.take(":") || fields.insert(key, literal(cursor, depth + 1)?).is_some() {
            return None;
        }
        cursor.blank();
        if !cursor.take(",") && !cursor.rest.starts_with('}') {
            return None;
        }
        cursor.blank();
    }
    Some(fields)
}

fn string(cursor: &mut Cursor<'_>) -> Option<String> {
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| cursor.take(quote))?;
    let mut out = String::new();
    loop {
        if cursor.take(quote) {
            return Some(out);
        }
        let c = cursor.rest.chars().next()?;
        cursor.rest = cursor.rest.get(c.len_utf8()..)?;
        match c {
            '\\' => escape(cursor, &mut out)?,
            // A plain string ends before the end of its line.
            '\n' if quote.len() == 1 => return None,
            c => out.push(c),
        }
    }
}

fn escape(cursor: &mut Cursor<'_>, out: &mut String) -> Option<()> {
    let c = cursor.rest.chars().next()?;
    cursor.rest = cursor.rest.get(c.len_utf8()..)?;
    let plain = match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        '\\' | '\'' | '"' => Some(c),
        _ => None,
    };
    out.extend(plain);
    let digits = match c {
        'x' => 2,
        'u' => 4,
        // A line break after a backslash is no part of the string.
        '\n' => return Some(()),
        _ => {
            // Python leaves an unknown escape as it is.
            out.extend(plain.is_none().then_some(['\\', c]).into_iter().flatten());
            return Some(());
        }
    };
    let code = u32::from_str_radix(cursor.rest.get(..digits)?, 16).ok()?;
    cursor.rest = cursor.rest.get(digits..)?;
    out.push(char::from_u32(code)?);
    Some(())
}

fn number(cursor: &mut Cursor<'_>) -> Option<Value> {
    let end =
        cursor.rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E' | '_')));
    let (text, rest) = cursor.rest.split_at(end.unwrap_or(cursor.rest.len()));
    let text = text.replace('_', "");
    let whole = text.parse::<i64>().ok().map(Value::from);
    let value = whole.or_else(|| Number::from_f64(text.parse().ok()?).map(Value::Number))?;
    cursor.rest = rest;
    Some(value)
}
