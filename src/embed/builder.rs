//! Starting a session: settings from files, from code, or both.

use super::Error;
use super::apply::PROGRAM;
use super::session::{Session, SessionFacts};
use super::supervisor;
use super::worker::SessionWorker;
use crate::app::{self, App, IncludeProject, LaunchOptions};
use crate::config::{AppDirs, Config, NoHomeError, SettingsLayer, SettingsSources};
use crate::permission::Mode;
use crate::session::{OpenSession, SessionStore};
use crate::text::sanitize;
use std::path::PathBuf;

/// Settings for a session. [`SessionBuilder::start`] starts it.
///
/// What is set here counts more than the settings files and the environment. Rules and lists of all sources count
/// together.
#[derive(Clone, Debug)]
pub struct SessionBuilder {
    dir: PathBuf,
    more_dirs: Vec<PathBuf>,
    home: Option<PathBuf>,
    read_files: bool,
    given: Vec<(String, String)>,
    allow: Vec<String>,
    deny: Vec<String>,
    runner: CommandRunner,
    storage: SessionStorage,
    title: Option<String>,
}

/// Who supervises the commands and the hooks of a session.
///
/// Each command runs below a supervisor process, which sets up the sandbox and ends everything that the command
/// started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandRunner {
    /// This program itself, which calls [`supervisor_main`](crate::supervisor_main) first in its `main`.
    #[default]
    ThisProgram,
    /// The program `placet` at this path. It must have the version of this library.
    Placet(PathBuf),
    /// Nobody: a rule denies every command. A session with hooks does not start.
    Nobody,
}

/// Where the conversation is.
#[derive(Clone, Debug, Default)]
enum SessionStorage {
    #[default]
    New,
    Resumed(String),
    Memory,
}

impl Session {
    /// Settings for a session in `dir`, which must be a directory. Nothing is read or started before
    /// [`SessionBuilder::start`].
    pub fn builder(dir: impl Into<PathBuf>) -> SessionBuilder {
        SessionBuilder::new(dir.into())
    }
}

impl SessionBuilder {
    fn new(dir: PathBuf) -> SessionBuilder {
        SessionBuilder {
            dir,
            more_dirs: Vec::new(),
            home: None,
            read_files: true,
            given: Vec::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            runner: CommandRunner::default(),
            storage: SessionStorage::default(),
            title: None,
        }
    }

    /// Another directory that belongs to the workspace.
    #[must_use]
    pub fn add_dir(mut self, dir: impl Into<PathBuf>) -> SessionBuilder {
        self.more_dirs.push(dir.into());
        self
    }

    /// Where placet's own files are: settings, keys, sessions, the journal and the stored contents. Without this call
    /// they are where `placet` has them (the XDG directories), so that `placet changes` and `placet undo` see this
    /// session.
    #[must_use]
    pub fn home(mut self, dir: impl Into<PathBuf>) -> SessionBuilder {
        self.home = Some(dir.into());
        self
    }

    /// Reads no settings file and no `PLACET_` variable: only what is set here counts. Keys of providers are still read
    /// from the environment and from the key file.
    #[must_use]
    pub fn without_settings_files(mut self) -> SessionBuilder {
        self.read_files = false;
        self
    }

    /// A setting by its name in the settings file, as text: `("max_turns", "20")`. The reference page of the guide
    /// lists them.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> SessionBuilder {
        self.given.push((name.into(), value.into()));
        self
    }

    /// The mode. Without one, that of the settings; the default is read mode, which discards all changes.
    #[must_use]
    pub fn mode(self, mode: Mode) -> SessionBuilder {
        self.set("mode", mode.name())
    }

    /// Who answers: a built-in provider, or one of the settings. `offline` is the built-in provider without a model and
    /// without a network. Without a name, placet chooses as the program does: by the settings, then by the first key
    /// that it finds, then `offline`.
    #[must_use]
    pub fn provider(self, name: &str) -> SessionBuilder {
        self.set("provider", name)
    }

    /// The model. Without one, the provider's default.
    #[must_use]
    pub fn model(self, name: &str) -> SessionBuilder {
        self.set("model", name)
    }

    /// A rule that allows calls, such as `run(cargo test *)`. Rules that deny or ask win over it.
    #[must_use]
    pub fn allow(mut self, rule: &str) -> SessionBuilder {
        self.allow.push(rule.into());
        self
    }

    /// A rule that denies calls, such as `read(secrets/**)`. It wins over every other rule and every answer.
    #[must_use]
    pub fn deny(mut self, rule: &str) -> SessionBuilder {
        self.deny.push(rule.into());
        self
    }

    /// Who supervises commands and hooks.
    #[must_use]
    pub fn commands(mut self, runner: CommandRunner) -> SessionBuilder {
        self.runner = runner;
        self
    }

    /// Resumes the stored session of this ID, or of the only ID that begins so.
    #[must_use]
    pub fn resume(mut self, id: &str) -> SessionBuilder {
        self.storage = SessionStorage::Resumed(id.into());
        self
    }

    /// Stores no conversation. Pending changes and the journal are stored in any case.
    #[must_use]
    pub fn in_memory(mut self) -> SessionBuilder {
        self.storage = SessionStorage::Memory;
        self
    }

    /// The title in lists of sessions. Without one, the beginning of the first message.
    #[must_use]
    pub fn title(mut self, title: &str) -> SessionBuilder {
        self.title = Some(title.into());
        self
    }

    /// Starts the session. No connection is opened and no command runs before the first message.
    ///
    /// An apply of an earlier program that was interrupted in this directory is completed or rolled back first.
    ///
    /// # Errors
    ///
    /// [`Error::Setting`], [`Error::NoSupervisor`] and [`Error::Start`]. Mistakes in settings files are warnings, as in
    /// the program: see [`Session::warnings`].
    pub fn start(self) -> Result<Session, Error> {
        let supervisor = self.supervisor()?;
        let (config, paths) = self.config()?;
        if self.runner == CommandRunner::Nobody && !config.settings().guard.hooks.is_empty() {
            return Err(Error::NoSupervisor);
        }
        let mut warnings = Vec::new();
        if !config.untrusted.is_empty() {
            warnings.push(format!("the project is not trusted; ignored: {}", config.untrusted.join(", ")));
        }
        let launch = LaunchOptions {
            cwd: self.dir.clone(),
            add_dirs: self.more_dirs.clone(),
            supervisor,
            ..LaunchOptions::default()
        };
        let app = App::new(config, paths, launch)?;
        match app.recover() {
            None => {}
            Some(Ok(recovered)) => warnings.push(recovered.words()),
            Some(Err(e)) => {
                warnings.push(format!("an apply that was interrupted cannot be completed: {e}"));
            }
        }
        warnings.extend(crate::serve::changes::damage_line(&app.damage_at_start()));
        warnings.extend(app.config.problems.iter().map(ToString::to_string));
        let answerer = app.answerer(None, None)?;
        warnings.extend(answerer.note.clone());
        let (open, store) = self.open(&app, &mut warnings)?;
        let mut agent = app.agent(answerer, open)?;
        if let (SessionStorage::Resumed(_), Some(open), Some(store)) =
            (&self.storage, agent.session(), store.as_ref())
        {
            let loaded = store.load_for_resume(open.id())?;
            warnings.extend(agent.resume(loaded)?);
        }
        // This session is open now and cannot be among the removed sessions.
        warnings.extend(store.and_then(|store| app.prune_daily(&store)));
        let facts = SessionFacts {
            id: agent.session().map(|open| open.id().to_string()),
            provider: agent.provider_name().into(),
            model: agent.model().name.clone(),
            // Texts of settings files may be in them.
            warnings: warnings.iter().map(|warning| sanitize::block(warning).into_owned()).collect(),
        };
        let is_new = matches!(self.storage, SessionStorage::New) && self.title.is_none();
        Ok(Session::new(SessionWorker::start(app, agent, !is_new)?, facts))
    }

    /// The program that supervises commands; `None` is this one.
    fn supervisor(&self) -> Result<Option<PathBuf>, Error> {
        match &self.runner {
            CommandRunner::ThisProgram if supervisor::is_this_program() => Ok(None),
            CommandRunner::ThisProgram => Err(Error::NoSupervisor),
            CommandRunner::Placet(path) => Ok(Some(path.clone())),
            // If a command were to run against the rule, it must not be this program that is started for it.
            CommandRunner::Nobody => Ok(Some(PathBuf::from("/dev/null/no-supervisor"))),
        }
    }

    fn config(&self) -> Result<(Config, AppDirs), Error> {
        let paths = match &self.home {
            None => AppDirs::from_variables(|name| std::env::var(name).ok())
                .map_err(|e| Error::Start { source: Box::new(e), hint: Some(NoHomeError::HINT.into()) })?,
            Some(home) => AppDirs {
                config: home.join("config"),
                state: home.join("state"),
                data: home.join("data"),
                cache: home.join("cache"),
                audit_guards: home.join("config"),
                is_state_elsewhere: false,
            },
        };
        let mut sources = match self.read_files {
            true => app::sources(&paths, &self.dir, IncludeProject::Yes).0,
            false => SettingsSources::default(),
        };
        sources.flags = self.flags();
        if let Some(problem) = sources.flags.problems.first() {
            return Err(Error::Setting { message: problem.message.clone(), hint: problem.hint.clone() });
        }
        Ok((Config::merge(sources), paths))
    }

    fn flags(&self) -> SettingsLayer {
        let mut flags = SettingsLayer::default();
        for (name, value) in &self.given {
            flags.assign(name, value, PROGRAM, PROGRAM);
        }
        let mut deny = self.deny.clone();
        if self.runner == CommandRunner::Nobody {
            deny.push("run".into());
        }
        flags.flag_list("permission.allow", &self.allow, PROGRAM);
        flags.flag_list("permission.deny", &deny, PROGRAM);
        flags
    }

    fn open(
        &self,
        app: &App,
        warnings: &mut Vec<String>,
    ) -> Result<(Option<OpenSession>, Option<SessionStore>), Error> {
        if matches!(self.storage, SessionStorage::Memory) {
            return Ok((None, None));
        }
        let (store, notes) = app.store()?;
        warnings.extend(notes);
        let open = match &self.storage {
            SessionStorage::Resumed(prefix) => store.resume(&store.find(prefix)?.id)?,
            _ => store.create(app.cwd(), self.title.as_deref().unwrap_or("embedded session"))?,
        };
        Ok((Some(open), Some(store)))
    }
}
