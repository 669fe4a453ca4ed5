//! Records in the directory of a command's layer, for a start after placet was killed: which copies of the layers below a
//! background command saw, and that the changes of a command in the foreground were being collected.

use placet_text::text::regular_file;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Component, Path};

const NAME: &str = "job.json";
const COLLECTION: &str = "collecting.json";
const LARGEST: u64 = 4096;

/// The command has ended, and its changes are being collected: what is left in its layer belongs to them.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::view) struct CollectionRecord {
    /// When the command began.
    pub(in crate::view) since: (i64, i64),
}

impl CollectionRecord {
    pub(in crate::view) fn write(&self, layer: &Path) -> io::Result<()> {
        placet_text::private::write_quick(&layer.join(COLLECTION), &serde_json::to_vec(self)?)
    }

    /// `None` where there is none, or none that placet wrote.
    pub(in crate::view) fn read(layer: &Path) -> Option<CollectionRecord> {
        serde_json::from_slice(&regular_file::read(&layer.join(COLLECTION), LARGEST).ok()?).ok()
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::view) struct JobRecord {
    /// The directory of the copies, next to the view's own files.
    pub(in crate::view) copies: String,
    /// When they were made, in milliseconds since 1970.
    pub(in crate::view) at: u64,
    /// When the command began.
    pub(in crate::view) since: (i64, i64),
    /// What has this name in the layer is no change. Earlier versions recorded none.
    #[serde(default)]
    pub(in crate::view) staged: String,
}

impl JobRecord {
    pub(in crate::view) fn write(&self, layer: &Path) -> io::Result<()> {
        placet_text::private::write_quick(&layer.join(NAME), &serde_json::to_vec(self)?)
    }

    /// `None` where there is none, or none that placet wrote.
    pub(in crate::view) fn read(layer: &Path) -> Option<JobRecord> {
        let bytes = regular_file::read(&layer.join(NAME), LARGEST).ok()?;
        let record: JobRecord = serde_json::from_slice(&bytes).ok()?;
        let mut parts = Path::new(&record.copies).components();
        let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        is_name.then_some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_cannot_name_a_place_elsewhere() {
        let dir = tempfile::tempdir().unwrap();
        assert!(JobRecord::read(dir.path()).is_none());
        for (copies, is_read) in
            [("run-1-0", true), ("../x", false), ("/etc", false), ("", false), ("..", false)]
        {
            JobRecord { copies: copies.into(), at: 0, since: (0, 0), staged: String::new() }
                .write(dir.path())
                .unwrap();
            assert_eq!(JobRecord::read(dir.path()).is_some(), is_read, "{copies}");
        }
    }
}
