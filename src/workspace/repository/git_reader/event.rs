//! What happened to a repository, one value for each row that a person reads.

use super::commit_patch::CommitPatch;
use super::event_words::{number_more, quoted, short, some_files, tree_words};
use super::operation_facts::{BisectMarks, NamedCommit, OperationFact, facts_words};
pub use super::stored_event::{RefTarget, StashPart, StoredContent, StoredKind};
use super::stored_event::{moved_words, target_words};
use super::tree_diff::TreeChanges;
use crate::text::{count, visible};
use crate::workspace::repository::repository_row::RepositoryRow;
use std::path::{Path, PathBuf};

/// Where `HEAD` is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeadPosition {
    /// The full name of a ref.
    Branch(PathBuf),
    /// The short name of a commit.
    Detached(String),
}

impl HeadPosition {
    /// A ref that is no branch: git refuses to work there, or writes to what a fetch writes.
    fn outside(&self) -> Option<&Path> {
        match self {
            HeadPosition::Branch(name) if !name.starts_with("refs/heads") => Some(name),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefKind {
    Branch,
    RemoteBranch,
    Tag,
    Notes,
    /// git shows the object that it names instead of another.
    Replacement,
    Other,
}

/// Why the index was not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexNotRead {
    TooLarge,
    Damaged,
    Version,
    Split,
    Sparse,
    /// It names other trees than its entries make.
    Trees,
    Reftable,
}

/// Names of refs, subjects and authors are as they are in the repository: hostile until [`GitEvent::line`] renders
/// them. Names of commits are short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitEvent {
    Commit {
        id: String,
        subject: String,
        /// Who made it, if that is not the person, or if the author is not the committer.
        author: Option<String>,
        /// The ref that leads to it.
        on: PathBuf,
        is_merge: bool,
        changes: TreeChanges,
        patch: CommitPatch,
    },
    /// A file among the refs that does not name an object, or is not a regular file.
    BrokenRef {
        kind: RefKind,
        name: PathBuf,
    },
    /// A ref that was there before, and that now leads to another ref, or to none any more: git writes there in its place.
    OtherName {
        name: PathBuf,
        of: Option<PathBuf>,
    },
    /// Refs that changed, or may have changed, and have no row.
    MoreRefs(usize),
    /// There are more new commits than rows.
    MoreCommits {
        at_least: usize,
    },
    Head {
        from: Option<HeadPosition>,
        to: HeadPosition,
        /// There is no commit: the branch does not exist.
        is_unborn: bool,
        dropped: DroppedCommits,
    },
    RefCreated {
        kind: RefKind,
        name: PathBuf,
        at: String,
        /// What it leads to, where that is no commit.
        content: Option<(RefTarget, StoredContent)>,
    },
    RefDeleted {
        kind: RefKind,
        name: PathBuf,
        at: String,
        dropped: DroppedCommits,
        /// What is gone with it, where that is no commit.
        content: Option<(RefTarget, StoredContent)>,
    },
    RefMoved {
        kind: RefKind,
        name: PathBuf,
        from: String,
        to: String,
        dropped: DroppedCommits,
        content: Option<(RefTarget, StoredContent)>,
    },
    BranchRenamed {
        from: PathBuf,
        to: PathBuf,
    },
    /// What git stores besides the commits of branches.
    Stored {
        kind: StoredKind,
        content: StoredContent,
    },
    /// There are more than have rows.
    MoreStored {
        kind: StoredKind,
        number: usize,
    },
    /// What no name leads to was not looked for.
    UnreachedNotRead,
    Operation {
        name: &'static str,
        in_progress: bool,
        facts: Vec<OperationFact>,
    },
    /// A rebase of the person continued, and the commit at which it had stopped was not made.
    StepSkipped(NamedCommit),
    /// What was marked in a bisect of the person.
    BisectMarked(BisectMarks),
    /// Commits that a rebase in progress has in no step. The patch lists them where the row cannot name all.
    StepsLeftOut {
        number: usize,
        named: Vec<NamedCommit>,
        patch: CommitPatch,
    },
    Index {
        staged: usize,
        unstaged: usize,
        /// Intent-to-add.
        announced: usize,
        in_conflict: usize,
        /// Conflicts whose versions the index has so that they can be brought back.
        resolved: usize,
        at_least: bool,
        /// Each path against the commit at `HEAD`, whether its content is new or not.
        patch: CommitPatch,
    },
    /// Changes of these files are not shown by git any more. The patch lists them where the row cannot name all.
    HiddenFiles {
        number: usize,
        named: Vec<PathBuf>,
        patch: CommitPatch,
    },
    /// What was staged of these files is in no commit and in no file any more. The patch goes from it to what is staged now.
    StagedLost {
        number: usize,
        named: Vec<PathBuf>,
        patch: CommitPatch,
    },
    IndexNotRead(IndexNotRead),
    /// Conflicts that were resolved and that git can no longer bring back, although their resolutions are in no commit.
    ConflictsForgotten {
        number: usize,
        named: Vec<PathBuf>,
    },
    /// An extension of the index by its name, which nothing explains.
    IndexExtension(String),
    /// A linked worktree whose detached `HEAD` had commits that no ref has.
    WorktreeRemoved {
        name: PathBuf,
        at: String,
        dropped: DroppedCommits,
    },
    /// Refs of which `packed-refs` says that they lead to something else than they do.
    WronglyPeeled {
        number: usize,
        named: Vec<PathBuf>,
    },
    /// Loose refs went into `packed-refs`, and none of them changed.
    RefsPacked,
    Repacked {
        loose: (usize, usize),
        packs: (usize, usize),
    },
    ReflogEntriesRemoved {
        name: PathBuf,
        entries: usize,
    },
    /// A lock that a command of git left: its next command refuses to work while the file exists.
    LockLeft(PathBuf),
    RefsNotRead(&'static str),
    /// Objects that the rows above would need are not in this repository.
    ObjectsElsewhere(&'static str),
    NotAllRead(&'static str),
    /// All that changed, where no other row is left.
    OnlyFiles {
        number: usize,
        named: Vec<PathBuf>,
        /// Files of objects, which have no name for a person.
        objects: usize,
    },
}

/// What happened to one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryEvents {
    /// Its directory; one that lies in another is a submodule's or a linked worktree's.
    pub path: PathBuf,
    pub events: Vec<GitEvent>,
}

impl RepositoryEvents {
    /// The rows for below the row of `outermost`, the repository that this one is or lies in.
    pub fn rows(&self, outermost: &Path, name: &dyn Fn(&Path) -> String) -> Vec<RepositoryRow> {
        let own = name(&self.path);
        let part = self.part_of(outermost).unwrap_or_else(|| own.clone());
        let row = |event: &GitEvent| {
            let row = match event.needs_care() {
                true => RepositoryRow::care(format!("{own}: {}", event.line())),
                false if self.path == outermost => RepositoryRow::plain(event.line()),
                false => RepositoryRow::plain(format!("{part}: {}", event.line())),
            };
            let mut patch = event.patch().cloned();
            if event.is_cut() {
                patch.get_or_insert_default().is_cut = true;
            }
            RepositoryRow { patch, ..row }
        };
        self.events.iter().map(row).collect()
    }

    /// What it is to `outermost`, in the words of git: `worktree fix`, `submodule lib`.
    fn part_of(&self, outermost: &Path) -> Option<String> {
        let rel = self.path.strip_prefix(outermost).ok()?;
        let of = |dir, word| Some(format!("{word} {}", visible::path(rel.strip_prefix(dir).ok()?)));
        of("worktrees", "worktree").or_else(|| of("modules", "submodule"))
    }
}

/// Commits that a ref had and has no more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DroppedCommits {
    pub number: usize,
    /// There may be more.
    pub at_least: bool,
    /// No other ref has them.
    pub are_lost: bool,
    /// Commits that are not counted: new ones with the same subjects and authors have rows.
    pub rewritten: usize,
    /// Subjects of the first that are gone, where others are rewritten.
    pub named: Vec<String>,
}

impl DroppedCommits {
    fn words(&self) -> String {
        let rewritten = match self.rewritten {
            0 => String::new(),
            number => format!("{} rewritten", count::of(number, "commit")),
        };
        if self.number == 0 && !self.at_least {
            return if rewritten.is_empty() { rewritten } else { format!(" ({rewritten})") };
        }
        let named: Vec<String> = self.named.iter().map(|subject| quoted(subject)).collect();
        let named = match (named.is_empty(), self.number.saturating_sub(named.len())) {
            (true, _) => String::new(),
            (false, 0) => format!(": {}", named.join(", ")),
            (false, more) => format!(": {} and {more} more", named.join(", ")),
        };
        let rewritten = if rewritten.is_empty() { rewritten } else { format!("; {rewritten}") };
        let more = if self.at_least { "at least " } else { "" };
        let them = if self.number == 1 && !self.at_least { "it" } else { "them" };
        let lost = if self.are_lost { format!("; no other ref has {them}") } else { String::new() };
        format!(" (drops {more}{}{named}{lost}{rewritten})", count::of(self.number, "commit"))
    }
}

impl GitEvent {
    /// What a person can open below the row.
    pub fn patch(&self) -> Option<&CommitPatch> {
        match self {
            GitEvent::Commit { patch, .. } => Some(patch),
            GitEvent::Index { patch, .. }
            | GitEvent::HiddenFiles { patch, .. }
            | GitEvent::StagedLost { patch, .. }
            | GitEvent::StepsLeftOut { patch, .. } => Some(patch).filter(|patch| !patch.is_empty()),
            GitEvent::Stored { content, .. } => Some(&content.patch).filter(|patch| !patch.is_empty()),
            GitEvent::RefCreated { content, .. }
            | GitEvent::RefDeleted { content, .. }
            | GitEvent::RefMoved { content, .. } => {
                content.as_ref().map(|(_, content)| &content.patch).filter(|patch| !patch.is_empty())
            }
            _ => None,
        }
    }

    /// True where the row says that something has no row, or that its content is not shown.
    fn is_cut(&self) -> bool {
        match self {
            GitEvent::Commit { changes, .. } => changes.at_least,
            // Where a file of git is too large to be shown, nobody has read what git takes from there.
            GitEvent::Stored { kind: StoredKind::StateFile(_), content } => content.not_shown.is_some(),
            GitEvent::Stored { content, .. } => content.changes.at_least && !content.patch.is_unreached,
            GitEvent::RefCreated { content, .. }
            | GitEvent::RefDeleted { content, .. }
            | GitEvent::RefMoved { content, .. } => {
                content.as_ref().is_some_and(|(_, content)| content.changes.at_least)
            }
            GitEvent::MoreStored { kind, .. } => *kind != StoredKind::UnreachedCommit,
            GitEvent::Index { at_least, .. } => *at_least,
            GitEvent::MoreCommits { .. }
            | GitEvent::MoreRefs(_)
            | GitEvent::RefsNotRead(_)
            | GitEvent::IndexNotRead(_)
            | GitEvent::IndexExtension(_)
            | GitEvent::ObjectsElsewhere(_)
            | GitEvent::NotAllRead(_) => true,
            _ => false,
        }
    }

    pub(in crate::workspace) fn patch_mut(&mut self) -> Option<&mut CommitPatch> {
        match self {
            GitEvent::Commit { patch, .. }
            | GitEvent::Index { patch, .. }
            | GitEvent::HiddenFiles { patch, .. }
            | GitEvent::StagedLost { patch, .. }
            | GitEvent::StepsLeftOut { patch, .. } => Some(patch),
            GitEvent::Stored { content, .. } => Some(&mut content.patch),
            GitEvent::RefCreated { content, .. }
            | GitEvent::RefDeleted { content, .. }
            | GitEvent::RefMoved { content, .. } => content.as_mut().map(|(_, content)| &mut content.patch),
            _ => None,
        }
    }

    /// How the files of its patch are named: `commit 1f3a2c7`, `tag v1`. Rendered for a person.
    pub fn content_name(&self) -> String {
        match self {
            GitEvent::Commit { id, .. } => format!("commit {id}"),
            GitEvent::Stored { kind, content } => kind.name(&content.id),
            GitEvent::RefCreated { kind, name, .. }
            | GitEvent::RefDeleted { kind, name, .. }
            | GitEvent::RefMoved { kind, name, .. } => {
                format!("{} {}", kind.word(), short(name))
            }
            GitEvent::HiddenFiles { .. } => "hidden files".into(),
            GitEvent::StagedLost { .. } => "staged before".into(),
            GitEvent::StepsLeftOut { .. } => "left out".into(),
            _ => "index".into(),
        }
    }

    /// True for what a person must see first.
    pub fn needs_care(&self) -> bool {
        match self {
            GitEvent::RefDeleted { dropped, .. }
            | GitEvent::RefMoved { dropped, .. }
            | GitEvent::WorktreeRemoved { dropped, .. } => dropped.are_lost,
            GitEvent::Head { to, dropped, .. } => dropped.are_lost || to.outside().is_some(),
            GitEvent::RefCreated { kind, .. } => *kind == RefKind::Replacement,
            GitEvent::Operation { facts, .. } => facts.iter().any(OperationFact::is_other_place),
            GitEvent::MoreStored { kind, .. } => *kind != StoredKind::UnreachedCommit,
            GitEvent::Stored {
                kind: StoredKind::Stash { part: StashPart::Entry | StashPart::Untracked, is_removed: true },
                ..
            }
            | GitEvent::HiddenFiles { .. }
            | GitEvent::StagedLost { .. }
            | GitEvent::MoreRefs(_)
            | GitEvent::BrokenRef { .. }
            | GitEvent::OtherName { .. }
            | GitEvent::LockLeft(_)
            | GitEvent::ReflogEntriesRemoved { .. }
            | GitEvent::RefsNotRead(_)
            | GitEvent::IndexNotRead(_)
            | GitEvent::IndexExtension(_)
            | GitEvent::WronglyPeeled { .. }
            | GitEvent::ObjectsElsewhere(_)
            | GitEvent::NotAllRead(_)
            | GitEvent::Index { at_least: true, .. } => true,
            _ => false,
        }
    }

    /// The row, without the name of its repository.
    pub fn line(&self) -> String {
        match self {
            GitEvent::Commit { id, subject, author, on, is_merge, changes, patch: _ } => {
                let author = author.as_ref().map(|who| format!(" by {}", visible::guard_line(who)));
                let kind = if *is_merge { "merge commit" } else { "commit" };
                format!(
                    "{kind} {id} {} on {}{}: {}",
                    quoted(subject),
                    short(on),
                    author.unwrap_or_default(),
                    tree_words(changes)
                )
            }
            GitEvent::MoreCommits { at_least } => {
                format!("at least {} older than these", count::of(*at_least, "new commit"))
            }
            GitEvent::BrokenRef { kind, name } => format!("{} {} cannot be read", kind.word(), short(name)),
            GitEvent::OtherName { name, of: Some(of) } => {
                let kind = RefKind::of(name).word();
                format!("{kind} {} is another name of {}: git writes there", short(name), visible::path(of))
            }
            GitEvent::OtherName { name, of: None } => {
                format!("{} {} is no name of another ref any more", RefKind::of(name).word(), short(name))
            }
            GitEvent::MoreRefs(refs) => format!("refs: {refs} more changed, which are not listed"),
            GitEvent::Head { from: _, to, is_unborn: _, dropped } if to.outside().is_some() => {
                let name = to.outside().map(visible::path).unwrap_or_default();
                format!("HEAD leads to {name}, which is no branch{}", dropped.words())
            }
            GitEvent::Head { from, to, is_unborn, dropped } => match (from, to) {
                (Some(HeadPosition::Branch(from)), HeadPosition::Branch(to)) => {
                    let unborn = if *is_unborn { " (no commits)" } else { "" };
                    format!("switched from branch {} to {}{unborn}", short(from), short(to))
                }
                (Some(HeadPosition::Detached(from)), HeadPosition::Branch(to)) => {
                    let unborn = if *is_unborn { " (no commits)" } else { "" };
                    let dropped = dropped.words();
                    format!("switched from the detached {from} to branch {}{unborn}{dropped}", short(to))
                }
                (None, HeadPosition::Branch(to)) => format!("on branch {}", short(to)),
                (Some(HeadPosition::Detached(from)), HeadPosition::Detached(id)) => {
                    format!("HEAD is detached at {id}, was at {from}{}", dropped.words())
                }
                (_, HeadPosition::Detached(id)) => format!("HEAD is detached at {id}"),
            },
            GitEvent::RefCreated { kind, name, at, content } => {
                format!("{} {} created at {at}{}", kind.word(), short(name), target_words(content.as_ref()))
            }
            GitEvent::RefDeleted { kind, name, at, dropped, content } => {
                let (dropped, target) = (dropped.words(), target_words(content.as_ref()));
                format!("{} {} deleted, was at {at}{dropped}{target}", kind.word(), short(name))
            }
            GitEvent::RefMoved { kind, name, from, to, dropped, content } => {
                let (dropped, target) = (dropped.words(), moved_words(content.as_ref()));
                format!("{} {} moved from {from} to {to}{dropped}{target}", kind.word(), short(name))
            }
            GitEvent::BranchRenamed { from, to } => {
                format!("branch {} renamed to {}", short(from), short(to))
            }
            GitEvent::Stored { kind, content } => kind.line(content),
            GitEvent::MoreStored { kind, number } => kind.more_line(*number),
            GitEvent::UnreachedNotRead => {
                "objects that no branch or tag reaches were not looked for: there are too many new objects"
                    .into()
            }
            GitEvent::Operation { name, in_progress: true, facts } => {
                format!("{name} in progress{}", facts_words(facts))
            }
            GitEvent::Operation { name, in_progress: false, facts: _ } => format!("{name} ended"),
            GitEvent::StepSkipped(commit) => format!("rebase continued without {}", commit.words()),
            GitEvent::BisectMarked(marks) => format!("bisect: {}", marks.words()),
            GitEvent::StepsLeftOut { number, named, patch: _ } => {
                let names: Vec<String> = named.iter().map(NamedCommit::words).collect();
                let more = number_more(*number, names.len());
                let commits = count::of(*number, "commit");
                format!("git-rebase-todo: leaves out {commits}: {}{more}", names.join(", "))
            }
            GitEvent::Index { staged, unstaged, announced, in_conflict, resolved, at_least, patch: _ } => {
                let counts = [
                    (staged, "staged"),
                    (unstaged, "unstaged"),
                    (announced, "intent-to-add"),
                    (in_conflict, "in conflict"),
                    (resolved, "resolved"),
                ];
                let counts = counts.iter().filter(|(number, _)| **number > 0);
                let counts: Vec<String> = counts.map(|(number, word)| format!("{number} {word}")).collect();
                match (counts.is_empty(), at_least) {
                    (true, _) => "index: not all paths were compared".into(),
                    (false, true) => format!("index: {}, and not all paths were compared", counts.join(", ")),
                    (false, false) => format!("index: {}", counts.join(", ")),
                }
            }
            GitEvent::HiddenFiles { number, named, patch: _ } => {
                format!("index: git no longer shows changes of {}", some_files(*number, named))
            }
            GitEvent::StagedLost { number, named, patch: _ } => {
                let files = some_files(*number, named);
                format!("index: drops staged changes of {files} that are in no commit and no file")
            }
            GitEvent::ConflictsForgotten { number, named } => {
                format!("index: git can no longer restore the conflict in {}", some_files(*number, named))
            }
            GitEvent::IndexExtension(name) => {
                let name = visible::guard_line(name);
                format!("index: placet does not read its extension {name}: git may not show changes of files")
            }
            GitEvent::IndexNotRead(why) => format!("index changed, and was not read: {}", why.words()),
            GitEvent::WorktreeRemoved { name, at, dropped } => {
                format!("worktree {} removed, its HEAD was at {at}{}", visible::path(name), dropped.words())
            }
            GitEvent::WronglyPeeled { number, named } => {
                let named: Vec<String> = named
                    .iter()
                    .map(|name| format!("{} {}", RefKind::of(name).word(), short(name)))
                    .collect();
                let more = match number.saturating_sub(named.len()) {
                    0 => String::new(),
                    more => format!(" and {}", count::of(more, "more ref")),
                };
                format!("packed-refs has a wrong object for {}{more}", named.join(", "))
            }
            GitEvent::RefsPacked => "refs packed".into(),
            GitEvent::Repacked { loose, packs } => {
                let of = |loose, packs| {
                    format!("{}, {}", count::of(loose, "loose object"), count::of(packs, "pack"))
                };
                format!("repacked: {} -> {}", of(loose.0, packs.0), of(loose.1, packs.1))
            }
            GitEvent::ReflogEntriesRemoved { name, entries } => {
                let entries = if *entries == 1 { "1 entry".into() } else { format!("{entries} entries") };
                format!("reflog of {}: {entries} removed", short(name))
            }
            GitEvent::LockLeft(file) => {
                format!("{} is left: git refuses to work until it is removed", visible::path(file))
            }
            GitEvent::RefsNotRead(why) => format!("refs changed, and were not read: {why}"),
            GitEvent::ObjectsElsewhere(why) => format!("commits were not read: {why}"),
            GitEvent::NotAllRead(why) => format!("not all of the repository was read: {why}"),
            GitEvent::OnlyFiles { named, objects, .. } if named.is_empty() => {
                format!("changed: {}", count::of(*objects, "stored object"))
            }
            GitEvent::OnlyFiles { number, named, objects: _ } => {
                format!("changed: {}", some_files(*number, named))
            }
        }
    }
}

impl RefKind {
    pub(super) fn of(name: &Path) -> RefKind {
        let below = |dir: &str| name.starts_with(dir);
        match () {
            () if below("refs/heads") => RefKind::Branch,
            () if below("refs/remotes") => RefKind::RemoteBranch,
            () if below("refs/tags") => RefKind::Tag,
            () if below("refs/notes") => RefKind::Notes,
            () if below("refs/replace") => RefKind::Replacement,
            () => RefKind::Other,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            RefKind::Branch => "branch",
            RefKind::RemoteBranch => "remote branch",
            RefKind::Tag => "tag",
            RefKind::Notes => "notes",
            RefKind::Replacement => "replacement",
            RefKind::Other => "ref",
        }
    }
}

impl IndexNotRead {
    pub(super) fn words(self) -> &'static str {
        match self {
            IndexNotRead::TooLarge => "it is larger than 64 MB, or no regular file",
            IndexNotRead::Damaged => "it is damaged",
            IndexNotRead::Version => "placet does not know its version",
            IndexNotRead::Split => "it is a split index",
            IndexNotRead::Sparse => "a directory of a sparse index cannot be read",
            IndexNotRead::Trees => "the trees that it names differ from its entries",
            IndexNotRead::Reftable => "the commit at HEAD is not known",
        }
    }
}
