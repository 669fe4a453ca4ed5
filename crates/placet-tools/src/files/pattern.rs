//! Patterns of searches, compiled under limits.
//!
//! The pattern comes from a call, and so any pattern is possible. A match cannot be interrupted within a line, and its
//! cost grows with the compiled size of the pattern times the length of the line. Without limits one call took minutes
//! and gigabytes.

use crate::ToolError;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

/// The longest pattern, in bytes.
const LONGEST: usize = 10_000;
/// Bytes that a compiled pattern may take: enough for `\w{100}`, which is large because `\w` is all of Unicode.
const COMPILED: usize = 16 << 20;
/// How many bytes each thread may use for the state that it builds while it matches a pattern. The longest plain text
/// takes 60 MB; with less the engine falls back to a mode that is thirty times slower.
const LEARNT: usize = 128 << 20;

/// Why a pattern is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PatternError {
    TooLong(usize),
    LineBreak,
    TooLarge,
    Syntax(String),
}

impl From<PatternError> for ToolError {
    fn from(error: PatternError) -> ToolError {
        match error {
            PatternError::TooLong(length) => ToolError::hint(
                format!("`pattern` has {length} bytes; at most {LONGEST} are possible"),
                "search for a part of it that is rare",
            ),
            PatternError::LineBreak => ToolError::hint(
                "`pattern` contains a line break",
                "matches never span lines; search for one of them",
            ),
            PatternError::TooLarge => ToolError::hint(
                "`pattern` is too large when it is compiled",
                "use smaller repetitions, or fewer alternatives",
            ),
            PatternError::Syntax(why) => ToolError::hint(
                format!("`pattern` is not a regular expression: {why}"),
                "escape special characters with `\\`",
            ),
        }
    }
}

/// A pattern as an expression over single lines.
pub(crate) fn line_matcher(
    pattern: &str,
    build: impl FnOnce(&mut RegexMatcherBuilder),
) -> Result<RegexMatcher, PatternError> {
    check_length(pattern)?;
    if pattern.contains('\n') {
        return Err(PatternError::LineBreak);
    }
    let mut builder = RegexMatcherBuilder::new();
    // In this order: `crlf` makes `$` match before CRLF, and resets the terminator, which no pattern may contain. Without
    // `multi_line`, `$` is the end of what is searched, which has the CR.
    builder.multi_line(true).crlf(true).line_terminator(Some(b'\n')).unicode(true);
    builder.size_limit(COMPILED).dfa_size_limit(LEARNT);
    build(&mut builder);
    builder.build(pattern).map_err(|e| match is_too_large(pattern) {
        true => PatternError::TooLarge,
        false => PatternError::Syntax(e.to_string()),
    })
}

/// Refuses a pattern or a glob that is longer than any that a person writes.
pub(crate) fn check_length(pattern: &str) -> Result<(), PatternError> {
    match pattern.len() {
        0..=LONGEST => Ok(()),
        length => Err(PatternError::TooLong(length)),
    }
}

/// Whether only the size is wrong: the builder of matchers reports a wrong size only in a sentence.
fn is_too_large(pattern: &str) -> bool {
    let built = regex::bytes::RegexBuilder::new(pattern).size_limit(COMPILED).build();
    matches!(built, Err(regex::Error::CompiledTooBig(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_refused_for_its_length_its_size_or_its_syntax() {
        let refused = |pattern: &str| line_matcher(pattern, |_| {}).map(drop).unwrap_err();
        let plain = |pattern: &str| line_matcher(pattern, |b| _ = b.fixed_strings(true)).map(drop);
        assert_eq!(plain(&"(".repeat(LONGEST)), Ok(()));
        assert!(line_matcher(r"\w{100}", |_| {}).is_ok());
        let long = "(".repeat(LONGEST + 1);
        assert_eq!(plain(&long), Err(PatternError::TooLong(10_001)));
        assert_eq!(refused(&long), PatternError::TooLong(10_001));
        assert_eq!(refused(r"((\w{50}){50}){50}"), PatternError::TooLarge);
        assert!(matches!(refused("("), PatternError::Syntax(_)));
    }
}
