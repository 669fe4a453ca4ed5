//! Where skills, commands and instructions are looked for.

use std::path::{Path, PathBuf};

/// Directories below a project's own, the first one before the others.
const PROJECT: [&str; 3] = [".placet", ".agents", ".claude"];

/// Whose file it is. The person's own files need no trust; a project's files come from anyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuidanceOrigin {
    Own,
    Project,
}

/// A directory of skills or commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuidanceDir {
    pub path: PathBuf,
    pub origin: GuidanceOrigin,
    /// No file of a project may be outside of this directory: a link out is refused.
    pub root: PathBuf,
}

/// The directories from which everything is found.
#[derive(Clone, Debug, Default)]
pub struct GuidancePlaces {
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// placet's own directory of settings.
    pub config: PathBuf,
    /// Where trust in a project's files is stored.
    pub trust: PathBuf,
}

/// The repository that contains `dir`, or `dir` itself without a repository.
pub fn repository_root(dir: &Path) -> &Path {
    // In a worktree and in a submodule `.git` is a file, so its kind is not checked.
    dir.ancestors().find(|dir| dir.join(".git").exists()).unwrap_or(dir)
}

impl GuidancePlaces {
    /// The person's own instructions. `None` in surroundings that have no person.
    pub fn own_instructions(&self) -> Option<PathBuf> {
        self.has_person().then(|| self.config.join("AGENTS.md"))
    }

    fn has_person(&self) -> bool {
        !self.config.as_os_str().is_empty()
    }

    pub(super) fn skills(&self) -> Vec<GuidanceDir> {
        self.directories("skills")
    }

    pub(super) fn commands(&self) -> Vec<GuidanceDir> {
        self.directories("commands")
    }

    /// The directories with this name. The person's own come first: no project can replace what they wrote. Then the
    /// nearest directory of the project, up to the root of its repository.
    fn directories(&self, name: &str) -> Vec<GuidanceDir> {
        if !self.has_person() {
            return Vec::new();
        }
        let own = |path: PathBuf| GuidanceDir { root: path.clone(), path, origin: GuidanceOrigin::Own };
        let mut out = vec![own(self.config.join(name))];
        out.extend(self.home.iter().map(|home| own(home.join(".agents").join(name))));
        let root = repository_root(&self.cwd);
        for dir in self.cwd.ancestors().take_while(|dir| dir.starts_with(root)) {
            // The home directory is not a project: its `.agents` is the person's own.
            if Some(dir) == self.home.as_deref() {
                break;
            }
            out.extend(PROJECT.map(|place| GuidanceDir {
                path: dir.join(place).join(name),
                origin: GuidanceOrigin::Project,
                root: root.to_path_buf(),
            }));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_directories_come_first_and_a_home_directory_is_no_project() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        std::fs::create_dir_all(at("w/.git")).unwrap();
        std::fs::create_dir_all(at("w/sub")).unwrap();
        let places = |cwd: &str| GuidancePlaces {
            cwd: at(cwd),
            home: Some(home.path().to_path_buf()),
            config: at("config"),
            trust: at("trust.json"),
        };
        let found = |cwd: &str| {
            let all = places(cwd).skills().into_iter();
            all.map(|dir| dir.path.strip_prefix(home.path()).unwrap().to_string_lossy().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found("w/sub"),
            [
                "config/skills",
                ".agents/skills",
                "w/sub/.placet/skills",
                "w/sub/.agents/skills",
                "w/sub/.claude/skills",
                "w/.placet/skills",
                "w/.agents/skills",
                "w/.claude/skills"
            ]
        );
        assert_eq!(found(""), ["config/skills", ".agents/skills"]);
    }
}
