//! Parses the text of a patch: detects its format, and reads the files of a unified diff.

use super::cursor::PatchCursor;
use super::error::MOST_BYTES;
use super::file_header::{self, FilePatchHeader};
use super::file_name::StripLevels;
use super::line::bare;
use super::{
    FilePatch, FilePatchBody, FilePatchKind, PatchError, PatchHunk, PatchSet, binary, envelope, hunk,
};

/// Reads a patch. Text around it and Markdown fences are ignored, with a note.
pub fn parse(input: &[u8], prefix: StripLevels) -> Result<PatchSet, PatchError> {
    if input.len() > MOST_BYTES {
        return Err(PatchError::TooLarge { bytes: input.len() });
    }
    let mut cursor = PatchCursor::new(input)?;
    if envelope::begins(&cursor) {
        return envelope::read(&mut cursor);
    }
    let mut reading = PatchParser::default();
    while !cursor.done() {
        reading.step(&mut cursor)?;
    }
    reading.finish(prefix)
}

#[derive(Default)]
struct PatchParser {
    files: Vec<(FilePatchHeader, FilePatchBody)>,
    notes: Vec<String>,
    /// Lines that belong to no file.
    passed: usize,
}

impl PatchParser {
    fn step(&mut self, cursor: &mut PatchCursor<'_>) -> Result<(), PatchError> {
        let line = cursor.number();
        let old_form = cursor.starts(0, b"*** ") && cursor.starts(1, b"--- ");
        if old_form && cursor.starts(2, b"***************") {
            return Err(PatchError::ContextDiff { line });
        }
        if let Some(header) = file_header::read(cursor)? {
            return self.file(header, cursor);
        }
        if cursor.starts(0, b"@@") {
            let hunks = self.hunks(cursor)?;
            match self.files.last_mut() {
                Some((_, FilePatchBody::Hunks(known))) => known.extend(hunks),
                _ => self.files.push((
                    FilePatchHeader { line, ..FilePatchHeader::default() },
                    FilePatchBody::Hunks(hunks),
                )),
            }
            return Ok(());
        }
        self.passed_over(cursor)?;
        cursor.at += 1;
        Ok(())
    }

    /// Handles a line that is not a part of a patch; some of these lines have a meaning nevertheless.
    fn passed_over(&mut self, cursor: &PatchCursor<'_>) -> Result<(), PatchError> {
        let head = cursor.head(0).unwrap_or_default();
        if head.starts_with(b"Only in ") {
            self.notes.push(format!("skipped: {}", super::line::shown(head)));
        } else if head.starts_with(b"Binary files ") && head.ends_with(b" differ") {
            let path = super::line::shown(head.get(13..head.len() - 7).unwrap_or_default());
            return Err(PatchError::NoBinaryContent { path });
        } else if !(head.is_empty()
            || head.starts_with(b"diff ")
            || head.starts_with(b"Index: ")
            || head.starts_with(b"# "))
        {
            self.passed += 1;
        }
        Ok(())
    }

    fn file(&mut self, header: FilePatchHeader, cursor: &mut PatchCursor<'_>) -> Result<(), PatchError> {
        for mode in [header.old_mode, header.new_mode].into_iter().flatten() {
            match mode & 0o170_000 {
                0o120_000 => return Err(PatchError::Link { path: header.shown() }),
                0o160_000 => return Err(PatchError::Submodule { path: header.shown() }),
                _ => {}
            }
        }
        if let Some(error) = header.other_name() {
            return Err(error);
        }
        if header.binary_without_content {
            return Err(PatchError::NoBinaryContent { path: header.shown() });
        }
        if cursor.head(0) == Some(b"GIT binary patch") {
            let blobs = header.blobs.clone();
            let body = FilePatchBody::Binary(binary::read(cursor, blobs)?);
            self.files.push((header, body));
            return Ok(());
        }
        let (noted, hunks) = (self.notes.len(), self.hunks(cursor)?);
        if hunks.is_empty() && self.notes.len() > noted {
            // Its hunks change nothing, and there is already a note about it.
            return Ok(());
        }
        let named = header.old.is_some() || header.new.is_some();
        if hunks.is_empty() && named && !header.is_git {
            return Err(PatchError::NoHunks { line: header.line, path: header.shown() });
        }
        let modes = header.old_mode != header.new_mode && header.new_mode.is_some();
        if hunks.is_empty() && header.kind.is_none() && !modes {
            self.notes.push(format!("`{}`: the patch changes nothing in it", header.shown()));
            return Ok(());
        }
        self.files.push((header, FilePatchBody::Hunks(hunks)));
        Ok(())
    }

    fn hunks(&mut self, cursor: &mut PatchCursor<'_>) -> Result<Vec<PatchHunk>, PatchError> {
        let mut hunks = Vec::new();
        while cursor.starts(0, b"@@") {
            hunks.extend(hunk::read(cursor, &mut self.notes)?);
            let blank = (0..).take_while(|n| cursor.raw(*n).is_some_and(|l| bare(l).is_empty())).count();
            if cursor.starts(blank, b"@@") {
                cursor.at += blank;
            }
        }
        Ok(hunks)
    }

    fn finish(mut self, prefix: StripLevels) -> Result<PatchSet, PatchError> {
        if self.files.is_empty() && self.notes.is_empty() {
            return Err(PatchError::NotAPatch);
        }
        if self.passed > 0 {
            let s = if self.passed == 1 { "" } else { "s" };
            self.notes.push(format!("skipped {} line{s} around the patch", self.passed));
        }
        let plain = self.files.iter().any(|(header, _)| header.is_plain());
        let files =
            self.files.into_iter().map(|(header, body)| finished(&header, body, prefix, plain)).collect();
        Ok(PatchSet { files, notes: self.notes })
    }
}

fn finished(header: &FilePatchHeader, body: FilePatchBody, prefix: StripLevels, plain: bool) -> FilePatch {
    let (old, new) = header.names(prefix, plain);
    let file = FilePatch {
        old,
        new,
        kind: header.kind(),
        old_mode: header.old_mode,
        new_mode: header.new_mode,
        body,
    };
    with_times(header, file)
}

/// GNU diff with `-N` marks a missing file by a time, not by its name.
fn with_times(header: &FilePatchHeader, mut file: FilePatch) -> FilePatch {
    let epoch = |name: &Option<super::file_name::PatchFileName>| name.as_ref().is_some_and(|n| n.epoch);
    let [hunk] = file.hunks() else { return file };
    let adds_only = hunk.old_count == Some(0) && hunk.old_lines().next().is_none();
    let removes_only = hunk.lines.iter().all(|line| line.sign == super::PatchLineKind::Remove);
    if file.kind == FilePatchKind::Edit && epoch(&header.old) && adds_only {
        (file.kind, file.old) = (FilePatchKind::Create, None);
    } else if file.kind == FilePatchKind::Edit && epoch(&header.new) && removes_only {
        (file.kind, file.new) = (FilePatchKind::Delete, None);
    }
    file
}
