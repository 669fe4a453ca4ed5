//! The program under test. `.ci/run` gives the tests the release binary, because a debug assertion once hid a call that
//! killed every process of the user.

use std::path::Path;
use std::sync::LazyLock;

/// The binary that cargo built beside the tests, or the one that `PLACET_BINARY` names.
pub fn placet() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let program =
            std::env::var("PLACET_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_placet").to_string());
        // A program that cannot be started has no sandbox: the cases that need one would be skipped.
        assert!(Path::new(&program).is_file(), "PLACET_BINARY names no file: `{program}`");
        program
    });
    &PROGRAM
}

/// The debug build, whatever `PLACET_BINARY` names: only it has the points at which `PLACET_CRASH_AT` ends it and
/// `PLACET_HOLD` stops it.
pub fn placet_with_points() -> &'static str {
    env!("CARGO_BIN_EXE_placet")
}

/// Whether the program under test has an optional feature that these tests were built with (`cfg!(feature = ...)`): the
/// binary beside them has it, while one that `PLACET_BINARY` names is taken to have none. So `.ci/run` builds the tests
/// once, and runs them with both.
pub fn has_feature(built_with: bool) -> bool {
    built_with && std::env::var_os("PLACET_BINARY").is_none()
}

/// Removes what the views of a state directory that is about to go have outside of it. Layers over a home cannot lie in
/// that home, and each new state directory looks through all that lie there.
pub fn forget_layers(state: &Path) {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    for view in entries(&state.join("views")) {
        for shared in ["/var/tmp", "/dev/shm"].iter().flat_map(|dir| entries(Path::new(dir))) {
            if shared.file_name().to_string_lossy().starts_with("placet-") {
                drop(std::fs::remove_dir_all(shared.path().join("layers").join(view.file_name())));
            }
        }
    }
}
