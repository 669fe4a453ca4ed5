//! Every form, in the ways in which answers use and misuse it.

use super::format::FORMATS;
use super::reading::marker;
use super::*;
use placet_text::conversation::TextCallFault;
use placet_text::conversation::{CallInput, Message, ToolSpec};
use serde_json::Value;
use serde_json::json;
use std::sync::Arc;

fn tool(name: &str, properties: Value, required: &[&str]) -> ToolSpec {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    ToolSpec { name: name.into(), description: String::new(), schema }
}

pub(super) fn tools() -> Arc<[ToolSpec]> {
    let text = || json!({"type": "string"});
    let number = || json!({"type": "integer"});
    let list = json!({"type": "array", "items": {"type": "string"}});
    Arc::from([
        tool("read_file", json!({"path": text(), "offset": number(), "limit": number()}), &["path"]),
        tool("write_file", json!({"path": text(), "content": text()}), &["path", "content"]),
        tool(
            "edit_file",
            json!({"path": text(), "old_string": text(), "new_string": text(), "replace_all": {"type": "boolean"}}),
            &["path", "old_string"],
        ),
        tool("run_command", json!({"command": text(), "timeout": number(), "hosts": list}), &["command"]),
        tool("list_directory", json!({"path": text(), "all": {"type": "boolean"}}), &[]),
    ])
}

pub(super) fn offered(asked: &str) -> CallableTools {
    let specs = tools();
    let names = specs.iter().map(|spec| spec.name.clone()).collect();
    CallableTools {
        specs,
        names,
        asked: asked.into(),
        shown: Vec::new(),
        takes_unmarked: true,
        has_blocks: false,
    }
}

pub(super) fn reading(text: &str) -> TextReading {
    read(text, &offered("please look"), AnswerEnd::Whole)
}

pub(super) fn calls_of(text: &str) -> Vec<(String, CallInput)> {
    match reading(text) {
        TextReading::Calls { calls, .. } => calls,
        other => panic!("{other:?}: {text}"),
    }
}

pub(super) type Written<'w> = (&'w str, Value);

fn json_of((name, arguments): &Written, keys: (&str, &str)) -> String {
    json!({keys.0: name, keys.1: arguments}).to_string()
}

fn list_of(calls: &[Written], keys: (&str, &str)) -> String {
    format!("[{}]", calls.iter().map(|call| json_of(call, keys)).collect::<Vec<_>>().join(", "))
}

fn each(calls: &[Written], join: &str, write: impl Fn(&Written) -> String) -> String {
    calls.iter().map(write).collect::<Vec<_>>().join(join)
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

fn python_of((name, arguments): &Written) -> String {
    let literal = |value: &Value| match value {
        Value::Bool(true) => "True".to_string(),
        Value::Bool(false) => "False".into(),
        value => value.to_string(),
    };
    let fields = arguments.as_object().unwrap().iter();
    let fields: Vec<String> = fields.map(|(key, value)| format!("{key}={}", literal(value))).collect();
    format!("{name}({})", fields.join(", "))
}

fn tags(
    (name, arguments): &Written,
    open: &str,
    name_end: &str,
    key: (&str, &str),
    value: (&str, &str),
    close: &str,
) -> String {
    let fields = arguments.as_object().unwrap().iter();
    let fields: String =
        fields.map(|(k, v)| format!("{}{k}{}{}{}{}\n", key.0, key.1, value.0, plain(v), value.1)).collect();
    format!("{open}{name}{name_end}{fields}{close}")
}

/// A form: its name, how it is written, and what may be missing at its end.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) write: fn(&[Written]) -> String,
    close: &'static str,
    pub(super) is_marked: bool,
}

#[expect(clippy::too_many_lines, reason = "a flat table")]
pub(super) fn forms() -> Vec<Form> {
    let marked = |name, close, write| Form { name, write, close, is_marked: true };
    let bare = |name, write| Form { name, write, close: "", is_marked: false };
    const USUAL: (&str, &str) = ("name", "arguments");
    const LLAMA: (&str, &str) = ("name", "parameters");
    vec![
        marked("block", "", |calls| {
            each(calls, "\n", |(name, arguments)| {
                let input = CallInput::Object(arguments.clone());
                let call = ToolCall { id: CallId::new("c"), name: (*name).into(), input };
                super::description::written(&call, &tools()).trim_start().into()
            })
        }),
        marked("hermes", "</tool_call>", |calls| {
            each(calls, "\n", |call| format!("<tool_call>\n{}\n</tool_call>", json_of(call, USUAL)))
        }),
        marked("qwen coder", "</tools>", |calls| {
            each(calls, "\n", |call| format!("<tools>\n{}\n</tools>", json_of(call, USUAL)))
        }),
        marked("hermes with the name as an attribute", "</tool_call>", |calls| {
            each(calls, "\n", |(name, arguments)| {
                format!("<tool_call name=\"{name}\">\n{arguments}\n</tool_call>")
            })
        }),
        marked("hermes on one line", "</tool_call>", |calls| {
            each(calls, "", |call| format!("<tool_call>{}</tool_call>", json_of(call, USUAL)))
        }),
        marked("hermes with a fence", "\n</tool_call>", |calls| {
            each(calls, "\n", |call| {
                format!("<tool_call>\n```json\n{}\n```\n</tool_call>", json_of(call, USUAL))
            })
        }),
        marked("granite 3.1", "", |calls| format!("<tool_call>{}", list_of(calls, USUAL))),
        marked("glm 4.5", "", |calls| {
            each(calls, "\n", |call| {
                tags(
                    call,
                    "<tool_call>",
                    "\n",
                    ("<arg_key>", "</arg_key>\n"),
                    ("<arg_value>", "</arg_value>"),
                    "</tool_call>",
                )
            })
        }),
        marked("qwen3-coder", "\n</tool_call>", |calls| {
            each(calls, "\n", |call| {
                let inner = tags(
                    call,
                    "<function=",
                    ">\n",
                    ("<parameter=", ">\n"),
                    ("", "\n</parameter>"),
                    "</function>",
                );
                format!("<tool_call>\n{inner}\n</tool_call>")
            })
        }),
        marked("qwen3-coder without the outer tag", "", |calls| {
            each(calls, "\n", |call| {
                tags(call, "<function=", ">\n", ("<parameter=", ">\n"), ("", "\n</parameter>"), "</function>")
            })
        }),
        marked("seed-oss", "", |calls| {
            let inner = each(calls, "\n", |call| {
                tags(call, "<function=", ">", ("<parameter=", ">"), ("", "</parameter>"), "</function>")
            });
            format!("<seed:tool_call>\n{inner}\n</seed:tool_call>")
        }),
        marked("llama 3.1, function tag", "</function>", |calls| {
            each(calls, "\n", |(name, arguments)| format!("<function={name}>{arguments}</function>"))
        }),
        marked("llama 3.1, python tag", "", |calls| {
            format!("<|python_tag|>{}", each(calls, "; ", |call| json_of(call, LLAMA)))
        }),
        marked("llama 3.1, built-in tool", "", |calls| {
            format!("<|python_tag|>{}", each(calls, "\n", |call| python_of(call).replacen('(', ".call(", 1)))
        }),
        marked("llama 4", "<|python_end|>", |calls| {
            format!("<|python_start|>[{}]<|python_end|>", each(calls, ", ", python_of))
        }),
        marked("mistral v3", "", |calls| format!("[TOOL_CALLS]{}", list_of(calls, USUAL))),
        marked("mistral v3 with a blank", "", |calls| format!("[TOOL_CALLS] {}", list_of(calls, USUAL))),
        marked("mistral v11", "", |calls| {
            each(calls, "", |(name, arguments)| {
                format!("[TOOL_CALLS]{name}[CALL_ID]Ab3xY9kL2[ARGS]{arguments}")
            })
        }),
        marked("mistral v13", "", |calls| {
            each(calls, "", |(name, arguments)| format!("[TOOL_CALLS]{name}[ARGS]{arguments}"))
        }),
        marked("devstral", "", |calls| {
            each(calls, "", |(name, arguments)| format!("[TOOL_CALLS]{name}{arguments}"))
        }),
        marked("deepseek v3", "<｜tool▁call▁end｜><｜tool▁calls▁end｜>", |calls| {
            let inner = each(calls, "\n", |(name, arguments)| {
                format!(
                    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>"
                )
            });
            format!("<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>")
        }),
        marked("deepseek v3.1", "<｜tool▁calls▁end｜>", |calls| {
            let inner = each(calls, "", |(name, arguments)| {
                format!("<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜>")
            });
            format!("<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>")
        }),
        marked("kimi k2", "<|tool_calls_section_end|>", |calls| {
            let inner = each(calls, "", |(name, arguments)| {
                format!(
                    "<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"
                )
            });
            format!("<|tool_calls_section_begin|>{inner}<|tool_calls_section_end|>")
        }),
        marked("granite 3.0", "", |calls| format!("<|tool_call|>{}", list_of(calls, USUAL))),
        marked("phi-4-mini", "<|/tool_call|>", |calls| {
            format!("<|tool_call|>{}<|/tool_call|>", list_of(calls, USUAL))
        }),
        marked("granite 20b", "", |calls| {
            each(calls, " ", |call| format!("<function_call> {}", json_of(call, USUAL)))
        }),
        marked("gemma 3", "\n```", |calls| format!("```tool_code\n{}\n```", each(calls, "\n", python_of))),
        marked("gemma 3 that prints", "\n```", |calls| {
            format!("```tool_code\n{}\n```", each(calls, "\n", |call| format!("print({})", python_of(call))))
        }),
        marked("lfm 2", "<|tool_call_end|>", |calls| {
            format!("<|tool_call_start|>[{}]<|tool_call_end|>", each(calls, ", ", python_of))
        }),
        marked("command r7b", "<|END_ACTION|>", |calls| {
            format!("<|START_ACTION|>{}<|END_ACTION|>", list_of(calls, ("tool_name", "parameters")))
        }),
        marked("internlm", "<|action_end|>", |calls| {
            each(calls, "\n", |call| {
                format!("<|action_start|><|plugin|>{}<|action_end|>", json_of(call, LLAMA))
            })
        }),
        marked("nemotron", "</TOOLCALL>", |calls| format!("<TOOLCALL>{}</TOOLCALL>", list_of(calls, USUAL))),
        marked("jamba", "</tool_calls>", |calls| {
            format!("<tool_calls>{}</tool_calls>", list_of(calls, USUAL))
        }),
        marked("minimax m2", "\n</minimax:tool_call>", |calls| {
            let inner = each(calls, "\n", |call| {
                tags(
                    call,
                    "<invoke name=\"",
                    "\">\n",
                    ("<parameter name=\"", "\">"),
                    ("", "</parameter>"),
                    "</invoke>",
                )
            });
            format!("<minimax:tool_call>\n{inner}\n</minimax:tool_call>")
        }),
        marked("gpt-oss", "<|call|>", |calls| {
            each(calls, "", |(name, arguments)| {
                format!(
                    "<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{arguments}<|call|>"
                )
            })
        }),
        bare("bare JSON", |calls| each(calls, "\n", |call| json_of(call, USUAL))),
        bare("bare JSON of Llama", |calls| each(calls, ";\n", |call| json_of(call, LLAMA))),
        bare("bare list", |calls| list_of(calls, USUAL)),
        bare("bare list of OpenAI", |calls| {
            let call = |(name, arguments): &Written| {
                json!({"id": "c", "type": "function", "function": {"name": name, "arguments": arguments.to_string()}})
                    .to_string()
            };
            format!("{{\"tool_calls\": [{}]}}", each(calls, ", ", call))
        }),
        bare("fenced JSON", |calls| {
            format!("```json\n{}\n```", each(calls, "\n", |call| json_of(call, USUAL)))
        }),
        bare("fence without a word", |calls| format!("```\n{}\n```", list_of(calls, LLAMA))),
        bare("fence named tool_call", |calls| {
            format!("```tool_call\n{}\n```", each(calls, "\n", |call| json_of(call, USUAL)))
        }),
        bare("marked within a fence", |calls| {
            format!(
                "```xml\n{}\n```",
                each(calls, "\n", |call| format!("<tool_call>{}</tool_call>", json_of(call, USUAL)))
            )
        }),
        bare("bare Python", |calls| each(calls, "\n", python_of)),
        bare("bare Python list", |calls| format!("[{}]", each(calls, ", ", python_of))),
    ]
}

fn given(calls: &[Written]) -> Vec<(String, CallInput)> {
    calls.iter().map(|(name, value)| (name.to_string(), CallInput::Object(value.clone()))).collect()
}

const PROSE: &str = "I will look at the file first, because the error names it.\n\n";

/// All answers of the table, and what each must be.
fn table() -> Vec<(String, TextReading)> {
    let first: &[Written] = &[("read_file", json!({"path": "src/main.rs"}))];
    let numbers: &[Written] = &[("read_file", json!({"path": "a b.txt", "offset": 10, "limit": 20}))];
    let two: &[Written] = &[
        ("read_file", json!({"path": "a.rs"})),
        ("run_command", json!({"command": "cargo test", "timeout": 60})),
    ];
    let content = "# Title\n\nA \"quoted\" word, {braces}, [TOOL], <b>tags</b> and a \\ backslash.\nlast";
    let hard: &[Written] = &[("write_file", json!({"path": "n.md", "content": content}))];
    let nobody: &[Written] = &[("open_browser", json!({"path": "x"}))];
    let mut all = Vec::new();
    for form in forms() {
        let write = |calls: &[Written]| (form.write)(calls);
        let found = |prose: &str, calls: &[Written]| TextReading::Calls {
            prose: prose.trim_end().into(),
            calls: given(calls),
        };
        assert!(write(first).contains("read_file"), "{}", form.name);
        all.push((write(first), found("", first)));
        all.push((write(numbers), found("", numbers)));
        all.push((write(two), found("", two)));
        all.push((write(hard), found("", hard)));
        all.push((format!("{}\n\n", write(first)), found("", first)));
        all.push((format!("{PROSE}{}", write(two)), found(PROSE, two)));
        all.push((format!("{}<|im_end|>\n", write(first)), found("", first)));
        let unclosed = write(first);
        let unclosed = unclosed.strip_suffix(form.close).unwrap_or(&unclosed);
        all.push((unclosed.into(), found("", first)));
        let shown = format!("The form is this:\n\n~~~text\n{}\n~~~\n\nThe server reads it.", write(first));
        all.push((shown, TextReading::Plain));
        let unknown = TextReading::Fault(TextCallFault::UnknownTool { name: "open_browser".into() });
        if form.is_marked {
            all.push((write(nobody), unknown));
            all.push((
                format!("{}\n\nIt says that all is well.", write(first)),
                TextReading::Fault(TextCallFault::NotLast),
            ));
            let inline = write(first).replace('\n', " ");
            all.push((format!("Models write `{inline}` for that."), TextReading::Plain));
        } else {
            all.push((format!("{PROSE}{}", write(nobody)), TextReading::Plain));
            all.push((format!("{}\n\nThat is how it looks.", write(first)), TextReading::Plain));
            let wrong: &[Written] = &[("read_file", json!({"file": "src/main.rs"}))];
            all.push((format!("{PROSE}{}", write(wrong)), TextReading::Plain));
        }
    }
    all
}

#[test]
fn three_hundred_answers_are_calls_faults_or_text_as_the_table_says() {
    let table = table();
    assert!(table.len() >= 300, "{}", table.len());
    for (text, expected) in table {
        assert_eq!(reading(&text), expected, "{text}");
    }
}

#[test]
fn every_row_names_its_models_and_its_source_and_is_tried() {
    let written: String =
        forms().iter().map(|form| (form.write)(&[("read_file", json!({"path": "a"}))])).collect();
    for row in FORMATS {
        assert!(!row.models.is_empty() && !row.source.is_empty());
        assert!(row.open.iter().any(|open| written.contains(open)), "{}", row.models);
    }
}

/// A decoder that is fed pieces of text; `end` ends the answer.
struct Pieces(AssistantMessage);

impl AnswerDecoder for Pieces {
    fn feed(&mut self, event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        if event == "end" {
            return Ok(vec![StreamEvent::Finished(std::mem::take(&mut self.0))]);
        }
        match self.0.blocks.last_mut() {
            Some(AssistantBlock::Text { text }) => text.push_str(data),
            _ => self.0.blocks.push(AssistantBlock::Text { text: data.into() }),
        }
        Ok(vec![StreamEvent::Text(data.into())])
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn cut(&mut self) -> AssistantMessage {
        std::mem::take(&mut self.0)
    }
}

fn request(asked: &str) -> ModelRequest {
    ModelRequest {
        model: crate::ModelSpec {
            name: "m".into(),
            window: 8192,
            capabilities: crate::ModelCapabilities::default(),
        },
        system: "".into(),
        tools: tools(),
        messages: vec![Message::user(asked)],
        max_output: 100,
    }
}

/// What is shown of an answer that arrives in pieces of so many characters, and the answer.
pub(super) fn streamed(text: &str, size: usize) -> (String, AssistantMessage) {
    let mut decoder =
        TextCallDecoder::new(Box::new(Pieces(AssistantMessage::default())), &request("please look"));
    let (mut shown, mut answer) = (String::new(), AssistantMessage::default());
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(size).map(|piece| ("", piece.iter().collect::<String>()));
    for (event, piece) in pieces.chain([("end", String::new())]) {
        for event in decoder.feed(event, &piece).unwrap() {
            match event {
                StreamEvent::Text(text) => shown.push_str(&text),
                StreamEvent::Finished(finished) => answer = finished,
                _ => {}
            }
        }
    }
    (shown, answer)
}

#[test]
fn however_an_answer_arrives_a_call_is_never_shown_as_text_and_no_text_is_lost() {
    for (text, expected) in table() {
        for size in [1, 3, 7, 4096] {
            let (shown, answer) = streamed(&text, size);
            match &expected {
                TextReading::Calls { prose, calls } => {
                    assert_eq!(shown.trim_end(), prose, "{size}: {text}");
                    let made: Vec<_> =
                        answer.calls().map(|call| (call.name.clone(), call.input.clone())).collect();
                    assert_eq!((&made, &answer.stop), (calls, &StopReason::ToolUse), "{text}");
                    assert_eq!(&answer.text(), prose, "{text}");
                }
                TextReading::Fault(fault) => {
                    assert_eq!((shown, answer.stop), (text.clone(), StopReason::TextCall(fault.clone())));
                }
                TextReading::Plain => assert_eq!((shown, answer.text()), (text.clone(), text.clone())),
            }
        }
    }
}

#[test]
fn a_call_without_a_marker_is_text_where_the_person_asked_for_it_or_the_model_makes_real_calls() {
    let call = "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}";
    let of = |asked: &str| read(call, &offered(asked), AnswerEnd::Whole);
    assert!(matches!(of("what is in a?"), TextReading::Calls { .. }));
    for asked in ["show the JSON of a read_file call", "how is `read_file` called?"] {
        assert_eq!(of(asked), TextReading::Plain);
    }
    let mut tools = offered("what is in a?");
    tools.takes_unmarked = false;
    assert_eq!(read(call, &tools, AnswerEnd::Whole), TextReading::Plain);
    let marked = format!("<tool_call>{call}");
    assert!(matches!(read(&marked, &tools, AnswerEnd::Whole), TextReading::Calls { .. }));
}

#[test]
fn a_call_that_cannot_be_read_is_a_fault_and_one_that_was_cut_says_so() {
    let cut = [
        "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"some text that",
        "[TOOL_CALLS]write_file[ARGS]{\"path\": \"a\", \"content\": \"some",
        "<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nsome",
        "<|python_tag|>{\"name\": \"write_file\", \"parameters\": {\"pa",
    ];
    for text in cut {
        let TextReading::Calls { calls, .. } = read(text, &offered(""), AnswerEnd::AtLimit(512)) else {
            panic!("{text}")
        };
        let [(name, CallInput::Malformed { reason, is_cut: true, .. })] = calls.as_slice() else {
            panic!("{calls:?}")
        };
        assert_eq!(name, "write_file");
        assert!(reason.starts_with("the answer was cut at 512 tokens"), "{reason}");
        assert!(matches!(reading(text), TextReading::Fault(TextCallFault::Unreadable { .. })), "{text}");
    }
    for text in [
        "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\", \"path\": \"b\"}}</tool_call>",
        "<tool_call>{\"name\": \"read_file\", \"path\": \"a\"}</tool_call>",
        "<|tool_call_start|>[read_file(path=where())]<|tool_call_end|>",
    ] {
        assert!(matches!(reading(text), TextReading::Fault(TextCallFault::Unreadable { .. })), "{text}");
    }
}

#[test]
fn values_in_tags_have_the_type_of_the_schema_and_may_contain_tags() {
    let content = "<a>\n</parameter>\nx</parameter> y\n</a>";
    let text = format!(
        "<function=write_file>\n<parameter=path>\n12\n</parameter>\n<parameter=content>\n{content}\n</parameter>\n</function>"
    );
    let expected = json!({"path": "12", "content": content});
    assert_eq!(calls_of(&text), [("write_file".to_string(), CallInput::Object(expected))]);
    let text = "<function=run_command><parameter=command>ls</parameter><parameter=timeout>5</parameter><parameter=hosts>[\"a\"]</parameter></function>";
    let expected = json!({"command": "ls", "timeout": 5, "hosts": ["a"]});
    assert_eq!(calls_of(text), [("run_command".to_string(), CallInput::Object(expected))]);
    let text =
        "[list_directory(all=True, path='it\\'s'), write_file(path=\"\"\"a\"\"\", content='x\\n\\u00e9')]";
    let expected = [
        ("list_directory".to_string(), CallInput::Object(json!({"all": true, "path": "it's"}))),
        ("write_file".to_string(), CallInput::Object(json!({"path": "a", "content": "x\né"}))),
    ];
    assert_eq!(calls_of(text), expected);
}

#[test]
fn a_real_call_leaves_the_text_as_it_is_and_ids_go_on() {
    let call =
        ToolCall { id: CallId::new("text_call_0"), name: "read_file".into(), input: CallInput::parse("{}") };
    let blocks = vec![AssistantBlock::Call(call)];
    let mut request = request("go on");
    request.messages.push(Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() }));
    let mut decoder = TextCallDecoder::new(Box::new(Pieces(AssistantMessage::default())), &request);
    decoder.feed("", "{\"name\": \"list_directory\", \"arguments\": {}}").unwrap();
    let events = decoder.feed("end", "").unwrap();
    let Some(StreamEvent::Finished(answer)) = events.last() else { panic!("{events:?}") };
    assert_eq!(answer.calls().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["text_call_1"]);
    assert!(events.contains(&StreamEvent::CallStarted {
        id: CallId::new("text_call_1"),
        name: "list_directory".into()
    }));
}

#[test]
fn a_marker_in_code_is_no_marker() {
    assert_eq!(marker("a `<tool_call>` b"), None);
    assert_eq!(marker("```\n<tool_call>\n```\n"), None);
    assert_eq!(marker("a <tool_call> b"), Some(2));
    assert_eq!(marker("```\nx\n```\n<tool_call>"), Some(10));
}
