//! A PDF from the file to the wire: as it is, in the form each wire format has for it, and as words where there is none.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::tool_bench::Bench;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Image, Message, Part,
    ToolCall,
};
use placet::provider::{ModelCapabilities, ModelRequest, ModelSpec, ServerQuirks, WireFormatKind};
use serde_json::{Value, json};

const PDF: &[u8] = b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\nno real one\n%%EOF\n";

fn request(capabilities: ModelCapabilities) -> ModelRequest {
    let pdf = || Part::Image(Image::pdf("paper.pdf", PDF.into()));
    let call =
        ToolCall { id: CallId::new("call_1"), name: "read_file".into(), input: CallInput::Object(json!({})) };
    let results = vec![CallResult::new(&call, CallOutcome::Done, vec![pdf()])];
    ModelRequest {
        model: ModelSpec { name: "m".into(), window: 200_000, capabilities },
        system: "s".into(),
        tools: Vec::new().into(),
        messages: vec![
            Message::User { parts: vec![Part::text("read"), pdf()] },
            Message::Assistant(AssistantMessage {
                blocks: vec![AssistantBlock::Call(call)],
                ..AssistantMessage::default()
            }),
            Message::Results { results },
        ],
        max_output: 10,
    }
}

#[test]
fn a_pdf_goes_out_in_the_form_of_each_wire_said_or_read() {
    let taken = request(ModelCapabilities { pdf: true, ..ModelCapabilities::default() });
    let data = STANDARD.encode(PDF);
    let at = |wire: WireFormatKind, pointers: [&str; 2], form: &Value| {
        let body = wire.dialect(&ServerQuirks::default()).encode(&taken);
        for pointer in pointers {
            let mut found = body.pointer(pointer).cloned().unwrap_or_default();
            if let Some(fields) = found.as_object_mut() {
                fields.remove("cache_control");
            }
            assert_eq!(&found, form, "{wire:?} {pointer} {body:#}");
        }
    };
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": data});
    let document = json!({"type": "document", "source": source, "title": "paper.pdf"});
    at(WireFormatKind::Anthropic, ["/messages/0/content/1", "/messages/2/content/0/content/0"], &document);
    let url = format!("data:application/pdf;base64,{data}");
    let file = json!({"type": "input_file", "filename": "paper.pdf", "file_data": url});
    at(WireFormatKind::OpenaiResponses, ["/input/0/content/1", "/input/2/output/0"], &file);
    let inline = json!({"inlineData": {"mimeType": "application/pdf", "data": data}});
    at(WireFormatKind::Gemini, ["/contents/0/parts/1", "/contents/2/parts/2"], &inline);
}

#[test]
fn where_none_can_go_a_line_names_the_way_to_its_text() {
    let note = "[PDF not sent: paper.pdf (application/pdf, 33 bytes); this model does not accept PDF; `pdftotext FILE -` gives its text]";
    for wire in WireFormatKind::ALL {
        let body =
            wire.dialect(&ServerQuirks::default()).encode(&request(ModelCapabilities::default())).to_string();
        assert_eq!(body.matches(note).count(), 2, "{wire:?} {body}");
    }
    // Chat Completions has no place for one, whatever the model takes.
    let able = ModelCapabilities { pdf: true, ..ModelCapabilities::default() };
    let body =
        WireFormatKind::OpenaiChat.dialect(&ServerQuirks::default()).encode(&request(able)).to_string();
    assert_eq!(body.matches(note).count(), 2, "{body}");
    let small = ModelCapabilities { pdf: true, max_pdf_bytes: PDF.len() - 1, ..ModelCapabilities::default() };
    let body =
        WireFormatKind::Anthropic.dialect(&ServerQuirks::default()).encode(&request(small)).to_string();
    assert_eq!(body.matches("it is too large for this server").count(), 2);
}

#[test]
fn a_pdf_that_no_request_can_hold_is_not_read() {
    let bench = Bench::new();
    let path = bench.write("big.pdf", PDF);
    std::fs::File::options().append(true).open(&path).unwrap().set_len(22_000_001).unwrap();
    let told = bench.call("read_file", json!({"path": "big.pdf"})).failed();
    assert!(told.contains("the PDF has 22000001 bytes, more than the 22000000 that can be sent"), "{told}");
    assert!(told.contains("pdftotext FILE -"), "{told}");
}

#[test]
fn a_pdf_is_kept_in_the_session_and_another_model_is_told_what_to_do() {
    let read = Reply::anthropic(&[Say::Call("t1", "read_file", r#"{"path":"paper.pdf"}"#)]);
    let server = MockServer::start([read, Reply::anthropic(&[Say::Text("read it")])]);
    let place = Place::new().answered_by(&server).file("paper.pdf", PDF);
    place.run(["-p", "read the paper", "--set", "pdf=true"]).code(0).says("read it");
    let data = STANDARD.encode(PDF);
    assert!(server.requests()[1].body.to_string().contains(&data));

    server.push(Reply::anthropic(&[Say::Text("once more")]));
    place.run(["-c", "-p", "and again", "--set", "pdf=true"]).code(0).says("once more");
    let again = server.requests()[2].body.to_string();
    assert!(again.contains(&data) && again.contains(r#""type":"document""#), "{again}");

    server.push(Reply::anthropic(&[Say::Text("blind")]));
    place
        .run(["-c", "-p", "and now", "--set", "pdf=false"])
        .code(0)
        .says("blind")
        .warns("1 PDF is not sent to");
    let without = server.requests()[3].body.to_string();
    assert!(!without.contains(&data));
    assert!(without.contains("`pdftotext FILE -` gives its text"), "{without}");
}
