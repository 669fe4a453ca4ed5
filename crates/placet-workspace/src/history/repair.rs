//! Repair: damaged records are moved aside, never removed, and records that can be rebuilt are rebuilt.

use super::damage::{DamagedPart, DamagedRecord};
use super::journal::{Journal, journals_in};
use super::objects::ObjectStore;
use crate::view::{
    contents_needed, keeps_pending, pending_damage, rebuild_record, rebuild_roots, roots_of, views_in,
    write_roots,
};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long stored contents are compared with their names.
const COMPARING: Duration = Duration::from_secs(300);

/// What became of one damaged record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The new place of the record.
    MovedTo(PathBuf),
    /// Transactions without a file: the journal notes them, and does not report them again.
    Noted,
    /// A whole copy of the content was found in the workspace.
    StoredAgain(PathBuf),
    /// The directories were found out from what is pending.
    RootsFound(Vec<PathBuf>),
    /// The number of rebuilt records, and the new place of the old file.
    RecordsMade(usize, PathBuf),
    /// Another process works on it.
    Busy,
    /// The records leave a doubt: nothing was touched.
    InDoubt,
    /// A directory that cannot be read, or a link that leads nowhere: what is in it is not lost, so it stays where it
    /// is.
    Unreadable,
    Failed(String),
}

/// What a repair did, record by record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    pub all: Vec<(DamagedRecord, RepairOutcome)>,
    /// Stored contents that were not looked at in time.
    pub unseen: usize,
}

/// Mends the journals below `journals`, the contents in `objects` and the views below `views`. Damaged files go to
/// `aside`.
pub fn repair(
    journals: &Path,
    objects: &ObjectStore,
    views: &[PathBuf],
    aside: &Path,
) -> io::Result<RepairReport> {
    let mut done = RepairReport::default();
    let (readable, unread) = journals_in(journals);
    for damage in unread {
        let mended = mend_place(&damage, &aside.join("journal"));
        done.all.push((damage, mended));
    }
    for journal in &readable {
        mend_journal(journal, &aside.join("journal").join(name_of(journal.dir())), &mut done)?;
    }
    let (damaged, unseen) = objects.damage(Instant::now() + COMPARING);
    done.unseen = unseen;
    let entries: Vec<_> = readable.iter().flat_map(Journal::entries).collect();
    for damage in damaged {
        let mended = mend_content(objects, &damage, &entries, &aside.join("objects"));
        done.all.push((damage, mended));
    }
    let (views, unread) = views_in(views);
    for damage in unread {
        let mended = mend_place(&damage, &aside.join("views"));
        done.all.push((damage, mended));
    }
    for view in views {
        let aside = aside.join("views").join(name_of(&view));
        if keeps_pending(&view) {
            mend_view(&view, objects, &aside, &mut done);
        }
        mend_discards(&view, &aside, &mut done);
    }
    Ok(done)
}

fn mend_journal(journal: &Journal, aside: &Path, done: &mut RepairReport) -> io::Result<()> {
    let damage = journal.damage();
    if damage.is_empty() {
        return Ok(());
    }
    if let Some(unlisted) = journal.unlisted() {
        done.all.push((unlisted, RepairOutcome::Unreadable));
        return Ok(());
    }
    let lock = journal.try_lock()?;
    for damage in damage {
        let mended = match &lock {
            None => RepairOutcome::Busy,
            Some(_) => match journal.set_aside(&damage, aside) {
                Ok(Some(to)) => RepairOutcome::MovedTo(to),
                Ok(None) => RepairOutcome::Noted,
                Err(e) => RepairOutcome::Failed(e.to_string()),
            },
        };
        done.all.push((damage, mended));
    }
    Ok(())
}

fn mend_content(
    objects: &ObjectStore,
    damage: &DamagedRecord,
    entries: &[crate::JournalEntry],
    aside: &Path,
) -> RepairOutcome {
    let DamagedPart::Content(hash) = damage.part else { return mend_place(damage, aside) };
    let to = aside.join(damage.path.file_name().unwrap_or_default());
    let moved = placet_text::private::make_dir(aside).and_then(|()| fs::rename(&damage.path, &to));
    if let Err(e) = moved {
        return RepairOutcome::Failed(e.to_string());
    }
    // A file that has this content today is as good as the copy was.
    let named = |change: &&crate::AppliedChange| {
        [&change.before, &change.after].into_iter().any(|n| n.hash() == Some(hash))
    };
    for change in entries.iter().flat_map(|entry| &entry.changes).filter(named) {
        let meta = fs::symlink_metadata(&change.path);
        let Some(size) = meta.ok().filter(fs::Metadata::is_file).map(|meta| meta.len()) else { continue };
        let stored = File::open(&change.path).and_then(|mut file| objects.put_file(&mut file, hash, size));
        if stored.is_ok() {
            return RepairOutcome::StoredAgain(change.path.to_path_buf());
        }
    }
    RepairOutcome::MovedTo(to)
}

/// Moves aside a file in the place of a directory. Anything else stays: an unreadable record is not lost.
fn mend_place(damage: &DamagedRecord, aside: &Path) -> RepairOutcome {
    let to = aside.join(damage.path.file_name().unwrap_or_default());
    match fs::symlink_metadata(&damage.path) {
        Ok(meta) if !meta.is_dir() && !meta.is_symlink() => {
            match placet_text::private::make_dir(aside).and_then(|()| fs::rename(&damage.path, &to)) {
                Ok(()) => RepairOutcome::MovedTo(to),
                Err(e) => RepairOutcome::Failed(e.to_string()),
            }
        }
        _ => RepairOutcome::Unreadable,
    }
}

/// Moves a discard with a damaged record aside as a whole: no part of it can be restored by itself.
fn mend_discards(view: &Path, aside: &Path, done: &mut RepairReport) {
    let all = view.join("discarded");
    for damage in contents_needed(view).1 {
        let shelf = damage.path.strip_prefix(&all).ok().and_then(|rel| rel.components().next());
        let mended = match (claimed(view), shelf) {
            (Err(e), _) => RepairOutcome::Failed(e.to_string()),
            (Ok(None), _) => RepairOutcome::Busy,
            (Ok(Some(_lock)), None) => mend_place(&damage, aside),
            (Ok(Some(_lock)), Some(number)) => {
                let to = aside.join("discarded").join(number);
                let parent = aside.join("discarded");
                // One discard may have two damaged records.
                let moved = || fs::symlink_metadata(&to).is_ok();
                let rename = || fs::rename(all.join(number), &to);
                match placet_text::private::make_dir(&parent)
                    .and_then(|()| if moved() { Ok(()) } else { rename() })
                {
                    Ok(()) => RepairOutcome::MovedTo(to),
                    Err(e) => RepairOutcome::Failed(e.to_string()),
                }
            }
        };
        done.all.push((damage, mended));
    }
}

fn mend_view(view: &Path, objects: &ObjectStore, aside: &Path, done: &mut RepairReport) {
    for damage in pending_damage(view) {
        let mended = match claimed(view) {
            Err(e) => RepairOutcome::Failed(e.to_string()),
            Ok(None) => RepairOutcome::Busy,
            Ok(Some(_lock)) => match damage.part {
                DamagedPart::Roots => found_roots(view, &damage, aside),
                _ => made_records(view, objects, aside),
            },
        };
        done.all.push((damage, mended));
    }
}

fn found_roots(view: &Path, damage: &DamagedRecord, aside: &Path) -> RepairOutcome {
    let Some(roots) = rebuild_roots(view) else { return RepairOutcome::InDoubt };
    let written = || {
        if damage.path.exists() {
            placet_text::private::make_dir(aside)?;
            fs::rename(&damage.path, aside.join("roots.json"))?;
        }
        write_roots(view, &roots)
    };
    match written() {
        Ok(()) => RepairOutcome::RootsFound(roots),
        Err(e) => RepairOutcome::Failed(e.to_string()),
    }
}

fn made_records(view: &Path, objects: &ObjectStore, aside: &Path) -> RepairOutcome {
    match roots_of(view)
        .map_err(io::Error::from)
        .and_then(|roots| rebuild_record(view, &roots, objects, aside))
    {
        Ok(count) => RepairOutcome::RecordsMade(count, aside.to_path_buf()),
        Err(e) => RepairOutcome::Failed(e.to_string()),
    }
}

/// Keeps other processes away from a view for as long as the file is open.
fn claimed(view: &Path) -> io::Result<Option<File>> {
    let options = fs::OpenOptions::new().create(true).append(true).mode(placet_text::private::FILE).clone();
    let file = options.open(view.join("lock"))?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn name_of(dir: &Path) -> PathBuf {
    dir.file_name().map(PathBuf::from).unwrap_or_default()
}
