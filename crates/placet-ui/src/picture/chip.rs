//! A picture that is sent, in a few words.

use crate::token_counts::short;
use placet_text::conversation::Image;
use placet_text::text::sanitize;

/// `logo.png: 640x480, 12.3k bytes, as it is, about 410 tokens`: what there is to know of a picture that is sent.
pub fn chip(image: &Image) -> String {
    if image.is_pdf() {
        return format!(
            "{}: {} bytes, some {} tokens, pages not counted",
            sanitize::name(&image.name),
            short(image.size),
            short(image.tokens())
        );
    }
    // A note says from what to what; the figures of the result follow.
    let made = image.notes.iter().map(|note| note.split_once(" to ").map_or(note.as_str(), |(made, _)| made));
    let made = match image.notes.is_empty() {
        true => "as it is".into(),
        false => made.collect::<Vec<_>>().join(", "),
    };
    format!(
        "{}: {}x{}, {} bytes, {}, about {} tokens",
        sanitize::name(&image.name),
        image.width,
        image.height,
        short(image.bytes.len() as u64),
        sanitize::line(&made),
        short(image.tokens())
    )
}
