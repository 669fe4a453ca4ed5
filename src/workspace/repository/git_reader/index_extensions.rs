//! The extensions at the end of an index (gitformat-index(5)), and what placet does with each: default deny.
//!
//! The entries, `TREE`, `REUC`, `sdir`, `EOIE` and `IEOT` are compared with each other and with the state before, and an index
//! with `link` is not read. Two others say which files git does not have to look at: `FSMN` (`core.fsmonitor`) and `UNTR`
//! (`core.untrackedCache`). Nothing proves them: only the monitor knows what its token means, and only a walk with all rules of
//! git knows which files are untracked. git makes both again without them, so they are left out when the index that a command
//! wrote becomes pending. What is applied has none, and an index that has one all the same gets a row, as one with an extension
//! that placet does not know.

/// What `core.fsmonitor` reported: the entries that git takes for unchanged.
pub(super) const FSMONITOR: [u8; 4] = *b"FSMN";
/// Names of files that are not tracked, by directory.
pub(super) const UNTRACKED: [u8; 4] = *b"UNTR";
/// Those that are compared.
const READ: [[u8; 4]; 6] = [*b"TREE", *b"REUC", *b"sdir", *b"link", *b"EOIE", *b"IEOT"];

/// Times and sizes of two files, and flags, before the names of both contents.
pub(super) const UNTRACKED_STAT: usize = 36 + 36 + 4;

/// The extension as git writes it where it has not looked at any directory yet: the place where it may be used, the files
/// with patterns, and no directories.
pub(super) fn begun_untracked(data: &[u8], width: usize) -> Option<Vec<u8>> {
    let mut at = 0;
    let place = take_number(data, &mut at)?;
    let names = at.checked_add(place)?.checked_add(UNTRACKED_STAT + 2 * width)?;
    let end = names.checked_add(memchr::memchr(0, data.get(names..)?)?)?.checked_add(1)?;
    Some([data.get(..end)?, b"\0"].concat())
}

/// True for an extension whose change has a row of its own: nothing says what git makes of it.
pub(super) fn is_unexplained(name: [u8; 4], data: &[u8], width: usize) -> bool {
    match name {
        UNTRACKED => begun_untracked(data, width).as_deref() != Some(data),
        name => !READ.contains(&name),
    }
}

/// A number in the form of the distances in a pack.
pub(super) fn take_number(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut byte = *bytes.get(*at)?;
    *at += 1;
    let mut number = usize::from(byte & 127);
    while byte & 128 != 0 {
        byte = *bytes.get(*at)?;
        *at += 1;
        number = number.checked_add(1)?.checked_mul(128)? | usize::from(byte & 127);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_that_placet_does_not_compare_is_unexplained() {
        let begun = [&b"\0"[..], &[0; UNTRACKED_STAT + 40], b"\0\0"].concat();
        for (name, data, is) in [
            (b"FSMN", &b""[..], true),
            (b"UNTR", b"x", true),
            (b"UNTR", &begun, false),
            (b"ABCD", b"", true),
            (b"TREE", b"", false),
            (b"EOIE", b"", false),
        ] {
            assert_eq!(is_unexplained(*name, data, 20), is, "{name:?}");
        }
    }
}
