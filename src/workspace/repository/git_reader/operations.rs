//! Operations of git that take several commands, and the facts about one that the command began: what it merges, where it
//! stopped, where it returns when the person gives it up.
//!
//! These are in files that git obeys. Where a row says what is in such a file, the file has no row of its own.

#[path = "operations/rebase_steps.rs"]
mod rebase_steps;
#[path = "operations/return_places.rs"]
mod return_places;

use super::budget::ReadBudget;
use super::commit::Commit;
use super::event::{GitEvent, RefKind};
use super::git_sides::{GitSides, RepositorySide};
use super::object_id::ObjectId;
use super::operation_facts::{NamedCommit, OperationFact};
use super::packed_refs::RefMap;
use super::repository_files::{RepositoryFiles, exists, read};
use super::unexplained_files::mails::subject as mail_subject;
use rebase_steps::{RebaseIds, RebaseSteps, is_base};
pub(super) use return_places::ReturnPlaces;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// By the file that is there while they last.
const OPERATIONS: [(&str, &str); 5] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];
const LARGEST: u64 = 64 << 10;
/// Commits of one merge that a row names.
const MOST_MERGED: usize = 10;
/// Commits that the row of a cherry-pick names. Where there are more, the list has a row.
const MOST_PICKED: usize = 10;
/// Commits that the row of a rebase names of those that are left. They are commits of the branch.
const MOST_LEFT: usize = 3;
/// Options of a rebase by the files that git has for them. None of them has a content that git reads.
const REBASE_OPTIONS: [&str; 4] = ["signoff", "ignore_date", "cdate_is_adate", "allow_rerere_autoupdate"];
/// Options of `git am` that change its commits: the file is there, and `t` in it.
const AM_OPTIONS: [(&str, &str); 4] =
    [("sign", "signoff"), ("keep", "keep"), ("messageid", "message-id"), ("scissors", "scissors")];
const MOST_PATCHES: usize = 100_000;

/// The rows about operations, and the files that they explain.
pub(super) struct Operations {
    pub(super) events: Vec<GitEvent>,
    explained: BTreeSet<PathBuf>,
    pub(super) places: ReturnPlaces,
    /// The commits that are steps of a rebase which the command began.
    pub(super) steps: Vec<ObjectId>,
    /// The list of these steps was compared with the commits of the branch.
    pub(super) are_compared: bool,
    /// The commit of a step `edit` at which git stopped.
    pub(super) edited: Option<ObjectId>,
    /// One is in progress that the next command of git may give up. A bisect is none: it moves no branch.
    pub(super) is_open: bool,
}

impl Operations {
    pub(super) fn find(
        sides: &GitSides<'_>,
        (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
        shown: &[ObjectId],
        budget: &ReadBudget,
    ) -> Operations {
        let (was, is) = (names(sides.before, sides.dir), names(sides.after, sides.dir));
        let mut search = OperationSearch {
            sides,
            after,
            shown,
            budget,
            places: ReturnPlaces::find(sides, (before, after), shown),
            refs: OnceCell::new(),
            explained: BTreeSet::new(),
            events: Vec::new(),
            steps: Vec::new(),
            are_compared: false,
            edited: None,
        };
        for name in is.difference(&was) {
            let at = search.events.len();
            let facts = search.facts(name);
            search.events.insert(at, GitEvent::Operation { name, in_progress: true, facts });
        }
        for name in was.difference(&is) {
            search.events.push(GitEvent::Operation { name, in_progress: false, facts: Vec::new() });
        }
        let is_open = is.iter().any(|name| *name != "bisect");
        let OperationSearch { places, explained, events, steps, are_compared, edited, .. } = search;
        Operations { events, explained, places, steps, are_compared, edited, is_open }
    }

    /// True where a row says what is in the file at `rel`, a path in the repository.
    pub(super) fn explain(&self, rel: &Path) -> bool {
        self.explained.contains(rel)
    }
}

/// The operations in progress. `git am` and a rebase by patches have their files in one directory.
fn names(files: &dyn RepositoryFiles, dir: &Path) -> BTreeSet<&'static str> {
    let has = |name: &str| exists(files, &dir.join(name));
    let mut found: BTreeSet<&'static str> =
        OPERATIONS.iter().filter(|(file, _)| has(file)).map(|(_, name)| *name).collect();
    if has("rebase-apply") {
        found.insert(if has("rebase-apply/applying") { "am" } else { "rebase --apply" });
    }
    if has("sequencer") && !has("CHERRY_PICK_HEAD") && !has("REVERT_HEAD") {
        found.insert(sequencer_name(&read(files, &dir.join("sequencer/todo"), LARGEST).unwrap_or_default()));
    }
    found
}

/// By the first step: between two of them there is nothing else.
fn sequencer_name(todo: &[u8]) -> &'static str {
    let mut steps =
        todo.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
    match steps.next().and_then(|step| step.split(u8::is_ascii_whitespace).next()) {
        Some(b"pick" | b"p") => "cherry-pick",
        Some(b"revert") => "revert",
        _ => "cherry-pick or revert",
    }
}

struct OperationSearch<'a> {
    sides: &'a GitSides<'a>,
    after: &'a RepositorySide<'a>,
    shown: &'a [ObjectId],
    budget: &'a ReadBudget,
    places: ReturnPlaces,
    refs: OnceCell<RefMap>,
    explained: BTreeSet<PathBuf>,
    events: Vec<GitEvent>,
    steps: Vec<ObjectId>,
    are_compared: bool,
    edited: Option<ObjectId>,
}

impl OperationSearch<'_> {
    fn facts(&mut self, name: &str) -> Vec<OperationFact> {
        match name {
            "merge" => self.merge(),
            "rebase" => self.rebase(),
            "am" => self.am(),
            "rebase --apply" => {
                let dir = "rebase-apply";
                [self.onto(dir), self.patch(), self.abort_of_rebase(dir)].into_iter().flatten().collect()
            }
            "bisect" => self.bisect(),
            "cherry-pick" => self.picked("CHERRY_PICK_HEAD", &[b"pick", b"p"]),
            "revert" => self.picked("REVERT_HEAD", &[b"revert"]),
            _ => self.between_picks(),
        }
    }

    fn text_in(&self, rel: &str) -> Option<Vec<u8>> {
        read(self.sides.after, &self.sides.dir.join(rel), LARGEST)
    }

    fn id(&self, rel: &str) -> Option<ObjectId> {
        ObjectId::from_hex(self.text_in(rel)?.trim_ascii())
    }

    fn explain(&mut self, rel: impl Into<PathBuf>) {
        self.explained.insert(rel.into());
    }

    /// `None` for what is no commit: then the file has a row.
    fn commit(&self, id: ObjectId) -> Option<NamedCommit> {
        let commit = Commit::read(&self.after.objects, &id)?;
        Some(NamedCommit { id: id.short(), on: None, subject: commit.subject })
    }

    /// With a branch or a tag that leads to it.
    fn named(&self, id: ObjectId) -> Option<NamedCommit> {
        let refs = self.refs.get_or_init(|| self.after.refs.all(self.budget).unwrap_or_default());
        let rank = |name: &PathBuf| match RefKind::of(name) {
            RefKind::Branch => Some(0),
            RefKind::RemoteBranch => Some(1),
            RefKind::Tag => Some(2),
            _ => None,
        };
        let leading = refs.iter().filter(|(_, at)| **at == id);
        let on =
            leading.filter_map(|(name, _)| Some((rank(name)?, name))).min().map(|(_, name)| name.clone());
        Some(NamedCommit { on, ..self.commit(id)? })
    }

    fn merge(&mut self) -> Vec<OperationFact> {
        let text = self.text_in("MERGE_HEAD").unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let merged: Option<Vec<NamedCommit>> =
            lines.map(|line| self.named(ObjectId::from_hex(line)?)).collect();
        let Some(merged) = merged.filter(|merged| (1..=MOST_MERGED).contains(&merged.len())) else {
            return Vec::new();
        };
        self.explain("MERGE_HEAD");
        vec![OperationFact::Of(merged)]
    }

    fn picked(&mut self, file: &str, commands: &[&[u8]]) -> Vec<OperationFact> {
        let Some((id, picked)) = self.id(file).and_then(|id| Some((id, self.commit(id)?))) else {
            return self.between_picks();
        };
        self.explain(file);
        let mut facts = vec![OperationFact::Of(vec![picked])];
        facts.extend(self.sequencer());
        facts.extend(self.missing_steps());
        if let Some(left) = self.left_to_pick(id, commands).filter(|left| left.len() <= MOST_PICKED) {
            self.explain("sequencer/todo");
            if !left.is_empty() {
                facts.push(OperationFact::Left { number: left.len(), named: left, is_of_branch: false });
            }
        }
        facts
    }

    /// git stops at none of the commits.
    fn between_picks(&mut self) -> Vec<OperationFact> {
        self.sequencer().into_iter().chain(self.missing_steps()).collect()
    }

    /// The commits that come after the one at which git stopped. `None` where the list is not as git writes it.
    fn left_to_pick(&self, stopped: ObjectId, commands: &[&[u8]]) -> Option<Vec<NamedCommit>> {
        // git reads a list up to the first NUL.
        let todo = self.text_in("sequencer/todo").filter(|todo| !todo.contains(&0))?;
        let lines =
            todo.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"#"));
        let id = |line: &[u8]| {
            let mut words = line.split(|byte| *byte == b' ');
            words.next().filter(|word| commands.contains(word))?;
            let short = words.next()?;
            let ids = match ObjectId::from_hex(short) {
                Some(id) => vec![id],
                None => self.after.objects.of_short_name(short),
            };
            let is_commit = |id: &ObjectId| Commit::read(&self.after.objects, id).is_some();
            let ids: BTreeSet<ObjectId> = ids.into_iter().filter(is_commit).collect();
            ids.first().filter(|_| ids.len() == 1).copied()
        };
        let ids: Vec<ObjectId> = lines.map(id).collect::<Option<_>>()?;
        // git does not make the first one again.
        let (first, left) = ids.split_first()?;
        let left = left.iter().map(|id| self.commit(*id)).collect::<Option<_>>()?;
        (*first == stopped).then_some(left)
    }

    /// Where `git cherry-pick --abort` goes, unless it returns to where the command began.
    fn sequencer(&mut self) -> Option<OperationFact> {
        let head = self.id("sequencer/head").filter(|head| !self.places.has(head))?;
        let to = self.named(head)?;
        self.explain("sequencer/head");
        Some(OperationFact::AbortGoesTo(to))
    }

    /// git stops at a step of the list, so a list without one is not what it left.
    fn missing_steps(&mut self) -> Option<OperationFact> {
        if !exists(self.sides.after, &self.sides.dir.join("sequencer")) {
            return None;
        }
        let is_missing = !exists(self.sides.after, &self.sides.dir.join("sequencer/todo"));
        if !is_missing {
            let todo = self.text_in("sequencer/todo").filter(|todo| !todo.contains(&0))?;
            let is_step = |line: &&[u8]| !line.trim_ascii().is_empty() && !line.starts_with(b"#");
            if todo.split(|byte| *byte == b'\n').any(|line| is_step(&line)) {
                return None;
            }
            self.explain("sequencer/todo");
        }
        Some(OperationFact::NoSteps { is_missing })
    }

    /// The branch, and the commit onto which it is rebased.
    fn onto(&mut self, dir: &str) -> Option<OperationFact> {
        let onto = self.named(self.id(&format!("{dir}/onto"))?)?;
        let branch = self.head_name(dir)?;
        self.explain(format!("{dir}/onto"));
        self.explain(format!("{dir}/head-name"));
        Some(OperationFact::Onto { branch, onto })
    }

    /// `Some(None)` for a detached `HEAD`, and `None` for what is no branch.
    fn head_name(&self, dir: &str) -> Option<Option<PathBuf>> {
        let text = self.text_in(&format!("{dir}/head-name"))?;
        let name = text.trim_ascii();
        let is_branch = name.starts_with(b"refs/heads/") && name.iter().all(|byte| *byte > b' ');
        match name {
            b"detached HEAD" => Some(None),
            name => is_branch.then(|| Some(PathBuf::from(OsStr::from_bytes(name)))),
        }
    }

    fn rebase(&mut self) -> Vec<OperationFact> {
        let orig_head = self.id("rebase-merge/orig-head");
        let onto = self.id("rebase-merge/onto");
        let onto = onto.filter(|onto| is_base(self.after, self.shown, (*onto, orig_head), self.budget));
        let mut facts = Vec::new();
        if onto.is_some() {
            facts.extend(self.onto("rebase-merge"));
        }
        let head = self.id("REBASE_HEAD").and_then(|id| Some((id, self.commit(id)?)));
        let mut stopped_id = None;
        if let Some((id, stopped)) = head {
            self.explain("REBASE_HEAD");
            // Its beginning is what git has there.
            let text = self.text_in("rebase-merge/stopped-sha").unwrap_or_default();
            let name = text.trim_ascii();
            if name.len() >= 4 && id.to_hex().as_bytes().starts_with(name) {
                self.explain("rebase-merge/stopped-sha");
                stopped_id = Some(id);
            }
            facts.push(OperationFact::StoppedAt(stopped));
        }
        let ids =
            onto.zip(orig_head).map(|(onto, orig_head)| RebaseIds { onto, orig_head, stopped: stopped_id });
        let left = ids.and_then(|ids| self.steps(ids));
        if !exists(self.sides.after, &self.sides.dir.join("rebase-merge/git-rebase-todo")) {
            facts.push(OperationFact::NoSteps { is_missing: true });
        }
        facts.extend(self.abort_of_rebase("rebase-merge"));
        let options: Vec<&'static str> = REBASE_OPTIONS
            .into_iter()
            .filter(|name| {
                let text = self.text_in(&format!("rebase-merge/{name}"));
                text.is_some_and(|text| text.trim_ascii().len() <= 20)
            })
            .collect();
        options.iter().for_each(|name| self.explain(format!("rebase-merge/{name}")));
        if !options.is_empty() {
            facts.push(OperationFact::Options(options));
        }
        facts.extend(left);
        facts
    }

    /// Where `git rebase --abort` puts the branch, unless it stays there.
    fn abort_of_rebase(&mut self, dir: &str) -> Option<OperationFact> {
        let file = format!("{dir}/orig-head");
        let (orig_head, branch) = (self.id(&file)?, self.head_name(dir)?);
        let is_at = match &branch {
            Some(branch) => self.after.refs.get(branch) == Some(orig_head),
            None => self.places.has_detached(&orig_head),
        };
        // git sets it to the same commit.
        if is_at && self.id("ORIG_HEAD") == Some(orig_head) {
            self.explain("ORIG_HEAD");
        }
        let to = if is_at { None } else { Some(self.named(orig_head)?) };
        self.explain(file);
        Some(match branch {
            Some(branch) => OperationFact::AbortMoves { branch, to: to? },
            None => OperationFact::AbortGoesTo(to?),
        })
    }

    /// The commits that are left, where the list has all of them and nothing else.
    fn steps(&mut self, ids: RebaseIds) -> Option<OperationFact> {
        let steps = RebaseSteps::find(self.sides, (self.after, self.shown), ids, self.budget)?;
        self.are_compared = true;
        self.edited = steps.edited;
        if steps.are_plain {
            self.explain("rebase-merge/git-rebase-todo");
        }
        if steps.are_made {
            self.explain("rebase-merge/done");
        }
        self.events.extend(steps.event(self.budget));
        self.steps = steps.listed;
        let name = |(id, commit): &(ObjectId, Commit)| NamedCommit {
            id: id.short(),
            on: None,
            subject: commit.subject.clone(),
        };
        (steps.are_plain && !steps.left.is_empty()).then(|| OperationFact::Left {
            number: steps.left.len(),
            named: steps.left.iter().take(MOST_LEFT).map(name).collect(),
            is_of_branch: true,
        })
    }

    fn am(&mut self) -> Vec<OperationFact> {
        let mut facts: Vec<OperationFact> = self.patch().into_iter().collect();
        match self.id("ORIG_HEAD") {
            Some(id) if self.places.has(&id) => {}
            Some(id) => {
                if let Some(to) = self.named(id) {
                    self.explain("ORIG_HEAD");
                    facts.push(OperationFact::AbortGoesTo(to));
                }
            }
            None if self.after.refs.head_commit().is_some() => facts.push(OperationFact::AbortDeletesBranch),
            None => {}
        }
        let is_set = |(file, _): &&(&str, &str)| {
            self.text_in(&format!("rebase-apply/{file}"))
                .is_some_and(|text| matches!(text.trim_ascii(), b"t" | b"b"))
        };
        let options: Vec<(&'static str, &'static str)> = AM_OPTIONS.iter().filter(is_set).copied().collect();
        options.iter().for_each(|(file, _)| self.explain(format!("rebase-apply/{file}")));
        if !options.is_empty() {
            facts.push(OperationFact::Options(options.into_iter().map(|(_, name)| name).collect()));
        }
        facts
    }

    /// The patch that comes next.
    fn patch(&mut self) -> Option<OperationFact> {
        let number = |name: &str| {
            String::from_utf8(self.text_in(&format!("rebase-apply/{name}"))?)
                .ok()?
                .trim()
                .parse::<usize>()
                .ok()
        };
        let (next, last) = (number("next")?, number("last")?);
        if next == 0 || last > MOST_PATCHES {
            return None;
        }
        let has = |number: &usize| {
            exists(self.sides.after, &self.sides.dir.join(format!("rebase-apply/{number:04}")))
        };
        let missing = (next..=last).filter(|number| !has(number)).count();
        // Each patch before it has made a commit.
        let mut made = 0;
        let mut at = self.after.refs.head_commit();
        while let Some(id) = at.filter(|id| made < next - 1 && self.shown.contains(id)) {
            made += 1;
            at = Commit::read(&self.after.objects, &id).and_then(|commit| commit.parents.first().copied());
        }
        self.explain("rebase-apply/next");
        self.explain("rebase-apply/last");
        let mail = self.text_in(&format!("rebase-apply/{next:04}"));
        let subject = mail.as_deref().and_then(mail_subject);
        Some(OperationFact::Patch { next, last, subject, left_out: next - 1 - made, missing })
    }

    fn bisect(&mut self) -> Vec<OperationFact> {
        let text = self.text_in("BISECT_START").unwrap_or_default();
        let start = text.trim_ascii();
        if start.is_empty() || self.places.has_start(start) {
            return Vec::new();
        }
        let Ok(start) = std::str::from_utf8(start) else { return Vec::new() };
        if start.len() > 100 {
            return Vec::new();
        }
        let id = ObjectId::from_hex(start.as_bytes());
        let to = id.map_or_else(
            || start.to_string(),
            |id| self.named(id).map_or_else(|| id.short(), |to| to.words()),
        );
        self.explain("BISECT_START");
        vec![OperationFact::ResetGoesTo(to)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_a_sequencer_name_the_operation() {
        for (todo, name) in [
            ("pick 1234 a\nrevert 1 b\n", "cherry-pick"),
            ("# x\n\np 1234 a\n", "cherry-pick"),
            ("revert 1234 a\n", "revert"),
            ("", "cherry-pick or revert"),
            ("noop\n", "cherry-pick or revert"),
        ] {
            assert_eq!(sequencer_name(todo.as_bytes()), name, "{todo}");
        }
    }
}
