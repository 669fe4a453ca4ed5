//! What `packed-refs` says about tags: a line that begins with `^` names the object to which the tag before it leads, and
//! without such a line git takes the tag for no tag object. git does not look at the tag itself then: `git describe` does not find
//! it, and others fetch another commit.

use super::budget::ReadBudget;
use super::event::GitEvent;
use super::git_sides::{GitSides, RepositorySide};
use super::object_id::ObjectId;
use super::packed_refs::{LARGEST_WHOLE, ref_of};
use super::reached_before::peeled;
use super::repository_files::{RepositoryFiles, read};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Refs that the row names.
const MOST_NAMED: usize = 3;

/// A ref with what the file says that it leads to.
type PeeledLine = (ObjectId, Option<ObjectId>);

/// A row for the refs whose lines changed, and say something else than the objects. Only files that are read whole.
pub(super) fn wrongly_peeled(
    sides: &GitSides<'_>,
    after: &RepositorySide<'_>,
    budget: &ReadBudget,
) -> Option<GitEvent> {
    let path = sides.dir.join("packed-refs");
    let text = |files: &dyn RepositoryFiles| read(files, &path, LARGEST_WHOLE).unwrap_or_default();
    let (old, new) = (text(sides.before), text(sides.after));
    let known = peeled_lines(&old);
    let (is_peeled, is_fully_peeled) = (says(&new, b"peeled"), says(&new, b"fully-peeled"));
    let is_wrong = |(name, (id, line)): &(Vec<u8>, PeeledLine)| {
        // Without the words in the first line, git looks at the tags.
        let is_trusted = is_fully_peeled || is_peeled && name.starts_with(b"refs/tags/");
        if line.is_none() && !is_trusted || known.get(name) == Some(&(*id, *line)) && says(&old, b"peeled") {
            return false;
        }
        let leads_to = peeled(&after.objects, *id);
        // The tag is in no repository that placet reads.
        let is_read = after.objects.has(id);
        is_read && *line != Some(leads_to).filter(|to| to != id)
    };
    let all = peeled_lines(&new).into_iter();
    let wrong: Vec<Vec<u8>> =
        all.take_while(|_| budget.has_time()).filter(is_wrong).map(|(name, _)| name).collect();
    let named = wrong.iter().take(MOST_NAMED).map(|name| PathBuf::from(OsStr::from_bytes(name))).collect();
    (!wrong.is_empty()).then_some(GitEvent::WronglyPeeled { number: wrong.len(), named })
}

fn peeled_lines(text: &[u8]) -> BTreeMap<Vec<u8>, PeeledLine> {
    let mut found: BTreeMap<Vec<u8>, PeeledLine> = BTreeMap::new();
    let mut last: Option<Vec<u8>> = None;
    for line in text.split(|byte| *byte == b'\n') {
        let to = line.strip_prefix(b"^").and_then(ObjectId::from_hex);
        if let (Some(name), true) = (&last, to.is_some()) {
            if let Some(known) = found.get_mut(name) {
                known.1 = to;
            }
            last = None;
        } else if let Some((name, id)) = ref_of(line) {
            found.insert(name.clone(), (id, None));
            last = Some(name);
        }
    }
    found
}

/// True where the first line says that the refs are in this form.
fn says(text: &[u8], word: &[u8]) -> bool {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words = first.strip_prefix(b"# pack-refs with:").unwrap_or_default();
    words.split(|byte| *byte == b' ').any(|found| found == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_circumflex_belongs_to_the_ref_before_it() {
        let id = |digit: &str| ObjectId::from_hex(digit.repeat(40).as_bytes()).unwrap();
        let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
        let text = format!(
            "# pack-refs with: peeled fully-peeled sorted \n{one} refs/heads/a\n{two} refs/tags/v1\n^{one}\n^{three}\n{three} refs/tags/v2\n"
        );
        let wanted = [
            ("refs/heads/a", (id("1"), None)),
            ("refs/tags/v1", (id("2"), Some(id("1")))),
            ("refs/tags/v2", (id("3"), None)),
        ];
        let wanted: BTreeMap<Vec<u8>, PeeledLine> =
            wanted.into_iter().map(|(name, line)| (name.as_bytes().to_vec(), line)).collect();
        assert_eq!(peeled_lines(text.as_bytes()), wanted);
        assert!(says(text.as_bytes(), b"peeled") && says(text.as_bytes(), b"fully-peeled"));
        assert!(!says(text.as_bytes(), b"peel") && !says(b"", b"peeled"));
    }
}
