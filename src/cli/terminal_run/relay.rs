//! Bytes between the person's terminal and the program's: one thread, one `poll`, buffers with an end.
//!
//! When a buffer is full, the relay stops reading what fills it. A program that writes too fast waits, as on a terminal.

use super::guard::TerminalGuard;
use super::held_terminal::{self, ProgramTerminal};
use super::page::PageSetup;
use super::page_key::PageKeyFinder;
use super::program_screen::ScreenRestored;
use super::terminal_size::terminal_size;
use super::wake::{CancelSignal, RelaySignals};
use crate::cli::report::CliError;
use crate::process::{CommandExit, ProcessError, TerminalEvent, TerminalSupervisor};
use crate::sandbox::TerminalSize;
use crate::ui::input::typeahead;
use crate::ui::term;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// The most bytes that wait in each direction.
const BUFFER: usize = 64 << 10;

/// How long a program may take to end after its terminal hung up, before everything is ended.
const HANGUP_GRACE: Duration = Duration::from_secs(2);

/// How long the supervisor may take to end everything before it is killed itself.
const FORCE: Duration = Duration::from_secs(8);

/// How long the person's terminal may take to accept the last bytes.
const FLUSH: Duration = Duration::from_secs(5);

/// The most bytes of standard error that are written at a time. A pipe that is ready takes so many without blocking.
const ERRORS: usize = 4096;

/// How long the reader of placet's standard error may take to accept the last bytes.
const LAST_ERRORS: Duration = Duration::from_secs(1);

/// Ctrl-C, as the terminal sends it.
const INTERRUPT: u8 = 0x03;

/// How long placet's page waits for the end of what the program draws.
const QUIET: Duration = Duration::from_millis(200);

/// Relays until the program has ended and its last byte is on the screen. The base mode must hold.
pub(super) fn relay(
    supervisor: TerminalSupervisor,
    (page, page_key, guard): (&PageSetup<'_>, PageKeyFinder, Option<&mut TerminalGuard>),
    terminal: &mut ProgramTerminal,
    (signals, stop): (&mut RelaySignals, &CancellationToken),
    runtime: &Runtime,
) -> Result<RelayEnd, CliError> {
    let failed = |e: io::Error| CliError::new(format!("cannot use the terminal: {e}"));
    let cancel = CancelSignal::watch(stop, runtime).map_err(failed)?;
    let mut relay = Relay::new(supervisor, page, terminal, (page_key, guard)).map_err(failed)?;
    term::pass_through().map_err(failed)?;
    let ending = relay.run(signals, &cancel).map_err(failed)?;
    let sandbox_report = relay.supervisor.sandbox_report();
    ending.map(|exit| RelayEnd { exit, sandbox_report }).map_err(CliError::new)
}

/// How the program ended, and what the sandbox reports about it.
pub(super) struct RelayEnd {
    pub(super) exit: CommandExit,
    pub(super) sandbox_report: Option<String>,
}

/// Both ends and what is between them.
struct Relay<'a> {
    page: &'a PageSetup<'a>,
    page_key: Rc<RefCell<PageKeyFinder>>,
    /// Since when the page is to open.
    page_asked: Option<Instant>,
    supervisor: TerminalSupervisor,
    /// The outer end of the program's terminal; absent before it starts, and after a hangup.
    program: Option<OwnedFd>,
    /// The program's standard error, where it is a pipe.
    errors: Option<OwnedFd>,
    /// Standard error of placet takes bytes. If nobody reads there, the program waits as it would without placet, and
    /// keys and signals still arrive.
    takes_errors: bool,
    person: PersonTerminal,
    terminal: &'a mut ProgramTerminal,
    to_program: Vec<u8>,
    to_person: Vec<u8>,
    /// Restores the terminal if placet is killed.
    guard: Option<&'a mut TerminalGuard>,
    /// Set when placet ends the program.
    ending: Option<EndingRun>,
    /// The program has ended, some process that it started has not, and the person knows that placet waits.
    is_waiting_for_end: bool,
}

/// The program is being ended.
struct EndingRun {
    /// When everything is ended by force.
    by: Instant,
}

/// The person's terminal, opened again so that writing does not block: that setting belongs to the open file, and the
/// person's shell has the same one.
struct PersonTerminal {
    own: Option<OwnedFd>,
}

impl PersonTerminal {
    fn open() -> PersonTerminal {
        let path = format!("/proc/self/fd/{}", term::stdout().as_raw_fd());
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        PersonTerminal { own: rustix::fs::open(path, flags, Mode::empty()).ok() }
    }
}

impl AsFd for PersonTerminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.own {
            Some(own) => own.as_fd(),
            None => term::stdout(),
        }
    }
}

impl<'a> Relay<'a> {
    fn new(
        mut supervisor: TerminalSupervisor,
        page: &'a PageSetup<'a>,
        terminal: &'a mut ProgramTerminal,
        (page_key, guard): (PageKeyFinder, Option<&'a mut TerminalGuard>),
    ) -> io::Result<Relay<'a>> {
        let errors = supervisor.take_errors();
        Ok(Relay {
            page,
            page_key: Rc::new(RefCell::new(page_key)),
            page_asked: None,
            supervisor,
            program: None,
            errors,
            takes_errors: false,
            person: PersonTerminal::open(),
            terminal,
            to_program: Vec::with_capacity(BUFFER),
            to_person: Vec::with_capacity(BUFFER),
            guard,
            ending: None,
            is_waiting_for_end: false,
        })
    }

    /// The outer error is the system's; the inner one says why the program did not start.
    fn run(
        &mut self,
        signals: &mut RelaySignals,
        cancel: &CancelSignal,
    ) -> io::Result<Result<CommandExit, ProcessError>> {
        loop {
            let ready = self.wait(signals, cancel)?;
            if ready.signalled {
                signals.quiet();
            }
            if signals.take_resized() {
                self.resize();
            }
            if signals.is_hung_up() || ready.hung_up {
                self.hang_up();
            } else if signals.is_ended() || ready.cancelled {
                self.stop_now();
            }
            if self.ending.as_ref().is_some_and(|ending| ending.by <= Instant::now()) {
                self.supervisor.stop();
            }
            if self.ending.as_ref().is_some_and(|ending| ending.by + FORCE <= Instant::now()) {
                // Dropping the supervisor kills it, and the view ends with it.
                return Ok(Ok(CommandExit::Lost));
            }
            if ready.typed {
                self.read_person()?;
            }
            if ready.takes_errors {
                self.takes_errors = true;
            } else if ready.errors {
                self.read_errors();
            }
            if ready.program {
                self.read_program()?;
            }
            self.write_program();
            self.write_person()?;
            if self.is_page_due() {
                self.open_page(signals)?;
            }
            if ready.reported
                && let Some(ended) = self.events()?
            {
                self.drain();
                self.to_person.extend(self.terminal.screen.finish());
                self.to_person.extend_from_slice(self.terminal.screen.new_row());
                self.flush();
                let ended =
                    ended.map(|exit| if self.ending.is_some() { CommandExit::Cancelled } else { exit });
                return Ok(ended);
            }
        }
    }

    fn wait(&self, signals: &RelaySignals, cancel: &CancelSignal) -> io::Result<RelayReady> {
        let (typed, stderr) = (term::input(), rustix::stdio::stderr());
        let is_ending = self.ending.is_some();
        let want = |flags: PollFlags, wanted: bool| if wanted { flags } else { PollFlags::empty() };
        let mut fds = Vec::with_capacity(7);
        fds.push(PollFd::new(&self.supervisor, PollFlags::IN));
        fds.push(PollFd::new(signals, PollFlags::IN));
        let room = self.to_program.len() < BUFFER && !is_ending;
        // A terminal that hung up is always ready: it is asked only until the relay knows.
        let places = (
            (!is_ending).then(|| push(&mut fds, PollFd::new(cancel, PollFlags::IN))),
            (!is_ending).then(|| push(&mut fds, PollFd::from_borrowed_fd(typed, want(PollFlags::IN, room)))),
            (!self.to_person.is_empty()).then(|| push(&mut fds, PollFd::new(&self.person, PollFlags::OUT))),
            self.errors.as_ref().map(|errors| match self.takes_errors {
                true => push(&mut fds, PollFd::new(errors, PollFlags::IN)),
                false => push(&mut fds, PollFd::new(&stderr, PollFlags::OUT)),
            }),
            self.program.as_ref().map(|program| {
                let room = self.to_person.len() < BUFFER;
                let flags = want(PollFlags::IN, room) | want(PollFlags::OUT, !self.to_program.is_empty());
                push(&mut fds, PollFd::new(program, flags))
            }),
        );
        let left = self.ending.as_ref().map(|ending| ending.by.saturating_duration_since(Instant::now()));
        let left = left.map(|left| left.max(Duration::from_millis(20)));
        let left = left.or(self.page_asked.map(|_| QUIET)).map(timespec);
        match poll(&mut fds, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
        let flags = |place: Option<usize>| {
            place.and_then(|at| fds.get(at)).map_or(PollFlags::empty(), PollFd::revents)
        };
        let (cancel, typed, _, errors, program) = places;
        Ok(RelayReady {
            reported: !flags(Some(0)).is_empty(),
            signalled: !flags(Some(1)).is_empty(),
            cancelled: !flags(cancel).is_empty(),
            typed: flags(typed).contains(PollFlags::IN),
            hung_up: flags(typed).intersects(PollFlags::HUP | PollFlags::ERR)
                && !flags(typed).contains(PollFlags::IN),
            errors: self.takes_errors && !flags(errors).is_empty(),
            takes_errors: !self.takes_errors && !flags(errors).is_empty(),
            program: flags(program).intersects(PollFlags::IN | PollFlags::HUP),
        })
    }

    /// Keys, as they are.
    fn read_person(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 << 10];
        match rustix::io::read(term::input(), &mut buffer) {
            Ok(0) => self.hang_up(),
            Ok(length) => {
                let mut typed = buffer.get(..length).unwrap_or_default().to_vec();
                self.terminal.lent.before.take_out(&mut typed);
                if self.is_waiting_for_end {
                    if typed.contains(&INTERRUPT) {
                        self.stop_now();
                    }
                    return Ok(());
                }
                let (typed, length) = (typed.as_slice(), typed.len());
                let key = self.page_key.borrow_mut().find(typed);
                let (before, after) = key.unwrap_or((length, length));
                self.to_program.extend_from_slice(typed.get(..before).unwrap_or_default());
                if key.is_some() {
                    self.page_asked = Some(Instant::now());
                    // They were typed for the page.
                    typeahead::give_back(typed.get(after..).unwrap_or_default());
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(Errno::IO) => self.hang_up(),
            Err(e) => return Err(e.into()),
        }
        Ok(())
    }

    /// Output, as it is.
    fn read_program(&mut self) -> io::Result<()> {
        let mut buffer = [0; BUFFER];
        while self.to_person.len() < BUFFER
            && let Some(program) = &self.program
        {
            match rustix::io::read(program, &mut buffer) {
                Ok(0) => self.program = None,
                Ok(length) => {
                    let bytes = buffer.get(..length).unwrap_or_default();
                    self.take_output(bytes);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // Every process has closed its end.
                Err(_) => self.program = None,
            }
        }
        Ok(())
    }

    /// Standard error of the program goes where placet's own goes.
    fn read_errors(&mut self) {
        let Some(errors) = &self.errors else { return };
        let mut buffer = [0; ERRORS];
        self.takes_errors = false;
        match rustix::io::read(errors, &mut buffer) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(length) if length > 0 => {
                let bytes = buffer.get(..length).unwrap_or_default();
                // Nobody may read it any more; the program goes on.
                let _ = io::Write::write_all(&mut io::stderr(), bytes);
            }
            _ => self.errors = None,
        }
    }

    fn write_program(&mut self) {
        let Some(program) = &self.program else { return };
        while !self.to_program.is_empty() {
            match rustix::io::write(program, &self.to_program) {
                Ok(written) => drop(self.to_program.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.to_program.clear(),
            }
        }
    }

    fn write_person(&mut self) -> io::Result<()> {
        while !self.to_person.is_empty() {
            match rustix::io::write(&self.person, &self.to_person) {
                Ok(written) => drop(self.to_person.drain(..written)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(_) => {
                    self.to_person.clear();
                    self.hang_up();
                }
            }
        }
        Ok(())
    }

    /// What the supervisor reports; the end, if it is there.
    fn events(&mut self) -> io::Result<Option<Result<CommandExit, ProcessError>>> {
        for event in self.supervisor.events() {
            match event {
                TerminalEvent::Started(program) => {
                    rustix::io::ioctl_fionbio(&program, true)?;
                    self.program = Some(program);
                    // It may have changed since the view was described.
                    self.resize();
                }
                TerminalEvent::Stopped => self.suspend()?,
                TerminalEvent::Continued => {}
                TerminalEvent::Ending => self.wait_for_end(),
                TerminalEvent::Ended(ended) => return Ok(Some(ended)),
            }
        }
        Ok(None)
    }

    /// The program has ended, and a process that it started has not ended for a while.
    fn wait_for_end(&mut self) {
        if self.ending.is_some() || self.is_waiting_for_end {
            return;
        }
        self.drain_output();
        self.flush();
        self.terminal.take_back();
        if let Some(guard) = &mut self.guard {
            guard.set_reset(&self.terminal.emergency());
        }
        let line = "waiting for the end of processes that the program left (Ctrl-C waits no longer; the changes stay pending)";
        held_terminal::say(line);
        // What was typed before was for the program.
        self.to_program.clear();
        self.is_waiting_for_end = true;
    }

    /// The program was stopped: placet stops as a whole, as the person's shell expects, and continues with it.
    fn suspend(&mut self) -> io::Result<()> {
        self.read_program()?;
        self.flush();
        if self.ending.is_none() {
            term::write_all(&self.terminal.screen.leave());
            term::suspend();
            self.resize();
            self.restore_screen();
        }
        self.supervisor.resume();
        Ok(())
    }

    /// The page was asked for, and the program's output is between two sequences, or takes too long for that.
    fn is_page_due(&self) -> bool {
        let is_quiet = || self.to_person.is_empty() && self.terminal.screen.is_quiet();
        self.program.is_some()
            && self.ending.is_none()
            && self.page_asked.is_some_and(|asked| is_quiet() || asked.elapsed() >= QUIET)
    }

    /// placet's page, until it is closed. The program's screen is the same afterwards, and what the program wrote
    /// meanwhile follows.
    fn open_page(&mut self, signals: &RelaySignals) -> io::Result<()> {
        self.page_asked = None;
        self.flush();
        let Some(program) = &self.program else { return Ok(()) };
        // The page has the colours of the background, and an answer is no key for it.
        self.terminal.lent.ask();
        let typed = [typeahead::take(), self.terminal.lent.before.wait(None)].concat();
        typeahead::give_back(&typed);
        term::write_all(&self.terminal.screen.pause());
        term::take_back()?;
        if let Some(guard) = &mut self.guard {
            guard.set_reset(&[term::LEAVE_FULL, &self.terminal.emergency()].concat());
        }
        let opener = Rc::clone(&self.page_key);
        let opener = move |key| opener.borrow().matches(key);
        let shown = self.page.show((program, &self.supervisor), signals, opener);
        term::pass_through()?;
        // What was typed after the key that closed the page is not for the question at the end.
        self.to_program.extend(typeahead::take());
        if let Some(guard) = &mut self.guard {
            guard.set_reset(&self.terminal.emergency());
        }
        match shown {
            Ok(held) => {
                self.resize();
                self.restore_screen();
                self.take_output(&held);
            }
            // The terminal is gone, and the loop ends the program.
            Err(_) => self.hang_up(),
        }
        Ok(())
    }

    fn take_output(&mut self, bytes: &[u8]) {
        self.terminal.lent.ask_before(bytes);
        self.terminal.screen.feed(bytes, &mut self.to_person);
        if self.terminal.screen.take_changed() {
            let reset = self.terminal.emergency();
            if let Some(guard) = &mut self.guard {
                guard.set_reset(&reset);
            }
            term::set_program_reset(reset);
        }
    }

    /// The program has the screen again.
    fn restore_screen(&mut self) {
        let (bytes, restored) = self.terminal.screen.resume();
        term::write_all(&bytes);
        if restored == ScreenRestored::No
            && let Some(program) = &self.program
        {
            // A program draws everything again when the size changes.
            let size = terminal_size();
            let other = TerminalSize { rows: size.rows.saturating_sub(1).max(1), ..size };
            let _ = rustix::termios::tcsetwinsize(program, other.into());
            let _ = rustix::termios::tcsetwinsize(program, size.into());
        }
    }

    fn resize(&mut self) {
        let size = terminal_size();
        self.terminal.screen.resize(size);
        if let Some(program) = &self.program {
            // The kernel reports it to the program when the size differs.
            let _ = rustix::termios::tcsetwinsize(program, size.into());
        }
    }

    /// The person's terminal is gone: so is the program's, and what it does not end by itself is ended.
    fn hang_up(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(EndingRun { by: Instant::now() + HANGUP_GRACE });
            // The kernel sends SIGHUP to the foreground group.
            self.program = None;
            self.to_program.clear();
        }
    }

    fn stop_now(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(EndingRun { by: Instant::now() });
            self.supervisor.stop();
        }
    }

    /// What the program wrote last.
    fn drain(&mut self) {
        self.drain_output();
        let end = Instant::now() + LAST_ERRORS;
        while let Some(errors) = &self.errors {
            let left = timespec(end.saturating_duration_since(Instant::now()));
            let stderr = rustix::stdio::stderr();
            let mut fds = match self.takes_errors {
                true => [PollFd::new(errors, PollFlags::IN)],
                false => [PollFd::new(&stderr, PollFlags::OUT)],
            };
            match poll(&mut fds, Some(&left)) {
                Err(Errno::INTR) => {}
                Ok(0) | Err(_) => return,
                Ok(_) if self.takes_errors => self.read_errors(),
                Ok(_) => self.takes_errors = true,
            }
        }
    }

    fn drain_output(&mut self) {
        while self.program.is_some() {
            let before = self.to_person.len();
            if self.read_program().is_err()
                || (self.to_person.len() == before && self.to_person.len() < BUFFER)
            {
                break;
            }
            self.flush();
        }
    }

    /// Writes what waits, for at most [`FLUSH`].
    fn flush(&mut self) {
        let end = Instant::now() + FLUSH;
        while !self.to_person.is_empty() && self.write_person().is_ok() && !self.to_person.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            let mut fds = [PollFd::new(&self.person, PollFlags::OUT)];
            match poll(&mut fds, Some(&timespec(left))) {
                Ok(0) => return self.to_person.clear(),
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return self.to_person.clear(),
            }
        }
    }
}

/// What the relay was woken for.
struct RelayReady {
    reported: bool,
    signalled: bool,
    cancelled: bool,
    typed: bool,
    hung_up: bool,
    errors: bool,
    takes_errors: bool,
    program: bool,
}

fn push<'a>(fds: &mut Vec<PollFd<'a>>, fd: PollFd<'a>) -> usize {
    fds.push(fd);
    fds.len() - 1
}

fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    }
}
