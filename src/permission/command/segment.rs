//! One simple command of a line: what is run, where, with which files, and what it runs in turn.

use super::ShellWord;
use std::path::PathBuf;

/// A simple command. `dirs` are the directories it may run in (a `cd` before it may have failed), `None` where that
/// cannot be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::permission) struct CommandSegment {
    pub(in crate::permission) kind: SegmentKind,
    pub(in crate::permission) assignments: Vec<(String, ShellWord)>,
    pub(in crate::permission) words: Vec<ShellWord>,
    pub(in crate::permission) redirects: Vec<ShellRedirect>,
    pub(in crate::permission) dirs: Option<Vec<PathBuf>>,
    /// Programs whose output comes in through a pipe.
    pub(in crate::permission) fed_by: Vec<String>,
    /// What this one runs: the command behind `env`, the script of `sh -c`.
    pub(in crate::permission) inner: Vec<CommandSegment>,
    pub(in crate::permission) carrier: WrapperKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::permission) enum SegmentKind {
    Simple,
    /// Only the redirections of a group, a loop or a branch; it has no words.
    Compound,
    /// Something that may run what cannot be seen: arithmetic over names. No rule allows it.
    Opaque,
}

/// What consent to a segment with `inner` ones means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::permission) enum WrapperKind {
    /// It runs nothing but itself.
    None,
    /// It adds nothing to what it runs: `timeout 5`, `sh -c`.
    Transparent,
    /// It adds something, so that it needs consent of its own: `sudo`, `find -exec`.
    Itself,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::permission) struct ShellRedirect {
    pub(in crate::permission) kind: RedirectKind,
    /// The file; for a here-document its body.
    pub(in crate::permission) target: ShellWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::permission) enum RedirectKind {
    Read,
    /// `>`: what was there is gone.
    Write,
    Append,
    /// `<<`, `<<<`: `target` is the text itself.
    Text,
}

impl CommandSegment {
    /// The program's name without its directory; `None` where it comes from an expansion or a wildcard.
    pub(in crate::permission) fn program(&self) -> Option<&str> {
        let text = self.words.first().filter(|word| !word.glob)?.text.as_deref()?;
        if text.is_empty() || text.contains(char::is_whitespace) {
            return None;
        }
        text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The words after the program.
    pub(in crate::permission) fn arguments(&self) -> &[ShellWord] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The words joined with one space, expanded where that is possible: what patterns are compared with.
    pub(in crate::permission) fn text(&self) -> String {
        self.words.iter().map(ShellWord::shown).collect::<Vec<_>>().join(" ")
    }

    /// The words joined with one space as they were written, without their quotes.
    pub(in crate::permission) fn source(&self) -> String {
        self.words.iter().map(|w| w.source.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The assignments before the program, as they were written.
    pub(in crate::permission) fn prefix(&self) -> String {
        let written: Vec<String> =
            self.assignments.iter().map(|(name, value)| format!("{name}={}", value.source)).collect();
        written.join(" ")
    }

    /// For people: assignments, words and redirections.
    pub(in crate::permission) fn describe(&self) -> String {
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

    /// This segment and all it runs, outermost first.
    pub(in crate::permission) fn all(&self) -> Vec<&CommandSegment> {
        let mut out = vec![self];
        out.extend(self.inner.iter().flat_map(CommandSegment::all));
        out
    }

    /// The programs at the bottom of this segment, behind all wrappers.
    pub(in crate::permission) fn programs(&self) -> Vec<String> {
        if self.inner.is_empty() {
            return self.program().map(String::from).into_iter().collect();
        }
        self.inner.iter().flat_map(CommandSegment::programs).collect()
    }
}
