//! One turn without a screen: the answer goes to one writer, everything else to another, and no question is asked.

use super::changes::ChangeReport;
pub use super::text_output::NoticeAudience;
pub use super::turn_writer::AnswerAudience;
pub(super) use super::turn_writer::TurnWriter;
use super::{json_output, text_output};
use crate::agent::{Agent, ApprovalReply, TurnEnding, TurnEvent, TurnStart};
use crate::conversation::CallOutcome;
use std::io::{self, Write};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadlessFormat {
    /// The last answer's text; `Live` shows it as it comes, for a person who reads along.
    Text(AnswerAudience, NoticeAudience),
    Json,
    StreamJson,
}

/// How a turn without a screen went. [`HeadlessTurn::end`] writes the end of it.
pub struct HeadlessTurn {
    pub ending: TurnEnding,
    /// A call was refused, or needed an answer that no person could give; or the call failed that a person wrote out, and
    /// that no model can mend.
    pub trouble: Option<CallOutcome>,
    /// Standard output could not be written; the turn was stopped.
    output: io::Result<()>,
    voice: Box<dyn TurnWriter + Send>,
}

impl HeadlessTurn {
    /// Writes the end: the answer as text, or in JSON the end with `changes`. The error is the first error of standard
    /// output.
    pub fn end(
        mut self,
        changes: Vec<ChangeReport>,
        out: &mut dyn Write,
        side: &mut dyn Write,
    ) -> io::Result<()> {
        self.output?;
        self.voice.end(&self.ending, changes, out, side)?;
        out.flush()
    }
}

/// Runs a turn. `out` gets the answer, `side` the rest; each event is flushed. The end is written by
/// [`HeadlessTurn::end`].
pub async fn run(
    agent: &mut Agent,
    start: TurnStart,
    format: HeadlessFormat,
    stop: CancellationToken,
    out: &mut (dyn Write + Send),
    side: &mut (dyn Write + Send),
) -> HeadlessTurn {
    let (events, mut inbox) = unbounded_channel();
    let session = agent.session().map(|s| s.id().to_string());
    let mut voice: Box<dyn TurnWriter + Send> = match format {
        HeadlessFormat::Text(reader, side) => Box::new(text_output::TextWriter::new(reader, side)),
        HeadlessFormat::Json => Box::new(json_output::JsonWriter::new(session)),
        HeadlessFormat::StreamJson => {
            Box::new(json_output::StreamJsonWriter::new(session, agent.model().name.clone()))
        }
    };
    let written_out = matches!(start, TurnStart::Call { .. });
    let mut trouble = None;
    let mut output = Ok(());
    let running = agent.run(start, events, stop.clone());
    let hearing = async {
        while let Some(event) = inbox.recv().await {
            match &event {
                TurnEvent::CallEnded { outcome: CallOutcome::Denied, .. } => {
                    trouble = Some(CallOutcome::Denied);
                }
                TurnEvent::CallEnded { outcome: CallOutcome::Failed, .. } if written_out => {
                    trouble = trouble.or(Some(CallOutcome::Failed));
                }
                _ => {}
            }
            if output.is_ok() {
                output = voice.write_event(&event, out, side);
                if output.is_err() {
                    // The reader of the answer is gone: stop paying for it.
                    stop.cancel();
                }
            }
            match event {
                TurnEvent::Choice(question) => drop(question.reply),
                TurnEvent::Enquiry(question) => drop(question.reply),
                TurnEvent::Question(question) => drop(question.reply.send(ApprovalReply::Nobody)),
                TurnEvent::LoopQuestion(question) => drop(question.reply.send(false)),
                _ => {}
            }
        }
    };
    let (ending, ()) = tokio::join!(running, hearing);
    HeadlessTurn { ending, trouble, output, voice }
}
