//! The lines that a command showed of files: in this tool set the shell is the tool that reads.
//!
//! The output that `cat`, `head`, `tail`, `sed -n` and `nl` must have printed is computed from the present files. The
//! lines count as read only if the real output is the same, byte for byte. A line that `rg` or `grep` printed counts if
//! it is that line of the file.

use super::super::super::ToolContext;
use super::command_parser::{CodexCommand, CodexPipeline, pipelines};
use super::named_files::{CodexFile, CodexFiles, CodexSeenLines};
use super::search;
use super::shell_line::{below, shell_line};

/// Records the lines that the output of a command shows as read.
pub(super) fn record_shown_lines(env: &ToolContext, command: &[String], dir: Option<&str>, output: &str) {
    let Some(pipelines) = script(command) else { return };
    let mut files = CodexFiles::new(env, dir);
    let seen = match printed(&pipelines, &mut files) {
        Some(rows) => same(&rows, output),
        None => match pipelines.as_slice() {
            [pipeline] => search::seen(pipeline, output, &mut files),
            _ => None,
        },
    };
    for (number, lines) in seen.unwrap_or_default() {
        if let Some(CodexFile { at, file, hash, .. }) = files.known.get(number) {
            env.ledger().record_read_ranges(&at.path, file.bytes(), *hash, &lines);
        }
    }
}

/// The commands that run, also through a shell.
fn script(command: &[String]) -> Option<Vec<CodexPipeline>> {
    match shell_line(command) {
        Some(line) => pipelines(line),
        None => Some(vec![vec![command.to_vec()]]),
    }
}

/// A line that must have been printed, and the line of a file that it shows.
#[derive(Clone, Debug)]
struct CodexOutputLine {
    text: Vec<u8>,
    of: Option<(usize, usize)>,
}

/// All that a line of commands must have printed; `None` if this is not certain.
fn printed(pipelines: &[CodexPipeline], files: &mut CodexFiles<'_>) -> Option<Vec<CodexOutputLine>> {
    let mut rows = Vec::new();
    for pipeline in pipelines {
        match pipeline.as_slice() {
            [command] if command.first().is_some_and(|program| program == "cd") => match command.as_slice() {
                [_, dir] => files.dir = Some(below(files.dir.as_deref(), dir)),
                _ => return None,
            },
            [command] if command.first().is_some_and(|program| program == "echo") => {
                rows.push(echo(command)?)
            }
            [first, rest @ ..] => {
                let mut printed = filtered(first, None, files)?;
                for command in rest {
                    printed = filtered(command, Some(printed), files)?;
                }
                rows.extend(printed);
            }
            [] => return None,
        }
    }
    Some(rows)
}

/// A heading between files. Shells differ in the meaning of options and escapes.
fn echo(command: &CodexCommand) -> Option<CodexOutputLine> {
    let words = command.get(1..)?;
    let plain =
        !words.iter().any(|word| word.contains('\\')) && words.first().is_none_or(|w| !w.starts_with("-n"));
    let text = format!("{}\n", words.join(" ")).into_bytes();
    plain.then_some(CodexOutputLine { text, of: None })
}

/// What a command prints for its input, or for the files that it names.
fn filtered(
    command: &CodexCommand,
    input: Option<Vec<CodexOutputLine>>,
    files: &mut CodexFiles<'_>,
) -> Option<Vec<CodexOutputLine>> {
    let (program, rest) = command.split_first()?;
    let (filter, names) = CodexFilter::parse(program, rest)?;
    let many = filter == CodexFilter::All || filter == CodexFilter::Numbered;
    let rows = match (input, names.as_slice()) {
        (Some(rows), []) => rows,
        (None, [_]) => of_files(&names, files)?,
        (None, [_, _, ..]) if many => of_files(&names, files)?,
        _ => return None,
    };
    Some(filter.apply(rows))
}

fn of_files(names: &[&str], files: &mut CodexFiles<'_>) -> Option<Vec<CodexOutputLine>> {
    let mut rows = Vec::new();
    for name in names {
        let number = files.number(name)?;
        let row =
            |(line, text): (usize, &[u8])| CodexOutputLine { text: text.to_vec(), of: Some((number, line)) };
        rows.extend(files.lines(number).enumerate().map(row));
    }
    Some(rows)
}

/// Which of its input lines a program prints.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CodexFilter {
    All,
    Numbered,
    First(usize),
    Last(usize),
    From(usize),
    /// Ranges of lines, from 1; a range without an end reaches the last line.
    Ranges(Vec<(usize, Option<usize>)>),
}

impl CodexFilter {
    /// The filter of a program with its arguments, and the files among them.
    fn parse<'a>(program: &str, rest: &'a [String]) -> Option<(CodexFilter, Vec<&'a str>)> {
        let words: Vec<&str> = rest.iter().map(String::as_str).filter(|word| *word != "--").collect();
        let (filter, names) = match (program, words.as_slice()) {
            ("cat", ["-n", names @ ..]) | ("nl", ["-ba", names @ ..] | ["-b", "a", names @ ..]) => {
                (CodexFilter::Numbered, names)
            }
            ("cat", names) => (CodexFilter::All, names),
            ("head", words) => {
                let (count, names) = count(words)?;
                (CodexFilter::First(count.parse().ok()?), names)
            }
            ("tail", words) => {
                let (count, names) = count(words)?;
                let filter = match count.strip_prefix('+') {
                    Some(from) => CodexFilter::From(from.parse().ok()?),
                    None => CodexFilter::Last(count.parse().ok()?),
                };
                (filter, names)
            }
            ("sed", ["-n", "-e", script, names @ ..] | ["-n" | "-ne", script, names @ ..]) => {
                (CodexFilter::Ranges(script.split(';').map(range).collect::<Option<_>>()?), names)
            }
            _ => return None,
        };
        let plain = names.iter().all(|name| !name.starts_with('-'));
        plain.then(|| (filter, names.to_vec()))
    }

    fn apply(self, rows: Vec<CodexOutputLine>) -> Vec<CodexOutputLine> {
        let count = rows.len();
        match self {
            CodexFilter::All => rows,
            CodexFilter::Numbered => rows.into_iter().enumerate().map(numbered).collect(),
            CodexFilter::First(most) => rows.into_iter().take(most).collect(),
            CodexFilter::Last(most) => rows.into_iter().skip(count.saturating_sub(most)).collect(),
            CodexFilter::From(line) => rows.into_iter().skip(line.saturating_sub(1)).collect(),
            CodexFilter::Ranges(ranges) => {
                let times = |line: usize| {
                    // A range whose end is above its start is its first line.
                    let holds = |(from, to): &&(usize, Option<usize>)| {
                        *from <= line && to.is_none_or(|to| line <= to.max(*from))
                    };
                    ranges.iter().filter(holds).count()
                };
                let all = rows.into_iter().enumerate();
                all.flat_map(|(at, row)| std::iter::repeat_n(row, times(at + 1))).collect()
            }
        }
    }
}

fn numbered((at, row): (usize, CodexOutputLine)) -> CodexOutputLine {
    CodexOutputLine { text: [format!("{:6}\t", at + 1).as_bytes(), &row.text].concat(), ..row }
}

/// The number of lines in the arguments of `head` and `tail`, and the arguments after it.
fn count<'w, 'a>(words: &'w [&'a str]) -> Option<(&'a str, &'w [&'a str])> {
    match words {
        ["-n", count, rest @ ..] => Some((count, rest)),
        [option, rest @ ..] if option.starts_with('-') => {
            let count =
                option.strip_prefix("-n").or(option.strip_prefix("--lines=")).or(option.strip_prefix('-'));
            Some((count?, rest))
        }
        rest => Some(("10", rest)),
    }
}

/// `3p`, `3,7p` or `3,$p`.
fn range(part: &str) -> Option<(usize, Option<usize>)> {
    let lines = part.trim().strip_suffix('p')?;
    let number = |text: &str| text.trim().parse().ok().filter(|line| *line > 0);
    match lines.split_once(',') {
        None => number(lines).map(|line| (line, Some(line))),
        Some((from, "$")) => Some((number(from)?, None)),
        Some((from, to)) => Some((number(from)?, Some(number(to)?))),
    }
}

/// The lines of files, if the output equals what must have been printed.
fn same(rows: &[CodexOutputLine], output: &str) -> Option<CodexSeenLines> {
    let mut rest = output.as_bytes();
    let mut seen = CodexSeenLines::new();
    for row in rows {
        rest = rest.strip_prefix(row.text.as_slice())?;
        if let Some((number, line)) = row.of {
            seen.entry(number).or_default().insert(line..line + 1);
        }
    }
    rest.is_empty().then_some(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_let_through_what_they_print() {
        let rows = |count: usize| -> Vec<CodexOutputLine> {
            (1..=count).map(|n| CodexOutputLine { text: format!("{n}\n").into_bytes(), of: None }).collect()
        };
        let printed = |line: &str| -> Option<String> {
            let words: Vec<String> = line.split(' ').map(String::from).collect();
            let (filter, names) = CodexFilter::parse(&words[0], &words[1..])?;
            assert_eq!(names, ["f"], "{line}");
            let texts: Vec<Vec<u8>> = filter.apply(rows(12)).into_iter().map(|row| row.text).collect();
            Some(String::from_utf8(texts.concat()).unwrap().replace('\n', " "))
        };
        for (line, expected) in [
            ("head -n 2 f", "1 2 "),
            ("head -2 f", "1 2 "),
            ("head -n2 f", "1 2 "),
            ("head f", "1 2 3 4 5 6 7 8 9 10 "),
            ("tail -n 2 f", "11 12 "),
            ("tail -n +11 f", "11 12 "),
            ("sed -n 2,3p f", "2 3 "),
            ("sed -n 11,$p f", "11 12 "),
            ("sed -n 3p;2,4p f", "2 3 3 4 "),
            ("sed -n 5,2p f", "5 "),
            (
                "cat -n f",
                "     1\t1      2\t2      3\t3      4\t4      5\t5      6\t6      7\t7      8\t8      9\t9     10\t10     11\t11     12\t12 ",
            ),
        ] {
            assert_eq!(printed(line).as_deref(), Some(expected), "{line}");
        }
        for line in [
            "head -n -2 f",
            "head -c 5 f",
            "sed s/a/b/ f",
            "sed -n 2,3d f",
            "sed -n 0p f",
            "cat -A f",
            "sort f",
        ] {
            assert_eq!(printed(line), None, "{line}");
        }
    }
}
