//! What a command marked in a bisect that is in progress: one row for all of its refs, which names the commits.

use super::ancestry::only_in;
use super::budget::ReadBudget;
use super::commit::Commit;
use super::git_sides::RepositorySide;
use super::object_id::ObjectId;
use super::operation_facts::{BisectMark, BisectMarks, NamedCommit};
use super::refs::RefChange;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const DIR: &str = "refs/bisect";
/// Commits of one word that the row names.
const MOST_NAMED: usize = 3;

/// The marks, and the names of the refs that they are. `None` where no bisect is in progress before and after.
pub(super) fn bisect_marks(
    (before, after): (&RepositorySide<'_>, &RepositorySide<'_>),
    changes: &[RefChange],
    budget: &ReadBudget,
) -> Option<(BisectMarks, BTreeSet<PathBuf>)> {
    if ![before, after].iter().all(|side| side.refs.has_file("BISECT_LOG")) {
        return None;
    }
    let (mut found, mut names) = (BTreeMap::<(bool, &str), Vec<NamedCommit>>::new(), BTreeSet::new());
    for change in changes {
        let Some((word, named)) = word_of(&change.name) else { continue };
        let (is_removed, id) = match (change.old, change.new) {
            (_, Some(id)) => (false, id),
            (Some(id), None) => (true, id),
            (None, None) => continue,
        };
        // A ref that leads to something else than its name says has a row of its own.
        let Some(commit) = Commit::read(&after.objects, &id) else { continue };
        if named.is_some_and(|named| named != id) {
            continue;
        }
        let commit = NamedCommit { id: id.short(), on: None, subject: commit.subject };
        found.entry((is_removed, word)).or_default().push(commit);
        names.insert(change.name.clone());
    }
    let marks = found.into_iter().map(|((is_removed, word), mut named)| {
        let number = named.len();
        named.truncate(MOST_NAMED);
        BisectMark { word: word.into(), is_removed, number, named }
    });
    let marks = BisectMarks { marks: marks.collect(), left: left(after, budget) };
    (!names.is_empty()).then_some((marks, names))
}

/// The word of a ref of a bisect, and the commit that its name says: `good-ID`, `bad`.
fn word_of(name: &Path) -> Option<(&str, Option<ObjectId>)> {
    let file = name.strip_prefix(DIR).ok()?.to_str()?;
    let named = file.rsplit_once('-').and_then(|(word, id)| Some((word, ObjectId::from_hex(id.as_bytes())?)));
    Some(named.map_or((file, None), |(word, id)| (word, Some(id))))
}

fn left(after: &RepositorySide<'_>, budget: &ReadBudget) -> Option<usize> {
    let refs = after.refs.all(budget)?;
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for (name, id) in &refs {
        match word_of(name) {
            Some((_, None)) => bad.push(*id),
            Some(("skip", Some(_))) | None => {}
            Some((_, Some(_))) => good.push(*id),
        }
    }
    let [bad] = bad.as_slice() else { return None };
    let left = only_in(&[&after.objects], *bad, &good, budget);
    (!good.is_empty() && !left.at_least).then_some(left.number)
}
