//! `placet tour`: what a person is told at each step of the tour, and the line that is ready to be sent.
//!
//! The tour is a shell like any other, in a project that is thrown away. The steps say what to press; every screen,
//! question and key is the real one, so the tour cannot show anything that placet does not do.

use super::output::ShellOutput;

/// Which step is next.
#[derive(Debug, Default)]
pub(super) struct Tour {
    step: usize,
    /// The step whose words are on the screen.
    told: Option<usize>,
}

struct TourStep {
    words: &'static [&'static str],
    /// The line that stands at the prompt.
    line: &'static str,
}

const STEPS: [TourStep; 4] = [
    TourStep {
        words: &[
            "Tour, 1 of 4: the agent edits a file. Nothing here is yours, and Ctrl-D leaves at any time.",
            "Press Enter to send the request below. Then press r to review the two changes: a accepts the first one, c writes a comment on the second one, r rejects it. Enter shows the summary, and y confirms it.",
        ],
        line: r#"replace "0.19" with "0.21" in src/price.py; replace "round(total, 2)" with "total" in src/price.py"#,
    },
    TourStep {
        words: &[
            "Tour, 2 of 4: a command destroys files. It runs in a copy-on-write view, so nothing is lost yet.",
            "Press Enter. The question lists what the command deleted. Press a to apply it all the same.",
        ],
        line: "run rm -rf src tests",
    },
    TourStep {
        words: &["Tour, 3 of 4: undo restores what was applied, also after a command. Press Enter."],
        line: "/undo",
    },
    TourStep {
        words: &[
            "Tour, 4 of 4: the files are back: `!ls src` shows them. That is all you need to begin.",
            "In your own directory, `placet` starts the shell, and ? shows the keys. Press Enter to leave.",
        ],
        line: "exit",
    },
];

/// The files of the tour's project.
pub const FILES: [(&str, &str); 4] = [
    ("README.md", "# shop\n\nPrices with tax.\n"),
    (
        "src/price.py",
        "\"\"\"Prices.\"\"\"\n\nTAX = 0.19\n\n\ndef net(prices):\n    return sum(prices)\n\n\ndef gross(prices):\n    \
         total = net(prices) * (1 + TAX)\n    return round(total, 2)\n",
    ),
    ("src/stock.py", "\"\"\"What is in stock.\"\"\"\n\nSTOCK = {\"tea\": 12, \"coffee\": 7}\n"),
    ("tests/test_price.py", "from price import gross\n\nassert gross([10]) == 11.9\n"),
];

impl Tour {
    /// The line for the next prompt; the words of its step are shown once.
    pub(super) fn next_line(&mut self, output: &ShellOutput<'_>) -> String {
        let Some(step) = STEPS.get(self.step) else { return String::new() };
        if self.told != Some(self.step) {
            self.told = Some(self.step);
            step.words.iter().for_each(|words| output.wrapped(words));
        }
        step.line.into()
    }

    /// A step ends when its line was sent; whatever else a person types leaves the tour where it is.
    pub(super) fn sent(&mut self, line: &str) {
        if STEPS.get(self.step).is_some_and(|step| step.line == line.trim()) {
            self.step += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::OfflineProvider;
    use crate::repl::COMMANDS;

    #[test]
    fn every_line_of_the_tour_is_understood() {
        for step in &STEPS {
            let is_command =
                step.line == "exit" || COMMANDS.iter().any(|row| step.line == format!("/{}", row.name));
            assert!(is_command || OfflineProvider::understands(step.line), "{}", step.line);
        }
    }

    #[test]
    fn only_the_line_of_a_step_ends_it() {
        let mut tour = Tour::default();
        tour.sent("help");
        assert_eq!(tour.step, 0);
        tour.sent(&format!("{} ", STEPS[0].line));
        assert_eq!(tour.step, 1);
        tour.sent(STEPS[0].line);
        assert_eq!(tour.step, 1);
    }
}
