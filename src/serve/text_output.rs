//! The answer as text on one writer; what happens meanwhile, one line each, on the other.

use super::changes::ChangeReport;
use super::headless::{AnswerAudience, TurnWriter};
use crate::agent::{TurnEnding, TurnEvent};
use crate::conversation::CallOutcome;
use crate::text::{placet_mark, sanitize, visible};
use std::io::{self, Write};

/// Only the text after the last call is the answer. For a program, the text is buffered until placet knows that it is
/// the answer; a person sees it as it arrives.
pub(super) struct TextWriter {
    reader: AnswerAudience,
    held: String,
    clean: visible::VisibleStream,
    margin: placet_mark::MarkEscaper,
    at_line_start: bool,
    side: NoticeAudience,
}

/// Who reads placet's own lines next to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeAudience {
    /// On a terminal, which may also show the answer: the line has placet's mark, and begins a line of its own.
    Person,
    Program,
}

impl TextWriter {
    pub(super) fn new(reader: AnswerAudience, side: NoticeAudience) -> TextWriter {
        let columns = if let AnswerAudience::Person { columns } = reader { columns } else { usize::MAX };
        let (clean, margin) = (visible::VisibleStream::default(), placet_mark::MarkEscaper::new(columns));
        TextWriter { reader, held: String::new(), clean, margin, at_line_start: true, side }
    }

    /// A broken error stream does not stop the turn: only the answer's own writer counts.
    fn say(&mut self, word: &str, text: &str, to: (&mut dyn Write, &mut dyn Write)) -> io::Result<()> {
        self.say_lines(&format!("{word}: {}", sanitize::line(text)), to)
    }

    fn say_lines(&mut self, words: &str, (out, side): (&mut dyn Write, &mut dyn Write)) -> io::Result<()> {
        if self.side == NoticeAudience::Program {
            drop(writeln!(side, "{words}"));
            return Ok(());
        }
        if self.reader != AnswerAudience::Program {
            self.end_line(out)?;
        }
        drop(writeln!(side, "{}", placet_mark::marked(words)));
        Ok(())
    }

    fn text(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.reader {
            AnswerAudience::Program => {
                self.held.push_str(text);
                Ok(())
            }
            AnswerAudience::Person { .. } => {
                let shown = self.margin.feed(&self.clean.feed(text));
                self.at_line_start = shown.is_empty() && self.at_line_start || shown.ends_with('\n');
                out.write_all(shown.as_bytes())?;
                out.flush()
            }
        }
    }

    /// The text so far was not the answer: calls follow.
    fn aside(&mut self, out: &mut dyn Write, side: &mut dyn Write) -> io::Result<()> {
        match self.reader {
            AnswerAudience::Person { .. } => self.end_line(out),
            AnswerAudience::Program => {
                let text = std::mem::take(&mut self.held);
                if text.trim().is_empty() {
                    Ok(())
                } else {
                    writeln!(side, "{}", visible::prose(text.trim_end()))
                }
            }
        }
    }

    /// Another answer comes: the one before it ends with its line, also where no call is between them.
    fn next_answer(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.reader != AnswerAudience::Program {
            return self.end_line(out);
        }
        if !self.held.is_empty() && !self.held.ends_with('\n') {
            self.held.push('\n');
        }
        Ok(())
    }

    fn end_line(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let rest = self.margin.feed(&self.clean.finish());
        self.at_line_start &= rest.is_empty();
        out.write_all(rest.as_bytes())?;
        if !std::mem::replace(&mut self.at_line_start, true) {
            out.write_all(b"\n")?;
        }
        self.margin.feed("\n");
        out.flush()
    }

    fn finish(&mut self, ending: &TurnEnding, out: &mut dyn Write, side: &mut dyn Write) -> io::Result<()> {
        if self.reader == AnswerAudience::Program {
            let text = std::mem::take(&mut self.held);
            out.write_all(text.as_bytes())?;
            if !text.is_empty() && !text.ends_with('\n') {
                out.write_all(b"\n")?;
            }
            out.flush()?;
        } else {
            self.end_line(out)?;
        }
        if let Some((words, hint)) = ending.words_without_shell() {
            // Several lines where they are needed: a recording that does not fit reports a difference.
            let hint = hint.map(|hint| format!("\nhint: {}", sanitize::line(&hint))).unwrap_or_default();
            self.say_lines(&format!("placet: {}{hint}", sanitize::block(&words)), (out, side))?;
        }
        Ok(())
    }
}

impl TurnWriter for TextWriter {
    fn write_event(
        &mut self,
        event: &TurnEvent,
        out: &mut dyn Write,
        side: &mut dyn Write,
    ) -> io::Result<()> {
        match event {
            TurnEvent::Text(text) => self.text(text, out),
            TurnEvent::Requested => self.next_answer(out),
            TurnEvent::CallComing { .. } | TurnEvent::CallPlanned { .. } => self.aside(out, side),
            TurnEvent::CallEnded { outcome, summary, .. } => {
                let word = match outcome {
                    CallOutcome::Done => "call",
                    CallOutcome::Failed => "failed",
                    CallOutcome::Denied => "refused",
                    CallOutcome::Interrupted => "stopped",
                };
                self.say(word, &summary.line, (&mut *out, &mut *side))?;
                summary.notes.iter().try_for_each(|note| self.say("note", note, (&mut *out, &mut *side)))
            }
            TurnEvent::Question(question) => {
                let flag = question.flag.as_ref().map(|f| format!("; {f} allows it")).unwrap_or_default();
                let text = format!("{} ({}){flag}", question.preview.line, question.reason);
                self.say("needs a person", &text, (out, side))
            }
            TurnEvent::Retrying { attempt, of, wait, error } => {
                let text = format!("{attempt}/{of} in {:.1} s: {error}", wait.as_secs_f64());
                self.say("retry", &text, (out, side))
            }
            TurnEvent::Silent { since } => {
                self.say("waiting", &format!("no data for {} s", since.as_secs()), (out, side))
            }
            TurnEvent::Notice(text) => self.say("note", text, (out, side)),
            _ => Ok(()),
        }
    }

    fn end(
        &mut self,
        ending: &TurnEnding,
        _: Vec<ChangeReport>,
        out: &mut dyn Write,
        side: &mut dyn Write,
    ) -> io::Result<()> {
        self.finish(ending, out, side)
    }
}
