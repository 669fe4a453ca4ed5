//! What placet's page shows of a running program, from what was found: for the page over the program, and for that of
//! another terminal.

use crate::sandbox::{HostRule, NetworkControl, NetworkEvent, NetworkEventKind};
use crate::text::{count, visible};
use crate::ui::run_page::{
    RunPageChange, RunPageFacts, RunPageHost, RunPageHostState, RunPageNews, RunPageRepository,
};
use crate::workspace::{
    ChangeKind, RunningChanges, RunningCounts, RunningLayer, RunningRepository, RunningSummary, Workspace,
    running_patch,
};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many changes are listed.
pub(in crate::cli) const CHANGES: usize = 1000;

/// How often the facts are looked at again.
const LOOK: Duration = Duration::from_secs(1);
/// How soon after a host was allowed, and where the record of the network is to come.
pub(in crate::cli) const SOON: Duration = Duration::from_millis(50);

/// The network of a running program, as a page sees it.
pub(in crate::cli) struct PageNetwork<'a> {
    /// The socket; absent where the program has no network of its own.
    path: Option<&'a Path>,
    control: Option<NetworkControl>,
    /// The last look made the connection, or found none: the record is there a moment later.
    is_awaited: bool,
}

impl<'a> PageNetwork<'a> {
    pub(in crate::cli) fn at(path: Option<&'a Path>) -> PageNetwork<'a> {
        PageNetwork { path, control: None, is_awaited: false }
    }

    /// When to look again after a look.
    pub(in crate::cli) fn next_look(&self) -> Duration {
        if self.is_awaited { SOON } else { LOOK }
    }

    /// Allows a host from now on. Nothing happens where the network is not connected.
    pub(in crate::cli) fn allow(&mut self, entry: &str) {
        if let (Some(control), Ok(rule)) = (&mut self.control, HostRule::parse(entry)) {
            let _ = control.allow(&rule);
        }
    }

    /// What was asked for so far; none where there is no network. A program that has just started makes its socket a
    /// moment later than its entry, so each look that has no connection tries again.
    fn events(&mut self) -> io::Result<Option<&[NetworkEvent]>> {
        let Some(path) = self.path else { return Ok(None) };
        self.is_awaited = self.control.is_none();
        if self.is_awaited {
            match NetworkControl::connect(path) {
                Ok(control) => self.control = Some(control),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        let Some(control) = &mut self.control else { return Ok(Some(&[])) };
        // At the end of the program the last record is as good as any.
        let _ = control.events();
        Ok(Some(&control.record().events))
    }
}

/// What the facts of one program have in common.
#[derive(Clone, Copy)]
pub(in crate::cli) struct PageFacts<'a> {
    pub(in crate::cli) workspace: &'a Workspace,
    /// The program may connect to some host.
    pub(in crate::cli) has_hosts: bool,
}

impl PageFacts<'_> {
    /// `counts` remembers the lines of the files of `layers`.
    pub(in crate::cli) fn found(
        self,
        (programs, changes): (Vec<String>, io::Result<RunningChanges>),
        (layers, counts): (&[RunningLayer], &mut RunningCounts),
        network: &mut PageNetwork<'_>,
    ) -> RunPageFacts {
        let mut facts = RunPageFacts { programs, ..RunPageFacts::default() };
        match changes {
            Ok(found) => {
                let name = |path: &Path| visible::path(&self.workspace.shortened(path));
                let RunningSummary { files, repositories, count } = RunningSummary::of(layers, found);
                facts.is_cut = files.is_cut;
                facts.count = count;
                let counts = counts.of(layers, &files);
                let changes = files.changes.into_iter().zip(counts);
                facts.changes =
                    changes.map(|((path, kind), counts)| self.change(path, kind, counts)).collect();
                let repository = |one: RunningRepository| RunPageRepository {
                    letter: letter(one.kind),
                    path: name(&one.path),
                    rows: vec![count::of(one.files, "file")],
                };
                facts.repositories = repositories.into_iter().map(repository).collect();
            }
            Err(e) => facts.error = Some(format!("the changes cannot be read: {e}")),
        }
        match network.events() {
            Ok(None) => {}
            Err(e) => facts.error = Some(format!("the network's record cannot be read: {e}")),
            Ok(Some(events)) => {
                let hosts: Vec<RunPageHost> = events.iter().filter_map(host).collect();
                facts.hosts = (self.has_hosts || !hosts.is_empty()).then_some(hosts);
            }
        }
        facts
    }

    /// The difference of a file, for the page.
    pub(in crate::cli) fn difference(self, layers: &[RunningLayer], path: PathBuf) -> RunPageNews {
        let found = running_patch(layers, &path, &self.workspace.shortened(&path));
        RunPageNews::Difference(path, found)
    }

    fn change(self, path: PathBuf, kind: ChangeKind, counts: Option<(usize, usize)>) -> RunPageChange {
        let letter = letter(kind);
        RunPageChange { letter, path: visible::path(&self.workspace.shortened(&path)), at: path, counts }
    }
}

fn letter(kind: ChangeKind) -> char {
    match kind {
        ChangeKind::Created => 'A',
        ChangeKind::Deleted => 'D',
        _ => 'M',
    }
}

/// A row of the page; none for a name that was only looked up, because a connection follows.
fn host(event: &NetworkEvent) -> Option<RunPageHost> {
    let state = match event.event {
        NetworkEventKind::Refused | NetworkEventKind::UsedUp => RunPageHostState::Refused,
        NetworkEventKind::Connected => RunPageHostState::Connected,
        NetworkEventKind::Failed => RunPageHostState::Failed,
        NetworkEventKind::Allowed => RunPageHostState::Allowed,
        NetworkEventKind::Asked => return None,
    };
    Some(RunPageHost {
        state,
        name: event.name.clone(),
        port: event.port,
        count: event.count,
        program: event.program.clone(),
    })
}
