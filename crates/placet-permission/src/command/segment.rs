//! One simple command of a line: its program, its directory, its files, and the commands that it runs in turn.

use super::ShellWord;
use std::path::PathBuf;

/// A simple command. `dirs` are the directories in which it may run (a `cd` before it may have failed); `None` if they
/// are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandSegment {
    pub(crate) kind: SegmentKind,
    pub(crate) assignments: Vec<(String, ShellWord)>,
    pub(crate) words: Vec<ShellWord>,
    pub(crate) redirects: Vec<ShellRedirect>,
    pub(crate) dirs: Option<Vec<PathBuf>>,
    /// Programs whose output the command reads through a pipe.
    pub(crate) fed_by: Vec<String>,
    /// The commands that this command runs: the command after `env`, the script of `sh -c`.
    pub(crate) inner: Vec<CommandSegment>,
    pub(crate) carrier: WrapperKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    Simple,
    /// Only the redirections of a group, a loop or a branch; it has no words.
    Compound,
    /// Something that may run invisible commands: arithmetic over names. No rule allows it.
    Opaque,
}

/// The meaning of consent to a segment with `inner` segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrapperKind {
    /// It runs nothing else.
    None,
    /// It adds nothing to the command that it runs: `timeout 5`, `sh -c`.
    Transparent,
    /// It has an effect of its own and needs separate consent: `sudo`, `find -exec`.
    Itself,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShellRedirect {
    pub(crate) kind: RedirectKind,
    /// The file; for a here-document its body.
    pub(crate) target: ShellWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    /// `>`: the previous content is lost.
    Write,
    Append,
    /// `<<`, `<<<`: `target` is the text itself.
    Text,
}

impl CommandSegment {
    /// The program's name without its directory; `None` if the name comes from an expansion or a wildcard.
    pub(crate) fn program(&self) -> Option<&str> {
        let text = self.words.first().filter(|word| !word.glob)?.text.as_deref()?;
        if text.is_empty() || text.contains(char::is_whitespace) {
            return None;
        }
        text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The words after the program.
    pub(crate) fn arguments(&self) -> &[ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The words joined with one space, expanded if possible: patterns match this text.
    pub(crate) fn text(&self) -> String {
        self.words.iter().map(ShellWord::shown).collect::<Vec<_>>().join(" ")
    }

    /// The words joined with one space as they were written, without their quotes.
    pub(crate) fn source(&self) -> String {
        self.words.iter().map(|w| w.source.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The assignments before the program, as they were written.
    pub(crate) fn prefix(&self) -> String {
        let written: Vec<String> =
            self.assignments.iter().map(|(name, value)| format!("{name}={}", value.source)).collect();
        written.join(" ")
    }

    /// For the person: assignments, words and redirections.
    pub(crate) fn describe(&self) -> String {
        let mut parts = vec![self.prefix(), self.source()];
        for redirect in &self.redirects {
            let sign = match redirect.kind {
                RedirectKind::Read => "<",
                RedirectKind::Write => ">",
                RedirectKind::Append => ">>",
                RedirectKind::Text => continue,
            };
            parts.push(format!("{sign} {}", redirect.target.source));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" ")
    }

    /// This segment and all segments that it runs, outermost first.
    pub(crate) fn all(&self) -> Vec<&CommandSegment> {
        let mut out = vec![self];
        out.extend(self.inner.iter().flat_map(CommandSegment::all));
        out
    }

    /// The innermost programs of this segment, after all wrappers.
    pub(crate) fn programs(&self) -> Vec<String> {
        if self.inner.is_empty() {
            return self.program().map(String::from).into_iter().collect();
        }
        self.inner.iter().flat_map(CommandSegment::programs).collect()
    }
}
