//! The terminal between the program's end and the question about its changes.
//!
//! The base mode holds: no typed key is shown, and no key sends a signal. People press Ctrl-C once more than a program
//! needs, and the terminal's own mode would send it to the whole group, which is also that of the person's script.
//! Keys that were typed before the question answer nothing.
//!
//! To read the changes may take minutes. After [`NOTICE`] a line says what placet does, and from then on Ctrl-C ends
//! placet.

use super::super::screen;
use super::super::startup::signals;
use super::last_output::LastOutput;
use super::program_screen::ProgramScreen;
use super::terminal_size::terminal_size;
use crate::app::App;
use crate::process::close_on_exec;
use crate::text::visible;
use crate::ui::input::{BlockingKeyReader, decode::TerminalInput, typeahead};
use crate::ui::margin_mark;
use crate::ui::reclaim::{self, LentTerminal, ReturnedTerminal};
use crate::ui::term::{self, BaseMode};
use crate::ui::terminal_colors::{ProgramColors, TerminalColors};
use crossterm::event::{KeyCode, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// After this time a person asks what placet does.
const NOTICE: Duration = Duration::from_secs(2);

/// What placet does between the program's end and the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum EndStep {
    /// The effects become pending.
    Changes,
    /// State of the home directory is written.
    State,
    /// The pending changes are read for the question.
    Question,
}

/// The person's terminal while the program has it.
pub(super) struct ProgramTerminal {
    pub(super) screen: ProgramScreen,
    pub(super) lent: LentTerminal,
}

impl ProgramTerminal {
    pub(super) fn lend(app: &App) -> ProgramTerminal {
        let lent = match screen::wants_background(app) {
            true => LentTerminal::lend_with_background(),
            false => LentTerminal::lend(),
        };
        ProgramTerminal { screen: ProgramScreen::new(terminal_size()), lent }
    }

    /// What would give the person a usable terminal if placet ended now.
    pub(super) fn emergency(&self) -> Vec<u8> {
        let none = TerminalColors::default();
        let colors = match self.screen.colors() {
            ProgramColors::Untouched => Vec::new(),
            changed @ ProgramColors::MaybeChanged => self.lent.before.colors().set_back(&none, changed),
        };
        [reclaim::reset_with(&self.screen.reset()), colors].concat()
    }

    /// The program has ended: placet has the terminal, without the modes that the program has set. The colours are set
    /// back later.
    pub(super) fn take_back(&mut self) {
        term::write_all(&reclaim::reset_with(&self.screen.take_reset()));
        // If the mode cannot be set, the terminal is gone.
        let _ = term::take_back();
        term::set_program_reset(self.emergency());
    }
}

/// See the module. Dropping it gives the terminal back.
#[derive(Debug)]
pub(in crate::cli) struct HeldTerminal {
    /// Dropped before the terminal has its own mode again.
    notice: EndNotice,
    colors: ChangedColors,
    base: BaseMode,
    last_output: LastOutput,
}

/// What the program may have done to the colours. Dropping it sets them back.
#[derive(Debug)]
struct ChangedColors {
    lent: LentTerminal,
    program: ProgramColors,
    is_set_back: bool,
}

impl ChangedColors {
    fn set_back(&mut self) -> ReturnedTerminal {
        self.is_set_back = true;
        // Keys that were typed meanwhile answer nothing.
        let (returned, _typed) = self.lent.take_back(self.program);
        term::set_program_reset(Vec::new());
        // A program may have ended before the terminal answered.
        screen::keep_background();
        returned
    }
}

impl Drop for ChangedColors {
    fn drop(&mut self) {
        if !self.is_set_back {
            self.set_back();
        }
    }
}

impl HeldTerminal {
    /// Takes the terminal back from `program`, which has ended.
    pub(super) fn of(base: BaseMode, program: &str, mut terminal: ProgramTerminal) -> HeldTerminal {
        terminal.take_back();
        let last_output = terminal.screen.take_last_output();
        let ProgramTerminal { screen, lent } = terminal;
        let colors = ChangedColors { lent, program: screen.colors(), is_set_back: false };
        HeldTerminal { notice: EndNotice::start(program), colors, base, last_output }
    }

    /// What placet does from now on.
    pub(in crate::cli) fn step(&self, step: EndStep) {
        *self.notice.step.lock().unwrap_or_else(PoisonError::into_inner) = step;
    }

    /// The base mode for the question, and a screen with nothing but the program's last rows. Drops what was typed until now.
    pub(in crate::cli) fn into_base(self) -> BaseMode {
        let HeldTerminal { notice, mut colors, base, last_output } = self;
        drop(notice);
        // How many rows are in use has to be known now.
        colors.lent.ask();
        colors.set_back().clear();
        last_output.show(terminal_size());
        if let Ok(mut keys) = BlockingKeyReader::new() {
            while matches!(keys.next(Duration::ZERO), Ok(Some(_))) {}
        }
        drop(typeahead::take());
        base
    }
}

/// The thread that says what placet does. Dropped, it ends and is waited for.
#[derive(Debug)]
struct EndNotice {
    step: Arc<Mutex<EndStep>>,
    /// Closing it ends the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl EndNotice {
    /// Without the thread nothing is said, and only a signal ends placet.
    fn start(program: &str) -> EndNotice {
        let step = Arc::new(Mutex::new(EndStep::Changes));
        let mut notice = EndNotice { step: Arc::clone(&step), stop: None, thread: None };
        let program = visible::name(program).into_owned();
        if let Ok((stopped, stop)) = close_on_exec::pipe() {
            let work = move || watch(&stopped, &step, &program);
            notice.thread = std::thread::Builder::new().name("end".into()).spawn(work).ok();
            notice.stop = Some(stop);
        }
        notice
    }
}

impl Drop for EndNotice {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn watch(stopped: &OwnedFd, step: &Mutex<EndStep>, program: &str) {
    let start = Instant::now();
    while let Some(left) = NOTICE.checked_sub(start.elapsed()) {
        let mut fds = [PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut fds, Some(&timespec(left))) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) | Err(_) => return,
        }
    }
    // Ctrl-C from before was for the program.
    let Ok(mut keys) = BlockingKeyReader::new() else { return };
    while matches!(keys.next(Duration::ZERO), Ok(Some(_))) {}
    let step = *step.lock().unwrap_or_else(PoisonError::into_inner);
    let line = format!("{} (Ctrl-C stops placet; the changes stay pending)", sentence(step, program));
    say(&line);
    while let Ok(true) = wait_for_key(stopped) {
        loop {
            match keys.next(Duration::ZERO) {
                Ok(Some(TerminalInput::Key(key)))
                    if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) =>
                {
                    let line = "interrupted; `placet run` or `placet changes` reads the changes again";
                    say(line);
                    signals::end(130)
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                // The terminal is gone, and SIGHUP ends placet.
                Err(_) => return,
            }
        }
    }
}

/// To the terminal, also where standard error is a pipe.
pub(super) fn say(line: &str) {
    term::write_all(format!("{}\n", margin_mark::for_terminal(line)).as_bytes());
}

fn sentence(step: EndStep, program: &str) -> String {
    match step {
        EndStep::Changes => format!("reading what {program} changed"),
        EndStep::State => format!("writing the state that {program} keeps in the home directory"),
        EndStep::Question => "reading the pending changes for the question".into(),
    }
}

/// True when a key may be there; false when the thread is to end.
fn wait_for_key(stopped: &OwnedFd) -> io::Result<bool> {
    loop {
        let typed = term::input();
        let mut fds = [PollFd::new(stopped, PollFlags::IN), PollFd::new(&typed, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(Errno::INTR) => continue,
            other => drop(other?),
        }
        let [stopped, _] = &fds;
        return Ok(stopped.revents().is_empty());
    }
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
