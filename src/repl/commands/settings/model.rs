//! `/model` and `/provider`: who answers from the next message on.

use crate::agent::SelectedModel;
use crate::provider::{ApiKeyRequirement, ProviderPreset};
use crate::repl::context::{CommandContext, CommandFollowUp, CommandStop, SlashCommandResult};
use crate::ui::picker::{PickerFeed, PickerItem};

/// The built-in provider, and its only model.
const OFFLINE: &str = "offline";

pub(in crate::repl::commands) fn model(context: &mut CommandContext<'_>, rest: &str) -> SlashCommandResult {
    match rest {
        "pick" => pick(context),
        "" => show(context),
        model => {
            let provider = context.conversation.answered_by().0;
            switch_to(context, &provider, Some(model))
        }
    }
}

pub(in crate::repl::commands) fn provider(
    context: &mut CommandContext<'_>,
    rest: &str,
) -> SlashCommandResult {
    match rest {
        "pick" => pick(context),
        "" => show(context),
        named => {
            let (name, model) = named.split_once(char::is_whitespace).unwrap_or((named, ""));
            switch_to(context, name, Some(model.trim()).filter(|m| !m.is_empty()))
        }
    }
}

fn show(context: &CommandContext<'_>) -> SlashCommandResult {
    let (provider, model) = context.conversation.answered_by();
    let line = format!("{provider} with {model}");
    let how = "/model pick opens the list of models, /model NAME uses another one";
    context.output.paragraphs(&[(&line, "notice"), (how, "hint")]);
    Ok(CommandFollowUp::Nothing)
}

fn switch_to(context: &mut CommandContext<'_>, provider: &str, model: Option<&str>) -> SlashCommandResult {
    if provider == OFFLINE && model.is_some_and(|model| model != OFFLINE) {
        let hint = "/provider NAME MODEL changes the provider; /model pick lists the models";
        return Err(CommandStop::with_hint("the offline provider has no other model", hint));
    }
    let answerer = context.app.builder.answerer(Some(provider), model)?;
    switch(context, answerer)
}

/// Lets another model answer from the next message on.
pub(in crate::repl::commands) fn switch(
    context: &mut CommandContext<'_>,
    answerer: SelectedModel,
) -> SlashCommandResult {
    let told = format!("{} with {} from the next message on", answerer.provider.name(), answerer.model.name);
    let mut notes = vec![told];
    notes.extend(answerer.note.clone());
    match &mut context.conversation.agent {
        Some(agent) => {
            agent.switch(answerer.provider, answerer.model, answerer.max_output);
            notes.extend(agent.lost_on_switch());
        }
        None => context.conversation.answerer = Some(answerer),
    }
    notes.iter().for_each(|note| context.output.note(note));
    Ok(CommandFollowUp::Nothing)
}

/// A provider and a model that are known by name; who answers now is first.
fn pick(context: &mut CommandContext<'_>) -> SlashCommandResult {
    let config = context.app.config;
    let own = config.provider_names();
    let own_model = |name: &str| config.provider(name).model;
    let mut pairs: Vec<(String, Option<String>, &str)> =
        own.iter().map(|name| (name.clone(), own_model(name), "from your settings")).collect();
    for preset in ProviderPreset::all().iter().filter(|preset| !own.contains(&preset.name)) {
        let note = match std::env::var_os(&preset.key_variable) {
            Some(_) => "its key is set",
            None if preset.key == ApiKeyRequirement::Required => "no key yet",
            None => "needs no key",
        };
        pairs.push((preset.name.clone(), preset.default_model.clone(), note));
    }
    pairs.push(("offline".into(), Some("offline".into()), "built in"));
    let (provider, model) = context.conversation.answered_by();
    if let Some(at) = pairs.iter().position(|(name, ..)| *name == provider) {
        pairs.remove(at);
        pairs.insert(0, (provider, Some(model), "in use"));
    }
    let item = |(provider, model, note): &(String, Option<String>, &str)| {
        let model = model.as_deref().unwrap_or("");
        PickerItem::new(format!("{provider} {model}").trim_end(), *note)
            .with_value(format!("{provider} {model}"))
    };
    let feed = PickerFeed::of(pairs.iter().map(item).collect());
    let taken = context.output.pick_one(context.output.picker("Models", feed));
    let taken = taken.ok_or(CommandStop::Cancelled)?;
    let (provider, model) = taken.split_once(' ').ok_or(CommandStop::Cancelled)?;
    switch_to(context, provider, Some(model).filter(|model| !model.is_empty()))
}
