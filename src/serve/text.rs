//! The answer as text on one side; what happens meanwhile, one line each, on the other.

use super::changes::ChangeReport;
use super::headless::{Reader, Voice};
use crate::agent::{Ending, Event};
use crate::conversation::Outcome;
use crate::text::{sanitize, visible};
use std::io::{self, Write};

/// Only the text after the last call is the answer. For a program it is held back until it is known to be that; a
/// person sees it as it comes.
pub(super) struct Text {
    reader: Reader,
    held: String,
    clean: visible::Stream,
    at_line_start: bool,
}

impl Text {
    pub(super) fn new(reader: Reader) -> Text {
        Text { reader, held: String::new(), clean: visible::Stream::default(), at_line_start: true }
    }

    fn text(&mut self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        match self.reader {
            Reader::Program => {
                self.held.push_str(text);
                Ok(())
            }
            Reader::Person => {
                let shown = self.clean.feed(text);
                self.at_line_start = shown.is_empty() && self.at_line_start || shown.ends_with('\n');
                out.write_all(shown.as_bytes())?;
                out.flush()
            }
        }
    }

    /// The text so far was not the answer: calls follow.
    fn aside(&mut self, out: &mut dyn Write, side: &mut dyn Write) -> io::Result<()> {
        match self.reader {
            Reader::Person => self.end_line(out),
            Reader::Program => {
                let text = std::mem::take(&mut self.held);
                if text.trim().is_empty() {
                    Ok(())
                } else {
                    writeln!(side, "{}", visible::prose(text.trim_end()))
                }
            }
        }
    }

    fn end_line(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let rest = self.clean.finish();
        self.at_line_start &= rest.is_empty();
        out.write_all(rest.as_bytes())?;
        if !std::mem::replace(&mut self.at_line_start, true) {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    fn finish(&mut self, ending: &Ending, out: &mut dyn Write, side: &mut dyn Write) -> io::Result<()> {
        if self.reader == Reader::Program {
            let text = std::mem::take(&mut self.held);
            out.write_all(text.as_bytes())?;
            if !text.is_empty() && !text.ends_with('\n') {
                out.write_all(b"\n")?;
            }
            out.flush()?;
        } else {
            self.end_line(out)?;
        }
        if let Some((words, hint)) = ending.words() {
            // Several lines where they are needed: a recording that does not fit tells a difference.
            drop(writeln!(side, "placet: {}", sanitize::block(&words)));
            if let Some(hint) = hint {
                say(side, "hint", &hint)?;
            }
        }
        Ok(())
    }
}

impl Voice for Text {
    fn hear(&mut self, event: &Event, out: &mut dyn Write, side: &mut dyn Write) -> io::Result<()> {
        match event {
            Event::Text(text) => self.text(text, out),
            Event::CallComing { .. } | Event::CallPlanned { .. } => self.aside(out, side),
            Event::CallEnded { outcome, summary, .. } => {
                let word = match outcome {
                    Outcome::Done => "call",
                    Outcome::Failed => "failed",
                    Outcome::Denied => "refused",
                    Outcome::Interrupted => "stopped",
                };
                say(side, word, &summary.line)
            }
            Event::Question(question) => {
                let flag = question.flag.as_ref().map(|f| format!("; {f} permits it")).unwrap_or_default();
                say(side, "needs a person", &format!("{} ({}){flag}", question.preview.line, question.reason))
            }
            Event::Retrying { attempt, of, wait, error } => {
                say(side, "retry", &format!("{attempt}/{of} in {:.1} s: {error}", wait.as_secs_f64()))
            }
            Event::Silent { since } => say(side, "waiting", &format!("no data for {} s", since.as_secs())),
            Event::Notice(text) => say(side, "note", text),
            _ => Ok(()),
        }
    }

    fn end(
        &mut self,
        ending: &Ending,
        _: Vec<ChangeReport>,
        out: &mut dyn Write,
        side: &mut dyn Write,
    ) -> io::Result<()> {
        self.finish(ending, out, side)
    }
}

/// A broken error stream is no reason to stop: only the answer's own writer counts.
fn say(side: &mut dyn Write, word: &str, text: &str) -> io::Result<()> {
    drop(writeln!(side, "{word}: {}", sanitize::line(text)));
    Ok(())
}
