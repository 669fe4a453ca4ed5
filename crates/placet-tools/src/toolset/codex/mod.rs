//! codex: a shell that takes a list of words, and patches in their envelope.
//!
//! A shell call whose program is `apply_patch`, directly or in a here-document, is handled as a patch: its question
//! shows the change, and the patch is applied whole or not at all. The lines that other commands show of files count as
//! read.

mod command_parser;
mod named_files;
mod search;
mod shell_line;
mod shown_lines;

use super::super::scratchpad::ScratchpadTool;
use super::super::{CallFailure, CommandResult, OutputFacts, PlanResult, Tool, ToolContext, ToolError};
use super::foreign_tool::{FinishedCall, ForeignTool};
use crate::command::run;
use crate::command::run::RunPlan;
use crate::patch::apply_patch::patch_plan_below;
use placet_text::text::patch::{FilePatchKind, StripLevels, parse};
use placet_text::text::shell_word::quoted;
use schemars::JsonSchema;
use serde::Deserialize;
use shell_line::{below, shell_line};
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct CodexShell {
    /// The program and its arguments, each as it is: ["bash", "-lc", "ls | wc"].
    command: Vec<String>,
    /// Directory to run in, for this call only.
    workdir: Option<String>,
    timeout_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct CodexPatch {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    #[schemars(extend("contentMediaType" = "text/plain"))]
    input: String,
}

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let nothing = Arc::new(());
    let shell = ForeignTool::new("shell", "Run a program and get its output.", &nothing, plan)
        .rule("run_command")
        .saying(|args: &CodexShell, (), said| ran(args, said))
        .failing(|args, _, (), error| unread(&patch_in(&args.command)?.text, error));
    let patch = ForeignTool::new(
        "apply_patch",
        "Change files by a patch in the *** Begin Patch envelope.",
        &nothing,
        apply,
    )
    .failing(|args: &CodexPatch, _, (), error| unread(&args.input, error));
    // The last tool is for results that are too long to show.
    vec![shell.build(), patch.build(), Arc::new(ScratchpadTool::default())]
}

/// In this tool set the shell reads what must be read first.
fn unread(patch: &str, error: &ToolError) -> Option<String> {
    let files = parse(patch.as_bytes(), StripLevels::Auto).map(|patch| patch.files).unwrap_or_default();
    let name = match files.as_slice() {
        [file] => file.old.clone().or(file.new.clone()),
        _ => None,
    };
    let name = name.map_or("FILE".into(), |name| serde_json::Value::from(name).to_string());
    let read = match error.fault {
        CallFailure::Unread => format!("[\"cat\", {name}]"),
        CallFailure::LinesUnread { offset, limit } => {
            format!("[\"sed\", \"-n\", \"{},{}p\", {name}]", offset + 1, offset + limit)
        }
        _ => return None,
    };
    let removes = files.iter().any(|file| file.kind == FilePatchKind::Delete);
    let remove = if removes { format!("; to remove a file unread: [\"rm\", {name}]") } else { String::new() };
    Some(format!("error: {}\nhint: read it, then send the patch again: {read}{remove}", error.message))
}

fn apply(args: &CodexPatch, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    patch_plan_below(&args.input, None, env)
}

/// A patch in a command, and the directory to which its names are relative.
#[derive(Debug, PartialEq, Eq)]
struct CodexInlinePatch {
    text: String,
    dir: Option<String>,
}

/// The patch that a command applies: `["apply_patch", PATCH]`, or a shell's line that pipes a patch into `apply_patch`.
fn patch_in(command: &[String]) -> Option<CodexInlinePatch> {
    match command {
        [program, patch] if PROGRAMS.contains(&program.as_str()) => {
            Some(CodexInlinePatch { text: patch.clone(), dir: None })
        }
        _ => here_document(shell_line(command)?),
    }
}

const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];

/// `apply_patch <<'EOF'`, the patch, and the end word alone on the last line; `cd DIR &&` may come first.
fn here_document(line: &str) -> Option<CodexInlinePatch> {
    let (head, body) = line.split_once('\n')?;
    let (before, word) = head.split_once("<<")?;
    let commands = command_parser::pipelines(before)?;
    let is_program = |command: &command_parser::CodexPipeline| matches!(command.as_slice(), [words] if matches!(words.as_slice(), [p] if PROGRAMS.contains(&p.as_str())));
    let dir = match commands.as_slice() {
        [program] if is_program(program) => None,
        // After `;` the patch would be applied even if the directory does not exist.
        [cd, program] if is_program(program) && before.contains("&&") => match cd.as_slice() {
            [words] => match words.as_slice() {
                [cd, dir] if cd == "cd" => Some(dir.clone()),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let word = word.trim().trim_matches(['\'', '"']);
    let text = body.trim_end().strip_suffix(word)?;
    (!word.is_empty() && text.ends_with('\n')).then(|| CodexInlinePatch { text: text.to_string(), dir })
}

fn plan(args: &CodexShell, env: &ToolContext, _: &Arc<()>) -> PlanResult {
    if let Some(patch) = patch_in(&args.command) {
        let dir = patch.dir.map(|dir| below(args.workdir.as_deref(), &dir)).or(args.workdir.clone());
        return patch_plan_below(&patch.text, dir.as_deref(), env);
    }
    let line = match args.command.as_slice() {
        [word] => Some(word.as_str()),
        command => shell_line(command),
    };
    if line.is_some_and(|line| line.trim_start().starts_with("*** Begin Patch")) {
        let hint = "send it with apply_patch, or as [\"apply_patch\", PATCH]";
        return Err(ToolError::hint("the command is a patch, not a program", hint));
    }
    let words: Vec<String> = args.command.iter().map(|word| quoted(word)).collect();
    let (cwd, timeout_ms) = (args.workdir.clone(), args.timeout_ms);
    let command = words.join(" ");
    Ok(Box::new(RunPlan::new(run::Args { command, cwd, timeout_ms, ..run::Args::default() }, env)?))
}

fn ran(args: &CodexShell, said: &FinishedCall<'_>) -> Option<String> {
    let OutputFacts::Ran(CommandResult { output, code: Some(code), elapsed, effects }) = &said.output.facts
    else {
        return None;
    };
    let seconds = elapsed.as_secs_f64();
    let words = format!("Exit code: {code}\nWall time: {seconds:.1} seconds\nOutput:\n{output}{effects}");
    // A longer result goes to a scratchpad and is not shown.
    if words.len() <= said.env.limits.inline() {
        shown_lines::record_shown_lines(said.env, &args.command, args.workdir.as_deref(), output);
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_in_a_command_is_found_and_other_commands_are_not_patches() {
        let patch = "*** Begin Patch\n*** End Patch\n";
        let command = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let found = |words: &[&str]| patch_in(&command(words));
        let some =
            |dir: Option<&str>| Some(CodexInlinePatch { text: patch.into(), dir: dir.map(String::from) });
        assert_eq!(found(&["apply_patch", patch]), some(None));
        assert_eq!(found(&["applypatch", patch]), some(None));
        let line = |before: &str| format!("{before}apply_patch <<'EOF'\n{patch}EOF\n");
        for shell in ["bash", "/bin/bash", "sh", "zsh"] {
            assert_eq!(found(&[shell, "-lc", &line("")]), some(None));
        }
        assert_eq!(found(&["bash", "-c", &line("cd sub && ")]), some(Some("sub")));
        assert_eq!(found(&["bash", "-c", &line("cd 'a b' && ")]), some(Some("a b")));
        assert_eq!(found(&["bash", "-c", &line("cd \"a b\" && ")]), some(Some("a b")));
        for before in [
            "echo x && ",
            "cd a; ",
            "cd a || ",
            "cd a | ",
            "cd a b && ",
            "cd a && cd b && ",
            "echo x; cd a && ",
            "FOO=1 ",
            "cd $A && ",
        ] {
            assert_eq!(found(&["bash", "-lc", &line(before)]), None, "{before}");
        }
        assert_eq!(found(&["bash", "-lc", &format!("apply_patch x <<'EOF'\n{patch}EOF\n")]), None);
        assert_eq!(found(&["bash", "-lc", &format!("{}; rm x", line(""))]), None);
        assert_eq!(found(&["bash", "-lc", &format!("{} && echo done", line("").trim_end())]), None);
        assert_eq!(found(&["python3", "-c", &line("")]), None);
        assert_eq!(found(&["ls"]), None);
    }
}
