//! A server as the settings describe it: a preset, with whatever `[providers.NAME]` says laid over it. Looks for no key
//! and opens no connection.

use super::AppError;
use crate::config::{Config, name_of};
use crate::provider::{
    AfterToolResults, CallIdFormat, EmptyContent, OutputLimitField, ProviderPreset, ServerQuirks, SystemRole,
    ToolImagePlacement, WireFormatKind, catalog,
};

/// A preset under the name that the person gave it.
#[derive(Clone, Debug)]
pub struct ConfiguredProvider {
    pub name: String,
    /// The preset it is made from.
    pub like: String,
    pub preset: ProviderPreset,
}

impl ConfiguredProvider {
    /// What the catalog knows of a model here: by this name, or by that of the preset.
    pub fn entry(&self, model: &str) -> Option<&'static catalog::CatalogModel> {
        catalog::find(&self.name, model).or_else(|| catalog::find(&self.like, model))
    }
}

/// The server of this name; one that is neither built in nor set speaks Chat Completions to nowhere.
pub fn of(config: &Config, name: &str) -> Result<ConfiguredProvider, AppError> {
    let text = |key: &str| config.text(&name_of("providers", name, key));
    let wire = text("dialect").and_then(WireFormatKind::parse);
    let like = match (text("preset"), ProviderPreset::of(name), wire) {
        (Some(named), ..) => {
            let near = || crate::text::nearest(named, ProviderPreset::all().iter().map(|p| p.name.as_str()));
            ProviderPreset::of(named)
                .ok_or_else(|| AppError::Provider { name: named.into(), near: near().map(String::from) })?
        }
        (None, Some(known), wire) if wire.is_none_or(|wire| wire == known.wire) => known,
        (None, _, wire) => usual(wire.unwrap_or(WireFormatKind::OpenaiChat))
            .ok_or_else(|| AppError::Provider { name: name.into(), near: None })?,
    };
    let mut preset = like.clone();
    preset.name = name.into();
    if let Some(wire) = wire {
        preset.wire = wire;
    }
    if let Some(url) = text("base_url") {
        preset.base_url = url.into();
    }
    for (key, field) in [
        ("path", &mut preset.path),
        ("auth_header", &mut preset.auth_header),
        ("model", &mut preset.default_model),
    ] {
        if let Some(text) = text(key) {
            *field = Some(text.into());
        }
    }
    if let Some(version) = text("api_version") {
        preset.query.insert("api-version".into(), version.into());
    }
    preset.quirks = quirks(config, name, preset.quirks);
    Ok(ConfiguredProvider { name: name.into(), like: like.name.clone(), preset })
}

/// The preset that stands for a wire format.
fn usual(wire: WireFormatKind) -> Option<&'static ProviderPreset> {
    ProviderPreset::of(match wire {
        WireFormatKind::Anthropic => "anthropic",
        WireFormatKind::OpenaiChat => "openai-compatible",
        WireFormatKind::OpenaiResponses => "openai",
        WireFormatKind::Gemini => "gemini",
    })
}

fn quirks(config: &Config, name: &str, preset: ServerQuirks) -> ServerQuirks {
    let key = |quirk: &str| name_of("providers", name, &format!("quirks.{quirk}"));
    let text = |quirk: &str| config.text(&key(quirk)).map(String::from);
    let flag = |quirk: &str| config.flag(&key(quirk));
    let fields: Vec<String> =
        config.list(&key("reasoning_fields")).iter().map(|(field, _)| field.clone()).collect();
    ServerQuirks {
        stream: config.flag("stream").unwrap_or(preset.stream),
        output_limit: match text("output_limit").as_deref() {
            Some("max_completion_tokens") => OutputLimitField::MaxCompletionTokens,
            Some("max_tokens") => OutputLimitField::MaxTokens,
            Some("unsaid") => OutputLimitField::Unsaid,
            _ => preset.output_limit,
        },
        system_role: match text("system_role").as_deref() {
            Some("system") => SystemRole::System,
            Some("developer") => SystemRole::Developer,
            _ => preset.system_role,
        },
        stream_options: flag("stream_options").unwrap_or(preset.stream_options),
        reasoning_fields: if fields.is_empty() { preset.reasoning_fields } else { fields },
        reasoning_back: text("reasoning_back").or(preset.reasoning_back),
        reasoning_blocks: text("reasoning_blocks").or(preset.reasoning_blocks),
        tool_images: match text("tool_images").as_deref() {
            Some("beside") => ToolImagePlacement::Beside,
            Some("inside") => ToolImagePlacement::Inside,
            _ => preset.tool_images,
        },
        parallel_tool_calls: flag("parallel_tool_calls").or(preset.parallel_tool_calls),
        after_results: match text("after_results").as_deref() {
            Some("anybody") => AfterToolResults::Anybody,
            Some("assistant") => AfterToolResults::Assistant,
            _ => preset.after_results,
        },
        empty_content: match text("empty_content").as_deref() {
            Some("null") => EmptyContent::Null,
            Some("empty") => EmptyContent::Empty,
            Some("omitted") => EmptyContent::Omitted,
            _ => preset.empty_content,
        },
        call_ids: match text("call_ids").as_deref() {
            Some("any") => CallIdFormat::Any,
            Some("nine") => CallIdFormat::Nine,
            _ => preset.call_ids,
        },
        cache_key: flag("cache_key").unwrap_or(preset.cache_key),
        eager_calls: flag("eager_calls").unwrap_or(preset.eager_calls),
        reasoning_summary: text("reasoning_summary").or(preset.reasoning_summary),
        unsigned_call: text("unsigned_call").or(preset.unsigned_call),
    }
}
