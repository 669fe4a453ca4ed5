//! How far an apply or an undo of a command is, and Ctrl-C, which stops it before the first file changes.

use crate::ui::apply_progress::with_apply_progress;
use crate::workspace::View;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C as a request, as long as this exists. A second one ends the process, and so does the first one afterwards.
#[derive(Debug)]
struct InterruptRequest {
    pressed: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl InterruptRequest {
    fn new() -> std::io::Result<InterruptRequest> {
        let request = InterruptRequest { pressed: Arc::default(), is_over: Arc::default() };
        // In this order: a handler sees what the ones before it have left.
        for condition in [&request.is_over, &request.pressed] {
            flag::register_conditional_default(SIGINT, Arc::clone(condition))?;
        }
        flag::register(SIGINT, Arc::clone(&request.pressed))?;
        Ok(request)
    }
}

impl Drop for InterruptRequest {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// Runs `work`, an apply or an undo in `view`. Once in a process: afterwards, Ctrl-C ends it.
pub(in crate::cli) fn shown<T>(view: &View, work: impl FnOnce() -> T) -> T {
    match InterruptRequest::new() {
        Ok(request) => {
            with_apply_progress(view.apply_progress(), &|| request.pressed.load(Ordering::SeqCst), work)
        }
        // Ctrl-C ends the process; the next start of placet completes the apply, or removes what was prepared.
        Err(_) => with_apply_progress(view.apply_progress(), &|| false, work),
    }
}
