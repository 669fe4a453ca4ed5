//! What the system says of a file, in types that are the same on every system: a mode has 32 bits on Linux and 16 on
//! macOS, and the number of a device has 64 and 32.

use rustix::fs::{Mode, RawMode, Stat};

/// The permissions of a file, without its kind.
#[allow(clippy::useless_conversion, reason = "the types depend on the system")]
pub(crate) fn permissions(stat: &Stat) -> u32 {
    u32::from(stat.st_mode) & 0o7777
}

/// What a system call takes for these permissions.
#[allow(clippy::unnecessary_cast, reason = "the types depend on the system")]
pub(crate) fn mode_of(permissions: u32) -> Mode {
    Mode::from_raw_mode((permissions & 0o7777) as RawMode)
}

/// Device and inode.
#[allow(clippy::unnecessary_cast, reason = "the types depend on the system")]
pub(crate) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// When the file changed, in seconds and nanoseconds since 1970: its content, its attributes or its names.
#[allow(clippy::useless_conversion, reason = "the types depend on the system")]
pub(crate) fn file_time(stat: &Stat) -> (i64, i64) {
    (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0))
}
