//! Bytes that cannot be decoded are never written back as U+FFFD, and nothing is guessed about their encoding.

use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::tools::{DeepagentsVersion, ToolSet, ToolSetSettings};
use serde_json::{Value, json};

/// German in Latin-1: too many of its letters stand next to each other to be recognised.
fn german() -> Vec<u8> {
    b"gr\xf6\xdfe = 1\n\xc4pfel und Birnen f\xfcr alle\n".repeat(5)
}

fn speaking(set: ToolSet) -> Bench {
    let settings = ToolSetSettings {
        virtual_paths: false,
        deepagents: DeepagentsVersion::V07,
        overwrite: true,
        ..ToolSetSettings::default()
    };
    let mut bench = Bench::new().speaking(set, &settings);
    bench.mode = Mode::Write;
    std::fs::write(bench.path("w.txt"), german()).unwrap();
    bench
}

#[test]
fn what_was_shown_of_undecodable_bytes_is_not_written_back() {
    let shown = String::from_utf8_lossy(&german()).into_owned();
    let read = json!({"path": "w.txt"});
    let batch = |mode: &str| json!({"aOperations": [{"sTool": "fs", "sBase": "app", "sPath": "w.txt", "sMode": mode, "sContent": shown}]});
    let one = |op: &str| json!({"operations": [{"op": "read", "path": "w.txt"}, {"op": op, "path": "w.txt", "content": shown}]});
    let calls: Vec<(ToolSet, &str, Value)> = vec![
        (ToolSet::Native, "write_file", json!({"path": "w.txt", "content": shown, "force": true})),
        (ToolSet::Native, "operations", one("write")),
        (ToolSet::Native, "operations", one("append")),
        (ToolSet::Agsh, "write_file", json!({"path": "w.txt", "content": shown})),
        (ToolSet::Triggerfish, "write_file", json!({"path": "w.txt", "content": shown})),
        (ToolSet::Agentos, "file_write", json!({"path": "w.txt", "content": shown})),
        (ToolSet::Deepagents, "write_file", json!({"file_path": "w.txt", "content": shown})),
        (ToolSet::Typestack, "agent_prompt", batch("overwrite")),
        (ToolSet::Typestack, "agent_prompt", batch("append")),
    ];
    for (set, tool, call) in calls {
        let bench = speaking(set);
        let answer = bench.call(tool, call).failed();
        assert!(answer.contains("U+FFFD") && answer.contains("not valid UTF-8"), "{set:?} {tool}: {answer}");
        assert_eq!(std::fs::read(bench.path("w.txt")).unwrap(), german(), "{set:?} {tool}");
    }
    let bench = speaking(ToolSet::Agentos);
    assert!(bench.call("file_read", read).done().contains("shown as U+FFFD"));
}

#[test]
fn an_edit_of_a_file_whose_encoding_is_not_recognised_takes_ascii_only() {
    let bench = speaking(ToolSet::Native);
    bench.call("read_file", json!({"path": "w.txt"})).done();
    let edit =
        |new: &str| json!({"path": "w.txt", "old_string": " = 1", "new_string": new, "replace_all": true});
    let refused = bench.call("edit_file", edit(" = \u{e4}")).failed();
    assert!(refused.contains("its encoding is not recognised") && refused.contains("U+00E4"), "{refused}");
    assert!(refused.contains("iconv"), "{refused}");
    let patch = "--- a/w.txt\n+++ b/w.txt\n@@ -1,0 +2,1 @@\n+\u{e4}\n";
    let refused = bench.call("apply_patch", json!({"patch": patch})).failed();
    assert!(refused.contains("its encoding is not recognised"), "{refused}");
    let refused =
        bench.call("write_file", json!({"path": "w.txt", "content": "\u{e4}", "mode": "append"})).failed();
    assert!(refused.contains("its encoding is not recognised"), "{refused}");
    bench.call("edit_file", edit(" = 2")).done();
    let wanted = german().iter().map(|b| if *b == b'1' { b'2' } else { *b }).collect::<Vec<u8>>();
    assert_eq!(std::fs::read(bench.path("w.txt")).unwrap(), wanted);
}

#[test]
fn utf_8_with_a_damaged_byte_is_still_utf_8() {
    let bench = speaking(ToolSet::Native);
    let text = "größe = 1\nÄpfel\n";
    std::fs::write(bench.path("u.txt"), [text.as_bytes(), b"\xff\n"].concat()).unwrap();
    bench.call("read_file", json!({"path": "u.txt"})).done();
    let edit = json!({"path": "u.txt", "old_string": "Äpfel", "new_string": "Bäume"});
    bench.call("edit_file", edit).done();
    let wanted = [text.replace("Äpfel", "Bäume").as_bytes(), b"\xff\n"].concat();
    assert_eq!(std::fs::read(bench.path("u.txt")).unwrap(), wanted);
}
