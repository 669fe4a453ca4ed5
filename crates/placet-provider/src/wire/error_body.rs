//! What an error body means. One reading for all wire formats, because compatible servers mix the vendors' phrases.
//!
//! Bodies are JSON in half a dozen shapes, plain text, or the HTML of a proxy in between; all of them become one
//! short message and one typed error.

use super::super::{ExceededWindow, ProviderError, RejectionCause};
use serde_json::Value;
use std::time::Duration;

/// The most characters of a server's text that are stored.
const LONGEST_MESSAGE: usize = 2000;

/// Types and codes that mean "longer than the window", whatever the status: OpenAI, llama.cpp, Anthropic.
const TOO_LONG_KINDS: [&str; 3] = ["context_length_exceeded", "exceed_context_size", "request_too_large"];

/// Phrases for the same where the vendor gives a rejected request no type of its own: Anthropic, vLLM, llama.cpp, LM
/// Studio, Mistral, Gemini, and the name that LiteLLM's proxy uses. They count only where the status means that the
/// request was wrong: a server that fails may mention its context window, too.
const TOO_LONG: [&str; 9] = [
    "prompt is too long",
    "maximum context length",
    "exceed context limit",
    "exceeds the context",
    "exceeds the available context size",
    "context overflow",
    "too large for model with",
    "input token count",
    "contextwindowexceedederror",
];

/// The typed error for a response that is not a stream.
pub(super) fn of_response(status: u16, body: &str) -> ProviderError {
    // Some gateways send their errors as the stream that was asked for.
    let body = match body.trim_start().strip_prefix("data:") {
        Some(data) => data.lines().next().unwrap_or_default(),
        None => body,
    };
    match serde_json::from_str::<Value>(body) {
        Ok(value) => typed(status, &ErrorBody::read(&value, body)),
        Err(_) => typed(status, &ErrorBody { message: plain(body), ..ErrorBody::default() }),
    }
}

/// The typed error for an error that arrives within a stream, where no status line tells its kind.
pub(super) fn of_event(event: &Value) -> ProviderError {
    let fault = ErrorBody::read(event, &event.to_string());
    match fault.implied_status() {
        Some(status) => typed(status, &fault),
        // Only the text names the kind of error.
        None if fault.says_too_long() => typed(400, &fault),
        // Without any kind it counts as a failure of the server, which may pass: the request is tried
        // again.
        None => typed(500, &fault),
    }
}

/// The typed error for a request that was refused before it began, because of its content.
pub(super) fn blocked(reason: &str) -> ProviderError {
    ProviderError::BadRequest {
        // The server answered with status 200 and refused in the body.
        status: 200,
        message: format!("the request was blocked ({})", shortened(reason)),
        blames: RejectionCause::Nothing,
    }
}

/// A page that came with status 200: what to say of it.
pub(crate) fn of_page(body: &str) -> String {
    plain(body)
}

/// Text cut to the largest length of an error's text, at a character boundary.
pub(super) fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

#[derive(Debug, Default)]
struct ErrorBody {
    message: String,
    /// `type` or `code`, whichever the server gave; both when both.
    kind: String,
    param: String,
    code: Option<u16>,
    retry_after: Option<Duration>,
    exceeded: Option<ExceededWindow>,
}

impl ErrorBody {
    fn read(value: &Value, raw: &str) -> ErrorBody {
        // Google puts the error of a stream into a list.
        let value = value.get(0).unwrap_or(value);
        let error = match value.get("error") {
            Some(Value::String(message)) => {
                return ErrorBody { message: shortened(message), ..ErrorBody::default() };
            }
            Some(error) if error.is_object() => error,
            _ => value,
        };
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let message = ["message", "detail", "msg"].into_iter().map(text).find(|m| !m.is_empty());
        ErrorBody {
            message: message.map_or_else(|| plain(raw), shortened),
            kind: format!("{} {} {}", text("type"), text("code"), text("status")).trim().to_string(),
            param: text("param").to_string(),
            code: error.get("code").and_then(Value::as_u64).and_then(|c| u16::try_from(c).ok()),
            retry_after: retry_delay(error),
            exceeded: exceeded(error),
        }
    }

    fn says_too_long(&self) -> bool {
        let said = self.message.to_lowercase();
        TOO_LONG.iter().any(|phrase| said.contains(phrase))
    }

    /// The status that an error without a status line would have; `None` where it has no type or code.
    fn implied_status(&self) -> Option<u16> {
        if let Some(code) = self.code.filter(|c| (400..600).contains(c)) {
            return Some(code);
        }
        let kinds = [
            ("overloaded", 529),
            ("rate_limit", 429),
            ("insufficient_quota", 429),
            ("authentication", 401),
            ("permission", 403),
            ("not_found", 404),
            ("request_too_large", 413),
            ("invalid_request", 400),
            ("exceed_context_size", 400),
            ("context_length_exceeded", 400),
            ("invalid_prompt", 400),
        ];
        let known = kinds.iter().find(|(kind, _)| self.kind.contains(kind)).map(|(_, status)| *status);
        known.or_else(|| (!self.kind.is_empty()).then_some(500))
    }
}

fn typed(status: u16, fault: &ErrorBody) -> ProviderError {
    let message =
        if fault.message.is_empty() { "no reason given".to_string() } else { fault.message.clone() };
    let said = format!("{} {} {}", fault.message, fault.kind, fault.param).to_lowercase();
    let kind = fault.kind.to_lowercase();
    let too_long = TOO_LONG_KINDS.iter().any(|name| kind.contains(name))
        || matches!(status, 400 | 422) && fault.says_too_long();
    // A used-up account will not come back within a minute, so it is not worth a retry.
    let unpaid = said.contains("insufficient_quota");
    if NO_TOOLS.iter().any(|phrase| said.contains(phrase)) {
        return ProviderError::BadRequest { status, message, blames: RejectionCause::Tools };
    }
    match status {
        401 | 403 => ProviderError::Auth { status, message },
        413 => ProviderError::TooLong { message, exceeded: fault.exceeded },
        // Some servers answer a request that is too long with the status of a failure.
        400 | 422 | 500 | 503 if too_long => ProviderError::TooLong { message, exceeded: fault.exceeded },
        // llama.cpp, and others that load a model when it is first asked for.
        503 if said.contains("loading model") || said.contains("model is loading") => {
            ProviderError::Loading { message }
        }
        429 if !unpaid => ProviderError::RateLimited { message, retry_after: fault.retry_after },
        503 | 529 => ProviderError::Overloaded { status, message, retry_after: fault.retry_after },
        // 501: the server will never do it, so a retry is useless.
        408 | 425 | 500..=599 if status != 501 => match kind.contains("overloaded") {
            true => ProviderError::Overloaded { status, message, retry_after: fault.retry_after },
            false => ProviderError::ServerFailure { status, message, retry_after: fault.retry_after },
        },
        _ => ProviderError::BadRequest { status, message, blames: blame(status, &said) },
    }
}

/// The figures of llama.cpp: `"n_prompt_tokens": 1231, "n_ctx": 512`.
fn exceeded(error: &Value) -> Option<ExceededWindow> {
    let figure = |name: &str| error.get(name).and_then(Value::as_u64);
    Some(ExceededWindow { tokens: figure("n_prompt_tokens")?, window: figure("n_ctx")? })
}

/// What Google asks for in the body instead of a header: `"retryDelay": "17s"`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Phrases for a proof of reasoning that the server does not take: OpenAI, Anthropic, Google.
const UNPROVEN: [&str; 6] = [
    "encrypted content",
    "encrypted_content",
    "thought signature",
    "thought_signature",
    "`signature` in `thinking`",
    "`thinking` or `redacted_thinking` blocks",
];

/// Phrases for a request that no tools may be in, whatever the status: Ollama, vLLM, llama.cpp, OpenRouter.
const NO_TOOLS: [&str; 4] =
    ["does not support tools", "enable-auto-tool-choice", "param requires --jinja", "that support tool use"];

/// Phrases about the content of the messages, where the error names no place in them: Anthropic, OpenAI.
const IN_MESSAGES: [&str; 6] =
    ["content block", "text content", "tool_result", "tool_use", "tool_call_id", "'tool_calls'"];

fn blame(status: u16, said: &str) -> RejectionCause {
    if UNPROVEN.iter().any(|phrase| said.contains(phrase)) {
        return RejectionCause::Reasoning;
    }
    if let Some(index) = tool_index(said) {
        return RejectionCause::Tool(index);
    }
    // An unknown model name does not mean that the messages are wrong.
    if !matches!(status, 400 | 413 | 415 | 422) {
        return RejectionCause::Nothing;
    }
    if said.contains("image") || said.contains("picture") {
        return RejectionCause::Image;
    }
    let named = ["messages", "contents", "content", "input"].iter().any(|list| is_indexed(said, list));
    if named || IN_MESSAGES.iter().any(|words| said.contains(words)) {
        RejectionCause::Content
    } else {
        RejectionCause::Nothing
    }
}

/// True for `messages.3`, `contents[0]`, `input/2`.
fn is_indexed(said: &str, list: &str) -> bool {
    said.match_indices(list).any(|(at, _)| {
        let rest = said.get(at + list.len()..).unwrap_or_default();
        rest.strip_prefix(['.', '[', '/']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// The index in `tools.3.custom...`, `tools[3].function...` or `tools/3`. Google has all tools in the first, and counts
/// its declarations.
fn tool_index(said: &str) -> Option<usize> {
    let lists = ["function_declarations", "functiondeclarations", "tools"];
    let list = lists.into_iter().find(|list| said.contains(list))?;
    said.split(list).skip(1).find_map(|rest| {
        let rest = rest.strip_prefix(['.', '[', '/'])?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

/// A body that is not JSON: of HTML its title or its text, else its beginning.
fn plain(body: &str) -> String {
    let lower = body.to_ascii_lowercase();
    if !lower.contains("<html") && !lower.trim_start().starts_with('<') {
        return shortened(body);
    }
    let title = lower.find("<title>").map(|at| at + "<title>".len()).and_then(|start| {
        let end = lower.get(start..)?.find("</title>")?;
        body.get(start..start + end)
    });
    let words = match title.map(str::trim).filter(|t| !t.is_empty()) {
        Some(title) => title.to_string(),
        None => without_tags(body),
    };
    let short: String = words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    format!("a web page instead of an answer: {short}")
}

fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                out.push(' ');
            }
            other if !inside => out.push(other),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
#[path = "error_body_tests.rs"]
mod tests;
