//! Sizes for a person: decimal units, as disks and networks use.

/// `640 B`, `12.3 kB`, `1.5 MB`.
pub fn of(bytes: u64) -> String {
    let (kb, mb) = (1000.0, 1_000_000.0);
    match bytes as f64 {
        size if size >= mb => format!("{:.1} MB", size / mb),
        size if size >= 10.0 * kb => format!("{:.1} kB", size / kb),
        _ => format!("{bytes} B"),
    }
}
