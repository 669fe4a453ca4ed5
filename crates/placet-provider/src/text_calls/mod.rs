//! Calls that come as text. Servers that do not know the form of their model, and models whose template has no tools,
//! send a call as the answer; [`TextCallDecoder`] makes calls of it, whatever the wire format.
//!
//! The forms are a table ([`format`]). Whether a text is a call is decided when the answer is complete ([`reading`]);
//! until then [`gate`] holds it back from the screen. A recognised call takes the same way as any other.

mod answer_schema;
mod block;
mod callable_tools;
mod code_lines;
mod cursor;
mod description;
mod format;
mod gate;
mod json_answer;
mod python;
mod reading;
mod syntax;

use super::{AnswerDecoder, ModelRequest, ProviderError, StreamEvent, ToolForm};
use callable_tools::{CallableTools, ID, made_calls};
use gate::TextGate;
use json_answer::SpokenWords;
use placet_text::conversation::{AssistantBlock, AssistantMessage, CallId, StopReason, ToolCall};
use reading::{AnswerEnd, TextReading, read};

/// A decoder whose text may be calls.
pub(crate) struct TextCallDecoder {
    inner: Box<dyn AnswerDecoder>,
    tools: CallableTools,
    gate: TextGate,
    /// Where the answer was asked for as a JSON object.
    spoken: Option<SpokenWords>,
    /// The number of the next id.
    next_id: usize,
    /// The server made a call in this answer: then its text is text.
    has_calls: bool,
    /// What an answer without its end has yet to show.
    left: Vec<StreamEvent>,
}

impl TextCallDecoder {
    pub(crate) fn new(inner: Box<dyn AnswerDecoder>, request: &ModelRequest) -> TextCallDecoder {
        let next_id = made_calls(request).filter(|id| id.starts_with(ID)).count();
        let tools = CallableTools::of(request);
        let is_json = request.model.capabilities.tools == ToolForm::Json && !request.tools.is_empty();
        TextCallDecoder {
            inner,
            tools,
            gate: TextGate::default(),
            spoken: is_json.then(SpokenWords::default),
            next_id,
            has_calls: false,
            left: Vec::new(),
        }
    }

    fn release(&mut self, events: &mut Vec<StreamEvent>) {
        if self.gate.is_holding() {
            events.push(StreamEvent::Text(self.gate.release()));
        }
    }

    fn text(&mut self, text: String, events: &mut Vec<StreamEvent>) {
        if self.has_calls || self.tools.names.is_empty() {
            return events.push(StreamEvent::Text(text));
        }
        let shown = match &mut self.spoken {
            Some(spoken) => spoken.push(&text),
            None => self.gate.push(&text, &self.tools.names),
        };
        // What is held back counts as progress: the answer arrives.
        let bytes = text.len().saturating_sub(shown.len());
        if !shown.is_empty() {
            events.push(StreamEvent::Text(shown));
        }
        if bytes > 0 {
            events.push(StreamEvent::CallArguments { bytes });
        }
    }

    fn finish(&mut self, mut answer: AssistantMessage, events: &mut Vec<StreamEvent>) {
        let end = AnswerEnd::of(&answer.stop, answer.usage.output);
        let place = answer.blocks.iter().rposition(|block| matches!(block, AssistantBlock::Text { .. }));
        let text = match place.and_then(|at| answer.blocks.get(at)) {
            // What the server refused to let pass is not run.
            Some(AssistantBlock::Text { text })
                if answer.calls().next().is_none() && answer.stop != StopReason::Refusal =>
            {
                text.clone()
            }
            _ => String::new(),
        };
        let held = self.gate.held();
        let shown = self.spoken.as_ref().map_or(text.len().saturating_sub(held), |spoken| spoken.shown);
        match self.reading(&text, end) {
            _ if self.tools.names.is_empty() => {}
            TextReading::Plain if self.spoken.is_none() || text.is_empty() => {}
            TextReading::Plain => events.push(StreamEvent::Text(text)),
            TextReading::Fault(fault) => answer.stop = StopReason::TextCall(fault),
            TextReading::Calls { prose, calls } => {
                self.gate.release();
                if let Some(rest) = prose.get(shown..).filter(|rest| !rest.is_empty()) {
                    events.push(StreamEvent::Text(rest.into()));
                }
                say_instead(&mut answer, place, prose);
                if end == AnswerEnd::Whole && !calls.is_empty() {
                    answer.stop = StopReason::ToolUse;
                }
                for (name, input) in calls {
                    let id = CallId::new(format!("{ID}{}", self.next_id));
                    self.next_id += 1;
                    events.push(StreamEvent::CallStarted { id: id.clone(), name: name.clone() });
                    answer.blocks.push(AssistantBlock::Call(ToolCall { id, name, input }));
                }
            }
        }
        self.release(events);
        events.push(StreamEvent::Finished(answer));
    }

    fn reading(&self, text: &str, end: AnswerEnd) -> TextReading {
        let object = self.spoken.as_ref().and_then(|_| json_answer::read(text, end));
        object.unwrap_or_else(|| read(text, &self.tools, end))
    }
}

/// Puts the words of the answer where its text was.
fn say_instead(answer: &mut AssistantMessage, place: Option<usize>, words: String) {
    if let Some(at) = place {
        let said = (!words.is_empty()).then_some(AssistantBlock::Text { text: words });
        answer.blocks.splice(at..=at, said);
    }
}

impl AnswerDecoder for TextCallDecoder {
    fn feed(&mut self, event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        let mut events = Vec::new();
        for event in self.inner.feed(event, data)? {
            match event {
                StreamEvent::Text(text) => self.text(text, &mut events),
                StreamEvent::Finished(answer) => self.finish(answer, &mut events),
                StreamEvent::Usage(_) | StreamEvent::CallArguments { .. } => events.push(event),
                event => {
                    self.has_calls |= matches!(event, StreamEvent::CallStarted { .. });
                    self.release(&mut events);
                    events.push(event);
                }
            }
        }
        Ok(events)
    }

    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }

    fn cut(&mut self) -> AssistantMessage {
        let mut answer = self.inner.cut();
        let mut events = Vec::new();
        if answer.stop == StopReason::Cut {
            let place = answer.blocks.iter().rposition(|block| matches!(block, AssistantBlock::Text { .. }));
            if let (Some(_), TextReading::Calls { prose, .. }) =
                (&self.spoken, self.reading(&answer.text(), AnswerEnd::AtLimit(0)))
            {
                say_instead(&mut answer, place, prose);
            }
            self.release(&mut events);
            self.left = events;
            return answer;
        }
        // The stop reason had arrived: the answer is whole.
        self.finish(answer, &mut events);
        let finished = events.pop();
        self.left = events;
        match finished {
            Some(StreamEvent::Finished(answer)) => answer,
            _ => AssistantMessage::default(),
        }
    }

    fn held_back(&mut self) -> Vec<StreamEvent> {
        let mut events = self.inner.held_back();
        events.append(&mut self.left);
        events
    }
}

#[cfg(test)]
#[path = "text_calls_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "block_tests.rs"]
mod block_tests;

#[cfg(test)]
#[path = "ordinary_answers_tests.rs"]
mod ordinary_answers;

#[cfg(test)]
#[path = "no_call_tests.rs"]
mod no_call_tests;
