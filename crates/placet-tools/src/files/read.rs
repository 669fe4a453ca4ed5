//! read_file: numbered lines of a text file, or a picture.
//!
//! The ledger records exactly the lines that the model is shown: a page that was cut for size counts for its lines
//! only. A file too large to load is read by a window; the lines of a window are identified by their own hash.

use super::edit::LARGEST;
use super::file_page::{FilePage, LinePart};
use super::find::nonzero_limit;
use super::pattern::line_matcher;
use super::search_results::{LONGEST_HIT, SearchHit};
use super::{content_type, file_page};
use crate::arguments::ToolSchema;
use crate::blocking::{blocking, consent_of, real_path_note};
use crate::{
    CallFailure, CallPreview, CallSummary, DisplayDetail, HintTool, OutputFacts, Plan, ReadScope, RunContext,
    RunFuture, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use placet_media::{self as media, MediaError, OversizePolicy};
use placet_permission::{Access, Permit};
use placet_text::conversation::{CallFact, CallOutcome, Image, Part, ToolSpec};
use placet_text::text::{LineEndCounts, NotText, RangeSet};
use placet_workspace::{Hash, OpenConsent, OpenedFile, ResolvedPath, TextFile};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

pub(crate) const LINES: usize = 2000;
/// The longest page of a tool set that promises a number of lines, in bytes.
const LARGEST_PAGE: usize = 1 << 20;
/// How much of the room for a page its notes may take.
const NOTES: usize = 600;
/// The largest file that is examined as a picture.
pub(crate) const LARGEST_PICTURE: u64 = 256 << 20;
/// A request may have 32 MB, and base64 makes four bytes of three.
const LARGEST_PDF: u64 = 22_000_000;

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Args {
    pub(crate) path: String,
    /// Lines to skip.
    pub(crate) offset: Option<usize>,
    // 2000 where it is missing. A result that was cut says how to read on.
    pub(crate) limit: Option<usize>,
    /// Characters of the first line to skip.
    pub(crate) column: Option<usize>,
    /// Only lines that match.
    pub(crate) pattern: Option<String>,
    /// Do not scale a picture down.
    pub(crate) exact: Option<bool>,
    pub(crate) scratchpad: Option<String>,
}

pub(crate) struct ReadFile(ToolSchema);

impl Default for ReadFile {
    fn default() -> ReadFile {
        ReadFile(ToolSchema::of::<Args>("read_file", include_str!("../../prompts/tools/read_file.md")))
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        let path = input.get("path").and_then(Value::as_str).map(String::from);
        TouchedPaths { reads: path.into_iter().collect(), ..TouchedPaths::default() }
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        Ok(Box::new(ReadPlan::new(self.0.parse(input)?, env)?))
    }
}

impl ReadPlan {
    pub(crate) fn new(args: Args, env: &ToolContext) -> Result<ReadPlan, ToolError> {
        let at = env.resolve(&args.path)?;
        ReadPlan::at(args, at, env)
    }

    /// Reads the file at `at`; messages use the path of the call.
    pub(crate) fn at(args: Args, at: ResolvedPath, env: &ToolContext) -> Result<ReadPlan, ToolError> {
        nonzero_limit(args.limit)?;
        let pattern = args.pattern.as_deref().map(|pattern| line_matcher(pattern, |_| {})).transpose()?;
        let title = title(env, &at, &args);
        Ok(ReadPlan { args, at, pattern, title, is_whole: false })
    }

    /// For a tool set that promises a number of lines, whatever their length is.
    #[must_use]
    pub(crate) fn whole(self) -> ReadPlan {
        ReadPlan { is_whole: true, ..self }
    }
}

fn title(env: &ToolContext, at: &ResolvedPath, args: &Args) -> String {
    let path = env.workspace.shown(&at.path);
    let first = args.offset.unwrap_or(0);
    match (args.offset, args.limit, &args.pattern) {
        (_, _, Some(pattern)) => format!("read {path} /{pattern}/"),
        (None, None, None) => format!("read {path}"),
        (_, Some(limit), None) => format!("read {path} {}-{}", first + 1, first.saturating_add(limit)),
        (Some(_), None, None) => format!("read {path} {}-", first + 1),
    }
}

pub(crate) struct ReadPlan {
    pub(crate) args: Args,
    pub(crate) at: ResolvedPath,
    pub(crate) pattern: Option<RegexMatcher>,
    pub(crate) title: String,
    /// The page has all the requested lines, as far as the model's window has room for them.
    is_whole: bool,
}

impl Plan for ReadPlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.at.read()]
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        let preview = CallPreview { line: self.title.clone(), detail: DisplayDetail::None };
        match env.workspace.open(&self.at, consent_of(sight)) {
            // Consent to read outside is still to come.
            Err(placet_workspace::WorkspaceError::Outside(_)) if sight == ReadScope::InsideOnly => {
                Ok(preview)
            }
            opened => opened.map(|_| preview).map_err(|e| env.path_error(&e)),
        }
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        blocking(self.title.clone(), move || self.read(&permit, &ctx))
    }
}

impl ReadPlan {
    fn read(&self, permit: &Permit, ctx: &RunContext) -> Result<ToolOutput, ToolError> {
        let env = &ctx.env;
        let consent = OpenConsent::Permit(permit);
        let mut opened = env.workspace.open(&self.at, consent).map_err(|e| env.path_error(&e))?;
        let head = self.head(&mut opened, env)?;
        if let Some(output) = self.picture(&mut opened, &head, env)? {
            return Ok(output);
        }
        if media::is_pdf(&head) {
            return self.pdf(&mut opened, env);
        }
        if let Some(kind) = content_type::named(&head) {
            return Err(self.binary(kind, opened.size));
        }
        // A part of a line: what can be edited can be read.
        let most = if self.args.column.is_some() { LARGEST } else { env.limits.read_bytes };
        if opened.size > most {
            return self.read_window(opened, &head, ctx);
        }
        let bytes = opened.read_all(&self.at.path, most).map_err(|e| env.path_error(&e))?;
        let bytes = Arc::new(bytes);
        let hash = blake3::hash(&bytes);
        let file = TextFile::new(bytes.clone()).map_err(|why| self.not_text(why, bytes.len() as u64))?;
        match &self.pattern {
            Some(pattern) => self.matching(&file, hash, pattern, env),
            None => self.page(&file, hash, env),
        }
    }

    fn head(&self, opened: &mut OpenedFile, env: &ToolContext) -> Result<Vec<u8>, ToolError> {
        use std::io::{Read, Seek};
        let mut head = Vec::new();
        let read = (&mut opened.file).take(8192).read_to_end(&mut head).and_then(|_| opened.file.rewind());
        read.map_err(|e| env.path_error(&placet_workspace::WorkspaceError::from_io(&self.at.path, e)))?;
        Ok(head)
    }

    fn picture(
        &self,
        opened: &mut OpenedFile,
        head: &[u8],
        env: &ToolContext,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let path = env.workspace.shown(&self.at.path);
        let Some(kind) = media::sniff(head, &path) else { return Ok(None) };
        let bytes = opened.read_all(&self.at.path, LARGEST_PICTURE).map_err(|e| env.path_error(&e))?;
        let oversize =
            if self.args.exact == Some(true) { OversizePolicy::Refuse } else { OversizePolicy::ScaleDown };
        let loaded = media::load(kind, &path, bytes, env.limits.image_bytes, oversize);
        let loaded = loaded.map_err(|e| picture_error(&self.args.path, &e))?;
        let mut words = loaded.image.describe();
        for note in &loaded.notes {
            let _ = write!(words, "; {note}");
        }
        let line = format!("{} {}x{}", self.title, loaded.image.width, loaded.image.height);
        let for_model = vec![Part::text(words), Part::Image(loaded.image.clone())];
        let for_person = CallSummary::new(line, DisplayDetail::Image(loaded.image));
        Ok(Some(ToolOutput {
            outcome: CallOutcome::Done,
            for_model,
            for_person,
            facts: OutputFacts::None,
            recorded: Vec::new(),
        }))
    }

    /// A PDF, unchanged. This function does not know whether the model accepts PDFs: for a model that does not, a line
    /// of text replaces the PDF later.
    fn pdf(&self, opened: &mut OpenedFile, env: &ToolContext) -> Result<ToolOutput, ToolError> {
        if opened.size > LARGEST_PDF {
            let size = opened.size;
            return Err(ToolError::hint(
                format!(
                    "`{}`: the PDF has {size} bytes, more than the {LARGEST_PDF} that can be sent",
                    self.args.path
                ),
                content_type::advice("PDF"),
            ));
        }
        let bytes = opened.read_all(&self.at.path, LARGEST_PDF).map_err(|e| env.path_error(&e))?;
        let pdf = Image::pdf(&env.workspace.shown(&self.at.path), Arc::from(bytes));
        let line = format!("{} PDF, {} bytes", self.title, pdf.bytes.len());
        let for_model = vec![Part::text(pdf.describe()), Part::Image(pdf)];
        let for_person = CallSummary::new(line, DisplayDetail::None);
        Ok(ToolOutput {
            outcome: CallOutcome::Done,
            for_model,
            for_person,
            facts: OutputFacts::None,
            recorded: Vec::new(),
        })
    }

    fn page(&self, file: &TextFile, hash: Hash, env: &ToolContext) -> Result<ToolOutput, ToolError> {
        let total = file.line_count();
        let first = self.args.offset.unwrap_or(0);
        if total == 0 {
            env.ledger().record_read(&self.at.path, file.bytes(), hash, 0..0);
            let note = format!("the file is empty: {} bytes", file.bytes().len());
            return Ok(self.done(self.title.clone(), "", &[note]));
        }
        if first >= total {
            return Err(past_end(first, total));
        }
        let limit = self.limit();
        let column = self.args.column.unwrap_or(0);
        let page = FilePage::render(file, (first, column), limit, 0, self.budget(env));
        let mut notes = Vec::new();
        notes.extend(page.part.as_ref().map(|part| part_words(first, part)));
        if page.part.as_ref().is_none_or(LinePart::is_last) && page.lines != (0..total) {
            let next = match page.lines.end < total {
                true => format!("; continue with offset {}", page.lines.end),
                false => String::new(),
            };
            notes.push(format!("lines {}-{} of {total}{next}", page.lines.start + 1, page.lines.end));
        }
        notes.extend(self.notes(file, &page, page.lines.end == total, env));
        let mut output = self.done(self.line(env, &page.lines), &page.text, &notes);
        if page.lines.end == total && !file.ends_with_newline() {
            output.recorded.push(CallFact::NoLineEnd);
        }
        self.credit(file, hash, &RangeSet::of(page.whole_lines()), &output, env);
        let bytes = page.part.and_then(|part| part.bytes).map(RangeSet::of);
        self.credit_parts(file, hash, &bytes.unwrap_or_default(), &output, env);
        Ok(output)
    }

    /// The notes about a text, in addition to its lines.
    pub(crate) fn notes(
        &self,
        file: &TextFile,
        page: &FilePage,
        at_end: bool,
        env: &ToolContext,
    ) -> Vec<String> {
        let mut notes = Vec::new();
        if page.split > 0 {
            notes.push(format!("a line longer than {} characters continues in rows numbered n.2, n.3: join them without a line break", file_page::ROW));
        }
        let detected = file.detected();
        match (detected.encoding, detected.mark) {
            (placet_text::text::TextEncoding::Utf8, 0) => {}
            (encoding, 0) => notes.push(format!("encoding: {encoding}")),
            (encoding, _) => notes.push(format!("encoding: {encoding} with a byte order mark")),
        }
        if detected.stray {
            notes.push("some bytes are not valid UTF-8: shown as U+FFFD, unchanged in the file".into());
        }
        match file.line_ends() {
            ends if ends.mixed() => notes
                .push(format!("mixed line ends: {} LF, {} CRLF; edits preserve them", ends.lf, ends.crlf)),
            LineEndCounts { crlf: 1.., .. } => {
                notes.push("CRLF line ends: write plain line breaks, edits preserve CRLF".into())
            }
            _ => {}
        }
        if at_end && !file.ends_with_newline() {
            notes.push("no line end at the end of the file".into());
        }
        notes.extend(real_path_note(env, &self.at));
        notes
    }

    fn matching(
        &self,
        file: &TextFile,
        hash: Hash,
        pattern: &RegexMatcher,
        env: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let first = self.args.offset.unwrap_or(0);
        let (limit, budget) = (self.limit(), self.budget(env));
        let total = file.line_count();
        let width = total.to_string().len();
        let (mut text, mut shown, mut found) = (String::new(), RangeSet::new(), 0);
        let (mut parts, mut cut) = (RangeSet::new(), 0);
        for (number, line) in file.lines(first).enumerate() {
            let (bytes, line) = (line.clone(), file.line_text(&line));
            if !pattern.is_match(line.as_bytes()).unwrap_or(false) {
                continue;
            }
            found += 1;
            let count = shown.len() + cut;
            if count >= limit || count > 0 && text.len() + line.len().min(LONGEST_HIT) >= budget {
                continue;
            }
            if text.len() + line.len() < budget {
                file_page::rows(&mut text, first + number + 1, &line, width);
                shown.insert(first + number..first + number + 1);
                continue;
            }
            // A line that no page has room for is shown as a search shows it.
            let hit = SearchHit::around(first + number + 1, &line, pattern);
            let _ = writeln!(text, "{}", hit.row(width));
            parts.extend(&RangeSet::of(hit.bytes_in(file, &bytes)));
            cut += 1;
        }
        let mut notes = vec![match found {
            0 => format!("no line of {} matches", total.saturating_sub(first)),
            _ => format!("{found} of {total} lines match, {} shown", shown.len() + cut),
        }];
        notes.extend(real_path_note(env, &self.at));
        let output = self.done(self.title.clone(), &text, &notes);
        self.credit(file, hash, &shown, &output, env);
        self.credit_parts(file, hash, &parts, &output, env);
        Ok(output)
    }

    /// The most lines: 2000 if the call does not say otherwise, and all lines for a scratchpad.
    fn limit(&self) -> usize {
        let usual = if self.args.scratchpad.is_some() { usize::MAX } else { LINES };
        self.args.limit.unwrap_or(usual)
    }

    /// Room for the page: the limit on results, unless the page goes to a scratchpad.
    pub(crate) fn budget(&self, env: &ToolContext) -> usize {
        match self.args.scratchpad {
            Some(_) => usize::MAX / 16,
            None => self.room(env).saturating_sub(NOTES),
        }
    }

    /// How much the model is shown at once, in bytes.
    fn room(&self, env: &ToolContext) -> usize {
        if self.is_whole { env.limits.window().min(LARGEST_PAGE) } else { env.limits.inline() }
    }

    /// Records lines as seen, if the model really sees them.
    fn credit(&self, file: &TextFile, hash: Hash, lines: &RangeSet, output: &ToolOutput, env: &ToolContext) {
        if self.shows(output, env) {
            env.ledger().record_read_ranges(&self.at.path, file.bytes(), hash, lines);
        }
    }

    fn credit_parts(
        &self,
        file: &TextFile,
        hash: Hash,
        parts: &RangeSet,
        output: &ToolOutput,
        env: &ToolContext,
    ) {
        if !parts.is_empty() && self.shows(output, env) {
            env.ledger().record_parts(&self.at.path, file, hash, parts);
        }
    }

    /// True if the model gets the whole output.
    pub(crate) fn shows(&self, output: &ToolOutput, env: &ToolContext) -> bool {
        let size: usize = output.for_model.iter().filter_map(Part::as_text).map(str::len).sum();
        self.args.scratchpad.is_none() && size <= self.room(env)
    }

    pub(crate) fn done(&self, line: String, text: &str, notes: &[String]) -> ToolOutput {
        let mut all = text.to_string();
        if !notes.is_empty() {
            let _ = writeln!(all, "[{}]", notes.join("; "));
        }
        ToolOutput::lookup(line, all)
    }

    /// The line for the screen, with the lines that were read.
    pub(crate) fn line(&self, env: &ToolContext, lines: &Range<usize>) -> String {
        format!("read {} {}-{}", env.workspace.shown(&self.at.path), lines.start + 1, lines.end)
    }

    pub(crate) fn binary(&self, kind: &str, size: u64) -> ToolError {
        ToolError::hint(
            format!("`{}` is {kind} of {size} bytes, not text", self.args.path),
            content_type::advice(kind),
        )
        .because(CallFailure::NotText)
    }

    pub(crate) fn not_text(&self, why: NotText, size: u64) -> ToolError {
        let kind = match why {
            NotText::Nul { at } => format!("binary data (a NUL byte at offset {at})"),
            NotText::Controls => "binary data".into(),
            NotText::Utf32 => "UTF-32 text".into(),
        };
        match why {
            NotText::Utf32 => ToolError::hint(
                format!("`{}` is {kind}, which is not supported ({size} bytes)", self.args.path),
                hint!["convert it with ", HintTool::RunCommand, ": `iconv -f UTF-32 -t UTF-8 FILE`"],
            ),
            _ => self.binary(&kind, size),
        }
    }
}

/// `characters 1-28000 of 60000 of line 1; continue with offset 0 and column 28000`
fn part_words(line: usize, part: &LinePart) -> String {
    let LinePart { columns, of, .. } = part;
    let shown = format!("characters {}-{} of {of} of line {}", columns.start + 1, columns.end, line + 1);
    match part.is_last() {
        true => shown,
        false => format!("{shown}; continue with offset {line} and column {}", columns.end),
    }
}

pub(crate) fn picture_error(path: &str, error: &MediaError) -> ToolError {
    let hint = match error {
        MediaError::Oversize { .. } => {
            hint!["leave out `", HintTool::ReadFile.parameter("exact"), "` to have it scaled down"]
                .or("scale it down with a command: `magick FILE -resize 50% out.png`".into())
        }
        _ => error.hint().into(),
    };
    ToolError::hint(format!("`{path}`: {error}"), hint)
}

pub(crate) fn past_end(first: usize, total: usize) -> ToolError {
    let lines = if total == 1 { "line" } else { "lines" };
    ToolError::hint(
        format!("offset {first} is past the end: the file has {total} {lines}"),
        format!("the last line is at offset {}", total.saturating_sub(1)),
    )
}
