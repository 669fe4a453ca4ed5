//! The providers to choose from, with what is known of each without asking a server.

use crate::app::configured_provider::{self, ConfiguredProvider};
use crate::app::model_selection::KeyStatus;
use crate::app::{App, AppError};
use crate::provider::{ProviderPreset, ServerLocation};
use crate::text::count;
use crate::ui::wizard::WizardChoice;

pub(super) enum Candidate {
    Known(Box<ConfiguredProvider>),
    /// A server of the person's own that is in no settings yet.
    New,
}

/// Rows that are in sight without scrolling on a screen of 24 lines.
const IN_SIGHT: usize = 6;

/// Another name for the same as "a server of my own".
const GENERIC: &str = "openai-compatible";

/// All of them: who answers now first, then the servers that run on this machine, then those whose key is there, then a new server. The first row is a provider
/// that is known, because Enter takes it.
///
/// `running` are the servers of this machine that answer, with how many models they have.
pub(super) fn candidates(
    app: &App,
    running: &[(String, usize)],
) -> Result<Vec<(Candidate, WizardChoice)>, AppError> {
    let own = app.config.provider_names();
    let builtin = ProviderPreset::all().iter().map(|preset| preset.name.clone());
    let builtin = builtin.filter(|name| name != GENERIC && !own.contains(name));
    let now = app.chosen();
    let mut all = Vec::new();
    for name in own.iter().cloned().chain(builtin) {
        let server = configured_provider::of(&app.config, &name)?;
        let (status, words) = app.key_standing(&server);
        let is_now = now.as_deref() == Some(&name);
        let runs = running.iter().find(|(runs, _)| *runs == name);
        let order = match (is_now, runs, status) {
            (true, ..) => 0,
            (_, Some(_), _) => 1,
            (_, _, KeyStatus::There) => 2,
            _ => 3,
        };
        let mut note = note(&server, status, &words, is_now);
        if let Some((_, models)) = runs {
            note = format!("runs here, {} · {note}", count::of(*models, "model"));
        }
        let note = match api_of_twin(&server) {
            Some(api) => format!("{api} · {note}"),
            None => note,
        };
        all.push((order, Candidate::Known(Box::new(server)), WizardChoice::new(name, note)));
    }
    // The sort is stable: below the first ones the order is that of the table.
    all.sort_by_key(|(order, ..)| *order);
    let ready = all.iter().filter(|(order, ..)| *order < 3).count();
    let mut all: Vec<_> = all.into_iter().map(|(_, candidate, choice)| (candidate, choice)).collect();
    let words = "OpenAI compatible or other, at any URL: vLLM, llama.cpp, a gateway";
    let new = WizardChoice {
        found_by: "openai compatible custom other own server base url address endpoint vllm llama.cpp gateway proxy",
        ..WizardChoice::new("a server of my own", words)
    };
    all.insert(ready.clamp(1, IN_SIGHT).min(all.len()), (Candidate::New, new));
    Ok(all)
}

fn note(server: &ConfiguredProvider, status: KeyStatus, words: &str, is_now: bool) -> String {
    let preset = &server.preset;
    let place = match (preset.base_url.is_empty(), preset.place) {
        (true, _) => "at your own address",
        (_, ServerLocation::Local) => "on your own machine",
        (_, ServerLocation::Remote) => host(&preset.base_url),
    };
    let key = match status {
        KeyStatus::There => format!("key {words}"),
        KeyStatus::Unneeded => "no key needed".to_string(),
        KeyStatus::Missing => "needs a key".to_string(),
    };
    let now = if is_now { "in use · " } else { "" };
    format!("{now}{place} · {key}")
}

/// The API of a provider whose address another provider has as well: only the API tells the two apart.
fn api_of_twin(server: &ConfiguredProvider) -> Option<&'static str> {
    let preset = ProviderPreset::of(&server.name)?;
    let is_twin = |other: &ProviderPreset| other.base_url == preset.base_url && other.wire != preset.wire;
    let has_twin = !preset.base_url.is_empty() && ProviderPreset::all().iter().any(is_twin);
    has_twin.then(|| server.preset.wire.api_name())
}

/// The name of the host in a URL, with its port.
pub(super) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split(['/', '?']).next().unwrap_or_default();
    rest.rsplit_once('@').map_or(rest, |(_, host)| host)
}
