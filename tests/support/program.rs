//! The program under test. `.ci/run` runs the hostile cases a second time against the release binary, because a debug
//! assertion once hid a call that killed every process of the user.

use std::sync::LazyLock;

/// The binary that cargo built beside the tests, or the one that `PLACET_BINARY` names.
pub fn placet() -> &'static str {
    static PROGRAM: LazyLock<String> = LazyLock::new(|| {
        let program =
            std::env::var("PLACET_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_placet").to_string());
        // A program that cannot be started has no sandbox: the cases that need one would be skipped.
        assert!(std::path::Path::new(&program).is_file(), "PLACET_BINARY names no file: `{program}`");
        program
    });
    &PROGRAM
}
