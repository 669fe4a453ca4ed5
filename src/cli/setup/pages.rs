//! The words of each question.

use super::candidates::host;
use super::plan::{KeyChoice, KeyPlace};
use super::state::{AfterFailure, KeyWay, SetupState, SetupStep};
use crate::provider::WireFormatKind;
use crate::provider::catalog::{CatalogModel, Money};
use crate::text::{count, visible};
use crate::ui::token_counts;
use crate::ui::wizard::{ChoiceTyping, TextPrefill, WizardChoice, WizardPage, WizardQuestion};

/// Nearly all servers of one's own speak the first.
pub(super) const WIRES: [(WireFormatKind, &str); 4] = [
    (WireFormatKind::OpenaiChat, "Chat Completions: nearly all servers"),
    (WireFormatKind::OpenaiResponses, "OpenAI's Responses"),
    (WireFormatKind::Anthropic, "Anthropic's Messages"),
    (WireFormatKind::Gemini, "Google's Gemini"),
];

type PageLines = Vec<(String, &'static str)>;

pub(super) fn page(state: &SetupState<'_>) -> WizardPage {
    let name = state.name();
    match state.step {
        SetupStep::Provider => provider(state),
        SetupStep::Address => {
            let (known, text) = match &state.server {
                Some(server) => (server.preset.base_url.clone(), server.preset.base_url.clone()),
                None => (
                    String::new(),
                    state.address.clone().unwrap_or_else(|| "http://localhost:8000/v1".into()),
                ),
            };
            let hint = match known.is_empty() {
                true => {
                    "Edit the address, up to and including /v1, for example https://llm.example.com/v1. {take} accepts it."
                }
                false => "Edit the address if your server is elsewhere. {take} accepts it.",
            };
            text_page("What is the address (base URL) of the server?", hint, &text)
        }
        SetupStep::Wire => choice(
            "Which API does the server have?",
            hint("The manual of the server names one of these APIs."),
            WIRES.iter().map(|(wire, words)| WizardChoice::new(wire.name(), *words)).collect(),
            ChoiceTyping::Search,
        ),
        SetupStep::Name => {
            let usual = state.address.as_deref().map_or_else(String::new, |url| name_of_host(host(url)));
            text_page("What is the server called in your settings?", "as in `placet --provider NAME`", &usual)
        }
        SetupStep::Key => key(state),
        SetupStep::TypeKey => WizardPage {
            title: format!("Paste the key of {name}"),
            lines: hint("The key is not shown. It is sent to this server only."),
            question: WizardQuestion::Secret,
        },
        SetupStep::NameVariable => {
            let usual = crate::provider::ProviderPreset::of(name).map(|preset| preset.key_variable.as_str());
            text_page(
                "Which environment variable has the key?",
                "set it for every shell from which you start placet",
                usual.unwrap_or(""),
            )
        }
        SetupStep::NameCommand => text_page(
            "Which command prints the key?",
            "placet runs it once now, and at the first request of each start; its first line is the key",
            "",
        ),
        SetupStep::Checking => {
            let place = state.server.as_ref().map_or("", |server| host(&server.preset.base_url));
            WizardPage {
                title: format!("Asking {place} for its models ..."),
                lines: hint("One request, which costs nothing. It ends after 30 s."),
                question: WizardQuestion::Wait,
            }
        }
        SetupStep::CheckFailed => failure(&state.after_failure, "use another key", "", ""),
        SetupStep::Place => place(state),
        SetupStep::Model => models(state),
        SetupStep::TypeModel => {
            let usual = state.server.as_ref().and_then(|server| server.preset.default_model.clone());
            let hint = "the name that the provider has for it";
            text_page("Which model?", hint, &usual.unwrap_or_default())
        }
        SetupStep::Confirm => confirm(state),
        SetupStep::Writing => {
            let lines = match state.place {
                KeyPlace::Tool(_) => {
                    hint("A window may ask for the password of the store. It ends after 60 s.")
                }
                KeyPlace::File => Vec::new(),
            };
            WizardPage { title: "Storing ...".into(), lines, question: WizardQuestion::Wait }
        }
    }
}

/// A row for an answer that was given, unless another row says it.
pub(super) fn answered(state: &SetupState<'_>, step: SetupStep) -> Option<(&'static str, String)> {
    let server = state.server.as_ref();
    Some(match step {
        SetupStep::Provider if state.is_new => ("provider", "a server of my own".into()),
        SetupStep::Provider => ("provider", server?.name.clone()),
        SetupStep::Address => {
            ("address", state.address.clone().or_else(|| Some(server?.preset.base_url.clone()))?)
        }
        SetupStep::Wire => ("API", server?.preset.wire.name().into()),
        SetupStep::Name => ("name", server?.name.clone()),
        SetupStep::Key | SetupStep::TypeKey | SetupStep::NameVariable | SetupStep::NameCommand => {
            let words = match (step, state.key.as_ref()?) {
                (SetupStep::Key, KeyChoice::Keep(words)) => words.clone(),
                (SetupStep::Key, KeyChoice::NoKey) => "none".into(),
                (SetupStep::TypeKey, KeyChoice::Typed(key)) => {
                    count::of(key.expose().chars().count(), "character")
                }
                (SetupStep::NameVariable, KeyChoice::Variable(name)) => format!("in {name}"),
                (SetupStep::NameCommand, KeyChoice::Command(line)) => format!("printed by `{line}`"),
                _ => return None,
            };
            match state.found.key {
                "" => ("key", words),
                checked => ("key", format!("{words} · {checked}")),
            }
        }
        SetupStep::Place => ("stored", place_words(state)),
        SetupStep::Model | SetupStep::TypeModel => ("model", state.model.clone()?),
        _ => return None,
    })
}

fn provider(state: &SetupState<'_>) -> WizardPage {
    let now = state.app.chosen().and_then(|name| {
        let answerer = state.app.answerer(Some(&name), None).ok()?;
        Some(format!("Now: {name} with {}", answerer.model.name))
    });
    let first = now.unwrap_or_else(|| "placet has no model yet.".into());
    choice(
        "Which provider?",
        vec![
            (first, "text"),
            ("Your messages and the files that the agent reads go to this server.".into(), "hint"),
        ],
        state.candidates.iter().map(|(_, choice)| choice.clone()).collect(),
        ChoiceTyping::Search,
    )
}

fn key(state: &SetupState<'_>) -> WizardPage {
    let preset = state.server.as_ref().map(|server| &server.preset);
    let page = preset.and_then(|preset| preset.key_page.as_deref());
    let lines = page.map(|url| (format!("Keys are at {url}"), "hint")).into_iter().collect();
    let variable =
        crate::provider::ProviderPreset::of(state.name()).map(|preset| preset.key_variable.as_str());
    let item = |way: &KeyWay| match way {
        KeyWay::Keep(words) => WizardChoice::new("keep the key that placet has", words.clone()),
        KeyWay::Type => WizardChoice::new("paste the key", "placet checks it and stores it"),
        KeyWay::Command => WizardChoice::new("a command prints the key", "a password manager, for example"),
        KeyWay::Variable => match variable {
            Some(name) => WizardChoice::new("an environment variable has the key", name),
            None => WizardChoice::new("an environment variable has the key", ""),
        },
        KeyWay::None => WizardChoice::new("no key", "the server accepts every request"),
    };
    let title = format!("Where is the API key for {}?", state.name());
    choice(&title, lines, state.ways.iter().map(item).collect(), ChoiceTyping::Search)
}

/// After a request that failed.
pub(super) fn failure(all: &[AfterFailure], other_key: &str, words: &str, advice: &str) -> WizardPage {
    let item = |after: &AfterFailure| match after {
        AfterFailure::OtherKey => WizardChoice::new(other_key, ""),
        AfterFailure::Again => WizardChoice::new("try again", ""),
        AfterFailure::OtherAddress => WizardChoice::new("change the address", ""),
        AfterFailure::Unchecked => {
            WizardChoice::new("continue without the check", "you type the name of the model")
        }
    };
    let mut lines = vec![(words.to_string(), "error")];
    lines.extend(hint(advice));
    choice("The check failed.", lines, all.iter().map(item).collect(), ChoiceTyping::Search)
}

fn place(state: &SetupState<'_>) -> WizardPage {
    let file = visible::path(&state.files.keys).to_string();
    let mut items = vec![WizardChoice::new("a file that only you can read", file)];
    items.extend(
        state.tools.iter().map(|tool| WizardChoice::new(tool.label(), format!("with `{}`", tool.program()))),
    );
    choice("Where does placet store the key?", Vec::new(), items, ChoiceTyping::Search)
}

fn place_words(state: &SetupState<'_>) -> String {
    match state.place {
        KeyPlace::File => visible::path(&state.files.keys).to_string(),
        KeyPlace::Tool(tool) => tool.label().into(),
    }
}

/// The models as they are listed: the usual one, those that are known, the others; each in the server's order.
pub(super) fn ordered_models<'f>(state: &'f SetupState<'_>) -> Vec<&'f str> {
    let Some(server) = &state.server else { return Vec::new() };
    let usual = server.preset.default_model.as_deref();
    let mut all: Vec<&str> = state.found.models.iter().map(|model| model.id.as_str()).collect();
    all.sort_by_key(|id| (usual != Some(*id), server.entry(id).is_none()));
    all
}

fn models(state: &SetupState<'_>) -> WizardPage {
    let usual = state.server.as_ref().and_then(|server| server.preset.default_model.as_deref());
    let item = |id: &&str| {
        let known = state.server.as_ref().and_then(|server| server.entry(id));
        let said = state.found.models.iter().find(|model| model.id == **id && !model.said.is_empty());
        let figures = match (said, known) {
            (Some(model), _) => model.said.clone(),
            (None, Some(known)) => figures(known),
            (None, None) => "window not known".to_string(),
        };
        let note = if usual == Some(*id) { format!("default · {figures}") } else { figures };
        WizardChoice::new(*id, note)
    };
    let models = ordered_models(state);
    let lines = hint(
        "Type to search. The figures are from placet's catalog: dollars for a million tokens, in and out.",
    );
    let items = models.iter().map(item).collect();
    choice("Which model?", lines, items, ChoiceTyping::SearchOrName)
}

fn figures(known: &CatalogModel) -> String {
    let window = known.window.map(|tokens| format!("window {}", token_counts::short(tokens)));
    let dollars = |money: Option<Money>| money.map(|money| money.to_string());
    let price = known.price.as_ref();
    let price = price.and_then(|price| dollars(price.input).zip(dollars(price.output)));
    let price = price.map(|(input, output)| format!("{input} / {output}"));
    [window, price].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn confirm(state: &SetupState<'_>) -> WizardPage {
    let file = visible::path(&state.files.settings).to_string();
    let Some(plan) = &state.plan else {
        let why =
            format!("cannot edit {file}: `providers` in it is not a table. Edit the file, then try again.");
        return consent("Nothing can be written.", vec![(why, "error")], &["leave"]);
    };
    let stores = matches!(state.key, Some(KeyChoice::Typed(_)));
    let key_line = match state.place {
        KeyPlace::File => format!("The key goes into {} (mode 600).", visible::path(&state.files.keys)),
        KeyPlace::Tool(tool) => format!("The key goes into {}, with `{}`.", tool.label(), tool.program()),
    };
    let mut lines = plan.lines();
    if stores {
        if !lines.is_empty() {
            lines.push((String::new(), "text"));
        }
        lines.push((key_line, "text"));
    }
    match (plan.is_empty(), stores) {
        (true, false) => consent("The settings are like this already.", hint(&file), &["leave"]),
        (true, true) => consent("Store the key?", lines, &["store it", "leave everything as it is"]),
        _ => consent(&format!("Write this into {file}?"), lines, &["write it", "leave everything as it is"]),
    }
}

fn hint(words: &str) -> PageLines {
    if words.is_empty() { Vec::new() } else { vec![(words.into(), "hint")] }
}

fn choice(title: &str, lines: PageLines, items: Vec<WizardChoice>, typing: ChoiceTyping) -> WizardPage {
    let question = WizardQuestion::Choice { items, selected: 0, typing };
    WizardPage { title: title.into(), lines, question }
}

fn consent(title: &str, lines: PageLines, items: &[&str]) -> WizardPage {
    let items = items.iter().map(|item| WizardChoice::new(*item, "")).collect();
    choice(title, lines, items, ChoiceTyping::Consent)
}

fn text_page(title: &str, words: &str, text: &str) -> WizardPage {
    let question = WizardQuestion::Text { text: text.into(), prefill: TextPrefill::Suggestion };
    WizardPage { title: title.into(), lines: hint(words), question }
}

/// A name for the settings, from the name of a host.
pub(super) fn name_of_host(host: &str) -> String {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let clean: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.')).collect();
    match clean.is_empty() || clean.starts_with(|c: char| c.is_ascii_digit()) || clean == "localhost" {
        true => "local".into(),
        false => clean,
    }
}
