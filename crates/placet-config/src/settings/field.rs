//! Converts a value by name to a typed field. The type decides what a file may contain.

use super::key::SettingKind;
use super::name::instance;
use crate::hook_settings::HookSettings;
use crate::origin::{AuthorTrust, SettingOrigin};
use crate::rule_settings::RuleSettings;
use crate::values::MergedSettings;

/// Rules of all layers, each with its origin.
pub type RuleList = Vec<(RuleSettings, SettingOrigin)>;

/// Hooks of all layers, each with its origin.
pub type HookList = Vec<(HookSettings, SettingOrigin, AuthorTrust)>;

/// A list of texts, each with its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingTexts(Vec<(String, SettingOrigin)>);

impl SettingTexts {
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(text, _)| text.as_str())
    }

    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(String::from).collect()
    }

    pub fn with_origins(&self) -> &[(String, SettingOrigin)] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The source of one table's values: a section, or one `[providers.NAME]`.
#[derive(Clone, Copy)]
pub(crate) struct FieldReader<'a> {
    values: &'a MergedSettings,
    /// The name that replaces the `*` of a key.
    name: &'a str,
}

impl<'a> FieldReader<'a> {
    pub(crate) fn of(values: &'a MergedSettings) -> FieldReader<'a> {
        FieldReader { values, name: "" }
    }

    /// The reader of the table `name` among tables that repeat.
    pub(crate) fn named(values: &'a MergedSettings, name: &'a str) -> FieldReader<'a> {
        FieldReader { values, name }
    }

    /// An empty text counts as unset.
    pub(super) fn text_or(self, key: &'static str, default: &'static str) -> &'a str {
        self.values.text(&instance(key, self.name)).unwrap_or(default.trim_matches('"'))
    }
}

/// A type that a key's value can have. The merged settings contain every default, except those of tables that repeat:
/// for these the text in the row is the default.
pub(crate) trait SettingField: Sized {
    const KIND: SettingKind;
    const MAY_BE_UNSET: bool = false;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> Self;
}

impl SettingField for String {
    const KIND: SettingKind = SettingKind::Text;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> String {
        reader.text_or(key, default).into()
    }
}

impl SettingField for u64 {
    const KIND: SettingKind = SettingKind::Number;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> u64 {
        let set = reader.values.number(&instance(key, reader.name));
        set.or_else(|| default.parse().ok()).unwrap_or_default()
    }
}

/// A larger number means the maximum.
impl SettingField for u32 {
    const KIND: SettingKind = SettingKind::Number;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> u32 {
        u32::try_from(u64::read(reader, key, default)).unwrap_or(u32::MAX)
    }
}

impl SettingField for usize {
    const KIND: SettingKind = SettingKind::Number;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> usize {
        usize::try_from(u64::read(reader, key, default)).unwrap_or(usize::MAX)
    }
}

impl SettingField for bool {
    const KIND: SettingKind = SettingKind::Flag;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> bool {
        reader.values.flag(&instance(key, reader.name)).unwrap_or(default == "true")
    }
}

/// `None` until somebody sets the key.
impl<T: SettingField> SettingField for Option<T> {
    const KIND: SettingKind = T::KIND;
    const MAY_BE_UNSET: bool = true;

    fn read(reader: FieldReader<'_>, key: &'static str, default: &'static str) -> Option<T> {
        reader.values.is_set(&instance(key, reader.name)).then(|| T::read(reader, key, default))
    }
}

impl SettingField for SettingTexts {
    const KIND: SettingKind = SettingKind::Texts;
    const MAY_BE_UNSET: bool = true;

    fn read(reader: FieldReader<'_>, key: &'static str, _: &'static str) -> SettingTexts {
        SettingTexts(reader.values.list(&instance(key, reader.name)).to_vec())
    }
}

impl SettingField for RuleList {
    const KIND: SettingKind = SettingKind::Rules;
    const MAY_BE_UNSET: bool = true;

    fn read(reader: FieldReader<'_>, key: &'static str, _: &'static str) -> RuleList {
        reader.values.rules(key).to_vec()
    }
}

/// There is only one list of hooks.
impl SettingField for HookList {
    const KIND: SettingKind = SettingKind::Hooks;
    const MAY_BE_UNSET: bool = true;

    fn read(reader: FieldReader<'_>, _: &'static str, _: &'static str) -> HookList {
        reader.values.hooks().to_vec()
    }
}
