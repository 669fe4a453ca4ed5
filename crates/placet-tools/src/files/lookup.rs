//! A call that only reads: at one path, after one permission check, with a report in the wording of its tool set.

use super::list::{check_root, walk_root};
use crate::blocking::{consent_of, looking};
use crate::{
    CallFailure, CallPreview, DisplayDetail, Plan, ReadScope, RunContext, RunFuture, ToolContext, ToolError,
    ToolOutput,
};
use placet_permission::{Access, Permit};
use placet_text::conversation::CallFact;
use placet_workspace::{
    Hash, OpenConsent, RelativePath, ResolvedPath, SkippedEntries, TextFile, WalkDirectory, WalkEntryKind,
    WalkFilter, WorkspaceError,
};
use std::sync::Arc;

/// What kind of entry must exist at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedKind {
    File,
    Directory,
    Either,
    Anything,
}

type LookupFn = Box<dyn FnOnce(OpenConsent<'_>, &RunContext) -> Result<ToolOutput, ToolError> + Send>;

/// See the module. `look` runs once, after consent, where blocking is allowed.
pub(crate) struct LookupPlan {
    places: Vec<ResolvedPath>,
    title: String,
    what: ExpectedKind,
    look: LookupFn,
}

impl LookupPlan {
    pub(crate) fn new(
        at: ResolvedPath,
        title: String,
        what: ExpectedKind,
        look: impl FnOnce(&ResolvedPath, OpenConsent<'_>, &RunContext) -> Result<ToolOutput, ToolError>
        + Send
        + 'static,
    ) -> LookupPlan {
        let place = at.clone();
        let look: LookupFn = Box::new(move |consent, ctx| look(&place, consent, ctx));
        LookupPlan { places: vec![at], title, what, look }
    }

    /// For several paths, each of which may be anything or missing: `look` itself reports what is wrong with a path.
    pub(crate) fn many(
        places: Vec<ResolvedPath>,
        title: String,
        look: impl FnOnce(OpenConsent<'_>, &RunContext) -> Result<ToolOutput, ToolError> + Send + 'static,
    ) -> LookupPlan {
        LookupPlan { places, title, what: ExpectedKind::Anything, look: Box::new(look) }
    }
}

impl Plan for LookupPlan {
    fn reach(&self) -> Vec<Access> {
        self.places.iter().map(ResolvedPath::read).collect()
    }

    fn title(&self) -> String {
        self.title.clone()
    }

    fn prepare(&mut self, env: &ToolContext, sight: ReadScope) -> Result<CallPreview, ToolError> {
        for at in &self.places {
            self.check(env, at, sight)?;
        }
        Ok(CallPreview { line: self.title.clone(), detail: DisplayDetail::None })
    }

    fn run(self: Box<Self>, permit: Permit, ctx: RunContext) -> RunFuture {
        let LookupPlan { title, look, .. } = *self;
        looking(title, ctx, move |ctx| look(OpenConsent::Permit(&permit), ctx))
    }
}

impl LookupPlan {
    fn check(&self, env: &ToolContext, at: &ResolvedPath, sight: ReadScope) -> Result<(), ToolError> {
        let file = || match env.workspace.open(at, consent_of(sight)) {
            // Consent to read outside is still to come.
            Err(WorkspaceError::Outside(_)) if sight == ReadScope::InsideOnly => Ok(()),
            opened => opened.map(|_| ()).map_err(|e| env.path_error(&e)),
        };
        match self.what {
            ExpectedKind::File => file(),
            ExpectedKind::Directory => check_root(env, at, sight),
            ExpectedKind::Either if env.workspace.is_dir(&at.path) => check_root(env, at, sight),
            ExpectedKind::Either => file(),
            ExpectedKind::Anything => Ok(()),
        }
    }
}

/// A whole text file, at most as large as a file that may be read at once.
pub(crate) fn load_text(
    env: &ToolContext,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
) -> Result<(TextFile, Hash), ToolError> {
    let (bytes, hash) =
        env.workspace.load(at, consent, env.limits.read_bytes).map_err(|e| env.path_error(&e))?;
    let size = bytes.len();
    if let Some(kind) = super::content_type::named(bytes.get(..size.min(8192)).unwrap_or_default()) {
        return Err(not_text(at, kind, size));
    }
    let file = TextFile::new(bytes).map_err(|_| not_text(at, "binary data", size))?;
    Ok((file, hash))
}

fn not_text(at: &ResolvedPath, kind: &str, size: usize) -> ToolError {
    ToolError::hint(
        format!("`{}` is {kind} of {size} bytes, not text", at.written),
        super::content_type::advice(kind),
    )
    .because(CallFailure::NotText)
}

/// One entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListingEntry {
    /// The path from the listed directory.
    pub(crate) relative: RelativePath,
    pub(crate) kind: WalkEntryKind,
    /// Absent if the entry could not be read.
    pub(crate) stat: Option<ListingStat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListingStat {
    pub(crate) size: u64,
    /// Seconds and nanoseconds since 1970.
    pub(crate) modified: (i64, i64),
}

impl ListingStat {
    /// `2026-03-09T10:30:00Z`; with milliseconds if there are any.
    pub(crate) fn time(&self) -> Option<String> {
        let (seconds, nanos) = self.modified;
        let stamp = jiff::Timestamp::new(seconds, i32::try_from(nanos).ok()?).ok()?;
        Some(stamp.round(jiff::Unit::Millisecond).unwrap_or(stamp).to_string())
    }
}

/// The entries of a directory and `depth - 1` levels below, each level sorted by name, and what was skipped. At most
/// `most` entries: one more entry shows that there are more.
pub(crate) fn rows(
    env: &ToolContext,
    at: &ResolvedPath,
    consent: OpenConsent<'_>,
    (show, depth, most): (WalkFilter, usize, usize),
) -> Result<(Vec<ListingEntry>, SkippedEntries), ToolError> {
    let root = walk_root(env, at, consent)?;
    let (mut rows, mut skipped) = (Vec::new(), SkippedEntries::default());
    level(env, root, (show, depth, most), &mut rows, &mut skipped)
        .map_err(|e| env.path_error(&WorkspaceError::from_io(&at.path, e)))?;
    Ok((rows, skipped))
}

fn level(
    env: &ToolContext,
    dir: WalkDirectory,
    (show, depth, most): (WalkFilter, usize, usize),
    out: &mut Vec<ListingEntry>,
    skipped: &mut SkippedEntries,
) -> std::io::Result<()> {
    let (dir, mut entries, left_out) = dir.list(&env.workspace, show)?;
    *skipped += left_out;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in entries {
        if out.len() > most {
            return Ok(());
        }
        let stat = entry.stat().ok().map(|s| ListingStat {
            size: u64::try_from(s.st_size).unwrap_or(0),
            modified: (s.st_mtime, i64::try_from(s.st_mtime_nsec).unwrap_or(0)),
        });
        out.push(ListingEntry { relative: entry.relative(), kind: entry.kind, stat });
        if entry.kind == WalkEntryKind::Directory && depth > 1 {
            let below =
                dir.child(&entry.name).and_then(|d| level(env, d, (show, depth - 1, most), out, skipped));
            if let Err(e) = below {
                *skipped += SkippedEntries::of(&e);
            }
        }
    }
    Ok(())
}

/// `output` with a note for the model if a search or a listing is incomplete: for tool sets whose result format has no
/// field for this.
#[must_use]
pub(crate) fn with_gaps(output: ToolOutput, skipped: &SkippedEntries) -> ToolOutput {
    with_missing(output, None, skipped)
}

/// The same where a part of what was found is missing too.
#[must_use]
pub(crate) fn with_missing(
    mut output: ToolOutput,
    cut: Option<String>,
    skipped: &SkippedEntries,
) -> ToolOutput {
    let all: Vec<String> = cut.into_iter().chain(super::list::gaps(skipped)).collect();
    if !all.is_empty() {
        output.recorded.push(CallFact::Incomplete { missing: all.join("; ") });
    }
    output
}

/// Records the whole file as read.
pub(crate) fn credit_all(env: &ToolContext, at: &ResolvedPath, file: &TextFile, hash: Hash) {
    let bytes: &Arc<Vec<u8>> = file.bytes();
    env.ledger().record_read(&at.path, bytes, hash, 0..file.line_count());
}

/// The prefix of paths below `at` as they are shown: empty for the working directory.
pub(crate) fn prefix(env: &ToolContext, at: &ResolvedPath) -> String {
    match env.workspace.shown(&at.path) {
        here if here == "." => String::new(),
        path => format!("{}/", path.trim_end_matches('/')),
    }
}
