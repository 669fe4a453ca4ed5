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
    /// The headers that are in no field, and the message; nothing where the subject is all.
    pub(super) text: Vec<u8>,
    /// All of the message, without empty lines at its ends.
    pub(super) message: Vec<u8>,
}

/// Characters of a subject that a row has.
pub(super) const LONGEST_SUBJECT: usize = 100;

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
        let mut others: Vec<u8> = Vec::new();
        for line in head.split(|byte| *byte == b'\n') {
            if let Some(id) = line.strip_prefix(b"tree ").filter(|_| tree.is_none()) {
                tree = ObjectId::from_hex(id);
            } else if let Some(id) = line.strip_prefix(b"parent ") {
                parents.push(ObjectId::from_hex(id).filter(|_| parents.len() < MOST_PARENTS)?);
            } else if let Some(who) = line.strip_prefix(b"author ").filter(|_| author.is_empty()) {
                author = person(who).0;
            } else if let Some(who) = line.strip_prefix(b"committer ").filter(|_| committer.is_empty()) {
                (committer, time) = person(who);
            } else {
                // Also a signature, whose lines follow with a blank in front.
                others.extend_from_slice(line);
                others.push(b'\n');
            }
        }
        let mut lines = message.split(|byte| *byte == b'\n').map(|line| line.trim_ascii());
        let subject = lines.find(|line| !line.is_empty()).unwrap_or_default();
        let is_all = others.is_empty() && message.trim_ascii() == subject;
        let is_in_row =
            std::str::from_utf8(subject).is_ok_and(|text| text.chars().count() <= LONGEST_SUBJECT);
        let subject = String::from_utf8_lossy(subject).into_owned();
        let text = match is_all && is_in_row {
            true => Vec::new(),
            false => {
                [&*others, if others.is_empty() { b"" } else { b"\n" }, message.trim_ascii(), b"\n"].concat()
            }
        };
        let message = message.trim_ascii().to_vec();
        Some(Commit { tree: tree?, parents, author, committer, time, subject, text, message })
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
        assert_eq!(commit.text, b"gpgsig -----\n x\n\nSubject\n\nBody\n");
        let text_of = |rest: String| {
            let text = format!("tree {id}\nauthor A <a@x> 5 +0100\ncommitter A <a@x> 5 +0100\n{rest}");
            Commit::parse(text.as_bytes()).unwrap().text
        };
        assert_eq!(text_of("\n\nSubject\n".into()), b"");
        assert_eq!(text_of(format!("\n{}", "x".repeat(100))), b"");
        assert_eq!(text_of(format!("\n{}", "x".repeat(101))).len(), 102);
        assert_eq!(text_of("author B <b@x> 1 +0000\n\nS".into()), b"author B <b@x> 1 +0000\n\nS\n");
        assert_eq!(Commit::parse(b"author A <a@x> 5 +0100\n\nno tree\n"), None);
        assert_eq!(Commit::parse(format!("tree {id}\nparent 12\n\nx").as_bytes()), None);
        assert_eq!(Commit::parse(format!("tree {id}").as_bytes()).unwrap().subject, "");
    }
}
