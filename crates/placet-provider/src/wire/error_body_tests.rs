use super::*;

fn too_long(message: &str) -> ProviderError {
    ProviderError::TooLong { message: message.into(), exceeded: None }
}

fn rejected(status: u16, message: &str, blames: RejectionCause) -> ProviderError {
    ProviderError::BadRequest { status, message: message.into(), blames }
}

#[test]
fn bodies_of_every_vendor_become_typed_errors() {
    let overloaded = |status, message: &str| ProviderError::Overloaded {
        status,
        message: message.into(),
        retry_after: None,
    };
    let failed = |status, message: &str| ProviderError::ServerFailure {
        status,
        message: message.into(),
        retry_after: None,
    };
    let limited = |message: &str| ProviderError::RateLimited { message: message.into(), retry_after: None };
    let auth = |status, message: &str| ProviderError::Auth { status, message: message.into() };
    let table: Vec<(u16, &str, ProviderError)> = vec![
        (
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            auth(401, "invalid x-api-key"),
        ),
        (
            403,
            "<html><head><title>403 Forbidden</title></head><body>nginx</body></html>",
            auth(403, "a web page instead of an answer: 403 Forbidden"),
        ),
        (
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#,
            limited("slow down"),
        ),
        (
            429,
            r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}"#,
            rejected(429, "You exceeded your current quota", RejectionCause::Nothing),
        ),
        (
            529,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            overloaded(529, "Overloaded"),
        ),
        (503, "", overloaded(503, "no reason given")),
        (
            500,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            overloaded(500, "Overloaded"),
        ),
        (
            502,
            "<!DOCTYPE html><h1>Bad\n gateway</h1>",
            failed(502, "a web page instead of an answer: Bad gateway"),
        ),
        (408, "Request Timeout", failed(408, "Request Timeout")),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            too_long("prompt is too long: 210000 tokens > 200000 maximum"),
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            too_long("This model's maximum context length is 8192 tokens."),
        ),
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
            too_long("the request exceeds the available context size"),
        ),
        (
            413,
            r#"{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            too_long("Request exceeds the maximum size"),
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.3.content.1.image.source.base64: image exceeds 5 MB maximum"}}"#,
            rejected(
                400,
                "messages.3.content.1.image.source.base64: image exceeds 5 MB maximum",
                RejectionCause::Image,
            ),
        ),
        (
            400,
            r#"{"error":{"message":"You uploaded an unsupported file.","type":"invalid_request_error","code":"invalid_image_format"}}"#,
            rejected(400, "You uploaded an unsupported file.", RejectionCause::Image),
        ),
        (
            400,
            r#"{"error":{"message":"registry.ollama.ai/library/gemma3:1b does not support tools","type":"api_error"}}"#,
            rejected(
                400,
                "registry.ollama.ai/library/gemma3:1b does not support tools",
                RejectionCause::Tools,
            ),
        ),
        (
            400,
            r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice","code":400}"#,
            rejected(400, "\"auto\" tool choice requires --enable-auto-tool-choice", RejectionCause::Tools),
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#,
            rejected(500, "tools param requires --jinja flag", RejectionCause::Tools),
        ),
        (
            404,
            r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#,
            rejected(404, "No endpoints found that support tool use.", RejectionCause::Tools),
        ),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"tools.12.custom.input_schema: JSON schema is invalid"}}"#,
            rejected(400, "tools.12.custom.input_schema: JSON schema is invalid", RejectionCause::Tool(12)),
        ),
        (
            400,
            r#"{"error":{"message":"Invalid schema","type":"invalid_request_error","param":"tools[3].function.parameters"}}"#,
            rejected(400, "Invalid schema", RejectionCause::Tool(3)),
        ),
        (
            500,
            r#"{"error":{"message":"the context window service is down: maximum context length unknown"}}"#,
            failed(500, "the context window service is down: maximum context length unknown"),
        ),
        (
            400,
            r#"{"error":{"message":"no context window is configured","type":"invalid_request_error"}}"#,
            rejected(400, "no context window is configured", RejectionCause::Nothing),
        ),
        (
            500,
            r#"{"error":{"code":500,"message":"too many tokens","type":"exceed_context_size_error"}}"#,
            too_long("too many tokens"),
        ),
        (
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error"}}"#,
            too_long("Your input exceeds the context window of this model."),
        ),
        (
            404,
            r#"{"error":"model 'x' not found"}"#,
            rejected(404, "model 'x' not found", RejectionCause::Nothing),
        ),
        (
            422,
            r#"{"object":"error","message":"bad","code":422}"#,
            rejected(422, "bad", RejectionCause::Nothing),
        ),
        (500, "data: {\"error\": {\"message\": \"oh\"}}\n\ndata: [DONE]\n\n", failed(500, "oh")),
        (
            400,
            r#"{"error":{"code":400,"message":"Thought signature is not valid.","status":"INVALID_ARGUMENT"}}"#,
            rejected(400, "Thought signature is not valid.", RejectionCause::Reasoning),
        ),
        (
            400,
            r#"{"error":{"message":"tools[0].function_declarations[7].parameters: bad","status":"INVALID_ARGUMENT"}}"#,
            rejected(400, "tools[0].function_declarations[7].parameters: bad", RejectionCause::Tool(7)),
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"1.5s"}]}}"#,
            ProviderError::RateLimited {
                message: "slow".into(),
                retry_after: Some(std::time::Duration::from_millis(1500)),
            },
        ),
        (
            400,
            r#"[{"error":{"code":400,"message":"API key not valid"}}]"#,
            rejected(400, "API key not valid", RejectionCause::Nothing),
        ),
    ];
    for (status, body, error) in table {
        assert_eq!(of_response(status, body), error, "{status} {body}");
    }
}

#[test]
fn an_error_within_a_stream_tells_its_kind_by_name_or_code() {
    let kind = |json: &str| of_event(&serde_json::from_str(json).unwrap());
    assert!(matches!(
        kind(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        ProviderError::Overloaded { status: 529, .. }
    ));
    assert!(matches!(
        kind(r#"{"error":{"code":502,"message":"upstream"}}"#),
        ProviderError::ServerFailure { status: 502, .. }
    ));
    assert!(matches!(
        kind(r#"{"error":{"message":"x","type":"server_error","code":null}}"#),
        ProviderError::ServerFailure { status: 500, .. }
    ));
    assert!(matches!(
        kind(r#"{"error":{"message":"x has a context overflow policy"}}"#),
        ProviderError::TooLong { .. }
    ));
    assert!(matches!(
        kind(r#"{"type":"error","error":{"type":"api_error","message":"context overflow in our cache"}}"#),
        ProviderError::ServerFailure { status: 500, .. }
    ));
    assert!(matches!(
        kind(r#"{"type":"error","error":{"type":"invalid_request_error","message":"x"}}"#),
        ProviderError::BadRequest { status: 400, .. }
    ));
}

#[test]
fn a_long_body_is_cut_at_a_character() {
    let ProviderError::BadRequest { message, .. } = of_response(400, &"\u{e9}".repeat(9000)) else {
        panic!()
    };
    assert_eq!(message.chars().count(), LONGEST_MESSAGE + 3);
}
