//! Who the person is by the settings of git, so that a commit of anybody else says whose it is.
//!
//! The settings are those from before the change: the command may have written others. They are read as text, without the
//! files that they include.

use super::commit::Commit;
use super::git_sides::GitSides;
use super::repository_files::read;
use crate::workspace::repository::config::{LARGEST, settings};
use crate::workspace::repository::content_readers::outside_content;
use std::collections::BTreeMap;
use std::path::Path;

const NAMES: [&str; 3] = ["user.name", "author.name", "committer.name"];
const ADDRESSES: [&str; 3] = ["user.email", "author.email", "committer.email"];
/// git takes these before any setting.
const VARIABLES: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "author.name"),
    ("GIT_COMMITTER_NAME", "committer.name"),
    ("GIT_AUTHOR_EMAIL", "author.email"),
    ("GIT_COMMITTER_EMAIL", "committer.email"),
];

/// The values of the settings; none where nobody set any.
#[derive(Debug, Default)]
pub(super) struct PersonIdentity(BTreeMap<&'static str, String>);

impl PersonIdentity {
    /// By the settings of the person, of the repository at `common`, and by variables.
    pub(super) fn of(sides: &GitSides<'_>, common: &Path) -> PersonIdentity {
        let mut found = PersonIdentity::default();
        for file in sides.person_settings {
            if let Ok(Some(text)) = outside_content(file, LARGEST) {
                found.take(&text);
            }
        }
        found.take(&read(sides.before, &common.join("config"), LARGEST).unwrap_or_default());
        for (variable, key) in VARIABLES {
            found.0.extend(std::env::var(variable).ok().map(|value| (key, value)));
        }
        found
    }

    /// A later value counts.
    fn take(&mut self, text: &[u8]) {
        let (settings, _) = settings(text);
        for key in NAMES.into_iter().chain(ADDRESSES) {
            let value = settings.get(key.as_bytes()).and_then(|values| values.last()?.as_deref());
            self.0.extend(value.map(|value| (key, String::from_utf8_lossy(value).into_owned())));
        }
    }

    /// Who made the commit, where that is not the person alone.
    pub(super) fn made_by_other(&self, commit: &Commit) -> Option<String> {
        let Commit { author, committer, .. } = commit;
        match (author == committer, self.is_other(committer)) {
            (true, is_other) => is_other.then(|| author.clone()),
            (false, false) => Some(author.clone()),
            (false, true) => Some(format!("{author}, committed by {committer}")),
        }
    }

    /// `Name <address>` is somebody else; false where nobody knows who the person is.
    fn is_other(&self, who: &str) -> bool {
        let (name, address) = who.rsplit_once(" <").unwrap_or((who, ""));
        let differs = |keys: [&str; 3], text: &str| {
            let mut known = keys.iter().filter_map(|key| self.0.get(key)).peekable();
            known.peek().is_some() && !known.any(|value| without_crud(value) == without_crud(text))
        };
        differs(NAMES, name) || differs(ADDRESSES, address.trim_end_matches('>'))
    }
}

/// As git writes a name: without what could be taken for the form of the line.
fn without_crud(text: &str) -> String {
    let is_crud = |c: char| c <= ' ' || ".,:;<>\"\\'".contains(c);
    text.trim_matches(is_crud).chars().filter(|c| !"<>\n".contains(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_of_somebody_else_says_who_made_it() {
        let commit = |author: &str, committer: &str| Commit {
            tree: super::super::object_id::ObjectId::of("tree", b"", 20),
            parents: Vec::new(),
            author: author.into(),
            committer: committer.into(),
            time: 0,
            subject: String::new(),
            text: Vec::new(),
            message: Vec::new(),
        };
        let mut me = PersonIdentity::default();
        let by = |me: &PersonIdentity, author, committer| me.made_by_other(&commit(author, committer));
        assert_eq!(by(&me, "A <a@x>", "A <a@x>"), None);
        assert_eq!(by(&me, "A <a@x>", "B <b@x>").as_deref(), Some("A <a@x>"));
        me.take(b"[user]\n\tname = J. Me Jr.\n\temail = me@x\n");
        assert_eq!(by(&me, "J. Me Jr <me@x>", "J. Me Jr <me@x>"), None);
        assert_eq!(by(&me, "A <a@x>", "A <a@x>").as_deref(), Some("A <a@x>"));
        assert_eq!(by(&me, "J. Me Jr <a@x>", "J. Me Jr <a@x>").as_deref(), Some("J. Me Jr <a@x>"));
        assert_eq!(by(&me, "A <a@x>", "J. Me Jr <me@x>").as_deref(), Some("A <a@x>"));
        let both = by(&me, "J. Me Jr <me@x>", "B <b@x>");
        assert_eq!(both.as_deref(), Some("J. Me Jr <me@x>, committed by B <b@x>"));
        me.take(b"[user]\n\temail = other@x\n");
        assert_eq!(by(&me, "J. Me Jr <other@x>", "J. Me Jr <other@x>"), None);
    }
}
