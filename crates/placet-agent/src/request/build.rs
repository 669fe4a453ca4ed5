//! The request to the model: the fixed prefix, and a conversation that fits the window.
//!
//! The system prompt and the tools change only with the kind of window, so that provider caches remain valid. A conversation
//! that is too long is shortened locally, so that no state exists in which only a new start helps; [`super::reduce`]
//! does this.

use super::evicted::EvictedContent;
use super::reduce::images::RequestImages;
use super::reduce::rejected::RejectedContent;
use super::reduce::{shorten, sure_to_go};
use super::weight::{estimate, tokens};
use crate::config::SystemPrompt;
use placet_provider::{ExceededWindow, ModelRequest, ModelSpec, ProviderError, ToolForm};
use placet_session::session::{Scratchpads, SessionStore};
use placet_text::conversation::{Message, Part, ToolSpec};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// Below this window all tools and the system prompt would take a quarter of it.
const SMALL_WINDOW: u64 = 16_384;

/// What a model with a small window is offered, if the tools are placet's own, and the parameters that it is told of. A
/// command searches too; a file that does not exist can only be written.
pub(crate) const BASIC_TOOLS: [(&str, &[&str]); 4] = [
    ("read_file", &["path", "offset", "limit", "pattern"]),
    ("edit_file", &["path", "old_string", "new_string", "replace_all"]),
    ("write_file", &["path", "content"]),
    ("run_command", &["command", "timeout_ms", "network"]),
];

/// Tokens for messages below which a request is almost useless, and below which nothing more can be cut.
const LEAST_BUDGET: f64 = 200.0;
const NOTHING_LEFT: f64 = 50.0;

pub(crate) struct ModelContext {
    whole_system: Arc<str>,
    short_system: Arc<str>,
    all_tools: Arc<[ToolSpec]>,
    /// The window is small: requests have the short prompt and the basic tools.
    is_small: bool,
    /// What requests have.
    tools: Arc<[ToolSpec]>,
    /// What the tools take in a request: to encode their schemas takes longer than all else that is measured for one.
    tool_bytes: OnceLock<usize>,
    pictures: RequestImages,
    refused: RejectedContent,
    scratchpads: Option<Arc<Scratchpads>>,
    /// The most that may be sent, in estimated tokens; learned when a server reports that a request was too long.
    most: Option<f64>,
    /// The window as the server reported it, if it is smaller than the known window of the model.
    reported_window: Option<u64>,
    last: RequestSize,
}

/// The size of the last request: its estimate, and the room that it had.
#[derive(Clone, Copy, Default)]
struct RequestSize {
    estimate: f64,
    max_output: u64,
}

/// A request, and what was omitted from it, in sentences for the person.
pub(crate) struct BuiltRequest {
    pub(crate) request: ModelRequest,
    pub(crate) notes: Vec<String>,
    /// What is no longer in the model's context, or no longer complete.
    pub(crate) out_of_view: EvictedContent,
}

impl ModelContext {
    pub(crate) fn new(system: SystemPrompt, tools: Vec<ToolSpec>) -> ModelContext {
        let tools: Arc<[ToolSpec]> = tools.into();
        ModelContext {
            whole_system: system.whole.into(),
            short_system: system.short.into(),
            all_tools: Arc::clone(&tools),
            is_small: false,
            tools,
            tool_bytes: OnceLock::new(),
            pictures: RequestImages::default(),
            refused: RejectedContent::default(),
            scratchpads: None,
            most: None,
            reported_window: None,
            last: RequestSize::default(),
        }
    }

    /// Only before the first request of a conversation: the beginning of requests must not change.
    pub(crate) fn set_tools(&mut self, tools: Vec<ToolSpec>) {
        self.all_tools = tools.into();
        self.offer();
    }

    /// Offers no tools but the basic ones, with the short prompt, while the window is small: also where that is learned
    /// later, or another model answers. True if something is left out from now on.
    pub(crate) fn fit_tools(&mut self, model: &ModelSpec) -> bool {
        let has_basic =
            BASIC_TOOLS.iter().all(|(name, _)| self.all_tools.iter().any(|tool| tool.name == *name));
        let is_small = has_basic && self.window(model) < SMALL_WINDOW;
        if is_small != self.is_small {
            self.is_small = is_small;
            self.offer();
            return is_small && self.tools.len() < self.all_tools.len();
        }
        false
    }

    fn offer(&mut self) {
        self.tools = match self.is_small {
            true => self.all_tools.iter().filter_map(basic).collect(),
            false => Arc::clone(&self.all_tools),
        };
        self.tool_bytes = OnceLock::new();
    }

    pub(crate) fn system(&self) -> &Arc<str> {
        if self.is_small { &self.short_system } else { &self.whole_system }
    }

    /// The server cuts longer requests in silence.
    pub(crate) fn learn_window(&mut self, window: u64) {
        self.reported_window = Some(self.reported_window.map_or(window, |known| known.min(window)));
    }

    /// The sources of a request in addition to the messages: the session's pictures, and results that are stored whole.
    pub(crate) fn set_sources(&mut self, store: Option<SessionStore>, scratchpads: Arc<Scratchpads>) {
        self.pictures.read_from(store);
        self.scratchpads = Some(scratchpads);
    }

    /// The last request was answered.
    pub(crate) fn answered(&mut self) {
        self.refused.answered();
    }

    /// From now on another list of messages is sent.
    pub(crate) fn reset_rejected(&mut self) {
        self.refused.begin_anew();
    }

    pub(crate) fn can_leave_out(&self, messages: &[Message]) -> bool {
        self.refused.can_leave_out(messages)
    }

    /// The provider refused something in the messages. Returns a description of what is omitted for it, if anything
    /// more can be omitted.
    pub(crate) fn leave_out(&mut self, messages: &[Message]) -> Option<String> {
        self.refused.leave_out(messages)
    }

    /// For another model: the learned window of the last model, and what it refused, are useless now.
    pub(crate) fn reset_for_model(&mut self) {
        (self.most, self.reported_window) = (None, None);
        self.refused.forget();
        self.pictures.forget_refusals();
    }

    pub(crate) fn withhold(&mut self, hash: String, reason: String) {
        self.pictures.withhold(hash, reason);
    }

    /// The pictures that the next request would contain: those that came since the last answer, or all of them if none
    /// did.
    pub(crate) fn suspect_images(&self, messages: &[Message]) -> Vec<(String, String)> {
        let new = self.sent_images(messages.get(self.refused.answered_messages()..).unwrap_or_default());
        if new.is_empty() { self.sent_images(messages) } else { new }
    }

    fn sent_images(&self, messages: &[Message]) -> Vec<(String, String)> {
        let all = messages.iter().flat_map(Message::parts).filter_map(|p| match p {
            Part::Image(image) if !self.pictures.is_withheld(&image.hash) => Some(image),
            _ => None,
        });
        let mut seen = HashSet::new();
        all.filter(|i| seen.insert(i.hash.clone())).map(|i| (i.hash.clone(), i.describe())).collect()
    }

    /// Omits the tool at `at` for the rest of the session and returns its name.
    pub(crate) fn drop_tool(&mut self, at: usize) -> Option<String> {
        let name = self.tools.get(at)?.name.clone();
        self.all_tools = self.all_tools.iter().filter(|tool| tool.name != name).cloned().collect();
        self.offer();
        Some(name)
    }

    /// The server reported that the last request was too long, perhaps with its figures: the next request will be
    /// smaller.
    pub(crate) fn reduce_limit(&mut self, said: (&str, Option<ExceededWindow>), model: &ModelSpec) {
        let (message, exceeded) = said;
        // Small figures in a text are positions and counts of messages.
        let reported: Vec<u64> = match exceeded {
            Some(ExceededWindow { tokens, window }) => vec![tokens, window],
            None => figures(message).into_iter().filter(|n| *n > 500).collect(),
        };
        // A count that is a value is of the request alone.
        let counted_output = exceeded.map_or(self.last.max_output, |_| 0);
        let smallest = reported.iter().copied().min().filter(|n| *n < model.window);
        let most = match (reported.iter().copied().max(), reported.iter().copied().min()) {
            // The server's count and its limit together correct the estimate.
            (Some(counted), Some(limit)) if counted > limit => {
                self.reported_window = smallest.or(self.reported_window);
                let room = limit.saturating_sub(self.output_room(model, self.last.max_output));
                let used = counted.saturating_sub(counted_output).max(1);
                self.last.estimate * room as f64 / used as f64 * 0.95
            }
            (_, Some(limit)) if limit < model.window => {
                self.reported_window = smallest;
                limit.saturating_sub(self.output_room(model, self.last.max_output)) as f64 * 0.5
            }
            // The server reports nothing: well below a third, question and answer together, fits most windows at once.
            _ => {
                let total = self.last.estimate + self.last.max_output as f64;
                self.reported_window = Some((total * 0.3) as u64);
                self.last.estimate * 0.3
            }
        };
        // Always smaller than the last request, or the server refuses the next one for the same reason.
        self.most = Some(most.min(self.last.estimate * 0.9));
    }

    /// The window as the server reported it, or as it is known.
    pub(crate) fn window(&self, model: &ModelSpec) -> u64 {
        self.reported_window.unwrap_or(model.window).min(model.window)
    }

    /// The most tokens of an answer: what was `wanted`, but no more than a quarter of the window.
    pub(crate) fn output_room(&self, model: &ModelSpec, wanted: u64) -> u64 {
        wanted.min(self.window(model) / 4).max(1)
    }

    /// Builds the request. `messages` does not change; cuts are made in a copy. Whatever it asks for, it is measured as it is
    /// sent: what does not fit the window with its answer, though all that may be cut is cut, is an error and not sent.
    pub(crate) fn build(
        &mut self,
        messages: &[Message],
        model: &ModelSpec,
        max_output: u64,
    ) -> Result<BuiltRequest, ProviderError> {
        let mut notes = Vec::new();
        self.refused.request_sent(messages.len());
        let max_output = self.output_room(model, max_output);
        let window = self.window(model);
        // The estimate is rough: 5 % of the window remain free for its error.
        let whole = window.saturating_sub(max_output) as f64;
        let room = self.most.map_or(whole * 0.95, |most| most.min(whole * 0.95));
        let fixed = tokens(self.fixed_bytes());
        // What a server did not say may be learned too small.
        let room = room.max((fixed + LEAST_BUDGET).min(whole));
        let mut budget = (room - fixed).max(LEAST_BUDGET);
        // Of a long history only what can be sent is copied.
        let all = self.refused.without(messages);
        let (mut before, rest) = all.split_at_checked(sure_to_go(&all, budget)).unwrap_or((&[], &all));
        let mut request = ModelRequest {
            model: model.clone(),
            system: Arc::clone(self.system()),
            tools: Arc::clone(&self.tools),
            messages: rest.to_vec(),
            max_output,
        };
        let unread = self.pictures.prepare(&mut request.messages, model, &mut notes);
        let is_kept = |name: &str| self.scratchpads.as_ref().is_some_and(|pads| pads.contains(name));
        let mut cut = 0;
        let sent = loop {
            let newly = shorten(&mut request.messages, std::mem::take(&mut before), budget, &is_kept);
            let sent = self.sent_tokens(&request);
            cut += newly;
            // Tools and calls as text may take more than their messages were estimated at.
            if sent <= room || budget < NOTHING_LEFT {
                break sent;
            }
            budget -= (sent - room).max(budget * 0.1);
        };
        if sent > whole {
            let message = format!(
                "about {sent:.0} tokens and {max_output} for the answer, and the window has {window}"
            );
            return Err(ProviderError::TooLong { message, exceeded: None });
        }
        // Only after shortening: pictures that were omitted need not be read from the session.
        self.pictures.read(&mut request.messages, &unread, model, &mut notes);
        if cut > 0 {
            notes.push(format!("the conversation is longer than the model's window: {} left out of the request (the session keeps them)", match cut { 1 => "1 older part was".into(), cut => format!("{cut} older parts were") }));
        }
        self.last = RequestSize { estimate: sent, max_output };
        let is_whole = cut == 0 && self.refused.is_empty();
        let out_of_view = if is_whole {
            EvictedContent::default()
        } else {
            EvictedContent::between(messages, &request.messages)
        };
        Ok(BuiltRequest { request, notes, out_of_view })
    }

    /// What the server counts of the request.
    fn sent_tokens(&self, request: &ModelRequest) -> f64 {
        let sent = request.as_sent();
        let tools = match request.model.capabilities.tools {
            ToolForm::Native => self.fixed_bytes() - self.system().len(),
            ToolForm::Json | ToolForm::Text => 0,
        };
        tokens(sent.system.len() + tools) + estimate(&sent.messages)
    }

    /// How many estimated tokens there are for messages.
    pub(crate) fn room(&self, model: &ModelSpec, max_output: u64) -> f64 {
        let room = self.window(model).saturating_sub(self.output_room(model, max_output)) as f64;
        (self.most.map_or(room, |most| most.min(room)) - tokens(self.fixed_bytes())).max(LEAST_BUDGET)
    }

    /// The estimate of the last request, for a comparison with the provider's count.
    pub(crate) fn last_estimate(&self) -> f64 {
        self.last.estimate
    }

    pub(crate) fn fixed(&self) -> (f64, f64) {
        (tokens(self.system().len()), tokens(self.fixed_bytes() - self.system().len()))
    }

    fn fixed_bytes(&self) -> usize {
        let tool = |t: &ToolSpec| t.name.len() + t.description.len() + t.schema.to_string().len();
        self.system().len() + self.tool_bytes.get_or_init(|| self.tools.iter().map(tool).sum())
    }
}

/// The tool with its basic parameters, if it is a basic tool.
fn basic(tool: &ToolSpec) -> Option<ToolSpec> {
    let (_, parameters) = BASIC_TOOLS.iter().find(|(name, _)| *name == tool.name)?;
    let mut tool = tool.clone();
    if let Some(properties) = tool.schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|name, _| parameters.contains(&name.as_str()));
    }
    Some(tool)
}

/// The whole numbers in a server's message, thousands separators allowed.
fn figures(message: &str) -> Vec<u64> {
    let cleaned: String = message.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    cleaned.split(|c: char| !c.is_ascii_digit()).filter_map(|run| run.parse().ok()).collect()
}

#[cfg(test)]
#[path = "build_tests.rs"]
mod tests;
