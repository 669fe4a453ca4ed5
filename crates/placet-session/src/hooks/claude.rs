//! Hooks in the format of Claude Code: the events and the JSON on standard input and output that its programs expect.
//!
//! A program that ends with exit code 2 blocks, and its standard error is the reason. An answer that allows a call decides
//! nothing: the mode and the rules decide, and the next hook is asked. A program that cannot be run, does not end in time
//! or writes without end blocks, like every hook; another exit code is reported and blocks nothing, as its format says.

use super::program::{self, HookProgramError, ProgramEnd};
use super::{HookAction, HookContext, HookEnvironment, HookPoint};
use placet_permission::Access;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The time limit of a program that sets none.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);
/// A call that writes more files is blocked: a program is asked about each of them.
const MOST_FILES: usize = 64;
/// The longest text of a program for the model, in characters.
const LONGEST: usize = 10_000;
/// Exit codes with which the shell says that it cannot run the program.
const NOT_RUN: [i32; 2] = [126, 127];

/// The events, and the points at which they happen.
const EVENTS: [(&str, HookPoint); 9] = [
    ("PreToolUse", HookPoint::PreToolCall),
    ("PostToolUse", HookPoint::PostToolResponse),
    ("UserPromptSubmit", HookPoint::AgentInvocation),
    ("Stop", HookPoint::TurnEnd),
    ("SubagentStop", HookPoint::SubagentEnd),
    ("SessionStart", HookPoint::SessionStart),
    ("SessionEnd", HookPoint::SessionEnd),
    ("PreCompact", HookPoint::PreCompact),
    ("Notification", HookPoint::Notification),
];

pub(super) fn point_of(event: &str) -> Option<HookPoint> {
    EVENTS.iter().find(|(name, _)| *name == event).map(|(_, point)| *point)
}

/// True for the name of an event that placet has.
pub fn is_claude_event(event: &str) -> bool {
    point_of(event).is_some()
}

pub(super) fn event_names() -> String {
    EVENTS.map(|(name, _)| name).join(", ")
}

fn event_of(point: HookPoint) -> &'static str {
    EVENTS.iter().find(|(_, of)| *of == point).map_or("", |(name, _)| *name)
}

/// What a program says.
#[derive(Clone, Debug, Default)]
pub(super) struct HookOpinion {
    /// `None` if it leaves the decision to others.
    pub(super) action: Option<HookAction>,
    /// A text for the model.
    pub(super) addition: Option<String>,
    /// A text for the person.
    pub(super) remark: Option<String>,
}

impl HookOpinion {
    pub(super) fn of(action: Option<HookAction>) -> HookOpinion {
        HookOpinion { action, ..HookOpinion::default() }
    }

    fn block(reason: impl Into<String>) -> HookOpinion {
        HookOpinion::of(Some(HookAction::Block(reason.into())))
    }

    /// The first block decides, and every text counts.
    fn and(self, other: HookOpinion) -> HookOpinion {
        let joined = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) if a != b => Some(format!("{a}\n{b}")),
            (a, b) => a.or(b),
        };
        let action = match (self.action, other.action) {
            (Some(HookAction::Block(reason)), _) | (_, Some(HookAction::Block(reason))) => {
                Some(HookAction::Block(reason))
            }
            (a, b) => a.or(b),
        };
        let addition = joined(self.addition, other.addition);
        HookOpinion { action, addition, remark: joined(self.remark, other.remark) }
    }
}

/// The names that Claude Code has for a call, and its arguments: one for each file that the call writes.
struct ClaudeCall {
    tool: String,
    input: Map<String, Value>,
}

fn calls(context: &HookContext) -> Vec<ClaudeCall> {
    let written = context.reach.iter().filter_map(|access| match access {
        Access::Write { path, .. } => Some(path),
        _ => None,
    });
    let written: Vec<&PathBuf> = written.collect();
    let given = context.input.as_object().cloned().unwrap_or_default();
    let one = |tool: &str, own: Value| {
        let mut input = given.clone();
        input.shift_remove("path");
        input.extend(own.as_object().cloned().unwrap_or_default());
        vec![ClaudeCall { tool: tool.into(), input }]
    };
    let read = context.reach.iter().find_map(|access| match access {
        Access::Read { path, .. } => Some(path.to_string_lossy().into_owned()),
        _ => None,
    });
    let server_tool = context.reach.iter().find_map(|access| match access {
        Access::ServerTool { server, tool, .. } => Some(format!("mcp__{server}__{tool}")),
        _ => None,
    });
    if let Some(name) = server_tool {
        return vec![ClaudeCall { tool: name, input: given }];
    }
    let path = || written.first().map(|path| path.to_string_lossy().into_owned()).or(read.clone());
    match context.native.as_str() {
        "run_command" => {
            let command = context.reach.iter().find_map(|access| match access {
                Access::Run { command, .. } => Some(command.clone()),
                _ => None,
            });
            one("Bash", json!({ "command": command.unwrap_or_default() }))
        }
        "read_file" => one("Read", json!({ "file_path": path() })),
        "list_directory" => one("LS", json!({ "path": path() })),
        "find_files" => one("Glob", json!({ "path": path() })),
        "search_contents" => one("Grep", json!({ "path": path() })),
        "fetch_url" => one("WebFetch", json!({})),
        "search_web" => one("WebSearch", json!({})),
        "agent" => one("Task", json!({ "description": given.get("name"), "prompt": given.get("task") })),
        "todo" => one("TodoWrite", json!({ "todos": given.get("items") })),
        "skill" => one("Skill", json!({})),
        "write_file" if written.len() == 1 => one("Write", json!({ "file_path": path() })),
        "edit_file" if written.len() == 1 => one("Edit", json!({ "file_path": path() })),
        // A program that protects files knows `Edit` and `Write`, and one file at a time.
        _ if !written.is_empty() => {
            let each = |path: &&PathBuf| ClaudeCall {
                tool: "Edit".into(),
                input: Map::from_iter([("file_path".into(), path.to_string_lossy().into())]),
            };
            written.iter().map(each).collect()
        }
        other => one(other, json!({})),
    }
}

/// A regular expression over all of a name; `*` and an empty text match everything.
pub(super) fn matcher(pattern: &str) -> Result<Option<regex::Regex>, regex::Error> {
    match pattern {
        "" | "*" => Ok(None),
        pattern => regex::Regex::new(&format!("^(?:{pattern})$")).map(Some),
    }
}

/// A program of a hook, and what it is asked about.
pub(super) struct ClaudeHook {
    pub(super) line: String,
    pub(super) timeout: Duration,
    /// Compared with the tool, or with what the event is about: `startup`, `manual`.
    pub(super) matcher: Option<regex::Regex>,
}

impl ClaudeHook {
    fn matches(&self, subject: &str) -> bool {
        self.matcher.as_ref().is_none_or(|pattern| pattern.is_match(subject))
    }

    pub(super) async fn ask(
        &self,
        point: HookPoint,
        context: &HookContext,
        programs: &HookEnvironment,
        cancel: &CancellationToken,
    ) -> HookOpinion {
        if !point.has_tool() {
            let subject = context.input.get(SUBJECT).and_then(Value::as_str).unwrap_or_default();
            return match self.matches(subject) {
                true => self.run(point, input(point, context, None), context, programs, cancel).await,
                false => HookOpinion::default(),
            };
        }
        // It happens only after a tool that succeeded.
        if point == HookPoint::PostToolResponse && context.has_failed {
            return HookOpinion::default();
        }
        let calls: Vec<ClaudeCall> =
            calls(context).into_iter().filter(|call| self.matches(&call.tool)).collect();
        if calls.len() > MOST_FILES {
            let files = calls.len();
            return HookOpinion::block(format!(
                "the call writes {files} files, and the hook can be asked about {MOST_FILES} at most"
            ));
        }
        let mut all = HookOpinion::default();
        for call in &calls {
            let input = input(point, context, Some(call));
            all = all.and(self.run(point, input, context, programs, cancel).await);
            if matches!(all.action, Some(HookAction::Block(_))) {
                break;
            }
        }
        all
    }

    async fn run(
        &self,
        point: HookPoint,
        input: Value,
        context: &HookContext,
        programs: &HookEnvironment,
        cancel: &CancellationToken,
    ) -> HookOpinion {
        let dir = context.cwd.display().to_string().replace('\'', "'\\''");
        let line = format!("export CLAUDE_PROJECT_DIR='{dir}'\n{}", self.line);
        let ended = program::run(&line, self.timeout, input, context, programs, cancel).await;
        match ended {
            Ok(end) => opinion(point, &end),
            Err(error) => failure(point, &error),
        }
    }
}

/// The key of what an event is about, in the input of its point.
pub const SUBJECT: &str = "about";

fn failure(point: HookPoint, error: &HookProgramError) -> HookOpinion {
    match error {
        HookProgramError::Failed { code: 2, said } => blocked(point, said.text()),
        HookProgramError::Failed { code, .. } if !NOT_RUN.contains(code) => {
            HookOpinion { remark: Some(error.to_string()), ..HookOpinion::default() }
        }
        // The result is there already, and nothing is left that could be blocked.
        error if !can_block(point) => {
            HookOpinion { remark: Some(error.to_string()), ..HookOpinion::default() }
        }
        error => HookOpinion::block(error.to_string()),
    }
}

fn can_block(point: HookPoint) -> bool {
    matches!(
        point,
        HookPoint::PreToolCall
            | HookPoint::AgentInvocation
            | HookPoint::PostToolResponse
            | HookPoint::PreCompact
    )
}

/// What exit code 2 and the decision `block` do at this point.
fn blocked(point: HookPoint, reason: &str) -> HookOpinion {
    let text: String = reason.trim().chars().take(LONGEST).collect();
    match point {
        // The tool has run: the model reads the reason with the result.
        HookPoint::PostToolResponse => HookOpinion { addition: Some(text), ..HookOpinion::default() },
        HookPoint::SessionStart | HookPoint::SessionEnd | HookPoint::Notification => {
            HookOpinion { remark: Some(text), ..HookOpinion::default() }
        }
        _ => HookOpinion::block(text),
    }
}

fn input(point: HookPoint, context: &HookContext, call: Option<&ClaudeCall>) -> Value {
    let mode = match context.mode.as_str() {
        "read" | "none" => "plan",
        "write" => "acceptEdits",
        "unrestricted" => "bypassPermissions",
        _ => "default",
    };
    let mut all = json!({
        "session_id": context.session_id.clone().unwrap_or_default(),
        // placet has no transcript file.
        "transcript_path": "",
        "cwd": context.cwd.to_string_lossy(),
        "permission_mode": mode,
        "hook_event_name": event_of(point),
    });
    let about = || context.input.get(SUBJECT).cloned().unwrap_or_default();
    let text = || context.text.clone().unwrap_or_default();
    let own = match point {
        HookPoint::AgentInvocation => json!({ "prompt": text() }),
        HookPoint::TurnEnd | HookPoint::SubagentEnd => json!({
            "stop_hook_active": context.input.get("continued").cloned().unwrap_or_default(),
            "last_assistant_message": text(),
        }),
        HookPoint::SessionStart => json!({ "source": about() }),
        HookPoint::SessionEnd => json!({ "reason": about() }),
        HookPoint::PreCompact => json!({ "trigger": about(), "custom_instructions": text() }),
        HookPoint::Notification => json!({ "message": text(), "notification_type": about() }),
        _ => Value::Null,
    };
    let of_call = call.map_or(Value::Null, |call| {
        let mut of_call = json!({
            "tool_name": call.tool,
            "tool_input": call.input,
            "tool_use_id": context.call_id.clone().unwrap_or_default(),
        });
        if let Some(fields) = of_call.as_object_mut().filter(|_| point == HookPoint::PostToolResponse) {
            fields.insert("tool_response".into(), response(call, &text()));
        }
        of_call
    });
    if let Some(fields) = all.as_object_mut() {
        for more in [own, of_call] {
            fields.extend(more.as_object().cloned().unwrap_or_default());
        }
    }
    all
}

fn response(call: &ClaudeCall, text: &str) -> Value {
    match (call.tool.as_str(), call.input.get("file_path")) {
        ("Bash", _) => json!({ "stdout": text, "stderr": "", "interrupted": false, "isImage": false }),
        ("Edit" | "Write", Some(path)) => json!({ "filePath": path, "success": true, "content": text }),
        _ => json!({ "success": true, "content": text }),
    }
}

/// The fields of an answer that placet uses.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaudeAnswer {
    decision: Option<String>,
    reason: Option<String>,
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    hook_specific_output: Option<ClaudeSpecificAnswer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ClaudeSpecificAnswer {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    additional_context: Option<String>,
    updated_input: Option<Value>,
}

/// The answer of a program that ended with exit code 0. Text that is no JSON object is context for the model where the
/// format says so, and nothing elsewhere.
fn opinion(point: HookPoint, end: &ProgramEnd) -> HookOpinion {
    let text = end.output.trim();
    let cut = |text: &str| text.chars().take(LONGEST).collect::<String>();
    if !text.starts_with('{') {
        let is_context = matches!(point, HookPoint::AgentInvocation | HookPoint::SessionStart);
        let addition = (is_context && !text.is_empty()).then(|| cut(text));
        return HookOpinion { addition, ..HookOpinion::default() };
    }
    let answer: ClaudeAnswer = match serde_json::from_str(text) {
        Ok(answer) => answer,
        Err(error) => {
            let shown = text.chars().take(program::QUOTED).collect();
            return failure(point, &HookProgramError::Unreadable { error, shown });
        }
    };
    let specific = answer.hook_specific_output.unwrap_or_default();
    let reason = specific.permission_decision_reason.or(answer.reason.clone()).unwrap_or_default();
    let decided = match (specific.permission_decision.as_deref(), answer.decision.as_deref()) {
        _ if answer.goes_on == Some(false) && can_block(point) => {
            blocked(point, &answer.stop_reason.unwrap_or_else(|| "the hook stops the work".into()))
        }
        (Some("deny"), _) => HookOpinion::block(cut(&reason)),
        (Some("ask"), _) => HookOpinion::of(Some(HookAction::Ask(cut(&reason)))),
        (_, Some("block")) => blocked(point, &reason),
        // The program may want to make the arguments harmless: they must not run as they are.
        _ if specific.updated_input.is_some() => {
            HookOpinion::block("it changes the arguments (`updatedInput`), which placet does not do")
        }
        _ => HookOpinion::default(),
    };
    let said = HookOpinion {
        addition: specific.additional_context.map(|text| cut(&text)).filter(|text| !text.is_empty()),
        remark: answer.system_message.map(|text| cut(&text)),
        action: None,
    };
    decided.and(said)
}
