//! `placet tour`: the text of each step of the tour, and the line that is ready to be sent.
//!
//! The tour is a shell like any other, in a project that is thrown away. The steps say what to press; every screen,
//! question and key is the real one, so the tour cannot show anything that placet does not do.

use super::output::ShellOutput;
use crate::ui::keymap::Keymap;
use crate::ui::review::{ReviewAction, TABLE};
use ratatui::text::Line;

/// Which step is next.
#[derive(Debug, Default)]
pub(super) struct Tour {
    step: usize,
    /// The step whose words are on the screen.
    told: Option<usize>,
}

struct TourStep {
    title: &'static str,
    words: &'static str,
    /// The text that the prompt starts with.
    line: &'static str,
    /// What to do in the review, which covers the words.
    in_review: Option<&'static str>,
}

const STEPS: [TourStep; 4] = [
    TourStep {
        title: "Tour, 1 of 4: the agent edits a file, and you review the edits",
        words: "The project is made for the tour; Ctrl-C and then Ctrl-D leaves at each prompt. Press Enter to send the \
                request below. At the question, Right marks Review, and Enter opens it. There, {accept} accepts the \
                first change; {comment} comments on the second one (Enter ends the comment), and {reject} rejects it. \
                {apply} shows the summary, and Enter there applies.",
        line: r#"replace "0.19" with "0.21" in src/price.py; replace "round(total, 2)" with "total" in src/price.py"#,
        in_review: Some(
            "Tour: {accept} accepts the first change; {comment} comments on the second, {reject} rejects it; {apply} \
             shows the summary, Enter there applies",
        ),
    },
    TourStep {
        title: "Tour, 2 of 4: a command destroys files",
        words: "It runs in a copy-on-write view: nothing is lost before you say so. Press Enter, and look at what \
                the command deleted. Apply is marked: Enter applies it all the same.",
        line: "run rm -rf tests README.md",
        in_review: Some(
            "Tour: {close} goes back to the question, and Enter there applies what the command deleted",
        ),
    },
    TourStep {
        title: "Tour, 3 of 4: undo restores what was applied, also after a command",
        words: "If you applied it, the files are gone now: `!ls` shows it. Press Enter to take your last decision back.",
        line: "/undo",
        in_review: None,
    },
    TourStep {
        title: "Tour, 4 of 4: that is all you need to begin",
        words: "In your own directory, `placet` starts the shell, /setup adds a model, and ? shows the keys. Press \
                Enter to leave.",
        line: "exit",
        in_review: None,
    },
];

/// The files of the tour's project. A screen of 24 rows shows all of what the second step removes: one press applies it.
pub const FILES: [(&str, &str); 4] = [
    ("README.md", "# shop\n\nPrices with tax.\n"),
    (
        "src/price.py",
        "TAX = 0.19\n\n\ndef net(prices):\n    return sum(prices)\n\n\ndef gross(prices):\n    \
         total = net(prices) * (1 + TAX)\n    return round(total, 2)\n",
    ),
    ("src/stock.py", "STOCK = {\"tea\": 12, \"coffee\": 7}\n"),
    ("tests/test_price.py", "from price import gross\nassert gross([10]) == 11.9\n"),
];

impl Tour {
    /// The line for the next prompt; the words of its step are shown once.
    pub(super) fn next_line(&mut self, output: &ShellOutput<'_>) -> String {
        let Some(step) = STEPS.get(self.step) else { return String::new() };
        if self.told != Some(self.step) {
            self.told = Some(self.step);
            output.print(&[Line::default()]);
            let words = with_keys(step.words, &output.keymap("review", TABLE));
            output.paragraphs(&[(step.title, "question"), (&words, "text")]);
        }
        step.line.into()
    }

    /// What the person may do in a review now: the step whose line was sent last says it.
    pub(super) fn in_review(&self, keys: &Keymap<ReviewAction>) -> Option<String> {
        let words = STEPS.get(self.step.checked_sub(1)?)?.in_review?;
        Some(with_keys(words, keys))
    }

    /// A step ends when its line was sent; whatever else a person types leaves the tour where it is.
    pub(super) fn sent(&mut self, line: &str) {
        if STEPS.get(self.step).is_some_and(|step| step.line == line.trim()) {
            self.step += 1;
        }
    }
}

/// The words of a step with the keys of the review as the person has set them.
fn with_keys(words: &str, keys: &Keymap<ReviewAction>) -> String {
    let named = [
        ("{accept}", ReviewAction::Accept),
        ("{reject}", ReviewAction::Reject),
        ("{comment}", ReviewAction::Comment),
        ("{apply}", ReviewAction::Enter),
        ("{close}", ReviewAction::Close),
    ];
    named.iter().fold(words.to_string(), |words, (name, action)| words.replace(name, &keys.key(*action)))
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
        let (mut tour, keys) = (Tour::default(), Keymap::usual("review", TABLE));
        tour.sent("help");
        assert_eq!((tour.step, tour.in_review(&keys)), (0, None));
        tour.sent(&format!("{} ", STEPS[0].line));
        assert_eq!(tour.step, 1);
        assert!(tour.in_review(&keys).unwrap().starts_with("Tour: a accepts"));
        tour.sent(STEPS[0].line);
        assert_eq!(tour.step, 1);
    }

    /// Story: the tour named `a` and `c` where the person had put other keys.
    #[test]
    fn the_words_name_the_keys_of_the_person() {
        let own = [("accept", "x"), ("close", "F2"), ("comment", "Ctrl-D"), ("half_down", "Ctrl-N")];
        let own: Vec<(String, String)> = own.iter().map(|(a, k)| (a.to_string(), k.to_string())).collect();
        let keys = Keymap::new("review", TABLE, &own).unwrap();
        let all = STEPS.iter().flat_map(|step| [Some(step.words), step.in_review]).flatten();
        let all: Vec<String> = all.map(|words| with_keys(words, &keys)).collect();
        assert!(all.iter().all(|words| !words.contains(['{', '}'])), "{all:?}");
        assert!(
            all[0].contains("There, x accepts the first change; Ctrl-D comments on the second"),
            "{}",
            all[0]
        );
        assert!(all[3].starts_with("Tour: F2 goes back to the question"), "{}", all[3]);
    }
}
