//! The environment variables that contain a secret: by their name, by the shape of the value, or because the value
//! looks random.

use super::table::{any, matches, table};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Why a command does not get a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithheldReason {
    /// It gives access to something outside of the view.
    Socket,
    /// Its name is that of a secret.
    Name,
    /// Its value has the shape of a secret.
    Shape,
    /// Its value looks random.
    Random,
}

/// Why a command must not get this variable; `None` if it may. `keep` are patterns of names that the person allows,
/// whatever the values are.
pub fn why_withheld(name: &str, value: &str, keep: &[String]) -> Option<WithheldReason> {
    let name = name.to_uppercase();
    if keep.iter().any(|pattern| matches(&pattern.to_uppercase(), &name)) {
        return None;
    }
    let known = JUDGED.get().and_then(|judged| judged.get(name.as_str())).filter(|(of, _)| of == value);
    match known {
        Some((_, why)) => *why,
        None => judged(&name, value),
    }
}

/// Reasons for the variables that this process began with, by their upper-case names, with the values.
static JUDGED: OnceLock<HashMap<String, (String, Option<WithheldReason>)>> = OnceLock::new();

/// Judges the variables of this process now, where there is time for it: each is compared with hundreds of patterns.
pub fn judge_environment() {
    let all = std::env::vars_os().map(|(name, value)| {
        let (name, value) = (name.to_string_lossy().to_uppercase(), value.to_string_lossy().into_owned());
        let why = judged(&name, &value);
        (name, (value, why))
    });
    // The second call finds the same.
    drop(JUDGED.set(all.collect()));
}

/// Why a variable that nobody listed is withheld; `name` is in upper case.
fn judged(name: &str, value: &str) -> Option<WithheldReason> {
    let table = table();
    let names = &table.names;
    if any(names.socket, name) {
        return Some(WithheldReason::Socket);
    }
    let listed = [names.secret, names.weak, names.variable].into_iter().any(|list| any(list, name));
    let plain = table.values.plain.iter().any(|plain| value.eq_ignore_ascii_case(plain));
    if listed && !any(names.exempt, name) && !plain {
        return Some(WithheldReason::Name);
    }
    if super::has_shape(value) {
        return Some(WithheldReason::Shape);
    }
    let known = any(names.harmless, name) || any(names.exempt, name);
    (!known && looks_random(value)).then_some(WithheldReason::Random)
}

/// True for a single word with the letters and digits of a generated key: no spaces, no path, no list, no number, no
/// word of a language.
fn looks_random(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    let token = |c: char| c.is_ascii_alphanumeric() || "-_+.~/".contains(c);
    if body.len() < 24 || body.len() > 4096 || !body.chars().all(token) || value.starts_with(['/', '.', '~'])
    {
        return false;
    }
    let count = |is: fn(&char) -> bool| body.chars().filter(is).count();
    let (digits, upper, lower) =
        (count(char::is_ascii_digit), count(char::is_ascii_uppercase), count(char::is_ascii_lowercase));
    let hexadecimal = body.len() >= 32 && body.chars().all(|c| c.is_ascii_hexdigit());
    if hexadecimal {
        return digits >= 6 && upper + lower >= 4 && bits(body) >= 3.0;
    }
    // A path below a directory, a version, a target triple: several words with separators between them.
    let longest = body.split(['-', '_', '.', '/', '~', '+']).map(str::len).max().unwrap_or(0);
    digits >= 3 && upper >= 3 && lower >= 3 && longest >= 12 && bits(body) >= 3.8
}

/// Shannon entropy of the characters, in bits per character.
fn bits(text: &str) -> f64 {
    let mut counts = [0_u32; 128];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = text.len() as f64;
    let part = |count: &u32| f64::from(*count) / all;
    -counts.iter().filter(|count| **count > 0).map(|count| part(count) * part(count).log2()).sum::<f64>()
}

#[cfg(test)]
#[path = "variable_tests.rs"]
mod tests;
