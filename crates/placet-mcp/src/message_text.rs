//! Text of a server that is to be a message. What is not quite JSON is read as what it was meant to be, for answers alone:
//! a call waits for them, and their content is not trusted anyway. Nothing else that a server asks for is guessed.

use rmcp::model::{JsonRpcMessage, ServerResult};
use rmcp::service::{RoleClient, RxJsonRpcMessage};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

pub(super) type ServerMessage = RxJsonRpcMessage<RoleClient>;

/// How many places of a line may be the beginning of its message: each is tried.
const BEGINNINGS: usize = 64;

/// A message that is read strictly.
pub(super) fn message(text: &[u8]) -> Option<ServerMessage> {
    let message = serde_json::from_slice(text).ok()?;
    // To rmcp, a result that it cannot read and that says that it is complete is that of another request: without content.
    match &message {
        JsonRpcMessage::Response(answer) if matches!(answer.result, ServerResult::TaskAckResult(_)) => {
            untyped(&serde_json::from_slice(text).ok()?)
        }
        _ => Some(message),
    }
}

/// A message, or the answer in a text that is none.
pub(super) fn any_message(text: &str) -> Option<ServerMessage> {
    message(text.as_bytes()).or_else(|| answer_in(text.as_bytes()).map(|answer| answer.message))
}

/// The same message with its result as it is.
fn untyped(value: &Value) -> Option<ServerMessage> {
    let mut message: ServerMessage = serde_json::from_value(value.clone()).ok()?;
    if let JsonRpcMessage::Response(answer) = &mut message {
        answer.result = ServerResult::CustomResult(rmcp::model::CustomResult(value.get("result")?.clone()));
    }
    Some(message)
}

/// An answer that is somewhere in a line, with what is around it.
#[derive(Debug)]
pub(super) struct AnswerInLine {
    pub(super) message: ServerMessage,
    /// What is before it: a log without the end of its line.
    pub(super) before: String,
    /// What is after it.
    pub(super) after: String,
}

/// The first answer in a line that is no message as a whole.
pub(super) fn answer_in(line: &[u8]) -> Option<AnswerInLine> {
    let text = repaired(&String::from_utf8_lossy(line)).into_owned();
    for (begin, _) in text.match_indices('{').take(BEGINNINGS) {
        let mut values = serde_json::Deserializer::from_str(text.get(begin..)?).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        let is_answer = value.get("jsonrpc").is_some_and(|version| version == "2.0")
            && value.get("id").is_some_and(|id| !id.is_null())
            && value.get("method").is_none();
        let message = is_answer.then(|| message(value.to_string().as_bytes())).flatten();
        if let Some(message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))) = message {
            let end = begin + values.byte_offset();
            let (before, after) = (text.get(..begin)?.into(), text.get(end..)?.into());
            return Some(AnswerInLine { message, before, after });
        }
    }
    None
}

/// JSON in which half a surrogate is the sign of replacement, a control character is escaped, and a number that is none is
/// null. Other text stays as it is.
fn repaired(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    // Up to here, `text` is in `out`.
    let (mut copied, mut at, mut in_string) = (0, 0, false);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let rest = text.get(at..).unwrap_or_default();
        let (length, instead): (usize, Option<Cow<'_, str>>) = match byte {
            b'"' => {
                in_string = !in_string;
                (1, None)
            }
            b'\\' if in_string => match surrogate(rest) {
                Some((0xd800..0xdc00, low)) if matches!(surrogate(low), Some((0xdc00..0xe000, _))) => {
                    (12, None)
                }
                Some((0xd800..0xe000, _)) => (6, Some("\\ufffd".into())),
                _ => (2, None),
            },
            0..0x20 if in_string => (1, Some(escaped(*byte).into())),
            _ if in_string => (1, None),
            b'-' | b'N' | b'I' => {
                match ["-Infinity", "Infinity", "NaN"].iter().find(|word| rest.starts_with(**word)) {
                    Some(word) => (word.len(), Some("null".into())),
                    None => (1, None),
                }
            }
            _ => (1, None),
        };
        if let Some(instead) = instead {
            out.push_str(text.get(copied..at).unwrap_or_default());
            out.push_str(&instead);
            copied = at + length;
        }
        at += length;
    }
    match copied {
        0 => text.into(),
        _ => {
            out.push_str(text.get(copied..).unwrap_or_default());
            out.into()
        }
    }
}

/// The value of the escape `\uXXXX` at the beginning of `text`, and what follows it.
fn surrogate(text: &str) -> Option<(u32, &str)> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    Some((value, text.get(6..)?))
}

fn escaped(byte: u8) -> String {
    let mut text = String::new();
    let _ = write!(text, "\\u{byte:04x}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_quite_json_becomes_what_it_was_meant_to_be() {
        for (text, wanted) in [
            (r#"{"a": "x\ud800y"}"#, r#"{"a": "x\ufffdy"}"#),
            (r#"{"a": "\uDE00"}"#, r#"{"a": "\ufffd"}"#),
            (r#"{"a": "\ud83d\ude00 \ud83d\n"}"#, r#"{"a": "\ud83d\ude00 \ufffd\n"}"#),
            (r#"{"a": "\ud83d\ud83d\ude00"}"#, r#"{"a": "\ufffd\ud83d\ude00"}"#),
            (r#"{"a": "\\ud800"}"#, r#"{"a": "\\ud800"}"#),
            ("{\"a\": \"b\tc\"}", r#"{"a": "b\u0009c"}"#),
            (
                r#"{"a": [NaN, -Infinity, Infinity, -1], "b": "NaN \" Infinity"}"#,
                r#"{"a": [null, null, null, -1], "b": "NaN \" Infinity"}"#,
            ),
            (r#"{"a": "\"#, r#"{"a": "\"#),
            (r#"{"a": "\ud8é"#, r#"{"a": "\ud8é"#),
            ("", ""),
        ] {
            assert_eq!(repaired(text), wanted);
        }
    }

    fn answer(id: usize, result: &str) -> String {
        format!("{{\"jsonrpc\": \"2.0\", \"id\": {id}, \"result\": {result}}}")
    }

    /// Whatever is printed around an answer, and whatever is wrong in it, it is found; and nothing that is not an answer.
    #[test]
    fn an_answer_is_found_between_anything_and_nothing_else_is() {
        let around = [
            "",
            "working ...",
            "{",
            "{\"id\": 1}",
            "[{} {\"a\": \"",
            "\u{1b}[32mé\u{feff} ",
            "\u{fffd}\"{\\",
        ];
        let results =
            ["{}", "{\"content\": [NaN, \"\\ud800\"]}", "[1]", "null", "{\"resultType\": \"complete\"}"];
        let mut found = 0;
        for (before, after) in around.iter().flat_map(|a| around.iter().map(move |b| (a, b))) {
            for result in results {
                let line = format!("{before}{}{after}", answer(7, result));
                let Some(AnswerInLine { message: JsonRpcMessage::Response(of), .. }) =
                    answer_in(line.as_bytes())
                else {
                    // A string that a log begins and that only the answer's first quote ends hides it.
                    assert!(before.contains('"'), "{line}");
                    continue;
                };
                assert_eq!(of.id, rmcp::model::RequestId::Number(7));
                found += 1;
            }
        }
        assert!(found >= 5 * 7 * 5, "{found}");
        let two = answer_in((answer(1, "{}") + &answer(2, "{}")).as_bytes()).unwrap();
        assert_eq!((two.before.as_str(), two.after), ("", answer(2, "{}")));
        for other in [
            r#"log {"jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {}}"#,
            r#"log {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}"#,
            r#"log {"jsonrpc": "2.0", "id": null, "result": {}}"#,
            r#"log {"id": 1, "result": {}}"#,
            r#"log {"jsonrpc": "2.0", "id": 1, "result": {}"#,
            "log",
            "",
        ] {
            assert!(answer_in(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn a_result_that_says_only_that_it_is_complete_keeps_its_content() {
        let line = answer(1, r#"{"resultType": "complete", "content": [{"type": "chart"}]}"#);
        let Some(JsonRpcMessage::Response(of)) = message(line.as_bytes()) else { panic!("an answer") };
        assert!(matches!(of.result, ServerResult::CustomResult(_)), "{:?}", of.result);
    }
}
