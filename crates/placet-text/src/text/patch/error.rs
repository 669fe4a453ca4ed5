//! Why a patch cannot be read, and why it cannot be applied, as values.

use super::nearest_match::NearestMatch;
use thiserror::Error;

/// The largest patch read, in bytes, and the most lines in one.
pub(super) const MOST_BYTES: usize = 64 << 20;
pub(super) const MOST_LINES: usize = 4_000_000;

/// The input is not a patch, or a patch whose meaning must not be guessed. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatchError {
    #[error("the patch has {bytes} bytes; at most {} are read", MOST_BYTES)]
    TooLarge { bytes: usize },
    #[error("the patch has more than {} lines", MOST_LINES)]
    TooManyLines,
    #[error("no patch found: expected `--- a/file` and `+++ b/file`, `@@`, or `*** Begin Patch`")]
    NotAPatch,
    #[error("line {line} starts a context diff (`***` and `---`)")]
    ContextDiff { line: usize },
    #[error("line {line} starts a combined diff of a merge (`@@@`)")]
    Combined { line: usize },
    #[error("`{path}` is a binary file, and the patch does not contain its content")]
    NoBinaryContent { path: String },
    #[error("line {line}: invalid binary content: {reason}")]
    BadBinary { line: usize, reason: &'static str },
    #[error("`{path}` is a symbolic link in this patch (mode 120000)")]
    Link { path: String },
    #[error("`{path}` is a submodule in this patch (mode 160000)")]
    Submodule { path: String },
    #[error("line {line}: invalid file name: {reason}")]
    BadName { line: usize, reason: &'static str },
    #[error("line {line}: invalid file mode `{text}`")]
    BadMode { line: usize, text: String },
    #[error("line {line}: the header names `{git}`, and the lines `---` and `+++` name `{name}`")]
    OtherName { line: usize, git: String, name: String },
    #[error("line {line} begins a second patch: one call applies one")]
    SecondEnvelope { line: usize },
    #[error("line {line}: hunk without lines")]
    EmptyHunk { line: usize },
    #[error("line {line}: `{path}` has no hunk")]
    NoHunks { line: usize, path: String },
    #[error("no `*** End Patch` found: the patch may be cut off")]
    Cut,
    #[error("line {line}: unexpected `{text}`: {expected}")]
    Unexpected { line: usize, text: String, expected: &'static str },
}

impl PatchError {
    /// The advice for the error.
    pub fn hint(&self) -> &'static str {
        match self {
            PatchError::TooLarge { .. } | PatchError::TooManyLines => {
                "send it in parts, each for some of the files"
            }
            PatchError::NotAPatch => {
                "use a unified diff, as `git diff` writes it, with a line `@@` before each hunk, or `*** Begin Patch`"
            }
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
            PatchError::OtherName { .. } => "make all lines of the header name the same file",
            PatchError::SecondEnvelope { .. } => {
                "put all files between one `*** Begin Patch` and one `*** End Patch`, or send two calls"
            }
            PatchError::EmptyHunk { .. } | PatchError::NoHunks { .. } => {
                "put a line `@@` before the lines of a hunk, which begin with a blank, `-` or `+`"
            }
            PatchError::Cut => "send the whole patch, with `*** End Patch` as its last line",
            PatchError::Unexpected { .. } => "see the format in the tool's description",
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
    pub why: HunkErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HunkErrorKind {
    #[error("does not match{}", .0.as_ref().map_or_else(|| ": no similar text in the file".into(), ToString::to_string))]
    NoPlace(Option<NearestMatch>),
    #[error("does not match: its result is already in the file, at line {0}")]
    Already(usize),
    /// Lines, from 1, at which the hunk also fits.
    #[error("matches at {}", places(.0))]
    Ambiguous(Vec<usize>),
    #[error("changes lines that hunk {0} changes too")]
    Overlap(usize),
    /// The line, from 1, of the only match; the hunk before it ends below this line.
    #[error("matches only at line {line}, above the end of hunk {hunk}")]
    Above { line: usize, hunk: usize },
    #[error(
        "matches at line {line}, but not at the end of the file, where it belongs: it has no line below its changes"
    )]
    NotAtEnd { line: usize },
    /// The line after `@@` of an envelope.
    #[error("is below `{0}`, and no such line is in the file")]
    NoAnchor(String),
    #[error("matches at line {line}, but not below `{anchor}`, where it belongs")]
    AboveAnchor { line: usize, anchor: String },
    #[error("has no context and no line number, so its place is unknown")]
    NoContext,
    #[error("belongs after line {line}, but the file has {lines}")]
    PastEnd { line: usize, lines: usize },
    #[error(
        "matches, but the patch deletes the file and does not contain all lines of it: lines left over: {left}"
    )]
    NotAll { left: usize },
}

fn places(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
    let more = if lines.len() > 20 { ", ..." } else { "" };
    format!("{} places, lines {}{more}", lines.len(), shown.join(", "))
}

impl HunkErrorKind {
    pub fn hint(&self) -> &'static str {
        match self {
            HunkErrorKind::NoPlace(_) => "copy context and removed lines exactly as they are in the file now",
            HunkErrorKind::Already(_) => "leave this hunk out: its change is already made",
            HunkErrorKind::Ambiguous(_) => {
                "give the right line number in the header, or more lines of context"
            }
            HunkErrorKind::Overlap(_) => "join the two hunks",
            HunkErrorKind::Above { .. } => {
                "put the hunks in the order of the file, and join those that share a line that is changed"
            }
            HunkErrorKind::NotAtEnd { .. } => {
                "put the line below the changes into the hunk, with a blank before it"
            }
            HunkErrorKind::NoAnchor(_) | HunkErrorKind::AboveAnchor { .. } => {
                "after `@@` comes a line of the file above the hunk, exactly as it is there"
            }
            HunkErrorKind::NoContext => "put a line of the file above the added ones, with a blank before it",
            HunkErrorKind::PastEnd { .. } => "look at the end of the file again",
            HunkErrorKind::NotAll { .. } => "remove all lines, or do not delete the file",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatchApplyError {
    #[error(transparent)]
    Hunk(#[from] HunkError),
    #[error("the binary patch was made for a different content")]
    OtherContent,
    #[error("the binary patch is damaged: {0}")]
    Damaged(&'static str),
}

impl PatchApplyError {
    pub fn hint(&self) -> &'static str {
        match self {
            PatchApplyError::Hunk(hunk) => hunk.why.hint(),
            PatchApplyError::OtherContent => {
                "a binary patch applies only to the exact content it was made from; make it again"
            }
            PatchApplyError::Damaged(_) => "make it again with `git diff --binary`",
        }
    }
}
