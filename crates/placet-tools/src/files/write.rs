//! write_file: a whole file.
//!
//! A write over a file needs more than an edit: every line that is lost must have been shown. A file retains its
//! encoding, its byte order mark and its usual line end.

use super::edit::UnreadPolicy;
use super::edit_errors::{
    bad_text, changed, changed_lead, never_read, refuse_marks, since_read, unshown, would_lose,
};
use crate::DiffText;
use crate::arguments::ToolSchema;
use crate::blocking::{blocking, consent_of, real_path_note};
use crate::{
    CallFailure, CallPreview, CallSummary, DisplayDetail, EditedFile, HintTool, OutputFacts, Plan, ReadScope,
    RunContext, RunFuture, Tool, ToolContext, ToolError, ToolOutput, TouchedPaths, hint,
};
use placet_permission::{Access, AccessLocation, Permit};
use placet_text::conversation::ToolSpec;
use placet_text::text::{DetectedEncoding, LineDiff, LineEnd, count};
use placet_workspace::{
    EditError, ExpectedContent, Hash, KnownLines, LineEdit, OpenConsent, ReadStatus, ResolvedPath, TextFile,
    WRITTEN_IN_PLACE, WorkspaceError,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

const LARGEST: u64 = 1 << 30;
const DIFF: usize = 1 << 20;
/// The byte order mark as a character.
const MARK: char = '\u{FEFF}';

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WriteFileMode {
    #[default]
    Overwrite,
    Append,
    Create,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Args {
    path: String,
    #[schemars(extend("contentMediaType" = "text/plain"))]
    content: String,
    /// create refuses an existing file.
    mode: Option<WriteFileMode>,
    force: Option<bool>,
    #[serde(rename = "scratchpad")]
    _scratchpad: Option<String>,
}

pub(crate) struct WriteFile(ToolSchema);

impl Default for WriteFile {
    fn default() -> WriteFile {
        WriteFile(ToolSchema::of::<Args>("write_file", include_str!("../../prompts/tools/write_file.md")))
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn touches(&self, input: &Value) -> TouchedPaths {
        TouchedPaths::writing(input, "path")
    }

    fn plan(&self, input: &Value, env: &ToolContext) -> Result<Box<dyn Plan>, ToolError> {
        let args: Args = self.0.parse(input)?;
        let unread = if args.force == Some(true) { UnreadPolicy::Allow } else { UnreadPolicy::Refuse };
        let mode = args.mode.unwrap_or_default();
        Ok(Box::new(WritePlan::of_text(args.path, args.content, mode, unread, env)?))
    }
}

impl WritePlan {
    /// Writes a text into a file, for any tool set.
    pub(crate) fn of_text(
        path: String,
        text: String,
        mode: WriteFileMode,
        unread: UnreadPolicy,
        env: &ToolContext,
    ) -> Result<WritePlan, ToolError> {
        let at = env.resolve(&path)?;
        WritePlan::at((at, path), text, mode, unread, env)
    }

    /// Writes a text into the file at a resolved path; messages use the path of the call.
    pub(crate) fn at(
        (at, path): (ResolvedPath, String),
        text: String,
        mode: WriteFileMode,
        unread: UnreadPolicy,
        env: &ToolContext,
    ) -> Result<WritePlan, ToolError> {
        if path.ends_with('/') {
            return Err(ToolError::hint(
                format!("`{path}` names a directory"),
                "name a file; missing directories are created",
            )
            .because(CallFailure::Directory));
        }
        if mode == WriteFileMode::Create && at.exists {
            return Err(exists(&path));
        }
        let (content, form) = (WriteContent::Text(text), WriteEncoding::OfTheFile);
        let write = WriteRequest { at, path, content, mode, unread, only_empty: false, form };
        Ok(WritePlan::new(write, env))
    }

    /// The same for a tool whose document says that the file has the given content.
    #[must_use]
    pub(crate) fn exact(mut self) -> WritePlan {
        self.writing.form = WriteEncoding::Exact;
        self
    }

    /// The same for a tool that makes new files: it fills an empty file, and refuses a file with content.
    #[must_use]
    pub(crate) fn only_over_nothing(mut self) -> WritePlan {
        self.writing.only_empty = true;
        self
    }
}

/// What is written: text, or bytes that are no text.
#[derive(Clone, Debug)]
pub(crate) enum WriteContent {
    Text(String),
    Bytes(Arc<[u8]>),
}

/// How a text becomes the content of a file that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteEncoding {
    /// Byte for byte, as UTF-8.
    Exact,
    /// In the file's own encoding, with its byte order mark and line ends.
    OfTheFile,
}

struct WriteRequest {
    at: ResolvedPath,
    path: String,
    content: WriteContent,
    mode: WriteFileMode,
    unread: UnreadPolicy,
    /// A file with content is refused.
    only_empty: bool,
    form: WriteEncoding,
}

pub(crate) struct WritePlan {
    writing: WriteRequest,
    title: String,
    work: Option<PreparedWrite>,
}

struct PreparedWrite {
    before: ExpectedContent,
    old: Option<Arc<Vec<u8>>>,
    after: Arc<Vec<u8>>,
    /// A unified diff, where both sides are text; its lines added and removed.
    diff: DiffText,
    counts: (usize, usize),
    edits: Option<Vec<LineEdit>>,
    /// What the model knew of the old content.
    known: KnownLines,
    /// What others changed since the file was read.
    others: Option<String>,
}

impl WritePlan {
    fn new(writing: WriteRequest, env: &ToolContext) -> WritePlan {
        let verb = if writing.mode == WriteFileMode::Append { "append" } else { "write" };
        let title = format!("{verb} {}", env.workspace.shown(&writing.at.path));
        WritePlan { writing, title, work: None }
    }

    /// Writes a scratchpad's entry into a file, by the same rules.
    pub(crate) fn saving(
        at: ResolvedPath,
        path: String,
        content: WriteContent,
        unread: UnreadPolicy,
        env: &ToolContext,
    ) -> WritePlan {
        let (mode, form) = (WriteFileMode::Overwrite, WriteEncoding::OfTheFile);
        let writing = WriteRequest { at, path, content, mode, unread, only_empty: false, form };
        WritePlan::new(writing, env)
    }
}

impl Plan for WritePlan {
    fn reach(&self) -> Vec<Access> {
        vec![self.writing.at.write()]
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        if self.writing.at.place == AccessLocation::Outside && sight == ReadScope::InsideOnly {
            let detail = match &self.writing.content {
                WriteContent::Text(text) => {
                    DisplayDetail::Diff(LineDiff::new("", text).unified(3, DIFF).into())
                }
                WriteContent::Bytes(bytes) => DisplayDetail::Text(data_words(bytes)),
            };
            return Ok(CallPreview { line: self.title.clone(), detail });
        }
        let work = self.writing.work_out(env, consent_of(sight))?;
        let preview = CallPreview { line: self.line(&work), detail: detail(&work) };
        self.work = Some(work);
        Ok(preview)
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        blocking(self.title.clone(), move || self.apply(&permit, &ctx.env))
    }
}

fn exists(path: &str) -> ToolError {
    let mode = HintTool::WriteFile.parameter("mode");
    let hint = hint!["read it, then use ", HintTool::EditFile, " or ", mode, " \"overwrite\""];
    ToolError::hint(
        format!("`{path}` already exists"),
        hint.or(hint!["read it, then use ", HintTool::EditFile]),
    )
    .because(CallFailure::Exists)
}

/// Data that cannot be shown: its description distinguishes it from all other data.
fn data_words(bytes: &[u8]) -> String {
    format!("{} bytes of data, blake3 {}", bytes.len(), blake3::hash(bytes).to_hex())
}

fn detail(work: &PreparedWrite) -> DisplayDetail {
    match work.diff.text.is_empty() {
        true => DisplayDetail::Text(data_words(&work.after)),
        false => DisplayDetail::Diff(work.diff.clone()),
    }
}

impl WritePlan {
    fn line(&self, work: &PreparedWrite) -> String {
        format!("{} +{} -{}", self.title, work.counts.0, work.counts.1)
    }

    fn apply(mut self, permit: &Permit, env: &ToolContext) -> Result<ToolOutput, ToolError> {
        let work = match self.work.take() {
            Some(work) => work,
            None => self.writing.work_out(env, OpenConsent::Permit(permit))?,
        };
        let at = &self.writing.at;
        let written = env.workspace.write(at, permit, &work.after, work.before);
        let written = written.map_err(|e| env.path_error(&e))?;
        self.writing.record(env, &work, written.hash);
        let path = env.workspace.shown(&at.path);
        let lines = work.counts;
        let mut text = match work.before {
            ExpectedContent::Absent | ExpectedContent::EmptiedDirectory => {
                let (bytes, added) = (count::of(work.after.len(), "byte"), count::of(lines.0, "line"));
                format!("created {path}: {bytes}, +{added}")
            }
            ExpectedContent::Content(_) => {
                let bytes = count::of(work.after.len(), "byte");
                format!("wrote {path}: {bytes}, +{} -{} lines", lines.0, lines.1)
            }
        };
        if written.in_place {
            text.push_str(&format!(" ({WRITTEN_IN_PLACE})"));
        }
        if let Some(note) = real_path_note(env, at) {
            text.push_str(&format!(" ({note})"));
        }
        if let Some(diff) = &work.others {
            text.push_str(&format!("\n{}{diff}", changed_lead("the file")));
        }
        let (line, detail) = (self.line(&work), detail(&work));
        let summary = match written.held {
            true => CallSummary::pending(&line, detail),
            false => CallSummary::new(line, detail),
        };
        let after = Some(work.after.clone());
        let changes = vec![EditedFile { path: at.path.clone(), before: work.old.clone(), after }];
        let facts = OutputFacts::Changed { changes, places: 1, notes: Vec::new() };
        Ok(ToolOutput::done(text, summary).with(facts))
    }
}

impl WriteRequest {
    fn work_out(&self, env: &ToolContext, consent: OpenConsent<'_>) -> Result<PreparedWrite, ToolError> {
        let loaded = env.workspace.load(&self.at, consent, LARGEST);
        if let WriteContent::Text(text) = &self.content {
            let before = loaded.as_ref().map_or(&[] as &[u8], |(bytes, _)| bytes.as_slice());
            refuse_marks(before, text.as_bytes())?;
        }
        match loaded {
            Err(WorkspaceError::Missing(_)) => self.fresh(),
            Err(e) => Err(env.path_error(&e)),
            Ok((bytes, hash)) => self.over(env, bytes, hash),
        }
    }

    fn fresh(&self) -> Result<PreparedWrite, ToolError> {
        let (after, diff) = match &self.content {
            WriteContent::Text(text) => (text.clone().into_bytes(), Some(LineDiff::new("", text))),
            WriteContent::Bytes(bytes) => (bytes.to_vec(), None),
        };
        let counts = diff.as_ref().map_or((0, 0), LineDiff::counts);
        let diff = diff.map_or_else(DiffText::default, |d| d.unified(3, DIFF).into());
        Ok(PreparedWrite {
            before: ExpectedContent::Absent,
            old: None,
            after: Arc::new(after),
            diff,
            counts,
            edits: None,
            known: KnownLines::default(),
            others: None,
        })
    }

    fn over(&self, env: &ToolContext, bytes: Arc<Vec<u8>>, hash: Hash) -> Result<PreparedWrite, ToolError> {
        if self.only_empty && !bytes.is_empty() {
            return Err(exists(&self.path));
        }
        let file = TextFile::new(bytes.clone()).ok();
        let others = self.allowed(env, file.as_ref(), &bytes, hash)?;
        // Binary data that is replaced by force is not text and cannot be compared.
        let old = file.unwrap_or_else(TextFile::empty);
        let index = old.index();
        let known = env.ledger().known_now(&self.at.path, &bytes, hash, |l| old.part(index.bytes_of(l)));
        let (after, edits) = match (&self.content, self.mode) {
            (WriteContent::Bytes(new), _) => (new.to_vec(), None),
            (WriteContent::Text(text), WriteFileMode::Append) => {
                let after = appended(&bytes, &old, text)?;
                let edits = added_lines(&old, &after);
                (after, Some(edits))
            }
            (WriteContent::Text(text), _) => {
                (encode_like(text, &old, self.form).map_err(|e| bad_text(&e))?, None)
            }
        };
        let after = Arc::new(after);
        let new = TextFile::new(after.clone()).ok();
        let (diff, counts) = match (&self.content, &new) {
            (WriteContent::Text(_), Some(new)) if after.len() < 64 << 20 => {
                let (before, after) = (old.text(), new.text());
                let diff = LineDiff::new(&before, &after);
                (diff.unified(3, DIFF).into(), diff.counts())
            }
            _ => (DiffText::default(), (0, 0)),
        };
        Ok(PreparedWrite {
            before: ExpectedContent::Content(hash),
            old: Some(bytes),
            after,
            diff,
            counts,
            edits,
            known,
            others,
        })
    }

    /// Checks whether the present content may be lost (or, for append, be extended). `Some` reports what others
    /// changed.
    fn allowed(
        &self,
        env: &ToolContext,
        file: Option<&TextFile>,
        bytes: &[u8],
        hash: Hash,
    ) -> Result<Option<String>, ToolError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let Some(file) = file else {
            // Binary data was never seen as lines: only force replaces it.
            return if self.unread == UnreadPolicy::Allow { Ok(None) } else { Err(self.not_text()) };
        };
        let index = file.index();
        let all = 0..index.len();
        let target = if self.mode == WriteFileMode::Append { Vec::new() } else { vec![all] };
        let standing =
            env.ledger().read_status(&self.at.path, bytes, hash, &target, |l| file.part(index.bytes_of(l)));
        match standing {
            ReadStatus::Seen => Ok(None),
            ReadStatus::Never | ReadStatus::Part { .. } if self.unread == UnreadPolicy::Allow => Ok(None),
            ReadStatus::Unshown(lines) => Err(unshown(env, &self.at, &self.path, (file, hash), &lines)),
            ReadStatus::Never => Err(never_read(&self.path)),
            ReadStatus::Part { seen, missing } => Err(would_lose(&self.path, &seen, missing.start)),
            ReadStatus::Changed(change) if self.mode == WriteFileMode::Append && change.old.is_some() => {
                Ok(Some(since_read(&change, file).0))
            }
            ReadStatus::Changed(change) => Err(changed(env, &self.at, &self.path, file, hash, &change)),
        }
    }

    fn not_text(&self) -> ToolError {
        ToolError::hint(
            format!("`{}` contains data, not text", self.path),
            hint!["set ", HintTool::WriteFile.parameter("force"), " to replace it anyway"],
        )
    }

    /// Records what was written as seen: the whole content, or the appended part.
    fn record(&self, env: &ToolContext, work: &PreparedWrite, hash: Hash) {
        let mut ledger = env.ledger();
        match (&work.edits, TextFile::new(work.after.clone())) {
            (Some(edits), _) => {
                ledger.wrote(&self.at.path, (&work.after, hash), edits, &work.known);
            }
            (_, Ok(file)) if matches!(self.content, WriteContent::Text(_)) => {
                ledger.record_read(&self.at.path, &work.after, hash, 0..file.line_count());
            }
            _ => ledger.forget(&self.at.path),
        }
    }
}

/// `text` as the content of the file that it replaces.
pub(crate) fn encode_like(text: &str, old: &TextFile, form: WriteEncoding) -> Result<Vec<u8>, EditError> {
    old.refuse_placeholders(text)?;
    if form == WriteEncoding::Exact {
        return Ok(text.as_bytes().to_vec());
    }
    let DetectedEncoding { encoding, mark, .. } = old.detected();
    let text = match old.line_ends().dominant() {
        Some(LineEnd::CrLf) if !text.contains("\r\n") => with_crlf(text),
        _ => text.to_string(),
    };
    // The mark of the file is not a part of its text, unless there are two.
    let has_two = || old.text().starts_with(MARK);
    let text = if mark > 0 && !has_two() { text.strip_prefix(MARK).unwrap_or(&text) } else { &text };
    let mut bytes = old.part(0..mark).to_vec();
    bytes.extend_from_slice(&encoding.encode(text).map_err(EditError::Unencodable)?);
    Ok(bytes)
}

/// The content with `text` appended, in the encoding of the file.
pub(crate) fn appended(bytes: &[u8], old: &TextFile, text: &str) -> Result<Vec<u8>, ToolError> {
    let text = match old.line_ends().dominant() {
        Some(LineEnd::CrLf) => with_crlf(text),
        _ => text.to_string(),
    };
    old.refuse_guess(&text).map_err(|e| bad_text(&e))?;
    let put = old.encoding().encode(&text).map_err(|e| bad_text(&EditError::Unencodable(e)))?;
    let mut after = bytes.to_vec();
    after.extend_from_slice(&put);
    Ok(after)
}

fn added_lines(old: &TextFile, after: &[u8]) -> Vec<LineEdit> {
    let index = old.index();
    let from = if old.ends_with_newline() { index.len() } else { index.len().saturating_sub(1) };
    let new_len = TextFile::new(Arc::new(after.to_vec())).map_or(0, |f| f.line_count().saturating_sub(from));
    vec![LineEdit { old: from..index.len(), new_len }]
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}
