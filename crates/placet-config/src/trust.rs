//! Trust in a project's file: given once by the person, bound to the file's content.

use super::layer::SettingsLayer;
use super::mcp_file;
use super::problem::ConfigProblem;
use placet_text::text::regular_file;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The largest settings file that is read, in bytes: a project's file comes from anyone.
const LARGEST: u64 = 4 << 20;

/// A project's settings file, parsed and checked, and whether the person trusts it.
#[derive(Clone, Debug)]
pub struct ProjectSettings {
    pub path: PathBuf,
    /// The text that was read and hashed: the text that the person is shown is the text that applies.
    pub text: String,
    pub hash: String,
    pub layer: SettingsLayer,
    pub trusted: bool,
}

impl ProjectSettings {
    /// Reads the file once; its hash, its layer and the shown text come from the same bytes.
    pub fn read(path: &Path, trust: &TrustStore) -> io::Result<ProjectSettings> {
        let text = regular_file::read_to_string(path, LARGEST)?;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let trusted = trust.trusts(path, &hash);
        Ok(ProjectSettings {
            layer: SettingsLayer::project_file(path, &text),
            path: path.into(),
            text,
            hash,
            trusted,
        })
    }

    /// The same for a project's `.mcp.json`.
    pub fn read_mcp(path: &Path, trust: &TrustStore) -> io::Result<ProjectSettings> {
        let text = regular_file::read_to_string(path, LARGEST)?;
        let hash = blake3::hash(text.as_bytes()).to_hex().to_string();
        let trusted = trust.trusts(path, &hash);
        Ok(ProjectSettings { layer: mcp_file::layer(path, &text), path: path.into(), text, hash, trusted })
    }

    /// An empty file at `path`, for tests and defaults.
    pub fn none(path: &Path) -> ProjectSettings {
        ProjectSettings {
            path: path.into(),
            text: String::new(),
            hash: String::new(),
            layer: SettingsLayer::default(),
            trusted: false,
        }
    }
}

/// The files that the person trusts, in a file of placet's own.
#[derive(Debug)]
pub struct TrustStore {
    path: PathBuf,
    trusted: BTreeMap<String, String>,
}

impl TrustStore {
    /// A store that cannot be read trusts nothing.
    pub fn open(path: &Path) -> TrustStore {
        let trusted = regular_file::read(path, LARGEST)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        TrustStore { path: path.into(), trusted }
    }

    /// True if exactly this content was trusted at this path.
    pub fn trusts(&self, path: &Path, hash: &str) -> bool {
        self.trusted.get(&path.to_string_lossy().into_owned()).is_some_and(|known| known == hash)
    }

    /// Records the trust; the file is written whole or not at all.
    pub fn trust(&mut self, path: &Path, hash: &str) -> io::Result<()> {
        self.trusted.insert(path.to_string_lossy().into_owned(), hash.into());
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(serde_json::to_string_pretty(&self.trusted)?.as_bytes())?;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|e| e.error)?;
        Ok(())
    }
}

/// A project's settings file as placet proposes it to the person. The yes to the change is trust in it, where nothing else
/// is in the file that the person did not trust before.
#[derive(Clone, Debug)]
pub struct ProposedSettings {
    path: PathBuf,
    text: String,
    was_trusted: bool,
}

impl ProposedSettings {
    /// `text` is the whole file after the change, `trust_file` is placet's own.
    ///
    /// # Errors
    ///
    /// Fails where the settings would not be valid.
    pub fn new(path: &Path, text: String, trust_file: &Path) -> Result<ProposedSettings, ConfigProblem> {
        if let Some(problem) = SettingsLayer::project_file(path, &text).problems.into_iter().next() {
            return Err(problem);
        }
        let was_trusted = match ProjectSettings::read(path, &TrustStore::open(trust_file)) {
            Ok(now) => now.trusted || now.text.is_empty(),
            Err(e) => e.kind() == io::ErrorKind::NotFound,
        };
        Ok(ProposedSettings { path: path.into(), text, was_trusted })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The whole file as it was proposed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Trusts the file if it is exactly as proposed now, and returns whether it is.
    pub fn accept(&self, trust_file: &Path) -> io::Result<bool> {
        let mut store = TrustStore::open(trust_file);
        let is_applied = |now: &ProjectSettings| self.was_trusted && now.text == self.text;
        match ProjectSettings::read(&self.path, &store).ok().filter(is_applied) {
            Some(now) => store.trust(&now.path, &now.hash).map(|()| true),
            None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_to_a_proposal_trusts_exactly_that_file_and_nothing_that_was_there_untrusted() {
        let dir = tempfile::TempDir::new().unwrap();
        let (file, store) = (dir.path().join("config.toml"), dir.path().join("state/trust.json"));
        let proposed = ProposedSettings::new(&file, "mode = \"ask\"\n".into(), &store).unwrap();
        assert!(!proposed.accept(&store).unwrap(), "it is not applied");
        fs::write(&file, "mode = \"write\"\n").unwrap();
        assert!(!proposed.accept(&store).unwrap(), "something else is there");
        fs::write(&file, "mode = \"ask\"\n").unwrap();
        assert!(proposed.accept(&store).unwrap());
        let trusts = || ProjectSettings::read(&file, &TrustStore::open(&store)).unwrap().trusted;
        assert!(trusts());
        let (unseen, more) = ("mode = \"write\"\n", "mode = \"write\"\nui.theme = \"dark\"\n");
        fs::write(&file, unseen).unwrap();
        let proposed = ProposedSettings::new(&file, more.into(), &store).unwrap();
        fs::write(&file, more).unwrap();
        assert!(!proposed.accept(&store).unwrap() && !trusts(), "nobody saw the mode");
        assert!(ProposedSettings::new(&file, "mode = 1\n".into(), &store).is_err());
    }

    #[test]
    fn one_changed_byte_ends_the_trust() {
        let dir = tempfile::TempDir::new().unwrap();
        let file = dir.path().join("config.toml");
        let store = dir.path().join("state/trust.json");
        fs::write(&file, "mode = \"write\"").unwrap();
        let project = ProjectSettings::read(&file, &TrustStore::open(&store)).unwrap();
        assert!(!project.trusted);
        TrustStore::open(&store).trust(&project.path, &project.hash).unwrap();
        assert!(ProjectSettings::read(&file, &TrustStore::open(&store)).unwrap().trusted);
        fs::write(&file, "mode = \"write\" ").unwrap();
        assert!(!ProjectSettings::read(&file, &TrustStore::open(&store)).unwrap().trusted);
    }
}
