//! The line that a command gives to a shell, and names relative to a directory.

/// The line that a shell runs.
pub(super) fn shell_line(command: &[String]) -> Option<&str> {
    match command {
        [shell, flag, line] => {
            let shell = shell.rsplit('/').next().unwrap_or(shell);
            let shells = matches!(shell, "bash" | "sh" | "zsh") && matches!(flag.as_str(), "-lc" | "-c");
            shells.then_some(line)
        }
        _ => None,
    }
}

/// A name below a directory.
pub(super) fn below(dir: Option<&str>, name: &str) -> String {
    match dir {
        Some(dir) if !name.starts_with('/') => format!("{}/{name}", dir.trim_end_matches('/')),
        _ => name.into(),
    }
}
