//! What a check sees, and what of its layer stays for the next run.

pub(super) mod check_kept;
pub(super) mod check_output;
pub(super) mod check_times;
pub(super) mod check_view;
