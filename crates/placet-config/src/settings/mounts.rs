//! The files of a store, shown as if they were in a directory: `[mounts.NAME]`.

use super::table::settings_table;

settings_table! {
    /// One `[mounts.NAME]`.
    pub struct MountSettings {
        /// The prefix of the store's files: `/memories/`.
        "mounts.*.path" => path: Option<String>;

        /// Where the files are stored: `memory`, `sqlite:NAME`, `dir:PATH`, `scratchpads`, `s3://BUCKET/PREFIX` or
        /// `fs:PATH`.
        "mounts.*.store" => store: Option<String>;

        /// s3: the server, if not Amazon's.
        "mounts.*.endpoint" => endpoint: Option<String>;

        /// s3: the region.
        "mounts.*.region" => region: String = "us-east-1";

        /// s3: the environment variable that holds the access key.
        "mounts.*.access_key_env" => access_key_env: String = "AWS_ACCESS_KEY_ID";

        /// s3: the environment variable that holds the secret key.
        "mounts.*.secret_key_env" => secret_key_env: String = "AWS_SECRET_ACCESS_KEY";
    }
}
