//! How long something has taken, as a person reads it.

use std::time::Duration;

pub(super) fn clock(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        s => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}
