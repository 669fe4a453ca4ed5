//! A result without what changes from run to run by itself, so that two runs that came to the same are seen to be the same.
//!
//! What placet adds to a result is left out of the comparison where it holds a time or the number of a scratchpad: how long
//! a command or a job ran, and the name under which a long output is kept. What the program itself wrote is compared to the
//! byte, times included: a clock that is polled changes. That a job was waited for and goes on counts as change as well,
//! for waiting is what was asked for.

use crate::tools::kept_as;

/// How a line of placet's about a command begins, in all dialects of the tools.
const ABOUT: [&str; 8] = [
    "[exit code",
    "[killed by signal",
    "[timed out",
    "[interrupted",
    "[its supervisor",
    "[job ",
    "[Command ",
    "Wall time: ",
];
/// What stands before a time in such a line.
const BEFORE: [&str; 4] = [", ", " after ", " running for ", "Wall time: "];
/// What stands behind it.
const UNITS: [&str; 3] = [" seconds", " s", "ms"];

pub(super) fn stable(body: &str) -> String {
    body.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    if let Some(name) = kept_as(line).filter(|_| line.starts_with('[')) {
        return line.replace(name, "");
    }
    let is_job_in_list = line.contains(" · running for ") || line.contains(" · exit code ");
    let is_about = ABOUT.iter().any(|begin| line.starts_with(begin)) || is_job_in_list;
    if is_about && !line.contains(" of waiting") { without_times(line) } else { line.to_string() }
}

fn without_times(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = next_time(rest) {
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// What stands before the next time in `text`, and what behind it.
fn next_time(text: &str) -> Option<(&str, &str)> {
    let begins = BEFORE.iter().flat_map(|word| text.match_indices(word).map(move |(at, _)| at + word.len()));
    let mut begins: Vec<usize> = begins.collect();
    begins.sort_unstable();
    begins.into_iter().find_map(|at| {
        let (before, after) = text.split_at_checked(at)?;
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let rest =
            UNITS.iter().find_map(|unit| rest.strip_prefix(unit)).filter(|_| rest.len() < after.len())?;
        (!rest.starts_with(char::is_alphanumeric)).then_some((before, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::stable;

    #[test]
    fn only_placets_own_times_and_numbers_of_scratchpads_go() {
        for (one, other) in [
            ("x\n[exit code 0, 0.1 s, in /w]", "x\n[exit code 0, 33.0 s, in /w]"),
            ("[exit code: 1, 12ms]", "[exit code: 1, 7ms]"),
            (
                "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n",
                "Exit code: 1\nWall time: 2.0 seconds\nOutput:\n",
            ),
            ("[job 1: running for 4 s, nothing new, in /w]", "[job 1: running for 9 s, nothing new, in /w]"),
            ("[job 1: exit code 0 after 2.0 s, in /w]", "[job 1: exit code 0 after 2.1 s, in /w]"),
            ("1 · running for 4 s · make · in /w", "1 · running for 5 s · make · in /w"),
        ] {
            assert_eq!(stable(one), stable(other));
        }
    }

    #[test]
    fn what_a_program_wrote_and_waiting_for_a_job_stay_as_they_are() {
        for text in [
            "took, 0.1 s\n",
            "[progress, 3 s]\n",
            "[exit code 1, in /w/2 s]",
            "[job 1: running for 30 s, nothing new; it goes on after 30 s of waiting, in /w]",
            "all of it is in the scratchpad `a-2`",
        ] {
            assert_eq!(stable(text), text);
        }
    }
}
