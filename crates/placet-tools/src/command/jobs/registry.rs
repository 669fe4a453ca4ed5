//! The background commands of this process: which jobs exist, and how they ended.
//!
//! A job is a command that continues in the background: see [`Job`]. All conversations of a process and their
//! sub-agents share the list. Each end is reported twice, once to the model and once to the person, in either order. A
//! job ends with the process unless somebody asked to leave it running: the supervisors ensure this, however the
//! process ends.

use super::foreground::{ForegroundCall, ForegroundList, ForegroundPlace};
use super::job::{DetachedCommand, Job};
use crate::ToolError;
use placet_text::conversation::{CallId, JobEnd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};

/// How many jobs may run at once, and how many ended jobs still have their output.
const AT_ONCE: usize = 16;
const ENDED: usize = 32;
/// How long jobs may take to end when placet exits.
const LEAVE: Duration = Duration::from_secs(5);

/// A cheap handle; clones share the jobs. The default registry accepts no jobs.
#[derive(Clone, Debug, Default)]
pub struct JobRegistry(Arc<JobTable>);

#[derive(Debug, Default)]
struct JobTable {
    /// The directory of the output files.
    dir: Option<PathBuf>,
    list: Mutex<Vec<Arc<Job>>>,
    /// How many jobs were started.
    begun: AtomicU32,
    changed: Notify,
    foreground: ForegroundList,
}

impl JobRegistry {
    /// Jobs whose output goes to files below `dir`.
    pub fn at(dir: PathBuf) -> JobRegistry {
        JobRegistry(Arc::new(JobTable { dir: Some(dir), ..JobTable::default() }))
    }

    /// Whether jobs are possible at all. A single call cannot have jobs, because a job would end with the call.
    pub(crate) fn has_place(&self) -> bool {
        self.0.dir.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Job>>> {
        self.0.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All jobs, in the order of their start.
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
    pub(crate) fn place(&self) -> Result<(u32, PathBuf), ToolError> {
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

    /// Lists a command of the foreground, so that the person can send it to the background. `refusal` is why it cannot
    /// be sent there.
    pub(crate) fn in_foreground(&self, call: CallId, refusal: Option<ToolError>) -> ForegroundPlace {
        self.0.foreground.enter(call, refusal)
    }

    /// The running command that [`JobRegistry::send_to_background`] asks for.
    pub fn foreground(&self) -> Option<ForegroundCall> {
        self.0.foreground.oldest()
    }

    /// Asks the call of the running command to become a job. `None` if no command runs. The receiver gets the reason if
    /// the command stays in the foreground.
    pub fn send_to_background(&self) -> Option<oneshot::Receiver<ToolError>> {
        self.0.foreground.ask()
    }

    /// Removes a job that ended before anybody knew of it.
    pub(crate) fn remove(&self, number: u32) {
        let mut list = self.lock();
        if let Some(at) = list.iter().position(|job| job.number == number) {
            list.remove(at).forget();
        }
    }

    /// Starts to watch a command, under the number and with the log that [`JobRegistry::place`] gave.
    pub(crate) fn begin(&self, place: (u32, PathBuf), command: DetachedCommand) -> Arc<Job> {
        let jobs = self.clone();
        let job = Job::begin(place, command, move || jobs.wake());
        self.lock().push(Arc::clone(&job));
        job
    }

    /// The supervisor of a job whose network other commands may share: neither the job nor these commands have access
    /// to hosts.
    pub(crate) fn network(&self) -> Option<u32> {
        self.lock().iter().find_map(|job| job.shared_network())
    }

    /// Wakes the waiters when a job has changed.
    fn wake(&self) {
        self.0.changed.notify_waiters();
    }

    /// The ends of jobs that were not reported to the model of this view yet.
    pub fn news_for_model(&self, view: Option<&Path>) -> Vec<JobEnd> {
        let jobs = self.list();
        let news = jobs.iter().filter(|job| job.view.as_deref() == view && job.tell_model_once());
        news.filter_map(|job| job.ended_for_model()).collect()
    }

    /// The ends of jobs that were not reported to the person yet, a sentence each. The sentence says so if changes are
    /// pending in another view than `view`.
    pub fn news_for_person(&self, view: Option<&Path>) -> Vec<String> {
        let jobs = self.list();
        let news = jobs.iter().filter(|job| job.tell_person_once());
        news.filter_map(|job| job.ended_for_person(view)).collect()
    }

    /// Waits until a job has ended whose end was not reported to the person.
    pub async fn next_for_person(&self, view: Option<&Path>) -> Vec<String> {
        loop {
            let changed = self.0.changed.notified();
            tokio::pin!(changed);
            // Registers before the check: an end after this line is noticed, however late the wait begins.
            changed.as_mut().enable();
            let news = self.news_for_person(view);
            if !news.is_empty() {
                return news;
            }
            changed.await;
        }
    }

    /// Ends the running jobs that shall not outlive placet, and waits for their ends. Returns a line for the person for
    /// each.
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

/// Removes the files of processes that have ended. Jobs that outlive placet have files under another name; these files
/// are removed after a week.
fn sweep(dir: &Path) {
    const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let pid = |name: &str| name.split(['-', '.']).next()?.parse::<i32>().ok();
        let (number, stays) = match name.strip_prefix("stays-") {
            Some(rest) => (pid(rest), true),
            None => (pid(&name), false),
        };
        let alive = number.is_some_and(placet_process::is_running);
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        let old = age.is_some_and(|age| age > KEPT);
        if !alive && (old || !stays) {
            drop(std::fs::remove_file(entry.path()));
        }
    }
}
