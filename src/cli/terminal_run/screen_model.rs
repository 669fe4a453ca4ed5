//! What the program's alternate screen shows, so that it can be drawn again after placet's page. The terminal itself
//! remembers the main screen.
//!
//! The model works on a thread of its own: it reads bytes that anybody may have written, and if it fails, only the model
//! is lost. The thread is as fast as it is. Where the model is behind by [`WAITING`] pieces, the relay waits for it for
//! [`BEHIND`]; then the model is lost, and the program draws its screen itself after the page.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

/// How many pieces of output may wait for the model.
const WAITING: usize = 64;
/// How long the relay waits for room. Keys and signals wait with it.
const BEHIND: Duration = Duration::from_millis(100);
/// How long a picture of the screen may take.
const PATIENCE: Duration = Duration::from_secs(2);

enum ModelTask {
    Output(Vec<u8>),
    Resize(u16, u16),
    Picture(SyncSender<Vec<u8>>),
    Rows(SyncSender<Vec<String>>),
}

/// A screen that follows output. Dropping it ends its thread.
pub(super) struct ScreenModel {
    tasks: Option<SyncSender<ModelTask>>,
}

impl ScreenModel {
    pub(super) fn start(rows: u16, columns: u16) -> ScreenModel {
        let (tasks, inbox) = sync_channel(WAITING);
        let work = move || follow(inbox, rows, columns);
        let started = std::thread::Builder::new().name("screen".into()).spawn(work);
        ScreenModel { tasks: started.is_ok().then_some(tasks) }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.send(ModelTask::Output(bytes.to_vec()));
        }
    }

    pub(super) fn resize(&mut self, rows: u16, columns: u16) {
        self.send(ModelTask::Resize(rows, columns));
    }

    /// The bytes that draw the screen; `None` if the model is lost.
    pub(super) fn picture(&mut self) -> Option<Vec<u8>> {
        let (answer, picture) = sync_channel(1);
        self.send(ModelTask::Picture(answer));
        picture.recv_timeout(PATIENCE).ok()
    }

    /// The text of each row; `None` if the model is lost.
    pub(super) fn rows(&mut self) -> Option<Vec<String>> {
        let (answer, rows) = sync_channel(1);
        self.send(ModelTask::Rows(answer));
        rows.recv_timeout(PATIENCE).ok()
    }

    fn send(&mut self, mut task: ModelTask) {
        let Some(tasks) = &self.tasks else { return };
        let end = Instant::now() + BEHIND;
        loop {
            match tasks.try_send(task) {
                Ok(()) => return,
                Err(TrySendError::Full(back)) if Instant::now() < end => {
                    task = back;
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(_) => break,
            }
        }
        self.tasks = None;
    }
}

fn follow(inbox: Receiver<ModelTask>, rows: u16, columns: u16) {
    let mut parser = vt100::Parser::new(rows.max(1), columns.max(1), 0);
    for task in inbox {
        match task {
            ModelTask::Output(bytes) => parser.process(&bytes),
            ModelTask::Resize(rows, columns) => parser.screen_mut().set_size(rows.max(1), columns.max(1)),
            ModelTask::Picture(answer) => {
                drop(answer.send(parser.screen().contents_formatted()));
            }
            ModelTask::Rows(answer) => {
                let (_, columns) = parser.screen().size();
                drop(answer.send(parser.screen().rows(0, columns).collect()));
            }
        }
    }
}
