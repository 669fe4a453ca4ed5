//! placet as an MCP server, spoken to in JSON-RPC written by hand.

use crate::support::binary::Place;
use crate::support::mcp_client::{McpClient, told};
use crate::support::require::{has_view, require};
use crate::support::wait;
use serde_json::{Value, json};

/// A picture of 2 by 2 points.
fn png() -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(2, 2).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

#[test]
fn an_unknown_method_is_named_as_one() {
    let mut client = McpClient::start(&Place::with_notes(), &[]);
    client.request("no/such", json!({}));
    let answer = client.answer();
    assert_eq!(answer["error"], json!({"code": -32601, "message": "unknown method `no/such`"}), "{answer}");
    client.close();
}

#[test]
fn a_line_that_is_not_json_is_answered_and_the_next_one_works() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &[]);
    for line in ["garbage", "{\"jsonrpc\": \"2.0\", ", "[1, 2"] {
        client.running.say(&format!("{line}\n"));
        let answer = client.answer();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32700)), "{answer}");
    }
    // A client waits for the answer to its request.
    for (line, id) in [
        (r#"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\ud800"}}"#, json!(7)),
        (r#"{"params": {"id": 3, "a": "\udfff \ud800"}, "method": "ping", "id": "seven"}"#, json!("seven")),
        (r#"{"id": 8, "method": "ping", "params": {"x": NaN"#, json!(8)),
        (r#"{"id": 9, "result": "\ud800"}"#, Value::Null),
        (r#"{"method": "ping", "params": {"id": 3, "a": "\ud800"}}"#, Value::Null),
    ] {
        client.running.say(&format!("{line}\n"));
        let answer = client.answer();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32700)), "{answer}");
    }
    // The library drops what is nested deeper than it reads.
    let deep = format!("{}1{}", "{\"a\":".repeat(400), "}".repeat(400));
    client.running.say(&format!("{}\n", deep));
    assert_eq!(client.answer()["error"]["code"], -32700);
    client.running.say("\n \n");
    assert!(!client.call("read_file", json!({"path": "notes.txt"})).0);
    client.close();
}

/// Story: without these codex refused every call in its usual sandbox, `read_file` too.
#[test]
fn every_tool_says_what_it_can_do_in_the_mode_that_is_served() {
    let place = Place::with_notes();
    for (mode, set) in [("read", "native"), ("ask", "native"), ("write", "native"), ("ask", "triggerfish")] {
        let mut client = McpClient::start(&place, &["--mode", mode, "--dialect", set]);
        let tools = client.ask("tools/list", json!({}));
        let mut reads_only = Vec::new();
        for tool in tools["tools"].as_array().unwrap() {
            let hints = &tool["annotations"];
            let destroys = mode == "write" && hints["readOnlyHint"] == false || tool["name"] == "discard";
            assert_eq!(hints["destructiveHint"] == true, destroys, "{tool}");
            assert_eq!(hints["openWorldHint"], tool["name"] == "fetch_url", "{tool}");
            assert!(tool["inputSchema"]["properties"]["background"].is_null(), "{tool}");
            if hints["readOnlyHint"] == true {
                reads_only.push(tool["name"].as_str().unwrap().to_string());
            }
        }
        let reading = ["read_file", "list_directory", "find_files", "search_contents", "fetch_url"];
        let known = match (mode, set) {
            ("read", _) => {
                vec![
                    "read_file",
                    "list_directory",
                    "find_files",
                    "search_contents",
                    "run_command",
                    "fetch_url",
                ]
            }
            (_, "triggerfish") => {
                vec!["read_file", "list_directory", "search_files", "exec.read", "exec.ls", "changes"]
            }
            _ => [&reading[..], &["changes"]].concat(),
        };
        assert_eq!(reads_only, known, "{mode} {set}");
        client.close();
    }
    let mut client = McpClient::start(&place, &["--mode", "ask", "--allow", "network(example.org)"]);
    let tools = client.ask("tools/list", json!({}));
    let run = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "run_command").unwrap();
    assert_eq!(run["annotations"]["openWorldHint"], true);
    client.close();
}

#[test]
fn the_instructions_name_the_workspace_the_mode_and_how_changes_become_real() {
    let place = Place::with_notes();
    for (mode, words) in [
        ("read", "is discarded"),
        ("ask", "`placet apply`"),
        ("write", "applied at once"),
        ("none", "no tool"),
    ] {
        let mut running = place.placet(["mcp", "serve", "--mode", mode]).start();
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        running.say(&format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        ));
        let welcome: Value = serde_json::from_str(&running.line()).unwrap();
        let text = welcome["result"]["instructions"].as_str().unwrap().to_string();
        assert!(text.contains(words) && text.contains(&format!("Mode: {mode}")), "{text}");
        assert!(text.contains(place.tree.to_str().unwrap()), "{text}");
        drop(running.stdin.take());
        running.end().code(0);
    }
}

#[test]
fn only_tools_that_are_listed_can_be_called() {
    let mut client = McpClient::start(&Place::with_notes(), &[]);
    for tool in ["todo", "ask_person", "agent", "job", "skill", "remember", "init_instructions"] {
        let (error, text) = client.call(tool, json!({}));
        assert!(error && text.contains("unknown tool"), "{tool}: {text}");
        assert!(!text.contains("ask_person,") && !text.contains("job,"), "{text}");
    }
    client.close();
}

#[test]
fn a_long_call_reports_that_it_still_runs_to_a_client_that_asks_for_it() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &[]);
    let call = json!({"name": "run_command", "arguments": {"command": "sleep 3; echo done"}, "_meta": {"progressToken": "t1"}});
    let id = client.request("tools/call", call);
    let report = client.answer();
    assert_eq!(report["method"], "notifications/progress", "{report}");
    assert_eq!(report["params"]["progressToken"], "t1");
    assert!(report["params"]["message"].as_str().unwrap().contains("run_command"), "{report}");
    let answer = client.answer();
    assert_eq!(answer["id"], id);
    assert!(told(&answer["result"]).1.contains("done"));
    client.close();
}

#[test]
fn the_tools_are_offered_with_their_schemas_and_closing_the_input_ends_it() {
    let mut client = McpClient::start(&Place::with_notes(), &[]);
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["tools"].as_array().unwrap();
    let own = placet::tools::ToolRegistry::native().specs_for_programs();
    assert_eq!(tools.len(), own.len());
    for (tool, spec) in tools.iter().zip(own) {
        assert_eq!(tool["name"], spec.name);
        assert_eq!(tool["description"], spec.description);
        assert_eq!(tool["inputSchema"], spec.schema);
    }
    client.close();
}

#[test]
fn another_surface_is_offered_under_its_own_names_and_called_by_either() {
    let mut client = McpClient::start(&Place::with_notes(), &["--dialect", "triggerfish", "--mode", "write"]);
    let tools = client.ask("tools/list", json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"exec.write") && names.contains(&"exec.ls"), "{names:?}");
    let (error, text) = client.call("exec.write", json!({"path": "a.txt", "content": "x"}));
    assert!(!error, "{text}");
    let (error, text) = client.call("exec_read", json!({"path": "a.txt"}));
    assert!(!error && text == "x", "{text}");
    client.close();
}

#[test]
fn a_file_must_be_read_before_it_is_edited_and_the_connection_remembers() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &["--mode", "write"]);
    let edit = json!({"path": "notes.txt", "old_string": "two", "new_string": "2"});
    let (error, text) = client.call("edit_file", edit.clone());
    assert!(error && text.contains("read"), "{text}");
    assert_eq!(place.read("notes.txt"), "one\ntwo\n");
    let (error, text) = client.call("read_file", json!({"path": "notes.txt"}));
    assert!(!error && text.contains("2│two"), "{text}");
    let (error, text) = client.call("edit_file", edit);
    assert!(!error, "{text}");
    assert_eq!(place.read("notes.txt"), "one\n2\n");
    client.close();
    // Another connection has seen nothing.
    let mut client = McpClient::start(&place, &["--mode", "write"]);
    let edit = json!({"path": "notes.txt", "old_string": "2", "new_string": "two"});
    assert!(client.call("edit_file", edit).0);
    client.close();
}

/// Story: a client was told that a file with a second name outside was written, and it waited for a person.
#[test]
fn a_change_that_waits_in_write_mode_is_said_to_wait() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    std::fs::hard_link(place.tree.join("notes.txt"), place.tree.parent().unwrap().join("other-name"))
        .unwrap();
    for (dialect, read, write) in
        [("native", "read_file", "write_file"), ("agentos", "file_read", "file_write")]
    {
        let mut client = McpClient::start(&place, &["--mode", "write", "--dialect", dialect]);
        client.call(read, json!({"path": "notes.txt"}));
        let mut waits = |path: &str| {
            let arguments = json!({"path": path, "content": dialect});
            let said = client.ask("tools/call", json!({"name": write, "arguments": arguments}));
            said.to_string().contains("[pending: what this call changed is not in the workspace yet")
        };
        assert!(waits("notes.txt"));
        assert!(!waits(&format!("{dialect}.txt")));
        client.close();
    }
    assert_eq!(place.read("notes.txt"), "one\ntwo\n");
}

#[test]
fn what_would_ask_or_is_refused_is_an_error_that_names_the_flag() {
    let place = Place::with_notes();
    let write = json!({"path": "new.txt", "content": "x"});
    let command = json!({"command": "expr 40 + 2"});
    let outside = json!({"path": "/opt/placet-test/new.txt", "content": "x"});
    let destroys = json!({"command": "git reset --hard"});
    for (args, tool, input, words) in [
        (vec![], "write_file", &write, "the person can start this server with `--mode ask`"),
        (vec!["--mode", "ask"], "write_file", &outside, "--allow"),
        (vec!["--mode", "unrestricted"], "run_command", &destroys, "without a person"),
        (
            vec!["--mode", "none"],
            "read_file",
            &json!({"path": "notes.txt"}),
            "the mode `none` allows no tools",
        ),
        (vec!["--deny", "read(notes.txt)"], "read_file", &json!({"path": "notes.txt"}), "denies it"),
        (vec![], "read_file", &json!({"path": "/etc/passwd"}), "--allow"),
        (vec![], "read_file", &json!({"pth": "notes.txt"}), "did you mean `path`"),
        (vec![], "no_such_tool", &json!({}), "unknown tool"),
    ] {
        let mut client = McpClient::start(&place, &args);
        let (error, text) = client.call(tool, input.clone());
        assert!(error && text.contains(words), "{words}: {text}");
        client.close();
    }
    assert!(!place.tree.join("new.txt").exists());
    let mut client = McpClient::start(&place, &["--mode", "read"]);
    let (error, text) = client.call("run_command", command);
    assert!(!error && text.contains("42"), "{text}");
    client.close();
}

#[test]
fn a_picture_is_image_content() {
    let place = Place::with_notes().file("dot.png", png());
    let mut client = McpClient::start(&place, &[]);
    let result = client.ask("tools/call", json!({"name": "read_file", "arguments": {"path": "dot.png"}}));
    let image = result["content"].as_array().unwrap().iter().find(|c| c["type"] == "image");
    let image = image.unwrap_or_else(|| panic!("{result}"));
    assert_eq!(image["mimeType"], "image/png");
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
    assert_eq!(bytes, png());
    client.close();
}

#[test]
fn calls_sent_together_are_all_answered_and_none_waits_for_a_command() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &["--mode", "write"]);
    let mut open: Vec<u64> = (0..20)
        .map(|n| {
            let (name, input) = match n % 2 {
                0 => ("read_file", json!({"path": "notes.txt"})),
                _ => ("write_file", json!({"path": format!("f{n}.txt"), "content": n.to_string()})),
            };
            client.request("tools/call", json!({"name": name, "arguments": input}))
        })
        .collect();
    while !open.is_empty() {
        let answer = client.answer();
        assert!(!told(&answer["result"]).0, "{answer}");
        open.retain(|id| answer["id"] != *id);
    }
    assert_eq!(place.read("f19.txt"), "19");
    client.close();
}

/// A script writes its requests, closes the pipe and reads the answers.
#[test]
fn what_was_asked_before_the_input_closed_is_still_answered() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &[]);
    let id = client.request("tools/call", json!({"name": "read_file", "arguments": {"path": "notes.txt"}}));
    drop(client.running.stdin.take());
    let answer = client.answer();
    assert_eq!(answer["id"], id);
    assert!(told(&answer["result"]).1.contains("2│two"), "{answer}");
    client.close();
}

#[test]
fn another_root_is_served_where_it_is_named() {
    let place = Place::with_notes().file("sub/inner.txt", "deep\n");
    let mut client = McpClient::start(&place, &["--root", "sub"]);
    let (error, text) = client.call("read_file", json!({"path": "inner.txt"}));
    assert!(!error && text.contains("deep"), "{text}");
    assert!(client.call("read_file", json!({"path": "../notes.txt"})).0);
    client.close();
    place.run(["mcp", "serve", "--root", "nowhere"]).code(2).warns("is not a directory");
}

#[test]
fn a_call_in_progress_does_not_keep_the_server_alive_when_the_client_is_gone() {
    let place = Place::with_notes();
    // In the view nothing of a running command is seen from outside.
    let mut client = McpClient::start(&place, &["--mode", "unrestricted"]);
    let line = "echo $$ > started; exec sleep 1000";
    client.request("tools/call", json!({"name": "run_command", "arguments": {"command": line}}));
    let started = place.tree.join("started");
    while std::fs::read_to_string(&started).map_or(true, |t| !t.ends_with('\n')) {
        std::thread::yield_now();
    }
    drop(client.running.stdin.take());
    client.running.end().code(0);
    let pid: i32 = place.read("started").trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    wait::until("the command to end", || rustix::process::test_kill_process(pid).is_err());
}

#[test]
fn a_hook_for_mcp_calls_is_asked_for_these_alone() {
    let place = Place::with_notes().config(
        "[[hooks]]\nname = \"inside\"\npoint = \"MCP_TOOL_CALL\"\ntool = \"read_file\"\ndeny = \"notes\"\nreason = \"not for clients\"\n",
    );
    let mut client = McpClient::start(&place, &[]);
    let (error, text) = client.call("read_file", json!({"path": "notes.txt"}));
    assert!(error && text.contains("the hook `inside` blocks it: not for clients"), "{text}");
    assert!(!client.call("list_directory", json!({})).0);
    client.close();
    place.run(["tool", "call", "read_file", r#"{"path":"notes.txt"}"#]).code(0);
}

/// Undo goes back in time: one `tool call`, one turn, one call of a client.
#[test]
fn each_call_is_a_turn_for_undo() {
    let place = Place::with_notes();
    let write = |name: &str| {
        let input = json!({"path": name, "content": "x"}).to_string();
        place.run(["tool", "call", "write_file", &input, "--mode", "write"]).code(0);
    };
    write("a.txt");
    place.run(["--mode", "write", "-p", "create turn.txt with \"x\""]).code(0);
    write("b.txt");
    write("c.txt");
    let mut client = McpClient::start(&place, &["--mode", "write"]);
    client.call("write_file", json!({"path": "d.txt", "content": "x"}));
    let made = json!([{"op": "create", "path": "e.txt", "content": "x"}, {"op": "create", "path": "f.txt", "content": "x"}]);
    let (failed, text) = client.call("operations", json!({"operations": made}));
    assert!(!failed, "{text}");
    client.close();
    let list = place.run(["journal", "list"]).code(0).stdout;
    assert!(list.contains("placet tool call write_file"), "{list}");
    assert!(list.contains("placet mcp serve: operations"), "{list}");
    for (gone, count) in [
        (&["e.txt", "f.txt"][..], 2),
        (&["d.txt"], 1),
        (&["c.txt"], 1),
        (&["b.txt"], 1),
        (&["turn.txt"], 1),
        (&["a.txt"], 1),
    ] {
        let done = place.run(["undo"]).code(0).stdout;
        assert!(done.starts_with(&format!("undid changes to {count} file")), "{gone:?}: {done}");
        gone.iter().for_each(|name| {
            assert!(!place.tree.join(name).exists() && done.contains(name), "{gone:?}: {done}")
        });
    }
    place.run(["undo"]).code(0).says("nothing to undo");
}

/// Transactions are composed in the order of time, and what somebody else wrote between two of them stays.
#[test]
fn what_you_wrote_between_two_calls_stays_when_both_are_undone() {
    let place = Place::new().file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let edit = |old: &str, new: &str| {
        let input = json!({"path": "a.txt", "old_string": old, "new_string": new, "force": true}).to_string();
        place.run(["tool", "call", "edit_file", &input, "--mode", "write"]).code(0);
    };
    edit("1", "one");
    let own = place.read("a.txt").replace('9', "mine");
    place.write("a.txt", own);
    edit("5", "five");
    place.run(["undo", "2"]).code(0).says("(merged with your later changes)");
    assert_eq!(place.read("a.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nmine\n");
    place.run(["redo"]).code(0);
    assert_eq!(place.read("a.txt"), "one\n2\n3\n4\nfive\n6\n7\n8\nmine\n");
}

fn names(client: &mut McpClient) -> Vec<String> {
    let tools = client.ask("tools/list", json!({}));
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_string()).collect()
}

#[test]
fn a_client_gets_the_tools_of_the_transaction_that_its_mode_can_use() {
    let place = Place::with_notes();
    for (args, offered) in [
        (&["--mode", "read"][..], &[][..]),
        (&["--mode", "none"], &[]),
        (&["--mode", "ask"], &["changes", "discard", "undo"]),
        (&["--mode", "write"], &["changes", "discard", "undo"]),
        (&["--mode", "ask", "--allow-apply"], &["changes", "discard", "apply", "undo"]),
        (&["--mode", "unrestricted"], &["undo"]),
    ] {
        let mut client = McpClient::start(&place, args);
        let own = |name: &String| ["changes", "discard", "apply", "undo"].contains(&name.as_str());
        let found: Vec<String> = names(&mut client).into_iter().filter(own).collect();
        assert_eq!(found, offered, "{args:?}");
        if !offered.contains(&"apply") {
            let (error, text) = client.call("apply", json!({}));
            assert!(error && text.contains("unknown tool"), "{text}");
        }
        client.close();
    }
    for mode in ["read", "unrestricted"] {
        let out = place.run(["mcp", "serve", "--mode", mode, "--allow-apply"]).code(2);
        out.warns("nothing is pending that `--allow-apply` could apply");
    }
}

#[test]
fn a_client_lists_discards_and_restores_what_it_made_pending() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &["--mode", "ask"]);
    assert_eq!(client.call("changes", json!({})), (false, "nothing is pending".into()));
    client.call("write_file", json!({"path": "a.txt", "content": "alpha\n"}));
    client.call("write_file", json!({"path": "b.txt", "content": "beta\n"}));
    let (error, text) = client.call("changes", json!({}));
    assert!(!error && text.contains("a.txt") && text.contains("b.txt") && !text.contains("alpha"), "{text}");
    let (_, text) = client.call("changes", json!({"patch": true, "paths": ["b.txt"]}));
    assert!(text.contains("+beta") && !text.contains("alpha"), "{text}");
    let (error, text) = client.call("discard", json!({"paths": ["a.txt"]}));
    assert!(!error, "{text}");
    assert_eq!(text, "discarded changes to 1 file; the tool `undo` restores them");
    assert!(client.call("read_file", json!({"path": "a.txt"})).0);
    let (error, text) = client.call("undo", json!({}));
    assert_eq!((error, text.as_str()), (false, "restored the discarded changes to 1 file; pending again"));
    assert!(!client.call("read_file", json!({"path": "a.txt"})).0);
    let (error, text) = client.call("discard", json!({"paths": ["nothing.txt"]}));
    assert!(error && text.contains("nothing is pending at `nothing.txt`"), "{text}");
    assert!(!place.tree.join("a.txt").exists());
    client.close();
}

/// Story: the list of one file did not say that the file waits with a repository.
#[test]
fn a_list_of_one_file_says_with_what_the_file_waits() {
    if !has_view() || !require("git") {
        return;
    }
    let place = Place::with_notes();
    let repository = "git init -q .; git config user.name A; git config user.email a@x; echo 1 > f; git add f; \
        git commit -qm 1; git branch topic; echo 2 > f; git commit -qam 2; git switch -q topic; echo 3 > f; git commit -qam 3";
    let made = std::process::Command::new("sh").args(["-c", repository]).current_dir(&place.tree).status();
    assert!(made.unwrap().success());
    let mut client = McpClient::start(&place, &["--mode", "ask"]);
    client.call("run_command", json!({"command": "git merge -"}));
    let (_, text) = client.call("changes", json!({"paths": ["f"]}));
    assert!(text.contains("(waits with .git)") && !text.contains("topic"), "{text}");
    let (error, text) = client.call("discard", json!({"paths": ["f"]}));
    assert!(error && text.contains("`f` waits with `.git` (merge in progress: master"), "{text}");
    client.close();
}

/// What runs later and what is lost in bulk is a person's decision, and so is what the person did.
#[test]
fn apply_takes_only_what_is_safe_and_undo_only_what_this_connection_did() {
    let place = Place::with_notes();
    let write = json!({"path": "person.txt", "content": "x"}).to_string();
    place.run(["tool", "call", "write_file", &write, "--mode", "write"]).code(0);
    let mut client = McpClient::start(&place, &["--mode", "ask", "--allow-apply"]);
    let (_, text) = client.call("undo", json!({}));
    assert_eq!(text, "nothing to undo: this connection has applied nothing there");
    client.call("write_file", json!({"path": "a.txt", "content": "alpha\n"}));
    client.call("write_file", json!({"path": "Makefile", "content": "all:\n\techo\n"}));
    client.call("write_file", json!({"path": ".envrc", "content": "echo hi\n"}));
    let (error, text) = client.call("apply", json!({}));
    assert!(!error && text.contains("the tool `undo` reverts them"), "{text}");
    assert!(text.contains("not applied: .envrc") && text.contains("`placet apply`"), "{text}");
    assert_eq!(place.read("a.txt"), "alpha\n");
    assert!(!place.tree.join(".envrc").exists());
    let list = place.run(["journal", "list"]).code(0).stdout;
    assert!(list.contains("placet mcp serve: apply"), "{list}");
    let (error, text) = client.call("apply", json!({"paths": [".envrc"]}));
    assert!(!place.tree.join(".envrc").exists(), "{error} {text}");
    let (error, text) = client.call("undo", json!({}));
    assert!(!error && text.starts_with("undid changes to"), "{text}");
    assert!(!place.tree.join("a.txt").exists() && place.tree.join("person.txt").exists());
    let (_, text) = client.call("undo", json!({}));
    assert!(text.starts_with("nothing to undo"), "{text}");
    let (error, text) = client.call("undo", json!({"calls": 0}));
    assert!(error && text.contains("1 or more"), "{text}");
    client.close();
}

#[test]
fn a_rule_about_a_file_applies_to_its_patch_and_to_its_apply() {
    let place = Place::with_notes();
    let flags =
        ["--mode", "ask", "--allow-apply", "--deny", "read(secret.txt)", "--deny", "write(fixed.txt)"];
    let mut client = McpClient::start(&place, &flags);
    client.call("run_command", json!({"command": "echo x > secret.txt; echo y > other.txt"}));
    let (error, text) = client.call("changes", json!({"patch": true}));
    if client.call("changes", json!({})).1.contains("secret.txt") {
        assert!(error && text.contains("denies it"), "{text}");
    }
    let (error, text) = client.call("changes", json!({"patch": true, "paths": ["other.txt"]}));
    assert!(!error && text.contains("+y"), "{text}");
    client.close();
}

#[test]
fn in_write_mode_a_client_undoes_its_last_calls() {
    let place = Place::with_notes();
    let mut client = McpClient::start(&place, &["--mode", "write"]);
    for name in ["a.txt", "b.txt", "c.txt"] {
        client.call("write_file", json!({"path": name, "content": "x"}));
    }
    let (error, text) = client.call("undo", json!({"path": "a.txt"}));
    assert!(!error && text.contains("a.txt"), "{text}");
    let (error, text) = client.call("undo", json!({"calls": 2}));
    assert!(!error && text.contains("b.txt") && text.contains("c.txt"), "{text}");
    assert!(["a.txt", "b.txt", "c.txt"].iter().all(|name| !place.tree.join(name).exists()));
    client.close();
}
