//! An answer while it arrives: lines that are final, and a tail that may still change.
//!
//! A Markdown block is final once another one has begun after it. Only the last block is parsed again with each
//! piece, so the cost grows with the answer and not with its square. A code block that is still open is final line by
//! line up to a bound, so that a very long one does not wait in the pane.

use super::markdown;
use super::prose::ProseWidth;
use crate::colors::theme::Theme;
use placet_text::text::visible;
use pulldown_cmark::Parser;
use ratatui::text::Line;

/// An open block longer than this is not parsed as one any more.
const MAX_OPEN: usize = 64 * 1024;

#[derive(Debug, Default)]
pub struct MarkdownStream {
    clean: visible::VisibleStream,
    /// What is not final yet.
    open: String,
    written: bool,
    ended_with_block: bool,
}

impl MarkdownStream {
    /// Takes a piece; returns the lines that are final now.
    pub fn push(&mut self, piece: &str, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        let piece = self.clean.feed(piece);
        let had_break = piece.contains('\n');
        self.open.push_str(&piece);
        // A block can only end where a line ends.
        if !had_break {
            return Vec::new();
        }
        let whole_lines = self.open.rfind('\n').map_or("", |at| self.open.get(..=at).unwrap_or(""));
        let (last, whole) = (last_block(whole_lines), whole_lines.len());
        if last > 0 {
            let rest = self.open.split_off(last);
            let done = std::mem::replace(&mut self.open, rest);
            return self.settle(&done, theme, width);
        }
        if self.open.len() > MAX_OPEN {
            return self.settle_part(whole, theme, width);
        }
        Vec::new()
    }

    /// The first `whole` bytes of a block too long to wait for; what follows goes on as the same kind of block.
    fn settle_part(&mut self, whole: usize, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        let fence = self.open.lines().next().filter(|l| l.starts_with("```") || l.starts_with("~~~"));
        let mut rest = fence.map(|f| format!("{f}\n")).unwrap_or_default();
        rest.push_str(&self.open.split_off(whole));
        let done = std::mem::replace(&mut self.open, rest);
        let lines = self.settle(&done, theme, width);
        self.ended_with_block = false;
        lines
    }

    /// The tail as it looks now. Its code is plain: colours come when the block is whole.
    pub fn tail(&self, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        markdown::render_draft(&self.open, theme, width)
    }

    /// The answer is over: everything is final.
    pub fn finish(&mut self, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        let held = self.clean.finish();
        self.open.push_str(&held);
        let rest = std::mem::take(&mut self.open);
        let lines = self.settle(&rest, theme, width);
        self.written = false;
        self.ended_with_block = false;
        lines
    }

    pub fn is_empty(&self) -> bool {
        self.open.trim().is_empty()
    }

    fn settle(&mut self, text: &str, theme: &Theme, width: ProseWidth) -> Vec<Line<'static>> {
        let mut lines = match is_object(text) {
            true => markdown::render(&format!("~~~~~json\n{text}\n~~~~~\n"), theme, width),
            false => markdown::render(text, theme, width),
        };
        if lines.is_empty() {
            return lines;
        }
        if self.written && self.ended_with_block {
            lines.insert(0, Line::default());
        }
        self.written = true;
        self.ended_with_block = true;
        lines
    }
}

/// True for an answer that is JSON and no prose: stars and backticks in it are not markup.
fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// Where the last top-level block begins.
fn last_block(text: &str) -> usize {
    let mut depth = 0;
    let mut start = 0;
    for (event, range) in Parser::new_ext(text, markdown::options()).into_offset_iter() {
        match event {
            pulldown_cmark::Event::Start(_) => {
                if depth == 0 {
                    start = range.start;
                }
                depth += 1;
            }
            pulldown_cmark::Event::End(_) => depth -= 1,
            _ if depth == 0 => start = range.start,
            _ => {}
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_config::WrapSetting;
    use proptest::prelude::*;

    const WIDTH: ProseWidth = ProseWidth { columns: 80, wrap: WrapSetting::Words };

    const ANSWER: &str = "# Head\n\nFirst paragraph\ngoes on.\n\n- a\n- b\n\n```rs\nfn x() {}\n\n// y\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nlast *words*";

    fn text(lines: &[Line<'_>]) -> String {
        lines.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_block_is_final_when_the_next_one_begins() {
        let theme = Theme::plain();
        let mut stream = MarkdownStream::default();
        assert!(stream.push("one\nstill one\n\n", &theme, WIDTH).is_empty());
        assert_eq!(text(&stream.tail(&theme, WIDTH)), "one still one");
        assert_eq!(text(&stream.push("two\n", &theme, WIDTH)), "one still one");
        assert_eq!(text(&stream.finish(&theme, WIDTH)), "\ntwo");
        assert!(stream.is_empty());
    }

    /// Story: the answer to a batch lost the backticks of its messages on the screen.
    #[test]
    fn an_answer_that_is_json_is_shown_as_it_is() {
        let theme = Theme::plain();
        let mut stream = MarkdownStream::default();
        let answer = r#"{"sError":"`a` and __b__ do *not* exist"}"#;
        let mut lines = stream.push(answer, &theme, WIDTH);
        lines.extend(stream.finish(&theme, WIDTH));
        assert_eq!(text(&lines).trim(), answer);
    }

    #[test]
    fn a_very_long_code_block_flows_without_waiting_for_its_end() {
        let theme = Theme::plain();
        let mut stream = MarkdownStream::default();
        let mut lines = stream.push("before\n\n```rs\n", &theme, WIDTH);
        for n in 0..6_000 {
            lines.extend(stream.push(&format!("let x{n} = 1;\n"), &theme, WIDTH));
            assert!(stream.open.len() <= MAX_OPEN + 100);
        }
        lines.extend(stream.push("```\nafter\n", &theme, WIDTH));
        lines.extend(stream.finish(&theme, WIDTH));
        let text = text(&lines);
        let code: String = (0..6_000).map(|n| format!("let x{n} = 1;\n")).collect();
        assert!(text == format!("before\n\n{code}\nafter"), "{}", &text[..200]);
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_answer_reads_the_same(cuts in prop::collection::vec(0..ANSWER.len(), 0..12)) {
            let theme = Theme::plain();
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut stream = MarkdownStream::default();
            let mut lines = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([ANSWER.len()]) {
                lines.extend(stream.push(&ANSWER[from..cut], &theme, WIDTH));
                from = cut;
            }
            lines.extend(stream.finish(&theme, WIDTH));
            prop_assert_eq!(text(&lines), text(&markdown::render(ANSWER, &theme, WIDTH)));
        }
    }
}
