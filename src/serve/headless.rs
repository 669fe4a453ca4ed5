//! One turn without a screen: the answer goes to one writer, everything else to another, and nobody is asked.

use super::{json, text};
use crate::agent::{Agent, Ending, Event, Reply, Start};
use crate::conversation::Outcome;
use std::io::{self, Write};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The last answer's text; `Live` shows it as it comes, for a person who reads along.
    Text(Reader),
    Json,
    StreamJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Person,
    Program,
}

/// How a turn without a screen went.
#[derive(Debug)]
pub struct Done {
    pub ending: Ending,
    /// A call was refused, or needed a person who is not there.
    pub refused: bool,
    /// Standard output could not be written; the turn was stopped.
    pub output: io::Result<()>,
}

/// What hears a turn's events and writes them down.
pub(super) trait Voice {
    fn hear(&mut self, event: &Event, out: &mut dyn Write, side: &mut dyn Write) -> io::Result<()>;
}

/// Runs a turn. `out` gets the answer, `side` the rest; each event is flushed.
pub async fn run(
    agent: &mut Agent,
    start: Start,
    format: Format,
    stop: CancellationToken,
    out: &mut (dyn Write + Send),
    side: &mut (dyn Write + Send),
) -> Done {
    let (events, mut inbox) = unbounded_channel();
    let session = agent.session().map(|s| s.id().to_string());
    let mut voice: Box<dyn Voice + Send> = match format {
        Format::Text(reader) => Box::new(text::Text::new(reader)),
        Format::Json => Box::new(json::Whole::new(session)),
        Format::StreamJson => Box::new(json::Lines::new(session, agent.model().name.clone())),
    };
    let mut refused = false;
    let mut output = Ok(());
    let running = {
        let (events, stop) = (events.clone(), stop.clone());
        async move {
            let ending = agent.run(start, events.clone(), stop).await;
            drop(events.send(Event::Ended(ending.clone())));
            ending
        }
    };
    drop(events);
    let hearing = async {
        while let Some(event) = inbox.recv().await {
            if let Event::CallEnded { outcome: Outcome::Denied, .. } = &event {
                refused = true;
            }
            if output.is_ok() {
                output = voice.hear(&event, out, side);
                if output.is_err() {
                    // Nobody reads the answer any more: stop paying for it.
                    stop.cancel();
                }
            }
            match event {
                Event::Choice(question) => drop(question.reply),
                Event::Enquiry(question) => drop(question.reply),
                Event::Question(question) => drop(question.reply.send(Reply::Nobody)),
                Event::LoopQuestion(question) => drop(question.reply.send(false)),
                _ => {}
            }
        }
    };
    let (ending, ()) = tokio::join!(running, hearing);
    Done { ending, refused, output }
}
