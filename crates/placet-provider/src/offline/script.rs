//! What the offline provider does next: a pure function of the conversation.
//!
//! The person's newest message is read as rounds of calls. The answers and results since then are replayed from the
//! beginning: no state is stored anywhere, and a resumed session continues where it was. Each answer uses up one round,
//! and a refused edit adds two rounds at most once: the rounds always come to an end.

use super::grammar::{self, HelpTopic, OfflineCall, OfflineRequest};
use super::replies;
use super::replies::CallWithResult;
use super::segment::{QuoteState, RequestWord, segments, takes_the_line, words};
use super::setup_command::SetupCommand;
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallFact, CallFailure, CallId, CallInput, CallOutcome, CallResult,
    Message, Part, StopReason, ToolCall,
};
use serde_json::{Value, json};
use std::collections::{HashSet, VecDeque};

/// The answer to `messages`; its `usage` and `model` are left to the caller.
pub(super) fn next(messages: &[Message], setup: SetupCommand) -> AssistantMessage {
    let said = messages.iter().rposition(|m| matches!(m, Message::User { .. }));
    let (Some(at), Some(Message::User { parts })) = (said, said.and_then(|at| messages.get(at))) else {
        return say(replies::not_understood(setup));
    };
    let (before, since) = messages.split_at(at);
    match read(parts) {
        Ok(rounds) => RoundReplay::new(rounds, before).answer(since.get(1..).unwrap_or_default()),
        Err(misreading) => say(misreading.words(setup)),
    }
}

/// Calls of one answer.
#[derive(Clone, Debug)]
enum OfflineRound {
    Calls { calls: Vec<OfflineCall>, needs_success: bool, because: Option<String> },
    SaveThat(String),
    Help(HelpTopic),
}

/// Why a message asks for no rounds. The provider answers with this reason.
#[derive(Debug, PartialEq, Eq)]
enum OfflineMisreading {
    NotUnderstood,
    OpenQuote {
        segment: String,
    },
    /// `near` are the requests that come close.
    Unknown {
        segment: String,
        near: Vec<String>,
    },
}

impl OfflineMisreading {
    fn words(&self, setup: SetupCommand) -> String {
        match self {
            OfflineMisreading::NotUnderstood => replies::not_understood(setup),
            OfflineMisreading::OpenQuote { segment } => replies::open_quote(segment),
            OfflineMisreading::Unknown { segment, near } => replies::misread(segment, near, setup),
        }
    }
}

/// The rounds that a message asks for. All of it must be understood, or nothing is done. The message may have other
/// text besides, such as attached files: only the part that is understood counts.
fn read(parts: &[Part]) -> Result<VecDeque<OfflineRound>, OfflineMisreading> {
    let mut error = OfflineMisreading::NotUnderstood;
    let attached: Vec<&str> = parts.iter().filter_map(Part::attached_path).collect();
    for text in parts.iter().filter_map(Part::as_text) {
        match read_text(text, &attached) {
            Ok(rounds) if !rounds.is_empty() => return Ok(rounds),
            Ok(_) => {}
            // The error that explains most: other parts, such as notes, are not understood at all.
            Err(other) if error == OfflineMisreading::NotUnderstood => error = other,
            Err(_) => {}
        }
    }
    Err(error)
}

/// `@README.md` names the file that was attached by it.
fn without_mentions(words: &mut [RequestWord<'_>], attached: &[&str]) {
    for word in words.iter_mut().filter(|word| !word.quoted) {
        if let Some(path) = word.text.strip_prefix('@').filter(|path| attached.contains(path)) {
            word.text = path.to_string();
        }
    }
}

pub(super) fn understands(text: &str) -> bool {
    read_text(text, &[]).is_ok_and(|rounds| !rounds.is_empty())
}

pub(super) fn similar(text: &str) -> Vec<String> {
    match read_text(text, &[]) {
        Err(OfflineMisreading::Unknown { near, .. }) => near,
        _ => Vec::new(),
    }
}

/// Reads one text; `attached` are the paths that the message has attached.
fn read_text(text: &str, attached: &[&str]) -> Result<VecDeque<OfflineRound>, OfflineMisreading> {
    let mut rounds: VecDeque<OfflineRound> = VecDeque::new();
    for segment in segments(text) {
        let (mut words, quotes) = words(segment.text);
        without_mentions(&mut words, attached);
        if quotes == QuoteState::Open && !takes_the_line(segment.text) {
            return Err(OfflineMisreading::OpenQuote { segment: segment.text.into() });
        }
        let Some(wish) = grammar::wish(&words) else {
            let near = grammar::near(&words);
            return Err(match near.is_empty() {
                true => OfflineMisreading::NotUnderstood,
                false => OfflineMisreading::Unknown { segment: segment.text.into(), near },
            });
        };
        match (wish, rounds.back_mut()) {
            (OfflineRequest::Calls(mut more), Some(OfflineRound::Calls { calls, .. })) if !segment.then => {
                calls.append(&mut more)
            }
            (OfflineRequest::Calls(calls), _) => {
                rounds.push_back(OfflineRound::Calls { calls, needs_success: segment.then, because: None });
            }
            (OfflineRequest::SaveThat(name), _) => rounds.push_back(OfflineRound::SaveThat(name)),
            (OfflineRequest::Help(topic), _) => rounds.push_back(OfflineRound::Help(topic)),
        }
    }
    Ok(rounds)
}

/// The text argument `name` of a call.
fn argument(input: &CallInput, name: &str) -> Option<String> {
    input.to_replay().get(name).and_then(Value::as_str).map(String::from)
}

/// True for a call that is refused where its file exists and was not read: every edit, and a write over or behind what a
/// file has. A path outside of the directory needs a permission, which the call itself asks for.
fn needs_read(call: &OfflineCall) -> bool {
    let is_forced = call.input.to_replay().get("force").is_some();
    let writes = || {
        let over = argument(&call.input, "mode").is_some_and(|mode| mode != "create");
        over && argument(&call.input, "path")
            .is_some_and(|path| !["/", "~", ".."].iter().any(|way| path.starts_with(way)))
    };
    let may_need = match call.tool.as_str() {
        "edit_file" => true,
        "write_file" => writes(),
        _ => false,
    };
    may_need && !is_forced
}

/// Reads each file before it is changed, where nobody asked for a read of it: a change needs the file as it is.
fn with_reads(rounds: VecDeque<OfflineRound>, before: &[Message]) -> VecDeque<OfflineRound> {
    let path_of = |input: &CallInput| argument(input, "path");
    let reads_or_edits = |name: &str| matches!(name, "read_file" | "edit_file" | "write_file");
    let answers = before.iter().filter_map(|message| match message {
        Message::Assistant(answer) => Some(answer),
        Message::User { .. } | Message::Results { .. } => None,
    });
    let calls = answers.flat_map(AssistantMessage::calls);
    let done = calls.filter(|call| reads_or_edits(&call.name)).filter_map(|call| path_of(&call.input));
    let mut known: HashSet<String> = done.collect();
    let mut out = VecDeque::new();
    for round in rounds {
        if let OfflineRound::Calls { calls, needs_success, .. } = &round {
            let changes = calls.iter().filter(|call| needs_read(call));
            let unread =
                changes.filter_map(|call| path_of(&call.input)).filter(|path| known.insert(path.clone()));
            let read = |path: String| OfflineCall {
                tool: "read_file".into(),
                input: CallInput::Object(json!({"path": path})),
            };
            let reads: Vec<OfflineCall> = unread.map(read).collect();
            if !reads.is_empty() {
                let because = Some(replies::reading_first());
                out.push_back(OfflineRound::Calls { calls: reads, needs_success: *needs_success, because });
            }
            let all = calls.iter().filter(|call| reads_or_edits(&call.tool));
            known.extend(all.filter_map(|call| path_of(&call.input)));
        }
        out.push_back(round);
    }
    out
}

/// The way through one message's rounds.
struct RoundReplay<'m> {
    rounds: VecDeque<OfflineRound>,
    before: &'m [Message],
    found: Vec<CallWithResult<'m>>,
    tried_again: HashSet<String>,
    /// A call was refused or failed, and what depended on it is not done.
    given_up: bool,
}

impl<'m> RoundReplay<'m> {
    fn new(rounds: VecDeque<OfflineRound>, before: &'m [Message]) -> RoundReplay<'m> {
        let rounds = with_reads(rounds, before);
        RoundReplay { rounds, before, found: Vec::new(), tried_again: HashSet::new(), given_up: false }
    }

    fn answer(mut self, since: &'m [Message]) -> AssistantMessage {
        let mut helped = self.skip_help();
        for pair in since.windows(2) {
            if let [Message::Assistant(answer), Message::Results { results }] = pair {
                self.rounds.pop_front();
                self.look_at(answer, results);
                helped.extend(self.skip_help());
            }
        }
        match self.rounds.pop_front() {
            Some(OfflineRound::Calls { mut calls, because, .. }) => {
                calls.iter_mut().for_each(|call| self.begin_new_line(call, since));
                asks(calls, because, self.id_base(since))
            }
            Some(OfflineRound::SaveThat(name)) => match self.that(since) {
                Some(content) => {
                    let input = json!({"action": "write", "name": name, "content": content});
                    let call = OfflineCall { tool: "scratchpad".into(), input: CallInput::Object(input) };
                    asks(vec![call], None, self.id_base(since))
                }
                None => say([replies::all(&self.found, false), replies::nothing_to_save()].concat()),
            },
            Some(OfflineRound::Help(_)) | None => {
                let found = replies::all(&self.found, self.given_up);
                let help: String =
                    helped.iter().map(|topic| replies::help(grammar::grammar(), *topic)).collect();
                say([found, help].concat())
            }
        }
    }

    /// A text that is appended begins a line of its own, where the file's last line has no end.
    fn begin_new_line(&self, call: &mut OfflineCall, since: &[Message]) {
        if call.tool != "write_file" || argument(&call.input, "mode").as_deref() != Some("append") {
            return;
        }
        let (Some(path), CallInput::Object(arguments)) = (argument(&call.input, "path"), &mut call.input)
        else {
            return;
        };
        let touched = self.before.iter().chain(since).collect::<Vec<_>>();
        let newest = touched.windows(2).rev().find_map(|pair| match pair {
            [Message::Assistant(answer), Message::Results { results }] => {
                let of_path = |call: &ToolCall| argument(&call.input, "path").as_deref() == Some(&path);
                answer.calls().zip(results).filter(|(call, _)| of_path(call)).last()
            }
            _ => None,
        });
        let is_open = newest.is_some_and(|(_, result)| result.facts.contains(&CallFact::NoLineEnd));
        if is_open && let Some(Value::String(content)) = arguments.get_mut("content") {
            content.insert(0, '\n');
        }
    }

    /// Help needs no call: it is part of the last answer.
    fn skip_help(&mut self) -> Vec<HelpTopic> {
        let mut helped = Vec::new();
        while let Some(OfflineRound::Help(topic)) = self.rounds.front() {
            helped.push(*topic);
            self.rounds.pop_front();
        }
        helped
    }

    fn look_at(&mut self, answer: &'m AssistantMessage, results: &'m [CallResult]) {
        let mut reads: Vec<OfflineCall> = Vec::new();
        let mut again: Vec<OfflineCall> = Vec::new();
        let mut failed = false;
        let automatic = [replies::reading_first(), replies::reading_again()].contains(&answer.text());
        for (call, result) in answer.calls().zip(results) {
            // A file that does not exist needs no read; the change itself reports it where that matters.
            let is_missing = |fact: &CallFact| *fact == CallFact::Failed { fault: CallFailure::Missing };
            if automatic && result.facts.iter().any(is_missing) {
                continue;
            }
            match self.unread(call, result) {
                Some(read) => {
                    if !reads.contains(&read) {
                        reads.push(read);
                    }
                    again.push(OfflineCall { tool: call.name.clone(), input: call.input.clone() });
                }
                None => {
                    failed |= result.is_error();
                    // The person did not ask for the automatic reads: only their errors are shown.
                    if !automatic || result.is_error() {
                        self.found.push(CallWithResult { call, result });
                    }
                }
            }
        }
        if results.iter().any(|r| matches!(r.outcome, CallOutcome::Denied | CallOutcome::Interrupted)) {
            self.give_up();
            return;
        }
        if !again.is_empty() {
            self.rounds.push_front(OfflineRound::Calls { calls: again, needs_success: true, because: None });
            let because = Some(replies::reading_again());
            self.rounds.push_front(OfflineRound::Calls { calls: reads, needs_success: false, because });
        } else if failed
            && let Some(OfflineRound::Calls { needs_success: true, .. } | OfflineRound::SaveThat(_)) =
                self.rounds.front()
        {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        self.given_up = !self.rounds.is_empty();
        self.rounds.clear();
    }

    /// The read that is needed, where a change was refused without it and the change was not repeated before.
    fn unread(&mut self, call: &ToolCall, result: &CallResult) -> Option<OfflineCall> {
        let changes = matches!(call.name.as_str(), "edit_file" | "write_file");
        if !changes || result.outcome != CallOutcome::Failed {
            return None;
        }
        let lines = result.facts.iter().find_map(|fact| match fact {
            CallFact::Failed { fault: CallFailure::Unread | CallFailure::Changed } => Some(None),
            CallFact::Failed { fault: CallFailure::LinesUnread { offset, limit } } => {
                Some(Some((*offset, *limit)))
            }
            _ => None,
        })?;
        let path = call.input.to_replay().get("path").and_then(Value::as_str).map(String::from)?;
        let mut input = json!({"path": path});
        // Where only some lines are missing, those are the ones to read.
        if let Some((offset, limit)) = lines {
            input = json!({"path": path, "offset": offset, "limit": limit});
        }
        let key = format!("{} {}", call.name, call.input.to_replay());
        let read = OfflineCall { tool: "read_file".into(), input: CallInput::Object(input) };
        self.tried_again.insert(key).then_some(read)
    }

    /// The newest result, else the newest answer: the meaning of "that".
    fn that(&self, since: &'m [Message]) -> Option<String> {
        since.iter().rev().chain(self.before.iter().rev()).find_map(|message| match message {
            Message::Results { results } => {
                let bodies: Vec<String> =
                    results.iter().filter(|r| !r.is_error()).map(CallResult::body).collect();
                Some(bodies.join("\n")).filter(|text| !text.trim().is_empty())
            }
            // An answer that only shows results is skipped, and the results themselves are used.
            Message::Assistant(answer) => {
                let text = answer.text();
                (!text.trim().is_empty() && !replies::is_report(&text)).then_some(text)
            }
            Message::User { .. } => None,
        })
    }

    /// Ids are numbered by message, so they are unique in the whole conversation.
    fn id_base(&self, since: &[Message]) -> usize {
        self.before.len() + since.len() + 1
    }
}

fn asks(calls: Vec<OfflineCall>, because: Option<String>, base: usize) -> AssistantMessage {
    let text = because.map(|text| AssistantBlock::Text { text });
    let calls = calls.into_iter().enumerate().map(|(n, planned)| {
        let id = CallId::new(format!("offline-{base}-{}", n + 1));
        AssistantBlock::Call(ToolCall { id, name: planned.tool, input: planned.input })
    });
    AssistantMessage {
        blocks: text.into_iter().chain(calls).collect(),
        stop: StopReason::ToolUse,
        ..AssistantMessage::default()
    }
}

fn say(text: String) -> AssistantMessage {
    AssistantMessage {
        blocks: vec![AssistantBlock::Text { text }],
        stop: StopReason::EndTurn,
        ..AssistantMessage::default()
    }
}
