//! A change set as a patch that `git apply` and GNU `patch` take.
//!
//! The form is git's extended diff. Contents that are no text become git binary patches, which GNU `patch` passes over.
//! Directories on their own have no form in it: they stand in comments.

use super::change::{Change, ChangeSet, Hunk, hunks};
use super::node::Node;
use super::objects::Objects;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The whole of `set`, with paths relative to `root`; those elsewhere are named in a comment.
pub fn patch(set: &ChangeSet, objects: &Objects, root: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    for change in &set.changes {
        match change.path.strip_prefix(root) {
            Ok(rel) => one(change, rel, objects, &mut out),
            Err(_) => comment(&mut out, &format!("outside this directory: {}", change.path.display())),
        }
    }
    out
}

fn comment(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(format!("# {}\n", text.replace('\n', " ")).as_bytes());
}

/// The content of a node as git sees it, and its mode.
fn side(node: &Node, bytes: Option<Vec<u8>>) -> Option<(Vec<u8>, &'static str)> {
    match node {
        Node::Link { target } => Some((target.as_bytes().to_vec(), "120000")),
        Node::File { attrs, .. } => Some((bytes?, if attrs.mode & 0o100 != 0 { "100755" } else { "100644" })),
        _ => None,
    }
}

fn one(change: &Change, rel: &Path, objects: &Objects, out: &mut Vec<u8>) {
    let shown = rel.display();
    match (&change.before, &change.after) {
        (Node::Directory { .. }, Node::Directory { .. }) => {
            return comment(out, &format!("mode of {shown}/"));
        }
        (Node::Directory { .. }, Node::Absent) => {
            return comment(out, &format!("directory removed: {shown}/"));
        }
        (Node::Absent, Node::Directory { .. }) => {
            return comment(out, &format!("directory created: {shown}/"));
        }
        (_, Node::Special { what }) => return comment(out, &format!("{shown} is {what}: not in this patch")),
        _ => {}
    }
    let bytes = contents(change, objects);
    let Some((before, after)) = bytes else {
        return comment(out, &format!("{shown} is too large for a patch, or cannot be read any more"));
    };
    let (old, new) = (side(&change.before, before), side(&change.after, after));
    // git tells a file that becomes a link as one that goes and one that comes.
    let kinds = |s: &Option<(Vec<u8>, &str)>| s.as_ref().map(|(_, mode)| mode.starts_with("12"));
    match (kinds(&old), kinds(&new)) {
        (Some(a), Some(b)) if a != b => {
            block(rel, old.as_ref(), None, out);
            block(rel, None, new.as_ref(), out);
        }
        _ => block(rel, old.as_ref(), new.as_ref(), out),
    }
}

type Both = (Option<Vec<u8>>, Option<Vec<u8>>);

fn contents(change: &Change, objects: &Objects) -> Option<Both> {
    let file = |node: &Node| node.is_file();
    if !file(&change.before) && !file(&change.after) {
        return Some((None, None));
    }
    let half = |node: &Node| if file(node) { node.clone() } else { Node::Absent };
    let files = Change { before: half(&change.before), after: half(&change.after), ..change.clone() };
    let (before, after) = files.bytes(objects)?;
    Some((file(&change.before).then_some(before), file(&change.after).then_some(after)))
}

fn block(rel: &Path, old: Option<&(Vec<u8>, &str)>, new: Option<&(Vec<u8>, &str)>, out: &mut Vec<u8>) {
    if let (Some(old), Some(new)) = (old, new)
        && old == new
    {
        return comment(
            out,
            &format!("mode or owner of {}: git does not know the difference", rel.display()),
        );
    }
    let (a, b) = (quoted("a/", rel), quoted("b/", rel));
    let line = |out: &mut Vec<u8>, text: &str| out.extend_from_slice(format!("{text}\n").as_bytes());
    line(out, &format!("diff --git {a} {b}"));
    match (old, new) {
        (None, Some((_, mode))) => line(out, &format!("new file mode {mode}")),
        (Some((_, mode)), None) => line(out, &format!("deleted file mode {mode}")),
        (Some((_, was)), Some((_, is))) if was != is => {
            line(out, &format!("old mode {was}"));
            line(out, &format!("new mode {is}"));
        }
        _ => {}
    }
    let empty = Vec::new();
    let before = old.map_or(&empty, |(bytes, _)| bytes);
    let after = new.map_or(&empty, |(bytes, _)| bytes);
    if before == after {
        return;
    }
    if before.contains(&0) || after.contains(&0) {
        binary(before, after, out);
        return;
    }
    let name = |side: Option<&(Vec<u8>, &str)>, name: &str| match side {
        Some(_) => name.to_string(),
        None => "/dev/null".into(),
    };
    // A tab ends a name with blanks, for GNU patch.
    let tab = if rel.as_os_str().as_bytes().contains(&b' ') { "\t" } else { "" };
    line(out, &format!("--- {}{tab}", name(old, &a)));
    line(out, &format!("+++ {}{tab}", name(new, &b)));
    unified(before, after, out);
}

/// A name as git writes it: in quotes with escapes, where it has anything odd.
fn quoted(prefix: &str, rel: &Path) -> String {
    let bytes = rel.as_os_str().as_bytes();
    let plain = |b: &u8| (0x20..0x7f).contains(b) && !matches!(b, b'"' | b'\\');
    if bytes.iter().all(plain) {
        return format!("{prefix}{}", String::from_utf8_lossy(bytes));
    }
    let escape = |b: &u8| match b {
        b'"' => "\\\"".to_string(),
        b'\\' => "\\\\".to_string(),
        b'\n' => "\\n".to_string(),
        b'\t' => "\\t".to_string(),
        b if plain(b) => char::from(*b).to_string(),
        b => format!("\\{b:03o}"),
    };
    format!("\"{prefix}{}\"", bytes.iter().map(escape).collect::<String>())
}

fn unified(before: &[u8], after: &[u8], out: &mut Vec<u8>) {
    let old: Vec<&[u8]> = before.split_inclusive(|b| *b == b'\n').collect();
    let new: Vec<&[u8]> = after.split_inclusive(|b| *b == b'\n').collect();
    let hunks = hunks(before, after);
    let mut at = 0;
    while let Some(first) = hunks.get(at) {
        let mut group = vec![first];
        while let Some(next) = hunks.get(at + group.len()) {
            let last = group.last().map_or(0, |h| h.old_lines.end);
            if next.old_lines.start > last + 2 * CONTEXT {
                break;
            }
            group.push(next);
        }
        at += group.len();
        write_group(&group, &old, &new, out);
    }
}

fn write_group(group: &[&Hunk], old: &[&[u8]], new: &[&[u8]], out: &mut Vec<u8>) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let lead = first.old_lines.start.min(CONTEXT);
    let tail = (old.len() - last.old_lines.end).min(CONTEXT);
    let from = (first.old_lines.start - lead, first.new_lines.start - lead);
    let length = (last.old_lines.end + tail - from.0, last.new_lines.end + tail - from.1);
    let place = |start: usize, length: usize| match length {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        _ => format!("{},{length}", start + 1),
    };
    let head = format!("@@ -{} +{} @@\n", place(from.0, length.0), place(from.1, length.1));
    out.extend_from_slice(head.as_bytes());
    let mut rows = |sign: u8, lines: &[&[u8]]| {
        for line in lines {
            out.push(sign);
            out.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    };
    let mut here = from.0;
    for hunk in group {
        rows(b' ', old.get(here..hunk.old_lines.start).unwrap_or_default());
        rows(b'-', old.get(hunk.old_lines.clone()).unwrap_or_default());
        rows(b'+', new.get(hunk.new_lines.clone()).unwrap_or_default());
        here = hunk.old_lines.end;
    }
    rows(b' ', old.get(here..here + tail).unwrap_or_default());
}

/// git's binary form: both contents whole, deflated, in its base 85.
fn binary(before: &[u8], after: &[u8], out: &mut Vec<u8>) {
    // git takes a binary patch only with the names of both blobs, and checks none of them when they are not whole; the
    // literal form needs no names to be right.
    let index = format!("index {}..{}\n", blob_name(before), blob_name(after));
    out.extend_from_slice(index.as_bytes());
    out.extend_from_slice(b"GIT binary patch\n");
    for content in [after, before] {
        out.extend_from_slice(format!("literal {}\n", content.len()).as_bytes());
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(content, 6);
        for chunk in packed.chunks(52) {
            let length = u8::try_from(chunk.len()).unwrap_or(52);
            out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
            out.extend_from_slice(base85(chunk).as_bytes());
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}

fn base85(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 85] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    let mut out = String::new();
    for four in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded.iter_mut().zip(four).for_each(|(to, from)| *to = *from);
        let mut value = u32::from_be_bytes(padded);
        let mut digits = [0u8; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS.get(usize::try_from(value % 85).unwrap_or(0)).copied().unwrap_or(b'0');
            value /= 85;
        }
        out.extend(digits.iter().map(|d| char::from(*d)));
    }
    out
}

/// The name git gives this content.
fn blob_name(bytes: &[u8]) -> String {
    use sha1::Digest;
    let mut hasher = sha1::Sha1::new();
    hasher.update(format!("blob {}\0", bytes.len()).as_bytes());
    hasher.update(bytes);
    super::node::to_hex(hasher.finalize().as_slice())
}
