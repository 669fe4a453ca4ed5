//! Where keys are found: the environment, or a file that only its owner can read.

use super::AppError;
use crate::provider::{ApiKey, ApiKeySource, ProviderPreset};
use crate::text::regular_file;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The first provider, in the order of the presets, whose key is set.
pub(super) fn first_in_environment() -> Option<String> {
    ProviderPreset::all().iter().find(|p| from_environment(&p.key_variable).is_some()).map(|p| p.name.clone())
}

/// The same for the keys that were stored with `config init --key`. A file that cannot be used gives no provider.
pub(super) fn first_in_file(path: &Path) -> Option<String> {
    let has = |name: &str| matches!(from_file(path, name), Ok(Some(_)));
    ProviderPreset::all().iter().find(|p| has(&p.name)).map(|p| p.name.clone())
}

pub(super) fn from_environment(variable: &str) -> Option<ApiKeySource> {
    let value = std::env::var(variable).ok().filter(|v| !v.trim().is_empty())?;
    Some(ApiKeySource::Value(ApiKey::new(&value)))
}

/// The key of `provider` in the key file; a file that others can read is refused rather than used.
pub(super) fn from_file(path: &Path, provider: &str) -> Result<Option<ApiKeySource>, AppError> {
    let Ok(meta) = fs::metadata(path) else { return Ok(None) };
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(AppError::KeyFile { path: path.into(), mode });
    }
    let bad = |reason: String| AppError::File { path: path.into(), reason };
    let text = regular_file::read_to_string(path, regular_file::SETTINGS).map_err(|e| bad(e.to_string()))?;
    // The parser's own message would quote the line, and with it the key.
    let table: toml::Table = text.parse().map_err(|_| bad("this is not valid TOML".into()))?;
    Ok(table.get(provider).and_then(toml::Value::as_str).map(|key| ApiKeySource::Value(ApiKey::new(key))))
}

/// Stores a key and preserves the others; the file is readable only by its owner from the first moment.
pub fn store(path: &Path, provider: &str, key: &str) -> Result<(), AppError> {
    let bad = |reason: String| AppError::File { path: path.into(), reason };
    let before = match regular_file::read_to_string(path, regular_file::SETTINGS) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(bad(e.to_string())),
    };
    let mut table: toml::Table = before.parse().map_err(|_| bad("this is not valid TOML".into()))?;
    table.insert(provider.into(), toml::Value::String(key.trim().into()));
    let dir = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let temporary = dir.join(".keys.toml.new");
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        // `mode` above applies only to a new file: a file that a crash left still has its old mode.
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.write_all(table.to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|e| bad(e.to_string()))
}
