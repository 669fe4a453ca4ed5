//! What a command may see, access and use.
//!
//! Every key here widens or restricts the sandbox of a command; a project's file may only restrict it.

use super::field::SettingTexts;
use super::table::{settings_table, words};

words! {
    /// Where the changes of a command go.
    pub enum BackendSetting { Auto = "auto", Snapshot = "snapshot" }
}

words! {
    /// Whether git in the view gets signatures.
    pub enum SignSetting { Never = "never", Ask = "ask" }
}

settings_table! {
    /// What a command may see, reach and use.
    pub struct SandboxSettings {
        /// `auto`: use the copy-on-write view if the machine supports it. `snapshot`: commands change files at once,
        /// placet asks for each command and finds the changes by comparing.
        "sandbox.backend" => backend: BackendSetting = "auto";

        /// Directories that commands write directly, outside the view and without undo: `target`.
        "sandbox.passthrough" => passthrough: SettingTexts = [];

        /// More paths that no command sees: `~/.secrets`.
        "sandbox.mask" => mask: SettingTexts = [];

        /// Environment variables that are passed to commands although they look like secrets: `MY_*_TOKEN`.
        "sandbox.keep_env" => keep_env: SettingTexts = [];

        /// Credential files that commands may read: `~/.m2/settings.xml`.
        "sandbox.keep_files" => keep_files: SettingTexts = [];

        /// Devices of this machine that commands may use, disks never: `/dev/kvm`, `/dev/dri/*`.
        "sandbox.devices" => devices: SettingTexts = [];

        /// Hosts that every command may connect to: `crates.io` (ports 443 and 80), `*.npmjs.org:443`, `localhost:8080`.
        "sandbox.hosts" => hosts: SettingTexts = [];

        /// `ask`: after a question, your own program signs what git signs in a command.
        "git.sign" => sign: SignSetting = "never";

        /// Maximum memory of each process of a command; 0 means no limit.
        "sandbox.memory_mb" => memory_mb: u64 = 0;

        /// Size of the session's `/tmp` above which it is emptied after a command; 0 means no limit.
        "sandbox.tmp_mb" => tmp_mb: u64 = 8192;

        /// Maximum number of processes of a command; 0 means no limit.
        "sandbox.processes" => processes: u64 = 0;
    }
}
