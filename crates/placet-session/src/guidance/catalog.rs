//! What a conversation and a prompt ask for: skills and commands, read at the first question and again when the answer
//! is old.

use super::command_file::CommandCatalog;
use super::places::{GuidancePlaces, repository_root};
use super::skill::SkillCatalog;
use placet_config::TrustStore;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An answer that is older is read again: a person writes a skill and wants to try it.
const FRESH: Duration = Duration::from_secs(2);

type Readable = Box<dyn Fn(&Path) -> bool + Send + Sync>;

/// See the module. One value for the whole program.
pub struct Guidance {
    places: GuidancePlaces,
    may_read: Readable,
    state: Mutex<LoadedGuidance>,
}

#[derive(Default)]
struct LoadedGuidance {
    skills: Option<(Instant, Arc<SkillCatalog>)>,
    commands: Option<(Instant, Arc<CommandCatalog>)>,
}

/// Without any directory, for surroundings that have no person and no project.
impl Default for Guidance {
    fn default() -> Guidance {
        Guidance::new(GuidancePlaces::default(), Box::new(|_| true))
    }
}

impl Guidance {
    /// Reads nothing. `may_read` is asked for each file of a project and of the person.
    pub fn new(places: GuidancePlaces, may_read: Readable) -> Guidance {
        Guidance { places, may_read, state: Mutex::default() }
    }

    pub fn places(&self) -> &GuidancePlaces {
        &self.places
    }

    /// The root of the repository in which the person works, or the working directory.
    pub fn root(&self) -> &Path {
        repository_root(&self.places.cwd)
    }

    fn state(&self) -> MutexGuard<'_, LoadedGuidance> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trusts(&self) -> impl Fn(&Path, &str) -> bool + use<> {
        let store = TrustStore::open(&self.places.trust);
        move |path, hash| store.trusts(path, hash)
    }

    pub fn skills(&self) -> Arc<SkillCatalog> {
        if let Some((at, known)) = &self.state().skills
            && at.elapsed() < FRESH
        {
            return Arc::clone(known);
        }
        let read = SkillCatalog::read(&self.places.skills(), &self.may_read, &self.trusts());
        let read = Arc::new(read);
        self.state().skills = Some((Instant::now(), Arc::clone(&read)));
        read
    }

    pub fn commands(&self) -> Arc<CommandCatalog> {
        if let Some((at, known)) = &self.state().commands
            && at.elapsed() < FRESH
        {
            return Arc::clone(known);
        }
        let read = CommandCatalog::read(&self.places.commands(), &self.may_read, &self.trusts());
        let read = Arc::new(read);
        self.state().commands = Some((Instant::now(), Arc::clone(&read)));
        read
    }

    /// The person trusts these files, each with the hash of the text that was shown.
    pub fn trust<'f>(&self, files: impl IntoIterator<Item = (&'f Path, &'f str)>) -> io::Result<()> {
        let mut store = TrustStore::open(&self.places.trust);
        for (path, hash) in files {
            store.trust(path, hash)?;
        }
        *self.state() = LoadedGuidance::default();
        Ok(())
    }
}
