//! A commit under review as files and hunks of its own. They are shown, and decided with the repository that the commit is
//! in: git has no half of a commit.

use super::binary_section::binary_section;
use super::file::{CombinedDecision, ReviewBody, ReviewDecision, ReviewFile, WholeChange};
use super::from_patch::{of_patch, whole_file};
use super::index_patch::sections;
use crate::review::state::Review;
use placet_text::text::patch::{StripLevels, parse};
use placet_text::text::{sanitize, visible};
use placet_workspace::ChangeKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The files of a patch that git stores, as `owner`, the repository, is shown. `name` is what it is: `commit 1f3a2c7`, `tag
/// v1`; `runs_later` are the files that a program runs later, with the reasons.
pub fn commit_files(
    owner: &ReviewFile,
    name: &str,
    patch: &[u8],
    runs_later: &[(PathBuf, String)],
) -> Vec<ReviewFile> {
    // A slash in the name of a branch would be a directory.
    let dir = name.replace('/', "\u{2215}");
    let one = |section: &[u8]| {
        let mut found = parse(section, StripLevels::Auto).map(|patch| of_patch(&patch)).unwrap_or_default();
        let mut file = match (found.pop(), found.is_empty(), binary_section(section)) {
            (Some(file), true, _) | (None, _, Some(file)) => file,
            _ => whole_file(Path::new(OsStr::from_bytes(name_of(section))), section),
        };
        mark_runs_later(&mut file, runs_later);
        ReviewFile {
            name: format!("{}/{dir}/{}", owner.name.trim_end_matches('/'), file.name),
            path: owner.path.join(&dir).join(&file.path),
            paths: Vec::new(),
            decided_with: Some(owner.path.clone()),
            ..file
        }
    };
    sections(patch).into_iter().map(one).collect()
}

/// A ref that can be decided by itself, at its name below `owner`, the repository. Undecided, it goes with the repository.
pub fn ref_file(owner: &ReviewFile, path: PathBuf, kind: ChangeKind, row: &str) -> ReviewFile {
    let name = path.strip_prefix(&owner.path).unwrap_or(&path).to_path_buf();
    let words = vec![row.trim().to_string(), "goes with the repository unless it is decided here".into()];
    ReviewFile {
        name: format!("{}/{}", owner.name.trim_end_matches('/'), visible::path_name(&name)),
        paths: vec![path.as_path().into()],
        path,
        renamed: None,
        letter: kind.letter(),
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: Some(owner.path.clone()),
        body: ReviewBody::Whole(WholeChange { words, ..WholeChange::default() }),
        key: blake3::hash(row.as_bytes()).to_hex().to_string(),
    }
}

/// Says of a file that a program runs it later, where it is one of `runs_later`.
pub(in crate::review) fn mark_runs_later(file: &mut ReviewFile, runs_later: &[(PathBuf, String)]) {
    let why = runs_later.iter().find(|(path, _)| *path == file.path).map(|(_, why)| sanitize::line(why));
    file.facts.splice(0..0, why.map(|why| format!("! runs later: {why}")));
}

/// `b/name` in the first line, without its prefix.
fn name_of(section: &[u8]) -> &[u8] {
    let line = section.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let at = memchr::memmem::rfind(line, b" b/").map_or(line.len(), |at| at + 3);
    line.get(at..).unwrap_or_default()
}

impl Review {
    pub(in crate::review) fn is_of_commit(&self, file: usize) -> bool {
        self.files.get(file).is_some_and(|file| file.decided_with.is_some())
    }

    /// The file that decides this one: another for a file of a commit.
    pub(in crate::review) fn decider(&self, file: usize) -> usize {
        let file_there = self.files.get(file).filter(|f| f.is_decided_elsewhere());
        let owner = file_there.and_then(|f| f.decided_with.as_ref());
        owner.and_then(|owner| self.files.iter().position(|f| f.path == *owner)).unwrap_or(file)
    }

    /// Files of commits have the mark of their repository.
    pub(in crate::review) fn follow_decisions(&mut self) {
        for at in (0..self.files.len()).filter(|at| self.is_of_commit(*at)).collect::<Vec<_>>() {
            let owner = self.decider(at);
            let mark = match self.files.get(owner).map(|f| &f.body) {
                Some(ReviewBody::Whole(whole)) if owner != at => whole.mark,
                _ => continue,
            };
            match self.files.get_mut(at).map(|f| &mut f.body) {
                Some(ReviewBody::Whole(whole)) => whole.mark = mark,
                Some(ReviewBody::Lines(lines)) => {
                    lines.hunks.iter_mut().for_each(|hunk| hunk.marks.fill(mark));
                }
                None => {}
            }
        }
    }

    /// Commits that are applied with changes of files that are not: a commit is taken whole.
    pub(in crate::review) fn commit_summary(&self) -> Vec<(String, &'static str)> {
        let is_accepted =
            |file: &ReviewFile| file.standing() == CombinedDecision::All(ReviewDecision::Accepted);
        let owner_of = |file: &ReviewFile| {
            let owner = file.decided_with.as_ref()?;
            self.files.iter().find(|other| other.path == *owner && is_accepted(other))
        };
        let mut out = Vec::new();
        for file in &self.files {
            let Some(owner) = owner_of(file).filter(|_| file.is_decided_elsewhere()) else { continue };
            // `.git/commit 1f3a2c7/x` is the file `x` next to `.git`.
            let Ok(below) = file.path.strip_prefix(&owner.path) else { continue };
            let mut names = below.iter();
            let (Some(commit), Some(tree)) = (names.next(), owner.path.parent()) else { continue };
            let own = tree.join(names.as_path());
            let own = self.files.iter().find(|other| other.path == own && other.decided_with.is_none());
            if let Some(own) = own.filter(|own| !is_accepted(own)) {
                let commit = sanitize::line(&commit.to_string_lossy()).into_owned();
                out.push((
                    format!("whole      {commit} has all of {}, also what you do not accept", own.name),
                    "question",
                ));
            }
        }
        out
    }

    /// The files that are decided with this one.
    pub(in crate::review) fn decided_with(&self, file: usize) -> Vec<usize> {
        let path = self.files.get(file).map(|f| &f.path);
        let is = |other: &ReviewFile| path.is_some() && other.decided_with.as_ref() == path;
        self.files.iter().enumerate().filter(|(_, other)| is(other)).map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::file::{ReviewDecision, WholeChange};
    use super::super::from_patch::refused_file;
    use super::*;
    use crate::review::state::ReviewSubject;

    const PATCH: &[u8] = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n\
                           diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n";

    #[test]
    fn a_commit_is_shown_as_files_and_decided_as_a_whole() {
        let owner = ReviewFile {
            name: ".git/".into(),
            body: ReviewBody::Whole(WholeChange::default()),
            ..refused_file(Path::new("/w/.git"), 'M', "")
        };
        let files = commit_files(&owner, "commit 1f3a2c7", PATCH, &[("x".into(), "make runs it".into())]);
        assert_eq!(files[0].facts, ["! runs later: make runs it"]);
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, [".git/commit 1f3a2c7/x", ".git/commit 1f3a2c7/p.png"]);
        let mut review =
            Review::new("t", ReviewSubject::Pending, std::iter::once(owner).chain(files).collect());
        assert_eq!((review.progress(), review.stops().len()), ((0, 1), 1));
        review.window.cursor = review.rows.of_hunk(1, 0).unwrap();
        review.handle(crate::review::ReviewAction::Accept);
        assert_eq!((review.progress(), review.tally()), ((1, 1), (1, 0)));
        let marks = &review.files[1].lines().unwrap().hunks[0].marks;
        assert!(marks.iter().all(|mark| *mark == ReviewDecision::Accepted));
        review.handle(crate::review::ReviewAction::Undo);
        assert_eq!(review.progress(), (0, 1));
        assert_eq!(review.files[1].lines().unwrap().hunks[0].marks[0], ReviewDecision::Open);
        review.handle(crate::review::ReviewAction::RejectAll);
        assert_eq!((review.progress(), review.tally()), ((1, 1), (0, 1)));
    }

    /// Story: a person rejected a hunk and accepted the commit that has it, and nothing said so.
    #[test]
    fn a_commit_with_something_that_is_not_accepted_says_so() {
        let owner = ReviewFile {
            name: ".git/".into(),
            body: ReviewBody::Whole(WholeChange::default()),
            ..refused_file(Path::new("/w/.git"), 'M', "")
        };
        let files = commit_files(&owner, "commit 1f3a2c7", PATCH, &[]);
        let own = ReviewFile {
            name: "x".into(),
            body: ReviewBody::Whole(WholeChange::default()),
            ..refused_file(Path::new("/w/x"), 'M', "")
        };
        let all = std::iter::once(owner).chain(files).chain([own]);
        let mut review = Review::new("t", ReviewSubject::Pending, all.collect());
        let line = "whole      commit 1f3a2c7 has all of x, also what you do not accept";
        let decided = |review: &mut Review, file: usize, mark| {
            if let Some(ReviewBody::Whole(whole)) = review.files.get_mut(file).map(|file| &mut file.body) {
                whole.mark = mark;
            }
            review.summary().iter().any(|(text, _)| text == line)
        };
        assert!(!decided(&mut review, 0, ReviewDecision::Open));
        assert!(decided(&mut review, 0, ReviewDecision::Accepted));
        assert!(decided(&mut review, 3, ReviewDecision::Rejected));
        assert!(!decided(&mut review, 3, ReviewDecision::Accepted));
        decided(&mut review, 3, ReviewDecision::Rejected);
        assert!(!decided(&mut review, 0, ReviewDecision::Rejected));
    }

    /// A file of a commit has the mark of its repository; a ref has its own.
    #[test]
    fn a_ref_is_rejected_without_its_repository() {
        let owner = ReviewFile {
            name: ".git/".into(),
            body: ReviewBody::Whole(WholeChange::default()),
            ..refused_file(Path::new("/w/.git"), 'M', "")
        };
        let path = PathBuf::from("/w/.git/refs/heads/topic");
        let one = ref_file(&owner, path.clone(), ChangeKind::Created, "  branch topic created at 1f3a2c7");
        assert_eq!(one.name, ".git/refs/heads/topic");
        let commit = commit_files(&owner, "commit 1f3a2c7", PATCH, &[]);
        let mut review = Review::new("t", ReviewSubject::Pending, [vec![owner], commit, vec![one]].concat());
        let at = review.files.iter().position(|file| file.path == path).unwrap();
        review.window.cursor = review.rows.files.iter().find(|(file, _)| *file == at).unwrap().1;
        review.handle(crate::review::ReviewAction::Reject);
        assert_eq!((review.progress(), review.tally()), ((0, 1), (0, 1)));
        review.window.cursor = review.rows.files.first().unwrap().1;
        review.handle(crate::review::ReviewAction::Accept);
        assert_eq!((review.progress(), review.tally()), ((1, 1), (1, 1)));
        assert!(review.files[at].is_rejected_in_part());
        assert_eq!(review.counted(ReviewDecision::Rejected), (1, 1));
        review.handle(crate::review::ReviewAction::Undo);
        review.handle(crate::review::ReviewAction::Undo);
        assert_eq!((review.tally(), review.counted(ReviewDecision::Open)), ((0, 0), (1, 1)));
    }
}
