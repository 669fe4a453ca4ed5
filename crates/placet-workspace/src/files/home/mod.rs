//! What a program keeps at home, written from its view without the journal.

pub(crate) mod database_files;
pub(crate) mod database_record;
pub(crate) mod home_copy;
pub(crate) mod keep_error;
pub(crate) mod kept_database;
pub(crate) mod kept_file;
pub(crate) mod kept_path;
