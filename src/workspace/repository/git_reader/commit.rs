//! A commit, as far as it is shown.

use super::object_id::ObjectId;
use super::object_store::ObjectReader;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Commit {
    pub(super) tree: ObjectId,
    pub(super) parents: Vec<ObjectId>,
    /// Name and address, as in the commit; hostile until rendered.
    pub(super) author: String,
    pub(super) committer: String,
    /// Seconds since 1970, of the committer.
    pub(super) time: i64,
    /// The first line of the message.
    pub(super) subject: String,
}

/// A commit with more parents is not read: git itself makes no merge of more than some dozens.
const MOST_PARENTS: usize = 1_000;

impl Commit {
    pub(super) fn read(objects: &ObjectReader<'_>, id: &ObjectId) -> Option<Commit> {
        Commit::parse(&objects.get_of(id, "commit")?)
    }

    fn parse(bytes: &[u8]) -> Option<Commit> {
        let end = memchr::memmem::find(bytes, b"\n\n").unwrap_or(bytes.len());
        let (head, message) = bytes.split_at_checked(end)?;
        let (mut tree, mut parents) = (None, Vec::new());
        let (mut author, mut committer, mut time) = (String::new(), String::new(), 0);
        for line in head.split(|byte| *byte == b'\n') {
            if let Some(id) = line.strip_prefix(b"tree ") {
                tree = tree.or(ObjectId::from_hex(id));
            } else if let Some(id) = line.strip_prefix(b"parent ") {
                parents.push(ObjectId::from_hex(id).filter(|_| parents.len() < MOST_PARENTS)?);
            } else if let Some(who) = line.strip_prefix(b"author ") {
                author = person(who).0;
            } else if let Some(who) = line.strip_prefix(b"committer ") {
                (committer, time) = person(who);
            }
        }
        let mut lines = message.split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
        let subject = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let subject = String::from_utf8_lossy(subject).into_owned();
        Some(Commit { tree: tree?, parents, author, committer, time, subject })
    }
}

/// `Name <address> seconds zone`: the name with the address, and the seconds.
fn person(line: &[u8]) -> (String, i64) {
    let end = memchr::memrchr(b'>', line).map_or(line.len(), |at| at + 1);
    let (who, rest) = line.split_at_checked(end).unwrap_or((line, b""));
    let seconds =
        std::str::from_utf8(rest).ok().and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    (String::from_utf8_lossy(who).into_owned(), seconds.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_its_headers_and_the_first_line_of_its_message() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        let text = format!(
            "tree {id}\nparent {id}\nauthor A <a@x> 5 +0100\ncommitter B <b@x> 7 +0000\ngpgsig -----\n x\n\n\nSubject\n\nBody\n"
        );
        let commit = Commit::parse(text.as_bytes()).unwrap();
        assert_eq!((commit.parents.len(), commit.time), (1, 7));
        assert_eq!(
            (&*commit.author, &*commit.committer, &*commit.subject),
            ("A <a@x>", "B <b@x>", "Subject")
        );
        assert_eq!(Commit::parse(b"author A <a@x> 5 +0100\n\nno tree\n"), None);
        assert_eq!(Commit::parse(format!("tree {id}\nparent 12\n\nx").as_bytes()), None);
        assert_eq!(Commit::parse(format!("tree {id}").as_bytes()).unwrap().subject, "");
    }
}
