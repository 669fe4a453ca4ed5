//! Limits of everything that is read, each with its reason.
//!
//! The author of a repository may be hostile: each list, each file and each call of git has an end. What is over a limit
//! is an error, so that nothing is applied in a repository whose state is not known.

use std::time::Duration;

/// A call that reads refs or an index takes 0.2 s with 200,000 refs, and some seconds on a machine that is busy. What would
/// block a call for good, a FIFO or a device, is refused before git starts.
pub const READ_TIME: Duration = Duration::from_secs(20);
/// Packing, checking and connecting objects depends on their number: a clone of 440,000 objects takes 20 s.
pub const TRANSFER_TIME: Duration = Duration::from_secs(60);
/// Memory of a call, without files that are mapped. 200,000 refs and an index of 100,000 files take 100 MB.
pub const MEMORY: u64 = 240 << 20;
/// What a call may print: an index of a million files has 100 MB.
pub const OUTPUT: u64 = 256 << 20;
/// What git says about a failure; more is not read by anybody.
pub const MESSAGE: u64 = 64 << 10;
/// The largest pack that is transferred.
pub const PACK: u64 = 4 << 30;
/// The largest index, `packed-refs` or reftable. A ref has some 60 bytes, an index entry some 100.
pub const TABLE: u64 = 256 << 20;
/// A ref is one line. The longest that git accepts is a path of 4096 bytes.
pub const REF: u64 = 8 << 10;
/// A file of git that waits by name is shown as text; the largest hooks have some 100 kB.
pub const GIT_FILE: u64 = 1 << 20;
/// Loose refs, because each is a file that is opened.
pub const LOOSE_REFS: usize = 250_000;
/// Names in a git directory outside of objects, refs and reflogs.
pub const OTHER_FILES: usize = 20_000;
/// Files of objects: git itself packs them above 6,700.
pub const OBJECT_FILES: usize = 2_000_000;
/// A larger file is not text for git, by `core.bigFileThreshold`.
pub const SHOWN_FILE: u64 = 16 << 20;
/// The message of a stash entry is an argument of git, which the kernel limits to 128 kB.
pub const STASH_MESSAGE: usize = 64 << 10;
/// Nested directories; git's own names have three levels, refs a few more.
pub const DEPTH: usize = 32;
/// Linked worktrees: each costs two calls of git.
pub const CHECKOUTS: usize = 64;
/// Commits and refs of the person that are excluded from a transfer. Fewer exclusions only make a transfer larger.
pub const EXCLUDED_TIPS: usize = 5_000;
/// Commits that are listed by name; the number of the others is exact.
pub const LISTED_COMMITS: usize = 1_000;
/// Refs that one change moves: git writes a file for each, which takes it a second for some thousand.
pub const MOVED_REFS: usize = 10_000;
/// Refs whose commits are counted one by one, because each costs a call.
pub const COUNTED_REFS: usize = 64;
/// A transfer with fewer objects is stored loose, as `receive.unpackLimit` does: otherwise 50 turns are 50 packs.
pub const UNPACKED_OBJECTS: u32 = 100;
/// A transfer that is stored loose is in memory as a whole while it is checked.
pub const UNPACKED_BYTES: u64 = 16 << 20;
/// Paths on a command line: the kernel accepts 128 kB for each and 2 MB for all.
pub const ARGUMENT_PATHS: usize = 500;
/// Processes of git at the same time. placet is tuned for two processors.
pub const PARALLEL_CALLS: usize = 4;
