//! Lines that were not changed but moved: removed in one place and added, the same, in another.
//!
//! A line alone proves nothing (`}` is everywhere): only runs with enough letters in them count, and only where the
//! text was removed and added equally often.

use super::file::{ReviewFile, ReviewLines};
use crate::review::picture::rows::number;
use std::collections::HashMap;

/// Letters and digits a run of moved lines must have.
const LETTERS: usize = 24;

/// Where a line came from or went to: the file and the line, from 0.
pub(in crate::review) type MoveEndpoint = (u32, u32);

/// For each file: removed lines and where they went, added lines and where they came from.
#[derive(Clone, Debug, Default)]
pub struct MovedLines {
    pub gone: Vec<HashMap<u32, MoveEndpoint>>,
    pub come: Vec<HashMap<u32, MoveEndpoint>>,
}

impl MovedLines {
    pub fn find(files: &[ReviewFile]) -> MovedLines {
        let mut removed: HashMap<&str, Vec<MoveEndpoint>> = HashMap::new();
        let mut moves =
            MovedLines { gone: vec![HashMap::new(); files.len()], come: vec![HashMap::new(); files.len()] };
        // A commit has the lines that the work tree has.
        let own = |file: &ReviewFile| file.decided_with.is_none();
        let each = || {
            let files = files.iter().enumerate().filter(|(_, file)| own(file));
            files.filter_map(|(f, file)| Some((number(f), file.lines()?)))
        };
        for (f, lines) in each() {
            for line in lines.hunks.iter().flat_map(|h| h.old.clone()) {
                let text = lines.old.line(line).trim();
                if text.chars().any(char::is_alphanumeric) {
                    removed.entry(text).or_default().push((f, number(line)));
                }
            }
        }
        for (f, lines) in each() {
            for hunk in &lines.hunks {
                // A line that the same hunk removes and adds did not move: it was changed in place.
                let own = |(file, line): &MoveEndpoint| *file == f && hunk.old.contains(&(*line as usize));
                let places =
                    |line: usize| removed.get(lines.new.line(line).trim()).filter(|at| !at.iter().any(own));
                let mut at = hunk.new.start;
                while at < hunk.new.end {
                    let run = run(lines, at..hunk.new.end, &places);
                    moves.keep(f, lines, at, &run);
                    at += run.len().max(1);
                }
            }
        }
        moves
    }

    /// Takes a run of added lines as moved, if there is enough in it.
    fn keep(&mut self, f: u32, lines: &ReviewLines, first: usize, run: &[Option<MoveEndpoint>]) {
        let letters = |line: usize| lines.new.line(line).chars().filter(|c| c.is_alphanumeric()).count();
        if (first..first + run.len()).map(letters).sum::<usize>() < LETTERS {
            return;
        }
        for (to, from) in run.iter().enumerate() {
            let (Some(from), to) = (from, number(first + to)) else { continue };
            if let Some(come) = self.come.get_mut(f as usize) {
                come.insert(to, *from);
            }
            if let Some(gone) = self.gone.get_mut(from.0 as usize) {
                gone.insert(from.1, (f, to));
            }
        }
    }
}

/// The longest run of lines from the first of `added` on that were removed elsewhere one after the other, each
/// with its old place. A blank line belongs to the run and has no old place.
fn run<'a>(
    lines: &ReviewLines,
    added: std::ops::Range<usize>,
    places: &impl Fn(usize) -> Option<&'a Vec<MoveEndpoint>>,
) -> Vec<Option<MoveEndpoint>> {
    let first = added.start;
    let Some(&[from]) = places(first).map(Vec::as_slice) else { return Vec::new() };
    let mut run = Vec::new();
    for at in added {
        let expected = (from.0, from.1 + number(at - first));
        let blank = !lines.new.line(at).chars().any(char::is_alphanumeric);
        if places(at).is_some_and(|places| places.contains(&expected)) {
            run.push(Some(expected));
        } else if blank {
            run.push(None);
        } else {
            break;
        }
    }
    while run.last() == Some(&None) {
        run.pop();
    }
    run
}

#[cfg(test)]
mod tests {
    use super::super::file::ReviewBody;
    use super::*;
    use crate::review::content::side_text::SideText;

    fn file(old: &str, new: &str) -> ReviewFile {
        let doc = |text: &str| SideText::new(text.as_bytes().to_vec()).unwrap();
        ReviewFile {
            name: "a".into(),
            path: "/w/a".into(),
            paths: Vec::new(),
            renamed: None,
            letter: 'M',
            facts: Vec::new(),
            care: Vec::new(),
            runs_later: None,
            decided_with: None,
            body: ReviewBody::Lines(ReviewLines::new(doc(old), doc(new))),
            key: String::new(),
        }
    }

    const BLOCK: &str = "fn area(width: u32) -> u32 {\n    width * width\n}\n";

    #[test]
    fn a_block_that_moved_to_another_file_is_found_on_both_sides() {
        let (a, b) = (format!("x\n{BLOCK}y\n"), format!("1\n2\n{}3\n", BLOCK.replace("    ", "\t")));
        let moves = MovedLines::find(&[file(&a, "x\ny\n"), file("1\n2\n3\n", &b)]);
        assert_eq!(moves.gone[0], HashMap::from([(1, (1, 2)), (2, (1, 3))]));
        assert_eq!(moves.come[1], HashMap::from([(2, (0, 1)), (3, (0, 2))]));
    }

    #[test]
    fn too_little_text_and_a_new_indent_are_no_move() {
        let moves = MovedLines::find(&[file("a\nend\nb\n", "a\nb\nc\nend\n")]);
        assert!(moves.gone[0].is_empty() && moves.come[0].is_empty());
        let moves =
            MovedLines::find(&[file(BLOCK, &BLOCK.replace("fn ", "  fn ").replace("    ", "      "))]);
        assert!(moves.gone[0].is_empty() && moves.come[0].is_empty());
    }
}
