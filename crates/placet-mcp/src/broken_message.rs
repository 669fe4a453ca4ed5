//! A line that cannot be read as a message: what can still be known of it. A server may have printed half of an answer.

use memchr::memchr2;
use rmcp::model::RequestId;

/// The longest id that is read, in bytes.
const LONGEST_ID: usize = 1_000;

/// The names at the outermost level of a line, as far as it has any.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct BrokenMessage {
    pub(super) id: Option<RequestId>,
    has_method: bool,
}

impl BrokenMessage {
    pub(super) fn read(line: &[u8]) -> BrokenMessage {
        let mut broken = BrokenMessage::default();
        let (mut depth, mut at, mut last) = (0_u32, 0, None);
        while let Some(byte) = line.get(at) {
            match byte {
                b'"' => {
                    let text = string_at(line, at + 1);
                    at += 1 + text.len();
                    last = (depth == 1).then_some(text);
                }
                b'{' | b'[' => depth = depth.saturating_add(1),
                b'}' | b']' => depth = depth.saturating_sub(1),
                b':' if depth == 1 => match last.take() {
                    Some(b"method") => broken.has_method = true,
                    Some(b"id") => broken.id = id_at(line.get(at + 1..).unwrap_or_default()),
                    _ => {}
                },
                _ => {}
            }
            at += 1;
        }
        broken
    }

    /// True for a request of the server, which waits for an answer.
    pub(super) fn is_request(&self) -> bool {
        self.has_method && self.id.is_some()
    }

    /// The request of placet to which this is an answer.
    pub(super) fn answers(&self) -> Option<RequestId> {
        self.id.clone().filter(|_| !self.has_method)
    }
}

/// The string that begins at `begin`, without its closing quote.
fn string_at(line: &[u8], begin: usize) -> &[u8] {
    let mut end = begin;
    while let Some(found) = memchr2(b'"', b'\\', line.get(end..).unwrap_or_default()) {
        end += found;
        if line.get(end) == Some(&b'"') {
            return line.get(begin..end).unwrap_or_default();
        }
        end = line.len().min(end + 2);
    }
    line.get(begin..).unwrap_or_default()
}

fn id_at(value: &[u8]) -> Option<RequestId> {
    let value = value.trim_ascii_start();
    if value.first() == Some(&b'"') {
        let id = str::from_utf8(string_at(value, 1)).ok().filter(|id| id.len() <= LONGEST_ID)?;
        return Some(RequestId::String(id.into()));
    }
    let length = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let digits = str::from_utf8(value.get(..length)?).ok()?;
    digits.parse().ok().map(RequestId::Number)
}

/// The id of a request that cannot be read, such as one with half a surrogate.
pub fn request_id(line: &[u8]) -> Option<serde_json::Value> {
    let broken = BrokenMessage::read(line);
    if !broken.is_request() {
        return None;
    }
    broken.id.map(RequestId::into_json_value)
}

/// True for a notification that placet does not know: nothing waits for it.
pub(super) fn is_unknown_notification(line: &[u8]) -> bool {
    let value: Result<serde_json::Value, _> = serde_json::from_slice(line);
    value.is_ok_and(|value| {
        value.get("method").is_some_and(|name| name.is_string()) && value.get("id").is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_to_which_half_an_answer_belongs_is_found() {
        let answers = |line: &str| BrokenMessage::read(line.as_bytes()).answers();
        let seven = Some(RequestId::Number(7));
        assert_eq!(answers("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"te"), seven);
        assert_eq!(answers("{\"result\": {\"id\": 3, \"x\": NaN}, \"id\": 7}"), seven);
        assert_eq!(answers("{\"a\": \"\\\"id\\\": 3\", \"id\" : 7, x}"), seven);
        assert_eq!(answers("{\"id\": \"seven\", x}"), Some(RequestId::String("seven".into())));
        for other in [
            "id: 7",
            "\"id\": 7",
            "{\"x\": {\"id\": 7",
            "{\"id\": -7",
            "{\"id\": 7, \"method\": \"ping\"",
            "{\"x\": \"\\",
            "{\"id\"",
            "{\"id\":",
            "{\"id\": 99999999999999999999}",
            "",
        ] {
            assert_eq!(answers(other), None, "{other}");
        }
        assert!(BrokenMessage::read(b"{\"method\": 1, \"id\": 7").is_request());
    }
}
