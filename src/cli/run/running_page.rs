//! `placet runs page`: placet's page over a program, in another terminal than the program's.
//!
//! Nothing here needs the placet of the program: the changes are read from the layers that its entry names, the processes
//! from the system, and the network from its socket.

use super::registry::{self, RunningProgram};
use crate::app::App;
use crate::cli::command_line::options::Options;
use crate::cli::report::{self, CliError, warn};
use crate::cli::screen;
use crate::cli::startup::start;
use crate::cli::terminal_run::{CHANGES, PageFacts, PageNetwork, SOON};
use crate::process::{ChildPid, programs_of};
use crate::repl::keymap;
use crate::ui::run_page::{KEYS, RunPage, RunPageFacts, RunPageFeed, RunPageNews, RunPageWish};
use crate::ui::term::BaseMode;
use crate::ui::{full_screen, pager};
use crate::workspace::{RunningChanges, RunningCounts};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

pub(in crate::cli) fn page(pid: Option<u32>, options: &Options) -> Result<u8, CliError> {
    if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        return Err(CliError::usage("`placet runs page` needs a terminal")
            .hint("`placet runs --json` prints what is known of each run"));
    }
    let run = registry::find(pid)?;
    let app = start::app(options)?;
    let keys = keymap(&app.config, "run", KEYS).map_err(CliError::usage)?;
    let pager = keymap(&app.config, "pager", pager::KEYS).map_err(CliError::usage)?;
    let (theme, _) = screen::theme(&app)?;
    let (news, inbox) = channel();
    let (asked, wishes) = channel();
    let is_over: Arc<AtomicBool> = Arc::default();
    let feed = RunPageFeed { news: inbox, wishes: asked, is_over: Arc::clone(&is_over) };
    let title = run.program.line();
    let mut page = RunPage::new((&title, started(&run)), &theme, (keys, pager), feed, Box::new(|_| false));
    let failed = |e: io::Error| CliError::new(format!("cannot use the terminal: {e}"));
    let base = BaseMode::enter_any().map_err(failed)?;
    let worker = RunningPageWorker { app: &app, run: &run, news, wishes, is_over: &is_over };
    let shown = std::thread::scope(|scope| {
        std::thread::Builder::new().name("page".into()).spawn_scoped(scope, move || worker.work())?;
        let shown = full_screen::run(&mut page);
        // Its end of the channel is gone with it, and the worker ends.
        drop(page);
        shown
    });
    drop(base);
    shown.map_err(failed)?;
    if is_over.load(Ordering::SeqCst) {
        warn(&format!("{title} has ended"));
    }
    Ok(report::DONE)
}

/// When it started, on this process's clock.
fn started(run: &RunningProgram) -> Instant {
    let now = Instant::now();
    let since = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0).saturating_sub(run.since);
    now.checked_sub(Duration::from_millis(since)).unwrap_or(now)
}

struct RunningPageWorker<'a> {
    app: &'a App,
    run: &'a RunningProgram,
    news: Sender<RunPageNews>,
    wishes: Receiver<RunPageWish>,
    is_over: &'a AtomicBool,
}

impl RunningPageWorker<'_> {
    fn work(self) {
        let mut network = PageNetwork::at(self.run.network.as_deref());
        let mut counts = RunningCounts::default();
        let mut pause = Duration::ZERO;
        loop {
            match self.wishes.recv_timeout(pause) {
                Ok(RunPageWish::Open(path)) => {
                    let facts = PageFacts { workspace: &self.app.workspace, has_hosts: self.run.has_hosts };
                    let difference = facts.difference(&self.run.layers, path);
                    if self.news.send(difference).is_err() {
                        return;
                    }
                    continue;
                }
                Ok(RunPageWish::Allow(entry)) => {
                    network.allow(&entry);
                    pause = SOON;
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !self.run.is_running(&self.app.paths.state) {
                self.is_over.store(true, Ordering::SeqCst);
                return;
            }
            let facts = look(self.app, self.run, &mut counts, &mut network);
            if self.news.send(RunPageNews::Facts(facts)).is_err() {
                return;
            }
            pause = network.next_look();
        }
    }
}

/// What is known of a run now.
pub(super) fn look(
    app: &App,
    run: &RunningProgram,
    counts: &mut RunningCounts,
    network: &mut PageNetwork<'_>,
) -> RunPageFacts {
    let programs = ChildPid::checked(run.pid).map(programs_of).unwrap_or_default();
    let hidden = |path: &Path| run.hidden.iter().any(|hidden| path.starts_with(hidden));
    let changes = RunningChanges::read(&run.layers, CHANGES, &hidden);
    let facts = PageFacts { workspace: &app.workspace, has_hosts: run.has_hosts };
    facts.found((programs, changes), (&run.layers, counts), network)
}
