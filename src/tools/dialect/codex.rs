//! codex: a shell that takes a list of words.

use super::super::run_command::{self, RunPlan};
use super::super::{Env, Facts, Plan, Ran, Tool, ToolError};
use super::foreign::{Foreign, Said};
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

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let nothing = Arc::new(());
    let shell = Foreign::new("shell", "Run a program and get its output.", &nothing, plan)
        .as_native("run_command")
        .saying(|_: &Shell, (), said| ran(said));
    vec![Arc::new(shell)]
}

fn plan(args: &Shell, env: &Env, _: &Arc<()>) -> Result<Box<dyn Plan>, ToolError> {
    let words: Vec<String> = args.command.iter().map(|word| quoted(word)).collect();
    let (cwd, timeout_ms) = (args.workdir.clone(), args.timeout_ms);
    let command = words.join(" ");
    Ok(Box::new(RunPlan::new(
        run_command::Args { command, cwd, timeout_ms, ..run_command::Args::default() },
        env,
    )?))
}

/// A word as a shell must be given it to come out unchanged.
fn quoted(word: &str) -> String {
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
    fn words_reach_the_program_as_they_are() {
        let words = ["grep", "-e", "it's $HOME", "", "a.rs"].map(quoted);
        assert_eq!(words.join(" "), r"grep -e 'it'\''s $HOME' '' a.rs");
    }
}
