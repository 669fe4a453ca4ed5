//! The patches of `git am`, which `git am --continue` applies and commits one after the other.
//!
//! git is generous in what it takes for a patch, so every line that may name a file counts, with any number of directories
//! before the name. What is encoded for a mail is not read.

use super::ContentSearch;
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const CHANGES: &str = "this patch changes a file that runs later";
const ENCODED: &str = "this patch is encoded for a mail, and is not read";

/// What begins a line that names files: see `git-apply.c`.
const NAMING: [&[u8]; 5] = [b"diff --git ", b"--- ", b"+++ ", b"rename ", b"copy "];
const LINK: &[u8] = b"120000";

impl ContentSearch<'_> {
    /// Fails for a patch that changes a file which runs later, and for one that is not read.
    pub(super) fn is_harmless_patch(&self, mail: &[u8]) -> Result<(), &'static str> {
        let makes_link = memchr::memmem::find(mail, LINK).is_some();
        for line in mail.split(|byte| *byte == b'\n') {
            if is_encoded(line) {
                return Err(ENCODED);
            }
            // A program that quotes a mail puts blanks before a line, and git finds no patch there.
            let Some(names) = NAMING.iter().find_map(|begin| line.strip_prefix(*begin)) else { continue };
            let end = memchr::memchr2(b'\t', b'\r', names).unwrap_or(names.len());
            let names = unquoted(names.get(..end).unwrap_or_default());
            let quoted = names.split(|byte| *byte == b'"');
            let words = names.split(|byte| matches!(byte, b' ' | b'"'));
            if quoted.chain(words).chain([&*names]).any(|name| self.may_run(name, makes_link)) {
                return Err(CHANGES);
            }
        }
        Ok(())
    }

    /// True where the file runs later, whatever number of directories `git apply -p` takes away.
    fn may_run(&self, name: &[u8], makes_link: bool) -> bool {
        let modes: &[u32] =
            if makes_link { &[0o100_644, 0o100_755, 0o120_000] } else { &[0o100_644, 0o100_755] };
        let mut rest = Path::new(OsStr::from_bytes(name));
        loop {
            if rest.as_os_str().is_empty() {
                return false;
            }
            if modes.iter().any(|mode| (self.judge)(rest, *mode).is_some()) {
                return true;
            }
            let mut parts = rest.components();
            parts.next();
            rest = parts.as_path();
        }
    }
}

/// Names as they are: git quotes one with unusual bytes, as in C.
fn unquoted(names: &[u8]) -> Cow<'_, [u8]> {
    if !names.contains(&b'"') {
        return Cow::Borrowed(names);
    }
    let (mut out, mut rest) = (Vec::new(), names);
    while let Some((byte, more)) = rest.split_first() {
        rest = more;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
        let length = digits.max(1).min(rest.len());
        let (escaped, more) = rest.split_at(length);
        rest = more;
        match (digits, escaped) {
            (1.., _) => {
                let value = escaped.iter().fold(0_u32, |value, digit| value * 8 + u32::from(*digit - b'0'));
                out.push((value & 0xff) as u8);
            }
            // A name with a tab or a line break is none that a program runs.
            (0, [b'"' | b'\\']) => out.extend_from_slice(escaped),
            _ => out.push(b'?'),
        }
    }
    Cow::Owned(out)
}

/// True for a header that says how the lines below it are encoded, unless they are as they are read.
fn is_encoded(line: &[u8]) -> bool {
    const HEADER: &[u8] = b"content-transfer-encoding";
    const PLAIN: [&[u8]; 3] = [b"7bit", b"8bit", b"binary"];
    let begin = line.get(..HEADER.len()).unwrap_or_default();
    if !begin.eq_ignore_ascii_case(HEADER) {
        return false;
    }
    let value = line.get(HEADER.len()..).unwrap_or_default().trim_ascii();
    let value = value.strip_prefix(b":").unwrap_or(value).trim_ascii().to_ascii_lowercase();
    !PLAIN.contains(&value.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_git_quotes_them() {
        let cases = [
            ("a/x b/x", "a/x b/x"),
            (r#""a/\303\251" b/x"#, "\"a/é\" b/x"),
            (r#""b/\056envrc""#, "\"b/.envrc\""),
            (r#""a\\b\tc\"d\"#, "\"a\\b?c\"d?"),
            (r"a\056", r"a\056"),
        ];
        for (names, want) in cases {
            assert_eq!(String::from_utf8_lossy(&unquoted(names.as_bytes())), want, "{names}");
        }
    }

    #[test]
    fn only_plain_encodings_are_read() {
        for (line, is) in [
            ("Content-Transfer-Encoding: 8bit\r", false),
            ("content-transfer-encoding:7bit", false),
            ("Content-Transfer-Encoding: base64", true),
            ("CONTENT-TRANSFER-ENCODING: Quoted-Printable", true),
            ("Content-Transfer-Encoding:", true),
            ("+Content-Transfer-Encoding: base64", false),
            ("Subject: base64", false),
        ] {
            assert_eq!(is_encoded(line.as_bytes()), is, "{line}");
        }
    }
}
