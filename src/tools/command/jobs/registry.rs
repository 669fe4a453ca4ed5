//! Background commands of this process: which ones there are, and what became of them.
//!
//! A job is a command that was let go on by itself: see [`Job`]. The list is shared by all conversations of a process and
//! their sub-agents. Each end is told twice, once to the model and once to the person, in either order. What
//! is not kept on purpose ends with the process: the supervisors see to that, however it ends.

use super::job::{DetachedCommand, Job};
use crate::conversation::JobEnd;
use crate::tools::ToolError;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Jobs that may run at once, and ended ones whose output is still there.
const AT_ONCE: usize = 16;
const ENDED: usize = 32;
/// How long jobs may take to end when placet leaves.
const LEAVE: Duration = Duration::from_secs(5);

/// A cheap handle; clones share the jobs. The default one has no place for any.
#[derive(Clone, Debug, Default)]
pub struct JobRegistry(Arc<JobTable>);

#[derive(Debug, Default)]
struct JobTable {
    /// Where their output is written.
    dir: Option<PathBuf>,
    list: Mutex<Vec<Arc<Job>>>,
    /// How many there were.
    begun: AtomicU32,
    changed: Notify,
}

impl JobRegistry {
    /// Jobs whose output goes to files below `dir`.
    pub fn at(dir: PathBuf) -> JobRegistry {
        JobRegistry(Arc::new(JobTable { dir: Some(dir), ..JobTable::default() }))
    }

    /// Whether there is a place for jobs at all: a single call has none, it would end with it.
    pub(in crate::tools) fn has_place(&self) -> bool {
        self.0.dir.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.0.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, in the order in which they began.
    pub fn list(&self) -> Vec<Arc<Job>> {
        self.lock().clone()
    }

    pub fn running(&self) -> Vec<Arc<Job>> {
        self.lock().iter().filter(|job| job.is_running()).cloned().collect()
    }

    pub fn find(&self, number: u32) -> Option<Arc<Job>> {
        self.lock().iter().find(|job| job.number == number).cloned()
    }

    /// The number of the next job and the file for its output.
    pub(in crate::tools) fn place(&self) -> Result<(u32, PathBuf), ToolError> {
        let Some(dir) = &self.0.dir else {
            return Err(ToolError::hint(
                "background commands need a session, and there is none here",
                "run it without `background`",
            ));
        };
        let running = self.running();
        if running.len() >= AT_ONCE {
            return Err(ToolError::hint(
                format!("{AT_ONCE} background commands are running, and no more are allowed"),
                "end a job that is not needed: job {\"action\": \"kill\", \"job\": N}",
            ));
        }
        let failed = |e: std::io::Error| ToolError::new(format!("its output cannot be stored: {e}"));
        make_private(dir).map_err(failed)?;
        let number = self.0.begun.fetch_add(1, Ordering::Relaxed) + 1;
        if number == 1 {
            sweep(dir);
        }
        let mut list = self.lock();
        while list.iter().filter(|job| !job.is_running()).count() > ENDED {
            let Some(at) = list.iter().position(|job| !job.is_running()) else { break };
            list.remove(at).forget();
        }
        Ok((number, dir.join(format!("{}-{number}.log", std::process::id()))))
    }

    /// Takes one out that ended before anybody heard of it.
    pub(in crate::tools) fn remove(&self, number: u32) {
        let mut list = self.lock();
        if let Some(at) = list.iter().position(|job| job.number == number) {
            list.remove(at).forget();
        }
    }

    /// Watches over a command from now on, under the number and with the log that [`JobRegistry::place`] gave.
    pub(in crate::tools) fn begin(&self, place: (u32, PathBuf), command: DetachedCommand) -> Arc<Job> {
        let jobs = self.clone();
        let job = Job::begin(place, command, move || jobs.wake());
        self.lock().push(Arc::clone(&job));
        job
    }

    /// The supervisor of a job whose network others may share: it has no way out, as they have none.
    pub(in crate::tools) fn network(&self) -> Option<u32> {
        self.lock().iter().find_map(|job| job.shared_network())
    }

    /// Called when something about a job has changed.
    fn wake(&self) {
        self.0.changed.notify_waiters();
    }

    /// What ended since the model of this view was last told.
    pub fn news_for_model(&self, view: Option<&Path>) -> Vec<JobEnd> {
        let jobs = self.list();
        let news = jobs.iter().filter(|job| job.view.as_deref() == view && job.tell_model_once());
        news.filter_map(|job| job.ended_for_model()).collect()
    }

    /// What ended since the person was last told, a sentence each. What is pending in another view than `view` says so.
    pub fn news_for_person(&self, view: Option<&Path>) -> Vec<String> {
        let jobs = self.list();
        let news = jobs.iter().filter(|job| job.tell_person_once());
        news.filter_map(|job| job.ended_for_person(view)).collect()
    }

    /// Waits until something has ended that the person was not told of.
    pub async fn next_for_person(&self, view: Option<&Path>) -> Vec<String> {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            // What ends from here on is heard, whenever it is waited for.
            changed.as_mut().enable();
            let news = self.news_for_person(view);
            if !news.is_empty() {
                return news;
            }
            changed.await;
        }
    }

    /// Ends what runs and is not to stay, and waits for that. What the person should know: a line for each.
    pub async fn stop_all(&self) -> Vec<String> {
        let mut told = Vec::new();
        for job in self.running() {
            match job.stays() {
                Some(pid) => told.push(format!(
                    "job {} continues: {} · its output is in {} · kill {pid} ends it",
                    job.number,
                    job.shown_line(),
                    job.log().display()
                )),
                None => {
                    job.stop();
                    told.push(format!("job {} ended with placet: {}", job.number, job.shown_line()));
                }
            }
        }
        let ending = async {
            for job in self.list().into_iter().filter(|job| job.stays().is_none()) {
                job.ended().await;
            }
        };
        drop(tokio::time::timeout(LEAVE, ending).await);
        for job in self.list().into_iter().filter(|job| job.stays().is_none() || !job.is_running()) {
            job.forget();
        }
        told
    }
}

fn make_private(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// Removes what processes left that are gone; jobs that stay have files under another name, which go after a week.
fn sweep(dir: &Path) {
    const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = |name: &str| name.split(['-', '.']).next()?.parse::<i32>().ok();
        let (number, stays) = match name.strip_prefix("stays-") {
            Some(rest) => (pid(rest), true),
            None => (pid(&name), false),
        };
        let alive = number.is_some_and(crate::process::is_running);
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        let old = age.is_some_and(|age| age > KEPT);
        if !alive && (old || !stays) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}
