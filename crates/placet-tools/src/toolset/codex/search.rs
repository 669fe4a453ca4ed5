//! The lines that `rg` and `grep` showed of files: a printed line counts if it is that line of the file.

use super::command_parser::{CodexCommand, CodexPipeline};
use super::named_files::{CodexFiles, CodexSeenLines};

/// Options that print whole lines or change which lines are found, and do nothing else.
const FLAGS: &str = "nNiSswxFEPHIrRuU";
const LONG: [&str; 14] = [
    "--hidden",
    "--no-heading",
    "--line-number",
    "--no-line-number",
    "--ignore-case",
    "--smart-case",
    "--case-sensitive",
    "--fixed-strings",
    "--word-regexp",
    "--with-filename",
    "--no-ignore",
    "--color=never",
    "--sort=path",
    "--multiline",
];
/// Options that take the next word.
const WITH_WORD: [&str; 10] = ["-A", "-B", "-C", "-m", "-g", "-t", "-T", "--glob", "--type", "--context"];

/// The options of a search that affect its output.
#[derive(Debug, Default, PartialEq, Eq)]
struct CodexSearch<'a> {
    numbers: bool,
    paths: Vec<&'a str>,
}

/// The lines that a search printed; only commands that select lines may follow it.
pub(super) fn seen(
    pipeline: &CodexPipeline,
    output: &str,
    files: &mut CodexFiles<'_>,
) -> Option<CodexSeenLines> {
    let (first, rest) = pipeline.split_first()?;
    let selects = |command: &CodexCommand| command.first().is_some_and(|p| p == "head" || p == "tail");
    if !rest.iter().all(selects) {
        return None;
    }
    let search = CodexSearch::parse(first)?;
    let alone = match search.paths.as_slice() {
        [path] => files.number(path),
        _ => None,
    };
    let mut seen = CodexSeenLines::new();
    let mut named: Option<(String, usize)> = None;
    for row in output.split('\n').filter(|row| !row.is_empty() && *row != "--") {
        let found = alone.and_then(|file| Some((file, line_of(row, search.numbers, ':', file, files)?)));
        let found = found.or_else(|| of_named(row, &search, &mut named, files));
        if let Some((file, line)) = found {
            seen.entry(file).or_default().insert(line..line + 1);
        }
    }
    Some(seen)
}

impl<'a> CodexSearch<'a> {
    fn parse(command: &'a CodexCommand) -> Option<CodexSearch<'a>> {
        let (program, rest) =
            command.split_first().filter(|(program, _)| *program == "rg" || *program == "grep")?;
        let mut search = CodexSearch::default();
        let (mut pattern, mut operands, mut words) = (false, false, rest.iter().map(String::as_str));
        while let Some(word) = words.next() {
            match word {
                "--" => operands = true,
                _ if operands || !word.starts_with('-') => {
                    // The first word is the pattern, unless an option gives the pattern.
                    if std::mem::replace(&mut pattern, true) {
                        search.paths.push(word);
                    }
                }
                "-e" | "--regexp" => {
                    words.next()?;
                    pattern = true;
                }
                _ if WITH_WORD.contains(&word) => drop(words.next()?),
                _ if LONG.contains(&word) => search.numbers |= word == "--line-number",
                _ if word.starts_with("--include=") && program == "grep" => {}
                _ => {
                    let letters = word.get(1..)?;
                    letters.chars().all(|letter| FLAGS.contains(letter)).then_some(())?;
                    search.numbers |= letters.contains('n');
                }
            }
        }
        pattern.then_some(search)
    }
}

/// `path:12:text`, and below it `path-13-text` for context.
fn of_named(
    row: &str,
    search: &CodexSearch<'_>,
    named: &mut Option<(String, usize)>,
    files: &mut CodexFiles<'_>,
) -> Option<(usize, usize)> {
    for (at, _) in row.match_indices(':').take(3) {
        let (name, rest) = (row.get(..at)?, row.get(at + 1..)?);
        let Some(file) = files.number(name) else { continue };
        *named = Some((name.to_string(), file));
        return Some((file, line_of(rest, search.numbers, ':', file, files)?));
    }
    let (name, file) = named.as_ref()?;
    let rest = row.strip_prefix(name.as_str())?.strip_prefix('-')?;
    Some((*file, line_of(rest, search.numbers, '-', *file, files)?))
}

/// The line of a file that a row shows: by its number, or because only one line has this text.
fn line_of(row: &str, numbers: bool, mark: char, file: usize, files: &CodexFiles<'_>) -> Option<usize> {
    if !numbers {
        return files.only_line(file, row.as_bytes());
    }
    let digits = row.find(|c: char| !c.is_ascii_digit())?;
    let (number, text) = (row.get(..digits)?, row.get(digits..)?);
    // Context has a dash where a match has a colon, also in the output of one file.
    let text = text.strip_prefix(mark).or(text.strip_prefix('-'))?;
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    files.is_line(file, at, text.as_bytes()).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_searches_that_print_whole_lines_are_read() {
        let command = |line: &str| line.split(' ').map(String::from).collect::<CodexCommand>();
        let parsed = |line: &str| {
            let command = command(line);
            let search = CodexSearch::parse(&command)?;
            Some((search.numbers, search.paths.join(" ")))
        };
        let some = |numbers: bool, paths: &str| Some((numbers, paths.to_string()));
        assert_eq!(parsed("rg -n foo src/a.rs"), some(true, "src/a.rs"));
        assert_eq!(parsed("rg foo"), some(false, ""));
        assert_eq!(parsed("grep -rn -C 2 -e -x a b"), some(true, "a b"));
        assert_eq!(parsed("rg --line-number -- -x a"), some(true, "a"));
        for line in [
            "rg -l foo",
            "rg -o foo a",
            "rg -c foo a",
            "rg --json foo",
            "rg -r x foo",
            "ls",
            "rg",
            "grep -v x a",
            "rg -rx foo",
        ] {
            let read = parsed(line);
            // `-r` replaces in rg, and descends in grep.
            assert!(read.is_none() || line.starts_with("rg -r"), "{line}: {read:?}");
        }
    }
}
