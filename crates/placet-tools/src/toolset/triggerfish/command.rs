//! run_command: a line for `sh`, checked for forbidden texts.
//!
//! The view and the sandbox keep a command from doing harm. The list is an additional promise of the original's
//! documents, and it costs nothing.

use super::super::super::{CommandResult, OutputFacts, PlanResult, Tool, ToolContext, ToolError};
use super::state::TriggerfishState;
use crate::command::run;
use crate::command::run::RunPlan;
use crate::toolset::foreign_tool::{FinishedCall, ForeignTool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// Texts that no command may contain.
pub(super) const DENIED: [&str; 9] =
    ["rm -rf /", "rm -rf ~", "sudo", "chmod 777", "mkfs", "dd if=", "shutdown", "reboot", ":(){"];

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct TriggerfishRun {
    command: Option<String>,
    /// The same as command.
    cmd: Option<String>,
    /// Directory within the workspace to run in.
    cwd: Option<String>,
}

pub(super) fn run_command(surface: &Arc<TriggerfishState>) -> Arc<dyn Tool> {
    let description = "Run a shell command in the workspace. Gives its output and exit code.";
    ForeignTool::new("run_command", description, surface, plan)
        .checking(check)
        .saying(|args: &TriggerfishRun, surface, said| {
            if let OutputFacts::Ran(CommandResult { code: Some(0), .. }) = &said.output.facts {
                surface.follow(said.env, args.line());
            }
            words(said)
        })
        .build()
}

impl TriggerfishRun {
    fn line(&self) -> &str {
        self.command.as_deref().or(self.cmd.as_deref()).unwrap_or_default()
    }
}

fn check(input: &Value) -> Option<String> {
    let given = input.get("command").or_else(|| input.get("cmd")).and_then(Value::as_str);
    match given {
        Some(line) if !line.trim().is_empty() => None,
        _ => Some("Error: run_command requires a 'command' argument (string).".into()),
    }
}

fn plan(args: &TriggerfishRun, env: &ToolContext, surface: &Arc<TriggerfishState>) -> PlanResult {
    let line = args.line();
    surface.permitted(line)?;
    let cwd = match &args.cwd {
        None => surface.real("."),
        Some(cwd) => {
            let outside = || ToolError::worded(format!("Working directory \"{cwd}\" escapes the workspace"));
            let at = env.resolve(&surface.real(cwd)).map_err(|_| outside())?;
            if at.place == placet_permission::AccessLocation::Outside {
                return Err(outside());
            }
            if !env.workspace.is_dir(&at.path) {
                return Err(ToolError::worded(format!("Working directory does not exist: {cwd}")));
            }
            at.written
        }
    };
    let (command, cwd) = (line.to_string(), Some(cwd));
    Ok(Box::new(RunPlan::new(run::Args { command, cwd, ..run::Args::default() }, env)?))
}

impl TriggerfishState {
    /// Refuses a line with a NUL or a line break, or with anything on the list.
    pub(super) fn permitted(&self, line: &str) -> Result<(), ToolError> {
        let injected = |what: &str| {
            Err(ToolError::worded(format!("Command rejected — shell injection detected: {what} in command")))
        };
        if line.contains('\0') {
            return injected("null byte");
        }
        if line.contains(['\n', '\r']) {
            return injected("embedded newline");
        }
        let plain = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let usual = usual_form(&plain);
        match self.denied.iter().find(|denied| holds(&plain, denied) || holds(&usual, denied)) {
            Some(_) => Err(ToolError::worded(format!("Command denied by policy: \"{line}\""))),
            None => Ok(()),
        }
    }
}

/// The line with each `rm` as the list writes it: the options in one word as `-rf`, the target without a slash or star
/// at its end. `rm -r --force ~/` becomes `rm -rf ~`.
fn usual_form(line: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut words = line.split(' ').peekable();
    while let Some(word) = words.next() {
        out.push(word);
        if word.rsplit('/').next() != Some("rm") {
            continue;
        }
        let (mut recursive, mut force) = (false, false);
        while let Some(option) = words.next_if(|word| word.starts_with('-')) {
            let short = !option.starts_with("--");
            recursive |= option == "--recursive" || short && option.contains(['r', 'R']);
            force |= option == "--force" || short && option.contains('f');
        }
        if recursive && force {
            out.push("-rf");
        }
        let Some(target) = words.next() else { continue };
        let bare = target.trim_end_matches(['/', '*']);
        out.push(if bare.is_empty() && target.starts_with('/') { "/" } else { bare });
    }
    out.join(" ")
}

/// True if `line` contains `denied` as whole words: `sudo` is not in `pseudocode`, `rm -rf /` not in `rm -rf /tmp/x`.
fn holds(line: &str, denied: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || "_-/.".contains(c);
    line.match_indices(denied).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + denied.len()..).and_then(|text| text.chars().next());
        let open = denied.ends_with(['=', '{', '(']);
        before.is_none_or(|c| !joins(c) || c == '/') && (open || after.is_none_or(|c| !joins(c)))
    })
}

pub(super) fn words(said: &FinishedCall<'_>) -> Option<String> {
    said.command_text(|ran, code| format!("[exit code: {code}, {}ms]", ran.elapsed.as_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denied_texts_are_found_as_words_and_not_within_words() {
        let surface =
            TriggerfishState { denied: DENIED.map(String::from).into(), ..TriggerfishState::default() };
        for line in [
            "rm -rf /",
            "rm  -rf   / ",
            "rm -fr /",
            "rm -r -f /",
            "/bin/rm --recursive --force --no-preserve-root /",
            "rm -Rfv //*",
            "rm -rf ~/",
            "cd x && rm -fr ~",
            "sudo ls",
            "ls; sudo ls",
            "/usr/bin/sudo ls",
            "chmod 777 x",
            "dd if=/dev/zero",
            ":(){ :|:& };:",
        ] {
            let message = surface.permitted(line).unwrap_err().message;
            assert_eq!(message, format!("Command denied by policy: \"{line}\""));
        }
        for line in [
            "rm -rf /tmp/x",
            "rm -fr ~/x/",
            "rm -r /",
            "rm -rf *",
            "cat pseudocode.md",
            "echo sudoku",
            "rebooted",
        ] {
            assert!(surface.permitted(line).is_ok(), "{line}");
        }
        assert!(surface.permitted("a\nb").unwrap_err().message.contains("embedded newline in command"));
        assert!(surface.permitted("a\0b").unwrap_err().message.contains("null byte in command"));
    }
}
