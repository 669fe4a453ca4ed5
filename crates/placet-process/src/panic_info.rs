//! The reason of a panic, and whether it comes from the async runtime. The panic hooks decide what to do.

use std::panic::PanicHookInfo;
use std::path::{Component, Path};

/// The libraries whose panics end a process: without their threads and their wake-ups no task ever completes.
const RUNTIME: [&str; 3] = ["tokio", "mio", "signal-hook"];

/// The reason, in one line. It may contain text of a file or a server.
pub fn panic_reason(info: &PanicHookInfo<'_>) -> String {
    let reason = info.payload_as_str().unwrap_or("unknown reason");
    reason.lines().next().unwrap_or_default().to_string()
}

/// True for a panic in the runtime itself: a system call failed that it cannot work without.
pub fn is_of_the_runtime(info: &PanicHookInfo<'_>) -> bool {
    info.location().is_some_and(|at| is_runtime_file(Path::new(at.file())))
}

/// `.../registry/src/.../tokio-1.54.1/src/runtime/io/driver.rs`, or `vendor/tokio/src/...`.
fn is_runtime_file(file: &Path) -> bool {
    let of_runtime = |part: &str| {
        RUNTIME.iter().any(|name| {
            let rest = part.strip_prefix(name);
            rest.is_some_and(|rest| {
                let version =
                    rest.strip_prefix('-').map(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
                rest.is_empty() || version == Some(true)
            })
        })
    };
    file.components().any(|part| match part {
        Component::Normal(part) => part.to_str().is_some_and(of_runtime),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_runtime_are_known_by_the_directory_of_their_crate() {
        for (file, want) in [
            ("/c/registry/src/index-1/tokio-1.54.1/src/runtime/io/driver.rs", true),
            ("vendor/mio/src/poll.rs", true),
            ("/c/registry/src/index-1/signal-hook-registry-1.4.2/src/lib.rs", false),
            ("/c/registry/src/index-1/tokio-util-0.7.1/src/sync.rs", false),
            ("src/process/tokio.rs", false),
            ("src/tools/read_file.rs", false),
        ] {
            assert_eq!(is_runtime_file(Path::new(file)), want, "{file}");
        }
    }
}
