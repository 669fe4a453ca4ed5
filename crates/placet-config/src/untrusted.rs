//! What a project's file may set. Anybody may have written it, so what is not listed here waits for the person's trust.

use super::settings::SettingKey;
use super::value::SettingValue;

/// Which value of a setting is the stricter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StricterValue {
    /// The smaller number.
    Smaller,
    /// The smaller number; 0 is no limit.
    SmallerLimit,
    /// The word that is earlier in the setting's list.
    EarlierWord,
    /// The longer list: layers only add to it, and none removes what another one protects. Of hooks, placet adds those
    /// that deny or ask.
    LongerList,
}

/// Everything that a project's file may set before the person trusts it, and only in the stricter direction. Nothing of
/// the display is here, because the person decides by what is shown.
const TIGHTENED: &[(&str, StricterValue)] = &[
    ("mode", StricterValue::EarlierWord),
    ("max_turns", StricterValue::SmallerLimit),
    ("max_repeats", StricterValue::SmallerLimit),
    ("permission.ask", StricterValue::LongerList),
    ("permission.deny", StricterValue::LongerList),
    ("permission.protected", StricterValue::LongerList),
    ("hooks", StricterValue::LongerList),
    ("classification.default", StricterValue::EarlierWord),
    ("classification.network_ceiling", StricterValue::EarlierWord),
    ("classification.provider_ceiling", StricterValue::EarlierWord),
    ("brake.files", StricterValue::Smaller),
    ("brake.bytes", StricterValue::Smaller),
    ("sandbox.mask", StricterValue::LongerList),
    ("dialects.triggerfish.denied", StricterValue::LongerList),
];

/// The table that no project may set: what a program of `placet run` keeps, and where it connects to.
const PERSONAL: &str = "run.presets.";

/// What a project's file needs to set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustRequirement {
    /// Accepted without trust if it makes the session stricter.
    Tightens,
    /// Not accepted before the person trusts the file.
    Needed,
    /// Not accepted even after that.
    Never,
}

impl SettingKey {
    pub fn trust(&self) -> TrustRequirement {
        match self.stricter_value() {
            Some(_) => TrustRequirement::Tightens,
            None if self.name.starts_with(PERSONAL) => TrustRequirement::Never,
            None => TrustRequirement::Needed,
        }
    }

    fn stricter_value(&self) -> Option<StricterValue> {
        TIGHTENED.iter().find(|(name, _)| *name == self.name).map(|(_, stricter)| *stricter)
    }

    /// True for a list to which layers only add.
    pub(crate) fn only_grows(&self) -> bool {
        self.stricter_value() == Some(StricterValue::LongerList)
    }

    /// Whether `new` makes a session stricter than `now` does. A longer list is always accepted: it only grows.
    pub(crate) fn is_tightened_by(&self, new: &SettingValue, now: Option<&SettingValue>) -> bool {
        match (self.stricter_value(), new, now) {
            (Some(StricterValue::LongerList), ..) => true,
            (Some(StricterValue::Smaller), SettingValue::Number(new), Some(SettingValue::Number(now))) => {
                new < now
            }
            (
                Some(StricterValue::SmallerLimit),
                SettingValue::Number(new),
                Some(SettingValue::Number(now)),
            ) => *new != 0 && (*now == 0 || new < now),
            (Some(StricterValue::EarlierWord), SettingValue::Text(new), Some(SettingValue::Text(now))) => {
                let rank = |word: &String| self.kind.words().iter().position(|w| w == word);
                rank(new) < rank(now)
            }
            _ => false,
        }
    }
}
