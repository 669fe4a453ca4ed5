//! Others write the same files, and swap directories for links, while changes land and come back.

use crate::support::is_full;
use crate::support::outsider::by_rename;
use crate::support::outsider::in_place;
use crate::support::txn::fast_dir;
use placet::workspace::{ApplyError, ApplyOutcome, LayerKind, TransactionLabel, View, ViewPaths, recover};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A view over a tree, without a command: what one would have left in its layer is made by hand.
pub struct Bench {
    _dir: tempfile::TempDir,
    pub base: PathBuf,
    pub root: PathBuf,
    pub view: View,
}

impl Bench {
    pub fn new() -> Bench {
        let dir = fast_dir();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let root = base.join("w");
        std::fs::create_dir(&root).unwrap();
        let places = ViewPaths {
            view: base.join("state/view"),
            layers: Vec::new(),
            objects: base.join("state/objects"),
            journal: base.join("state/journal"),
            scratch: base.join("scratch"),
        };
        let view = View::at(places, std::slice::from_ref(&root));
        Bench { _dir: dir, base, root, view }
    }

    /// What a command would have left in its layer, folded.
    pub fn fold(&self, make: impl FnOnce(&Path)) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let command = runtime.block_on(self.view.begin(LayerKind::Pending, None))?;
        make(&command.mounts[0].upper);
        self.view.finish(command, &|_| false).map(drop)
    }

    pub fn apply(&self) -> Result<ApplyOutcome, ApplyError> {
        let set = self.view.changes(LayerKind::Pending).map_err(ApplyError::Journal)?;
        self.view.apply(&View::everything(&set), label())
    }

    pub fn undo(&self) -> bool {
        let plan = self.view.plan_undo(&self.view.journal().to_undo(), None, label());
        plan.is_ok_and(|plan| self.view.execute_plan(plan).is_ok_and(|done| done.is_some()))
    }
}

pub fn label() -> TransactionLabel {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    TransactionLabel {
        turn: format!("t{}", COUNT.fetch_add(1, Ordering::Relaxed)),
        ..TransactionLabel::default()
    }
}

fn times(usual: u64, all: u64) -> u64 {
    if is_full() { all } else { usual }
}

#[test]
fn a_directory_swapped_for_a_link_leads_nowhere_outside() {
    let b = Bench::new();
    let (dir, out, link) = (b.root.join("d"), b.base.join("outside"), b.root.join("l"));
    // The same names and contents outside: a check by content alone would be content with them.
    for place in [&dir, &out] {
        std::fs::create_dir_all(place.join("sub")).unwrap();
        std::fs::write(place.join("f"), "before\n").unwrap();
        std::fs::write(place.join("gone"), "gone\n").unwrap();
        std::fs::write(place.join("sub/g"), "deep\n").unwrap();
    }
    std::os::unix::fs::symlink(&out, &link).unwrap();
    let picture = || crate::support::txn::snap(&out);
    let (outside, done) = (picture(), AtomicBool::new(false));
    let (mut landed, mut refused) = (0_u64, 0_u64);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let cwd = rustix::fs::CWD;
            let mut turn = 0_u64;
            while !done.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                let _ = rustix::fs::renameat_with(cwd, &dir, cwd, &link, flags);
                turn += 1;
                std::thread::sleep(Duration::from_micros(turn % 11 * 40));
            }
        });
        let started = Instant::now();
        for round in 0.. {
            // On a slow machine it takes longer, and more rounds, until both ends of the race were seen.
            let seen = landed > 5 && refused > 5;
            let patience = Duration::from_secs(if seen { 5 } else { 60 });
            let enough = round >= times(600, 100_000) && (seen || is_full());
            if enough || !is_full() && started.elapsed() > patience {
                break;
            }
            let _ = b.view.discard_everything();
            let folded = b.fold(|upper| {
                std::fs::create_dir_all(upper.join("d/sub")).unwrap();
                std::fs::write(upper.join("d/f"), format!("ours {round}\n")).unwrap();
                std::fs::write(upper.join("d/sub/g"), format!("ours {round}\n")).unwrap();
                std::fs::write(upper.join("d/new"), "n").unwrap();
            });
            if folded.is_ok() && matches!(b.apply(), Ok(ApplyOutcome::Landed(_))) {
                landed += 1;
                if !b.undo() {
                    refused += 1;
                }
            } else {
                refused += 1;
            }
            let _ = recover(b.view.journal(), b.view.objects());
            // Whatever could not be taken back is put right by hand; the race goes on.
            for place in [&dir, &link] {
                if place.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                    let _ = std::fs::remove_file(place.join("new"));
                }
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(crate::support::txn::differences(&outside, &picture()), [], "something outside changed");
    assert!(landed > 5 && refused > 5, "no race: {landed} landed, {refused} refused");
}

/// How an outsider writes his number.
type Outsider = fn(&Path, u64);

/// Applies that succeed and that are refused, so that both were tried.
const LEAST_LANDED: u64 = 20;
const LEAST_REFUSED: u64 = 5;

/// The outsider is the only one who writes `theirs`, and what lands keeps that line: before he writes the next number
/// he must find his last one. A stale apply would show him an older one, for good.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn contest(outsider: Outsider, rounds: u64) -> (u64, u64) {
    let b = Bench::new();
    let path = b.root.join("f");
    std::fs::write(&path, "theirs 0\n").unwrap();
    let done = AtomicBool::new(false);
    let (mut landed, mut refused) = (0, 0);
    let lost = std::thread::scope(|scope| {
        // A panic would wait for him.
        let _ending = OnDrop(|| done.store(true, Ordering::Relaxed));
        let theirs = scope.spawn(|| {
            let mut number = 0_u64;
            let finds = |number: u64| {
                let wanted = format!("theirs {number}\n");
                let since = Instant::now();
                // For a moment, while it is being exchanged and checked, another content may have the name.
                while since.elapsed() < crate::support::wait::DEADLINE {
                    if std::fs::read_to_string(&path).is_ok_and(|text| text.starts_with(&wanted)) {
                        return true;
                    }
                    std::thread::yield_now();
                }
                false
            };
            while !done.load(Ordering::Relaxed) {
                if !finds(number) {
                    return Some(number);
                }
                number += 1;
                outsider(&path, number);
                // Now and then he waits so long that an apply succeeds on a busy machine, too.
                let pause = if number.is_multiple_of(17) { 200_000 } else { number % 17 * 400 };
                std::thread::sleep(Duration::from_micros(pause));
            }
            (!finds(number)).then_some(number)
        });
        let (mut round, since) = (0, Instant::now());
        // On a busy machine the outsider is first nearly always: more rounds then.
        while (round < rounds || landed <= LEAST_LANDED || refused <= LEAST_REFUSED)
            && !theirs.is_finished()
            && since.elapsed() < Duration::from_secs(60)
        {
            // Story: while the outsider stood still in the middle of his write, all the rounds went by with nothing tried.
            let whole = std::fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'));
            let Some(text) = whole else {
                std::thread::yield_now();
                continue;
            };
            round += 1;
            let first = text.lines().next().unwrap_or_default();
            b.fold(|upper| std::fs::write(upper.join("f"), format!("{first}\nours {round}\n")).unwrap())
                .unwrap();
            // What was shown is bound to what was there: only the base that was recorded counts.
            let set = b.view.changes(LayerKind::Pending).unwrap();
            let from = format!("{first}\n");
            let honest = set.changes.iter().all(|c| {
                c.bytes(b.view.objects()).is_some_and(|(before, _)| before.starts_with(from.as_bytes()))
            });
            if !honest {
                b.view.discard_everything().unwrap();
                continue;
            }
            match b.view.apply(&View::everything(&set), label()) {
                Ok(ApplyOutcome::Landed(_)) => landed += 1,
                Ok(_) | Err(ApplyError::Changed(_)) => refused += 1,
                // He wrote twice while the file was exchanged: his first content is in a file that is named.
                Err(ApplyError::Partly { foreign, .. }) => {
                    refused += 1;
                    for file in foreign {
                        assert!(std::fs::read_to_string(&file).unwrap().starts_with("theirs "));
                        std::fs::remove_file(file).unwrap();
                    }
                }
                Err(e) => panic!("{e}"),
            }
            b.view.discard_everything().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        theirs.join().unwrap()
    });
    assert_eq!(lost, None, "a write of theirs is lost; {landed} landed, {refused} refused");
    let strays: Vec<_> = std::fs::read_dir(&b.root).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(strays, ["f"]);
    (landed, refused)
}

#[test]
fn no_write_of_somebody_who_renames_is_lost_to_an_apply() {
    let (landed, refused) = contest(by_rename, times(500, 10_000));
    assert!(landed > LEAST_LANDED && refused > LEAST_REFUSED, "{landed} {refused}");
}

#[test]
fn no_write_of_somebody_who_writes_in_place_is_lost_to_an_apply() {
    let (landed, refused) = contest(in_place, times(500, 10_000));
    assert!(landed > LEAST_LANDED && refused > LEAST_REFUSED, "{landed} {refused}");
}

/// Story: an apply of 2,500 files took four seconds, and the mode that the person gave to one of them in that time was gone.
#[test]
fn a_mode_that_somebody_gives_a_file_while_changes_land_stays() {
    use std::os::unix::fs::PermissionsExt;
    const FILES: usize = 60;
    let b = Bench::new();
    let file = |n: usize| b.root.join(format!("f{n:02}"));
    let last = file(FILES - 1);
    let mode = || std::fs::metadata(&last).unwrap().permissions().mode() & 0o777;
    let give = |mode| std::fs::set_permissions(&last, PermissionsExt::from_mode(mode)).unwrap();
    (0..FILES).for_each(|n| std::fs::write(file(n), "before\n").unwrap());
    let (mut landed, mut refused) = (0_u64, 0_u64);
    for round in 0..times(120, 3_000) {
        give(0o644);
        b.fold(|upper| {
            (0..FILES).for_each(|n| {
                std::fs::write(upper.join(format!("f{n:02}")), format!("ours {round}\n")).unwrap();
            });
        })
        .unwrap();
        let started = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(round * 331 % 16_000));
                give(0o600);
            });
            match b.apply() {
                Ok(ApplyOutcome::Landed(_)) => landed += 1,
                other => {
                    assert!(!matches!(other, Ok(ApplyOutcome::Nothing)), "{other:?}");
                    refused += 1;
                }
            }
        });
        assert_eq!(mode(), 0o600, "round {round}, {:?}", started.elapsed());
        let _ = b.view.discard_everything();
    }
    eprintln!("landed {landed}, refused {refused}");
}
