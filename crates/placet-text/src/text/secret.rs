//! Secrets by their shape: keys, tokens and passwords in text that is about to go to a model or to one of placet's own
//! files.
//!
//! A mark that names the kind replaces the whole secret; no part of the secret remains. The shapes are those that their
//! issuers document, so that ordinary text does not change; `NAME=value` counts only if the name is that of a secret
//! and the value looks like one.

mod credential_files;
mod credential_rows;
mod mixed_file;
mod table;
mod table_rows;
mod table_types;
mod variable;

pub use credential_files::credential_files;
pub use mixed_file::{FileWithoutSecrets, mixed_files, without_secrets};
pub use table::matches;
pub use variable::{WithheldReason, judge_environment, why_withheld};

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;
use table::{SecretShape, any, name_words, table};

/// The beginning of a mark; `]` ends it.
const MARK: &str = "[redacted: ";
/// The kind of a secret that is known by its name alone.
const VALUE: &str = "value";
/// The kind of placet's own keys.
const OWN: &str = "API key";

/// `NAME=value`: the name and the characters between name and value remain.
static NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(\b[A-Z0-9][A-Z0-9_]*=["']?)[^\s"'$(\[{<`#;|&]{8,}"#).ok());

/// The only word that also counts in capitals.
const AUTHORIZATION: &str = "authorization";

/// `text` with each secret replaced by its mark. `known` are exact values of secrets: placet's own API keys.
pub fn redact<'t>(text: &'t str, known: &[String]) -> Cow<'t, str> {
    let mut out = Cow::Borrowed(text);
    for value in known.iter().filter(|value| value.len() >= 8 && text.contains(value.as_str())) {
        out = Cow::Owned(out.replace(value.as_str(), &mark(OWN)));
    }
    // All secrets are searched before the first is replaced: a mark must not turn other text into a secret.
    let hits: Vec<&SecretShape> =
        shapes_in(&out).filter(|shape| shape.regex().is_some_and(|r| r.is_match(&out))).collect();
    let named = names_in(&out);
    for shape in hits {
        let Some(regex) = shape.regex() else { continue };
        replace(&mut out, regex, |found| replaced(found, shape.kind));
    }
    if let Some(regex) = NAMED.as_ref().filter(|_| named) {
        replace(&mut out, regex, replaced_value);
    }
    out
}

fn replace(out: &mut Cow<'_, str>, regex: &Regex, with: impl Fn(&regex::Captures<'_>) -> String) {
    let told = regex.replace_all(out, |found: &regex::Captures<'_>| with(found));
    if let Cow::Owned(told) = told {
        *out = Cow::Owned(told);
    }
}

/// The shapes whose words a text contains.
fn shapes_in(text: &str) -> impl Iterator<Item = &'static SecretShape> {
    table().shapes.iter().filter(move |shape| shape.words.iter().any(|word| holds(text, word)))
}

/// True if a text has the shape of a secret, or contains one.
fn has_shape(text: &str) -> bool {
    shapes_in(text).any(|shape| shape.regex().is_some_and(|regex| regex.is_match(text)))
}

/// True if a text may contain the name of a secret.
fn names_in(text: &str) -> bool {
    memchr::memchr(b'=', text.as_bytes()).is_some() && name_words().iter().any(|word| holds(text, word))
}

/// The longest text in which a word is searched by its first letter.
const SHORT: usize = 256;

fn holds(text: &str, word: &str) -> bool {
    if word != AUTHORIZATION && text.len() <= SHORT {
        // A hundred words are searched in each variable before a command starts, and to prepare a searcher takes longer
        // than to search a text that is this short.
        let Some((first, rest)) = word.as_bytes().split_first() else { return true };
        let text = text.as_bytes();
        return memchr::memchr_iter(*first, text)
            .any(|at| text.get(at + 1..).is_some_and(|behind| behind.starts_with(rest)));
    }
    if word != AUTHORIZATION {
        return memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    }
    // Searched by its rarest letter.
    let before = word.find('z').unwrap_or(0);
    memchr::memchr2_iter(b'z', b'Z', text.as_bytes()).any(|at| {
        let found = at.checked_sub(before).and_then(|from| text.as_bytes().get(from..from + word.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// The parts of a match: the text before the value, the value, the text after it.
fn parts<'f>(found: &'f regex::Captures<'_>) -> (&'f str, &'f str, &'f str) {
    let group = |at: usize| found.get(at).map_or("", |m| m.as_str());
    let (before, after) = (group(1), group(2));
    let whole = group(0);
    (before, whole.get(before.len()..whole.len() - after.len()).unwrap_or(whole), after)
}

fn replaced(found: &regex::Captures<'_>, kind: &str) -> String {
    let (before, value, after) = parts(found);
    match value.starts_with(MARK) {
        true => format!("{before}{value}{after}"),
        false => format!("{before}{}{after}", mark(kind)),
    }
}

/// The same for `NAME=value`: only under the name of a secret, and not for a placeholder in an example.
fn replaced_value(found: &regex::Captures<'_>) -> String {
    let (before, value, after) = parts(found);
    let name = before.trim_end_matches(['=', '"', '\'']);
    let names = &table().names;
    let mixed =
        || value.bytes().any(|b| b.is_ascii_digit()) && value.bytes().any(|b| b.is_ascii_alphabetic());
    let secret = any(names.secret, name) || any(names.weak, name) && mixed();
    let lower = value.to_ascii_lowercase();
    let stands = table().values.stands_for.iter().any(|word| lower.contains(word));
    if !secret || any(names.exempt, name) || stands || value.starts_with(MARK) {
        return format!("{before}{value}{after}");
    }
    format!("{before}{}{after}", mark(VALUE))
}

/// Removes a private key from text that comes line by line, from its first line to its last.
#[derive(Clone, Debug, Default)]
pub struct PrivateKeyFilter {
    within: bool,
}

impl PrivateKeyFilter {
    /// Whole lines without those of a key; the mark replaces the key's first line.
    pub fn without(&mut self, lines: &str) -> String {
        let mut out = String::with_capacity(lines.len());
        for line in lines.split_inclusive('\n') {
            let key = line.contains("PRIVATE KEY-----") || line.contains("PRIVATE KEY BLOCK-----");
            let named = |word: &str| key && line.contains(word);
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

/// How many marks a text contains. A text with more marks than the text that it replaces would overwrite a secret with
/// a mark.
pub fn marks(text: &[u8]) -> usize {
    memchr::memmem::find_iter(text, MARK.as_bytes())
        .filter(|at| {
            let rest = text.get(at + MARK.len()..).unwrap_or_default();
            let kinds = table().shapes.iter().map(|shape| shape.kind);
            let mut kinds = kinds.chain([VALUE, OWN]);
            kinds.any(|kind| rest.strip_prefix(kind.as_bytes()).is_some_and(|r| r.starts_with(b"]")))
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Canaries are assembled here, so that no scanner takes this file for a leak.
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
            ("RAILS_MASTER_KEY=0a1b2c3d4e5f", "RAILS_MASTER_KEY=[redacted: value]"),
            ("SUPABASE_SERVICE_ROLE_KEY=verysecretvalue", "SUPABASE_SERVICE_ROLE_KEY=[redacted: value]"),
            (
                "MYSQL_PWD=correcthorse\nJWT=correcthorse",
                "MYSQL_PWD=[redacted: value]\nJWT=[redacted: value]",
            ),
            ("PASS=hunter22x AUTHTOKEN=correcthorse", "PASS=[redacted: value] AUTHTOKEN=[redacted: value]"),
            ("SLACK_WEBHOOK_URL=https://h.invalid/T0/B1", "SLACK_WEBHOOK_URL=[redacted: value]"),
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
            "CACHE_KEY=user:1234567",
            "SORT_KEY='created-at-2'",
            "const STORAGE_KEY=\"app.theme.v2\"",
            "REDIS_URL=redis://localhost:6379",
            "COOKIE=consent-given",
            "GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D",
        ] {
            assert_eq!(redact(text, &[]), text);
        }
    }

    #[test]
    fn a_key_that_comes_line_by_line_is_left_out_whole() {
        let mut key = PrivateKeyFilter::default();
        let told: Vec<String> =
            ["a\n-----BEGIN PRIVATE KEY-----\nMIIE\n", "vQIB\n", "-----END PRIVATE KEY-----\nb\n"]
                .iter()
                .map(|lines| key.without(lines))
                .collect();
        assert_eq!(told, ["a\n[redacted: private key]\n", "", "b\n"]);
    }

    /// All shapes at once over the whole text, without the search for words: `redact` must be equal to it.
    fn by_shapes_alone(text: &str) -> String {
        let mut out = Cow::Borrowed(text);
        let hits: Vec<&SecretShape> =
            table().shapes.iter().filter(|s| s.regex().unwrap().is_match(text)).collect();
        for shape in hits {
            replace(&mut out, shape.regex().unwrap(), |found| replaced(found, shape.kind));
        }
        replace(&mut out, NAMED.as_ref().unwrap(), replaced_value);
        out.into_owned()
    }

    /// Pieces of secrets, and of text that is almost a secret.
    fn pieces() -> Vec<String> {
        let words = table().shapes.iter().flat_map(|shape| shape.words);
        let mut pieces: Vec<String> = words.map(|word| word.to_string()).collect();
        pieces.extend(name_words().iter().map(|word| word.to_string()));
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
