//! The person's own editor: which editor it is, and the edited text. The caller releases the terminal first.

use placet_text::text::regular_file;
use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGQUIT};
use signal_hook::{flag, low_level};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest text that is read back, in bytes.
const MOST: u64 = 16 << 20;

/// Ctrl-C ended the editor: who watches for the signal has looked whether an editor runs after this time.
const SEEN: Duration = Duration::from_millis(50);

static RUNS: AtomicBool = AtomicBool::new(false);

/// True while an editor has the terminal: Ctrl-C is for the editor.
pub fn has_terminal() -> bool {
    RUNS.load(Ordering::SeqCst)
}

/// While this exists, Ctrl-C and Ctrl-\ do nothing to placet: the terminal sends them to both, and many editors leave them
/// on. In a process that does not watch for them they do nothing afterwards either; SIGTERM still ends it.
struct EditorSignals {
    pressed: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl EditorSignals {
    fn new() -> io::Result<EditorSignals> {
        RUNS.store(true, Ordering::SeqCst);
        let mut signals = EditorSignals { pressed: Arc::default(), registered: Vec::new() };
        for signal in [SIGINT, SIGQUIT] {
            signals.registered.push(flag::register(signal, Arc::clone(&signals.pressed))?);
        }
        Ok(signals)
    }
}

impl Drop for EditorSignals {
    fn drop(&mut self) {
        if self.pressed.load(Ordering::SeqCst) {
            std::thread::sleep(SEEN);
        }
        RUNS.store(false, Ordering::SeqCst);
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}

/// The setting, VISUAL, EDITOR, vi: a command line, so that `code --wait` works.
pub fn program(own: Option<&str>) -> String {
    let variable = |name: &str| std::env::var(name).ok().filter(|v| !v.trim().is_empty());
    own.map(String::from)
        .or_else(|| variable("VISUAL"))
        .or_else(|| variable("EDITOR"))
        .unwrap_or_else(|| "vi".into())
}

/// Lets the person edit `text`. What is in the file counts, not how the editor ended.
pub fn edit(program: &str, text: &str, suffix: &str) -> io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("placet-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    run(program, &[file.path().as_os_str()])?;
    regular_file::read_to_string(file.path(), MOST)
}

/// Opens a file at a line, from 1, in the way the editor understands.
pub fn open(program: &str, path: &Path, line: usize) -> io::Result<()> {
    let first = program.split_whitespace().next().unwrap_or("");
    let name = Path::new(first).file_name().unwrap_or_default().to_string_lossy().into_owned();
    match name.as_str() {
        "code" | "codium" | "cursor" | "windsurf" => {
            let mut place = path.as_os_str().to_os_string();
            place.push(format!(":{line}"));
            run(program, &["-g".as_ref(), &place])
        }
        _ => run(program, &[format!("+{line}").as_ref(), path.as_os_str()]),
    }
}

fn run(program: &str, arguments: &[&std::ffi::OsStr]) -> io::Result<()> {
    // Through a shell, because the variable is a shell's command line, with quotes. Keys come from the terminal,
    // whatever placet's own standard input is.
    let mut command = std::process::Command::new("sh");
    command.arg("-c").arg(format!("{program} \"$@\"")).arg("sh").args(arguments);
    if !io::IsTerminal::is_terminal(&io::stdin()) {
        command.stdin(std::fs::File::open("/dev/tty")?);
    }
    let _signals = EditorSignals::new()?;
    let status = command.status()?;
    match status.code() {
        Some(126 | 127) => Err(io::Error::other(format!("cannot start the editor `{program}`"))),
        _ => Ok(()),
    }
}
