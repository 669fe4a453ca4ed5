//! Detects text that an answer repeats: one line, a block of a few lines, or a line that never ends.
//!
//! The detection runs while the text arrives, so that nobody pays for the rest. Short text repeats in honest answers
//! (rows of a table, brackets, rules), and so the repeated text must have a minimum length. Lines that differ only in case,
//! blanks and punctuation are equal; lines with other numbers are not, because a table of them is work.

use std::collections::VecDeque;

/// The minimum bytes of one repeated line.
const SHORTEST: usize = 40;
/// The minimum bytes of a repeated block of several lines.
const SHORTEST_BLOCK: usize = 80;
/// Lines of the longest block.
const LINES: usize = 4;
/// How much of a line without an end is searched, and after how many new bytes it is searched again.
const WINDOW: usize = 4096;
const LOOK: usize = 256;

#[derive(Debug)]
pub(crate) struct RepetitionDetector {
    /// How many repetitions in a row count as an echo; 0 detects none.
    limit: usize,
    line: String,
    /// The bytes of `line` at the last search.
    looked: usize,
    /// The lines that are not blank, the newest last.
    lines: VecDeque<String>,
}

impl RepetitionDetector {
    pub(crate) fn new(limit: u32) -> RepetitionDetector {
        let limit = if limit == 0 { 0 } else { limit.max(2) as usize };
        RepetitionDetector { limit, line: String::new(), looked: 0, lines: VecDeque::new() }
    }

    /// True if the new text completes the repetition that reaches the limit.
    pub(crate) fn feed(&mut self, text: &str) -> bool {
        if self.limit == 0 {
            return false;
        }
        for piece in text.split_inclusive('\n') {
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                self.looked = 0;
                let line = std::mem::take(&mut self.line);
                let line = spoken(&line);
                if !line.is_empty() && self.line_repeats(line) {
                    return true;
                }
            } else if self.line.len() >= self.looked + LOOK {
                self.looked = self.line.len();
                if ends_in_repeats(self.line.as_bytes(), self.limit) {
                    return true;
                }
            }
        }
        false
    }

    fn line_repeats(&mut self, line: String) -> bool {
        self.lines.push_back(line);
        if self.lines.len() > LINES * self.limit {
            self.lines.pop_front();
        }
        (1..=LINES).any(|count| self.block_repeats(count))
    }

    /// True if the last lines repeat one block of `count` lines.
    fn block_repeats(&self, count: usize) -> bool {
        let newest = || self.lines.iter().rev();
        let needed = count * (self.limit - 1);
        let same = newest().zip(newest().skip(count)).take(needed).take_while(|(a, b)| a == b).count();
        let bytes: usize = newest().take(count).map(|line| line.len()).sum();
        // Equal lines are a block of one line, and each of them must be long.
        let differ = count == 1 || newest().take(count).any(|line| Some(line) != self.lines.back());
        let shortest = if count == 1 { SHORTEST } else { SHORTEST_BLOCK };
        same == needed && differ && bytes >= shortest
    }
}

/// The words of a line, as they would be read out.
fn spoken(line: &str) -> String {
    let words = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// True if the end of `line` repeats one piece of text `times` times. Very short pieces count only if they fill the
/// whole window.
fn ends_in_repeats(line: &[u8], times: usize) -> bool {
    let tail = line.get(line.len().saturating_sub(WINDOW)..).unwrap_or(line);
    let longest = tail.len() / times;
    (SHORTEST..=longest).any(|period| {
        let end = tail.get(tail.len() - period * times..).unwrap_or(tail);
        if !has_period(end, period) {
            return false;
        }
        let block = end.get(..period).unwrap_or(end);
        let fills = tail.len() == WINDOW && period == longest;
        fills || !(1..SHORTEST).any(|short| has_period(block, short))
    })
}

fn has_period(text: &[u8], period: usize) -> bool {
    text.get(period..) == text.get(..text.len().saturating_sub(period))
}

#[cfg(test)]
mod tests {
    use super::RepetitionDetector;

    /// The number of pieces after which the text counts as an echo.
    fn after(echo: &mut RepetitionDetector, pieces: impl IntoIterator<Item = String>) -> Option<usize> {
        pieces.into_iter().position(|piece| echo.feed(&piece)).map(|at| at + 1)
    }

    #[test]
    fn a_line_said_five_times_is_an_echo_and_short_lines_are_not() {
        let long = "I will now look at the file to see what is in there.\n\n".to_string();
        let mut echo = RepetitionDetector::new(5);
        assert_eq!(after(&mut echo, vec![long.clone(); 5]), Some(5));
        assert_eq!(after(&mut RepetitionDetector::new(3), vec![long.clone(); 5]), Some(3));
        assert_eq!(after(&mut RepetitionDetector::new(0), vec![long; 500]), None);
        assert_eq!(after(&mut RepetitionDetector::new(5), vec!["| --- |\n".to_string(); 50]), None);
    }

    #[test]
    fn a_line_that_comes_back_with_other_punctuation_is_an_echo_and_one_with_another_number_is_not() {
        let ways = [
            "- Now I will look at the file, to see what is in there",
            "Now I will look at the file to see what is in there!",
            "* now I WILL look at the file  to see what is in there.",
        ];
        let said = |n: usize| format!("{}\n", ways[n % 3]);
        assert_eq!(after(&mut RepetitionDetector::new(5), (0..9).map(said)), Some(5));
        let rows = (0..50).map(|n| format!("INSERT INTO readings (sensor, value) VALUES ('hall', {n});\n"));
        assert_eq!(after(&mut RepetitionDetector::new(5), rows), None);
    }

    #[test]
    fn a_paragraph_of_up_to_four_lines_said_five_times_is_an_echo() {
        for lines in 2..=4 {
            let paragraph: String = (0..lines)
                .map(|n| format!("line {n} of a paragraph that comes back, word for word\n"))
                .collect();
            let said = vec![format!("{paragraph}\n"); 9];
            assert_eq!(after(&mut RepetitionDetector::new(5), said), Some(5), "{lines}");
        }
        let said =
            (0..50).map(|n| format!("## Step {n}\nThen the next file is looked at, as before, and noted.\n"));
        assert_eq!(after(&mut RepetitionDetector::new(5), said), None, "what differs in one line is work");
        assert_eq!(
            after(&mut RepetitionDetector::new(5), vec!["{\n  0\n},\n".to_string(); 50]),
            None,
            "brackets"
        );
    }

    #[test]
    fn a_line_without_an_end_that_repeats_itself_is_an_echo() {
        let piece =
            "and then I will look at the file again, ".to_string() + "which is the one named before; ";
        let found = after(&mut RepetitionDetector::new(5), vec![piece; 100]);
        assert!(found.is_some_and(|times| (5..=12).contains(&times)), "{found:?}");
        let numbered =
            (0..400).map(|n| format!("and then I will look at the file {n} again, which is new; "));
        assert_eq!(after(&mut RepetitionDetector::new(5), numbered), None);
        assert_eq!(after(&mut RepetitionDetector::new(5), vec!["-".repeat(100); 20]), None, "a rule");
        assert!(
            after(&mut RepetitionDetector::new(5), vec!["na ".repeat(100); 40]).is_some(),
            "a window full of it"
        );
    }
}
