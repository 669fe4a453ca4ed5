//! The header above the hunks of a file: names, modes, and the kind of change.

use super::cursor::PatchCursor;
use super::file_name;
use super::file_name::{PatchFileName, StripLevels, common_rest, without};
use super::line::shown;
use super::{FilePatchKind, PatchError};

/// The header as it is written, before prefixes are removed.
#[derive(Debug, Default)]
pub(super) struct FilePatchHeader {
    /// The line at which it begins.
    pub(super) line: usize,
    pub(super) git: Option<(String, String)>,
    pub(super) is_git: bool,
    pub(super) old: Option<PatchFileName>,
    pub(super) new: Option<PatchFileName>,
    pub(super) kind: Option<FilePatchKind>,
    /// The names after `rename from` and `rename to`, which have no prefix.
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
    pub(super) old_mode: Option<u32>,
    pub(super) new_mode: Option<u32>,
    /// The names of both contents, as git abbreviates them.
    pub(super) blobs: Option<(String, String)>,
    /// `Binary files a/x and b/x differ`.
    pub(super) binary_without_content: bool,
}

/// Reads a header, if one begins at the cursor.
pub(super) fn read(cursor: &mut PatchCursor<'_>) -> Result<Option<FilePatchHeader>, PatchError> {
    let line = cursor.number();
    let mut header = FilePatchHeader { line, ..FilePatchHeader::default() };
    if let Some(names) = cursor.head(0).and_then(|head| head.strip_prefix(b"diff --git ")) {
        header.is_git = true;
        header.git = file_name::git_pair(names, line)?;
        cursor.at += 1;
        while !cursor.done() && header.extended(cursor)? {
            cursor.at += 1;
        }
    }
    let pair = cursor.starts(0, b"--- ") && cursor.starts(1, b"+++ ");
    let lone = |mark: &[u8]| cursor.starts(0, mark) && cursor.starts(1, b"@@");
    let (old, new) = (pair || lone(b"--- "), pair || lone(b"+++ "));
    for side in [old.then_some("--- "), new.then_some("+++ ")].into_iter().flatten() {
        let text = cursor.head(0).and_then(|head| head.get(4..)).unwrap_or_default();
        let name = Some(file_name::read(text, cursor.number())?);
        if side == "--- " {
            header.old = name;
        } else {
            header.new = name;
        }
        cursor.at += 1;
    }
    Ok((header.is_git || old || new).then_some(header))
}

impl FilePatchHeader {
    /// Reads one of git's extended header lines; false for any other line.
    fn extended(&mut self, cursor: &PatchCursor<'_>) -> Result<bool, PatchError> {
        let (head, line) = (cursor.head(0).unwrap_or_default(), cursor.number());
        let after = |mark: &str| head.strip_prefix(mark.as_bytes());
        if let Some(mode) = after("old mode ") {
            self.old_mode = Some(read_mode(mode, line)?);
        } else if let Some(mode) = after("new mode ") {
            self.new_mode = Some(read_mode(mode, line)?);
        } else if let Some(mode) = after("new file mode ") {
            (self.kind, self.new_mode) = (Some(FilePatchKind::Create), Some(read_mode(mode, line)?));
        } else if let Some(mode) = after("deleted file mode ") {
            (self.kind, self.old_mode) = (Some(FilePatchKind::Delete), Some(read_mode(mode, line)?));
        } else if let Some(from) = after("rename from ").or(after("rename old ")) {
            (self.kind, self.from) = (Some(FilePatchKind::Rename), Some(file_name::whole(from, line)?));
        } else if let Some(to) = after("rename to ").or(after("rename new ")) {
            (self.kind, self.to) = (Some(FilePatchKind::Rename), Some(file_name::whole(to, line)?));
        } else if let Some(from) = after("copy from ") {
            (self.kind, self.from) = (Some(FilePatchKind::Copy), Some(file_name::whole(from, line)?));
        } else if let Some(to) = after("copy to ") {
            (self.kind, self.to) = (Some(FilePatchKind::Copy), Some(file_name::whole(to, line)?));
        } else if let Some(index) = after("index ") {
            self.index(index, line)?;
        } else if head.starts_with(b"Binary files ") && head.ends_with(b" differ") {
            self.binary_without_content = true;
        } else {
            return Ok(after("similarity index ").or(after("dissimilarity index ")).is_some());
        }
        Ok(true)
    }

    /// `index 0123abc..4567def 100644`
    fn index(&mut self, text: &[u8], line: usize) -> Result<(), PatchError> {
        let text = String::from_utf8_lossy(text);
        let mut words = text.split_ascii_whitespace();
        self.blobs = words.next().and_then(|w| w.split_once("..")).map(|(a, b)| (a.into(), b.into()));
        if let Some(mode) = words.next() {
            let mode = read_mode(mode.as_bytes(), line)?;
            self.old_mode = self.old_mode.or(Some(mode));
        }
        Ok(())
    }

    /// The names without prefixes. `bare` if other files of the patch show that the patch has no prefixes.
    pub(super) fn names(&self, prefix: StripLevels, plain: bool) -> (Option<String>, Option<String>) {
        let path = |name: &Option<PatchFileName>| name.as_ref().and_then(|n| n.path.clone());
        let (mut old, mut new) = (path(&self.old), path(&self.new));
        if self.old.is_none()
            && self.new.is_none()
            && let Some((a, b)) = self.git.clone()
        {
            (old, new) = (Some(a), Some(b));
        }
        let levels = |name: Option<String>, levels| name.map(|n| without(&n, levels));
        (old, new) = match prefix {
            StripLevels::Levels(n) => (levels(old, n), levels(new, n)),
            StripLevels::Auto => self.auto(old, new, plain),
        };
        let (old, new) = (self.from.clone().or(old), self.to.clone().or(new));
        match self.kind {
            Some(FilePatchKind::Create) => (None, new.or(old)),
            Some(FilePatchKind::Delete) => (old.or(new), None),
            _ => (old, new),
        }
    }

    fn auto(
        &self,
        old: Option<String>,
        new: Option<String>,
        plain: bool,
    ) -> (Option<String>, Option<String>) {
        let git = self.git.as_ref().map(|(a, b)| (common_rest(a, b).is_some(), a == b));
        match (&old, &new) {
            (Some(a), Some(b)) => match (common_rest(a, b), a.strip_prefix("a/"), b.strip_prefix("b/")) {
                (Some(rest), ..) => (Some(rest.into()), Some(rest.into())),
                (None, Some(a), Some(b)) => (Some(a.into()), Some(b.into())),
                _ => (old, new),
            },
            _ => {
                // If only one side has a name, `diff --git` above it may decide; otherwise `a/` and `b/` have their
                // usual meaning.
                let usual = || {
                    let begins = |name: &Option<String>, with| {
                        name.as_ref().is_some_and(|n: &String| n.starts_with(with))
                    };
                    !plain && (begins(&old, "a/") || begins(&new, "b/"))
                };
                let strip = match git {
                    Some((true, _)) => true,
                    Some((_, true)) => false,
                    _ => usual(),
                };
                let one = |name: Option<String>| name.map(|n| if strip { without(&n, 1) } else { n });
                (one(old), one(new))
            }
        }
    }

    /// True if both sides have the same name: this patch has no prefixes.
    pub(super) fn is_plain(&self) -> bool {
        match (&self.old, &self.new) {
            (Some(PatchFileName { path: Some(a), .. }), Some(PatchFileName { path: Some(b), .. })) => a == b,
            _ => self.git.as_ref().is_some_and(|(a, b)| a == b),
        }
    }

    /// The error for a name after `---` or `+++` that differs from the git header above it: git refuses such a patch if
    /// the header declares the kind of change.
    pub(super) fn other_name(&self) -> Option<PatchError> {
        let kind = self.kind.filter(|_| self.is_git)?;
        let (a, b) = self.git.clone().unzip();
        let sides = [(&self.old, self.from.clone().or(a)), (&self.new, self.to.clone().or(b))];
        let moves = matches!(kind, FilePatchKind::Rename | FilePatchKind::Copy);
        sides.into_iter().find_map(|(side, git)| {
            let (side, git) = (side.as_ref()?, git?);
            let name = match &side.path {
                Some(name) if file_name::is_same(name, &git) => return None,
                Some(name) => name.clone(),
                None if moves => "/dev/null".into(),
                None => return None,
            };
            Some(PatchError::OtherName { line: self.line, git, name })
        })
    }

    /// The kind of change, derived from the names and times alone.
    pub(super) fn kind(&self) -> FilePatchKind {
        let absent = |name: &Option<PatchFileName>| name.as_ref().is_some_and(|n| n.path.is_none());
        match self.kind {
            Some(kind) => kind,
            None if absent(&self.old) => FilePatchKind::Create,
            None if absent(&self.new) => FilePatchKind::Delete,
            None => FilePatchKind::Edit,
        }
    }

    /// The name of the file for a message.
    pub(super) fn shown(&self) -> String {
        let (old, new) = self.names(StripLevels::Auto, false);
        new.or(old).unwrap_or_else(|| "the file".into())
    }
}

fn read_mode(text: &[u8], line: usize) -> Result<u32, PatchError> {
    let words = String::from_utf8_lossy(text);
    let mode = u32::from_str_radix(words.trim(), 8).ok().filter(|m| *m <= 0o177_777);
    // As git and GNU patch do: a patch does not change who a file runs as.
    let mode = mode.map(|mode| mode & !0o7000);
    mode.ok_or_else(|| PatchError::BadMode { line, text: shown(text) })
}
