//! A view with a background command, for tests.

use crate::ExpectedContent;
use crate::view::command::collect::CommandEffects;
use crate::view::command::command_view::CommandView;
use crate::view::layers::layer::{Layer, mark_opaque_at, open_dir};
use crate::view::*;
use placet_permission::WritePolicy;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

pub(in crate::view) struct BackgroundFixture {
    _dir: tempfile::TempDir,
    pub(in crate::view) root: PathBuf,
    pub(in crate::view) view: View,
}

pub(in crate::view) fn bench(files: &[(&str, &str)]) -> BackgroundFixture {
    let dir = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(dir.path()).unwrap();
    let root = base.join("w");
    fs::create_dir(&root).unwrap();
    for (name, text) in files {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    let places = ViewPaths {
        view: base.join("state/view"),
        layers: Vec::new(),
        objects: base.join("state/objects"),
        journal: base.join("state/journal"),
        scratch: base.join("scratch"),
    };
    let view = View::at(places, std::slice::from_ref(&root));
    BackgroundFixture { _dir: dir, root, view }
}

impl BackgroundFixture {
    pub(in crate::view) fn begin(&self) -> CommandView {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(self.view.begin_background(LayerKind::Pending, None)).unwrap()
    }

    /// What the command wrote: the layer gets what the overlay would have put there.
    pub(in crate::view) fn wrote(&self, command: &CommandView, name: &str, text: &str) {
        let path = command.mounts[0].upper.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(in crate::view) fn deleted(&self, command: &CommandView, name: &str) {
        let path = command.mounts[0].upper.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let dir = open_dir(path.parent().unwrap()).unwrap();
        Layer::whiteout(&dir, path.file_name().unwrap()).unwrap();
    }

    /// What a file tool writes meanwhile.
    pub(in crate::view) fn hold(&self, name: &str, text: &str) {
        let path = self.root.join(name);
        let before = match self.seen(name) {
            None => ExpectedContent::Absent,
            Some(now) => ExpectedContent::Content(blake3::hash(now.as_bytes())),
        };
        self.view.write(&path, text.as_bytes(), before, WritePolicy::Hold).unwrap();
    }

    /// What a command in the foreground deletes meanwhile.
    pub(in crate::view) fn remove(&self, name: &str) {
        if self.view.stack(0, 0).stat(Path::new(name)).unwrap().is_none() {
            return;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let command = runtime.block_on(self.view.begin(LayerKind::Pending, None)).unwrap();
        self.deleted(&command, name);
        self.view.finish(command, &|_| false).unwrap();
    }

    pub(in crate::view) fn apply(&self) {
        let applied = self.try_to_apply();
        assert!(matches!(applied, ApplyOutcome::Landed(_)), "{applied:?}");
    }

    pub(in crate::view) fn try_to_apply(&self) -> ApplyOutcome {
        let set = self.view.changes(LayerKind::Pending).unwrap();
        let label = TransactionLabel { turn: "t".into(), ..TransactionLabel::default() };
        self.view.apply(&View::everything(&set), label).unwrap()
    }

    /// Reverts the newest of what was applied.
    pub(in crate::view) fn undo(&self) {
        let entries = self.view.journal().to_undo();
        let newest = entries.last().into_iter().cloned().collect::<Vec<_>>();
        let plan = self.view.plan_undo(&newest, None, TransactionLabel::default()).unwrap();
        self.view.execute_plan(plan).unwrap();
    }

    pub(in crate::view) fn discard(&self) {
        let set = self.view.changes(LayerKind::Pending).unwrap();
        self.view.discard(&View::everything(&set)).unwrap();
    }

    pub(in crate::view) fn end(&self, command: CommandView) -> CommandEffects {
        self.end_as(command, "job-1")
    }

    pub(in crate::view) fn end_as(&self, command: CommandView, suffix: &str) -> CommandEffects {
        self.view.finish_background(command, suffix, &|_| false).unwrap()
    }

    /// All files of the view with their contents.
    pub(in crate::view) fn files(&self) -> BTreeMap<String, String> {
        let names = self.entries().into_iter();
        names.filter_map(|name| Some((name.clone(), self.seen(&name)?))).collect()
    }

    /// Everything in the view.
    pub(in crate::view) fn entries(&self) -> BTreeSet<String> {
        let (mut found, mut dirs) = (BTreeSet::new(), vec![PathBuf::new()]);
        while let Some(dir) = dirs.pop() {
            for name in self.view.stack(0, 0).children(&dir).unwrap() {
                let rel = dir.join(name);
                found.insert(rel.to_str().unwrap().to_string());
                dirs.push(rel);
            }
        }
        found
    }

    /// A file as the view has it.
    pub(in crate::view) fn seen(&self, name: &str) -> Option<String> {
        let real = self.view.real(&self.root.join(name)).unwrap()?;
        fs::read_to_string(real).ok()
    }

    pub(in crate::view) fn names(&self, paths: &[PathBuf]) -> Vec<String> {
        let name = |path: &PathBuf| path.strip_prefix(&self.root).unwrap().display().to_string();
        let mut names: Vec<String> = paths.iter().map(name).collect();
        names.sort();
        names
    }
}

/// What programs of a command do in its view: its layer gets what the overlay would put there.
pub(in crate::view) struct JobFiles {
    upper: PathBuf,
    /// What is in the layers below.
    below: BTreeSet<String>,
}

impl JobFiles {
    pub(in crate::view) fn of(bench: &BackgroundFixture, command: &CommandView) -> JobFiles {
        JobFiles { upper: command.mounts[0].upper.clone(), below: bench.entries() }
    }

    fn is_below(&self, name: &str) -> bool {
        let above = Path::new(name).ancestors().skip(1).filter(|dir| !dir.as_os_str().is_empty());
        let hides = |dir: &Path| match fs::symlink_metadata(self.upper.join(dir)) {
            Ok(meta) if meta.is_dir() => is_opaque(open_dir(&self.upper.join(dir)).unwrap()).unwrap(),
            Ok(_) => true,
            Err(_) => false,
        };
        self.below.contains(name) && !above.into_iter().any(hides)
    }

    pub(in crate::view) fn has_dir(&self, name: &str) -> bool {
        match fs::symlink_metadata(self.upper.join(name)) {
            Ok(meta) => meta.is_dir(),
            Err(_) => self.is_below(name),
        }
    }

    fn make_dir(&self, name: &Path) {
        let path = self.upper.join(name);
        let (Some(above), Some(last)) = (path.parent(), path.file_name()) else { return };
        if name.as_os_str().is_empty() || path.is_dir() {
            return;
        }
        self.make_dir(name.parent().unwrap());
        let is_new = fs::remove_file(&path).is_ok() || !self.is_below(name.to_str().unwrap());
        fs::create_dir(&path).unwrap();
        if is_new {
            mark_opaque_at(&open_dir(above).unwrap(), last).unwrap();
        }
    }

    pub(in crate::view) fn write(&self, name: &str, text: &str) {
        let path = self.upper.join(name);
        self.make_dir(Path::new(name).parent().unwrap());
        let _ = fs::remove_file(&path);
        fs::write(path, text).unwrap();
    }

    /// A file, or a directory with everything in it.
    pub(in crate::view) fn remove(&self, name: &str) {
        let path = self.upper.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else {
            let _ = fs::remove_file(&path);
        }
        if self.is_below(name) {
            self.make_dir(Path::new(name).parent().unwrap());
            Layer::whiteout(&open_dir(path.parent().unwrap()).unwrap(), path.file_name().unwrap()).unwrap();
        }
    }
}
