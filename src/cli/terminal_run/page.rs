//! Opens placet's page over the program, and works for it: a thread finds the facts, and reads what the program writes
//! meanwhile, so that the program goes on. After [`HELD`] bytes the program waits.

use super::page_facts::{CHANGES, PageFacts};
use super::page_network::{PageNetwork, SOON};
use super::wake::RelaySignals;
use crate::app::App;
use crate::cli::report::CliError;
use crate::cli::screen;
use crate::process::TerminalSupervisor;
use crate::process::close_on_exec;
use crate::repl::keymap;
use crate::tools::TerminalRun;
use crate::ui::keymap::Keymap;
use crate::ui::run_page::{
    KEYS, RunPage, RunPageAction, RunPageFacts, RunPageFeed, RunPageNews, RunPageWish,
};
use crate::ui::{Theme, full_screen, pager};
use crate::workspace::{RunningCounts, RunningLayer, Workspace};
use crossterm::event::KeyEvent;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// The most bytes of output that are held while the page is open.
const HELD: usize = 4 << 20;
/// How long the thread waits at most before it looks whether the person wants something.
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What every opening of the page needs.
pub(super) struct PageSetup<'a> {
    app: &'a App,
    keys: Keymap<RunPageAction>,
    pager: Keymap<pager::PagerAction>,
    title: String,
    started: Instant,
    run: &'a TerminalRun,
    workspace: &'a Workspace,
    /// The program may connect to some host.
    has_hosts: bool,
}

impl<'a> PageSetup<'a> {
    pub(super) fn new(
        app: &'a App,
        run: &'a TerminalRun,
        (title, has_hosts): (&str, bool),
    ) -> Result<PageSetup<'a>, CliError> {
        Ok(PageSetup {
            app,
            keys: keymap(&app.config, "run", KEYS).map_err(CliError::usage)?,
            pager: keymap(&app.config, "pager", pager::KEYS).map_err(CliError::usage)?,
            title: title.into(),
            started: Instant::now(),
            run,
            workspace: &app.workspace,
            has_hosts: has_hosts || !app.config.settings().sandbox.hosts.is_empty(),
        })
    }

    /// Shows the page until the person closes it, or the program ends. The base mode must hold. Returns what the program
    /// wrote meanwhile.
    pub(super) fn show(
        &self,
        (program, supervisor): (&OwnedFd, &TerminalSupervisor),
        signals: &RelaySignals,
        opener: impl Fn(KeyEvent) -> bool + 'static,
    ) -> io::Result<Vec<u8>> {
        let (stopped, stop) = close_on_exec::pipe()?;
        let (news, inbox) = channel();
        let (asked, wishes) = channel();
        let is_over: Arc<AtomicBool> = Arc::default();
        let feed = RunPageFeed { news: inbox, wishes: asked, is_over: Arc::clone(&is_over) };
        let keys = (self.keys.clone(), self.pager.clone());
        // The terminal may have answered meanwhile which background it has.
        screen::keep_background();
        let theme = screen::theme(self.app).map_or_else(|_| Theme::plain(), |(theme, _)| theme);
        let mut page = RunPage::new((&self.title, self.started), &theme, keys, feed, Box::new(opener));
        let worker = PageWorker { setup: self, program, supervisor, signals, stopped, news, wishes, is_over };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("page".into());
            let working = thread.spawn_scoped(scope, move || worker.work())?;
            let shown = full_screen::run(&mut page);
            drop(stop);
            let held = working.join().map_err(|_| io::Error::other("placet's page failed"))?;
            shown.map(|()| held)
        })
    }
}

struct PageWorker<'a> {
    setup: &'a PageSetup<'a>,
    program: &'a OwnedFd,
    supervisor: &'a TerminalSupervisor,
    signals: &'a RelaySignals,
    /// Hangs up when the page is closed.
    stopped: OwnedFd,
    news: Sender<RunPageNews>,
    wishes: Receiver<RunPageWish>,
    is_over: Arc<AtomicBool>,
}

impl PageWorker<'_> {
    fn work(self) -> Vec<u8> {
        let mut held = Vec::new();
        let layers = self.setup.run.program_view().layer.running_layers();
        let mut counts = RunningCounts::default();
        let mut network = PageNetwork::at(self.setup.run.program_view().network_control);
        let mut next = Instant::now();
        loop {
            if next <= Instant::now() {
                // The page may be closed already.
                let facts = self.look((&layers, &mut counts), &mut network);
                let _ = self.news.send(RunPageNews::Facts(facts));
                next = Instant::now() + network.next_look();
            }
            let room = held.len() < HELD;
            let flags = if room { PollFlags::IN } else { PollFlags::empty() };
            let mut fds = [PollFd::new(&self.stopped, PollFlags::IN), PollFd::new(self.program, flags)];
            let _ = poll(&mut fds, Some(&TURN));
            let [stopped, program] = &fds;
            if !stopped.revents().is_empty() {
                return held;
            }
            let ended =
                program.revents().contains(PollFlags::HUP) && !program.revents().contains(PollFlags::IN);
            if ended || self.signals.is_hung_up() || self.signals.is_ended() || !self.read(room, &mut held) {
                self.is_over.store(true, Ordering::SeqCst);
                // The page closes by itself and then hangs up.
                let mut fds = [PollFd::new(&self.stopped, PollFlags::IN)];
                let _ = poll(&mut fds, None);
                return held;
            }
            while let Ok(wish) = self.wishes.try_recv() {
                match wish {
                    RunPageWish::Allow(entry) => {
                        network.allow(&entry);
                        next = Instant::now() + SOON;
                    }
                    RunPageWish::Open(path) => {
                        let _ = self.news.send(self.facts().difference(&layers, path));
                    }
                }
            }
        }
    }

    /// Takes the output that is there. False when the program has closed its terminal.
    fn read(&self, room: bool, held: &mut Vec<u8>) -> bool {
        let mut buffer = [0; 16 << 10];
        while room && held.len() < HELD {
            match rustix::io::read(self.program, &mut buffer) {
                Ok(0) => return false,
                Ok(length) => held.extend_from_slice(buffer.get(..length).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => return false,
            }
        }
        true
    }

    fn facts(&self) -> PageFacts<'_> {
        PageFacts { workspace: self.setup.workspace, has_hosts: self.setup.has_hosts }
    }

    fn look(
        &self,
        files: (&[RunningLayer], &mut RunningCounts),
        network: &mut PageNetwork<'_>,
    ) -> RunPageFacts {
        let found = (self.supervisor.programs(), self.setup.run.changes_so_far(CHANGES));
        self.facts().found(found, files, network)
    }
}
