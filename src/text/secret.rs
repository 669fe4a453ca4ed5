//! Secrets by their shape: keys, tokens and passwords in text that is about to leave for a model or a file of ours.
//!
//! What is found is replaced whole by a mark that names its kind; neither beginning nor end of it is left. The shapes
//! are those that their issuers document, so ordinary text is left alone; `NAME=value` counts only where the name says
//! what it holds and the value looks like one.

use regex::{Regex, RegexSet};
use std::borrow::Cow;
use std::sync::LazyLock;

/// What a mark begins with; `]` ends it.
const MARK: &str = "[redacted: ";

/// Kind and shape. The first group, where there is one, stays in front of the mark and the second behind it.
const SHAPES: [(&str, &str); 15] = [
    (
        "private key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
    ),
    ("AWS access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    ("GitHub token", r"\bgh[pousr]_[A-Za-z0-9]{30,255}\b"),
    ("GitHub token", r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Google API key", r"\bAIza[0-9A-Za-z_-]{35}"),
    ("API key", r"\bsk-(?:ant-|proj-|or-|live-)?[A-Za-z0-9_-]{20,}"),
    ("Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("Hugging Face token", r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "credentials",
        r#"(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token|digest)\s+)[A-Za-z0-9._~+/=-]{8,}"#,
    ),
    ("password", r"([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@\[\]]*:)[^\s/@\[\]]{3,}(@)"),
    (
        "value",
        r#"(?m)(\b(?:[A-Z0-9]+_)*(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|AUTH_KEY)(?:_[A-Z0-9]+)*=["']?)[^\s"'$(\[{<`#;|&]{8,}"#,
    ),
];

/// Values that stand where a secret would.
const STANDS_FOR: [&str; 8] =
    ["your", "example", "changeme", "change_me", "placeholder", "xxxx", "dummy", "insert"];

static SET: LazyLock<Option<(RegexSet, Vec<Regex>)>> = LazyLock::new(|| {
    let set = RegexSet::new(SHAPES.iter().map(|(_, shape)| shape)).ok()?;
    let each = SHAPES.iter().map(|(_, shape)| Regex::new(shape).ok()).collect::<Option<Vec<_>>>()?;
    Some((set, each))
});

/// `text` with each secret replaced by its mark. `known` are secrets by their very value: placet's own keys.
pub fn redact<'t>(text: &'t str, known: &[String]) -> Cow<'t, str> {
    let mut out = Cow::Borrowed(text);
    for value in known.iter().filter(|value| value.len() >= 8 && text.contains(value.as_str())) {
        out = Cow::Owned(out.replace(value.as_str(), &mark("API key")));
    }
    let Some((set, shapes)) = SET.as_ref() else { return out };
    let hits: Vec<usize> = set.matches(&out).into_iter().collect();
    for at in hits {
        let (Some(shape), Some((kind, _))) = (shapes.get(at), SHAPES.get(at)) else { continue };
        let told = shape.replace_all(&out, |found: &regex::Captures<'_>| replaced(found, kind));
        if let Cow::Owned(told) = told {
            out = Cow::Owned(told);
        }
    }
    out
}

fn replaced(found: &regex::Captures<'_>, kind: &str) -> String {
    let group = |at: usize| found.get(at).map_or("", |m| m.as_str());
    let (before, after) = (group(1), group(2));
    let whole = group(0);
    let value = whole.get(before.len()..whole.len() - after.len()).unwrap_or(whole);
    let lower = value.to_ascii_lowercase();
    let stands = kind == "value" && STANDS_FOR.iter().any(|word| lower.contains(word));
    if stands || value.starts_with(MARK) {
        whole.to_string()
    } else {
        format!("{before}{}{after}", mark(kind))
    }
}

/// A private key in text that comes line by line: from its first line to its last, it is left out.
#[derive(Clone, Debug, Default)]
pub struct PrivateKey {
    within: bool,
}

impl PrivateKey {
    /// Whole lines without those of a key; in place of a key's first line stands its mark.
    pub fn without(&mut self, lines: &str) -> String {
        let mut out = String::with_capacity(lines.len());
        for line in lines.split_inclusive('\n') {
            let named = |word: &str| line.contains(word) && line.contains("PRIVATE KEY-----");
            match (self.within, named("-----BEGIN "), named("-----END ")) {
                (false, true, ends) => {
                    self.within = !ends;
                    out.push_str(&format!("{}\n", mark("private key")));
                }
                (true, _, ends) => self.within = !ends,
                (false, false, _) => out.push_str(line),
            }
        }
        out
    }
}

fn mark(kind: &str) -> String {
    format!("{MARK}{kind}]")
}

/// How many marks a text holds. One that has more than what it replaces would write a mark where a secret was.
pub fn marks(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, MARK.as_bytes())
        .filter(|at| {
            let rest = text.get(at + MARK.len()..).unwrap_or_default();
            SHAPES
                .iter()
                .any(|(kind, _)| rest.strip_prefix(kind.as_bytes()).is_some_and(|r| r.starts_with(b"]")))
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Canaries are put together here, so that no scanner takes this file for a leak.
    fn canaries() -> Vec<String> {
        let run = |count: usize| "aB3dE6gH9jK2mN5pQ8sT1vW4xY7z0C".repeat(2)[..count].to_string();
        vec![
            format!("sk-{}", run(40)),
            format!("sk-ant-{}", run(40)),
            format!("AKIA{}", run(16).to_uppercase()),
            format!("ghp_{}", run(36)),
            format!("xoxb-{}", run(30)),
            format!("eyJ{}.eyJ{}.{}", run(20), run(20), run(20)),
            format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", run(40)),
            format!("AIza{}", run(35)),
        ]
    }

    #[test]
    fn every_shape_is_replaced_whole_wherever_it_stands() {
        for canary in canaries() {
            for text in [
                canary.clone(),
                format!("x = \"{canary}\";"),
                format!("  12│{canary}\n"),
                format!("[{canary}]"),
            ] {
                let told = redact(&text, &[]);
                assert!(told.contains(MARK), "{text} -> {told}");
                for part in canary.as_bytes().chunks(12).filter(|part| part.len() == 12) {
                    let part = std::str::from_utf8(part).unwrap();
                    assert!(!told.contains(part) || part.starts_with("-----"), "{part} is left in {told}");
                }
                assert_eq!(redact(&told, &[]), told, "once is enough");
            }
        }
    }

    #[test]
    fn what_carries_a_secret_keeps_its_form() {
        for (text, told) in [
            ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted: credentials]"),
            ("https://me:hunter22@host/x", "https://me:[redacted: password]@host/x"),
            ("DB_PASSWORD=correcthorse\nDEBUG=1", "DB_PASSWORD=[redacted: value]\nDEBUG=1"),
            ("export GITHUB_TOKEN='abcdefgh12'", "export GITHUB_TOKEN='[redacted: value]'"),
        ] {
            assert_eq!(redact(text, &[]), told);
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "let token = parser.next_token();",
            "API_KEY=your-key-here",
            "TOKEN=$(cat file)",
            "API_KEY = os.environ[\"API_KEY\"]",
            "skip sk-short and AKIA",
            "http://localhost:8080/path@x",
            "see https://example.com:443/a",
            "const PASSWORD_MIN: usize = 12;",
            "MAX_TOKENS=4096",
        ] {
            assert_eq!(redact(text, &[]), text);
        }
    }

    #[test]
    fn a_key_that_comes_line_by_line_is_left_out_whole() {
        let mut key = PrivateKey::default();
        let told: Vec<String> =
            ["a\n-----BEGIN PRIVATE KEY-----\nMIIE\n", "vQIB\n", "-----END PRIVATE KEY-----\nb\n"]
                .iter()
                .map(|lines| key.without(lines))
                .collect();
        assert_eq!(told, ["a\n[redacted: private key]\n", "", "b\n"]);
    }

    #[test]
    fn known_values_go_whatever_they_look_like() {
        let known = vec!["plain-own-key".to_string()];
        assert_eq!(redact("x plain-own-key y", &known), "x [redacted: API key] y");
        assert_eq!(marks(b"x [redacted: API key] [redacted: something]"), 1);
    }
}
