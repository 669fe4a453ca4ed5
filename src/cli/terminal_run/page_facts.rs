//! What placet's page shows of a running program, from what was found: for the page over the program, and for that of
//! another terminal.

use super::page_network::PageNetwork;
use crate::sandbox::{NetworkEvent, NetworkEventKind};
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

/// How many changes are listed.
pub(in crate::cli) const CHANGES: usize = 1000;

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
