//! The saved state of a review: decisions, reviewed marks, comments, edits. Written after every change: quitting, a
//! resume and a crash lose nothing.
//!
//! Everything is stored by content, never by position: an unchanged hunk still has its decision tomorrow, a changed
//! hunk is open again.

use super::content::comment::ReviewComment;
use super::content::file::{ReviewBody, ReviewDecision, ReviewFile, ReviewHunk, ReviewLines};
use super::content::side_text::SideText;
use super::state::Review;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedReview {
    version: u32,
    /// By the key of a run of lines, or of a whole.
    decided: BTreeMap<String, SavedDecision>,
    comments: Vec<ReviewComment>,
    next_comment: u64,
    edits: BTreeMap<PathBuf, SavedEdit>,
    /// What there was to decide, by the same keys, when the changes were last sent back; empty where they were not.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    known: BTreeSet<String>,
    /// What is not reported to the agent yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outbox: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedDecision {
    /// A letter for each changed line: `o`, `a` or `r`; a single letter is for all of them.
    marks: String,
    /// How many changed lines each part has, where the run was split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<usize>,
    /// The parts that are reviewed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reviewed: Vec<usize>,
}

/// A new side that the person edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SavedEdit {
    /// The content it was made from, by hash.
    of: String,
    content: String,
}

impl SavedReview {
    /// The saved state in `file`; empty where there is none or it cannot be read any more.
    pub fn load(file: &Path) -> SavedReview {
        let text = std::fs::read(file).unwrap_or_default();
        let memory: SavedReview = serde_json::from_slice(&text).unwrap_or_default();
        if memory.version == VERSION { memory } else { SavedReview::default() }
    }

    /// Replaces `file` in one step: a crash leaves the old state or the new one.
    pub fn save(&self, file: &Path) -> io::Result<()> {
        if *self
            == (SavedReview { version: VERSION, next_comment: self.next_comment, ..SavedReview::default() })
        {
            return match std::fs::remove_file(file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            };
        }
        let dir = file.parent().unwrap_or(Path::new("."));
        placet_text::private::make_dir(dir)?;
        let staged = tempfile::NamedTempFile::new_in(dir)?;
        serde_json::to_writer(&staged, self)?;
        staged.persist(file).map_err(|e| e.error)?;
        Ok(())
    }

    /// Only what is not reported to the agent yet.
    pub fn only(outbox: Option<String>) -> SavedReview {
        SavedReview { version: VERSION, next_comment: 1, outbox, ..SavedReview::default() }
    }

    /// True where a person decided, commented or edited something.
    pub fn has_decisions(&self) -> bool {
        !self.decided.is_empty() || !self.comments.is_empty() || !self.edits.is_empty()
    }

    /// The state once the changes are asked about anew: decisions and comments end with their question, and what the agent
    /// is to learn of them is in `outbox`. Texts that the person edited stay.
    #[must_use]
    pub fn ended(self, outbox: Option<String>) -> SavedReview {
        SavedReview { edits: self.edits, ..SavedReview::only(outbox) }
    }

    /// The same with a report that is to be sent again, before what is not reported yet.
    #[must_use]
    pub fn with_report_first(self, report: String) -> SavedReview {
        let outbox = match &self.outbox {
            Some(unsent) => format!("{report}\n{unsent}"),
            None => report,
        };
        let next_comment = self.next_comment.max(1);
        SavedReview { version: VERSION, next_comment, outbox: Some(outbox), ..self }
    }

    /// The state of `review` to save.
    pub fn of(review: &Review, outbox: Option<String>) -> SavedReview {
        let mut memory = SavedReview {
            version: VERSION,
            comments: review.comments.list.clone(),
            next_comment: review.comments.next,
            outbox,
            ..SavedReview::default()
        };
        for file in review.files.iter().filter(|file| !file.is_decided_elsewhere()) {
            match &file.body {
                ReviewBody::Whole(whole) => {
                    if whole.mark != ReviewDecision::Open || whole.reviewed {
                        let reviewed = if whole.reviewed { vec![0] } else { Vec::new() };
                        let decided =
                            SavedDecision { marks: letter(whole.mark).into(), parts: Vec::new(), reviewed };
                        memory.decided.insert(file.key.clone(), decided);
                    }
                }
                ReviewBody::Lines(lines) => memory.lines(file, lines),
            }
        }
        memory
    }

    /// Adds the saved state in `before` of everything that is not in `review`: a review of some paths leaves the others
    /// as they were.
    #[must_use]
    pub fn merge(mut self, before: &SavedReview, review: &Review) -> SavedReview {
        let own = keys(review);
        self.known.clone_from(&before.known);
        for (key, decided) in &before.decided {
            if !own.contains(key) {
                self.decided.entry(key.clone()).or_insert_with(|| decided.clone());
            }
        }
        for (path, edit) in &before.edits {
            if review.files.iter().all(|f| f.path != *path) {
                self.edits.insert(path.clone(), edit.clone());
            }
        }
        self
    }

    /// The state to save when `review` was sent back and `rest` is what is pending now. What was accepted is still accepted,
    /// what was rejected is rejected where it is made again, and only what comes later is new. The comments were sent.
    pub fn after_sending_back(&self, review: &Review, rest: Option<Review>) -> SavedReview {
        let mut next = SavedReview { decided: self.decided.clone(), ..SavedReview::only(None) };
        if let Some(mut rest) = rest {
            drop(self.restore_into(&mut rest));
            rest.comments.list.clear();
            next = SavedReview::of(&rest, None).merge(self, &rest);
            next.known.extend(keys(&rest));
        }
        next.known.extend(keys(review));
        next
    }

    fn lines(&mut self, file: &ReviewFile, lines: &ReviewLines) {
        if lines.edited {
            let content = STANDARD.encode(lines.new.bytes(0..lines.new.len()));
            self.edits.insert(file.path.clone(), SavedEdit { of: file.key.clone(), content });
        }
        for (key, run) in runs(file, lines) {
            let marks: String = run.iter().flat_map(|h| h.marks.iter().map(|m| letter(*m))).collect();
            let reviewed: Vec<usize> =
                run.iter().enumerate().filter(|(_, h)| h.reviewed).map(|(n, _)| n).collect();
            let split = run.len() > 1;
            if reviewed.is_empty() && !split && marks.bytes().all(|b| b == b'o') {
                continue;
            }
            let first = marks.get(..1).unwrap_or("o").to_string();
            let marks = if marks.bytes().all(|b| first.as_bytes() == [b]) { first } else { marks };
            let parts = if split { run.iter().map(|h| h.marks.len()).collect() } else { Vec::new() };
            self.decided.insert(key, SavedDecision { marks, parts, reviewed });
        }
    }

    /// Restores the saved state into the present review. Returns a sentence for everything that does not fit any more.
    pub fn restore_into(&self, review: &mut Review) -> Vec<String> {
        let mut notes = Vec::new();
        for file in &mut review.files {
            if let Some(edit) = self.edits.get(&file.path) {
                let content = STANDARD.decode(&edit.content).ok().and_then(SideText::new);
                let same = edit.of == file.key;
                match (content, file.lines_mut()) {
                    (Some(new), Some(lines)) if same => {
                        let conflicts = std::mem::take(&mut lines.conflicts);
                        let fresh = ReviewLines::new(lines.old.clone(), new);
                        let is_on_workspace = lines.is_on_workspace;
                        *lines = ReviewLines { edited: true, is_on_workspace, conflicts, ..fresh };
                    }
                    _ => notes.push(format!(
                        "{}: the hunk changed since you edited it; your edit was dropped",
                        file.name
                    )),
                }
            }
            if !file.is_decided_elsewhere() {
                self.mark_new(file);
                self.put_marks(file);
            }
        }
        review.follow_decisions();
        review.comments.list.clone_from(&self.comments);
        review.comments.next = self.next_comment.max(1);
        review.move_comments();
        notes
    }

    fn mark_new(&self, file: &mut ReviewFile) {
        if self.known.is_empty() {
            return;
        }
        let is_new = |key: &str| !self.known.contains(key);
        let of_runs: Vec<bool> = match file.lines() {
            Some(lines) => {
                let of_run = |(key, run): (String, Vec<&ReviewHunk>)| vec![is_new(&key); run.len()];
                runs(file, lines).into_iter().flat_map(of_run).collect()
            }
            None => vec![is_new(&file.key)],
        };
        match &mut file.body {
            ReviewBody::Whole(whole) => whole.is_new = of_runs.first() == Some(&true),
            ReviewBody::Lines(lines) => {
                lines.hunks.iter_mut().zip(of_runs).for_each(|(hunk, is_new)| hunk.is_new = is_new);
            }
        }
    }

    fn put_marks(&self, file: &mut ReviewFile) {
        if self.decided.is_empty() {
            return;
        }
        let keyed: Vec<(String, usize)> = match &mut file.body {
            ReviewBody::Whole(whole) => {
                if let Some(decided) = self.decided.get(&file.key) {
                    whole.mark = decided.marks.chars().next().map(mark).unwrap_or_default();
                    whole.reviewed = !decided.reviewed.is_empty();
                }
                return;
            }
            ReviewBody::Lines(_) => {
                let Some(lines) = file.lines() else { return };
                runs(file, lines).into_iter().enumerate().map(|(n, (key, _))| (key, n)).collect()
            }
        };
        let Some(lines) = file.lines_mut() else { return };
        let mut out: Vec<ReviewHunk> = Vec::with_capacity(lines.hunks.len());
        for (hunk, (key, _)) in std::mem::take(&mut lines.hunks).into_iter().zip(keyed) {
            match self.decided.get(&key) {
                Some(decided) => out.extend(decided.put_on(hunk)),
                None => out.push(hunk),
            }
        }
        lines.hunks = out;
    }
}

impl SavedDecision {
    fn put_on(&self, mut hunk: ReviewHunk) -> Vec<ReviewHunk> {
        let letters: Vec<char> = self.marks.chars().collect();
        for (n, slot) in hunk.marks.iter_mut().enumerate() {
            let letter = if letters.len() == 1 { letters.first() } else { letters.get(n) };
            *slot = letter.copied().map(mark).unwrap_or_default();
        }
        let mut out = Vec::new();
        for len in self.parts.iter().take(self.parts.len().saturating_sub(1)) {
            match hunk.split(*len) {
                Some((first, rest)) => {
                    out.push(first);
                    hunk = rest;
                }
                None => break,
            }
        }
        out.push(hunk);
        for n in &self.reviewed {
            if let Some(part) = out.get_mut(*n) {
                part.reviewed = true;
            }
        }
        out
    }
}

/// The keys of all that there is to decide.
fn keys(review: &Review) -> BTreeSet<String> {
    let mut own = BTreeSet::new();
    for file in &review.files {
        own.insert(file.key.clone());
        if let Some(lines) = file.lines() {
            own.extend(runs(file, lines).into_iter().map(|(key, _)| key));
        }
    }
    own
}

/// The runs of changed lines of a file, each with the hunks it was split into, by a key that is the same for the same
/// change. Equal changes of one file are distinguished by their order.
fn runs<'a>(file: &ReviewFile, lines: &'a ReviewLines) -> Vec<(String, Vec<&'a ReviewHunk>)> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut out: Vec<Vec<&ReviewHunk>> = Vec::new();
    for hunk in &lines.hunks {
        match out.last_mut() {
            Some(run) if hunk.cut => run.push(hunk),
            _ => out.push(vec![hunk]),
        }
    }
    let key = |run: &[&ReviewHunk]| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(file.path.as_os_str().as_encoded_bytes());
        // The lines of the whole run: its split does not matter.
        hasher.update(b"\0-");
        for hunk in run {
            hasher.update(lines.old.bytes(hunk.old.clone()));
        }
        hasher.update(b"\0+");
        for hunk in run {
            hasher.update(lines.new.bytes(hunk.new.clone()));
        }
        hasher.finalize().to_hex().get(..24).unwrap_or_default().to_string()
    };
    let keyed = out.into_iter().map(|run| {
        let key = key(&run);
        let count = seen.entry(key.clone()).or_default();
        *count += 1;
        (format!("{key}-{count}"), run)
    });
    keyed.collect()
}

fn letter(mark: ReviewDecision) -> &'static str {
    match mark {
        ReviewDecision::Open => "o",
        ReviewDecision::Accepted => "a",
        ReviewDecision::Rejected => "r",
    }
}

fn mark(letter: char) -> ReviewDecision {
    match letter {
        'a' => ReviewDecision::Accepted,
        'r' => ReviewDecision::Rejected,
        _ => ReviewDecision::Open,
    }
}

#[cfg(test)]
#[path = "saved_review_tests.rs"]
mod tests;
