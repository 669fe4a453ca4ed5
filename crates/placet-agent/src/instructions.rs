//! What the model was sent of the instructions and the skills, so that only news are sent.

use super::conversation::notes::{instructions_in, skills_in};
use placet_session::guidance::{InstructionsRequest, SkillCatalog, of_conversation};
use placet_text::conversation::{InstructionsVersion, Note};

/// A change of the instructions or of the skills, and what the person reads about it.
#[derive(Debug)]
pub(super) struct GuidanceNews {
    pub(super) note: Note,
    pub(super) notices: Vec<String>,
}

/// What the model was last sent.
#[derive(Debug, Default)]
pub(super) struct ReportedGuidance {
    instructions: Option<String>,
    skills: Option<String>,
    /// The untrusted skills that the person was told of.
    untrusted: usize,
}

impl ReportedGuidance {
    /// The note for the model if the instructions differ from what it was sent.
    pub(super) fn instructions(&mut self, request: &InstructionsRequest<'_>) -> Option<GuidanceNews> {
        let found = of_conversation(request);
        if self.instructions.as_deref().unwrap_or("") == found.text {
            return None;
        }
        let edition = edition(self.instructions.as_ref());
        self.instructions = Some(found.text.clone());
        let mut notices = found.left_out;
        if !found.sources.is_empty() {
            let names: Vec<&str> = found.sources.iter().map(|source| source.path.as_str()).collect();
            notices.push(format!("instructions from {}", names.join(", ")));
        }
        let note = match found.text.is_empty() {
            true => Note::InstructionsGone,
            false => Note::Instructions { text: found.text, edition, sources: found.sources },
        };
        Some(GuidanceNews { note, notices })
    }

    /// The note for the model if the list of skills differs from what it was sent.
    pub(super) fn skills(&mut self, catalog: &SkillCatalog) -> Option<GuidanceNews> {
        let (text, shortened) = catalog.list_for_model();
        if self.skills.as_deref().unwrap_or("") == text {
            return None;
        }
        let edition = edition(self.skills.as_ref());
        self.skills = Some(text.clone());
        let notices = shortened.into_iter().collect();
        Some(GuidanceNews { note: Note::Skills { text, edition }, notices })
    }

    /// A line for the person when a project's skills wait for trust; once for each number of them.
    pub(super) fn untrusted_skills(&mut self, catalog: &SkillCatalog) -> Option<String> {
        let waiting = catalog.untrusted().count();
        let is_new = std::mem::replace(&mut self.untrusted, waiting) != waiting && waiting > 0;
        let skills = placet_text::text::count::of(waiting, "skill");
        is_new
            .then(|| format!("not offered to the model: {skills} of this project; /skills trust shows them"))
    }

    /// After a resume the transcript contains what the model knows: `notes` are its notes, the newest first.
    pub(super) fn recall<'t>(&mut self, notes: impl Iterator<Item = &'t Note>) {
        (self.instructions, self.skills) = (None, None);
        for note in notes {
            if self.instructions.is_none() {
                self.instructions = instructions_in(note).map(String::from);
            }
            if self.skills.is_none() {
                self.skills = skills_in(note).map(String::from);
            }
        }
    }
}

fn edition(sent: Option<&String>) -> InstructionsVersion {
    if sent.is_some() { InstructionsVersion::Changed } else { InstructionsVersion::First }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_session::guidance::MAX_BYTES;
    use std::fs;
    use std::path::Path;

    const NAME: &str = "AGENTS.md";

    fn news(reported: &mut ReportedGuidance, cwd: &Path) -> Option<GuidanceNews> {
        reported.instructions(&InstructionsRequest { cwd, own: None, may_read: &|_| true })
    }

    #[test]
    fn instructions_are_read_root_first_and_told_again_only_when_they_change() {
        let dir = tempfile::TempDir::new().unwrap();
        let leaf = dir.path().join("a/b");
        fs::create_dir_all(&leaf).unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        fs::write(dir.path().join(NAME), "root rules").unwrap();
        fs::write(leaf.join(NAME), "leaf rules\n").unwrap();
        let mut reported = ReportedGuidance::default();
        let GuidanceNews { note, notices } = news(&mut reported, &leaf).unwrap();
        let text = note.words();
        assert!(text.find("root rules") < text.find("leaf rules"), "{text}");
        assert_eq!(notices.len(), 1);
        assert!(news(&mut reported, &leaf).is_none());
        fs::write(leaf.join(NAME), "other rules\n").unwrap();
        let mut words = || news(&mut reported, &leaf).unwrap().note.words().into_owned();
        assert!(words().contains("replaces the earlier text"));
        fs::write(leaf.join(NAME), "x".repeat(MAX_BYTES)).unwrap();
        assert!(words().contains("[cut here: "));
        // A pipe would be read for ever, and a link to /dev/zero without end.
        fs::remove_file(leaf.join(NAME)).unwrap();
        std::os::unix::fs::symlink("/dev/zero", leaf.join(NAME)).unwrap();
        assert!(words().contains("[left out: not a regular file]"));
    }

    #[test]
    fn a_link_out_of_the_workspace_and_a_denied_file_are_not_read() {
        let home = tempfile::TempDir::new().unwrap();
        let repository = home.path().join("w");
        fs::create_dir_all(repository.join(".git")).unwrap();
        fs::write(home.path().join("key"), "private key").unwrap();
        fs::write(repository.join("agents.txt"), "rules of the project").unwrap();
        let at = repository.join(NAME);
        for target in ["../key", "agents.txt"] {
            let _ = fs::remove_file(&at);
            std::os::unix::fs::symlink(target, &at).unwrap();
            let GuidanceNews { note, .. } = news(&mut ReportedGuidance::default(), &repository).unwrap();
            let (text, inside) = (note.words().into_owned(), target == "agents.txt");
            assert!(!text.contains("private key"), "{text}");
            assert_eq!(text.contains("is a link out of the workspace: not read"), !inside, "{text}");
            assert_eq!(text.contains("rules of the project"), inside);
        }
        // A rule against the name, and one against the file that it leads to.
        for denied in [NAME, "agents.txt"] {
            let may_read = |path: &Path| !path.ends_with(denied);
            let request = InstructionsRequest { cwd: &repository, own: None, may_read: &may_read };
            let GuidanceNews { note, .. } = ReportedGuidance::default().instructions(&request).unwrap();
            assert!(!note.words().contains("rules of the project"), "{denied}");
        }
    }

    #[test]
    fn a_project_without_instructions_says_nothing() {
        let dir = tempfile::TempDir::new().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        assert!(news(&mut ReportedGuidance::default(), dir.path()).is_none());
    }
}
