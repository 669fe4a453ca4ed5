//! What a server gets of a person who answers, who does not, and who is asked too often.

use super::*;
use placet_mcp::SamplingPromptMessage;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::Mutex as BlockingMutex;

/// A person with prepared answers, and what the person saw.
#[derive(Default)]
struct ScriptedHost {
    consents: BlockingMutex<VecDeque<ServerConsent>>,
    typed: BlockingMutex<VecDeque<Option<&'static str>>>,
    seen: BlockingMutex<Vec<String>>,
}

impl ServerRequestHost for ScriptedHost {
    fn ask(&self, question: String, _: Vec<String>) -> BoxFuture<'static, Option<String>> {
        self.seen.lock().unwrap().push(question);
        let typed = self.typed.lock().unwrap().pop_front().flatten().map(String::from);
        Box::pin(std::future::ready(typed))
    }

    fn consent(&self, question: ServerConsentQuestion) -> BoxFuture<'static, ServerConsent> {
        self.seen.lock().unwrap().push(format!("{}\n{}", question.title, question.detail));
        let said = self.consents.lock().unwrap().pop_front().unwrap_or(ServerConsent::No);
        Box::pin(std::future::ready(said))
    }

    fn model(&self) -> Option<String> {
        Some("m".into())
    }

    fn sample(&self, prompt: SamplingPrompt) -> BoxFuture<'static, Result<SampledAnswer, SamplingRefusal>> {
        let text = format!("answer to {} messages", prompt.messages.len());
        Box::pin(std::future::ready(Ok(SampledAnswer { model: "m".into(), text, is_cut: false })))
    }
}

fn host(consents: &[ServerConsent], typed: &[Option<&'static str>]) -> (Arc<ScriptedHost>, CallRequests) {
    let host = Arc::new(ScriptedHost {
        consents: BlockingMutex::new(consents.iter().cloned().collect()),
        typed: BlockingMutex::new(typed.iter().copied().collect()),
        seen: BlockingMutex::default(),
    });
    (Arc::clone(&host), CallRequests::new("s", "t", host))
}

fn form(schema: Value) -> ElicitationForm {
    ElicitationForm::for_tests("name\narguments: {}", &schema)
}

fn two_fields() -> ElicitationForm {
    form(json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "integer"}, "b": {"type": "string"}}}))
}

const YES: ServerConsent = ServerConsent::Yes;

#[tokio::test]
async fn a_form_is_filled_in_field_by_field_and_looked_at_before_it_is_sent() {
    let (person, requests) = host(&[YES, YES], &[Some("x"), Some("5"), Some("leave it out")]);
    let answer = requests.elicit(two_fields()).await;
    assert_eq!(answer, ElicitationAnswer::Accepted(json!({"a": 5}).as_object().unwrap().clone()));
    let seen = person.seen.lock().unwrap();
    assert!(seen[0].contains("its message:\n  name\n  arguments: {}\nit asks for:\n  a: a whole number\n"));
    assert!(seen[2].starts_with("the server s asks again, because it is not a number:\na: "), "{seen:?}");
    assert!(seen[4].contains("\"a\": 5"), "{seen:?}");
}

#[tokio::test]
async fn what_the_person_does_not_answer_is_declined() {
    let declined = [
        (vec![], vec![]),
        (vec![YES], vec![None]),
        // The same key declines at a value that is not required.
        (vec![YES, YES], vec![Some("5"), None]),
        (vec![YES], vec![Some("x"); 9]),
        (vec![YES, ServerConsent::No], vec![Some("5"), Some("b")]),
    ];
    for (consents, typed) in declined {
        let (_, requests) = host(&consents, &typed);
        assert_eq!(
            requests.elicit(two_fields()).await,
            ElicitationAnswer::Declined,
            "{consents:?} {typed:?}"
        );
    }
}

#[tokio::test]
async fn endless_requests_end_after_eight_and_never_ends_them_at_once() {
    let (person, requests) = host(&[], &[]);
    for _ in 0..50 {
        assert_eq!(requests.elicit(two_fields()).await, ElicitationAnswer::Declined);
    }
    assert_eq!(person.seen.lock().unwrap().len(), MOST_ASKED);
    let (person, requests) = host(&[ServerConsent::Never, YES], &[]);
    for _ in 0..5 {
        assert_eq!(requests.elicit(form(json!({}))).await, ElicitationAnswer::Declined);
    }
    assert_eq!(person.seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_prompt_is_shown_whole_and_the_answer_too_before_the_server_gets_it() {
    let prompt = || SamplingPrompt {
        system: Some("be brief".into()),
        messages: vec![SamplingPromptMessage { is_of_model: false, text: "who?\nuser:\nme".into() }],
        max_tokens: 1_000_000,
    };
    let (person, requests) = host(&[YES, YES], &[]);
    assert_eq!(requests.sample(prompt()).await.unwrap().text, "answer to 1 messages");
    let seen = person.seen.lock().unwrap().clone();
    assert!(seen[0].ends_with("system prompt:\n  be brief\nuser:\n  who?\n  user:\n  me\n"), "{seen:?}");
    assert!(seen[1].ends_with("answer to 1 messages"), "{seen:?}");
    for consents in [vec![], vec![YES, ServerConsent::No], vec![ServerConsent::Never]] {
        let (_, requests) = host(&consents, &[]);
        assert_eq!(requests.sample(prompt()).await, Err(SamplingRefusal::NotAllowed));
    }
    let because = || ServerConsent::Because("x".repeat(LONGEST_REASON + 5));
    for consents in [vec![because()], vec![YES, because()]] {
        let (_, requests) = host(&consents, &[]);
        let refused = SamplingRefusal::Refused("x".repeat(LONGEST_REASON));
        assert_eq!(requests.sample(prompt()).await, Err(refused));
    }
}
