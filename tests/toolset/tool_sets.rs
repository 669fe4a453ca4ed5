//! What users of the five systems expect of their tools beyond the rules of the documents.

use crate::support::binary::Place;
use crate::support::tool_bench::Bench;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet::conversation::Part;
use placet::permission::Mode;
use placet::tools::{DeepagentsVersion, ToolLimits, ToolSet, ToolSetSettings};
use serde_json::{Value, json};

fn deepagents(settings: &ToolSetSettings) -> Bench {
    Bench::new().speaking(ToolSet::Deepagents, settings)
}

fn virtual_paths() -> Bench {
    deepagents(&ToolSetSettings::default())
}

fn plain() -> Bench {
    deepagents(&ToolSetSettings { virtual_paths: false, ..ToolSetSettings::default() })
}

fn newer() -> Bench {
    let newer =
        ToolSetSettings { deepagents: DeepagentsVersion::V07, overwrite: true, ..ToolSetSettings::default() };
    deepagents(&newer)
}

#[test]
fn deepagents_without_virtual_paths_and_without_a_path_searches_the_workspace() {
    let bench = plain();
    let path = bench.write("a.txt", "needle\n").display().to_string();
    assert_eq!(bench.call("ls", json!({})).done(), format!("['{path}']"));
    assert_eq!(bench.call("glob", json!({"pattern": "*.txt"})).done(), format!("['{path}']"));
    assert_eq!(bench.call("grep", json!({"pattern": "needle"})).done(), path);
    assert_eq!(bench.call("ls", json!({"path": "."})).done(), format!("['{path}']"));
    let root = bench.call("ls", json!({"path": "/"})).done();
    assert!(root.contains("'/usr/'"), "a path that is named is what it says: {root}");
}

#[test]
fn deepagents_fills_an_empty_file_and_no_other() {
    let bench = virtual_paths();
    bench.write("a.txt", "");
    let write = |content: &str| json!({"file_path": "/a.txt", "content": content});
    assert_eq!(bench.call("write_file", write("one")).done(), "Updated file /a.txt");
    let refused = bench.call("write_file", write("two")).failed();
    assert!(refused.starts_with("Cannot write to /a.txt because it already exists."), "{refused}");
    assert_eq!(bench.text("a.txt"), "one");
}

#[test]
fn deepagents_says_what_is_wrong_with_a_virtual_path_in_its_own_words() {
    let bench = virtual_paths();
    bench.write("a.txt", "x\n");
    std::fs::create_dir(bench.path("dir")).unwrap();
    std::os::unix::fs::symlink("loop", bench.path("loop")).unwrap();
    let write = |path: &str| bench.call("write_file", json!({"file_path": path, "content": "x"})).failed();
    assert_eq!(write("/a.txt/b"), "Error writing file '/a.txt/b': a part of the path is a file");
    assert_eq!(write("/loop"), "Error writing file '/loop': it goes through too many symbolic links");
    assert_eq!(write("/dir"), "Error writing file '/dir': it is a directory");
    let read = |path: &str| bench.call("read_file", json!({"file_path": path})).failed();
    assert_eq!(read("/a.txt/b"), "Error: File '/a.txt/b' not found");
    assert_eq!(read("/loop"), "Error reading file '/loop': it goes through too many symbolic links");
    assert_eq!(bench.call("ls", json!({"path": "/a.txt/b"})).done(), "[]");
    let looped = bench.call("ls", json!({"path": "/loop"})).failed();
    assert_eq!(looped, "Error listing '/loop': it goes through too many symbolic links");
    bench.call("read_file", json!({"file_path": "/a.txt"})).done();
    bench.write("a.txt", "y\n");
    let edit = json!({"file_path": "/a.txt", "old_string": "y", "new_string": "z"});
    let changed = bench.call("edit_file", edit).failed();
    assert!(changed.starts_with("error: `/a.txt` changed since you read it."), "{changed}");
}

#[test]
fn deepagents_ends_a_line_at_a_lone_carriage_return() {
    let bench = virtual_paths();
    bench.write("mac.txt", "one\rtwo\rthree\r");
    let body = bench.call("read_file", json!({"file_path": "/mac.txt"})).done();
    assert_eq!(body, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let second = json!({"file_path": "/mac.txt", "offset": 1, "limit": 1});
    assert_eq!(bench.call("read_file", second).done(), "     2\ttwo\n");
    bench.write("mixed.txt", "a\rb\r\n\r\nc");
    let body = bench.call("read_file", json!({"file_path": "/mixed.txt"})).done();
    assert_eq!(body, "     1\ta\n     2\tb\n     3\t\n     4\tc\n");
    let data: Value =
        serde_json::from_str(&bench.call("file_data", json!({"file_path": "/mixed.txt"})).done()).unwrap();
    assert_eq!(data["content"], json!(["a", "b", "", "c"]));
}

#[test]
fn deepagents_transfers_of_nothing_answer_with_nothing() {
    let bench = virtual_paths();
    assert_eq!(bench.call("download_files", json!({"paths": []})).done(), "[]");
    assert_eq!(bench.call("upload_files", json!({"files": []})).done(), "[]");
}

#[test]
fn deepagents_0_7_has_delete() {
    let bench = newer();
    bench.write("a.txt", "x\n");
    bench.write("dir/b.txt", "x\n");
    std::os::unix::fs::symlink("a.txt", bench.path("link")).unwrap();
    let delete = |path: &str| bench.call("delete", json!({"file_path": path}));
    let linked = delete("/link").failed();
    assert_eq!(
        linked,
        "Error deleting '/link': it is a symbolic link, and the file that it leads to would go"
    );
    assert_eq!(delete("/dir").failed(), "Error deleting '/dir': it is a directory; use execute for it");
    assert_eq!(delete("/a.txt").done(), "Deleted /a.txt");
    assert!(!bench.path("a.txt").exists());
    assert_eq!(delete("/a.txt").failed(), "Error: '/a.txt' not found");
    assert_eq!(delete("/../x").failed(), "Error: Path traversal not allowed: /../x");
    assert!(virtual_paths().registry.get("delete").is_err(), "0.4 has none");
}

#[test]
fn deepagents_0_7_counts_matches_and_says_where_it_stopped() {
    let bench = newer();
    bench.write("a.txt", "x\nx\nx\n");
    bench.write("b.txt", "x\n");
    let grep = |mode: &str, most: u64| {
        bench.call("grep", json!({"pattern": "x", "output_mode": mode, "max_count": most})).done()
    };
    assert_eq!(grep("count", 4), "/a.txt: 3\n/b.txt: 1");
    let stopped = "\n\nNote: the search stopped early";
    assert!(grep("count", 2).starts_with(&format!("/a.txt: 2{stopped}")), "{}", grep("count", 2));
    assert!(grep("files_with_matches", 3).starts_with(&format!("/a.txt{stopped}")));
    assert!(grep("content", 1).starts_with(&format!("/a.txt:\n  1: x{stopped}")));
    let regular = bench.call("grep", json!({"pattern": "a.*b"})).done();
    assert!(regular.contains("grep matches literal text, not regex"), "{regular}");
    bench.call("grep", json!({"pattern": "x", "max_count": 0})).failed();
    let none = virtual_paths().call("grep", json!({"pattern": "x", "max_count": 1})).done();
    assert!(none.contains("there is no parameter `max_count`: it was ignored"), "{none}");
}

#[test]
fn deepagents_0_7_has_its_forms_and_defaults() {
    let bench = newer();
    bench.write("a.txt", (1..=102).map(|n| format!("{n}\n")).collect::<String>());
    let page = bench.call("read_file", json!({"file_path": "/a.txt"})).done();
    assert!(page.starts_with("  1  1\n  2  2\n"), "{page}");
    let note = "\n[Read 100 lines (lines 1-100 of 102 total). 2 lines remaining from offset 100.]";
    assert!(page.ends_with(&format!("100  100\n{note}")), "{page}");
    assert_eq!(bench.call("ls", json!({"path": "/none"})).failed(), "Error: Path '/none': path_not_found");
    assert_eq!(bench.call("ls", json!({"path": "/a.txt"})).failed(), "Error: Path '/a.txt': not_a_directory");
    assert_eq!(bench.call("glob", json!({"pattern": "*.none"})).done(), "No files found");
    bench.call("write_file", json!({"file_path": "/a.txt", "content": "new"})).done();
    assert_eq!(bench.text("a.txt"), "new", "an existing file is replaced");
    bench.write("d/b.py", "");
    bench.write("d/.hidden/c.py", "");
    let glob = |pattern: &str| bench.call("glob", json!({"pattern": pattern})).done();
    assert_eq!(glob("*.py"), "['/d/.hidden/c.py', '/d/b.py']");
    assert_eq!(glob("/*.py"), "No files found");
    assert_eq!(glob("d/*.py"), "['/d/b.py']");
}

#[test]
fn agsh_gives_the_first_2000_lines_however_long_they_are() {
    let bench = Bench::of(ToolSet::Agsh);
    let line = "x".repeat(100);
    bench.write("long.txt", format!("{line}\n").repeat(2500));
    let page = bench.call("read_file", json!({"path": "long.txt"})).done();
    assert!(page.contains(&format!("\n2000│{line}\n")) && !page.contains("2001│"), "{}", page.len());
    assert!(page.contains("lines 1-2000 of 2500; continue with offset 2000"));
    let page = bench.call("read_file", json!({"path": "long.txt", "limit": 2300})).done();
    assert!(page.contains(&format!("\n2300│{line}\n")) && !page.contains("2301│"), "an explicit limit");
    // What was shown was seen.
    let edit = json!({"path": "long.txt", "old_string": "x", "new_string": "y"});
    bench.call("edit_file", edit).done();
}

#[test]
fn agsh_gives_no_more_than_the_window_has_room_for() {
    let bench =
        Bench::with_limits(ToolLimits::default()).speaking(ToolSet::Agsh, &ToolSetSettings::default());
    bench.env.limits.room.leave(10_000);
    bench.write("long.txt", format!("{}\n", "x".repeat(100)).repeat(2500));
    let page = bench.call("read_file", json!({"path": "long.txt"})).done();
    assert!(page.len() <= 10_000 && page.contains("; continue with offset "), "{}", page.len());
}

#[test]
fn agsh_hints_and_refusals_name_its_own_parameters() {
    let bench = Bench::of(ToolSet::Agsh);
    let noise: Vec<u8> = (0..4_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut picture = b"P5\n2000 2000\n255\n".to_vec();
    picture.extend(noise);
    bench.write("big.pgm", picture);
    let large = bench.call("read_file", json!({"path": "big.pgm"})).failed();
    assert!(large.contains("3750000") && !large.contains("exact"), "{large}");
    let wrong = bench.call("scratchpad_edit", json!({"name": "x", "action": "edit"})).failed();
    assert!(wrong.starts_with("error: unknown parameter `action` of `scratchpad_edit`"), "{wrong}");
    assert!(
        wrong.ends_with("scratchpad_edit(name: string, old_string: string, new_string: string)"),
        "{wrong}"
    );
    let missing = bench.call("scratchpad_write", json!({"name": "x"})).failed();
    assert!(missing.contains("`content` is missing: it must be a string"), "{missing}");
    for spec in bench.registry.specs() {
        assert!(spec.schema["properties"].get("action").is_none(), "{}", spec.name);
    }
}

#[test]
fn agsh_shows_a_picture_that_is_given_in_base64_or_in_a_scratchpad() {
    let bench = Bench::of(ToolSet::Agsh);
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(3, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let png = png.into_inner();
    let shown = |input: Value| {
        let got = bench.call("render_image", input);
        let body = got.body();
        got.0
            .for_model
            .into_iter()
            .find_map(|part| match part {
                Part::Image(image) => Some((image.width, image.height, image.bytes.to_vec())),
                Part::Text { .. } | Part::Note(_) => None,
            })
            .unwrap_or_else(|| panic!("{body}"))
    };
    let data = STANDARD.encode(&png);
    assert_eq!(shown(json!({"data": data})), (3, 2, png.clone()));
    assert_eq!(shown(json!({"data": format!("data:image/png;base64,{data}")})), (3, 2, png.clone()));
    bench.call("scratchpad_write", json!({"name": "text", "content": data})).done();
    assert_eq!(shown(json!({"name": "text"})), (3, 2, png.clone()));
    bench.write("a.png", &png);
    bench.call("scratchpad_load_file", json!({"name": "pic", "path": "a.png"})).done();
    assert_eq!(shown(json!({"name": "pic"})), (3, 2, png));
    let failed = |input: Value| bench.call("render_image", input).failed();
    assert!(failed(json!({"data": "!"})).contains("is not base64"));
    assert!(failed(json!({"data": STANDARD.encode("text")})).contains("is not a picture of a known format"));
    assert!(failed(json!({"name": "none"})).contains("see them with scratchpad_list()"));
    assert!(failed(json!({})).contains("one of them gives the picture"));
}

#[test]
fn triggerfish_takes_a_plan_as_text_or_as_an_object() {
    let mut bench = Bench::of(ToolSet::Triggerfish);
    bench.mode = Mode::Write;
    let manage = |input: Value| bench.call("plan_manage", input);
    manage(json!({"action": "enter", "goal": "tidy"})).done();
    let no_plan = "Error: plan_manage(exit) requires a 'plan' argument: what the person is to approve.";
    assert_eq!(manage(json!({"action": "exit"})).failed(), no_plan);
    for empty in [json!(""), json!({}), json!([]), json!(3)] {
        let words = manage(json!({"action": "exit", "plan": empty})).failed();
        assert_eq!(
            words,
            "Error: the 'plan' is empty: give a text or an object that the person can approve."
        );
    }
    let plan = json!({"summary": "tidy up", "steps": [{"id": 1, "description": "first"}, "second"]});
    let approved = manage(json!({"action": "exit", "plan": plan})).done();
    for line in ["summary: tidy up", "steps:", "description: first", "- second"] {
        assert!(approved.contains(line), "{line}: {approved}");
    }
    assert_eq!(manage(json!({"action": "exit"})).failed(), no_plan, "also outside of plan mode");
    assert_eq!(manage(json!({"action": "exit", "plan": "x"})).failed(), "Error: not in plan mode.");
}

#[test]
fn a_name_that_is_not_utf_8_is_read_and_edited_under_the_name_that_lists_show() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let raw = OsStr::from_bytes(b"d\xff/n\xfe.txt");
    for (dialect, list, find) in [
        (ToolSet::Native, json!({}), ("find_files", json!({"pattern": "*.txt"}))),
        (ToolSet::Agsh, json!({}), ("find_files", json!({"pattern": "**/*.txt"}))),
        (
            ToolSet::Triggerfish,
            json!({"path": "."}),
            ("search_files", json!({"path": ".", "pattern": "*.txt"})),
        ),
    ] {
        let bench = Bench::new().speaking(dialect, &ToolSetSettings::default());
        let path = bench.root.join(raw);
        std::fs::create_dir(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "one\n").unwrap();
        if dialect != ToolSet::Agsh {
            let listed = bench.call("list_directory", list).done();
            assert!(listed.contains("d<FF>/"), "{dialect}: {listed}");
        }
        let found = bench.call(find.0, find.1).done();
        assert!(found.contains("d<FF>/n<FE>.txt"), "{dialect}: {found}");
        let name = "d<FF>/n<FE>.txt";
        assert!(bench.call("read_file", json!({"path": name})).done().contains("one"), "{dialect}");
        let (old, new) = if dialect == ToolSet::Triggerfish {
            ("old_text", "new_text")
        } else {
            ("old_string", "new_string")
        };
        bench.call("edit_file", json!({"path": name, old: "one", new: "two"})).done();
        assert_eq!(std::fs::read(&path).unwrap(), b"two\n", "{dialect}");
        bench.call("write_file", json!({"path": "d<FF>/new.txt", "content": "x"})).done();
        assert!(path.with_file_name("new.txt").exists(), "{dialect}: a new file in such a directory");
        // A file that is really called so comes first.
        bench.write("<FF>", "literal\n");
        std::fs::write(bench.root.join(OsStr::from_bytes(b"\xff")), "byte\n").unwrap();
        assert!(bench.call("read_file", json!({"path": "<FF>"})).done().contains("literal"), "{dialect}");
    }
    let bench = virtual_paths();
    std::fs::write(bench.root.join(OsStr::from_bytes(b"n\xfe.txt")), "one\n").unwrap();
    assert_eq!(bench.call("ls", json!({})).done(), "['/n<FE>.txt']");
    assert_eq!(bench.call("grep", json!({"pattern": "one"})).done(), "/n<FE>.txt");
    assert_eq!(bench.call("read_file", json!({"file_path": "/n<FE>.txt"})).done(), "     1\tone\n");
}

/// A tool that shows the name of a file with an escape in it can be given that name.
#[test]
fn a_name_with_control_characters_is_read_under_the_name_that_lists_show() {
    let bench = Bench::new();
    bench.write("a\u{1b}[2J\nb.txt", "one\n");
    let found = bench.call("find_files", json!({"pattern": "*.txt"})).done();
    let name = found.lines().next().unwrap();
    assert_eq!(name, "a␛[2J␊b.txt");
    assert!(bench.call("read_file", json!({"path": name})).done().contains("one"));
}

#[test]
fn agsh_starts_in_read_mode_and_a_list_of_modes_can_restrict() {
    let place = Place::new();
    let write = r#"{"path":"a.txt","content":"x"}"#;
    let out = place.run(["--dialect", "agsh", "tool", "call", "write_file", write]).code(3);
    assert!(out.stderr.contains("read mode"), "{}", out.stderr);
    let only = ["--set", "permission.modes=[\"read\", \"ask\"]"];
    let run = |mode: &str| place.run([&only[..], &["--mode", mode, "tool", "list"]].concat());
    run("ask").code(0);
    let refused = run("unrestricted").code(2);
    assert!(
        refused.stderr.contains("the settings do not allow the mode `unrestricted`"),
        "{}",
        refused.stderr
    );
    let bogus = place.run(["--set", "modes=[\"bogus\"]", "tool", "list"]);
    assert!(bogus.stderr.contains("unknown mode `bogus`"), "{}", bogus.stderr);
}
