//! One turn as a pure state machine: inputs in, effects out. No I/O, no clock, no async; defined for every input in
//! every state, so that its guarantees can be tested as a table:
//!
//! - a message is saved before anything acts on it;
//! - a call is planned only after the earlier calls of its answer that it conflicts with have run;
//! - every call is answered, in the order of the calls, before the next request, also after an interrupt;
//! - a message that the person writes meanwhile comes after those answers, and is saved before the request with it;
//! - an incomplete answer never runs a call.

use super::empty_answer::EmptyAnswer;
use super::ending::TurnEnding;
use super::loop_detector::{LoopDetector, LoopVerdict};
use super::repair::{TurnRepair, rename_duplicates, repair_for, shortened};
use super::repetition::RepetitionDetector;
use placet_provider::{ProviderError, StreamEvent};
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInterruption, CallResult, Message, Note, Part, StopReason,
    ThinkingBlock, ToolCall,
};
use placet_tools::TouchedPaths;

#[derive(Clone, Debug)]
pub enum TurnInput {
    Said(Vec<Part>),
    /// The same without a model: the person typed a call, whose result may be empty.
    Typed(Vec<Part>),
    /// Repeat the request with the present conversation: after a failure, if the person asks for it.
    Retry,
    /// An event from the provider before it is finished.
    Streamed(StreamEvent),
    /// The answer is complete. `touches` has one entry for each of its calls, in order.
    Answered {
        answer: AssistantMessage,
        touches: Vec<TouchedPaths>,
    },
    Failed(ProviderError),
    /// The call was planned and approved: it may run.
    Cleared(CallId),
    /// The call ended: it ran, failed, was refused or was stopped.
    Ended(CallResult),
    /// The person's answer to [`TurnEffect::AskLoop`].
    LoopAnswered(LoopAnswer),
    /// The answer to [`TurnEffect::Listen`]: what the person wrote meanwhile, if anything.
    Heard(Vec<Part>),
    Interrupted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopAnswer {
    GoOn,
    Stop,
}

#[derive(Debug, PartialEq)]
pub enum TurnEffect {
    Save(Message),
    Request,
    /// Another request of this turn is next: does the person want to add something first? Answer with `Heard`.
    Listen,
    /// Change the next request so that it is not rejected for the same reason.
    Repair(TurnRepair),
    /// Plan the call, decide, ask if necessary; answer with `Cleared` or `Ended`.
    Check(ToolCall),
    /// Run the approved plan; answer with `Ended`.
    Run(CallId),
    /// Stop the stream, open questions and running calls.
    Cancel,
    /// The same call was repeated: ask the person whether to continue.
    AskLoop {
        tool: String,
        times: u32,
    },
    End(TurnEnding),
}

#[derive(Debug, Default)]
enum TurnState {
    #[default]
    Idle,
    Streaming,
    Calling(Vec<TurnCall>),
    AskingLoop {
        tool: String,
        times: u32,
    },
    /// Between the results and the next request.
    Listening,
}

/// A call of the current answer.
#[derive(Debug)]
struct TurnCall {
    call: ToolCall,
    touches: TouchedPaths,
    stage: CallStage,
}

#[derive(Debug, PartialEq)]
enum CallStage {
    Waiting,
    Checking,
    Running,
    Done(CallResult),
}

/// The limits of one turn; 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Requests.
    pub rounds: u32,
    /// Repetitions: of a call with its result, or of a text within an answer.
    pub repeats: u32,
}

/// The state machine. One value serves a whole session; [`Turn::handle`] is its only entry point.
#[derive(Debug)]
pub struct Turn {
    state: TurnState,
    partial: AssistantMessage,
    echo: RepetitionDetector,
    loops: LoopDetector,
    rounds: u32,
    bounds: TurnLimits,
    repairs: u32,
    /// How many repairs this turn may still have.
    repairs_left: u32,
    /// How many answers of this turn broke off and were continued.
    resumed: u32,
    /// How many empty answers of this turn were followed by a nudge.
    nudged: u32,
    nudges: u32,
    stopping: bool,
}

/// How often one rejected request is repaired, and how often all those of one turn.
const MAX_REPAIRS: u32 = 3;
const MAX_REPAIRS_OF_TURN: u32 = 20;
/// How many answers of one turn may break off before the turn ends and the person decides.
const MAX_RESUMED: u32 = 2;

/// How many empty answers of one turn may be followed by a nudge.
const MAX_NUDGED: u32 = 1;

impl Turn {
    pub fn new(bounds: TurnLimits) -> Turn {
        Turn {
            state: TurnState::Idle,
            partial: AssistantMessage::default(),
            echo: RepetitionDetector::new(bounds.repeats),
            loops: LoopDetector::new(bounds.repeats),
            rounds: 0,
            bounds,
            repairs: 0,
            repairs_left: MAX_REPAIRS_OF_TURN,
            resumed: 0,
            nudged: 0,
            nudges: 0,
            stopping: false,
        }
    }

    pub fn is_idle(&self) -> bool {
        matches!(self.state, TurnState::Idle)
    }

    /// The part of the present answer that has arrived: a crash should not lose it.
    pub fn partial(&self) -> &AssistantMessage {
        &self.partial
    }

    pub fn handle(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        match input {
            TurnInput::Said(parts) => self.said(Some(parts), MAX_NUDGED),
            TurnInput::Typed(parts) => self.said(Some(parts), 0),
            TurnInput::Retry => self.said(None, MAX_NUDGED),
            TurnInput::Streamed(event) => self.streamed(event),
            TurnInput::Answered { answer, touches } => self.answered(answer, touches),
            TurnInput::Failed(error) => self.failed(error),
            TurnInput::Cleared(id) => self.cleared(&id),
            TurnInput::Ended(result) => self.ended(result),
            TurnInput::LoopAnswered(answer) => self.loop_answered(answer),
            TurnInput::Heard(parts) => self.heard(parts),
            TurnInput::Interrupted => self.interrupted(),
        }
    }

    /// `nudges`: how many empty answers of this turn may be followed by a nudge; with 0, an empty answer is valid.
    fn said(&mut self, parts: Option<Vec<Part>>, nudges: u32) -> Vec<TurnEffect> {
        if !self.is_idle() {
            return Vec::new();
        }
        self.loops.forget();
        self.rounds = 0;
        (self.repairs, self.repairs_left) = (0, MAX_REPAIRS_OF_TURN);
        self.resumed = 0;
        (self.nudged, self.nudges) = (0, nudges);
        self.stopping = false;
        let mut effects: Vec<TurnEffect> =
            parts.map(|parts| TurnEffect::Save(Message::User { parts })).into_iter().collect();
        effects.extend(self.request());
        effects
    }

    /// The next request of a turn that continues. If no request can follow, the person is not asked for a line.
    fn listen(&mut self) -> Vec<TurnEffect> {
        if self.is_used_up() {
            return self.request();
        }
        self.state = TurnState::Listening;
        vec![TurnEffect::Listen]
    }

    fn heard(&mut self, parts: Vec<Part>) -> Vec<TurnEffect> {
        if !matches!(self.state, TurnState::Listening) {
            return Vec::new();
        }
        let said = (!parts.is_empty()).then_some(TurnEffect::Save(Message::User { parts }));
        said.into_iter().chain(self.request()).collect()
    }

    fn is_used_up(&self) -> bool {
        self.bounds.rounds > 0 && self.rounds >= self.bounds.rounds
    }

    fn request(&mut self) -> Vec<TurnEffect> {
        if self.is_used_up() {
            self.state = TurnState::Idle;
            return vec![TurnEffect::End(TurnEnding::TooManyRounds(self.rounds))];
        }
        self.rounds += 1;
        self.partial = AssistantMessage::default();
        self.echo = RepetitionDetector::new(self.bounds.repeats);
        self.state = TurnState::Streaming;
        vec![TurnEffect::Request]
    }

    fn streamed(&mut self, event: StreamEvent) -> Vec<TurnEffect> {
        if !matches!(self.state, TurnState::Streaming) {
            return Vec::new();
        }
        match event {
            StreamEvent::Text(text) => {
                let echoes = self.echo.feed(&text);
                self.push_text(text);
                if echoes {
                    let partial = std::mem::take(&mut self.partial);
                    let mut effects = vec![TurnEffect::Cancel];
                    effects.extend(self.keep_partial(partial));
                    let times = self.bounds.repeats.max(2);
                    effects.push(TurnEffect::End(TurnEnding::RepeatedText { times }));
                    self.state = TurnState::Idle;
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

    fn answered(&mut self, mut answer: AssistantMessage, touches: Vec<TouchedPaths>) -> Vec<TurnEffect> {
        if !matches!(self.state, TurnState::Streaming) {
            return Vec::new();
        }
        self.partial = AssistantMessage::default();
        // `MAX_REPAIRS` counts attempts for one request, and this request is answered.
        self.repairs = 0;
        rename_duplicates(&mut answer);
        let ending = match &answer.stop {
            StopReason::MaxTokens => TurnEnding::CutAtLimit,
            StopReason::Refusal => TurnEnding::Refused,
            StopReason::TextCall(fault) => TurnEnding::TextCall(fault.clone()),
            _ => TurnEnding::Done,
        };
        if let Some(silence) = EmptyAnswer::of(&answer).filter(|_| self.nudges > 0) {
            return self.handle_empty_answer(silence);
        }
        if answer.blocks.is_empty() {
            self.state = TurnState::Idle;
            return vec![TurnEffect::End(ending)];
        }
        let calls: Vec<ToolCall> = answer.calls().cloned().collect();
        let mut effects = vec![TurnEffect::Save(Message::Assistant(answer))];
        if calls.is_empty() {
            match ending {
                TurnEnding::TextCall(fault) if self.nudged < self.nudges => {
                    effects.extend(self.nudge(TurnRepair::TextCall(fault.clone()), Note::TextCall { fault }));
                }
                ending => {
                    self.state = TurnState::Idle;
                    effects.push(TurnEffect::End(ending));
                }
            }
            return effects;
        }
        let mut touches = touches.into_iter();
        let opens = calls.into_iter().map(|call| TurnCall {
            call,
            touches: touches.next().unwrap_or_default(),
            stage: CallStage::Waiting,
        });
        self.state = TurnState::Calling(opens.collect());
        effects.extend(self.advance());
        effects
    }

    /// An empty answer is not stored: some servers refuse a history that contains reasoning alone.
    fn handle_empty_answer(&mut self, silence: EmptyAnswer) -> Vec<TurnEffect> {
        if !silence.is_retryable() || self.nudged >= self.nudges {
            self.state = TurnState::Idle;
            return vec![TurnEffect::End(TurnEnding::NoAnswer(silence))];
        }
        self.nudge(TurnRepair::Nudge(silence), Note::EmptyAnswer)
    }

    fn nudge(&mut self, repair: TurnRepair, note: Note) -> Vec<TurnEffect> {
        self.nudged += 1;
        let parts = vec![Part::Note(note)];
        let mut effects = vec![TurnEffect::Repair(repair), TurnEffect::Save(Message::User { parts })];
        effects.extend(self.request());
        effects
    }

    /// Starts every call that does not have to wait, or ends the round when all calls have ended.
    fn advance(&mut self) -> Vec<TurnEffect> {
        let TurnState::Calling(opens) = &mut self.state else { return Vec::new() };
        let mut effects = Vec::new();
        for at in 0..opens.len() {
            let (earlier, rest) = opens.split_at_mut(at);
            let Some(open) = rest.first_mut() else { break };
            let blocked = earlier
                .iter()
                .any(|e| !matches!(e.stage, CallStage::Done(_)) && open.touches.conflicts(&e.touches));
            if open.stage == CallStage::Waiting && !blocked {
                open.stage = CallStage::Checking;
                effects.push(TurnEffect::Check(open.call.clone()));
            }
        }
        if opens.iter().all(|o| matches!(o.stage, CallStage::Done(_))) {
            effects.extend(self.close_round());
        }
        effects
    }

    fn close_round(&mut self) -> Vec<TurnEffect> {
        let TurnState::Calling(opens) = std::mem::take(&mut self.state) else { return Vec::new() };
        let mut results = Vec::new();
        let mut worst: Option<(String, u32)> = None;
        self.loops.next_round();
        for open in opens {
            let CallStage::Done(mut result) = open.stage else { continue };
            match self.loops.record(&open.call, &result) {
                LoopVerdict::Fresh => {}
                LoopVerdict::Tell(times) => result.parts.push(Part::Note(Note::Repeated { times })),
                LoopVerdict::TellAlike(times) => result.parts.push(Part::Note(Note::FailsAlike { times })),
                LoopVerdict::Ask(times) => worst = Some((open.call.name.clone(), times)),
            }
            results.push(result);
        }
        let worst = worst.or_else(|| Some((String::new(), self.loops.fruitless()?)));
        let mut effects = vec![TurnEffect::Save(Message::Results { results })];
        if self.stopping {
            effects.push(TurnEffect::End(TurnEnding::Interrupted));
        } else if let Some((tool, times)) = worst {
            self.state = TurnState::AskingLoop { tool: tool.clone(), times };
            effects.push(TurnEffect::AskLoop { tool, times });
        } else {
            effects.extend(self.listen());
        }
        effects
    }

    fn cleared(&mut self, id: &CallId) -> Vec<TurnEffect> {
        match self.open_mut(id) {
            Some(open) if open.stage == CallStage::Checking => {
                open.stage = CallStage::Running;
                vec![TurnEffect::Run(id.clone())]
            }
            _ => Vec::new(),
        }
    }

    fn ended(&mut self, result: CallResult) -> Vec<TurnEffect> {
        match self.open_mut(&result.id) {
            Some(open) if matches!(open.stage, CallStage::Checking | CallStage::Running) => {
                open.stage = CallStage::Done(result);
                self.advance()
            }
            _ => Vec::new(),
        }
    }

    fn open_mut(&mut self, id: &CallId) -> Option<&mut TurnCall> {
        match &mut self.state {
            TurnState::Calling(opens) => opens.iter_mut().find(|o| o.call.id == *id),
            _ => None,
        }
    }

    fn loop_answered(&mut self, answer: LoopAnswer) -> Vec<TurnEffect> {
        let TurnState::AskingLoop { tool, times } = &self.state else { return Vec::new() };
        let (tool, times) = (tool.clone(), *times);
        match answer {
            LoopAnswer::GoOn => {
                self.loops.forget();
                self.listen()
            }
            LoopAnswer::Stop => {
                self.state = TurnState::Idle;
                vec![TurnEffect::End(TurnEnding::Stuck { tool, times })]
            }
        }
    }

    fn failed(&mut self, error: ProviderError) -> Vec<TurnEffect> {
        if !matches!(self.state, TurnState::Streaming) {
            return Vec::new();
        }
        let may_repair = self.repairs < MAX_REPAIRS && self.repairs_left > 0;
        if let Some(repair) = repair_for(&error).filter(|_| may_repair) {
            (self.repairs, self.repairs_left) = (self.repairs + 1, self.repairs_left - 1);
            // The provider refused this request, so it does not count towards `max_turns`.
            self.rounds = self.rounds.saturating_sub(1);
            let mut effects = vec![TurnEffect::Repair(repair)];
            effects.extend(self.request());
            return effects;
        }
        self.state = TurnState::Idle;
        let partial = match &error {
            ProviderError::Broken { partial, .. } if !partial.blocks.is_empty() => (**partial).clone(),
            // Every later request would contain the text that exceeded the limit.
            ProviderError::OverLimit(_) => shortened(std::mem::take(&mut self.partial)),
            _ => std::mem::take(&mut self.partial),
        };
        let mut effects = self.keep_partial(partial);
        if let ProviderError::Broken { message, .. } = &error
            && self.resumed < MAX_RESUMED
            && !self.is_used_up()
        {
            self.resumed += 1;
            effects.push(TurnEffect::Repair(TurnRepair::GoOn { message: message.clone() }));
            effects.extend(self.request());
            return effects;
        }
        effects.push(TurnEffect::End(match error {
            ProviderError::Cancelled => TurnEnding::Interrupted,
            error => TurnEnding::Failed(error),
        }));
        effects
    }

    /// Stores the text that was shown, marked as cut; drops the calls and the unsigned reasoning of a broken answer.
    fn keep_partial(&mut self, mut partial: AssistantMessage) -> Vec<TurnEffect> {
        partial.blocks.retain(|b| matches!(b, AssistantBlock::Text { text } if !text.trim().is_empty()));
        partial.stop = StopReason::Cut;
        if partial.blocks.is_empty() {
            Vec::new()
        } else {
            vec![TurnEffect::Save(Message::Assistant(partial))]
        }
    }

    fn interrupted(&mut self) -> Vec<TurnEffect> {
        match &mut self.state {
            TurnState::Idle => Vec::new(),
            TurnState::Streaming => {
                self.state = TurnState::Idle;
                let partial = std::mem::take(&mut self.partial);
                let mut effects = vec![TurnEffect::Cancel];
                effects.extend(self.keep_partial(partial));
                effects.push(TurnEffect::End(TurnEnding::Interrupted));
                effects
            }
            TurnState::AskingLoop { .. } | TurnState::Listening => {
                self.state = TurnState::Idle;
                vec![TurnEffect::Cancel, TurnEffect::End(TurnEnding::Interrupted)]
            }
            TurnState::Calling(opens) => {
                self.stopping = true;
                // Calls that have not started never will; running calls are asked to stop and send their own result.
                for open in
                    opens.iter_mut().filter(|o| matches!(o.stage, CallStage::Waiting | CallStage::Checking))
                {
                    let result = CallResult::interrupted(&open.call, CallInterruption::BeforeItRan);
                    open.stage = CallStage::Done(result);
                }
                let mut effects = vec![TurnEffect::Cancel];
                effects.extend(self.advance());
                effects
            }
        }
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
