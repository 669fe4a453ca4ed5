//! Why a patch cannot be read, and why it cannot be applied, as values.

use super::report::Near;
use thiserror::Error;

/// The input is no patch, or one that must not be guessed at. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatchError {
    #[error("the patch has {bytes} bytes; at most {} are read", super::MOST_BYTES)]
    TooLarge { bytes: usize },
    #[error("the patch has more than {} lines", super::MOST_LINES)]
    TooManyLines,
    #[error(
        "there is no patch in the text: no `--- a/file` with `+++ b/file`, no `@@`, no `*** Begin Patch`"
    )]
    NotAPatch,
    #[error("line {line} begins a context diff (`***` and `---`)")]
    ContextDiff { line: usize },
    #[error("line {line} begins a combined diff of a merge (`@@@`)")]
    Combined { line: usize },
    #[error("`{path}` is only said to differ as a binary file; the patch does not carry its content")]
    NoBinaryContent { path: String },
    #[error("line {line}: the binary content cannot be read: {reason}")]
    BadBinary { line: usize, reason: &'static str },
    #[error("`{path}` is a symbolic link in this patch (mode 120000)")]
    Link { path: String },
    #[error("`{path}` is a submodule in this patch (mode 160000)")]
    Submodule { path: String },
    #[error("line {line}: the file name cannot be read: {reason}")]
    BadName { line: usize, reason: &'static str },
    #[error("line {line}: `{text}` is no file mode")]
    BadMode { line: usize, text: String },
    #[error("line {line}: hunk without lines")]
    EmptyHunk { line: usize },
    #[error("line {line}: `{path}` has no hunk")]
    NoHunks { line: usize, path: String },
    #[error("the envelope has no `*** End Patch`: it may be cut off")]
    Cut,
    #[error("line {line}: `{text}` does not belong here: {expected}")]
    Unexpected { line: usize, text: String, expected: &'static str },
}

impl PatchError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            PatchError::TooLarge { .. } | PatchError::TooManyLines => {
                "send it in parts, each for some of the files"
            }
            PatchError::NotAPatch => "send a unified diff as `git diff` writes it, or the envelope",
            PatchError::ContextDiff { .. } => "make a unified diff: `diff -u`",
            PatchError::Combined { .. } => "make a diff against one parent: `git diff PARENT`",
            PatchError::NoBinaryContent { .. } => "make it with `git diff --binary`, or leave this file out",
            PatchError::BadBinary { .. } => {
                "make it again with `git diff --binary`; such content is not written by hand"
            }
            PatchError::Link { .. } => "leave it out, and make the link with a command: ln -s TARGET NAME",
            PatchError::Submodule { .. } => "leave it out, and use git in a command",
            PatchError::BadName { .. } => "write the name plainly after `--- a/` and `+++ b/`",
            PatchError::BadMode { .. } => "modes are 100644 and 100755",
            PatchError::EmptyHunk { .. } | PatchError::NoHunks { .. } => {
                "after `@@` come lines that begin with a blank, `-` or `+`"
            }
            PatchError::Cut => "send the whole patch, with `*** End Patch` as its last line",
            PatchError::Unexpected { .. } => "see the form in the tool's description",
        }
    }
}

/// One hunk that cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("hunk {number} of {of} ({header}) {why}")]
pub struct HunkError {
    /// From 1.
    pub number: usize,
    pub of: usize,
    pub header: String,
    pub why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Why {
    #[error("does not fit{}", .0.as_ref().map_or_else(|| ": nothing in the file is like it".into(), ToString::to_string))]
    NoPlace(Option<Near>),
    #[error("does not fit: what it makes is there already, at line {0}")]
    Already(usize),
    /// Lines, from 1, at which it fits as well.
    #[error("fits at {}", places(.0))]
    Ambiguous(Vec<usize>),
    /// Lines, from 1, of the two nearest places.
    #[error("fits at line {above} and at line {below}, and both are equally far from the line in its header")]
    Tie { above: usize, below: usize },
    #[error("changes lines that hunk {0} changes too")]
    Overlap(usize),
    /// The line, from 1, of the only place; the hunk before it goes on there.
    #[error("fits only at line {line}, above the end of hunk {hunk}")]
    Above { line: usize, hunk: usize },
    #[error(
        "fits at line {line}, but not at the end of the file, where it belongs: it shows no line below its changes"
    )]
    NotAtEnd { line: usize },
    #[error("has no context and no line number that says where it belongs")]
    NoContext,
    #[error("belongs after line {line}, but the file has {lines}")]
    PastEnd { line: usize, lines: usize },
    #[error("fits, but the patch deletes the file, and this is not all of it: lines left over: {left}")]
    NotAll { left: usize },
}

fn places(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
    let more = if lines.len() > 20 { ", ..." } else { "" };
    format!("{} places, lines {}{more}", lines.len(), shown.join(", "))
}

impl Why {
    pub fn hint(&self) -> &'static str {
        match self {
            Why::NoPlace(_) => "copy context and removed lines exactly as they are in the file now",
            Why::Already(_) => "leave this hunk out: its change has been made before",
            Why::Ambiguous(_) | Why::Tie { .. } => {
                "give the right line number in the header, or more lines of context"
            }
            Why::Overlap(_) => "join the two hunks",
            Why::Above { .. } => {
                "put the hunks in the order of the file, and join those that share a line that is changed"
            }
            Why::NotAtEnd { .. } => "put the line below the changes into the hunk, with a blank before it",
            Why::NoContext => "put a line of the file above the added ones, with a blank before it",
            Why::PastEnd { .. } => "look at the end of the file again",
            Why::NotAll { .. } => "remove all lines, or do not delete the file",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ApplyError {
    #[error(transparent)]
    Hunk(#[from] HunkError),
    #[error("the binary patch was made for another content")]
    OtherContent,
    #[error("the binary patch is damaged: {0}")]
    Damaged(&'static str),
}

impl ApplyError {
    pub fn hint(&self) -> &'static str {
        match self {
            ApplyError::Hunk(hunk) => hunk.why.hint(),
            ApplyError::OtherContent => {
                "a binary patch fits only the very content it was made from; make it again"
            }
            ApplyError::Damaged(_) => "make it again with `git diff --binary`",
        }
    }
}
