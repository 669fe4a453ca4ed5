//! Reading what is pending: each record of a layer set, compared with what the layers have now.
//!
//! A change set may have hundreds of thousands of paths. Records come in the order of their paths, a few at a time, and
//! those of one directory are looked up in that directory, which is opened once.

use crate::changes::change_set::{ChangeSet, ContentLayer, FileChange};
use crate::files::metadata::shared_state::SharedState;
use crate::history::origin::{OriginMark, OriginStep};
use crate::view::layers::base::BaseRecord;
use crate::view::layers::open_stack::{NameLocation, OpenStackDir};
use crate::view::layers::stack::ContentLocation;
use crate::view::{LayerKind, LayerSet, View};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Records that are read under one lock.
const AT_ONCE: usize = 1024;

impl View {
    /// The changes of a layer set, compared with the layers below it.
    pub fn changes(&self, shelf: LayerKind) -> io::Result<ChangeSet> {
        self.prepare_reading(shelf)?;
        let mut changes = Vec::with_capacity(self.layer_set(shelf).bases().len());
        let progress = self.apply_progress();
        progress.begin_reading();
        self.each_change(shelf, |change| {
            progress.read(&change.before, &change.after);
            changes.push(change);
            true
        })?;
        Ok(self.with_repositories(shelf, ChangeSet::new(changes)))
    }

    /// True when [`View::changes`] would give a set that is not empty. Reads no more than the first change.
    pub fn has_changes(&self, shelf: LayerKind) -> io::Result<bool> {
        if shelf == LayerKind::Pending && self.known_count().is_some() {
            return Ok(true);
        }
        self.prepare_reading(shelf)?;
        Ok(!self.each_change(shelf, |_| false)?)
    }

    /// True when [`View::changes`] would give `set` now. Does not build a second set.
    pub fn is_unchanged(&self, shelf: LayerKind, set: &ChangeSet) -> io::Result<bool> {
        self.prepare_reading(shelf)?;
        let mut rest = set.changes.iter();
        let all_known = self.each_change(shelf, |now| {
            rest.next().is_some_and(|then| FileChange { moved_from: then.moved_from.clone(), ..now } == *then)
        })?;
        // Where a file was moved from follows from the changes.
        Ok(all_known && rest.next().is_none() && self.repositories_in(shelf, &set.changes).is_in(set))
    }

    fn prepare_reading(&self, shelf: LayerKind) -> io::Result<()> {
        if shelf == LayerKind::Pending {
            if let Some(damage) = self.record_damage() {
                return Err(damage.into());
            }
            self.recover_interrupted_apply()?;
        }
        Ok(())
    }

    /// Gives each change to `take`, in the order of their paths, until it returns false. True when all were taken.
    fn each_change(&self, shelf: LayerKind, mut take: impl FnMut(FileChange) -> bool) -> io::Result<bool> {
        let held = self.layer_set(shelf);
        let mut reader = ChangeReader {
            view: self,
            held,
            dir: None,
            marks: Vec::new(),
            steps: Arc::default(),
            last: SharedState::default(),
        };
        let mut last: Option<Arc<Path>> = None;
        loop {
            let records = held.bases().next(last.as_deref(), AT_ONCE);
            let Some(record) = records.last() else { return Ok(true) };
            last = Some(Arc::clone(&record.path));
            for record in records {
                if let Some(change) = reader.change(record)?
                    && !take(change)
                {
                    return Ok(false);
                }
            }
        }
    }
}

struct ChangeReader<'a> {
    view: &'a View,
    held: &'a LayerSet,
    dir: Option<ReadDir>,
    /// The steps of these marks: one command leaves the same marks on all that it changed.
    marks: Vec<OriginMark>,
    steps: Arc<[OriginStep]>,
    /// What the last change leaves.
    last: SharedState,
}

/// The directory of the last record.
struct ReadDir {
    index: usize,
    rel: PathBuf,
    names: OpenStackDir,
    /// The layers of its stack.
    layers: Vec<Arc<ContentLayer>>,
}

impl ChangeReader<'_> {
    fn change(&mut self, base: BaseRecord) -> io::Result<Option<FileChange>> {
        let (index, rel) = self.view.locate_recorded(&base.path)?;
        let (content, after) = match (rel.parent(), rel.file_name()) {
            (Some(parent), Some(name)) => {
                let dir = self.dir(index, parent)?;
                let location = dir.names.locate(name)?;
                let layer = match &location {
                    // The layers have nothing here: what others changed in the workspace is not pending.
                    NameLocation::Plain => return Ok(None),
                    NameLocation::Gone => None,
                    NameLocation::Layer(number, _) => dir.layers.get(*number).map(Arc::clone),
                };
                (layer, dir.names.node_at(&location, name)?)
            }
            _ => {
                let stack = self.view.stack(index, self.held.depth);
                if stack.backing(&rel)? == ContentLocation::Plain {
                    return Ok(None);
                }
                (None, stack.node(&rel)?)
            }
        };
        if after == base.node {
            return Ok(None);
        }
        let steps = self.steps(&base);
        self.last = SharedState::like(&self.last, after);
        let BaseRecord { path, node, raced, twin, by_tool, .. } = base;
        let content = content.filter(|_| self.last.is_file());
        Ok(Some(FileChange {
            path,
            before: node,
            after: self.last.clone(),
            content,
            moved_from: None,
            twin,
            raced,
            by_tool,
            steps,
        }))
    }

    fn dir(&mut self, index: usize, rel: &Path) -> io::Result<&ReadDir> {
        let is_known = |dir: &ReadDir| dir.index == index && dir.rel == rel;
        let known = self.dir.take().filter(is_known);
        let dir = match known {
            Some(known) => known,
            None => {
                let stack = self.view.stack(index, self.held.depth);
                let root = self.view.root(index).to_path_buf();
                let layer = |layer: &&crate::view::Layer| {
                    Arc::new(ContentLayer { dir: layer.dir().to_path_buf(), root: root.clone() })
                };
                let layers = stack.layers.iter().map(layer).collect();
                ReadDir { index, rel: rel.to_path_buf(), names: stack.open_dir(rel)?, layers }
            }
        };
        Ok(self.dir.insert(dir))
    }

    fn steps(&mut self, base: &BaseRecord) -> Arc<[OriginStep]> {
        if self.marks != base.marks {
            self.steps = self.held.bases().steps(base);
            self.marks.clone_from(&base.marks);
        }
        Arc::clone(&self.steps)
    }
}
