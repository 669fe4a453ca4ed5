//! Renders a whole text at once, in the mode that its place needs.

use super::char_class::BLANK_SIGN;
use super::mode::{LineBreaks, VisibleMode};
use super::piece::{VisiblePiece, VisiblePieceKind, joined};
use super::repeat::{Repeats, Token};
use super::writer::VisibleWriter;
use super::{char_class, lookalikes, writer};
use std::borrow::Cow;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// One line, exact: no control character remains, not even a line break.
pub fn line(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Exact, LineBreaks::Shown)
}

/// Several lines, exact. `\n` remains a line break; each `\r` is shown.
pub fn block(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Exact, LineBreaks::Kept)
}

/// A file's name for a list: exact, one line whatever it contains, with leading spaces shown as well.
pub fn name(text: &str) -> Cow<'_, str> {
    let shown = line(text);
    let rest = shown.trim_start_matches(' ');
    let blanks = shown.len() - rest.len();
    if blanks == 0 {
        return shown;
    }
    Cow::Owned(format!("{}{rest}", BLANK_SIGN.to_string().repeat(blanks)))
}

/// A path as a person reads it: exact, even if its name is not UTF-8, and on one line.
pub fn path_name(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => name(text).into_owned(),
        Err(_) => visible(bytes, LineBreaks::Shown),
    }
}

/// A path in a list for a program: itself where prose would show it so, and then a command can use it, such as the
/// decomposed names of a Mac. Otherwise as [`path_name`] shows it, which file tools read back.
pub fn usable_name(path: &Path) -> String {
    match path.to_str() {
        Some(text) if prose_line(text) == text => text.into(),
        _ => path_name(path),
    }
}

/// A path inside a list or a sentence: in quotes if spaces or quotes would hide where the name ends.
pub fn path(path: &Path) -> String {
    let shown = path_name(path);
    if !shown.is_empty() && !shown.contains([' ', BLANK_SIGN, '"']) {
        return shown;
    }
    format!("\"{}\"", shown.replace('"', "<U+0022>"))
}

/// Several lines with parts that were rendered before, such as names: a last guard.
pub fn guard(text: &str) -> Cow<'_, str> {
    rendered(text, VisibleMode::Rendered, LineBreaks::Kept)
}

/// True for characters that a terminal acts on or that reorder text; the renderer never emits them.
pub fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line with parts that were rendered before.
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

/// Prose in which a decoder produced new characters, as Markdown does from `&#27;`. They are shown like all others, a
/// run of the same character is counted, and the signs of the first rendering remain.
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

/// Bytes that need not be UTF-8, exact: bytes that are not text are written `<FF>`.
pub fn visible(bytes: &[u8], breaks: LineBreaks) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => rendered(text, VisibleMode::Exact, breaks).into_owned(),
        Err(_) => joined(&pieces(bytes, VisibleMode::Exact, breaks, &[])),
    }
}

/// The rendering piece by piece, for user interfaces that style its signs. Look-alike letters within `alike`, and
/// everywhere in words that mix alphabets, are written as numbers.
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
