//! What of placet's own records is damaged, and mending them.

use super::App;
use super::views::Sweep;
use crate::workspace::{
    Base, Damage, DamagedPart, Fault, JournalEntry, Needed, Objects, Repaired, keeps_pending, pending_damage,
    pending_damage_at_start, repair, roots_of,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long `placet doctor` compares stored contents with their names.
const COMPARING: Duration = Duration::from_secs(10);
/// Contents that a start looks at, and the largest of them in bytes: those that the next undo needs.
const AT_START: usize = 16;
const SMALL: u64 = 64 << 10;

impl App {
    /// Everything that is damaged, of all workspaces; and the number of stored contents that were not looked at in time.
    pub fn damage(&self) -> (Vec<Damage>, usize) {
        let (journals, objects) = self.journals();
        let objects = Objects::new(objects);
        let journals = super::views::journals_below(&journals);
        let mut all: Vec<Damage> = journals.iter().flat_map(|journal| journal.damage()).collect();
        let (contents, unseen) = objects.damage(Instant::now() + COMPARING);
        all.extend(contents);
        let entries = journals.iter().flat_map(|journal| journal.entries());
        all.extend(lost(entries, &objects));
        let (views, unread) = views_below(&self.views_places());
        all.extend(views.iter().flat_map(|view| pending_damage(view)).chain(unread));
        (all, unseen)
    }

    /// What the next undo or apply in this directory would meet. Looks at little: a start is short.
    pub fn damage_at_start(&self) -> Vec<Damage> {
        let view = self.view("recovery");
        let mut all = view.journal().damage_at_start();
        if all.is_empty() {
            let newest = view.journal().newest().filter(|entry| entry.changes.len() <= AT_START);
            let nodes = newest.iter().flat_map(|entry| &entry.changes).map(|change| &change.before);
            let small = nodes.filter(|node| node.size() <= SMALL).filter_map(|node| node.hash());
            all.extend(small.filter_map(|hash| view.objects().damage_of(hash)));
        }
        let (views, unread) = self.views_here();
        all.extend(views.iter().flat_map(|view| pending_damage_at_start(view)).chain(unread));
        all
    }

    /// Damaged records of what is pending in this directory, and in directories that are not known any more.
    pub fn pending_damage_here(&self) -> Vec<Damage> {
        let (views, unread) = self.views_here();
        views.iter().flat_map(|view| pending_damage(view)).chain(unread).collect()
    }

    /// Views of this directory that keep something, and those of which nobody knows the directory; and directories of
    /// views that cannot be listed.
    fn views_here(&self) -> (Vec<PathBuf>, Vec<Damage>) {
        let here = |view: &PathBuf| match roots_of(view) {
            Ok(roots) => roots.first().is_some_and(|root| root == self.cwd()),
            Err(_) => true,
        };
        let (mut views, unread) = views_below(&self.views_places());
        views.retain(|view| keeps_pending(view) && here(view));
        (views, unread)
    }

    /// Moves what is damaged aside, and makes again what can be.
    pub fn repair(&self) -> std::io::Result<(Repaired, PathBuf)> {
        let (journals, objects) = self.journals();
        let name = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S").to_string();
        let aside = self.paths.state.join("damaged").join(name);
        Ok((repair(&journals, &Objects::new(objects), &self.views_places(), &aside)?, aside))
    }
}

/// Contents that entries need to be taken back and that are not there.
fn lost(entries: impl Iterator<Item = JournalEntry>, objects: &Objects) -> Vec<Damage> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for change in entries.flat_map(|entry| entry.changes) {
        let needed = change.before.hash().filter(|_| !change.before.same_content(&change.after));
        let Some(hash) = needed.filter(|hash| !objects.has(*hash) && seen.insert(*hash.as_bytes())) else {
            continue;
        };
        found.extend(objects.damage_of(hash).filter(|damage| damage.fault == Fault::Missing));
    }
    found
}

/// The views in `places`, and those of `places` that cannot be listed: anything may be pending there.
fn views_below(places: &[PathBuf]) -> (Vec<PathBuf>, Vec<Damage>) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for place in places {
        let listed = std::fs::read_dir(place).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        match listed {
            Ok(entries) => found.extend(entries.iter().map(|e| e.path()).filter(|path| path.is_dir())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => unread.push(Damage {
                part: DamagedPart::Pending,
                path: place.clone(),
                fault: Fault::Unreadable(e.to_string()),
            }),
        }
    }
    found.sort();
    (found, unread)
}

impl Sweep {
    /// What pending changes need, in all views.
    pub(super) fn needed(&self) -> Needed {
        let (views, unread) = views_below(&self.views);
        let damage = views.iter().flat_map(|view| pending_damage(view)).chain(unread);
        let damage = damage.filter(|d| d.part.names_contents());
        Needed { damage: damage.collect(), contents: views.iter().flat_map(|view| contents(view)).collect() }
    }
}

/// Contents that something pending in this view, or discarded and kept, starts from or that its calls left.
fn contents(view: &Path) -> BTreeSet<String> {
    let mut needed = BTreeSet::new();
    let discarded = std::fs::read_dir(view.join("discarded")).into_iter().flatten().flatten();
    let shelves = discarded.map(|shelf| shelf.path()).chain([view.join("pending")]);
    let texts = shelves.filter_map(|shelf| std::fs::read(shelf.join("base.jsonl")).ok());
    let text = texts.collect::<Vec<_>>().join(&b'\n');
    let bases =
        text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Base>(line).ok());
    for base in bases {
        let between = base.marks.iter().filter_map(|mark| mark.content);
        needed.extend(base.node.hash().into_iter().chain(between).map(|h| h.to_hex().to_string()));
    }
    needed
}
