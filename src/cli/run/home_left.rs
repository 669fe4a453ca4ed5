//! What a program without a preset changed in the home directory: placet never applies it, and says so.

use crate::cli::report::CliError;
use crate::text::{count, shell_word, visible};
use crate::workspace::{FileChange, LayerKind, View, is_in_home_cache};
use std::path::{Path, PathBuf};

/// The most paths that are named.
const NAMED: usize = 3;

/// Files that are not applied, below the home directory.
#[derive(Debug, Default)]
pub(super) struct HomeLeft {
    home: PathBuf,
    files: Vec<PathBuf>,
    /// New directories in which nothing else is new.
    empty: Vec<PathBuf>,
}

impl HomeLeft {
    /// `view` is that of the run.
    pub(super) fn of(view: &View, home: &Path) -> Result<HomeLeft, CliError> {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
        let changes = view.home_changes(&home);
        if !changes.has_changes(LayerKind::Pending).map_err(CliError::new)? {
            return Ok(HomeLeft { home, ..HomeLeft::default() });
        }
        let set = changes.changes(LayerKind::Pending).map_err(CliError::new)?;
        let below_home = |change: &FileChange| {
            let path = change.path.strip_prefix(&home).ok()?;
            (!path.as_os_str().is_empty() && !is_in_home_cache(path)).then(|| path.to_path_buf())
        };
        let is_file = |change: &&FileChange| {
            !(change.after.is_directory() || change.before.is_directory() && change.after.is_absent())
        };
        let files = set.changes.iter().filter(is_file).filter_map(below_home).collect();
        let is_empty = |change: &&FileChange| {
            let is_new = change.before.is_absent() && change.after.is_directory();
            is_new && set.below(&change.path).len() < 2
        };
        let empty = set.changes.iter().filter(is_empty).filter_map(below_home).collect();
        Ok(HomeLeft { home, files, empty })
    }

    /// For a person: what is not applied, and the option with which it would be asked about.
    pub(super) fn lines(&self) -> Vec<String> {
        let shown = |path: &Path| visible::path(&Path::new("~").join(path));
        // What programs write for themselves begins with a dot, and hides nothing of the person's.
        let is_hidden = |path: &&PathBuf| path.to_string_lossy().starts_with('.');
        let (hidden, own): (Vec<&PathBuf>, Vec<&PathBuf>) = self.files.iter().partition(is_hidden);
        let files = own.into_iter().chain(hidden).map(|path| shown(path));
        let empty = self.empty.iter().map(|path| format!("{}/", shown(path)));
        let all = self.files.len() + self.empty.len();
        let mut names: Vec<String> = files.chain(empty).take(NAMED).collect();
        if let Some(more) = all.checked_sub(NAMED).filter(|more| *more > 0) {
            names.push(format!("and {more} more"));
        }
        let mut totals = Vec::new();
        if !self.files.is_empty() {
            totals.push(count::of(self.files.len(), "file"));
        }
        match self.empty.len() {
            0 => {}
            1 => totals.push("1 empty directory".into()),
            more => totals.push(format!("{more} empty directories")),
        }
        if totals.is_empty() {
            return Vec::new();
        }
        vec![
            format!(
                "not applied, because it is in your home directory: {}: {}",
                totals.join(", "),
                names.join(", ")
            ),
            self.hint(),
        ]
    }

    /// How the next run asks about such changes. Only a directory that exists outside of the view can be named.
    fn hint(&self) -> String {
        let asks = "placet asks about changes there, too";
        let all = || self.files.iter().chain(&self.empty);
        let mut dirs = all().flat_map(|path| path.ancestors().skip(1));
        let is_own = |dir: &&Path| !dir.as_os_str().is_empty() && self.home.join(dir).is_dir();
        if let Some(dir) = dirs.find(is_own) {
            let dir = typed(dir);
            return format!("hint: with `placet run --add-dir {dir}` {asks}");
        }
        // Directories of the home directory that only the program made.
        let made = all().find(|path| path.components().nth(1).is_some() || self.empty.contains(path));
        match made.and_then(|path| path.components().next()) {
            Some(dir) => {
                let dir = typed(Path::new(dir.as_os_str()));
                format!("hint: after `mkdir {dir}`, with `placet run --add-dir {dir}`, {asks}")
            }
            None => format!("hint: with `placet run --add-dir ~` {asks}"),
        }
    }
}

/// A path below the home directory as a shell reads it.
fn typed(path: &Path) -> String {
    format!("~/{}", visible::line(&shell_word::quoted(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_paths_are_named_and_the_others_counted() {
        let left = |files: &[&str], empty: &[&str]| {
            let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
            HomeLeft { home: "/no/such/home".into(), files: paths(files), empty: paths(empty) }.lines()
        };
        assert!(left(&[], &[]).is_empty());
        let lines = left(&[".a", ".b/c", ".d", "x.txt"], &[]);
        assert!(lines[0].ends_with("4 files: ~/x.txt, ~/.a, ~/.b/c, and 1 more"), "{lines:?}");
        assert_eq!(
            left(&["x"], &[]),
            [
                "not applied, because it is in your home directory: 1 file: ~/x",
                "hint: with `placet run --add-dir ~` placet asks about changes there, too"
            ]
        );
        assert_eq!(
            left(&["a", "new dir/c", "d", "e", "f"], &[]),
            [
                "not applied, because it is in your home directory: 5 files: ~/a, \"~/new dir/c\", ~/d, and 2 more",
                "hint: after `mkdir ~/'new dir'`, with `placet run --add-dir ~/'new dir'`, placet asks about changes \
                 there, too"
            ]
        );
        // Story: an empty directory was dropped without a word.
        assert_eq!(
            left(&["a"], &["b", "c/d"])[0],
            "not applied, because it is in your home directory: 1 file, 2 empty directories: ~/a, ~/b/, ~/c/d/"
        );
        assert_eq!(
            left(&[], &["b"]),
            [
                "not applied, because it is in your home directory: 1 empty directory: ~/b/",
                "hint: after `mkdir ~/b`, with `placet run --add-dir ~/b`, placet asks about changes there, too"
            ]
        );
    }

    #[test]
    fn the_hint_names_a_directory_that_exists() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("Downloads")).unwrap();
        let files = vec!["x".into(), "Downloads/new/thesis.txt".into()];
        let left = HomeLeft { home: home.path().into(), files, empty: Vec::new() };
        assert_eq!(
            left.lines()[1],
            "hint: with `placet run --add-dir ~/Downloads` placet asks about changes there, too"
        );
    }
}
