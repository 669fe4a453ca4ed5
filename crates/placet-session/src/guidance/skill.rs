//! Skills: a directory with a `SKILL.md`, in the public format of agent skills. The model gets the name and the
//! description; it reads the rest when it needs it.

use super::front_matter::split_front_matter;
use super::places::{GuidanceDir, GuidanceOrigin};
use super::scan::{self, GuidanceProblem};
use placet_text::text::{human_size, regular_file, visible};
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

const FILE: &str = "SKILL.md";
/// The most characters of a description; the format allows as many.
const DESCRIPTION: usize = 1024;
/// The most bytes that the names and descriptions of all skills take in a request.
pub const SKILL_LIST_BYTES: usize = 8 * 1024;
/// The files that are named with the text of a skill.
const MOST_FILES: usize = 50;
/// How deep the files of a skill are listed.
const DEEPEST: usize = 4;

/// One skill, without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    pub name: String,
    /// On one line; empty where the file has none.
    pub description: String,
    pub dir: PathBuf,
    pub origin: GuidanceOrigin,
    /// The person's own, or a project's whose present text the person trusts.
    pub is_trusted: bool,
    /// The author wants only people to use it.
    pub is_for_people: bool,
    /// The size of its text.
    pub bytes: usize,
    /// The hash of `SKILL.md`, to which trust is bound.
    pub hash: String,
}

/// Another file in the directory of a skill.
struct SkillFile {
    /// Relative to the directory, safe for a terminal.
    name: String,
    bytes: u64,
}

/// Why a file of a skill is not read.
#[derive(Debug, Error)]
pub enum SkillFileError {
    #[error("`{0}` is not inside of the skill's directory")]
    Outside(String),
    #[error("`{0}` does not exist in this skill")]
    Missing(String),
    #[error("{0} changed after placet listed it")]
    Changed(PathBuf),
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// All skills that were found.
#[derive(Clone, Debug, Default)]
pub struct SkillCatalog {
    pub skills: Vec<Skill>,
    pub problems: Vec<GuidanceProblem>,
}

impl SkillCatalog {
    /// Reads every directory. `trusts` knows the person's decisions about a file and its hash.
    pub(super) fn read(
        dirs: &[GuidanceDir],
        may_read: &dyn Fn(&Path) -> bool,
        trusts: &dyn Fn(&Path, &str) -> bool,
    ) -> SkillCatalog {
        let mut catalog = SkillCatalog::default();
        for dir in dirs {
            for place in scan::entries(&dir.path, &mut catalog.problems) {
                let file = place.join(FILE);
                if !file.exists() {
                    continue;
                }
                match scan::text_of(&file, dir, may_read) {
                    Ok(text) => catalog.add(&place, dir.origin, &text, trusts),
                    Err(why) => catalog.problems.push(GuidanceProblem::new(&file, why)),
                }
            }
        }
        catalog
    }

    fn add(
        &mut self,
        place: &Path,
        origin: GuidanceOrigin,
        text: &str,
        trusts: &dyn Fn(&Path, &str) -> bool,
    ) {
        let file = place.join(FILE);
        let (front, body) = match split_front_matter(text) {
            Ok(split) => split,
            Err(why) => return self.problems.push(GuidanceProblem::new(&file, why)),
        };
        let directory = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let named = front.value("name").unwrap_or(&directory);
        let name = [named, directory.as_str()].into_iter().find(|name| scan::is_name(name));
        let Some(name) = name.map(String::from) else {
            let why = "its name must be letters, digits, `-` and `_`, at most 64";
            return self.problems.push(GuidanceProblem::new(&file, why));
        };
        if name != named {
            let why = format!("its name cannot be typed; use {name}, the name of its directory");
            self.problems.push(GuidanceProblem::new(&file, why));
        }
        if let Some(first) = self.skills.iter().find(|skill| skill.name == name) {
            let why = format!("the name {name} is taken by {}, which is used", first.file().display());
            return self.problems.push(GuidanceProblem::new(&file, why));
        }
        let (description, is_cut) = scan::one_line(front.value("description").unwrap_or(""), DESCRIPTION);
        if description.is_empty() {
            let why = "it has no description: the model cannot choose it";
            self.problems.push(GuidanceProblem::new(&file, why));
        }
        if is_cut {
            let why = format!("its description is cut after {DESCRIPTION} characters");
            self.problems.push(GuidanceProblem::new(&file, why));
        }
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let is_trusted = origin == GuidanceOrigin::Own || trusts(&file, &hash);
        let is_for_people = front.is_set("disable-model-invocation");
        let (dir, bytes) = (place.to_path_buf(), body.trim().len());
        self.skills.push(Skill { name, description, dir, origin, is_trusted, is_for_people, bytes, hash });
    }

    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The skills of a project that wait for the person's trust.
    pub fn untrusted(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| !skill.is_trusted)
    }

    /// The list for the model, at most [`SKILL_LIST_BYTES`], and what was shortened for it, for the person. Every skill is
    /// named as long as there is room for the names.
    pub fn list_for_model(&self) -> (String, Option<String>) {
        let offered: Vec<&Skill> = self.skills.iter().filter(|skill| skill.is_offered()).collect();
        let whole = list_of(&offered, usize::MAX);
        if whole.len() <= SKILL_LIST_BYTES {
            return (whole, None);
        }
        let most = SKILL_LIST_BYTES / 1024;
        for columns in [400, 200, 100, 60, 30, 0] {
            let list = list_of(&offered, columns);
            if list.len() <= SKILL_LIST_BYTES {
                let cut = match columns {
                    0 => "descriptions are left out".to_string(),
                    _ => format!("descriptions are cut after {columns} characters"),
                };
                let why = format!("the list of {} skills may have {most} KB: {cut}", offered.len());
                return (list, Some(why));
            }
        }
        let mut room = SKILL_LIST_BYTES;
        let fits = offered.iter().take_while(|skill| {
            let line = skill.name.len() + 3;
            let is_room = line <= room;
            room = room.saturating_sub(line);
            is_room
        });
        let count = fits.count();
        let why = format!(
            "the list of {} skills may have {most} KB: the model gets the first {count} names",
            offered.len()
        );
        (list_of(offered.get(..count).unwrap_or_default(), 0), Some(why))
    }
}

fn list_of(skills: &[&Skill], columns: usize) -> String {
    let mut out = String::new();
    for skill in skills {
        let description = placet_text::text::width::cut(&skill.description, columns);
        let colon = if description.is_empty() { "" } else { ": " };
        let _ = writeln!(out, "- {}{colon}{description}", skill.name);
    }
    out
}

impl Skill {
    /// Its `SKILL.md`.
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }

    /// True if the model knows of it.
    pub fn is_offered(&self) -> bool {
        self.is_trusted && !self.is_for_people && !self.description.is_empty()
    }

    /// `SKILL.md` as it is. A text that is not the listed one is refused: trust is bound to the text.
    fn whole(&self) -> Result<String, SkillFileError> {
        let text = regular_file::read_to_string(&self.file(), scan::LARGEST)?;
        if blake3::hash(text.as_bytes()).to_hex().as_str() != self.hash {
            return Err(SkillFileError::Changed(self.file()));
        }
        Ok(text)
    }

    /// What a person reads before trusting the skill: all of `SKILL.md`, because its front matter reaches the model too,
    /// and the other files with their sizes.
    pub fn for_trust(&self) -> Result<String, SkillFileError> {
        let mut out = self.whole()?;
        let (files, more) = self.files();
        if !files.is_empty() {
            out.truncate(out.trim_end().len());
            out.push_str("\n\nfiles of this skill:\n");
        }
        for SkillFile { name, bytes } in files {
            let _ = writeln!(out, "{name}  {}", human_size::of(bytes));
        }
        if more > 0 {
            let _ = writeln!(out, "and {more} more");
        }
        Ok(out)
    }

    /// The text, without front matter.
    pub fn body(&self) -> Result<String, SkillFileError> {
        let text = self.whole()?;
        let body = split_front_matter(&text).map_or(text.as_str(), |(_, body)| body);
        Ok(body.trim().to_string())
    }

    /// The path of another file of the skill.
    pub fn path_of(&self, file: &str) -> Result<PathBuf, SkillFileError> {
        let is_plain = Path::new(file).components().all(|part| matches!(part, Component::Normal(_)));
        let outside = || SkillFileError::Outside(file.into());
        if !is_plain || file.is_empty() {
            return Err(outside());
        }
        let real = fs::canonicalize(self.dir.join(file)).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => SkillFileError::Missing(file.into()),
            _ => SkillFileError::Read(e),
        })?;
        if !real.starts_with(fs::canonicalize(&self.dir)?) {
            return Err(outside());
        }
        Ok(real)
    }

    /// Its other files, in order, and how many more there are.
    fn files(&self) -> (Vec<SkillFile>, usize) {
        let mut found = Vec::new();
        self.list(&self.dir, DEEPEST, &mut found);
        let more = found.len().saturating_sub(MOST_FILES);
        found.truncate(MOST_FILES);
        (found, more)
    }

    fn list(&self, dir: &Path, depth: usize, found: &mut Vec<SkillFile>) {
        for path in scan::entries(dir, &mut Vec::new()) {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if meta.is_dir() && depth > 0 && !name.starts_with('.') && found.len() <= scan::MOST {
                self.list(&path, depth - 1, found);
            } else if meta.is_file() && name != FILE {
                let relative = path.strip_prefix(&self.dir).unwrap_or(&path);
                found.push(SkillFile { name: visible::path(relative), bytes: meta.len() });
            }
        }
    }

    /// What the model reads of the skill: its text, where its files are, and their names.
    pub fn for_model(&self, body: &str) -> String {
        let (dir, body) = (visible::path(&self.dir), visible::guard(body));
        let mut out = format!("skill {} in {dir}\n\n{body}\n", self.name);
        let (files, more) = self.files();
        if !files.is_empty() {
            let names: Vec<String> = files.into_iter().map(|file| file.name).collect();
            let _ = write!(out, "\nfiles of this skill:\n{}\n", names.join("\n"));
        }
        if more > 0 {
            let _ = writeln!(out, "and {more} more");
        }
        out
    }
}

#[cfg(test)]
#[path = "skill_tests.rs"]
mod tests;
