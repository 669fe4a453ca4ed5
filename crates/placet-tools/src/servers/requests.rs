//! The requests of a server during a call, as questions to the person: a form, and an answer of the model. Nothing is
//! answered without the person, and a server gets only what the person has seen.

use crate::{ServerConsent, ServerConsentQuestion, ServerRequestHost};
use futures_util::future::BoxFuture;
use placet_mcp::{
    ElicitationAnswer, ElicitationForm, FormField, SampledAnswer, SamplingPrompt, SamplingRefusal,
    ServerRequestHandler,
};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::sync::Mutex;

/// How many requests of one call the person is asked about. More are declined.
const MOST_ASKED: usize = 8;
/// How often the person is asked for a field again after an answer that the schema refuses.
const MOST_TRIES: usize = 5;
/// The most tokens of an answer that a server may have.
const MOST_TOKENS: u32 = 4_000;
/// With more values than this there is no key for each.
const MOST_CHOICES: usize = 9;
/// The longest reason of a person for a server, in characters.
const LONGEST_REASON: usize = 2_000;
/// The choice that leaves out a value which is not required.
const LEAVE_OUT: &str = "leave it out";

/// The requests of one call. Clones share everything.
#[derive(Clone)]
pub(super) struct CallRequests(Arc<RequestsState>);

struct RequestsState {
    server: String,
    tool: String,
    host: Arc<dyn ServerRequestHost>,
    asked: AtomicUsize,
    /// The person wants no more questions of this call.
    is_refused: AtomicBool,
    /// One request at a time: the questions of two forms do not mix.
    turn: Mutex<()>,
}

impl ServerRequestHandler for CallRequests {
    fn elicit(&self, form: ElicitationForm) -> BoxFuture<'static, ElicitationAnswer> {
        let requests = self.clone();
        Box::pin(async move {
            if !requests.admits() {
                return ElicitationAnswer::Declined;
            }
            let _turn = requests.0.turn.lock().await;
            requests.fill_in(form).await.map_or(ElicitationAnswer::Declined, ElicitationAnswer::Accepted)
        })
    }

    fn sample(&self, prompt: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>> {
        let requests = self.clone();
        Box::pin(async move {
            if !requests.admits() {
                return Err(SamplingRefusal::NotAllowed);
            }
            let _turn = requests.0.turn.lock().await;
            requests.ask_model(prompt).await
        })
    }
}

impl CallRequests {
    pub(super) fn new(server: &str, tool: &str, host: Arc<dyn ServerRequestHost>) -> CallRequests {
        let (asked, is_refused, turn) = Default::default();
        CallRequests(Arc::new(RequestsState {
            server: server.into(),
            tool: tool.into(),
            host,
            asked,
            is_refused,
            turn,
        }))
    }

    /// True if the person may be asked about one more request.
    fn admits(&self) -> bool {
        self.0.asked.fetch_add(1, Ordering::AcqRel) < MOST_ASKED
    }

    async fn consent(&self, question: ServerConsentQuestion) -> ServerConsent {
        if self.0.is_refused.load(Ordering::Acquire) {
            return ServerConsent::Never;
        }
        let answer = self.0.host.consent(question).await;
        if answer == ServerConsent::Never {
            self.0.is_refused.store(true, Ordering::Release);
        }
        answer
    }

    /// Whether the person agrees to answer a form, or to send it. A refused form has no place for a reason.
    async fn agrees(&self, title: String, reason: String, detail: String, yes: &str) -> bool {
        let (yes, no, takes_reason) = (yes.into(), "no".into(), false);
        let question =
            ServerConsentQuestion { title, reason, detail, yes, no, takes_reason, is_exact: false };
        self.consent(question).await == ServerConsent::Yes
    }

    /// Whether the person agrees that the model is asked, or that the server gets its answer.
    async fn permits(&self, title: String, reason: String, detail: String) -> Result<(), SamplingRefusal> {
        let (yes, no, takes_reason) = ("send".into(), "no".into(), true);
        let question =
            ServerConsentQuestion { title, reason, detail, yes, no, takes_reason, is_exact: false };
        match self.consent(question).await {
            ServerConsent::Yes => Ok(()),
            ServerConsent::Because(why) => {
                Err(SamplingRefusal::Refused(why.chars().take(LONGEST_REASON).collect()))
            }
            ServerConsent::No | ServerConsent::Never => Err(SamplingRefusal::NotAllowed),
        }
    }

    /// The values that the person gives; `None` if the person does not.
    async fn fill_in(&self, form: ElicitationForm) -> Option<Map<String, Value>> {
        let RequestsState { server, tool, .. } = self.0.as_ref();
        let (title, yes) = match form.fields.len() {
            0 => (format!("the server {server} asks for your agreement: agree?"), "agree"),
            _ => (format!("the server {server} asks for input: answer it?"), "answer"),
        };
        let reason = format!("during a call of {tool}; the server gets what you type, the model does not");
        if !self.agrees(title, reason, shown_form(&form), yes).await {
            return None;
        }
        let mut values = Map::new();
        for field in &form.fields {
            if let Some(value) = self.answer(field).await? {
                values.insert(field.name.clone(), value);
            }
        }
        if form.fields.len() > 1 {
            let title = format!("send this to the server {server}?");
            let detail = serde_json::to_string_pretty(&values).unwrap_or_default();
            if !self.agrees(title, "your answers to its questions".into(), detail, "send").await {
                return None;
            }
        }
        Some(values)
    }

    /// The value of a field, or `Some(None)` if it is left out. `None` declines the form. What the schema refuses is asked
    /// for again.
    async fn answer(&self, field: &FormField) -> Option<Option<Value>> {
        let mut choices = field.choices();
        let can_be_left_out = !field.is_required && !choices.iter().any(|value| value == LEAVE_OUT);
        if choices.len() + usize::from(can_be_left_out) > MOST_CHOICES {
            choices.clear();
        }
        choices.extend(can_be_left_out.then(|| LEAVE_OUT.into()));
        let mut why = String::new();
        for _ in 0..MOST_TRIES {
            let question = format!("the server {} asks{why}:\n{}", self.0.server, shown_field(field));
            let typed = self.0.host.ask(question, choices.clone()).await?;
            if can_be_left_out && typed == LEAVE_OUT {
                return Some(None);
            }
            match field.answer(&typed) {
                Ok(value) => return Some(Some(value)),
                Err(error) => why = format!(" again, because {error}"),
            }
        }
        None
    }

    async fn ask_model(&self, mut prompt: SamplingPrompt) -> Result<SampledAnswer, SamplingRefusal> {
        let RequestsState { server, tool, host, .. } = self.0.as_ref();
        let model = host.model().ok_or(SamplingRefusal::NotAllowed)?;
        prompt.max_tokens = prompt.max_tokens.clamp(1, MOST_TOKENS);
        let reason = format!(
            "during a call of {tool}; {model} gets this text and nothing of your conversation, and answers with at most {} tokens",
            prompt.max_tokens
        );
        let title = format!("the server {server} wants to ask your model: send this?");
        self.permits(title, reason, shown_prompt(&prompt)).await?;
        let answer = host.sample(prompt).await?;
        let title = format!("send the answer of the model to the server {server}?");
        self.permits(title, format!("{model} answered this"), answer.text.clone()).await?;
        Ok(answer)
    }
}

/// The lines of the server are indented, so that it cannot imitate what placet says. They are rendered where they are
/// shown.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A text that cannot begin another line.
fn in_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn shown_form(form: &ElicitationForm) -> String {
    let mut out = format!("its message:\n{}", indented(&form.message));
    if !form.fields.is_empty() {
        out.push_str("it asks for:\n");
    }
    form.fields.iter().for_each(|field| out.push_str(&indented(&shown_field(field))));
    out
}

fn shown_field(field: &FormField) -> String {
    let how = if field.is_required { "" } else { "; not required" };
    let mut out = in_line(&field.name);
    if let Some(title) = &field.title {
        let _ = write!(out, " ({})", in_line(title));
    }
    let _ = write!(out, ": {}{how}", in_line(&field.describe()));
    if let Some(description) = &field.description {
        let _ = write!(out, "\n  {}", in_line(description));
    }
    out
}

fn shown_prompt(prompt: &SamplingPrompt) -> String {
    let mut out = String::new();
    if let Some(system) = &prompt.system {
        let _ = write!(out, "system prompt:\n{}", indented(system));
    }
    for message in &prompt.messages {
        let role = if message.is_of_model { "model" } else { "user" };
        let _ = write!(out, "{role}:\n{}", indented(&message.text));
    }
    out
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
