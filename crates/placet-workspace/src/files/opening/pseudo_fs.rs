//! File systems that the kernel provides: what is in them is not an ordinary file, reading some of it has side effects,
//! and the content can be endless. A search as root once added a device by reading `/sys/class/zram-control/hot_add`.

use std::os::fd::AsFd;
use std::path::Path;

/// Where they are mounted by custom. `/dev` has no type of its own on Linux, and other systems have other types.
const PLACES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// `linux/magic.h`, and for binfmt_misc, configfs, efivarfs and mqueue the sources of each.
#[cfg(target_os = "linux")]
const TYPES: [u64; 23] = [
    0x0000_9fa0, // proc
    0x6265_6572, // sysfs
    0x0000_1cd1, // devpts
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x7363_6673, // securityfs
    0xf97c_ff8c, // selinux
    0x4341_5d53, // smack
    0x5a3c_69f0, // apparmorfs
    0xcafe_4a11, // bpf
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x6265_6570, // configfs
    0x6573_5543, // fusectl
    0x4249_4e4d, // binfmt_misc
    0x6e73_6673, // nsfs
    0x1980_0202, // mqueue
    0xabba_1974, // xenfs
    0x6c6f_6f70, // binder
    0x0000_9fa1, // openprom
    0x0765_5821, // resctrl
];

/// True for a place where such a file system is mounted by custom.
pub(crate) fn is_place(path: &Path) -> bool {
    PLACES.iter().any(|place| path == Path::new(place))
}

/// True for a directory of such a file system, open as `fd` and at `path`. What cannot be found out is none.
pub(crate) fn is_kernel_made(fd: impl AsFd, path: &Path) -> bool {
    is_place(path) || has_kernel_type(fd)
}

#[cfg(target_os = "linux")]
fn has_kernel_type(fd: impl AsFd) -> bool {
    rustix::fs::fstatfs(fd).is_ok_and(|stat| {
        // A signed number of 32 bits on some machines.
        let kind = u64::try_from(i128::from(stat.f_type) & 0xffff_ffff).unwrap_or_default();
        TYPES.contains(&kind)
    })
}

#[cfg(not(target_os = "linux"))]
fn has_kernel_type(_: impl AsFd) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_kernels_own_are_known_by_type_and_others_are_not() {
        let kernel = |path: &str, called: &str| {
            File::open(path).is_ok_and(|dir| is_kernel_made(&dir, Path::new(called)))
        };
        assert!(kernel("/proc/self", "/anywhere"));
        assert!(kernel("/dev", "/dev"));
        assert!(!kernel("/", "/"));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        assert!(!kernel(path, path));
    }
}
