//! The one renderer of untrusted text for a person: model, tool, file, server and file-name text passes here.
//!
//! Nothing is dropped. What a terminal would act on, what cannot be seen, and what reorders text becomes a visible sign:
//! a control picture (`␛`), a code point in angle brackets (`<U+200B>`), or a byte that is not UTF-8 (`<FF>`). A run of
//! the same sign is counted (`<U+200B x100000>`), and so are up to four signs that repeat in turn
//! (`<(U+200B U+200C) x50000>`). A `<` of the text that would read as such a sign is itself written
//! `<U+003C>`, and so are the other signs: two different texts never have the same rendering, also without colours.
//!
//! Text that nobody approves has two quieter manners ([`VisibleMode`]). Both still neutralise everything that acts.
//! Only our own painter emits ESC.

mod char_class;
mod lookalikes;
mod repeat;
mod stream;
mod unescape;
mod writer;

pub use lookalikes::{looks_like, looks_like_own, skeleton};
pub use stream::VisibleStream;
pub use unescape::read_back;

use repeat::{Repeats, Token};
use std::borrow::Cow;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use writer::VisibleWriter;

/// Columns between tab stops.
pub const TAB: usize = 4;

/// The sign in the margin of every line that placet says itself. No other text can have it: the renderer writes it out,
/// and in prose and output also what looks like it at the beginning of a line.
pub const OWN: char = '◆';

/// The sign for a row that continues the line above it.
pub const CONTINUED: char = '↪';

/// How much of a text is made visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisibleMode {
    /// For everything that a person approves: the rendering can be read back, byte for byte.
    Exact,
    /// Like [`VisibleMode::Exact`], but blanks and tabs look as they are. For the lines around a change.
    Quiet,
    /// For placet's own words with rendered parts in them: only a last guard, which leaves signs and blanks as they are.
    Rendered,
    /// For answers and remarks: the joiners and selectors that emoji and several scripts need stay, and so do all blanks.
    Prose,
    /// For the output of commands, which nobody approves: like [`VisibleMode::Prose`], and the sequences that only choose
    /// colours or erase to the end of the line are dropped: `ESC [ ... m` and `ESC [ ... K` with digits, `;` and `:`
    /// only, and `ESC ( B`.
    Output,
}

/// Whether line breaks remain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineBreaks {
    Kept,
    Shown,
}

/// What a piece of a rendering is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisiblePieceKind {
    /// The text itself, unchanged.
    Plain,
    /// It stands for something that cannot be shown; surfaces with styles draw it in one of their own.
    Sign,
    /// It stands for a tab, for blanks at the end of a line, or for a carriage return.
    Blank,
}

/// A part of a rendering and the bytes that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisiblePiece {
    pub bytes: Range<usize>,
    pub text: String,
    pub kind: VisiblePieceKind,
}

/// One line, exact: no control character is left, not even a line break.
pub fn line(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Exact, LineBreaks::Shown)
}

/// Several lines, exact. `\n` stays a line break; each `\r` is shown.
pub fn block(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Exact, LineBreaks::Kept)
}

/// A file's name for a list: exact, one line whatever it holds, with blanks at its beginning shown, too.
pub fn name(text: &str) -> Cow<'_, str> {
    let shown = line(text);
    let rest = shown.trim_start_matches(' ');
    let blanks = shown.len() - rest.len();
    if blanks == 0 {
        return shown;
    }
    Cow::Owned(format!("{}{rest}", "\u{2420}".repeat(blanks)))
}

/// A path as a person reads it: exact, also where its name is not UTF-8, and on one line.
pub fn path_name(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => name(text).into_owned(),
        Err(_) => visible(bytes, LineBreaks::Shown),
    }
}

/// A path inside a list or a sentence: in quotes where blanks or quotes would leave open where the name ends.
pub fn path(path: &Path) -> String {
    let shown = path_name(path);
    if !shown.is_empty() && !shown.contains([' ', '\u{2420}', '"']) {
        return shown;
    }
    format!("\"{}\"", shown.replace('"', "<U+0022>"))
}

/// Several lines of which parts were rendered before, names for example: a last guard.
pub fn guard(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Rendered, LineBreaks::Kept)
}

/// True for what a terminal acts on or reorders text by; the renderer never lets it out.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line of which parts were rendered before.
pub fn guard_line(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Rendered, LineBreaks::Shown)
}

/// One line of prose: a remark, a title.
pub fn prose_line(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Prose, LineBreaks::Shown)
}

/// An answer or another text of several lines that nobody approves.
pub fn prose(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Prose, LineBreaks::Kept)
}

/// The output of a command. See [`VisibleMode::Output`] for what is dropped.
pub fn output(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Output, LineBreaks::Kept)
}

/// One line of a command's output.
pub fn output_line(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Output, LineBreaks::Shown)
}

/// Prose from which a decoder made characters that were not in it before, as Markdown does from `&#27;`. They are shown
/// like all others, a run of the same character counted, and the signs of the first rendering stay.
pub fn decoded(text: &str) -> Cow<'_, str> {
    use char_class::CharRendering;
    let shown = |c: char| match char_class::shown(c, VisibleMode::Prose) {
        _ if matches!(c, '\n' | '\t') || char_class::is_joiner(c) || char_class::is_picture(c) => {
            CharRendering::AsIs
        }
        shown => shown,
    };
    if text.chars().all(|c| matches!(shown(c), CharRendering::AsIs | CharRendering::Mark)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut repeats = Repeats::default();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let kind = shown(c);
        if matches!(kind, CharRendering::AsIs | CharRendering::Mark) {
            out.push_str(&joined(&repeats.flush()));
            out.push(c);
            continue;
        }
        let mut count = 1;
        while rest.next_if_eq(&c).is_some() {
            count += 1;
        }
        let text = match kind {
            CharRendering::Picture(picture) if count < writer::PICTURES => picture.to_string().repeat(count),
            _ => writer::counted(c, count),
        };
        let piece = VisiblePiece { bytes: 0..0, text, kind: VisiblePieceKind::Sign };
        out.push_str(&joined(&repeats.push(Token { piece, what: writer::in_pattern(c, count) })));
    }
    out.push_str(&joined(&repeats.flush()));
    Cow::Owned(out)
}

/// `c` by its number, as a sign: `<U+25C6>`.
pub fn written(c: char) -> String {
    writer::written(c)
}

/// Bytes that need not be UTF-8, exact: the ones that are not text are written `<FF>`.
pub fn visible(bytes: &[u8], breaks: LineBreaks) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => rendered(text, VisibleMode::Exact, breaks).into_owned(),
        Err(_) => joined(&pieces(bytes, VisibleMode::Exact, breaks, &[])),
    }
}

/// The rendering piece by piece, for surfaces that style its signs. Look-alike letters within `alike`, and everywhere in
/// words that mix alphabets, are written out.
pub fn pieces(
    bytes: &[u8],
    manner: VisibleMode,
    breaks: LineBreaks,
    alike: &[Range<usize>],
) -> Vec<VisiblePiece> {
    let mut writer = VisibleWriter::new(manner, breaks);
    let mut out = Vec::new();
    if matches!(manner, VisibleMode::Exact | VisibleMode::Quiet) {
        writer.write_out(lookalikes::to_write(bytes, alike));
    }
    writer.bytes(bytes, &mut out);
    writer.end(&mut out);
    out
}

fn rendered(text: &str, manner: VisibleMode, breaks: LineBreaks) -> Cow<'_, str> {
    if char_class::is_plain(text, manner, breaks) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(joined(&pieces(text.as_bytes(), manner, breaks, &[])))
}

fn joined(pieces: &[VisiblePiece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
