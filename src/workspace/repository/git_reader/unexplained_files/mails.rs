//! A mail of `git am`, as far as git takes the message and the author of a commit from it.
//!
//! Only a plain mail is read: where a header is encoded, or the text begins with headers of its own, nothing is proved by it.

use super::message_text::tidy;

use std::path::Path;

/// What a file `rebase-apply/0001` of either state has for its subject.
pub(super) fn subject_of(rel: &Path, (old, new): (Option<&[u8]>, Option<&[u8]>)) -> Option<String> {
    let number = rel.strip_prefix("rebase-apply").ok()?.to_str()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    subject(new.or(old).filter(|_| is_number)?)
}

/// The subject of a mail as far as it is in one line, for a row: nothing is proved by it.
pub(in crate::workspace::repository::git_reader) fn subject(mail: &[u8]) -> Option<String> {
    let end = memchr::memmem::find(mail, b"\n\n").unwrap_or(mail.len());
    let line =
        mail.get(..end)?.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Subject: "))?;
    let subject = String::from_utf8_lossy(line);
    let subject = without_prefixes(subject.trim());
    (!subject.is_empty()).then(|| subject.to_string())
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mail {
    /// `Name <address>`.
    pub(super) author: String,
    pub(super) date: String,
    /// Without `[PATCH 1/3]`.
    subject: String,
    /// Above the patch.
    body: String,
}

impl Mail {
    pub(super) fn parse(mail: &[u8]) -> Option<Mail> {
        let end = memchr::memmem::find(mail, b"\n\n")?;
        let (head, body) = mail.split_at_checked(end)?;
        let head = std::str::from_utf8(head).ok()?;
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in head.lines() {
            if line.starts_with([' ', '\t']) {
                headers.last_mut()?.1.push_str(&format!(" {}", line.trim()));
            } else if let Some((name, value)) = line.split_once(": ") {
                headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
            }
        }
        let value = |name: &str| {
            let mut found = headers.iter().filter(|(known, _)| known == name);
            let value = found.next().map(|(_, value)| value.clone());
            // git takes the last of several.
            if found.next().is_some() { None } else { value }
        };
        let is_encoded = value("content-transfer-encoding")
            .is_some_and(|encoding| !matches!(encoding.to_ascii_lowercase().as_str(), "7bit" | "8bit"));
        let (author, date, subject) = (value("from")?, value("date")?, value("subject")?);
        if is_encoded || [&author, &subject].iter().any(|text| text.contains("=?")) {
            return None;
        }
        let body = String::from_utf8_lossy(body);
        let is_end = |line: &&str| {
            *line == "---"
                || line.starts_with("--- ")
                || line.starts_with("diff -")
                || line.starts_with("Index: ")
        };
        let lines: Vec<&str> = body.lines().take_while(|line| !is_end(line)).collect();
        // git takes these for headers, and drops what is above scissors.
        let first = lines.iter().find(|line| !line.trim().is_empty()).unwrap_or(&"");
        let is_header = ["from:", "subject:", "date:", ">from"]
            .iter()
            .any(|name| first.to_ascii_lowercase().starts_with(name));
        let has_scissors = lines.iter().any(|line| line.contains(">8") || line.contains("8<"));
        if is_header || has_scissors {
            return None;
        }
        let author = author.replace('"', "");
        Some(Mail { author, date, subject: without_prefixes(&subject).to_string(), body: lines.join("\n") })
    }

    pub(super) fn has_message(&self, text: &[u8]) -> bool {
        tidy(format!("{}\n\n{}", self.subject, self.body).as_bytes()) == tidy(text)
    }

    pub(super) fn has_body(&self, text: &[u8]) -> bool {
        tidy(self.body.as_bytes()) == tidy(text)
    }

    /// What `git mailinfo` writes: author, address, subject and date.
    pub(super) fn has_info(&self, text: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let author = format!("{} <{}>", value("Author: "), value("Email: "));
        let lines = text.lines().filter(|line| !line.is_empty()).count();
        lines == 4
            && author == self.author
            && value("Subject: ") == self.subject
            && value("Date: ") == self.date
    }
}

/// As git cleans a subject.
fn without_prefixes(mut subject: &str) -> &str {
    loop {
        subject = subject.trim_start();
        let rest = match subject.get(..3) {
            Some(begin) if begin.eq_ignore_ascii_case("re:") => subject.get(3..),
            _ => subject.strip_prefix('[').and_then(|rest| Some(rest.split_once(']')?.1)),
        };
        match rest {
            Some(rest) => subject = rest,
            None => return subject,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIL: &str = "From 4b2b102f43bad6e4aaca3b83d1168c6fbcb332ae Mon Sep 17 00:00:00 2001\nFrom: Ana N <a@x>\n\
                        Date: Fri, 27 Nov 2026 21:21:42 +0000\nSubject: [PATCH 1/3] topic: a very long\n subject\n\n\
                        Body\nmore\n---\n b.txt | 8 --------\n\ndiff --git a/b.txt b/b.txt\n";

    #[test]
    fn message_and_author_of_a_plain_mail_are_known() {
        let mail = Mail::parse(MAIL.as_bytes()).unwrap();
        assert_eq!(mail.author, "Ana N <a@x>");
        for (message, is) in [
            ("topic: a very long subject\n\nBody\nmore\n", true),
            ("topic: a very long subject\n\nBody\n", false),
            ("topic: a very long subject\n\nBody\nmore\nSigned-off-by: A <a@x>\n", false),
        ] {
            assert_eq!(mail.has_message(message.as_bytes()), is, "{message}");
        }
        assert!(mail.has_body(b"Body\nmore\n") && !mail.has_body(b"Body\n"));
        let info = "Author: Ana N\nEmail: a@x\nSubject: topic: a very long subject\nDate: Fri, 27 Nov 2026 21:21:42 +0000\n\n";
        assert!(mail.has_info(info.as_bytes()));
        for other in ["Author: B", "Email: b@x", "Subject: x", "Date: now"] {
            let key = other.split(' ').next().unwrap();
            let forged: Vec<&str> =
                info.lines().map(|line| if line.starts_with(key) { other } else { line }).collect();
            assert!(!mail.has_info(forged.join("\n").as_bytes()), "{other}");
        }
    }

    #[test]
    fn what_git_decodes_or_takes_from_the_text_is_not_known() {
        for (old, new) in [
            ("Subject: [PATCH 1/3]", "Subject: =?UTF-8?q?x?="),
            ("\n\nBody", "\n\nFrom: B <b@x>\n\nBody"),
            ("\nDate:", "\nContent-Transfer-Encoding: base64\nDate:"),
            ("\nDate:", "\nFrom: B <b@x>\nDate:"),
            ("Body", "-- >8 --"),
        ] {
            assert_eq!(Mail::parse(MAIL.replace(old, new).as_bytes()), None, "{new}");
        }
        for (subject, is) in [("[a] Re: [b/c] x [d]", "x [d]"), ("re: x", "x"), ("x", "x"), ("[x", "[x")] {
            assert_eq!(without_prefixes(subject), is);
        }
    }
}
