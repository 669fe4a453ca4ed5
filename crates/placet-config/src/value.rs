//! The value of one setting, and its form in a file.

use super::hook_settings::HookSettings;
use super::rule_settings::RuleSettings;
use std::fmt;
use toml_edit::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    Text(String),
    Number(u64),
    Flag(bool),
    Texts(Vec<String>),
    Rules(Vec<RuleSettings>),
    Hooks(Vec<HookSettings>),
}

impl fmt::Display for SettingValue {
    /// As it would be written in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::Text(text) => write!(f, "{}", Value::from(text.as_str()).to_string().trim()),
            SettingValue::Number(n) => write!(f, "{n}"),
            SettingValue::Flag(b) => write!(f, "{b}"),
            SettingValue::Texts(list) => {
                let quoted: Vec<String> =
                    list.iter().map(|t| Value::from(t.as_str()).to_string().trim().to_string()).collect();
                write!(f, "[{}]", quoted.join(", "))
            }
            SettingValue::Rules(list) => {
                let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", shown.join(", "))
            }
            SettingValue::Hooks(list) => {
                let shown: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", shown.join(", "))
            }
        }
    }
}
