//! Calls as blocks, as models write them and as placet writes them.

use super::block;
use super::cursor::{Cursor, WrittenArguments};
use super::description;
use super::format::BLOCK_OPEN;
use super::reading::{AnswerEnd, TextReading, read};
use super::tests::{calls_of, offered, reading, streamed, tools};
use placet_text::conversation::{CallId, CallInput, TextCallFault, ToolCall, ToolSpec};
use serde_json::{Value, json};

fn call(name: &str, arguments: Value) -> (String, CallInput) {
    (name.to_string(), CallInput::Object(arguments))
}

#[test]
fn a_block_at_the_end_of_an_answer_is_the_calls_that_it_says() {
    let edit = |old: &str, new: &str| {
        call("edit_file", json!({"path": "a.rs", "old_string": old, "new_string": new}))
    };
    let pair = |old: &str, new: &str| format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n");
    let in_file = |body: String| format!("I change it:\n\n```call edit_file a.rs\n{body}```");
    let readme = "# Use\n\n```sh\nmake\n```\n\nThen:\n\n```\nrun\n```\n";
    for (text, calls) in [
        ("```call run_command\nmake\n```".to_string(), vec![call("run_command", json!({"command": "make"}))]),
        (
            "```call run_command timeout=5 hosts=[\"a\"]\ncd x &&\n  make A=1\n```\n".into(),
            vec![call(
                "run_command",
                json!({"timeout": 5, "hosts": ["a"], "command": "cd x &&\n  make A=1"}),
            )],
        ),
        (
            "```call run_command make all\n```".into(),
            vec![call("run_command", json!({"command": "make all"}))],
        ),
        (
            "```call read_file my notes.txt offset=10 limit=5\n```".into(),
            vec![call("read_file", json!({"path": "my notes.txt", "offset": 10, "limit": 5}))],
        ),
        ("```call read_file\na=b.txt\n```".into(), vec![call("read_file", json!({"path": "a=b.txt"}))]),
        ("```call list_directory\n```".into(), vec![call("list_directory", json!({}))]),
        (
            "```call list_directory path=src all=true\n```".into(),
            vec![call("list_directory", json!({"path": "src", "all": true}))],
        ),
        (
            "```call write_file new.txt\n```".into(),
            vec![call("write_file", json!({"path": "new.txt", "content": ""}))],
        ),
        (
            format!("```call write_file README.md\n{readme}```"),
            vec![call("write_file", json!({"path": "README.md", "content": readme}))],
        ),
        (
            format!("````call write_file README.md\n{readme}````\n"),
            vec![call("write_file", json!({"path": "README.md", "content": readme}))],
        ),
        (in_file(pair("old\n", "new\n")), vec![edit("old", "new")]),
        (in_file(pair("  a\n\n  b\n", "  c\n")), vec![edit("  a\n\n  b", "  c")]),
        (in_file(pair("gone\n", "")), vec![edit("gone\n", "")]),
        (in_file(pair("emptied\n", "\n")), vec![edit("emptied", "")]),
        (in_file(pair("a\n", "b\n") + "\n" + &pair("c\n", "d\n")), vec![edit("a", "b"), edit("c", "d")]),
        (
            "```call edit_file a.rs replace_all=true\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```"
                .into(),
            vec![call(
                "edit_file",
                json!({"replace_all": true, "path": "a.rs", "old_string": "a", "new_string": "b"}),
            )],
        ),
        (
            "```call read_file a.rs\n```\n\n```call run_command\nmake\n```".into(),
            vec![call("read_file", json!({"path": "a.rs"})), call("run_command", json!({"command": "make"}))],
        ),
    ] {
        assert_eq!(calls_of(&text), calls, "{text}");
        for size in [1, 9] {
            let (shown, answer) = streamed(&text, size);
            assert!(!shown.contains("```"), "{shown}");
            assert_eq!(answer.calls().count(), calls.len());
        }
    }
}

#[test]
fn a_block_that_says_no_call_is_refused_with_its_form() {
    for text in [
        "```call edit_file a.rs\nold -> new\n```",
        "```call edit_file a.rs\n<<<<<<< SEARCH\nold\n>>>>>>> REPLACE\n```",
        "```call edit_file\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```",
    ] {
        let calls = calls_of(text);
        let [(name, CallInput::Malformed { reason, raw, is_cut: false })] = calls.as_slice() else {
            panic!("{calls:?}")
        };
        assert!(
            reason.contains("```call edit_file PATH [replace_all=BOOLEAN]\n<<<<<<< SEARCH\nOLD_STRING"),
            "{reason}"
        );
        // The model reads back what it wrote.
        let call = ToolCall {
            id: CallId::new("c"),
            name: name.clone(),
            input: CallInput::Malformed { raw: raw.clone(), reason: reason.clone(), is_cut: false },
        };
        let back = description::written(&call, &tools());
        assert_eq!(back.split_whitespace().collect::<String>(), text.split_whitespace().collect::<String>());
    }
    let unclosed = "```call write_file a.rs\nfn main() { f(\"{\") }\n";
    let fault = TextCallFault::Unreadable { reason: "its code block is not closed".into() };
    assert_eq!(reading(unclosed), TextReading::Fault(fault));
    let unknown = TextCallFault::UnknownTool { name: "open_browser".into() };
    assert_eq!(reading("```call open_browser x\n```"), TextReading::Fault(unknown));
    assert_eq!(
        reading("```call read_file a\n```\n\nThat reads it."),
        TextReading::Fault(TextCallFault::NotLast)
    );
}

/// A model that knows the block from elsewhere is told what is missing, if it was asked for blocks.
#[test]
fn an_edit_without_its_call_is_refused_only_where_blocks_were_asked_for() {
    let pair = "<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE";
    let mut tools = offered("mend it");
    for text in [format!("src/a.rs\n{pair}"), format!("src/a.rs\n```rust\n{pair}\n```\n")] {
        assert_eq!(read(&text, &tools, AnswerEnd::Whole), TextReading::Plain);
    }
    tools.has_blocks = true;
    for text in [format!("src/a.rs\n{pair}"), format!("src/a.rs\n```rust\n{pair}\n```\n")] {
        let reason = "a search and replace block begins with ```call TOOL PATH".into();
        let fault = TextCallFault::Unreadable { reason };
        assert_eq!(read(&text, &tools, AnswerEnd::Whole), TextReading::Fault(fault));
    }
    for text in [format!("{pair}\n\nis how it looks."), "git writes `<<<<<<< HEAD`.".into()] {
        assert_eq!(read(&text, &tools, AnswerEnd::Whole), TextReading::Plain);
    }
}

/// Whatever a call has, what placet writes of it is read as the same call: as a block, or as JSON where no block says it.
#[test]
fn a_call_that_placet_writes_back_reads_as_the_same_call() {
    let texts = [
        "",
        "a",
        "a\n",
        "\n",
        "a\n\n",
        " a ",
        "a b=c",
        "offset=3",
        "timeout=5",
        "a\nb",
        "```\nx\n```",
        "```call run_command\nls\n```\n",
        "=======",
        "a\n=======\nb",
        "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
        "````\n",
        "`````\n",
        "\u{e9}\t\"\\",
        "<tool_call>",
        "</tool_call>\n",
    ];
    let mut inputs = Vec::new();
    for one in texts {
        inputs.push(("run_command", json!({"command": one, "timeout": 5})));
        inputs.push(("run_command", json!({"command": one, "hosts": ["a b", one]})));
        inputs.push(("read_file", json!({"path": one, "offset": 3})));
        inputs.push(("list_directory", json!({"path": one})));
        inputs.push(("list_directory", json!({"all": one})));
        for other in texts {
            inputs.push(("write_file", json!({"path": one, "content": other})));
            inputs.push(("edit_file", json!({"path": "a", "old_string": one, "new_string": other})));
        }
    }
    let mut blocks = 0;
    for (name, value) in inputs {
        let call =
            ToolCall { id: CallId::new("c"), name: name.into(), input: CallInput::Object(value.clone()) };
        let text = description::written(&call, &tools());
        blocks += usize::from(text.contains("call "));
        assert_eq!(calls_of(&text), [(name.to_string(), CallInput::Object(value))], "{text}");
    }
    assert!(blocks > 400, "{blocks}");
}

#[test]
fn each_tool_is_shown_with_the_block_that_calls_it() {
    let block = |spec: &ToolSpec| block::usage(spec).unwrap_or_else(|| "none".into());
    let mut specs = tools().to_vec();
    let schema = json!({"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]});
    specs.push(ToolSpec { name: "todo".into(), description: String::new(), schema });
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {"file_path": text, "new_str": text, "old_str": text},
        "required": ["file_path", "old_str", "new_str"]});
    specs.push(ToolSpec { name: "Edit".into(), description: String::new(), schema });
    let shown: Vec<String> = specs.iter().map(block).collect();
    assert_eq!(
        shown,
        [
            "```call read_file PATH [offset=INTEGER] [limit=INTEGER]\n```",
            "```call write_file PATH\nCONTENT\n```",
            "```call edit_file PATH [replace_all=BOOLEAN]\n<<<<<<< SEARCH\nOLD_STRING\n=======\nNEW_STRING\n>>>>>>> REPLACE\n```",
            "```call run_command [timeout=INTEGER] [hosts=ARRAY]\nCOMMAND\n```",
            "```call list_directory [path=STRING] [all=BOOLEAN]\n```",
            "none",
            "```call Edit FILE_PATH\n<<<<<<< SEARCH\nOLD_STR\n=======\nNEW_STR\n>>>>>>> REPLACE\n```",
        ]
    );
    let mut cursor = Cursor { rest: shown[1].strip_prefix("```call ").unwrap() };
    let calls = block::read(&mut cursor, BLOCK_OPEN[0]).unwrap();
    assert!(matches!(&calls[0].arguments, WrittenArguments::Block { head, .. } if head == "PATH"));
}
