//! A git command line: the subcommand, and the words before and after it.

use super::ShellWord;

#[derive(Clone, Copy, Debug)]
pub(crate) struct GitCommand<'a> {
    /// `None` if the subcommand is not certain.
    pub(crate) name: Option<&'a str>,
    pub(crate) rest: &'a [ShellWord],
    /// Words before the subcommand.
    pub(crate) global: &'a [ShellWord],
    /// `-C DIR`.
    pub(crate) dir: Option<&'a ShellWord>,
}

impl<'a> GitCommand<'a> {
    /// `None` without a subcommand.
    pub(crate) fn read(arguments: &'a [ShellWord]) -> Option<GitCommand<'a>> {
        const VALUED: [&str; 7] = [
            "-c",
            "--git-dir",
            "--work-tree",
            "--namespace",
            "--super-prefix",
            "--config-env",
            "--attr-source",
        ];
        let (mut at, mut dir) = (0, None);
        while let Some(word) = arguments.get(at) {
            match word.text.as_deref() {
                Some("-C") => {
                    dir = arguments.get(at + 1);
                    at += 2;
                }
                Some(text) if VALUED.contains(&text) => at += 2,
                Some(text) if text.starts_with('-') => at += 1,
                name => {
                    let rest = arguments.get(at + 1..).unwrap_or_default();
                    let global = arguments.get(..at).unwrap_or_default();
                    return Some(GitCommand { name, rest, global, dir });
                }
            }
        }
        None
    }
}
