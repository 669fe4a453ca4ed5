//! One path of an apply: its state before and after, and the temporary names that the apply uses.

use crate::Hash;
use crate::changes::change_set::ContentLayer;
use crate::files::metadata::file_stamp::FileStamp;
use crate::files::metadata::shared_state::SharedState;
use crate::history::journal::{AppliedChange, JournalEntry};
use crate::history::origin::OriginStep;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The largest content whose new form is stored too, so that a later undo can be merged with the person's own
/// work.
pub(crate) const MERGEABLE: u64 = 8 << 20;

/// From how many files on one sync of the whole file system is cheaper than one for each.
pub(crate) const SYNC_EACH: usize = 16;

/// One path that changes from exactly `before` to `after`.
#[derive(Clone, Debug)]
pub(crate) struct ApplyStep {
    /// Absolute, without links.
    pub path: Arc<Path>,
    pub before: SharedState,
    pub after: SharedState,
    pub source: ContentSource,
    /// Make it another name of this file, if that has the same content.
    pub twin: Option<Arc<Path>>,
    /// The path is another name of this file now, if nothing better is known.
    pub was_twin: Option<Arc<Path>>,
    /// When the file has several names, all of them change; otherwise this one becomes a file of its own.
    pub keep_names: bool,
    /// The mode and owner are those that a new file gets here; those of `after` are ignored.
    pub fresh: bool,
    /// `before` has the content that a tool read some time ago, and nobody has read the file since: the exchange checks
    /// it, after the new content is staged.
    pub unread: bool,
    /// The stamp of the file when `before` was read.
    pub seen: Option<FileStamp>,
    /// The calls that made the change.
    pub history: Arc<[OriginStep]>,
}

/// How the new content of a step is staged: what a step has beyond its entry in the journal.
pub(super) struct StagePlan {
    pub source: ContentSource,
    pub keep_names: bool,
    pub fresh: bool,
}

impl StagePlan {
    /// The hash of a staged content that needs no second look: the hash was made from these very bytes, which were written
    /// into a new file under a name that nobody can guess, or the copy was checked. A file of a layer is always hashed: it
    /// may have changed.
    pub(super) fn known_content(&self, change: &AppliedChange) -> Option<Hash> {
        let is_known = matches!(self.source, ContentSource::Bytes(_) | ContentSource::Stored(_));
        change.after.hash().filter(|_| is_known && change.twin.is_none())
    }
}

/// Where the new content of a file comes from.
#[derive(Clone, Debug)]
pub(crate) enum ContentSource {
    Nothing,
    /// The stored content with the hash of the step's `after`; the bytes where they have just been read and checked.
    Stored(Option<Arc<Vec<u8>>>),
    Bytes(Arc<Vec<u8>>),
    /// The file in this layer: it may be linked.
    Layer(Arc<ContentLayer>),
    /// The content of the file in this layer. Its mode, owner and attributes are other ones.
    LayerContent(Arc<ContentLayer>),
}

/// The names of staged and displaced contents while a transaction is open: no other program can guess them.
pub(super) fn temp_name(entry: &JournalEntry, index: usize, what: &str) -> std::ffi::OsString {
    match entry.names.as_str() {
        // An earlier version left it open.
        "" => format!(".placet-{}-{index}.{what}", entry.id).into(),
        names => format!(".placet-{names}-{index}.{what}").into(),
    }
}

/// The directory for a change's temporary names: the nearest directory that exists now and stays.
pub(super) fn anchor(entry: &JournalEntry, index: usize) -> Option<PathBuf> {
    let change = entry.changes.get(index)?;
    let goes = |dir: &Path| {
        let found = entry.changes.binary_search_by(|c| (*c.path).cmp(dir));
        found
            .ok()
            .and_then(|at| entry.changes.get(at))
            .is_some_and(|c| c.before.is_directory() != c.after.is_directory() || c.before.is_absent())
    };
    change.path.ancestors().skip(1).find(|dir| !goes(dir)).map(Path::to_path_buf)
}
