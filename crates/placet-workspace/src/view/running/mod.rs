//! What a running command has changed so far, as rows, contents and counts that are read from its layer.

pub(super) mod running_changes;
pub(super) mod running_files;
pub(super) mod running_summary;
