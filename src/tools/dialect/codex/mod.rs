//! codex: a shell that takes a list of words, and patches in their envelope.
//!
//! A shell call whose program is `apply_patch`, directly or in a here-document, is a patch and is handled as one: it is
//! shown as the change it makes, and lands whole or not at all.

use super::super::apply_patch::{Aim, patch_plan};
use super::super::run_command::{self, RunPlan};
use super::super::scratchpad::Scratchpad;
use super::super::{Env, Facts, Fault, Plan, Ran, Tool, ToolError};
use super::foreign::{Foreign, Said};
use crate::text::patch::Options;
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Shell {
    /// The program and its arguments, each as it is: ["bash", "-lc", "ls | wc"].
    command: Vec<String>,
    /// Directory to run in, for this call only.
    workdir: Option<String>,
    timeout_ms: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Patch {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    input: String,
}

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let nothing = Arc::new(());
    let shell = Foreign::new("shell", "Run a program and get its output.", &nothing, plan)
        .judged_like(|_| Some("run_command"))
        .saying(|_: &Shell, (), said| ran(said))
        .failing(|_, _, (), error| unread(error));
    let patch = Foreign::new(
        "apply_patch",
        "Change files by a patch in the *** Begin Patch envelope.",
        &nothing,
        apply,
    )
    .failing(|_: &Patch, _, (), error| unread(error));
    // The last is where results go that are too long to show.
    vec![Arc::new(shell), Arc::new(patch), Arc::new(Scratchpad::default())]
}

/// What only a whole read would permit, where no tool reads: the shell does it.
fn unread(error: &ToolError) -> Option<String> {
    let words = |message: &str| format!("error: {message}\nhint: the shell can do it: [\"rm\", FILE]");
    (error.fault == Fault::Unread).then(|| words(&error.message))
}

fn apply(args: &Patch, env: &Env, _: &Arc<()>) -> Result<Box<dyn Plan>, ToolError> {
    patch_plan(&args.input, None, Options::default(), Aim::Land, env)
}

/// The patch that a command applies: `["apply_patch", PATCH]`, or a shell's line that feeds it one.
fn patch_in(command: &[String]) -> Option<String> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["apply_patch" | "applypatch", patch] => Some((*patch).into()),
        ["bash" | "sh" | "zsh", "-lc" | "-c", line] => here_document(line),
        _ => None,
    }
}

/// `apply_patch <<'EOF'`, the patch, and the word alone on the last line.
fn here_document(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix("apply_patch")?.trim_start().strip_prefix("<<")?;
    let (word, body) = rest.split_once('\n')?;
    let word = word.trim().trim_matches(['\'', '"']);
    let body = body.trim_end();
    let body = body.strip_suffix(word)?;
    (!word.is_empty() && body.ends_with('\n')).then(|| body.to_string())
}

fn plan(args: &Shell, env: &Env, _: &Arc<()>) -> Result<Box<dyn Plan>, ToolError> {
    if let Some(patch) = patch_in(&args.command) {
        return patch_plan(&patch, None, Options::default(), Aim::Land, env);
    }
    let words: Vec<String> = args.command.iter().map(|word| quoted(word)).collect();
    let (cwd, timeout_ms) = (args.workdir.clone(), args.timeout_ms);
    let command = words.join(" ");
    Ok(Box::new(RunPlan::new(
        run_command::Args { command, cwd, timeout_ms, ..run_command::Args::default() },
        env,
    )?))
}

/// A word as a shell must be given it to come out unchanged.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn ran(said: &Said<'_>) -> Option<String> {
    let Facts::Ran(Ran { output, code: Some(code), elapsed, effects }) = &said.output.facts else {
        return None;
    };
    let seconds = elapsed.as_secs_f64();
    Some(format!("Exit code: {code}\nWall time: {seconds:.1} seconds\nOutput:\n{output}{effects}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_in_a_command_is_found_and_other_commands_are_not_patches() {
        let patch = "*** Begin Patch\n*** End Patch\n";
        let command = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let found = |words: &[&str]| patch_in(&command(words));
        assert_eq!(found(&["apply_patch", patch]).as_deref(), Some(patch));
        let line = format!("apply_patch <<'EOF'\n{patch}EOF\n");
        assert_eq!(found(&["bash", "-lc", &line]).as_deref(), Some(patch));
        assert_eq!(found(&["bash", "-lc", &format!("{line}; rm x")]), None);
        assert_eq!(found(&["ls"]), None);
    }

    #[test]
    fn words_reach_the_program_as_they_are() {
        let words = ["grep", "-e", "it's $HOME", "", "a.rs"].map(quoted);
        assert_eq!(words.join(" "), r"grep -e 'it'\''s $HOME' '' a.rs");
    }
}
