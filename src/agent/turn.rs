//! One turn as a pure machine: inputs in, effects out. No I/O, no clock, no async; total over every input in every
//! state, so that its promises can be tested as a table:
//!
//! - what was said is saved before anything acts on it;
//! - a call is planned only after the earlier calls of its answer that it conflicts with have run;
//! - every call is answered, in the order of the calls, before the next request, also after an interrupt;
//! - what the person says meanwhile comes after those answers, and is saved before the request that carries it;
//! - a half-received answer never runs a call.

use super::echo::Echo;
use super::ending::Ending;
use super::guard::{Loops, Repeat};
use super::mend::{Repair, rename_duplicates, repair_for, shortened};
use super::silence::Silence;
use crate::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInterruption, CallResult, Message, Note, Part, StopReason,
    ThinkingBlock, ToolCall,
};
use crate::provider::{ProviderError, StreamEvent};
use crate::tools::TouchedPaths;

#[derive(Clone, Debug)]
pub enum Input {
    Said(Vec<Part>),
    /// The same, where no model answers: the person wrote a call out, and its result may well be empty.
    Typed(Vec<Part>),
    /// Ask again with what is there: after a failure, on the person's word.
    Retry,
    /// Anything the provider sends before it is finished.
    Streamed(StreamEvent),
    /// The answer is whole. `touches` has one entry for each of its calls, in order.
    Answered {
        answer: AssistantMessage,
        touches: Vec<TouchedPaths>,
    },
    Failed(ProviderError),
    /// The call was planned and decided: it may run.
    Cleared(CallId),
    /// The call ended: it ran, failed, was refused or was stopped.
    Ended(CallResult),
    /// The person's answer to [`Effect::AskLoop`].
    LoopAnswered(LoopAnswer),
    /// The answer to [`Effect::Listen`]: what the person said meanwhile, if anything.
    Heard(Vec<Part>),
    Interrupted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopAnswer {
    GoOn,
    Stop,
}

#[derive(Debug, PartialEq)]
pub enum Effect {
    Save(Message),
    Request,
    /// Another request of this turn is due: does the person want to say something first? Answer with `Heard`.
    Listen,
    /// Change what the next request carries, so that it is not rejected for the same reason.
    Repair(Repair),
    /// Plan the call, decide, ask if need be; answer with `Cleared` or `Ended`.
    Check(ToolCall),
    /// Run the plan that was cleared; answer with `Ended`.
    Run(CallId),
    /// Stop the stream, open questions and running calls.
    Cancel,
    /// The same call came again and again: ask the person whether to go on.
    AskLoop {
        tool: String,
        times: u32,
    },
    End(Ending),
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Idle,
    Streaming,
    Calling(Vec<Open>),
    AskingLoop {
        tool: String,
        times: u32,
    },
    /// Between the results and the next request.
    Listening,
}

/// A call of the current answer.
#[derive(Debug)]
struct Open {
    call: ToolCall,
    touches: TouchedPaths,
    stage: Stage,
}

#[derive(Debug, PartialEq)]
enum Stage {
    Waiting,
    Checking,
    Running,
    Done(CallResult),
}

/// What one turn may not go beyond; 0 means no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Requests.
    pub rounds: u32,
    /// The same again: a call with its result, a text within an answer.
    pub repeats: u32,
}

/// The machine. One value serves a whole session; [`Turn::handle`] is its only way in.
#[derive(Debug)]
pub struct Turn {
    state: State,
    partial: AssistantMessage,
    echo: Echo,
    loops: Loops,
    rounds: u32,
    bounds: Bounds,
    repairs: u32,
    /// Answers of this turn that broke off and were gone on with.
    resumed: u32,
    /// Answers of this turn that said nothing and were asked for again.
    nudged: u32,
    nudges: u32,
    stopping: bool,
}

/// How often one turn tries to mend a rejected request.
const MAX_REPAIRS: u32 = 3;
/// How many answers of one turn may break off before the person is left to say what is next.
const MAX_RESUMED: u32 = 2;

/// How many answers of one turn that say nothing are asked for again.
const MAX_NUDGED: u32 = 1;

impl Turn {
    pub fn new(bounds: Bounds) -> Turn {
        Turn {
            state: State::Idle,
            partial: AssistantMessage::default(),
            echo: Echo::new(bounds.repeats),
            loops: Loops::new(bounds.repeats),
            rounds: 0,
            bounds,
            repairs: 0,
            resumed: 0,
            nudged: 0,
            nudges: 0,
            stopping: false,
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle)
    }

    /// What has arrived of the answer now streaming: what a crash should not lose.
    pub fn partial(&self) -> &AssistantMessage {
        &self.partial
    }

    pub fn handle(&mut self, input: Input) -> Vec<Effect> {
        match input {
            Input::Said(parts) => self.said(Some(parts), MAX_NUDGED),
            Input::Typed(parts) => self.said(Some(parts), 0),
            Input::Retry => self.said(None, MAX_NUDGED),
            Input::Streamed(event) => self.streamed(event),
            Input::Answered { answer, touches } => self.answered(answer, touches),
            Input::Failed(error) => self.failed(error),
            Input::Cleared(id) => self.cleared(&id),
            Input::Ended(result) => self.ended(result),
            Input::LoopAnswered(answer) => self.loop_answered(answer),
            Input::Heard(parts) => self.heard(parts),
            Input::Interrupted => self.interrupted(),
        }
    }

    /// `nudges`: how many answers of this turn may say nothing and are asked for again; with none, silence is an answer.
    fn said(&mut self, parts: Option<Vec<Part>>, nudges: u32) -> Vec<Effect> {
        if !self.is_idle() {
            return Vec::new();
        }
        self.loops.forget();
        self.rounds = 0;
        self.repairs = 0;
        self.resumed = 0;
        (self.nudged, self.nudges) = (0, nudges);
        self.stopping = false;
        let mut effects: Vec<Effect> =
            parts.map(|parts| Effect::Save(Message::User { parts })).into_iter().collect();
        effects.extend(self.request());
        effects
    }

    /// The next request of a turn that goes on. A line that no request could carry any more is not asked for.
    fn listen(&mut self) -> Vec<Effect> {
        if self.is_used_up() {
            return self.request();
        }
        self.state = State::Listening;
        vec![Effect::Listen]
    }

    fn heard(&mut self, parts: Vec<Part>) -> Vec<Effect> {
        if !matches!(self.state, State::Listening) {
            return Vec::new();
        }
        let said = (!parts.is_empty()).then_some(Effect::Save(Message::User { parts }));
        said.into_iter().chain(self.request()).collect()
    }

    fn is_used_up(&self) -> bool {
        self.bounds.rounds > 0 && self.rounds >= self.bounds.rounds
    }

    fn request(&mut self) -> Vec<Effect> {
        if self.is_used_up() {
            self.state = State::Idle;
            return vec![Effect::End(Ending::TooManyRounds(self.rounds))];
        }
        self.rounds += 1;
        self.partial = AssistantMessage::default();
        self.echo = Echo::new(self.bounds.repeats);
        self.state = State::Streaming;
        vec![Effect::Request]
    }

    fn streamed(&mut self, event: StreamEvent) -> Vec<Effect> {
        if !matches!(self.state, State::Streaming) {
            return Vec::new();
        }
        match event {
            StreamEvent::Text(text) => {
                let echoes = self.echo.feed(&text);
                self.push_text(text);
                if echoes {
                    let partial = std::mem::take(&mut self.partial);
                    let mut effects = vec![Effect::Cancel];
                    effects.extend(self.keep_partial(partial));
                    effects.push(Effect::End(Ending::Stuck {
                        tool: "the answer's own text".into(),
                        times: self.bounds.repeats.max(2),
                    }));
                    self.state = State::Idle;
                    return effects;
                }
            }
            StreamEvent::Thinking(text) => self.push_thinking(&text),
            StreamEvent::Usage(usage) => self.partial.usage = usage,
            _ => {}
        }
        Vec::new()
    }

    fn push_text(&mut self, more: String) {
        match self.partial.blocks.last_mut() {
            Some(AssistantBlock::Text { text }) => text.push_str(&more),
            _ => self.partial.blocks.push(AssistantBlock::Text { text: more }),
        }
    }

    fn push_thinking(&mut self, more: &str) {
        match self.partial.blocks.last_mut() {
            Some(AssistantBlock::Thinking(thinking)) => thinking.text.push_str(more),
            _ => self.partial.blocks.push(AssistantBlock::Thinking(ThinkingBlock {
                text: more.into(),
                ..ThinkingBlock::default()
            })),
        }
    }

    fn answered(&mut self, mut answer: AssistantMessage, touches: Vec<TouchedPaths>) -> Vec<Effect> {
        if !matches!(self.state, State::Streaming) {
            return Vec::new();
        }
        self.partial = AssistantMessage::default();
        self.repairs = 0;
        rename_duplicates(&mut answer);
        let ending = match answer.stop {
            StopReason::MaxTokens => Ending::CutAtLimit,
            StopReason::Refusal => Ending::Refused,
            _ => Ending::Done,
        };
        if let Some(silence) = Silence::of(&answer).filter(|_| self.nudges > 0) {
            return self.silent(silence);
        }
        if answer.blocks.is_empty() {
            self.state = State::Idle;
            return vec![Effect::End(ending)];
        }
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        let mut effects = vec![Effect::Save(Message::Assistant(answer))];
        if calls.is_empty() {
            self.state = State::Idle;
            effects.push(Effect::End(ending));
            return effects;
        }
        let mut touches = touches.into_iter();
        let opens = calls.into_iter().map(|call| Open {
            call,
            touches: touches.next().unwrap_or_default(),
            stage: Stage::Waiting,
        });
        self.state = State::Calling(opens.collect());
        effects.extend(self.advance());
        effects
    }

    /// An answer that says nothing is not kept: reasoning alone is refused in a history by some servers.
    fn silent(&mut self, silence: Silence) -> Vec<Effect> {
        if !silence.may_pass() || self.nudged >= self.nudges {
            self.state = State::Idle;
            return vec![Effect::End(Ending::NoAnswer(silence))];
        }
        self.nudged += 1;
        let parts = vec![Part::Note(Note::EmptyAnswer)];
        let mut effects = vec![Effect::Repair(Repair::Nudge(silence)), Effect::Save(Message::User { parts })];
        effects.extend(self.request());
        effects
    }

    /// Starts every call that waits for nothing, or closes the round when all have ended.
    fn advance(&mut self) -> Vec<Effect> {
        let State::Calling(opens) = &mut self.state else { return Vec::new() };
        let mut effects = Vec::new();
        for at in 0..opens.len() {
            let (earlier, rest) = opens.split_at_mut(at);
            let Some(open) = rest.first_mut() else { break };
            let blocked = earlier
                .iter()
                .any(|e| !matches!(e.stage, Stage::Done(_)) && open.touches.conflicts(&e.touches));
            if open.stage == Stage::Waiting && !blocked {
                open.stage = Stage::Checking;
                effects.push(Effect::Check(open.call.clone()));
            }
        }
        if opens.iter().all(|o| matches!(o.stage, Stage::Done(_))) {
            effects.extend(self.close_round());
        }
        effects
    }

    fn close_round(&mut self) -> Vec<Effect> {
        let State::Calling(opens) = std::mem::take(&mut self.state) else { return Vec::new() };
        let mut results = Vec::new();
        let mut worst: Option<(String, u32)> = None;
        self.loops.next_round();
        for open in opens {
            let Stage::Done(mut result) = open.stage else { continue };
            match self.loops.record(&open.call, &result) {
                Repeat::Fresh => {}
                Repeat::Tell(times) => result.parts.push(Part::Note(Note::Repeated { times })),
                Repeat::Ask(times) => worst = Some((open.call.name.clone(), times)),
            }
            results.push(result);
        }
        let mut effects = vec![Effect::Save(Message::Results { results })];
        if self.stopping {
            effects.push(Effect::End(Ending::Interrupted));
        } else if let Some((tool, times)) = worst {
            self.state = State::AskingLoop { tool: tool.clone(), times };
            effects.push(Effect::AskLoop { tool, times });
        } else {
            effects.extend(self.listen());
        }
        effects
    }

    fn cleared(&mut self, id: &CallId) -> Vec<Effect> {
        match self.open_mut(id) {
            Some(open) if open.stage == Stage::Checking => {
                open.stage = Stage::Running;
                vec![Effect::Run(id.clone())]
            }
            _ => Vec::new(),
        }
    }

    fn ended(&mut self, result: CallResult) -> Vec<Effect> {
        match self.open_mut(&result.id) {
            Some(open) if matches!(open.stage, Stage::Checking | Stage::Running) => {
                open.stage = Stage::Done(result);
                self.advance()
            }
            _ => Vec::new(),
        }
    }

    fn open_mut(&mut self, id: &CallId) -> Option<&mut Open> {
        match &mut self.state {
            State::Calling(opens) => opens.iter_mut().find(|o| o.call.id == *id),
            _ => None,
        }
    }

    fn loop_answered(&mut self, answer: LoopAnswer) -> Vec<Effect> {
        let State::AskingLoop { tool, times } = &self.state else { return Vec::new() };
        let (tool, times) = (tool.clone(), *times);
        match answer {
            LoopAnswer::GoOn => {
                self.loops.forget();
                self.listen()
            }
            LoopAnswer::Stop => {
                self.state = State::Idle;
                vec![Effect::End(Ending::Stuck { tool, times })]
            }
        }
    }

    fn failed(&mut self, error: ProviderError) -> Vec<Effect> {
        if !matches!(self.state, State::Streaming) {
            return Vec::new();
        }
        if let Some(repair) = repair_for(&error).filter(|_| self.repairs < MAX_REPAIRS) {
            self.repairs += 1;
            self.rounds = self.rounds.saturating_sub(1);
            let mut effects = vec![Effect::Repair(repair)];
            effects.extend(self.request());
            return effects;
        }
        self.state = State::Idle;
        let partial = match &error {
            ProviderError::Broken { partial, .. } if !partial.blocks.is_empty() => (**partial).clone(),
            // Every later request would carry what was too much the first time.
            ProviderError::OverLimit(_) => shortened(std::mem::take(&mut self.partial)),
            _ => std::mem::take(&mut self.partial),
        };
        let mut effects = self.keep_partial(partial);
        if let ProviderError::Broken { message, .. } = &error
            && self.resumed < MAX_RESUMED
            && !self.is_used_up()
        {
            self.resumed += 1;
            effects.push(Effect::Repair(Repair::GoOn { message: message.clone() }));
            effects.extend(self.request());
            return effects;
        }
        effects.push(Effect::End(match error {
            ProviderError::Cancelled => Ending::Interrupted,
            error => Ending::Failed(error),
        }));
        effects
    }

    /// Text that was shown is kept, marked as cut; calls and unsigned thinking of a broken answer are not.
    fn keep_partial(&mut self, mut partial: AssistantMessage) -> Vec<Effect> {
        partial.blocks.retain(|b| matches!(b, AssistantBlock::Text { text } if !text.trim().is_empty()));
        partial.stop = StopReason::Cut;
        if partial.blocks.is_empty() { Vec::new() } else { vec![Effect::Save(Message::Assistant(partial))] }
    }

    fn interrupted(&mut self) -> Vec<Effect> {
        match &mut self.state {
            State::Idle => Vec::new(),
            State::Streaming => {
                self.state = State::Idle;
                let partial = std::mem::take(&mut self.partial);
                let mut effects = vec![Effect::Cancel];
                effects.extend(self.keep_partial(partial));
                effects.push(Effect::End(Ending::Interrupted));
                effects
            }
            State::AskingLoop { .. } | State::Listening => {
                self.state = State::Idle;
                vec![Effect::Cancel, Effect::End(Ending::Interrupted)]
            }
            State::Calling(opens) => {
                self.stopping = true;
                // What has not started never will; what runs is told to stop and answers for itself.
                for open in opens.iter_mut().filter(|o| matches!(o.stage, Stage::Waiting | Stage::Checking)) {
                    let result = CallResult::interrupted(&open.call, CallInterruption::BeforeItRan);
                    open.stage = Stage::Done(result);
                }
                let mut effects = vec![Effect::Cancel];
                effects.extend(self.advance());
                effects
            }
        }
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
mod tests;
