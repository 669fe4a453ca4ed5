//! What placet's page shows of a running program, from what was found: for the page over the program, and for that of
//! another terminal.

use crate::sandbox::{NetworkControl, NetworkEvent, NetworkEventKind};
use crate::text::visible;
use crate::ui::run_page::{RunPageChange, RunPageFacts, RunPageHost, RunPageHostState};
use crate::workspace::{ChangeKind, RunningChanges, Workspace};
use std::io;
use std::path::Path;

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
    pub(in crate::cli) fn found(
        self,
        (programs, changes): (Vec<String>, io::Result<RunningChanges>),
        control: Option<&mut io::Result<NetworkControl>>,
    ) -> RunPageFacts {
        let mut facts = RunPageFacts { programs, ..RunPageFacts::default() };
        match changes {
            Ok(found) => {
                facts.is_cut = found.is_cut;
                let changes = found.changes.into_iter();
                facts.changes = changes.map(|(path, kind)| self.change(&path, kind)).collect();
            }
            Err(e) => facts.error = Some(format!("the changes cannot be read: {e}")),
        }
        match control {
            None => {}
            Some(Err(e)) => facts.error = Some(format!("the network's record cannot be read: {e}")),
            Some(Ok(control)) => {
                // At the end of the program the last record is as good as any.
                let _ = control.events();
                let events = control.record().events.iter();
                let hosts: Vec<RunPageHost> = events.filter_map(host).collect();
                facts.hosts = (self.has_hosts || !hosts.is_empty()).then_some(hosts);
            }
        }
        facts
    }

    fn change(self, path: &Path, kind: ChangeKind) -> RunPageChange {
        let letter = match kind {
            ChangeKind::Created => 'A',
            ChangeKind::Deleted => 'D',
            _ => 'M',
        };
        RunPageChange { letter, path: visible::path(&self.workspace.shortened(path)) }
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
