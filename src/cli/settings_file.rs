//! The person's own settings file, as subcommands read and replace it.

use super::report::CliError;
use crate::private;
use crate::text::regular_file;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The text of the file; empty where there is none.
pub(super) fn read(path: &Path) -> Result<String, CliError> {
    match regular_file::read_to_string(path, regular_file::SETTINGS) {
        Ok(text) => Ok(text),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(CliError::new(format!("cannot read `{}`: {e}", path.display()))),
    }
}

/// A file that cannot be understood is not edited.
pub(super) fn not_toml(path: &Path, why: &str) -> CliError {
    CliError::new(format!("`{}` is not valid TOML: {why}", path.display()))
        .hint("fix the file first; nothing was changed")
}

/// Puts `text` in the place of the file, or leaves it as it was. A link stays a link.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |e: std::io::Error| CliError::new(format!("cannot write `{}`: {e}", path.display()));
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let dir = target.parent().unwrap_or(Path::new("."));
    private::make_dir(dir).and_then(|()| private::write(&target, text.as_bytes())).map_err(failed)
}
