//! Which build output of earlier runs a check starts from.
//!
//! Output may depend on every change that its run saw, also on a change that was discarded since: a change can write a cache
//! that decides later runs, and no difference shows that. So the output of changes that nobody accepted is a layer of its
//! own. The next run uses it only while each of these changes is part of what is checked or in the workspace. When all of
//! them are in the workspace, the layer is merged into the one below it, which has only output of accepted files.

use crate::files::metadata::path_state::{PathState, WritableDirGuard, dir_anyway, open_anyway};
use crate::view::layers::layer::{self, Layer, entry, is_dir, is_opaque, is_whiteout, remove_dir_all};
use crate::view::reading::state_at::node_at;
use placet_text::text::regular_file;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that names the changes whose output is in the upper layers.
const CHANGES: &str = "changes.json";
/// The largest such file that is read. A larger one means that the output is not used again.
const LARGEST: u64 = 64 << 20;
/// The layer with the output of accepted files, and the layer of the newest runs above it.
const KEPT: &str = "kept";
const UPPER: &str = "upper";

/// What changes leave at their paths, as [`trace_of`] writes it.
pub(in crate::view) type ChangeTraces = BTreeMap<Arc<Path>, String>;

/// The changes that the runs saw whose output is in the upper layers.
#[derive(Debug, Default, Serialize, Deserialize)]
struct OutputChanges(BTreeMap<String, String>);

/// What a path has, in a form that can be compared later. The attributes of a file are left out: they are not what output
/// is made from.
pub(in crate::view) fn trace_of(state: &PathState) -> String {
    match (state.hash(), state) {
        (Some(hash), _) => hash.to_hex().to_string(),
        (None, PathState::Directory { .. }) => "directory".into(),
        (None, state) => serde_json::to_string(state).unwrap_or_default(),
    }
}

/// The build output of one check.
pub(in crate::view) struct CheckOutput<'a>(pub(in crate::view) &'a Path);

impl CheckOutput<'_> {
    /// Prepares the layers for a run whose changes leave `traces`, before anything is mounted.
    pub(in crate::view) fn begin(&self, traces: &ChangeTraces) -> io::Result<()> {
        let earlier = self.changes();
        let mut changes = match self.fate(earlier.as_ref(), traces) {
            OutputFate::Merge if self.merge().is_ok() => OutputChanges::default(),
            OutputFate::Continue => earlier.unwrap_or_default(),
            OutputFate::Drop | OutputFate::Merge => {
                self.each(|place| remove(&place.join(UPPER)))?;
                OutputChanges::default()
            }
        };
        let traces = traces.iter().map(|(path, trace)| (key(path), trace.clone()));
        changes.0.extend(traces);
        let bytes = serde_json::to_vec(&changes).map_err(io::Error::other)?;
        placet_text::private::write_quick(&self.0.join(CHANGES), &bytes)
    }

    fn changes(&self) -> Option<OutputChanges> {
        let text = regular_file::read_to_string(&self.0.join(CHANGES), LARGEST).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn fate(&self, earlier: Option<&OutputChanges>, traces: &ChangeTraces) -> OutputFate {
        // Nobody knows what it was made from.
        let Some(earlier) = earlier else { return OutputFate::Drop };
        let now: BTreeMap<String, &String> = traces.iter().map(|(path, trace)| (key(path), trace)).collect();
        let mut fate = OutputFate::Merge;
        for (path, trace) in &earlier.0 {
            if node_at(Path::new(path)).is_ok_and(|state| trace_of(&state) == *trace) {
                continue;
            }
            if now.get(path).is_none_or(|now| *now != trace) {
                return OutputFate::Drop;
            }
            fate = OutputFate::Continue;
        }
        fate
    }

    /// Puts what is in the upper layers into those below.
    fn merge(&self) -> io::Result<()> {
        let merged = self.each(|place| {
            let (upper, kept) = (place.join(UPPER), place.join(KEPT));
            match (upper.is_dir(), kept.is_dir()) {
                (false, _) => Ok(()),
                (true, false) => std::fs::rename(upper, kept),
                (true, true) => {
                    merge_into(&dir_anyway(&upper)?, &dir_anyway(&kept)?)?;
                    remove(&upper)
                }
            }
        });
        if let Err(e) = &merged {
            tracing::warn!("the build output of a check is made again: {e}");
            self.each(|place| remove(&place.join(KEPT)))?;
        }
        merged
    }

    fn each(&self, mut work: impl FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
        for place in std::fs::read_dir(self.0)? {
            let place = place?;
            if place.file_type()?.is_dir() {
                work(&place.path())?;
            }
        }
        Ok(())
    }
}

/// What becomes of the output of earlier runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputFate {
    /// Some of it may come from changes that are not checked now.
    Drop,
    /// All of it comes from what is checked.
    Continue,
    /// All of it comes from files that are in the workspace.
    Merge,
}

/// The layer with the output of accepted files at `place`; `None` where there is none.
pub(in crate::view) fn kept_layer(place: &Path) -> Option<PathBuf> {
    Some(place.join(KEPT)).filter(|kept| kept.is_dir())
}

/// A path that is not text never has the trace of another run, and so its output is dropped.
fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn remove(dir: &Path) -> io::Result<()> {
    match remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Moves everything from one layer into the layer below it, so that the two together look as before.
fn merge_into(upper: &OwnedFd, kept: &OwnedFd) -> io::Result<()> {
    let (_upper, _kept) = (WritableDirGuard::of(upper), WritableDirGuard::of(kept));
    for name in layer::list(upper)? {
        let Some(stat) = entry(upper, &name)? else { continue };
        let below = entry(kept, &name)?;
        if is_dir(&stat) && !is_whiteout(&stat) && below.as_ref().is_some_and(is_dir) {
            let open = |dir| open_anyway(dir, &name, OFlags::DIRECTORY).map(|(file, _)| OwnedFd::from(file));
            let from = open(upper)?;
            if !is_opaque(&from)? {
                merge_into(&from, &open(kept)?)?;
                continue;
            }
        }
        if below.is_some() {
            Layer::clear(kept, &name)?;
        }
        rustix::fs::renameat(upper, &name, kept, &name)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    fn traces(files: &[(&Path, &str)]) -> ChangeTraces {
        let of = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        files.iter().map(|(path, text)| (Arc::from(*path), of(text))).collect()
    }

    #[test]
    fn output_is_used_again_only_with_the_changes_that_it_was_made_from() {
        let dir = tempfile::tempdir().unwrap();
        let (place, file) = (dir.path().join("out/0"), dir.path().join("a"));
        std::fs::create_dir_all(&place).unwrap();
        let output = CheckOutput(place.parent().unwrap());
        let names = |layer: &str| {
            let listed = std::fs::read_dir(place.join(layer)).into_iter().flatten().flatten();
            let mut names: Vec<_> = listed.map(|e| e.file_name().into_string().unwrap()).collect();
            names.sort();
            names.join(" ")
        };
        let run = |now: &[(&Path, &str)], writes: &str| {
            output.begin(&traces(now)).unwrap();
            let found = format!("{} | {}", names(KEPT), names(UPPER));
            write(&place.join(UPPER), &[(writes, "x")]);
            found
        };
        // Of unknown origin.
        write(&place.join(UPPER), &[("stray", "x")]);
        assert_eq!(run(&[], "clean"), " | ");
        assert_eq!(run(&[(&file, "one")], "of-one"), "clean | ");
        // The same change, and another one in addition.
        assert_eq!(run(&[(&file, "one")], "more"), "clean | of-one");
        let other = dir.path().join("b");
        assert_eq!(run(&[(&file, "one"), (&other, "b")], "both"), "clean | more of-one");
        // Another content, and then no change.
        assert_eq!(run(&[(&file, "two")], "of-two"), "clean | ");
        assert_eq!(run(&[], "none"), "clean | ");
        assert_eq!(run(&[(&file, "two")], "of-two"), "clean none | ");
        // It is applied.
        std::fs::write(&file, "two").unwrap();
        assert_eq!(run(&[], "last"), "clean none of-two | ");
        // What was accepted may change again.
        std::fs::write(&file, "three").unwrap();
        assert_eq!(run(&[(&file, "four")], "of-four"), "clean last none of-two | ");
    }

    #[test]
    fn two_layers_look_the_same_after_they_were_merged() {
        let dir = tempfile::tempdir().unwrap();
        let (upper, kept) = (dir.path().join("upper"), dir.path().join("kept"));
        write(
            &kept,
            &[("a", "old"), ("d/x", "old"), ("d/y", "old"), ("was-dir/x", "old"), ("was-file", "old")],
        );
        write(
            &upper,
            &[("a", "new"), ("d/x", "new"), ("d/e/z", "new"), ("was-dir", "new"), ("was-file/x", "new")],
        );
        merge_into(&dir_anyway(&upper).unwrap(), &dir_anyway(&kept).unwrap()).unwrap();
        let read = |name: &str| std::fs::read_to_string(kept.join(name)).unwrap_or_default();
        let found = ["a", "d/x", "d/y", "d/e/z", "was-dir", "was-file/x"].map(read);
        assert_eq!(found, ["new", "new", "old", "new", "new", "new"]);
    }
}
