//! What a program without a preset changed in the home directory: placet never applies it, and says so.

use crate::cli::report::CliError;
use crate::text::{count, visible};
use crate::workspace::{LayerKind, View};
use std::path::{Path, PathBuf};

/// The most paths that are named.
const NAMED: usize = 3;

/// Directories that programs fill again by themselves. A change in them is no loss.
const CACHES: [&str; 6] =
    [".cache", ".npm", ".cargo/registry", ".cargo/git", "go/pkg/mod", ".local/state/nix"];

/// Files that are not applied, below the home directory.
#[derive(Debug, Default)]
pub(super) struct HomeLeft {
    home: PathBuf,
    files: Vec<PathBuf>,
}

impl HomeLeft {
    /// `view` is that of the run.
    pub(super) fn of(view: &View, home: &Path) -> Result<HomeLeft, CliError> {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
        let changes = view.home_changes(&home);
        if !changes.has_changes(LayerKind::Pending).map_err(CliError::new)? {
            return Ok(HomeLeft { home, files: Vec::new() });
        }
        let set = changes.changes(LayerKind::Pending).map_err(CliError::new)?;
        let is_cache = |path: &Path| CACHES.iter().any(|cache| path.starts_with(cache));
        let files = set
            .changes
            .iter()
            .filter(|change| {
                !(change.after.is_directory() || change.before.is_directory() && change.after.is_absent())
            })
            .filter_map(|change| change.path.strip_prefix(&home).ok())
            .filter(|path| !is_cache(path))
            .map(Path::to_path_buf)
            .collect();
        Ok(HomeLeft { home, files })
    }

    /// For a person: what is not applied, and the option with which it would be asked about.
    pub(super) fn lines(&self) -> Vec<String> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let shown = |path: &Path| visible::path(&Path::new("~").join(path));
        let mut names: Vec<String> = self.files.iter().take(NAMED).map(|path| shown(path)).collect();
        if let Some(more) = self.files.len().checked_sub(NAMED).filter(|more| *more > 0) {
            names.push(format!("and {more} more"));
        }
        let total = count::of(self.files.len(), "file");
        let mut lines =
            vec![format!("not applied, because it is in your home directory: {total}: {}", names.join(", "))];
        lines.extend(self.directory().map(|dir| {
            format!("hint: with `placet run --add-dir {}` placet asks about changes there, too", shown(&dir))
        }));
        lines
    }

    /// The directory of the first file that exists outside of the view, unless it is the home directory itself.
    fn directory(&self) -> Option<PathBuf> {
        let dirs = self.files.iter().flat_map(|path| path.ancestors().skip(1));
        dirs.filter(|dir| !dir.as_os_str().is_empty())
            .find(|dir| self.home.join(dir).is_dir())
            .map(Path::to_path_buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_paths_are_named_and_the_others_counted() {
        let left = |files: &[&str]| HomeLeft {
            home: "/no/such/home".into(),
            files: files.iter().map(PathBuf::from).collect(),
        };
        assert!(left(&[]).lines().is_empty());
        assert_eq!(left(&["x"]).lines(), ["not applied, because it is in your home directory: 1 file: ~/x"]);
        assert_eq!(
            left(&["a", "b/c", "d", "e", "f"]).lines(),
            ["not applied, because it is in your home directory: 5 files: ~/a, ~/b/c, ~/d, and 2 more"]
        );
    }

    #[test]
    fn the_hint_names_a_directory_that_exists() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("Downloads")).unwrap();
        let files = vec!["x".into(), "Downloads/new/thesis.txt".into()];
        let left = HomeLeft { home: home.path().into(), files };
        assert_eq!(
            left.lines()[1],
            "hint: with `placet run --add-dir ~/Downloads` placet asks about changes there, too"
        );
    }
}
