//! An error in the settings: what is wrong, where, and the likely correction.

use super::origin::SettingOrigin;
use std::fmt;
use std::path::PathBuf;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file and the position in it, from 1; `None` for a flag or a variable, whose name is in `message`.
    pub place: Option<(PathBuf, usize, usize)>,
    pub message: String,
    pub hint: Option<String>,
    /// True if a permission could not be parsed, and so the stricter interpretation must apply.
    pub permission: bool,
}

impl ConfigProblem {
    /// A permission that cannot be used, reported by its origin.
    pub fn of_value(origin: &SettingOrigin, message: String) -> ConfigProblem {
        let hint = Some("until it is fixed, calls that would be allowed ask".to_string());
        let (place, message) = match origin {
            SettingOrigin::User { path, line } | SettingOrigin::Project { path, line } => {
                (Some((path.clone(), *line, 1)), message)
            }
            other => (None, format!("{other}: {message}")),
        };
        ConfigProblem { place, message, hint, permission: true }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((path, line, column)) = &self.place {
            write!(f, "{}:{line}:{column}: ", path.display())?;
        }
        f.write_str(&self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}
