//! Where tests hold a stage for as long as they want.

/// In a debug build with `PLACET_HOLD=NAME=FILE` the thread waits here while the file exists, at most a minute, and makes
/// `FILE.reached` first. Does nothing in the program.
pub fn hold_point(name: &str) {
    #[cfg(debug_assertions)]
    {
        use std::time::{Duration, Instant};
        let Ok(wanted) = std::env::var("PLACET_HOLD") else { return };
        let Some((_, file)) = wanted.split_once('=').filter(|(stage, _)| *stage == name) else { return };
        if std::fs::write(format!("{file}.reached"), "").is_err() {
            return;
        }
        let end = Instant::now() + Duration::from_secs(60);
        while std::path::Path::new(file).exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    #[cfg(not(debug_assertions))]
    {
        let _ = name;
    }
}
