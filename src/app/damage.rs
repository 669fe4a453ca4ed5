//! What of placet's own records is damaged, and mending them.

use super::App;
use super::views::JournalCleanup;
use crate::workspace::{
    AppliedChange, DamageKind, DamagedRecord, Hash, JournalEntry, ObjectStore, PruneRoots, RepairReport,
    contents_needed, discard_damage_at_start, journals_in, keeps_pending, pending_damage,
    pending_damage_at_start, repair, roots_of, views_in,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long `placet doctor` compares stored contents with their names.
const COMPARING: Duration = Duration::from_secs(10);
/// Contents that a start checks, and the largest of them in bytes: the contents that the next undo needs.
const AT_START: usize = 16;
const SMALL: u64 = 64 << 10;

impl App {
    /// Everything that is damaged, of all workspaces; and the number of stored contents that were not looked at in
    /// time.
    pub fn damage(&self) -> (Vec<DamagedRecord>, usize) {
        let (journals, objects) = self.journals();
        let objects = ObjectStore::new(objects);
        let (journals, mut all) = journals_in(&journals);
        all.extend(journals.iter().flat_map(|journal| journal.damage()));
        let (contents, unseen) = objects.damage(Instant::now() + COMPARING);
        all.extend(contents);
        let entries = journals.iter().flat_map(|journal| journal.entries());
        all.extend(lost(entries, &objects));
        let (views, unread) = views_in(&self.views_places());
        all.extend(views.iter().flat_map(|view| pending_damage(view)).chain(unread));
        all.extend(views.iter().flat_map(|view| contents_needed(view).1));
        (all, unseen)
    }

    /// The damage that the next undo or apply in this directory would find. Checks little: a start must be fast.
    pub fn damage_at_start(&self) -> Vec<DamagedRecord> {
        let view = self.view("recovery");
        let mut all = view.journal().damage_at_start();
        if all.is_empty() {
            let newest = view.journal().newest().filter(|entry| entry.changes.len() <= AT_START);
            let changes = newest.iter().flat_map(|entry| &entry.changes);
            let small = changes.filter(|change| change.before.size() <= SMALL).filter_map(needed);
            all.extend(small.filter_map(|hash| view.objects().damage_of(hash)));
        }
        let (views, unread) = self.views_here();
        let pending = views.iter().filter(|view| keeps_pending(view));
        all.extend(pending.flat_map(|view| pending_damage_at_start(view)).chain(unread));
        all.extend(views.iter().flat_map(|view| discard_damage_at_start(view)));
        all
    }

    /// Damaged records of what is pending in this directory, and in directories that are not known any more.
    pub fn pending_damage_here(&self) -> Vec<DamagedRecord> {
        let (views, unread) = self.views_here();
        views.iter().flat_map(|view| pending_damage(view)).chain(unread).collect()
    }

    /// Views of this directory, and views with content whose directory is not known; and directories of views that
    /// cannot be listed.
    fn views_here(&self) -> (Vec<PathBuf>, Vec<DamagedRecord>) {
        let here = |view: &PathBuf| match roots_of(view) {
            Ok(roots) => roots.first().is_some_and(|root| root == self.cwd()),
            Err(_) => keeps_pending(view),
        };
        let (mut views, unread) = views_in(&self.views_places());
        views.retain(here);
        (views, unread)
    }

    /// Moves what is damaged aside, and makes again what can be.
    pub fn repair(&self) -> std::io::Result<(RepairReport, PathBuf)> {
        let (journals, objects) = self.journals();
        let name = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
        let aside = self.paths.state.join("damaged").join(name);
        Ok((repair(&journals, &ObjectStore::new(objects), &self.views_places(), &aside)?, aside))
    }
}

/// The content that the undo of a change needs: none where only the mode or the owner changed.
fn needed(change: &AppliedChange) -> Option<Hash> {
    change.before.hash().filter(|_| !change.before.same_content(&change.after))
}

/// Contents that entries need to be undone and that are not there.
fn lost(entries: impl Iterator<Item = JournalEntry>, objects: &ObjectStore) -> Vec<DamagedRecord> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for change in entries.flat_map(|entry| entry.changes) {
        let Some(hash) = needed(&change).filter(|hash| !objects.has(*hash) && seen.insert(*hash.as_bytes()))
        else {
            continue;
        };
        found.extend(objects.damage_of(hash).filter(|damage| damage.fault == DamageKind::Missing));
    }
    found
}

impl JournalCleanup {
    /// What pending changes need, in all views.
    pub(super) fn needed(&self) -> PruneRoots {
        let (views, unread) = views_in(&self.views);
        let mut needed = PruneRoots { damage: unread, ..PruneRoots::default() };
        for view in &views {
            let (contents, damage) = contents_needed(view);
            needed.contents.extend(contents.iter().map(|hash| hash.to_hex().to_string()));
            needed.damage.extend(pending_damage(view).into_iter().chain(damage));
        }
        needed.damage.retain(|damage| damage.part.names_contents());
        needed
    }
}
