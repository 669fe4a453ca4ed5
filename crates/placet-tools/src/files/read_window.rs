//! read_file on a file too large to load: a window of lines, or the lines that match.

use super::file_page;
use super::file_page::FilePage;
use super::read::{LINES, ReadPlan, past_end};
use super::search_results::{LONGEST_HIT, SearchHit};
use crate::output::interrupted;
use crate::{Hint, HintTool, RunContext, ToolContext, ToolError, ToolOutput, hint};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use placet_text::text::RangeSet;
use placet_workspace::{FileWindow, Hash, OpenedFile, TextFile, WorkspaceError};
use std::fs::File;
use std::io::Seek as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

impl ReadPlan {
    /// A window into a file that is too large to load.
    pub(crate) fn read_window(
        &self,
        mut opened: OpenedFile,
        head: &[u8],
        ctx: &RunContext,
    ) -> Result<ToolOutput, ToolError> {
        let env = &ctx.env;
        if head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF]) {
            return Err(ToolError::hint(
                format!(
                    "`{}` is UTF-16 text of {} bytes: too large to decode here",
                    self.args.path, opened.size
                ),
                hint!["convert it with ", HintTool::RunCommand, ": `iconv -f UTF-16 -t UTF-8 FILE > OTHER`"],
            ));
        }
        if memchr::memchr(0, head).is_some() {
            return Err(self.binary("binary data", opened.size));
        }
        if let Some(pattern) = &self.pattern {
            return self.matching_window(opened, pattern, ctx);
        }
        let (Some(first), Some(limit)) =
            (self.args.offset.or(self.args.limit.map(|_| 0)), self.args.limit.or(Some(LINES)))
        else {
            return Err(self.too_large(&mut opened));
        };
        self.lines(&mut opened, first, limit, env)
    }

    /// The hash of a file that is known as a whole, because of a search or an edit, if it is unchanged: what is shown of it
    /// now is added to what is known.
    fn known_whole(&self, file: &mut File, env: &ToolContext) -> Option<Hash> {
        let known = env.ledger().hash_of(&self.at.path)?;
        let mut hasher = blake3::Hasher::new();
        file.rewind().ok()?;
        hasher.update_reader(&mut *file).ok()?;
        file.rewind().ok()?;
        (hasher.finalize() == known).then_some(known)
    }

    fn record(&self, env: &ToolContext, known: Option<Hash>, lines: Range<usize>, bytes: &[u8]) {
        match known {
            Some(hash) => {
                let lines = RangeSet::of(lines);
                env.ledger().record_hashed(&self.at.path, hash, &lines, &RangeSet::new());
            }
            None => env.ledger().record_window(&self.at.path, lines, bytes),
        }
    }

    fn lines(
        &self,
        opened: &mut OpenedFile,
        first: usize,
        limit: usize,
        env: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let most = self.budget(env);
        let path = self.at.path.as_path();
        let window = FileWindow::read(&mut opened.file, path, first, limit, most);
        let window = window.map_err(|e| env.path_error(&e))?;
        if window.first < first || window.bytes.is_empty() {
            return Err(past_end(first, window.first));
        }
        let bytes = Arc::new(window.bytes);
        let file = TextFile::new(bytes.clone()).map_err(|why| self.not_text(why, opened.size))?;
        let page = FilePage::render(&file, (0, 0), limit, first, most);
        let end = file.lines(0).nth(page.lines.len().saturating_sub(1)).map_or(0, |line| line.end);
        let shown = bytes.get(..end).unwrap_or_default();
        let all = window.at_end && end == bytes.len();
        if page.part.is_some() || !all && !shown.ends_with(b"\n") {
            return Err(ToolError::hint(
                format!("line {} alone is longer than {most} bytes", first + 1),
                hint![
                    "read it in parts with ",
                    HintTool::ReadFile.parameter("column"),
                    ", or use ",
                    HintTool::SearchContents
                ]
                .or(hint!["use ", HintTool::SearchContents]),
            ));
        }
        let next = if all { "to the end".into() } else { format!("continue with offset {}", page.lines.end) };
        let place =
            format!("lines {}-{} of a file of {} bytes; {next}", first + 1, page.lines.end, opened.size);
        let mut notes = vec![place];
        notes.extend(self.notes(&file, &page, all, env));
        let output = self.done(self.line(env, &page.lines), &page.text, &notes);
        if self.shows(&output, env) {
            let known = self.known_whole(&mut opened.file, env);
            self.record(env, known, page.lines, shown);
        }
        Ok(output)
    }

    fn matching_window(
        &self,
        opened: OpenedFile,
        pattern: &RegexMatcher,
        ctx: &RunContext,
    ) -> Result<ToolOutput, ToolError> {
        use std::io::BufRead;
        let env = &ctx.env;
        let (first, limit) = (self.args.offset.unwrap_or(0), self.args.limit.unwrap_or(LINES));
        let mut file = opened.file;
        let known = self.known_whole(&mut file, env);
        let mut reader = std::io::BufReader::with_capacity(1 << 18, file);
        let (mut line, mut text, mut number, mut found, mut cut) = (Vec::new(), String::new(), 0, 0, false);
        loop {
            if ctx.cancel.is_cancelled() {
                return Ok(interrupted(&self.title));
            }
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            if read.map_err(|e| env.path_error(&WorkspaceError::from_io(&self.at.path, e)))? == 0 {
                break;
            }
            number += 1;
            let plain = line.strip_suffix(b"\n").unwrap_or(&line);
            let plain = plain.strip_suffix(b"\r").unwrap_or(plain);
            if number > first && pattern.is_match(plain).unwrap_or(false) {
                let room = plain.len().min(self.budget(env).saturating_sub(LONGEST_HIT));
                if found >= limit || !text.is_empty() && text.len() + room > self.budget(env) {
                    cut = true;
                    break;
                }
                found += 1;
                if plain.len() > self.budget(env) {
                    let hit = SearchHit::around(number, &String::from_utf8_lossy(plain), pattern);
                    text.push_str(&format!("{}\n", hit.row(1)));
                    continue;
                }
                let whole = file_page::rows(&mut text, number, &String::from_utf8_lossy(plain), 1);
                if !whole && self.args.scratchpad.is_none() {
                    self.record(env, known, number - 1..number, &line);
                }
            }
        }
        let note = match cut {
            true => format!("{found} matching lines; there are more: continue with offset {}", number - 1),
            false => format!("{found} of {number} lines match"),
        };
        Ok(self.done(self.title.clone(), &text, &[note]))
    }

    /// The answer to a call that reads all of a file that is too large for it.
    fn too_large(&self, opened: &mut OpenedFile) -> ToolError {
        let window = FileWindow::read(&mut opened.file, Path::new(""), 0, 1, 1 << 20);
        let endless = window.is_ok_and(|w| !w.bytes.ends_with(b"\n"));
        let (path, size) = (&self.args.path, opened.size);
        match endless {
            true => ToolError::hint(
                format!("`{path}` is {size} bytes and its first line alone is longer than 1 MB"),
                hint![
                    "read it in parts with ",
                    HintTool::ReadFile.parameter("column"),
                    "; ",
                    HintTool::SearchContents,
                    " cuts long lines around each match"
                ]
                .or(hint![HintTool::SearchContents, " cuts long lines around each match"]),
            ),
            false => ToolError::hint(
                format!("`{path}` is {size} bytes: too large to read whole"),
                how_to_read_a_part(),
            ),
        }
    }
}

/// Tool sets without a pattern or without a window get the rest of the advice.
fn how_to_read_a_part() -> Hint {
    let read = |native| HintTool::ReadFile.parameter(native);
    let search = HintTool::SearchContents;
    let window = || [read("offset"), " and ".into(), read("limit"), " for a window, ".into()];
    let [offset, and, limit, rest] = window();
    let all =
        hint!["give ", offset, and, limit, rest, read("pattern"), " for matching lines, or use ", search];
    let [offset, and, limit, rest] = window();
    let all = all.or(hint!["give ", offset, and, limit, rest, "or use ", search]).or(hint!["use ", search]);
    let [offset, and, limit, rest] = window();
    all.or(hint!["give ", offset, and, limit, rest, "or ", read("pattern"), " for matching lines"])
}
