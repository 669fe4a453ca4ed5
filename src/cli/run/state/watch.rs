//! Login files are written while the program runs: a login that is renewed makes the one at home invalid at once.
//!
//! The layer of the home directory is looked at a few times each second, because a few files cost nothing to look at. A file
//! is written when it did not change between two looks, and when no key in it can make the program run something later.

use crate::cli::run::file_keys::is_key_changed;
use crate::cli::run::preset::RunPreset;
use crate::workspace::{AcceptBytes, KeepError, KeptFileStamp, keep_file};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_millis(150);

/// The login files of a program, and what the files at home are.
#[derive(Debug, Default)]
pub(in crate::cli::run) struct WatchedCredentials {
    stamps: BTreeMap<PathBuf, KeptFileStamp>,
    written: std::collections::BTreeSet<PathBuf>,
}

impl WatchedCredentials {
    /// Looks at the files at home before the program starts. A file that is a link or not regular is left alone.
    pub(in crate::cli::run) fn of(home: &Path, credentials: &[String]) -> WatchedCredentials {
        let stamp =
            |path: &String| Some((PathBuf::from(path), KeptFileStamp::of(home, Path::new(path)).ok()?));
        WatchedCredentials {
            stamps: credentials.iter().filter_map(stamp).collect(),
            ..WatchedCredentials::default()
        }
    }

    /// What the file at home was when placet looked at it or wrote it last.
    pub(in crate::cli::run) fn stamp(&self, path: &Path) -> Option<KeptFileStamp> {
        self.stamps.get(path).copied()
    }

    /// How many files were written while the program ran.
    pub(in crate::cli::run) fn count(&self) -> usize {
        self.written.len()
    }

    pub(in crate::cli::run) fn is_written(&self, path: &Path) -> bool {
        self.written.contains(path)
    }
}

/// The thread that writes them. [`CredentialWatch::end`] stops it.
pub(in crate::cli::run) struct CredentialWatch {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<WatchedCredentials>,
}

impl CredentialWatch {
    /// `layer` is what the program changes in `home`.
    pub(in crate::cli::run) fn start(
        layer: &Path,
        home: &Path,
        preset: &RunPreset,
        mut known: WatchedCredentials,
    ) -> std::io::Result<CredentialWatch> {
        let stop = Arc::new(AtomicBool::new(false));
        // `/var/tmp` may be a link; in the layer itself nothing is followed.
        let (layer, home, stopped) = (layer.canonicalize()?, home.to_path_buf(), Arc::clone(&stop));
        let preset = preset.clone();
        let work = move || {
            let mut seen: BTreeMap<PathBuf, CredentialLook> = BTreeMap::new();
            while !stopped.load(Ordering::Acquire) {
                known.look(&layer, &home, &preset, &mut seen);
                std::thread::park_timeout(INTERVAL);
            }
            known
        };
        let thread = std::thread::Builder::new().name("credentials".into()).spawn(work)?;
        Ok(CredentialWatch { stop, thread })
    }

    pub(in crate::cli::run) fn end(self) -> WatchedCredentials {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_default()
    }
}

/// What a file of the layer was at the last look, and whether it was written as it is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CredentialLook {
    file: (u64, u64, i64, i64),
    is_written: bool,
}

impl WatchedCredentials {
    fn look(
        &mut self,
        layer: &Path,
        home: &Path,
        preset: &RunPreset,
        seen: &mut BTreeMap<PathBuf, CredentialLook>,
    ) {
        for (path, stamp) in &mut self.stamps {
            let file = layer.join(path);
            let Ok(meta) = std::fs::symlink_metadata(&file) else { continue };
            if !meta.is_file() {
                continue;
            }
            let now = (meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec());
            let before = seen.get(path).copied();
            let is_same = before.is_some_and(|look| look.file == now);
            let mut is_written = is_same && before.is_some_and(|look| look.is_written);
            // An empty file is one that is being written.
            if is_same && !is_written && meta.size() > 0 {
                let keys = preset.later_keys_of(path);
                let accept = |bytes: &[u8]| !is_key_changed(&keys, bytes, &home.join(path));
                let accept = (!keys.is_empty()).then_some(&accept as AcceptBytes);
                match keep_file(&file, home, path, *stamp, accept) {
                    Ok(new) => {
                        *stamp = new;
                        self.written.insert(path.clone());
                    }
                    // Reported at the end, when it is tried once more.
                    Err(
                        KeepError::Changed
                        | KeepError::NotRegular
                        | KeepError::NoDirectory
                        | KeepError::TooLarge
                        | KeepError::RunsLater,
                    ) => {}
                    Err(e) => tracing::warn!("a login file was not written: {e}"),
                }
                is_written = true;
            }
            seen.insert(path.clone(), CredentialLook { file: now, is_written });
        }
    }
}
