//! An answer that is one JSON object, `{"say": "..."}` or `{"tool": "...", "arguments": {...}}`: what a server writes
//! that was sent an [answer schema](super::answer_schema).

use super::answer_schema::{ARGUMENTS, SAY, TOOL};
use super::reading::{AnswerEnd, TextReading};
use placet_text::conversation::CallInput;
use serde::de::IgnoredAny;
use serde_json::Value;

/// The longest escape: a pair of surrogates.
const LONGEST_ESCAPE: usize = 12;

/// `None` if the text is no such object: the server did not hold the model to the schema.
pub(super) fn read(text: &str, end: AnswerEnd) -> Option<TextReading> {
    let (mut prose, mut calls, mut at) = (String::new(), Vec::new(), 0);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    while let Some(Ok(_)) = values.next() {
        // A field that is there twice has no meaning: then it is text.
        let CallInput::Object(Value::Object(mut fields)) =
            CallInput::parse(text.get(at..values.byte_offset())?)
        else {
            return None;
        };
        at = values.byte_offset();
        match (fields.remove(TOOL), fields.remove(SAY)) {
            (Some(Value::String(name)), said @ (None | Some(Value::String(_)))) => {
                if let Some(Value::String(words)) = said {
                    prose += &words;
                }
                let arguments = fields.remove(ARGUMENTS).map(|value| value.to_string());
                calls.push((name, CallInput::parse(&arguments.unwrap_or_default())));
            }
            (None, Some(Value::String(words))) => prose += &words,
            _ => return None,
        }
    }
    let rest = text.get(at..)?.trim_start();
    match end {
        _ if rest.is_empty() => {}
        AnswerEnd::Whole => return None,
        AnswerEnd::AtLimit(_) if let Some(words) = begun_text(rest, SAY) => prose += &unescaped(words).0,
        AnswerEnd::AtLimit(tokens) => {
            let name = begun_text(rest, TOOL)?;
            let (name, rest) = name.split_at(closing_quote(name)?);
            let arguments =
                rest.split_once(&format!("\"{ARGUMENTS}\"")).and_then(|(_, rest)| rest.split_once(':'));
            let arguments = arguments.map_or("", |(_, rest)| rest.trim_start());
            calls.push((name.into(), CallInput::parse_cut(arguments, tokens)));
        }
    }
    (at > 0 || !rest.is_empty()).then_some(TextReading::Calls { prose, calls })
}

/// Shows the words of an answer while it arrives.
#[derive(Debug, Default)]
pub(super) struct SpokenWords {
    text: String,
    /// How much of `text` has been looked at; 0 until the words begin.
    seen: usize,
    /// How many bytes have been shown.
    pub(super) shown: usize,
    is_closed: bool,
}

impl SpokenWords {
    pub(super) fn push(&mut self, text: &str) -> String {
        self.text.push_str(text);
        if self.seen == 0 {
            let Some(words) = begun_text(&self.text, SAY) else { return String::new() };
            self.seen = self.text.len() - words.len();
        }
        if self.is_closed {
            return String::new();
        }
        let rest = self.text.get(self.seen..).unwrap_or_default();
        let end = closing_quote(rest);
        let (words, length) = unescaped(rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        self.is_closed = end.is_some();
        self.seen += length;
        self.shown += words.len();
        words
    }
}

/// What comes behind `{"FIELD": "`.
fn begun_text<'t>(text: &'t str, field: &str) -> Option<&'t str> {
    let behind = |text: &'t str, mark: char| text.trim_start().strip_prefix(mark);
    let name = behind(behind(text, '{')?, '"')?.strip_prefix(field)?.strip_prefix('"')?;
    behind(behind(name, ':')?, '"')
}

/// Where the JSON string ends that `text` is in.
fn closing_quote(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let end = |(_, byte): &(usize, u8)| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    text.bytes().enumerate().find(end).map(|(at, _)| at)
}

/// The text of the inside of a JSON string, without an escape at the end that has not arrived completely, and how many
/// bytes that was.
fn unescaped(inside: &str) -> (String, usize) {
    let escapes = inside.rmatch_indices('\\').map(|(at, _)| at);
    let near = escapes.take_while(|at| inside.len() - at <= LONGEST_ESCAPE);
    for end in std::iter::once(inside.len()).chain(near) {
        let part = inside.get(..end).unwrap_or_default();
        if let Ok(words) = serde_json::from_str(&format!("\"{part}\"")) {
            return (words, end);
        }
    }
    // Not a JSON string: the whole answer is shown as it is when it has ended.
    (String::new(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<TextReading> {
        Some(TextReading::Calls { prose: text.into(), calls: Vec::new() })
    }

    fn call(name: &str, input: CallInput) -> Option<TextReading> {
        Some(TextReading::Calls { prose: String::new(), calls: vec![(name.into(), input)] })
    }

    #[test]
    fn an_answer_is_words_or_a_call_or_no_such_object() {
        let whole = |text| read(text, AnswerEnd::Whole);
        assert_eq!(whole("{\n  \"say\": \"Hi \\\"you\\\"\"\n}\n"), words("Hi \"you\""));
        let path = CallInput::parse("{\"path\":\"a\"}");
        assert_eq!(whole("{\"tool\":\"read_file\",\"arguments\":{\"path\":\"a\"}}"), call("read_file", path));
        assert_eq!(whole("{\"tool\":\"undo\"}"), call("undo", CallInput::parse("")));
        let both = whole("{\"say\":\"I look.\"}\n{\"tool\":\"undo\"}");
        let Some(TextReading::Calls { prose, calls }) = both else { panic!("{both:?}") };
        assert_eq!((prose.as_str(), calls.len()), ("I look.", 1));
        let one = whole("{\"say\":\"I look.\",\"tool\":\"undo\",\"arguments\":{}}");
        assert_eq!(one, Some(TextReading::Calls { prose, calls }));
        for text in ["", "Hello", "{}", "[1]", "{\"say\":1}", "{\"say\":\"a", "{\"say\":\"a\",\"say\":\"b\"}"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_is_what_arrived_of_it() {
        let cut = |text| read(text, AnswerEnd::AtLimit(9));
        assert_eq!(cut("{\"say\": \"a\\n\\u00"), words("a\n"));
        let written = |raw: &str| call("write_file", CallInput::parse_cut(raw, 9));
        assert_eq!(
            cut("{\"tool\": \"write_file\", \"arguments\": {\"path\": \"a"),
            written("{\"path\": \"a")
        );
        assert_eq!(cut("{\"tool\": \"write_file\""), written(""));
        assert_eq!(cut("{\"tool\": \"wri"), None);
    }

    /// However an answer is cut into pieces, its words are shown once and completely.
    #[test]
    fn words_are_shown_as_they_arrive() {
        let said = "a \"b\" \\ \n\u{1f600} \u{e9}\t{}";
        for json in [
            serde_json::json!({"say": said}).to_string(),
            "{\n \"say\" : \"a \\u0022b\\u0022 \\\\ \\n\\ud83d\\ude00 \\u00e9\\t{}\" }".to_string(),
        ] {
            for size in 1..json.len() {
                let (mut spoken, mut shown) = (SpokenWords::default(), String::new());
                let chars: Vec<char> = json.chars().collect();
                for piece in chars.chunks(size) {
                    shown += &spoken.push(&piece.iter().collect::<String>());
                }
                assert_eq!((shown.as_str(), spoken.shown), (said, said.len()), "{size}: {json}");
            }
        }
        let mut call = SpokenWords::default();
        assert_eq!(call.push("{\"tool\": \"say\", \"arguments\": {\"say\": \"x\"}}"), "");
    }
}
