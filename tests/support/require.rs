//! Programs that tests need from the machine.

use super::den::sandbox_or_skip;
use placet::sandbox::SandboxBackend;

/// True when `program` can be run. Otherwise prints a named skip, or fails when `PLACET_REQUIRE` lists it.
pub fn require(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&paths).any(|dir| dir.join(program).is_file()) {
        return true;
    }
    let required = std::env::var("PLACET_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == program), "`{program}` is required and missing");
    eprintln!("skipped: `{program}` is not installed");
    false
}

/// True where commands run in a copy-on-write view. Otherwise prints a named skip, or fails when `PLACET_REQUIRE` lists
/// `sandbox`.
pub fn has_view() -> bool {
    sandbox_or_skip(SandboxBackend::Overlay)
}
