//! Who owns the terminal, and how placet restores it.
//!
//! One mode is set for the whole session: no echo, no line editing, no signals from keys, but output processing stays
//! on. The prompt and the pane nest in it: typed keys are at no moment echoed or lost. However the process ends,
//! [`leave`] restores everything; calling it twice or from a panic is safe.

use rustix::fd::BorrowedFd;
use rustix::termios::{self, InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The mode that the terminal had before placet; `None` while placet does not own the terminal.
static SAVED: Mutex<Option<Termios>> = Mutex::new(None);
/// The alternate screen is on.
static FULL: AtomicBool = AtomicBool::new(false);
/// Gets a report when the alternate screen goes on or off.
static FULL_WATCH: Mutex<Option<FullScreenWatch>> = Mutex::new(None);
/// placet set the window's title.
static TITLED: AtomicBool = AtomicBool::new(false);
/// The terminal, where standard input is something else.
static TTY: OnceLock<File> = OnceLock::new();
/// The terminal as it was standard input at first: the prompt's reader replaces standard input for a time.
static INPUT: OnceLock<OwnedFd> = OnceLock::new();
/// What resets the modes that a program in a terminal of the view has set.
static PROGRAM: Mutex<Vec<u8>> = Mutex::new(Vec::new());
/// placet asked the terminal to distinguish more keys.
static KEYS: AtomicBool = AtomicBool::new(false);

/// Ends a synchronised update, reports of the focus and bracketed paste; shows the cursor, lets lines wrap; resets
/// colours. Nothing else was ever changed: resetting margins or leaving an alternate screen that was not entered would
/// move the cursor.
pub const RESTORE: &[u8] = b"\x1b[?2026l\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m";

/// The alternate screen, cleared; letters are letters, bracketed paste is on, the cursor is hidden and lines do not wrap.
const ENTER_FULL: &[u8] = b"\x1b[?1049h\x1b[0m\x1b(B\x0f\x1b[H\x1b[2J\x1b[?2004h\x1b[?25l\x1b[?7l";
/// The reverse. The screen is cleared first: tmux restores the screen at the width it had before, and rows that are too
/// long for it would wrap onto the row below.
pub const LEAVE_FULL: &[u8] = b"\x1b[0m\x1b[H\x1b[2J\x1b[?7h\x1b[?2004l\x1b[?25h\x1b[?1049l";

/// The kitty keyboard protocol's first level, and xterm's `modifyOtherKeys`: Shift+Enter becomes a key of its own. A
/// terminal that knows neither ignores both.
const KEYS_ON: &[u8] = b"\x1b[>1u\x1b[>4;1m";
/// A special character that no key sends.
const NO_KEY: u8 = 0;
const KEYS_OFF: &[u8] = b"\x1b[<u\x1b[>4m";

/// Called with `true` before placet enters the alternate screen, and with `false` after it has left it.
pub type FullScreenWatch = Box<dyn FnMut(bool) + Send>;

/// The base mode is set as long as this value exists.
#[derive(Debug)]
pub struct BaseMode(());

impl BaseMode {
    /// Takes the terminal, or returns `None` where standard input is none.
    pub fn enter() -> io::Result<Option<BaseMode>> {
        if !io::stdin().is_terminal() {
            return Ok(None);
        }
        BaseMode::take_after(|_| ()).map(Some)
    }

    /// The same where standard input or output may be a pipe: the terminal that the process belongs to is used. The
    /// error is that it belongs to none.
    pub fn enter_any() -> io::Result<BaseMode> {
        BaseMode::enter_any_after(|_| ())
    }

    /// The same, and calls `before_change` with the mode that the terminal has, before it is changed.
    pub fn enter_any_after(before_change: impl FnOnce(&Termios)) -> io::Result<BaseMode> {
        let both = io::stdin().is_terminal() && io::stdout().is_terminal();
        if !both && TTY.get().is_none() {
            let tty = File::options().read(true).write(true).open("/dev/tty")?;
            drop(TTY.set(tty));
        }
        BaseMode::take_after(before_change)
    }

    fn take_after(before_change: impl FnOnce(&Termios)) -> io::Result<BaseMode> {
        let before = termios::tcgetattr(input())?;
        before_change(&before);
        set(&base_of(&before))?;
        *lock_saved_mode() = Some(before);
        Ok(BaseMode(()))
    }
}

/// The alternate screen is on as long as this value exists. After that the terminal shows the earlier content again.
#[derive(Debug)]
pub struct AlternateScreen(());

impl AlternateScreen {
    pub fn enter() -> AlternateScreen {
        FULL.store(true, Ordering::SeqCst);
        tell_watch(true);
        write_all(ENTER_FULL);
        AlternateScreen(())
    }
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        if FULL.swap(false, Ordering::SeqCst) {
            write_all(LEAVE_FULL);
            tell_watch(false);
        }
    }
}

/// Tells `watch` about the alternate screen from now on, and nobody else.
pub fn watch_full_screen(watch: Option<FullScreenWatch>) {
    *FULL_WATCH.lock().unwrap_or_else(PoisonError::into_inner) = watch;
}

fn tell_watch(is_full: bool) {
    if let Some(watch) = &mut *FULL_WATCH.lock().unwrap_or_else(PoisonError::into_inner) {
        watch(is_full);
    }
}

impl Drop for BaseMode {
    fn drop(&mut self) {
        leave();
    }
}

/// Restores the terminal. Does nothing when placet does not own it.
pub fn leave() {
    // A panic while this process has the lock must not deadlock the hook.
    let Ok(mut saved) = SAVED.try_lock() else { return };
    if let Some(before) = saved.take() {
        if FULL.swap(false, Ordering::SeqCst) {
            write_all(LEAVE_FULL);
        }
        if KEYS.swap(false, Ordering::SeqCst) {
            write_all(KEYS_OFF);
        }
        if TITLED.swap(false, Ordering::SeqCst) {
            write_all(b"\x1b[23;2t");
        }
        if let Ok(mut reset) = PROGRAM.try_lock() {
            write_all(&std::mem::take(&mut *reset));
        }
        if !is_dumb() {
            write_all(RESTORE);
        }
        drop(set(&before));
    }
}

/// The terminal's settings before placet took it.
pub fn original_mode() -> Option<Termios> {
    lock_saved_mode().clone()
}

/// Passes every byte through unchanged, for a program that has a terminal of its own. The base mode must hold.
pub fn pass_through() -> io::Result<()> {
    let Some(mut mode) = original_mode() else { return Ok(()) };
    mode.make_raw();
    set(&mode)
}

/// Takes the terminal back from [`pass_through`].
pub fn take_back() -> io::Result<()> {
    original_mode().map_or(Ok(()), |before| set(&base_of(&before)))
}

/// What [`leave`] writes first, whatever the reason: it resets what the program's output has set.
pub fn set_program_reset(bytes: Vec<u8>) {
    *PROGRAM.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
}

/// Drops typed bytes that were not read, once all output is on its way to the screen.
pub fn forget_input() {
    let _ = termios::tcdrain(stdout());
    let _ = termios::tcflush(input(), termios::QueueSelector::IFlush);
}

/// Runs `work` with the terminal's original mode: for an editor, a shell command, a suspension.
pub fn with_original_mode<T>(work: impl FnOnce() -> T) -> T {
    let (before, now) = (lock_saved_mode().clone(), termios::tcgetattr(input()).ok());
    if let Some(before) = &before {
        disable_extended_keys();
        drop(set(before));
    }
    let out = work();
    if let (Some(_), Some(now)) = (before, now) {
        drop(set(&now));
        enable_extended_keys();
    }
    out
}

/// Runs `work` with the keys that the terminal sends by itself.
pub(crate) fn with_plain_keys<T>(work: impl FnOnce() -> T) -> T {
    disable_extended_keys();
    let out = work();
    enable_extended_keys();
    out
}

/// True for a terminal that can only show text, as in an editor's shell window: rustyline cannot edit a line there, and
/// no sequence means anything.
pub fn is_dumb() -> bool {
    std::env::var("TERM")
        .is_ok_and(|name| ["dumb", "emacs", "cons25"].contains(&name.to_lowercase().as_str()))
}

/// Variables of terminals that wrap their rows again when the window becomes narrower.
const WRAPPING: [&str; 9] = [
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "KONSOLE_VERSION",
    "ALACRITTY_WINDOW_ID",
    "WT_SESSION",
    "ITERM_SESSION_ID",
    "LC_TERMINAL",
    "TERM_PROGRAM",
];
/// The same by how the value of `TERM` begins.
const WRAPPING_TERMS: [&str; 7] =
    ["alacritty", "foot", "xterm-kitty", "xterm-ghostty", "wezterm", "contour", "vte"];

/// True for a terminal whose rows stay where they are when the window becomes narrower: xterm, the Linux console and
/// screen cut them off, where others wrap them. tmux wraps, in whatever terminal it is shown. `name` is what the terminal
/// calls itself. One that nothing is known of is taken for one that cuts: otherwise rows above the pane would be erased, and a
/// row too many is better than a line that is lost.
pub fn keeps_rows(variable: impl Fn(&str) -> Option<String>, name: Option<&str>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    if set("TMUX").is_some() || term.starts_with("tmux") {
        return false;
    }
    if let Some(name) = name {
        return name.starts_with("XTerm");
    }
    let cuts = set("XTERM_VERSION").is_some() || term == "linux" || term.starts_with("screen");
    let wraps = || {
        WRAPPING.iter().any(|name| set(name).is_some())
            || WRAPPING_TERMS.iter().any(|begins| term.starts_with(begins))
    };
    cuts || !wraps()
}

/// Asks the terminal to distinguish keys that otherwise send the same bytes, until the terminal is restored. Not where
/// such sequences are known to be shown as text.
pub fn request_extended_keys(terminal: &str) {
    let knows =
        !terminal.is_empty() && !["dumb", "linux", "screen", "vt"].iter().any(|t| terminal.starts_with(t));
    if knows && !KEYS.swap(true, Ordering::SeqCst) {
        enable_extended_keys();
    }
}

fn enable_extended_keys() {
    if KEYS.load(Ordering::SeqCst) {
        write_all(KEYS_ON);
    }
}

/// For a program that has the terminal for a while and knows only the old bytes.
fn disable_extended_keys() {
    if KEYS.load(Ordering::SeqCst) {
        write_all(KEYS_OFF);
    }
}

/// While `work` runs, Ctrl-C is a signal: for a wait in which nobody reads keys. What is typed is read after it.
pub fn with_interrupt_key<T>(work: impl FnOnce() -> T) -> T {
    if lock_saved_mode().is_none() {
        return work();
    }
    let Ok(before) = termios::tcgetattr(input()) else { return work() };
    let mut mode = before.clone();
    mode.local_modes |= LocalModes::ISIG;
    // These would stop placet or end it with a dump.
    mode.special_codes[SpecialCodeIndex::VSUSP] = NO_KEY;
    mode.special_codes[SpecialCodeIndex::VQUIT] = NO_KEY;
    disable_extended_keys();
    drop(set(&mode));
    let out = work();
    drop(set(&before));
    enable_extended_keys();
    out
}

/// Releases the screen for `work` while a full-screen pane is open, and takes it again. The pane has to be drawn again.
pub fn with_screen_released<T>(work: impl FnOnce() -> T) -> T {
    write_all(LEAVE_FULL);
    let out = with_original_mode(work);
    write_all(ENTER_FULL);
    out
}

/// Leaves the screen for another full screen that `work` shows, and takes it again. The pane has to be drawn again.
pub fn with_screen_covered<T>(work: impl FnOnce() -> T) -> T {
    if FULL.swap(false, Ordering::SeqCst) {
        write_all(LEAVE_FULL);
    }
    let out = work();
    FULL.store(true, Ordering::SeqCst);
    write_all(ENTER_FULL);
    out
}

/// Stops this process as Ctrl-Z does in a program without its own mode; returns when it is continued.
pub fn suspend() {
    with_original_mode(|| {
        if !is_dumb() {
            write_all(b"\x1b[?1004l\x1b[?2004l\x1b[?25h");
        }
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
    });
}

/// Names the window; [`leave`] gives the title before back. `text` is one clean line.
pub fn title(text: &str) {
    if !TITLED.swap(true, Ordering::SeqCst) {
        write_all(b"\x1b[22;2t");
    }
    write_all(format!("\x1b]2;{text}\x1b\\").as_bytes());
}

/// Columns and rows, from the kernel and never from the terminal; 80x24 where they are unknown.
pub fn size() -> (u16, u16) {
    match termios::tcgetwinsize(stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col, size.ws_row),
        _ => (80, 24),
    }
}

/// Pixels of a cell, across and down, where the terminal has reported them to the kernel.
pub fn cell() -> Option<(u32, u32)> {
    let size = termios::tcgetwinsize(stdout()).ok()?;
    let one = |pixels: u16, count: u16| pixels.checked_div(count).filter(|n| *n > 1).map(u32::from);
    Some((one(size.ws_xpixel, size.ws_col)?, one(size.ws_ypixel, size.ws_row)?))
}

/// Writes everything in as few calls as the kernel needs. Errors are dropped: a lost screen must not fail the turn.
pub fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::write(stdout(), bytes) {
            Ok(0) => return,
            Ok(n) => bytes = bytes.get(n..).unwrap_or(&[]),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                let out = stdout();
                let mut poll = [rustix::event::PollFd::new(&out, rustix::event::PollFlags::OUT)];
                let wait = rustix::event::Timespec { tv_sec: 1, tv_nsec: 0 };
                if !matches!(rustix::event::poll(&mut poll, Some(&wait)), Ok(n) if n > 0) {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

fn base_of(before: &Termios) -> Termios {
    let mut mode = before.clone();
    mode.local_modes &= !(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG | LocalModes::IEXTEN);
    mode.input_modes &=
        !(InputModes::BRKINT | InputModes::ICRNL | InputModes::INPCK | InputModes::ISTRIP | InputModes::IXON);
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    mode
}

/// Waits for pending output and preserves typed bytes that were not read.
fn set(mode: &Termios) -> io::Result<()> {
    Ok(termios::tcsetattr(input(), OptionalActions::Drain, mode)?)
}

fn lock_saved_mode() -> std::sync::MutexGuard<'static, Option<Termios>> {
    SAVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on [`input`] is what standard input is at this moment.
pub(crate) fn keep_input() -> io::Result<()> {
    if INPUT.get().is_none() {
        let kept = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        drop(INPUT.set(kept));
    }
    Ok(())
}

/// Where keys come from.
pub fn input() -> BorrowedFd<'static> {
    let kept = INPUT.get().map(AsFd::as_fd);
    TTY.get().map(AsFd::as_fd).or(kept).unwrap_or_else(rustix::stdio::stdin)
}

/// Where the screen is.
pub fn stdout() -> BorrowedFd<'static> {
    TTY.get().map_or_else(rustix::stdio::stdout, AsFd::as_fd)
}

#[cfg(test)]
mod tests {
    use super::keeps_rows;

    #[test]
    fn xterm_the_console_and_screen_keep_their_rows_and_tmux_wraps_them() {
        let named = |set: &[(&str, &str)], name| {
            let value =
                |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_string());
            keeps_rows(value, name)
        };
        let keeps = |set: &[(&str, &str)]| named(set, None);
        let xterm = [("TERM", "xterm-256color"), ("XTERM_VERSION", "XTerm(379)")];
        assert!(keeps(&xterm) && keeps(&[("TERM", "linux")]) && keeps(&[("TERM", "screen.xterm-256color")]));
        // Story: over ssh there is no XTERM_VERSION, and rows above the pane were erased.
        assert!(keeps(&[("TERM", "xterm-256color")]) && keeps(&[]));
        assert!(
            named(&[xterm[0]], Some("XTerm(379)"))
                && named(&[xterm[0], ("VTE_VERSION", "1")], Some("XTerm(379)"))
        );
        assert!(!named(&[xterm[0]], Some("VTE(7600)")) && !named(&[("TERM", "screen")], Some("tmux 3.4")));
        assert!(!keeps(&[xterm[0], ("VTE_VERSION", "7600")]) && !keeps(&[("TERM", "foot")]));
        assert!(
            !keeps(&[xterm[0], ("TERM_PROGRAM", "Apple_Terminal")]) && !keeps(&[("TERM", "tmux-256color")])
        );
        assert!(!keeps(&[xterm[0], xterm[1], ("TMUX", "/tmp/t,1,0")]));
        assert!(!keeps(&[("TERM", "screen-256color"), ("TMUX", "/tmp/t,1,0")]));
    }
}
