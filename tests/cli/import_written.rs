//! `placet import` on what the programs wrote themselves, reduced: Claude Code 2.1.197, codex 0.169.0, Gemini CLI 0.61.0 and
//! opencode 1.18.33, by their commands for servers, and by the answer "do not ask again" in their screens.

use crate::support::binary::{Out, Place};
use std::fs;

fn written(place: &Place) -> String {
    fs::read_to_string(place.config_dir().join("config.toml")).unwrap_or_default()
}

/// The whole list of what is not imported: what is there without a reason here is a fault, too.
fn not_imported(out: &Out) -> Vec<String> {
    let after = out.stdout.split("\nnot imported:\n").nth(1).unwrap_or_default();
    let lines = after.lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().to_string()).collect()
}

#[test]
fn what_claude_code_wrote() {
    let place = Place::new();
    place.home_file(".claude.json",
        r#"{"firstStartTime": "2026-11-26T02:40:10.120Z", "userID": "1bb3", "migrationVersion": 13, "seenNotifications": {},
            "mcpServers": {
              "fs": {"type": "stdio", "command": "npx", "args": ["-y", "server-filesystem", "/srv"],
                     "env": {"ACCESS_TOKEN": "sk-canary-111122223333", "LOG_LEVEL": "debug"}},
              "js": {"type": "stdio", "command": "node", "args": ["a.js"], "env": {"K": "${K:-abc}"}},
              "asana": {"type": "sse", "url": "https://mcp.asana.example/sse"},
              "oauthy": {"type": "http", "url": "https://oauth.example/mcp",
                         "oauth": {"clientId": "abc", "callbackPort": 8123}}},
            "projects": {"/home/me/x": {"allowedTools": [], "mcpServers": {}, "hasTrustDialogAccepted": false}}}"#,
    );
    place.home_file(
        ".claude/settings.json",
        r#"{"permissions": {"deny": ["Read(./secrets/**)"], "allow": ["mcp__my_srv__get"]},
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "a", "args": ["b c"]},
                {"type": "command", "command": "git-only", "if": "Bash(git *)"}]}]}}"#,
    );
    let out = place.run(["import", "claude", "--write"]).code(0);
    assert_eq!(
        not_imported(&out),
        [
            "hooks.PreToolUse (~/.claude/settings.json): a hook of placet has no `if`, and without it the hook would run for more calls",
            "mcpServers.oauthy.oauth.callbackPort (~/.claude.json): placet has no setting for it",
        ]
    );
    let text = written(&place);
    assert!(text.starts_with("[permission]\ndeny = [\n  \"read(secrets/**)\",\n]\n"), "{text}");
    for part in [
        "\"mcp(my_srv.get)\"",
        "args = [\"a.js\"]\nenv = [\"K=${K:-abc}\"]\n",
        "url = \"https://oauth.example/mcp\"\noauth_client_id = \"abc\"\n",
        "matcher = \"Bash\"\ncommand = \"a 'b c'\"\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("git-only") && !text.contains("canary"), "{text}");
}

#[test]
fn what_claude_code_wrote_into_a_project() {
    let place = Place::new();
    fs::create_dir_all(place.tree.join(".git")).unwrap();
    fs::create_dir_all(place.tree.join(".claude")).unwrap();
    let place = place.file(".git/HEAD", "ref: refs/heads/main\n").file(
        ".claude/settings.local.json",
        r#"{"enabledMcpjsonServers": ["shared"],
            "permissions": {"allow": ["Bash(npm run *)", "Bash(git commit *)", "Bash(curl *)", "Read(./secrets/**)"]}}"#,
    );
    let root = place.tree.canonicalize().unwrap();
    let servers =
        r#"{"mem": {"type": "stdio", "command": "npx", "args": ["-y", "server-memory"], "env": {}}}"#;
    let state = serde_json::json!({"projects": {root.to_string_lossy(): {
        "mcpServers": serde_json::from_str::<serde_json::Value>(servers).unwrap(), "enabledMcpjsonServers": []}}});
    place.home_file(".claude.json", &state.to_string());
    let out = place.run(["import", "claude", "--project", "--write"]).code(0);
    let list = not_imported(&out);
    assert_eq!(list.len(), 2, "{list:#?}");
    assert!(
        list[0].starts_with("enabledMcpjsonServers (") && list[0].ends_with("asks you about trust itself")
    );
    assert!(list[1].starts_with("permissions.allow: Read(./secrets/**) ("), "{list:#?}");
    let text = place.read(".placet/config.toml");
    let rules = "allow = [\n  \"run(npm run *)\",\n  \"run(git commit *)\",\n  \"run(curl *)\",\n]";
    assert!(text.contains(rules) && text.contains("[mcp.servers.mem]"), "{text}");
}

#[test]
fn what_codex_wrote() {
    let place = Place::new();
    place.home_file(
        ".codex/config.toml",
        r#"model = "gpt-5.1-codex"
check_for_update_on_startup = false

[mcp_servers.ctx]
command = "npx"
args = ["-y", "context-server", "--port", "3"]

[mcp_servers.ctx.env]
API_KEY = "canary1"
PORT = "8080"

[mcp_servers.ctx.tools.read_page]
approval_mode = "approve"

[mcp_servers.ctx.tools.write_page]
approval_mode = "prompt"

[mcp_servers.oauthy]
url = "https://example.org/mcp"
oauth_resource = "https://example.org"

[mcp_servers.oauthy.oauth]
client_id = "abc"
callback_url = "http://127.0.0.1/callback/ViUy5btGXuC4"

[tui.model_availability_nux]
"gpt-6.1-sol" = 1

[projects."/home/me/x"]
trust_level = "trusted"
"#,
    );
    place.home_file(
        ".codex/rules/default.rules",
        "prefix_rule(pattern=[\"npm\", \"run\", \"test\", \"--\", \"--all\"], decision=\"allow\")\n",
    );
    fs::create_dir_all(place.home.join(".codex/skills/.system/plan")).unwrap();
    let out = place.run(["import", "codex", "--write"]).code(0);
    assert_eq!(
        not_imported(&out),
        [
            "check_for_update_on_startup (~/.codex/config.toml): placet has no setting for it",
            "tui (~/.codex/config.toml): placet has no setting for it",
            "projects (~/.codex/config.toml): placet asks you about trust itself",
            "mcp_servers.oauthy.oauth_resource (~/.codex/config.toml): placet has no setting for it",
            "mcp_servers.oauthy.oauth.callback_url (~/.codex/config.toml): placet has no setting for it",
        ]
    );
    let text = written(&place);
    for part in [
        "[providers.openai]\nmodel = \"gpt-5.1-codex\"\n",
        "ask = [\n  \"mcp(ctx.write_page)\",\n]",
        "allow = [\n  \"mcp(ctx.read_page)\",\n  \"run(npm run test -- --all *)\",\n]",
        "env = [\"API_KEY\", \"PORT=8080\"]\n",
        "oauth_client_id = \"abc\"\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // codex's own skills are none of the person's.
    assert!(!place.home.join(".agents/skills").exists() && !text.contains("canary"), "{text}");
}

#[test]
fn what_gemini_cli_wrote() {
    let place = Place::new();
    place.home_file(".gemini/settings.json",
        r#"{"mcpServers": {
              "g2": {"url": "https://example.com/mcp", "type": "http", "headers": {"X-Api-Key": "canary2"}},
              "g1": {"command": "npx", "args": ["pkg", "/srv"], "env": {"API_KEY": "canary1", "PORT": "80"}, "timeout": 9000,
                     "trust": true, "description": "One server", "includeTools": ["a,b"], "excludeTools": ["c"]}},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "enablePermanentToolApproval": true},
            "hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [{"command": "./g.sh", "type": "command"}]}],
                      "AfterTool": [], "BeforeAgent": [], "Notification": [], "BeforeToolSelection": []}}"#,
    );
    place.home_file(
        ".gemini/policies/auto-saved.toml",
        r#"[[rule]]
decision = "allow"
priority = 950
toolName = "run_shell_command"
commandPrefix = [ "npm" ]
modes = [ "default", "autoEdit", "yolo" ]

[[rule]]
decision = "allow"
priority = 950
toolName = "write_file"
argsPattern = '\\0\"file_path\":\"/home/me/new\.txt\"\\0'
modes = [ "default", "autoEdit", "yolo" ]
"#,
    );
    place.home_file(
        ".gemini/policies/mine.toml",
        r#"[[rule]]
mcpName = "*"
toolAnnotations = { readOnlyHint = true }
decision = "allow"
priority = 5

[[rule]]
toolName = "run_shell_command"
decision = "allow"
priority = 5
modes = ["yolo"]

[[rule]]
toolName = "mcp_*"
decision = "ask_user"
priority = 5

[[rule]]
commandPrefix = "rm -rf"
decision = "deny"
priority = 100
"#,
    );
    let out = place.run(["import", "gemini", "--write"]).code(0);
    assert_eq!(
        not_imported(&out),
        [
            "mcpServers.g1: its list of tools (~/.gemini/settings.json): placet has no list of a server's permitted tools; deny the others with rules `mcp(g1.TOOL)`",
            "hooks.BeforeTool (~/.gemini/settings.json): its programs read other JSON than the hooks of placet; see the guide: hooks",
            "security (~/.gemini/settings.json): placet has no setting for it",
            "rule for write_file (~/.gemini/policies/auto-saved.toml): it is a regular expression over JSON, for which placet has no rule",
            "rule for all tools (~/.gemini/policies/mine.toml): a rule of placet has no `toolAnnotations`, and without it the rule would be about more calls",
            "rule for run_shell_command (~/.gemini/policies/mine.toml): a rule of placet has no `modes`, and without it the rule would be about more calls",
        ]
    );
    let text = written(&place);
    for part in [
        "deny = [\n  \"mcp(g1.c)\",\n  \"run(rm -rf *)\",\n]",
        "ask = [\n  \"mcp(*.*)\",\n]",
        "allow = [\n  \"mcp(g1.a)\",\n  \"mcp(g1.b)\",\n  \"run(npm *)\",\n]",
        "env = [\"API_KEY\", \"PORT=80\"]\ntimeout_seconds = 9\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn what_opencode_wrote() {
    let place = Place::new();
    place.home_file("config/opencode/opencode.jsonc",
        r#"{
  "$schema": "https://opencode.example/config.json",
  "mcp": {
    "my_srv": {"type": "local", "command": ["npx", "-y", "pkg", "/srv"], "environment": {"API_KEY": "canary1", "PORT": "80"}},
    "oc2": {"type": "remote", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer canary2"}}
  },
  "permission": {"my_srv_get_page": "deny", "external_directory": "allow"},
  "tools": {"oc2_*": false}
}"#,
    );
    let out = place.run(["import", "opencode", "--write"]).code(0);
    let list = not_imported(&out);
    assert!(list.len() == 1 && list[0].starts_with("permission.external_directory ("), "{list:#?}");
    let text = written(&place);
    for part in [
        "deny = [\n  \"mcp(my_srv.get_page)\",\n  \"mcp(oc2.*)\",\n]",
        "args = [\"-y\", \"pkg\", \"/srv\"]\nenv = [\"API_KEY\", \"PORT=80\"]\n",
        "headers = [\"Authorization: Bearer ${OC2_TOKEN}\"]\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("canary"));
}
