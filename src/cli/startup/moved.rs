//! Starting again in another directory, for `/cd` and for a session of another directory: the options of this process that mean the same there.
//!
//! What was allowed for the old directory does not come along: `--allow`, `--mode`, and settings of permissions given with
//! `--set`. What denies does.

use crate::cli::command_line::options::Options;
use crate::cli::report::CliError;
use crate::repl::{DirectoryChange, DirectoryChangeReason};
use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Replaces this process by one in the new directory; returns only when that fails.
pub(in crate::cli) fn start_again(change: &DirectoryChange, options: &Options) -> CliError {
    let failed = |e: std::io::Error| {
        let session = change.session.as_ref().map(|id| format!(" -r {id}")).unwrap_or_default();
        let dir = crate::text::shell_word::quoted(&change.to.to_string_lossy());
        CliError::new(format!("placet cannot start again: {e}"))
            .hint(format!("start it there: `placet --cwd {dir}{session}`"))
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return failed(e),
    };
    let mut command = Command::new(program);
    command.args(words(change, options)).current_dir(&change.to).env("PWD", &change.to);
    failed(command.exec())
}

fn words(change: &DirectoryChange, options: &Options) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::new();
    let mut give = |flag: &str, value: OsString| {
        let mut word = OsString::from(format!("{flag}="));
        word.push(value);
        out.push(word);
    };
    let (provider, model) = match &change.answerer {
        Some((provider, model)) => (Some(provider), Some(model)),
        None => (options.answerer.provider.as_ref(), options.answerer.model.as_ref()),
    };
    for (flag, value) in [
        ("--provider", provider),
        ("--model", model),
        ("--dialect", options.answerer.dialect.as_ref()),
        ("--base-url", options.answerer.base_url.as_ref()),
        ("--append-system-prompt", options.settings.append_system_prompt.as_ref()),
        ("--resume", change.session.as_ref().map(|id| &id.0)),
    ] {
        if let Some(value) = value {
            give(flag, value.into());
        }
    }
    for set in options.settings.set.iter().filter(|set| !is_permission(set)) {
        give("--set", set.into());
    }
    options.settings.deny.iter().for_each(|rule| give("--deny", rule.into()));
    options.add_dir.iter().for_each(|dir| give("--add-dir", change.from.join(dir).into()));
    if let Some(most) = options.settings.max_turns {
        give("--max-turns", most.to_string().into());
    }
    give("--mode-at-most", change.mode.name().into());
    if change.reason == DirectoryChangeReason::Continue {
        give("--moved-from", change.from.clone().into());
    }
    let switches = [
        (options.answerer.no_stream, "--no-stream"),
        (options.linear, "--linear"),
        (options.no_project, "--no-project"),
    ];
    out.extend(switches.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag.into()));
    out.extend((0..options.verbose).map(|_| "-v".into()));
    out
}

fn is_permission(assignment: &str) -> bool {
    let key = assignment.split('=').next().unwrap_or_default().trim();
    matches!(key, "mode" | "modes") || key.starts_with("permission") || key.starts_with("sandbox")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command_line::options::{AnswererOptions, ResumeOptions, SettingOptions};
    use crate::permission::Mode;

    #[test]
    fn what_allows_stays_behind_and_what_denies_comes_along() {
        let text = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let options = Options {
            mode: Some("write".into()),
            settings: SettingOptions {
                allow: text(&["run(make)"]),
                deny: text(&["read(.env)"]),
                set: text(&["mode=write", "permission.allow=run(*)", "sandbox.hosts=*", "ui.theme=dark"]),
                ..SettingOptions::default()
            },
            add_dir: vec!["lib".into()],
            answerer: AnswererOptions { provider: Some("openai".into()), ..AnswererOptions::default() },
            session: ResumeOptions { continue_last: true, ..ResumeOptions::default() },
            verbose: 2,
            ..Options::default()
        };
        let change = DirectoryChange {
            to: "/new".into(),
            from: "/old".into(),
            session: None,
            reason: DirectoryChangeReason::Continue,
            mode: Mode::Ask,
            answerer: None,
        };
        let words = words(&change, &options);
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(
            words,
            [
                "--provider=openai",
                "--set=ui.theme=dark",
                "--deny=read(.env)",
                "--add-dir=/old/lib",
                "--mode-at-most=ask",
                "--moved-from=/old",
                "-v",
                "-v"
            ]
        );
    }
}
