//! A server as the settings describe it: a preset, overridden by `[providers.NAME]`. Looks for no key and opens no
//! connection.

use super::AppError;
use crate::config::{Config, ProviderSettings};
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
    /// The environment variable that named its address, if one did.
    pub address_variable: Option<String>,
}

impl ConfiguredProvider {
    /// What the catalog knows of a model here: under this name, or under the name of the preset.
    pub fn entry(&self, model: &str) -> Option<&'static catalog::CatalogModel> {
        catalog::find(&self.name, model).or_else(|| catalog::find(&self.like, model))
    }
}

/// The server of this name. A server that is neither built in nor configured gets Chat Completions and no address.
pub fn of(config: &Config, name: &str) -> Result<ConfiguredProvider, AppError> {
    let own = config.provider(name);
    let wire = own.dialect.as_deref().and_then(WireFormatKind::parse);
    let like = match (own.preset.as_deref(), ProviderPreset::of(name), wire) {
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
    let mut address_variable = None;
    match (&own.base_url, from_environment(&preset)) {
        (Some(url), _) => preset.base_url = url.clone(),
        // A server of the person's own has the address of its settings, as it has no key of its preset.
        (None, Some((variable, url))) if own.preset.is_none() && own.key_env.is_none() => {
            preset.base_url = url;
            address_variable = Some(variable);
        }
        (None, _) => {}
    }
    for (set, field) in [
        (&own.path, &mut preset.path),
        (&own.auth_header, &mut preset.auth_header),
        (&own.model, &mut preset.default_model),
    ] {
        if set.is_some() {
            field.clone_from(set);
        }
    }
    if let Some(version) = &own.api_version {
        preset.query.insert("api-version".into(), version.clone());
    }
    preset.quirks = ServerQuirks {
        stream: config.settings().conversation.stream.unwrap_or(preset.quirks.stream),
        ..quirks(own, preset.quirks)
    };
    Ok(ConfiguredProvider { name: name.into(), like: like.name.clone(), preset, address_variable })
}

/// The address that programs of this vendor take from the environment, next to the key: `ANTHROPIC_BASE_URL` belongs to
/// `ANTHROPIC_API_KEY`.
fn from_environment(preset: &ProviderPreset) -> Option<(String, String)> {
    let variable = format!("{}_BASE_URL", preset.key_variable.strip_suffix("_API_KEY")?);
    let url = std::env::var(&variable).ok()?.trim().to_string();
    (!url.is_empty()).then_some((variable, url))
}

/// A server that is not in the settings yet: its address and its wire format.
pub fn own(name: &str, wire: WireFormatKind, base_url: &str) -> Result<ConfiguredProvider, AppError> {
    let like = usual(wire).ok_or_else(|| AppError::Provider { name: name.into(), near: None })?;
    let preset = ProviderPreset {
        name: name.into(),
        base_url: base_url.into(),
        default_model: None,
        key_page: None,
        key_path: None,
        ..like.clone()
    };
    Ok(ConfiguredProvider { name: name.into(), like: like.name.clone(), preset, address_variable: None })
}

/// The preset for a wire format.
fn usual(wire: WireFormatKind) -> Option<&'static ProviderPreset> {
    ProviderPreset::of(match wire {
        WireFormatKind::Anthropic => "anthropic",
        WireFormatKind::OpenaiChat => "openai-compatible",
        WireFormatKind::OpenaiResponses => "openai",
        WireFormatKind::Gemini => "gemini",
    })
}

fn quirks(own: ProviderSettings, preset: ServerQuirks) -> ServerQuirks {
    let fields = own.quirks_reasoning_fields.to_vec();
    ServerQuirks {
        stream: preset.stream,
        output_limit: match own.quirks_output_limit.as_deref() {
            Some("max_completion_tokens") => OutputLimitField::MaxCompletionTokens,
            Some("max_tokens") => OutputLimitField::MaxTokens,
            Some("unsaid") => OutputLimitField::Unsaid,
            _ => preset.output_limit,
        },
        system_role: match own.quirks_system_role.as_deref() {
            Some("system") => SystemRole::System,
            Some("developer") => SystemRole::Developer,
            _ => preset.system_role,
        },
        stream_options: own.quirks_stream_options.unwrap_or(preset.stream_options),
        reasoning_fields: if fields.is_empty() { preset.reasoning_fields } else { fields },
        reasoning_back: own.quirks_reasoning_back.or(preset.reasoning_back),
        reasoning_blocks: own.quirks_reasoning_blocks.or(preset.reasoning_blocks),
        tool_images: match own.quirks_tool_images.as_deref() {
            Some("beside") => ToolImagePlacement::Beside,
            Some("inside") => ToolImagePlacement::Inside,
            _ => preset.tool_images,
        },
        parallel_tool_calls: own.quirks_parallel_tool_calls.or(preset.parallel_tool_calls),
        after_results: match own.quirks_after_results.as_deref() {
            Some("anybody") => AfterToolResults::Anybody,
            Some("assistant") => AfterToolResults::Assistant,
            _ => preset.after_results,
        },
        empty_content: match own.quirks_empty_content.as_deref() {
            Some("null") => EmptyContent::Null,
            Some("empty") => EmptyContent::Empty,
            Some("omitted") => EmptyContent::Omitted,
            _ => preset.empty_content,
        },
        call_ids: match own.quirks_call_ids.as_deref() {
            Some("any") => CallIdFormat::Any,
            Some("nine") => CallIdFormat::Nine,
            _ => preset.call_ids,
        },
        cache_key: own.quirks_cache_key.unwrap_or(preset.cache_key),
        eager_calls: own.quirks_eager_calls.unwrap_or(preset.eager_calls),
        reasoning_summary: own.quirks_reasoning_summary.or(preset.reasoning_summary),
        unsigned_call: own.quirks_unsigned_call.or(preset.unsigned_call),
    }
}
