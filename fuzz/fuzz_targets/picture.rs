//! Pictures: whatever the bytes, decoding ends within its limits, and what comes out is a picture of a kind that
//! providers take, no larger than asked for, which decodes again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::media::{OversizePolicy, load, sniff};

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else { return };
    let name = if choice & 1 == 0 { "a.tga" } else { "a.png" };
    let Some(kind) = sniff(bytes, name) else { return };
    let most = if choice & 2 == 0 { 2_000 } else { 3_750_000 };
    let oversize = if choice & 4 == 0 { OversizePolicy::ScaleDown } else { OversizePolicy::Refuse };
    let Ok(loaded) = load(kind, name, bytes.to_vec(), most, oversize) else { return };
    let image = loaded.image;
    assert!(image.bytes.len() <= most);
    assert!(image.width > 0 && image.height > 0);
    let again = sniff(&image.bytes, "").expect("what comes out is a picture");
    assert_eq!(again.media_type(), Some(image.media_type.as_str()));
    load(again, "", image.bytes.to_vec(), usize::MAX, OversizePolicy::Refuse).expect("and decodes");
});
