//! A repository that the agent made: it is made again by `git init` next to its place, filled like any other, and moved
//! into place as a whole. So it has no file that was not transferred.

use crate::apply::{ApplyPlace, prepare};
use crate::clean_directory::format_of;
use crate::config_keys::{ConfigSetting, config_settings};
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::group::{ApprovedGroups, WaitingGroup};
use crate::limit;
use crate::object_id::ObjectFormat;
use crate::question::{QuestionSides, RepositoryQuestion};
use crate::runner::{GitCall, GitRunner, PlainRunner, run_one};
use crate::source::{PlainSource, RepositorySource};
use crate::state::{RefStorage, RepositoryFormat, RepositoryState};
use std::fs;
use std::path::{Path, PathBuf};

/// A repository that is new, compared with an empty one.
#[derive(Debug)]
pub struct NewRepository {
    /// `None` if it has no commit, no index and no file that waits.
    pub question: Option<RepositoryQuestion>,
    /// Settings that are written.
    pub settings: Vec<ConfigSetting>,
    /// Settings that wait with the file `config`.
    pub waiting_settings: Vec<ConfigSetting>,
    format: RepositoryFormat,
    empty: PathBuf,
}

impl NewRepository {
    /// Reads a new repository. `scratch` does not exist yet and stays until the decision.
    pub fn read(
        agent: &dyn RepositorySource,
        scratch: &Path,
        runner: &dyn GitRunner,
    ) -> Result<NewRepository> {
        fs::create_dir_all(scratch).map_err(GitError::io("create", scratch))?;
        let config =
            agent.read(Path::new("config"), limit::GIT_FILE)?.map(|file| file.bytes).unwrap_or_default();
        let settings = config_settings(&config, &scratch.join("config"), runner)?;
        let format = format_of(agent, scratch, runner)?;
        if format.promisor.is_some() {
            return Err(GitError::Unsupported("a new partial clone".into()));
        }
        let empty = scratch.join("empty");
        init(&empty, &format)?;
        // A new shallow clone has its boundaries from the beginning.
        if let Some(shallow) = agent.read(Path::new("shallow"), limit::TABLE)? {
            let file = empty.join("shallow");
            fs::write(&file, shallow.bytes).map_err(GitError::io("write", &file))?;
        }
        let source = PlainSource::new(&empty);
        let base = RepositoryState::read(&source, &scratch.join("base"), runner)?;
        let sides = QuestionSides { base: &base, person: &source, agent };
        let mut question = RepositoryQuestion::read(sides, &scratch.join("question"), runner)?;
        let (settings, waiting_settings): (Vec<_>, Vec<_>) =
            settings.into_iter().partition(ConfigSetting::is_harmless);
        let config_file = GitName::from("config");
        if let Some(question) = question.as_mut().filter(|_| waiting_settings.is_empty()) {
            question.comparison.moved.files.remove(&config_file);
            question.groups.remove(&WaitingGroup::File(config_file));
        }
        Ok(NewRepository { question, settings, waiting_settings, format, empty })
    }

    /// Makes the repository at `staged`, where nothing is, for a caller that moves it into place.
    pub fn make(&self, staged: &Path, approved: &ApprovedGroups, place: ApplyPlace<'_>) -> Result<()> {
        init(staged, &self.format)?;
        let shallow = self.empty.join("shallow");
        if shallow.exists() {
            fs::copy(&shallow, staged.join("shallow")).map_err(GitError::io("write", staged))?;
        }
        let place = ApplyPlace { git_dir: staged, ..place };
        let has_whole_file = approved.contains(&WaitingGroup::File(GitName::from("config")));
        if !has_whole_file || self.waiting_settings.is_empty() {
            write_settings(staged, &self.settings)?;
        }
        let Some(question) = &self.question else { return Ok(()) };
        let mut change = question.comparison.selected(approved)?;
        // The file that was compared is the one of `git init`, which the settings have changed.
        let config = change.files.remove(&GitName::from("config"));
        prepare(question, &change, place)?.commit(place)?;
        if let Some(content) = config.and_then(|moved| moved.after) {
            let file = staged.join("config");
            fs::write(&file, content.bytes().unwrap_or_default()).map_err(GitError::io("write", &file))?;
        }
        Ok(())
    }
}

/// A bare repository without templates: hooks and examples of this machine are not the agent's.
fn init(path: &Path, format: &RepositoryFormat) -> Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent).map_err(GitError::io("create", parent))?;
    let objects = format!("--object-format={}", format.objects.name());
    let mut args = vec!["init", "-q", "--bare", "--template=", "-b", "main"];
    args.extend((format.objects != ObjectFormat::Sha1).then_some(objects.as_str()));
    args.extend((format.refs == RefStorage::Reftable).then_some("--ref-format=reftable"));
    run_one(&PlainRunner, GitCall::new(path, args).directory(parent)).map(|_| ())
}

fn write_settings(git_dir: &Path, settings: &[ConfigSetting]) -> Result<()> {
    for setting in settings.iter().filter(|setting| !setting.key.starts_with("extensions.")) {
        let is_format = setting.key.as_bytes() == b"core.repositoryformatversion";
        if is_format {
            continue;
        }
        let replace = if setting.key.starts_with("core.") { "--replace-all" } else { "--add" };
        let mut call = GitCall::new(git_dir, ["config", "-f"]);
        call.args.extend([git_dir.join("config").into(), replace.into()]);
        call.args.extend([setting.key.as_os_str().into(), setting.value.as_os_str().into()]);
        run_one(&PlainRunner, call)?;
    }
    Ok(())
}
