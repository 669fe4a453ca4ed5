//! Programs that run in a terminal inside the view.

use super::table::settings_table;

settings_table! {
    /// How `placet run` behaves while a program runs.
    pub struct RunSettings {
        /// The key that opens placet's page over a program: `Ctrl-` and a letter or one of `\ ] ^ _`; `none` for no
        /// key.
        "run.page_key" => page_key: String = "Ctrl-]";
    }
}
