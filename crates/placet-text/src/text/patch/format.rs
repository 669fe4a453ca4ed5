//! Writes patches: hunks, names and binary contents in the format of git's extended diff.

use super::{base85, binary::blob_name};
use crate::text::hunk::{Hunk, hunks};

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A name as git writes it: in quotes with escapes, if it has special characters.
pub fn quoted(prefix: &str, name: &[u8]) -> String {
    let plain = |b: &u8| (0x20..0x7f).contains(b) && !matches!(b, b'"' | b'\\');
    if name.iter().all(plain) {
        return format!("{prefix}{}", String::from_utf8_lossy(name));
    }
    let escape = |b: &u8| match b {
        b'"' => "\\\"".to_string(),
        b'\\' => "\\\\".to_string(),
        b'\n' => "\\n".to_string(),
        b'\t' => "\\t".to_string(),
        b if plain(b) => char::from(*b).to_string(),
        b => format!("\\{b:03o}"),
    };
    format!("\"{prefix}{}\"", name.iter().map(escape).collect::<String>())
}

/// The hunks that turn `before` into `after`, each with its `@@` line.
pub fn unified(before: &[u8], after: &[u8], out: &mut Vec<u8>) {
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
pub fn binary(before: &[u8], after: &[u8], out: &mut Vec<u8>) {
    // git accepts a binary patch only with the object names of both blobs, and checks no abbreviated names. The literal
    // form does not need correct names.
    let index = format!("index {}..{}\n", blob_name(before), blob_name(after));
    out.extend_from_slice(index.as_bytes());
    out.extend_from_slice(b"GIT binary patch\n");
    for content in [after, before] {
        out.extend_from_slice(format!("literal {}\n", content.len()).as_bytes());
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(content, 6);
        for chunk in packed.chunks(52) {
            let length = u8::try_from(chunk.len()).unwrap_or(52);
            out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
            out.extend_from_slice(base85::encode(chunk).as_bytes());
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}
