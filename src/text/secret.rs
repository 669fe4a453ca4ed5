//! Secrets by their shape: keys, tokens and passwords in text that is about to leave for a model or a file of ours.
//!
//! What is found is replaced whole by a mark that names its kind; neither beginning nor end of it is left. The shapes
//! are those that their issuers document, so ordinary text is left alone; `NAME=value` counts only where the name says
//! what it holds and the value looks like one.

use regex::Regex;
use std::borrow::Cow;
use std::sync::OnceLock;

/// What a mark begins with; `]` ends it.
const MARK: &str = "[redacted: ";

/// Kind, what a text must hold for it (one of these), and shape. The first group, where there is one, stays in front of
/// the mark and the second behind it.
const SHAPES: [(&str, &[&str], &str); 15] = [
    (
        "private key",
        &["PRIVATE KEY-----"],
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
    ),
    ("AWS access key", &["AKIA", "ASIA", "ABIA", "ACCA"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    ("GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[A-Za-z0-9]{30,255}\b"),
    ("GitHub token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("GitLab token", &["glpat-"], r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("Slack token", &["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("Google API key", &["AIza"], r"\bAIza[0-9A-Za-z_-]{35}"),
    ("API key", &["sk-"], r"\bsk-(?:ant-|proj-|or-|live-)?[A-Za-z0-9_-]{20,}"),
    ("Stripe key", &["k_live_", "k_test_"], r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("Hugging Face token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}\b"),
    ("JSON web token", &[".eyJ"], r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "credentials",
        &[AUTHORIZATION],
        r#"(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token|digest)\s+)[A-Za-z0-9._~+/=-]{8,}"#,
    ),
    ("password", &["://"], r"([a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@\[\]]*:)[^\s/@\[\]]{3,}(@)"),
    (
        "value",
        &["SECRET", "TOKEN", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY", "_KEY"],
        r#"(?m)(\b(?:[A-Z0-9]+_)*(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|AUTH_KEY)(?:_[A-Z0-9]+)*=["']?)[^\s"'$(\[{<`#;|&]{8,}"#,
    ),
];

/// The one word that counts in capitals too.
const AUTHORIZATION: &str = "authorization";

/// Values that stand where a secret would.
const STANDS_FOR: [&str; 8] =
    ["your", "example", "changeme", "change_me", "placeholder", "xxxx", "dummy", "insert"];

/// Each made when a text first holds one of its words: to make all of them takes longer than a start may.
static MADE: [OnceLock<Option<Regex>>; SHAPES.len()] = [const { OnceLock::new() }; SHAPES.len()];

/// `text` with each secret replaced by its mark. `known` are secrets by their very value: placet's own keys.
pub fn redact<'t>(text: &'t str, known: &[String]) -> Cow<'t, str> {
    let mut out = Cow::Borrowed(text);
    for value in known.iter().filter(|value| value.len() >= 8 && text.contains(value.as_str())) {
        out = Cow::Owned(out.replace(value.as_str(), &mark("API key")));
    }
    // All are looked for before the first is replaced: a mark must not make a secret of what was none.
    let hits: Vec<(&str, &Regex)> = SHAPES
        .iter()
        .zip(&MADE)
        .filter(|((_, words, _), _)| words.iter().any(|word| holds(&out, word)))
        .filter_map(|((kind, _, shape), made)| {
            Some((*kind, made.get_or_init(|| Regex::new(shape).ok()).as_ref()?))
        })
        .filter(|(_, shape)| shape.is_match(&out))
        .collect();
    for (kind, shape) in hits {
        let told = shape.replace_all(&out, |found: &regex::Captures<'_>| replaced(found, kind));
        if let Cow::Owned(told) = told {
            out = Cow::Owned(told);
        }
    }
    out
}

fn holds(text: &str, word: &str) -> bool {
    if word != AUTHORIZATION {
        return memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    }
    // By its rarest letter.
    let before = word.find('z').unwrap_or(0);
    memchr::memchr2_iter(b'z', b'Z', text.as_bytes()).any(|at| {
        let found = at.checked_sub(before).and_then(|from| text.as_bytes().get(from..from + word.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    })
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
                .any(|(kind, ..)| rest.strip_prefix(kind.as_bytes()).is_some_and(|r| r.starts_with(b"]")))
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

    /// All shapes at once over the whole text, with no word looked for first: what `redact` must be equal to.
    fn by_shapes_alone(text: &str) -> String {
        static MADE: std::sync::LazyLock<(regex::RegexSet, Vec<Regex>)> = std::sync::LazyLock::new(|| {
            let shapes = || SHAPES.iter().map(|(.., shape)| shape);
            (regex::RegexSet::new(shapes()).unwrap(), shapes().map(|s| Regex::new(s).unwrap()).collect())
        });
        let mut out = text.to_string();
        for at in MADE.0.matches(text) {
            let kind = SHAPES[at].0;
            out = MADE.1[at]
                .replace_all(&out, |found: &regex::Captures<'_>| replaced(found, kind))
                .into_owned();
        }
        out
    }

    /// Pieces of which secrets are made, and nearly made.
    fn pieces() -> Vec<String> {
        let mut pieces: Vec<String> =
            SHAPES.iter().flat_map(|(_, words, _)| words.iter().copied()).map(String::from).collect();
        pieces.extend(canaries());
        pieces.extend(
            [
                "Authorization: Bearer abcdef123456",
                "AUTHORIZATION='token abcdefgh12",
                "author\u{131}zation: basic abcdefgh",
                "authori\u{17f}ation",
                "https://me:hunter22@host",
                "DB_PASSWORD=correcthorse",
                "MY_AUTH_KEY=abcdefgh12",
                "APIKEY=abcdefgh12",
                "rk_test_abcdefghijklmnop",
                "npm_",
                "hf_",
                "k_live_0123456789abcdef",
                "-----BEGIN ",
                "s",
                "r",
                "=",
                "@",
                ":",
                "://",
                "_",
                "-",
                " ",
                "\n",
                "\"",
                "'",
                "ß",
                "aB3dE6gH9j",
                "0123456789ABCDEF",
                "[redacted: value]",
                "eyJ",
                ".",
                "bearer ",
            ]
            .map(String::from),
        );
        pieces
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 128, ..Default::default() })]
        #[test]
        fn looking_for_words_first_finds_exactly_what_the_shapes_find(
            picked in proptest::collection::vec(proptest::sample::select(pieces()), 0..9)
        ) {
            let text = picked.concat();
            proptest::prop_assert_eq!(redact(&text, &[]).into_owned(), by_shapes_alone(&text));
        }
    }

    #[test]
    fn known_values_go_whatever_they_look_like() {
        let known = vec!["plain-own-key".to_string()];
        assert_eq!(redact("x plain-own-key y", &known), "x [redacted: API key] y");
        assert_eq!(marks(b"x [redacted: API key] [redacted: something]"), 1);
    }
}
