//! One background command: what it runs, its state, and its output.

use crate::ToolError;
use crate::command::command_effects::{EffectsSummary, SandboxedRun, with_network};
use placet_process::{BackgroundSupervisor, ChildPid, CommandExit, listening_ports};
use placet_sandbox::{BoundPort, PortMapping, PublishedPort};
use placet_text::conversation::JobEnd;
use placet_text::text::sanitize;
use placet_workspace::Workspace;
use std::fs::File;
use std::io::{Read as _, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// The most bytes that are read of a log at once.
const READ: u64 = 16 << 20;
/// How long a call waits until the effects of an ended job are in the view.
const SETTLE: Duration = Duration::from_secs(2);

/// How many ports of a job may be published.
pub(crate) const MOST_PUBLISHED: usize = 8;

/// A background command. It ends by itself, when it is stopped, or with the process.
#[derive(Debug)]
pub struct Job {
    pub number: u32,
    pub line: String,
    pub cwd: PathBuf,
    /// The directory of the view that the job works in.
    pub(super) view: Option<PathBuf>,
    started: Instant,
    log: Mutex<PathBuf>,
    /// Absent if its supervisor had already ended.
    pid: Option<ChildPid>,
    /// Its output reaches the log without this process.
    writes_own_log: bool,
    walls: Option<NetworkSharing>,
    placet: PathBuf,
    /// `None` when the command has ended.
    published: Mutex<Option<Vec<PublishedPort>>>,
    stop: CancellationToken,
    stay: Notify,
    stays: AtomicBool,
    standing: watch::Sender<JobState>,
    /// How far the model has read, and from where a text that the model waits for counts.
    read: Mutex<ReadPosition>,
    told: JobEndTold,
}

/// To whom the end of a job was reported.
#[derive(Debug, Default)]
struct JobEndTold {
    model: AtomicBool,
    person: AtomicBool,
}

#[derive(Clone, Copy, Debug, Default)]
struct ReadPosition {
    read: u64,
    asked: u64,
}

/// Whether other commands may share its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NetworkSharing {
    Network,
    Nothing,
}

/// The state of a job.
#[derive(Clone, Debug)]
pub(crate) enum JobState {
    Running,
    /// The command has ended. Its effects are not in the view yet: a command that runs in the view goes first.
    Settling(CommandExit, Duration),
    Ended {
        ending: CommandExit,
        elapsed: Duration,
        for_model: String,
        for_person: String,
    },
    /// The supervisor could not start the command, or its effects could not be read.
    Failed(String),
}

/// A job as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSummary {
    pub number: u32,
    pub line: String,
    pub cwd: PathBuf,
    /// `running for 34 s`, `exit code 0 after 2 s`
    pub state: String,
    pub is_running: bool,
}

/// What continues after a call has ended.
pub(crate) struct DetachedCommand {
    pub(crate) line: String,
    pub(crate) cwd: PathBuf,
    pub(crate) background: BackgroundSupervisor,
    pub(crate) entered: Option<SandboxedRun>,
    pub(crate) workspace: Workspace,
    /// Says of a path that the command does not see it as it is.
    pub(crate) is_hidden: Box<dyn Fn(&Path) -> bool + Send + Sync>,
    /// This program.
    pub(crate) placet: PathBuf,
    /// When the command began, which may be before it became a job.
    pub(crate) started: Instant,
    /// From now on.
    pub(crate) timeout: Duration,
    /// Other commands may share its network.
    pub(crate) no_way_out: bool,
}

impl Job {
    /// Starts to watch the command.
    pub(super) fn begin(
        (number, log): (u32, PathBuf),
        lasting: DetachedCommand,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Arc<Job> {
        let DetachedCommand {
            line,
            cwd,
            mut background,
            mut entered,
            workspace,
            is_hidden,
            placet,
            started,
            timeout,
            no_way_out,
        } = lasting;
        if let (Some(entered), Some(supervisor)) = (&mut entered, background.pid()) {
            entered.get_updates(supervisor, is_hidden);
        }
        let walls = entered
            .as_ref()
            .map(|_| if no_way_out { NetworkSharing::Network } else { NetworkSharing::Nothing });
        let job = Arc::new(Job {
            number,
            line,
            cwd,
            view: workspace.view().map(|view| view.dir().to_path_buf()),
            started,
            log: Mutex::new(log),
            pid: background.pid(),
            writes_own_log: background.writes_own_log(),
            walls,
            placet,
            published: Mutex::new(Some(Vec::new())),
            stop: CancellationToken::new(),
            stay: Notify::new(),
            stays: AtomicBool::new(false),
            standing: watch::Sender::new(JobState::Running),
            read: Mutex::default(),
            told: JobEndTold::default(),
        });
        let own = Arc::clone(&job);
        tokio::spawn(async move {
            let ending = background.ended(timeout, &own.stop, &own.stay).await;
            let elapsed = own.started.elapsed();
            *own.published() = None;
            if let Ok(ending) = ending {
                own.standing.send_replace(JobState::Settling(ending, elapsed));
            }
            let standing = match ending {
                Err(e) => JobState::Failed(e.to_string()),
                Ok(ending) => match settled(entered, workspace, ending, own.number).await {
                    Ok(effects) => {
                        let report = background.sandbox_report();
                        let EffectsSummary { for_model, for_person } =
                            with_network(effects, report.as_deref(), None);
                        JobState::Ended { ending, elapsed, for_model, for_person }
                    }
                    Err(e) => JobState::Failed(e.message),
                },
            };
            own.standing.send_replace(standing);
            on_end();
        });
        job
    }

    /// True while output or effects on files are still to come.
    pub fn is_running(&self) -> bool {
        matches!(*self.standing.borrow(), JobState::Running | JobState::Settling(..))
    }

    pub(crate) fn standing(&self) -> JobState {
        self.standing.borrow().clone()
    }

    /// Waits until the command has ended and its effects are in the view.
    pub async fn ended(&self) {
        let more = |standing: &JobState| matches!(standing, JobState::Running | JobState::Settling(..));
        drop(self.standing.subscribe().wait_for(|standing| !more(standing)).await);
    }

    /// Waits a moment if only the effects still have to be put into the view.
    pub(crate) async fn settled(&self) {
        if matches!(*self.standing.borrow(), JobState::Settling(..)) {
            drop(tokio::time::timeout(SETTLE, self.ended()).await);
        }
    }

    /// Ends the command and all the processes that it started, within moments.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Lets the job outlive placet. Only a command without a sandbox can: a view ends with its process.
    pub fn keep(&self) -> Result<(), ToolError> {
        let Some(pid) = self.pid.filter(|_| self.is_running()) else {
            return Err(ToolError::new(format!("job {} has ended", self.number)));
        };
        if self.walls.is_some() {
            return Err(ToolError::hint(
                format!("job {} runs in the copy-on-write view, which ends with placet", self.number),
                "a command that is started in unrestricted mode can continue",
            ));
        }
        if !self.writes_own_log {
            return Err(ToolError::hint(
                format!("job {} began in the foreground, and placet writes its output", self.number),
                "a command that is started in the background can continue",
            ));
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("stays-{pid}.log");
        let kept = log.with_file_name(name);
        std::fs::rename(&*log, &kept)
            .map_err(|e| ToolError::new(format!("its output cannot be stored: {e}")))?;
        *log = kept;
        self.stays.store(true, Ordering::Release);
        self.stay.notify_one();
        Ok(())
    }

    fn published(&self) -> MutexGuard<'_, Option<Vec<PublishedPort>>> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a port of this machine lead to the job until the job ends.
    pub fn publish(&self, port: BoundPort) -> Result<(), ToolError> {
        let mut published = self.published();
        let (Some(ports), Some(pid)) = (published.as_mut(), self.pid) else {
            return Err(ToolError::new(format!("job {} has ended", self.number)));
        };
        if ports.len() >= MOST_PUBLISHED {
            return Err(ToolError::new(format!(
                "{MOST_PUBLISHED} ports of job {} are published",
                self.number
            )));
        }
        ports.push(port.publish(&self.placet, pid).map_err(|e| ToolError::new(e.to_string()))?);
        Ok(())
    }

    /// Where programs of this machine reach its ports.
    pub fn published_ports(&self) -> Vec<PortMapping> {
        self.published().iter().flatten().map(PublishedPort::mapping).collect()
    }

    /// The ports on which its programs listen now.
    pub fn listening_ports(&self) -> Vec<u16> {
        self.pid.filter(|_| self.is_running()).map(listening_ports).unwrap_or_default()
    }

    /// Whether the job works in the view.
    pub fn is_walled(&self) -> bool {
        self.walls.is_some()
    }

    /// The process to end if the job outlives placet.
    pub fn stays(&self) -> Option<ChildPid> {
        self.pid.filter(|_| self.stays.load(Ordering::Acquire))
    }

    pub(super) fn shared_network(&self) -> Option<u32> {
        let pid = self.pid.filter(|_| self.is_running() && self.walls == Some(NetworkSharing::Network));
        pid.map(ChildPid::number)
    }

    pub fn log(&self) -> PathBuf {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn forget(&self) {
        drop(std::fs::remove_file(self.log()));
    }

    pub fn shown(&self) -> JobSummary {
        let (number, cwd) = (self.number, self.cwd.clone());
        JobSummary {
            number,
            line: self.shown_line(),
            cwd,
            state: self.state(),
            is_running: self.is_running(),
        }
    }

    /// The first line of the command, safe for a terminal.
    pub fn shown_line(&self) -> String {
        let first = self.line.lines().next().unwrap_or_default();
        let line = sanitize::line(first).into_owned();
        let cut = line.floor_char_boundary(120);
        let more = if cut < line.len() || self.line.lines().count() > 1 { " ..." } else { "" };
        format!("{}{more}", line.get(..cut).unwrap_or_default())
    }

    /// `running for 34.1 s`
    pub(crate) fn state(&self) -> String {
        match &*self.standing.borrow() {
            JobState::Running => {
                let stays = if self.stays().is_some() { ", continues after placet ends" } else { "" };
                let ports = self.published_ports().into_iter();
                let ports: String =
                    ports.map(|port| format!(", port {} at {}", port.inside, port.url())).collect();
                format!("running for {:.1} s{stays}{ports}", self.started.elapsed().as_secs_f64())
            }
            JobState::Failed(why) => format!("failed: {why}"),
            JobState::Settling(ending, elapsed) => {
                format!(
                    "{}; its file changes are collected when no other command runs",
                    how(*ending, *elapsed)
                )
            }
            JobState::Ended { ending, elapsed, .. } => how(*ending, *elapsed),
        }
    }

    /// The effects of the job on files, as reported to the model; empty while the job runs.
    pub(crate) fn effects(&self) -> String {
        match &*self.standing.borrow() {
            JobState::Ended { for_model, .. } => for_model.clone(),
            _ => String::new(),
        }
    }

    /// True if the job has ended and its end was not reported to the model before.
    pub(crate) fn tell_model_once(&self) -> bool {
        !self.is_running() && !self.told.model.swap(true, Ordering::AcqRel)
    }

    /// The same for the person.
    pub fn tell_person_once(&self) -> bool {
        !self.is_running() && !self.told.person.swap(true, Ordering::AcqRel)
    }

    pub(super) fn ended_for_model(&self) -> Option<JobEnd> {
        let command = self.line.lines().next().unwrap_or_default().to_string();
        let (job, how, effects) = (self.number, self.state(), self.effects());
        (!self.is_running()).then_some(JobEnd { job, how, command, effects })
    }

    /// The state without any times.
    pub(super) fn state_without_times(&self) -> String {
        match &*self.standing.borrow() {
            JobState::Running => "running".into(),
            JobState::Settling(ending, _) => format!("settling: {}", ended(*ending)),
            JobState::Ended { ending, .. } => ended(*ending),
            JobState::Failed(why) => why.clone(),
        }
    }

    pub(super) fn ended_for_person(&self, view: Option<&Path>) -> Option<String> {
        let effects = match &*self.standing.borrow() {
            JobState::Running | JobState::Settling(..) => return None,
            JobState::Ended { for_person, .. } => for_person.clone(),
            JobState::Failed(_) => String::new(),
        };
        let state = sanitize::line(&self.state()).into_owned();
        let other = self.view.as_deref().filter(|own| view != Some(*own) && !effects.is_empty());
        let session = other.and_then(|own| own.file_name()).map(|name| name.to_string_lossy().into_owned());
        let where_to = session.map_or(String::new(), |name| format!(" (of the session {name})"));
        Some(format!("job {} · {state} · {}{effects}{where_to}", self.number, self.shown_line()))
    }

    /// The output that existed when the call that started the job returned.
    pub(crate) fn read_first(&self) -> std::io::Result<String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, at) = self.text_from(0)?;
        read.read = at;
        Ok(text)
    }

    /// The output since the model last read, which then counts as read.
    pub(crate) fn read_new_output(&self) -> std::io::Result<String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (text, at) = self.text_from(read.read)?;
        *read = ReadPosition { read: at, asked: at };
        Ok(text)
    }

    /// The output since the model last asked, together with the output of the start: it may contain the text that the
    /// model waits for.
    pub(crate) fn peek_output(&self) -> std::io::Result<String> {
        let asked = self.read.lock().unwrap_or_else(PoisonError::into_inner).asked;
        Ok(self.text_from(asked)?.0)
    }

    /// The last lines, and how many lines come before them.
    pub fn last_lines(&self, count: usize) -> std::io::Result<(String, usize)> {
        let (text, _) = self.text_from(0)?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let from = lines.len().saturating_sub(count);
        Ok((lines.get(from..).unwrap_or_default().concat(), from))
    }

    /// The log from a position to its end, and the position of the end. A log that was started again is read from its
    /// beginning.
    fn text_from(&self, at: u64) -> std::io::Result<(String, u64)> {
        let mut file = match File::open(self.log()) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((String::new(), at)),
            other => other?,
        };
        let size = file.metadata()?.len();
        let at = if size < at { 0 } else { at };
        let from = at.max(size.saturating_sub(READ));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(READ).read_to_end(&mut bytes)?;
        if self.is_running() {
            // Half a character is for the next time.
            bytes.truncate(whole_characters(&bytes));
        }
        let end = from + bytes.len() as u64;
        let mut text = String::from_utf8(bytes)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
            .replace('\0', "␀");
        if from > at {
            text = format!("[... {} bytes left out ...]\n{text}", from - at);
        }
        Ok((text, end))
    }
}

/// `exit code 0 after 2.0 s`
fn how(ending: CommandExit, elapsed: Duration) -> String {
    format!("{} after {:.1} s", ended(ending), elapsed.as_secs_f64())
}

fn ended(ending: CommandExit) -> String {
    match ending {
        CommandExit::Exit(code) => format!("exit code {code}"),
        CommandExit::Signal(signal) => format!("killed by signal {signal}"),
        CommandExit::TimedOut => "out of time".into(),
        CommandExit::Cancelled => "stopped".into(),
        CommandExit::Lost => "its supervisor was killed".into(),
    }
}

/// What becomes of its effects.
async fn settled(
    entered: Option<SandboxedRun>,
    workspace: Workspace,
    ending: CommandExit,
    number: u32,
) -> Result<EffectsSummary, ToolError> {
    match entered {
        None => Ok(EffectsSummary::default()),
        Some(entered) => entered.finish_background(workspace, ending, format!("job-{number}")).await,
    }
}

/// The length without a character at the end that is not complete.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    let starts = bytes.iter().enumerate().skip(tail).rev();
    for (at, byte) in starts {
        let length = match byte {
            0b1100_0000..=0b1101_1111 => 2,
            0b1110_0000..=0b1110_1111 => 3,
            0b1111_0000..=0b1111_0111 => 4,
            0b1000_0000..=0b1011_1111 => continue,
            _ => return bytes.len(),
        };
        return if at + length > bytes.len() { at } else { bytes.len() };
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn half_a_character_waits_for_its_rest() {
        let text = "aé€🦀".as_bytes();
        let whole: Vec<usize> = (0..=text.len()).map(|n| whole_characters(&text[..n])).collect();
        assert_eq!(whole, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        assert_eq!(whole_characters(b"\xff\x80"), 2);
    }
}
