//! The log: a file of placet's own, never the terminal, made when there is something to write. Without `-v` and
//! PLACET_LOG only what went wrong is written.

use crate::text::regular_file;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// Starts a new log when the log is larger than this. The older log stays next to it.
const MOST: u64 = 10 * 1024 * 1024;

/// Starts logging. placet runs without a log if it cannot write one.
pub(in crate::cli) fn start(path: &Path, verbose: u8) {
    let wanted = std::env::var("PLACET_LOG").ok().filter(|v| !v.is_empty());
    let filter = match (wanted, verbose) {
        (Some(filter), _) => filter,
        (None, 0) => "placet=warn".into(),
        (None, 1) => "placet=debug".into(),
        (None, _) => "debug".into(),
    };
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("placet=debug"));
    // It would log the codes of logins.
    let filter = match "rmcp::transport::auth=warn".parse() {
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    };
    let writer = Mutex::new(LazyLogFile { path: path.into(), file: None });
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(writer);
    // A log that cannot be written, for example on a full disk, is reported on stderr otherwise: that is the screen.
    drop(log.log_internal_errors(false).try_init());
}

/// A file that is opened by the first line written to it.
struct LazyLogFile {
    path: PathBuf,
    file: Option<File>,
}

impl LazyLogFile {
    fn open(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            let dir = self.path.parent().unwrap_or(Path::new("."));
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            if std::fs::metadata(&self.path).is_ok_and(|m| m.len() > MOST) {
                std::fs::rename(&self.path, self.path.with_extension("log.old"))?;
            }
            regular_file::check(&self.path)?;
            self.file = Some(OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?);
        }
        self.file.as_mut().ok_or_else(|| io::Error::other("no log file"))
    }
}

impl Write for LazyLogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), File::flush)
    }
}
