//! What may be signed: the text of a whole commit or tag, as git passes it to a program for signatures. A signature over
//! any other text, such as a list of checksums, would be worth something elsewhere.

use std::fmt;

/// The largest object, because all of it is shown before it is signed.
pub const MOST_PAYLOAD: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedObject {
    Commit,
    Tag,
}

impl fmt::Display for SignedObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == SignedObject::Commit { "commit" } else { "tag" })
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    #[error("it is larger than 64 KiB, and all of it would have to be shown")]
    TooLarge,
    #[error("it is not UTF-8 text")]
    NotText,
    #[error("it is not a commit or a tag")]
    NotObject,
}

/// The kind and the text of an object. Headers that git does not write into an object before it is signed are refused.
pub fn check_payload(payload: &[u8]) -> Result<(SignedObject, &str), PayloadError> {
    if payload.len() > MOST_PAYLOAD {
        return Err(PayloadError::TooLarge);
    }
    let text = std::str::from_utf8(payload).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or(PayloadError::NotText)?;
    let kind = text.split_once("\n\n").and_then(|(head, _)| kind(&headers(head)?));
    kind.map(|kind| (kind, text)).ok_or(PayloadError::NotObject)
}

/// Names and values. Only a merged tag has several lines.
fn headers(head: &str) -> Option<Vec<(&str, &str)>> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for line in head.split('\n') {
        match line.split_once(' ')? {
            ("", _) => drop(found.last().filter(|(name, _)| *name == "mergetag")?),
            header => found.push(header),
        }
    }
    Some(found)
}

fn kind(headers: &[(&str, &str)]) -> Option<SignedObject> {
    if let [("object", id), ("type", of), ("tag", name), ("tagger", tagger)] = headers {
        let is_tag = is_id(id) && matches!(*of, "commit" | "tree" | "blob" | "tag") && !name.is_empty();
        return (is_tag && is_identity(tagger)).then_some(SignedObject::Tag);
    }
    let [("tree", tree), rest @ ..] = headers else { return None };
    let (parents, rest) = rest.split_at(rest.iter().take_while(|(name, _)| *name == "parent").count());
    let [("author", author), ("committer", committer), more @ ..] = rest else { return None };
    let is_commit = is_id(tree)
        && parents.iter().all(|(_, id)| is_id(id))
        && is_identity(author)
        && is_identity(committer)
        && more.iter().all(|(name, _)| matches!(*name, "encoding" | "mergetag"));
    is_commit.then_some(SignedObject::Commit)
}

fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// `Name <email> 1700000000 +0100`
fn is_identity(text: &str) -> bool {
    let mut words = text.rsplitn(3, ' ');
    let (Some(zone), Some(seconds), Some(who)) = (words.next(), words.next(), words.next()) else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    zone.len() == 5
        && zone.strip_prefix(['+', '-']).is_some_and(is_number)
        && is_number(seconds)
        && who.ends_with('>')
        && who.contains('<')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_commit_or_tag_is_signed() {
        const A: &str = "author A <a@x> 1700000000 +0000\n";
        const C: &str = "committer A <a@x> 1700000000 -0130\n";
        let id = "0123456789abcdef0123456789abcdef01234567";
        let (tree, parent) = (format!("tree {id}\n"), format!("parent {id}\n"));
        let tag = format!("object {id}\ntype commit\ntag v1\ntagger A <a@x> 1700000000 +0000\n");
        let (commit, is_tag) = (Ok(SignedObject::Commit), Ok(SignedObject::Tag));
        let other = || Err(PayloadError::NotObject);
        for (payload, expected) in [
            (format!("{tree}{A}{C}\nFirst\n"), &commit),
            (format!("{tree}{A}{C}\n"), &commit),
            (format!("{tree}{parent}{parent}{A}{C}encoding UTF-8\n\nMerge\n\nMore\n"), &commit),
            (format!("{tree}{parent}{A}{C}mergetag object {id}\n type commit\n \n text\n\nMerge\n"), &commit),
            (format!("tree {id}{}\n{A}{C}\nSHA-256\n", "0".repeat(24)), &commit),
            (format!("{tag}\nVersion 1\n"), &is_tag),
            (String::new(), &other()),
            ("any text".into(), &other()),
            (format!("{tree}{A}{C}"), &other()),
            (format!("{A}{C}\nNo tree\n"), &other()),
            (format!("{tree}{C}{A}\nOrder\n"), &other()),
            (format!("{tree}{A}{C}{parent}\nOrder\n"), &other()),
            (format!("tree {}\n{A}{C}\nShort\n", &id[1..]), &other()),
            (format!("tree {}\n{A}{C}\nCapitals\n", id.to_uppercase()), &other()),
            (format!("{tree}{A}{C}gpgsig x\n\nSigned already\n"), &other()),
            (format!("{tree}{A}{C} folded\n\nCommitter\n"), &other()),
            (format!("{tree}author A <a@x>\n{C}\nNo date\n"), &other()),
            (format!("{tag}note x\n\nMore\n"), &other()),
            (format!("certificate version 0.1\npusher A <a@x> 1700000000 +0000\n\n{id} {id} r\n"), &other()),
            (format!("\n\n{tree}{A}{C}\nLater\n"), &other()),
            (format!("{tree}{A}{C}\nNUL \0\n"), &Err(PayloadError::NotText)),
            (format!("{tree}{A}{C}\n{}", "x".repeat(MOST_PAYLOAD)), &Err(PayloadError::TooLarge)),
        ] {
            let checked = check_payload(payload.as_bytes());
            assert_eq!(&checked.map(|(kind, _)| kind), expected, "{payload:.300}");
        }
        let latin = [format!("{tree}{A}{C}encoding ISO-8859-1\n\n").as_bytes(), b"\xe4"].concat();
        assert_eq!(check_payload(&latin), Err(PayloadError::NotText));
    }
}
