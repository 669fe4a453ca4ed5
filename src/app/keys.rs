//! Where keys are found: the environment, or a file that only its owner can read.

use super::AppError;
use crate::config::TomlText;
use crate::private;
use crate::provider::{ApiKey, ApiKeySource, ProviderPreset};
use crate::text::regular_file;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The first provider, in the order of the presets, whose key is set.
pub(super) fn first_in_environment() -> Option<String> {
    ProviderPreset::all().iter().find(|p| from_environment(&p.key_variable).is_some()).map(|p| p.name.clone())
}

/// The same for the keys that were stored with `config init --key`. A file that cannot be used gives no provider.
pub(super) fn first_in_file(path: &Path) -> Option<String> {
    let table = stored(path).ok()??;
    ProviderPreset::all().iter().find(|p| key_in(&table, &p.name).is_some()).map(|p| p.name.clone())
}

pub(super) fn from_environment(variable: &str) -> Option<ApiKeySource> {
    let value = std::env::var(variable).ok().filter(|v| !v.trim().is_empty())?;
    Some(ApiKeySource::Value(ApiKey::new(&value)))
}

/// The key of `provider` in the key file.
pub(super) fn from_file(path: &Path, provider: &str) -> Result<Option<ApiKeySource>, AppError> {
    let key = stored(path)?.as_ref().and_then(|table| key_in(table, provider).map(ApiKey::new));
    Ok(key.map(ApiKeySource::Value))
}

fn key_in<'t>(table: &'t toml::Table, provider: &str) -> Option<&'t str> {
    table.get(provider).and_then(toml::Value::as_str)
}

/// What the key file has; a file that others can read is refused rather than used.
fn stored(path: &Path) -> Result<Option<toml::Table>, AppError> {
    let Ok(meta) = fs::metadata(path) else { return Ok(None) };
    let mode = meta.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(AppError::KeyFile { path: path.into(), mode });
    }
    let bad = |reason: String| AppError::File { path: path.into(), reason };
    let text = regular_file::read_to_string(path, regular_file::SETTINGS).map_err(|e| bad(e.to_string()))?;
    // The parser's own message would quote the line, and with it the key.
    text.parse().map(Some).map_err(|_| bad("this is not valid TOML".into()))
}

/// Stores a key, and leaves the rest of the file unchanged. The file is readable only by its owner from the first
/// moment, and is replaced in one step. A link is refused: others may be able to read its target.
pub fn store(path: &Path, provider: &str, key: &ApiKey) -> Result<(), AppError> {
    let bad = |reason: String| AppError::File { path: path.into(), reason };
    if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
        return Err(AppError::KeyFileLink(path.into()));
    }
    let before = match regular_file::read_to_string(path, regular_file::SETTINGS) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(bad(e.to_string())),
    };
    // The parser's own message would quote the line, and with it a key.
    let mut text = TomlText::parse(&before).map_err(|_| bad("this is not valid TOML".into()))?;
    if !text.set(&[provider], key.expose(), "") {
        return Err(bad(format!("`{provider}` is not a text")));
    }
    let dir = path.parent().unwrap_or(Path::new("."));
    private::make_dir(dir)
        .and_then(|()| private::write(path, text.text().as_bytes()))
        .map_err(|e| bad(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_stored_for_its_owner_alone_and_the_rest_of_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/keys.toml");
        store(&path, "a", &ApiKey::new("key-1\n")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "a = \"key-1\"\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::write(&path, "# mine\na = \"old\" # work\nllama = \"l\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        store(&path, "a.b", &ApiKey::new("k")).unwrap();
        store(&path, "a", &ApiKey::new("new")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "# mine\na = \"new\" # work\nllama = \"l\"\n\"a.b\" = \"k\"\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_link_and_a_file_that_is_no_toml_are_refused_and_not_quoted() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("shared"), dir.path().join("keys.toml"));
        fs::write(&file, "a = sk-secret").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let key = ApiKey::new("k");
        assert!(matches!(store(&link, "a", &key), Err(AppError::KeyFileLink(_))));
        let error = store(&file, "a", &key).unwrap_err().to_string();
        assert!(error.contains("not valid TOML") && !error.contains("sk-secret"), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "a = sk-secret");
    }
}
