//! What rustyline reads: a private terminal that is fed with keys it understands.
//!
//! rustyline reads ahead, types a terminal's answers into the line and knows neither long pastes nor Shift+Enter. While
//! it reads a line, its standard input is the other end of a terminal of our own. A thread reads the real one and
//! passes on keys (`super::legacy`), and turns a paste into the text that the line shows. After whatever may end the
//! line, the thread passes on nothing until it knows whether the line ended: the input after the line belongs to the
//! next reader.
//!
//! Where no private terminal can be had, rustyline reads the real one as before, and loses only these advantages.

use super::async_key_reader::{timespec, wait};
use super::decode::{InputDecoder, InputToken, TerminalInput};
use super::{CHUNK, answering_decoder, legacy, typeahead};
use crate::terminal::term;
use crossterm::event::{KeyCode, KeyModifiers};
use placet_process::close_on_exec;
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a paste is to be in the line; nothing where it was refused.
pub type PasteHandler = Arc<dyn Fn(TerminalInput) -> Option<String> + Send + Sync>;

/// A key that follows another faster was not pressed by a hand.
const ALONE: Duration = Duration::from_millis(50);
/// Ctrl+F12 as rustyline reads it: what is drawn below the line has changed, or the line is to be sent.
const REFRESH: &[u8] = b"\x1b[24;5~";

/// How long rustyline may take for a key before it is asked whether it has read it.
const LOOK: Duration = Duration::from_millis(30);

/// The private terminal. Cloned handles are the same one.
#[derive(Clone)]
pub struct PtyProxy(Arc<PtyProxyShared>);

struct PtyProxyShared {
    /// Ours to write into.
    feed: OwnedFd,
    /// rustyline's, as its standard input.
    line: OwnedFd,
    take: PasteHandler,
    phase: Mutex<PtyProxyPhase>,
    changed: Condvar,
    /// Wakes the thread from its wait for the terminal.
    wake: OwnedFd,
    woken: OwnedFd,
    /// A byte arrives with every change of the window's size.
    resizes: UnixStream,
    /// Something below the line has changed.
    is_stale: AtomicBool,
    /// The prompt says something else by now: Ctrl+F12 is to be sent for that.
    is_prompt_stale: AtomicBool,
    /// It was sent: the next Ctrl+F12 that rustyline reads ends the line.
    is_renewing: AtomicBool,
    /// The window changed since [`PtyProxy::take_resize`] was called last.
    is_resized: AtomicBool,
    /// Something is below the line, and rustyline waits for a key of the line, not of a search.
    may_refresh: AtomicBool,
    /// The key that was passed on last came alone, as a hand types it.
    by_hand: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PtyProxyPhase {
    /// Nobody reads a line.
    Off,
    Run,
    /// rustyline has checked whether the line is complete, and reported that the line continues.
    GoOn,
    /// Something else has the terminal for a while; the thread has to say that it keeps off.
    Pausing,
    Paused,
    Ending,
}

impl PtyProxy {
    /// Opens the private terminal; nothing else changes yet.
    pub fn open(take: PasteHandler) -> io::Result<PtyProxy> {
        let feed = close_on_exec::terminal()?;
        rustix::pty::grantpt(&feed)?;
        rustix::pty::unlockpt(&feed)?;
        let name = rustix::pty::ptsname(&feed, Vec::new())?;
        let flags = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
        let line = rustix::fs::open(&name, flags, rustix::fs::Mode::empty())?;
        // It is as raw from the start as rustyline will make it: nothing is echoed back between two lines.
        let mut mode = rustix::termios::tcgetattr(&line)?;
        mode.make_raw();
        rustix::termios::tcsetattr(&line, rustix::termios::OptionalActions::Now, &mode)?;
        let (woken, wake) = close_on_exec::nonblocking_pipe()?;
        term::keep_input()?;
        let (resizes, resized) = UnixStream::pair()?;
        resizes.set_nonblocking(true)?;
        signal_hook::low_level::pipe::register(signal_hook::consts::SIGWINCH, resized)?;
        let (phase, changed) = (Mutex::new(PtyProxyPhase::Off), Condvar::new());
        let [is_stale, is_prompt_stale, is_renewing, is_resized, may_refresh, by_hand] =
            [const { AtomicBool::new(false) }; 6];
        let shared = PtyProxyShared {
            feed,
            line,
            take,
            phase,
            changed,
            wake,
            woken,
            resizes,
            is_stale,
            is_prompt_stale,
            is_renewing,
            is_resized,
            may_refresh,
            by_hand,
        };
        Ok(PtyProxy(Arc::new(shared)))
    }

    /// Runs `read`, which reads a line from standard input.
    pub fn during<T>(&self, read: impl FnOnce() -> T) -> io::Result<T> {
        self.0.set(PtyProxyPhase::Run);
        let shared = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("pump".into()).spawn(move || shared.run())?;
        if let Err(e) = rustix::stdio::dup2_stdin(&self.0.line) {
            self.0.finish(thread);
            return Err(e.into());
        }
        let back = StdinGuard;
        let out = read();
        drop(back);
        self.0.finish(thread);
        Ok(out)
    }

    /// Reports that the line continues after a key that might have ended it.
    pub fn continue_line(&self) {
        let mut phase = self.0.phase();
        if *phase == PtyProxyPhase::Run {
            *phase = PtyProxyPhase::GoOn;
            self.0.changed.notify_all();
        }
    }

    /// What is drawn below the line has changed: rustyline is to draw it again, if it waits for a key of the line.
    pub fn refresh(&self) {
        self.0.is_stale.store(true, Ordering::Relaxed);
        let _ = rustix::io::write(&self.0.wake, b"!");
    }

    /// What the prompt says has changed: rustyline is to end, if it waits for a key of the line, so that it is asked for
    /// the line again.
    pub fn renew_prompt(&self) {
        self.0.is_prompt_stale.store(true, Ordering::Relaxed);
        let _ = rustix::io::write(&self.0.wake, b"!");
    }

    /// True where Ctrl+F12 was sent because the prompt says something else.
    pub fn takes_prompt(&self) -> bool {
        self.0.is_renewing.swap(false, Ordering::Relaxed)
    }

    /// Whether there is something below the line that [`PtyProxy::refresh`] can draw again.
    pub fn allow_refresh(&self, may: bool) {
        self.0.may_refresh.store(may, Ordering::Relaxed);
    }

    /// True when the window changed: the terminal may have moved what is below the line.
    pub fn take_resize(&self) -> bool {
        self.0.is_resized.swap(false, Ordering::Relaxed)
    }

    /// Has rustyline read Ctrl+F12 next. Only for a key handler of a key after which the thread waits, such as Enter:
    /// otherwise the bytes could come between those of another key.
    pub fn press_next(&self) {
        let _ = rustix::io::write(&self.0.feed, REFRESH);
    }

    /// True when the key that is handled now came alone. A paste that the terminal does not mark comes in one piece,
    /// and its Tab or Enter chooses nothing.
    pub fn is_by_hand(&self) -> bool {
        self.0.by_hand.load(Ordering::Relaxed)
    }

    /// Runs `work` with the real terminal as standard input and nobody else reading it.
    pub fn pause<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut phase = self.0.phase();
        if *phase == PtyProxyPhase::Off {
            drop(phase);
            return work();
        }
        *phase = PtyProxyPhase::Pausing;
        self.0.notify();
        while *phase == PtyProxyPhase::Pausing {
            phase = self.0.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
        drop(phase);
        drop(StdinGuard);
        let out = work();
        let _ = rustix::stdio::dup2_stdin(&self.0.line);
        self.0.set(PtyProxyPhase::Run);
        out
    }
}

/// Gives standard input back to the real terminal, also when a reader panics.
struct StdinGuard;

impl Drop for StdinGuard {
    fn drop(&mut self) {
        let _ = rustix::stdio::dup2_stdin(term::input());
    }
}

impl PtyProxyShared {
    fn phase(&self) -> MutexGuard<'_, PtyProxyPhase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, to: PtyProxyPhase) {
        *self.phase() = to;
        self.notify();
    }

    fn notify(&self) {
        self.changed.notify_all();
        let _ = rustix::io::write(&self.wake, b"!");
    }

    fn finish(&self, thread: std::thread::JoinHandle<()>) {
        self.set(PtyProxyPhase::Ending);
        drop(thread.join());
        *self.phase() = PtyProxyPhase::Off;
    }

    /// Feeds rustyline until the line has ended; what was not passed on is given back.
    fn run(&self) {
        let mut decoder = InputDecoder::default();
        let mut tokens: VecDeque<InputToken> =
            answering_decoder::feed(&mut decoder, &typeahead::take()).into();
        let (mut last_read, mut is_alone, mut is_of_line): (Option<Instant>, _, _) = (None, false, true);
        let mut was_escape = false;
        while self.may_read() {
            match tokens.pop_front() {
                Some(token) => {
                    self.by_hand.store(is_alone, Ordering::Relaxed);
                    is_of_line = edits_the_line(&token);
                    self.pass(&token, was_escape);
                    was_escape = is_escape(&token);
                }
                // A key such as Ctrl-R or Ctrl-Q decides about what follows it, which this would be.
                None if is_of_line && self.is_prompt_stale.swap(false, Ordering::Relaxed) => {
                    self.is_renewing.store(true, Ordering::Relaxed);
                    self.write(REFRESH);
                    self.wait_for_rustyline();
                }
                None if is_of_line && self.takes_refresh() => self.write(REFRESH),
                None => match self.read(&mut decoder) {
                    Some(read) => {
                        if !read.is_empty() {
                            let before = last_read.replace(Instant::now());
                            is_alone = read.len() == 1 && before.is_none_or(|at| at.elapsed() >= ALONE);
                        }
                        tokens.extend(read);
                    }
                    None => {
                        self.close_input();
                        self.wait_for_end();
                    }
                },
            }
        }
        let mut unused: Vec<u8> = tokens.into_iter().flat_map(|token| token.raw).collect();
        unused.extend_from_slice(&decoder.finish());
        typeahead::give_back(&unused);
    }

    /// True when something below the line is to be drawn again now.
    fn takes_refresh(&self) -> bool {
        self.may_refresh.load(Ordering::Relaxed) && self.is_stale.swap(false, Ordering::Relaxed)
    }

    /// False when the line has ended. Waits while something else has the terminal.
    fn may_read(&self) -> bool {
        let mut phase = self.phase();
        loop {
            match *phase {
                PtyProxyPhase::Run | PtyProxyPhase::GoOn => {
                    *phase = PtyProxyPhase::Run;
                    return true;
                }
                PtyProxyPhase::Ending | PtyProxyPhase::Off => return false,
                PtyProxyPhase::Pausing => {
                    *phase = PtyProxyPhase::Paused;
                    self.changed.notify_all();
                }
                PtyProxyPhase::Paused => {
                    phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// The terminal is gone: rustyline wakes, and reads the end.
    fn close_input(&self) {
        if let Ok(nothing) = std::fs::File::open("/dev/null") {
            let _ = rustix::stdio::dup2_stdin(&nothing);
        }
        self.write(&[0]);
    }

    fn wait_for_end(&self) {
        let mut phase = self.phase();
        while matches!(*phase, PtyProxyPhase::Run | PtyProxyPhase::GoOn) {
            phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What is typed; nothing more than a rousing may come. `None` when the terminal is gone.
    fn read(&self, decoder: &mut InputDecoder) -> Option<Vec<InputToken>> {
        let terminal = term::input();
        let mut fds = [
            PollFd::new(&terminal, PollFlags::IN),
            PollFd::new(&self.woken, PollFlags::IN),
            PollFd::new(&self.resizes, PollFlags::IN),
        ];
        match rustix::event::poll(&mut fds, wait(decoder).as_ref()) {
            Ok(0) => return Some(answering_decoder::flush_timeout(decoder).into_iter().collect()),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Some(Vec::new()),
            Err(_) => return None,
        }
        let [typed, woken, resized] = &fds;
        let (typed, woken) = (typed.revents(), !woken.revents().is_empty());
        if !resized.revents().is_empty() {
            let mut bytes = [0; 64];
            while matches!((&self.resizes).read(&mut bytes), Ok(n) if n > 0) {}
            self.is_resized.store(true, Ordering::Relaxed);
            self.is_stale.store(true, Ordering::Relaxed);
            return Some(Vec::new());
        }
        if woken {
            let _ = rustix::io::read(&self.woken, &mut [0; 64]);
            return Some(Vec::new());
        }
        if typed.contains(PollFlags::IN) {
            let mut buffer = vec![0; CHUNK];
            return match rustix::io::read(terminal, &mut buffer) {
                Ok(0) => None,
                Ok(n) => Some(answering_decoder::feed(decoder, buffer.get(..n).unwrap_or(&[]))),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Some(Vec::new()),
                Err(_) => None,
            };
        }
        (!typed.intersects(PollFlags::HUP | PollFlags::ERR)).then(Vec::new)
    }

    fn pass(&self, token: &InputToken, was_escape: bool) {
        match &token.input {
            Some(TerminalInput::Paste(_) | TerminalInput::PasteRefused(_)) => {
                if let Some(input) = token.input.clone()
                    && let Some(text) = (self.take)(input)
                {
                    self.write(&[b"\x1b[200~", text.as_bytes(), b"\x1b[201~"].concat());
                }
            }
            _ => {
                self.write(&legacy::bytes(token));
                // The second Esc opens a screen.
                if may_end_the_line(token) || was_escape && is_escape(token) {
                    self.wait_for_rustyline();
                }
            }
        }
    }

    /// Waits until rustyline has processed the last key: the line has ended, or it continues, or the key meant
    /// something else. rustyline does not report the last case; it is assumed when the key was read and a moment has
    /// passed.
    fn wait_for_rustyline(&self) {
        let mut phase = self.phase();
        let mut read = false;
        while *phase == PtyProxyPhase::Run {
            let (next, waited) =
                self.changed.wait_timeout(phase, LOOK).unwrap_or_else(PoisonError::into_inner);
            phase = next;
            if waited.timed_out() {
                if read {
                    return;
                }
                read = rustix::io::ioctl_fionread(&self.line).is_ok_and(|waiting| waiting == 0);
            }
        }
    }

    /// All of it, unless the line ends meanwhile.
    fn write(&self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !matches!(*self.phase(), PtyProxyPhase::Ending | PtyProxyPhase::Off) {
            let mut fds = [PollFd::new(&self.feed, PollFlags::OUT)];
            if !matches!(rustix::event::poll(&mut fds, Some(&timespec(LOOK))), Ok(n) if n > 0) {
                continue;
            }
            // The kernel's buffer of a terminal holds 4096 bytes; a larger write would wait where nothing wakes it.
            let part = bytes.get(..bytes.len().min(512)).unwrap_or(bytes);
            match rustix::io::write(&self.feed, part) {
                Ok(n) => bytes = bytes.get(n..).unwrap_or(&[]),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return,
            }
        }
    }
}

/// A key that changes the line or moves in it, and after which rustyline waits for the next one.
fn edits_the_line(token: &InputToken) -> bool {
    match &token.input {
        Some(TerminalInput::Key(key)) => match key.code {
            KeyCode::Char(_) => (key.modifiers - KeyModifiers::SHIFT).is_empty(),
            KeyCode::Esc => false,
            _ => key.modifiers.is_empty(),
        },
        Some(TerminalInput::Paste(_)) => true,
        _ => false,
    }
}

fn is_escape(token: &InputToken) -> bool {
    matches!(&token.input, Some(TerminalInput::Key(key)) if key.code == KeyCode::Esc)
}

/// Enter, and the keys that leave the line for something else.
fn may_end_the_line(token: &InputToken) -> bool {
    let Some(TerminalInput::Key(key)) = &token.input else { return false };
    match key.code {
        KeyCode::Enter => key.modifiers.is_empty(),
        KeyCode::Char('c' | 'd' | 'e' | 'g' | 'm' | 'p' | 't' | 'z') => {
            key.modifiers == KeyModifiers::CONTROL
        }
        KeyCode::Char('r') => key.modifiers == KeyModifiers::ALT,
        _ => false,
    }
}
