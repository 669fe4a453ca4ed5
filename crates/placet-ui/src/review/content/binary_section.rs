//! A file of a patch whose content is not shown as lines, in the words of the list of changes: the sizes of one that is not
//! text, and where a link leads.

use super::file::{ReviewBody, ReviewFile, WholeChange};
use super::from_patch::of_patch;
use super::index_patch::sections;
use super::side_text::DiffSide;
use placet_text::text::patch::{StripLevels, parse};
use placet_text::text::sanitize;

/// What placet writes in front of the words about a side.
const BEFORE: &[u8] = b"# before: ";
const AFTER: &[u8] = b"# after: ";
/// How git ends such a section.
const ENDS: &[u8] = b"Binary files ";
/// A section with nothing but names is no patch of a file; one with modes is. What they say is not shown.
const SOME_MODES: &[u8] = b"old mode 100644\nnew mode 100755\n";

/// The sections of a patch, one for each file, where one of them is without lines. `None` where none is, and where the
/// sections are not all of the patch.
pub(in crate::review) fn with_binary_sections(patch: &[u8]) -> Option<Vec<&[u8]>> {
    let all: Vec<&[u8]> = sections(patch).into_iter().flat_map(parts).collect();
    let is_whole = all.iter().map(|section| section.len()).sum::<usize>() == patch.len();
    (is_whole && all.iter().any(|section| is_binary(section) || is_link(section))).then_some(all)
}

/// A file that becomes a link, or no longer is one, is removed and made: each of the two by itself.
fn parts(section: &[u8]) -> Vec<&[u8]> {
    let is_start = |at: &usize| section.get(*at..).is_some_and(|rest| rest.starts_with(b"\ndiff --git "));
    match (0..section.len()).find(is_start) {
        Some(end) => {
            vec![section.get(..=end).unwrap_or_default(), section.get(end + 1..).unwrap_or_default()]
        }
        None => vec![section],
    }
}

/// The file of a section without lines: `300 to 301 bytes`, `new, 4000 bytes`.
pub(in crate::review) fn binary_section(section: &[u8]) -> Option<ReviewFile> {
    if !is_binary(section) {
        return None;
    }
    let lines = || section.split_inclusive(|byte| *byte == b'\n');
    let is_header = |line: &&[u8]| !line.starts_with(b"# ") && !line.starts_with(ENDS);
    let mut header = lines().take_while(is_header).collect::<Vec<_>>().concat();
    let has_modes = lines().take_while(is_header).count() > 1;
    if !has_modes {
        header.extend_from_slice(SOME_MODES);
    }
    let mut files = of_patch(&parse(&header, StripLevels::Auto).ok()?);
    let file = files.pop().filter(|_| files.is_empty())?;
    let side = |lead: &[u8]| {
        let words = lines().find_map(|line| line.strip_prefix(lead))?;
        let words = String::from_utf8_lossy(words).trim_end().to_string();
        Some(words.strip_prefix("not text, ").map_or(words.clone(), String::from))
    };
    let ReviewBody::Whole(mut whole) = file.body else { return None };
    let words = sanitize::line(&words_of(side(BEFORE), side(AFTER))?).into_owned();
    // Behind the words about its lines is what the header says of the modes.
    let modes = whole.words.drain(..).skip(1).filter(|_| has_modes);
    whole.words = std::iter::once(words).chain(modes).collect();
    let key = blake3::hash(section).to_hex().to_string();
    Some(ReviewFile { body: ReviewBody::Whole(whole), key, ..file })
}

/// The link of a section: `link -> target`, with what it was before.
pub(in crate::review) fn link_section(section: &[u8]) -> Option<ReviewFile> {
    if !is_link(section) {
        return None;
    }
    let as_file = |line: &[u8]| match line.strip_suffix(LINK_MODE).filter(|_| names_link(line)) {
        Some(words) => [words, b"100644\n"].concat(),
        None => line.to_vec(),
    };
    let plain: Vec<u8> = section.split_inclusive(|byte| *byte == b'\n').flat_map(as_file).collect();
    let mut files = of_patch(&parse(&plain, StripLevels::Auto).ok()?);
    let file = files.pop().filter(|_| files.is_empty())?;
    let lines = file.lines()?;
    let side = |side| {
        let text = lines.side(side);
        (!text.is_empty()).then(|| String::from_utf8_lossy(text.bytes(0..text.len())).trim_end().to_string())
    };
    let words = match (side(DiffSide::Old), side(DiffSide::New)) {
        (None, None) => return None,
        (None, Some(new)) => format!("link -> {new}"),
        (Some(old), None) => format!("link, was -> {old}"),
        (Some(old), Some(new)) => format!("link -> {new}, was -> {old}"),
    };
    let words = vec![sanitize::line(&words).into_owned()];
    let key = blake3::hash(section).to_hex().to_string();
    Some(ReviewFile { body: ReviewBody::Whole(WholeChange { words, ..WholeChange::default() }), key, ..file })
}

const LINK_MODE: &[u8] = b"120000\n";

/// The line, of those before the hunks, has the mode of a link.
fn names_link(line: &[u8]) -> bool {
    let begins: [&[u8]; 5] =
        [b"new file mode ", b"deleted file mode ", b"old mode ", b"new mode ", b"index "];
    line.ends_with(LINK_MODE) && begins.iter().any(|lead| line.starts_with(lead))
}

fn is_link(section: &[u8]) -> bool {
    let mut header =
        section.split_inclusive(|byte| *byte == b'\n').take_while(|line| !line.starts_with(b"@@"));
    header.any(names_link)
}

/// No line of a hunk begins so.
fn is_binary(section: &[u8]) -> bool {
    section.split(|byte| *byte == b'\n').any(|line| line.starts_with(ENDS))
}

fn words_of(before: Option<String>, after: Option<String>) -> Option<String> {
    let bytes = |words: &str| -> Option<u64> {
        words.strip_suffix(" bytes").or(words.strip_suffix(" byte"))?.parse().ok()
    };
    Some(match (before, after) {
        (None, None) => return None,
        (None, Some(after)) => format!("new, {after}"),
        (Some(before), None) => format!("removed, {before}"),
        (Some(before), Some(after)) => match (bytes(&before), bytes(&after)) {
            (Some(before), Some(after)) => format!("{before} to {after} bytes"),
            _ => format!("{before} becomes {after}"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(head: &str, sides: &str) -> Option<(String, char, Vec<String>)> {
        let section = format!("{head}{sides}Binary files a/x and b/x differ\n");
        let file = binary_section(section.as_bytes())?;
        let ReviewBody::Whole(whole) = file.body else { return None };
        Some((file.name, file.letter, whole.words))
    }

    #[test]
    fn a_file_without_lines_is_its_sizes() {
        let named = "diff --git a/b.bin b/b.bin\n";
        for (head, sides, letter, words) in [
            (
                named.into(),
                "# before: not text, 300 bytes\n# after: not text, 301 bytes\n",
                'M',
                "300 to 301 bytes",
            ),
            (
                format!("{named}new file mode 100644\n"),
                "# after: not text, 4000 bytes\n",
                'A',
                "new, 4000 bytes",
            ),
            (
                format!("{named}deleted file mode 100644\n"),
                "# before: not text, 1 byte\n",
                'D',
                "removed, 1 byte",
            ),
            (named.into(), "# before: 12 bytes\n# after: not text, 9 bytes\n", 'M', "12 to 9 bytes"),
            (
                named.into(),
                "# before: not text, 9 bytes\n# after: too large to be shown, 3000000 bytes\n",
                'M',
                "9 bytes becomes too large to be shown, 3000000 bytes",
            ),
        ] {
            let expected = ("b.bin".to_string(), letter, vec![words.to_string()]);
            assert_eq!(shown(&head, sides), Some(expected), "{head}{sides}");
        }
        let (name, _, words) = shown(
            "diff --git \"a/\\303\\244 x\" \"b/\\303\\244 x\"\nold mode 100644\nnew mode 100755\n",
            "# before: not text, 1 byte\n# after: not text, 1 byte\n",
        )
        .unwrap();
        assert_eq!((name.as_str(), words[0].as_str()), ("\u{e4} x", "1 to 1 bytes"));
        assert!(words[1..].iter().any(|words| words.contains("100755")), "{words:?}");
        assert_eq!(shown("diff --git a/x b/x\n", ""), None);
    }

    #[test]
    fn a_patch_without_such_a_file_is_not_taken_apart() {
        let text = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-Binary files \n+b\n";
        let binary = "diff --git a/x b/x\n# after: not text, 2 bytes\nBinary files a/x and b/x differ\n";
        assert_eq!(with_binary_sections(text.as_bytes()), None);
        let both = format!("{text}{binary}");
        let parts = with_binary_sections(both.as_bytes()).unwrap();
        assert_eq!(parts, [text.as_bytes(), binary.as_bytes()]);
        assert_eq!(with_binary_sections(format!("words\n{both}").as_bytes()), None);
    }
}
