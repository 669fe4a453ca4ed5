//! The pictures of a request: scaled to what the model accepts, and read from the session only once it is certain that
//! they are sent.
//!
//! A cache with a limit in bytes stores the pictures that were used last, because a session may have more pictures than
//! fit into memory. Another module decides what leaves a request because of its length.

use placet_media as media;
use placet_provider::{ModelCapabilities, ModelSpec};
use placet_session::session::SessionStore;
use placet_text::conversation::{Image, Message, Note, Part};
use std::collections::HashMap;

/// The size of the cache in bytes.
const AT_HAND: usize = 64 << 20;

#[derive(Default)]
pub(crate) struct RequestImages {
    /// Pictures that are not sent, with the reason.
    withheld: HashMap<String, String>,
    /// The pictures that a provider refused: another provider may accept them.
    refused: HashMap<String, String>,
    /// The store of pictures that came with a session.
    store: Option<SessionStore>,
    /// The longest side that the last request allowed.
    side: u32,
    /// The size of each picture as it is sent, once the size is known.
    sizes: HashMap<String, (u32, u32)>,
    ready: RequestImageCache,
}

impl RequestImages {
    pub(crate) fn read_from(&mut self, store: Option<SessionStore>) {
        self.store = store;
    }

    /// A picture that a provider refused is not sent as long as this provider answers.
    pub(crate) fn withhold(&mut self, hash: String, reason: String) {
        self.refused.insert(hash, reason);
    }

    pub(crate) fn forget_refusals(&mut self) {
        self.refused.clear();
    }

    pub(crate) fn is_withheld(&self, hash: &str) -> bool {
        self.why_withheld(hash).is_some()
    }

    fn why_withheld(&self, hash: &str) -> Option<&String> {
        self.withheld.get(hash).or_else(|| self.refused.get(hash))
    }

    /// Converts each picture into the form that is sent. Pictures that must be read first only get their size; the
    /// unchanged pictures are returned, by their hashes.
    pub(crate) fn prepare(
        &mut self,
        messages: &mut [Message],
        model: &ModelSpec,
        notes: &mut Vec<String>,
    ) -> HashMap<String, Image> {
        let mut unread = HashMap::new();
        self.allow(messages, model);
        for part in messages.iter_mut().flat_map(Message::parts_mut) {
            let Part::Image(image) = part else { continue };
            if let Some(reason) = self.why_withheld(&image.hash) {
                *part = hidden(image, reason);
            } else if !takes(model, image) {
                *part = unsupported_image(model, image);
            } else if let Some(done) = self.ready.get(&image.hash) {
                *image = done;
            } else if image.bytes.is_empty() && self.store.is_some() {
                unread.insert(image.hash.clone(), image.clone());
                let size = self.sizes.get(&image.hash).copied();
                (image.width, image.height) = size.unwrap_or_else(|| within(image, self.side));
            } else {
                let whole = image.clone();
                *part = self.fitted(whole, model, notes);
            }
        }
        unread
    }

    /// Sets how large pictures may be in this request: many pictures must be smaller. If that changes, the cached
    /// pictures are scaled again.
    fn allow(&mut self, messages: &mut [Message], model: &ModelSpec) {
        let shown = |part: &&mut Part| match part {
            Part::Image(image) => !image.is_pdf() && !self.is_withheld(&image.hash),
            Part::Text { .. } | Part::Note(_) => false,
        };
        let count = messages.iter_mut().flat_map(Message::parts_mut).filter(shown).count();
        let capabilities = &model.capabilities;
        let side = match count > ModelCapabilities::MANY_IMAGES {
            true => capabilities.max_side_of_many.min(capabilities.max_image_side),
            false => capabilities.max_image_side,
        };
        if side != self.side {
            self.side = side;
            self.ready = RequestImageCache::default();
            self.sizes.clear();
        }
    }

    /// Reads the pictures of `unread` that are still in `messages`.
    pub(crate) fn read(
        &mut self,
        messages: &mut [Message],
        unread: &HashMap<String, Image>,
        model: &ModelSpec,
        notes: &mut Vec<String>,
    ) {
        for part in messages.iter_mut().flat_map(Message::parts_mut) {
            let Part::Image(image) = part else { continue };
            let (Some(bare), Some(store)) = (unread.get(&image.hash), &self.store) else { continue };
            if let Some(done) = self.ready.get(&image.hash) {
                *image = done;
                continue;
            }
            *part = match (self.why_withheld(&bare.hash), store.picture(&bare.hash)) {
                (Some(reason), _) => hidden(bare, reason),
                (None, Ok(bytes)) => self.fitted(Image { bytes, ..bare.clone() }, model, notes),
                (None, Err(e)) => self.refused(bare, e.to_string(), notes),
            };
        }
    }

    fn fitted(&mut self, image: Image, model: &ModelSpec, notes: &mut Vec<String>) -> Part {
        if image.is_pdf() {
            self.ready.put(image.hash.clone(), image.clone());
            return Part::Image(image);
        }
        let rules = media::PictureLimits {
            types: &model.capabilities.image_types,
            max_bytes: model.capabilities.max_image_bytes,
            max_side: self.side,
            animated_gif: model.capabilities.animated_gif,
        };
        match media::fit(&image, &rules) {
            Ok(fitted) => {
                let size = (fitted.image.width, fitted.image.height);
                // A picture that left the cache and is scaled again is not news.
                if self.sizes.insert(image.hash.clone(), size).is_none() {
                    notes.extend(fitted.note);
                }
                self.ready.put(image.hash, fitted.image.clone());
                Part::Image(fitted.image)
            }
            Err(e) => self.refused(&image, e.to_string(), notes),
        }
    }

    fn refused(&mut self, image: &Image, reason: String, notes: &mut Vec<String>) -> Part {
        notes.push(format!("{} {} is not sent: {reason}", image.word(), image.name));
        let part = hidden(image, &reason);
        self.withheld.insert(image.hash.clone(), reason);
        part
    }
}

fn hidden(image: &Image, reason: &str) -> Part {
    let (kind, name) = (image.word().into(), image.name.clone());
    Part::Note(Note::PictureHidden { kind, name, reason: reason.into() })
}

/// Whether a picture or a PDF can go to `model` at all.
pub(crate) fn takes(model: &ModelSpec, image: &Image) -> bool {
    if image.is_pdf() { model.capabilities.pdf } else { model.capabilities.vision }
}

/// The text that replaces a picture or a PDF that the model does not accept.
fn unsupported_image(model: &ModelSpec, image: &Image) -> Part {
    let model = &model.name;
    let reason = match image.is_pdf() {
        true => format!(
            "the model {model} does not accept PDF here; with run_command, `pdftotext FILE -` gives its text"
        ),
        false => format!("the model {model} does not accept pictures"),
    };
    hidden(image, &reason)
}

/// The size of a picture whose longer side is at most `most`.
fn within(image: &Image, most: u32) -> (u32, u32) {
    let longer = image.width.max(image.height);
    if longer <= most {
        return (image.width, image.height);
    }
    let scaled = |side: u32| {
        let scaled = u64::from(side) * u64::from(most) / u64::from(longer);
        u32::try_from(scaled).unwrap_or(most).max(1)
    };
    (scaled(image.width), scaled(image.height))
}

/// Cached pictures, by their original hash; the picture that was used longest ago is removed first.
#[derive(Default)]
struct RequestImageCache {
    images: HashMap<String, (u64, Image)>,
    bytes: usize,
    uses: u64,
}

impl RequestImageCache {
    fn get(&mut self, hash: &str) -> Option<Image> {
        self.uses += 1;
        let (used, image) = self.images.get_mut(hash)?;
        *used = self.uses;
        Some(image.clone())
    }

    fn put(&mut self, hash: String, image: Image) {
        // A picture that exceeds the whole cache would remove all others, and then itself.
        if image.bytes.len() > AT_HAND {
            return;
        }
        self.uses += 1;
        self.bytes += image.bytes.len();
        if let Some((_, before)) = self.images.insert(hash, (self.uses, image)) {
            self.bytes -= before.bytes.len();
        }
        while self.bytes > AT_HAND {
            let oldest = self.images.iter().min_by_key(|(_, (used, _))| *used).map(|(hash, _)| hash.clone());
            let Some((_, image)) = oldest.and_then(|hash| self.images.remove(&hash)) else { return };
            self.bytes -= image.bytes.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_session::session::SessionRecord;

    #[test]
    fn the_pictures_at_hand_stay_below_the_limit_and_the_last_used_ones_stay() {
        let mut ready = RequestImageCache::default();
        let bytes: std::sync::Arc<[u8]> = vec![0; AT_HAND / 4].into();
        let image = Image::new("image/png", 1, 1, "p.png", bytes);
        for n in 0..4 {
            ready.put(format!("{n}"), image.clone());
        }
        assert!(ready.get("0").is_some());
        ready.put("4".into(), image.clone());
        ready.put("4".into(), image.clone());
        let mut left: Vec<&str> = ready.images.keys().map(String::as_str).collect();
        left.sort_unstable();
        assert_eq!((left, ready.bytes), (vec!["0", "2", "3", "4"], AT_HAND));
        ready.put("5".into(), Image::new("image/png", 1, 1, "p.png", vec![0; AT_HAND + 1].into()));
        assert_eq!(ready.images.len(), 4, "what is larger than all of it drives nothing out");
    }

    #[test]
    fn more_than_twenty_pictures_are_sent_smaller_and_twenty_as_they_are() {
        let square = |n: u8| {
            let mut pixels = image::RgbImage::new(2001, 10);
            pixels.put_pixel(0, 0, image::Rgb([n, 0, 0]));
            let mut bytes = Vec::new();
            pixels.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::Png).unwrap();
            Image::new("image/png", 2001, 10, &format!("{n}.png"), bytes.into())
        };
        let model = ModelSpec { name: "m".into(), window: 1000, capabilities: ModelCapabilities::default() };
        let mut pictures = RequestImages::default();
        for (count, wide) in [(20, 2001), (21, 2000), (20, 2001)] {
            let parts = (0..count).map(|n| Part::Image(square(n))).collect();
            let mut messages = vec![Message::User { parts }];
            pictures.prepare(&mut messages, &model, &mut Vec::new());
            let Message::User { parts } = &messages[0] else { panic!("what was said") };
            let widths: Vec<u32> = parts.iter().filter_map(Part::as_image).map(|image| image.width).collect();
            assert_eq!(widths, vec![wide; usize::from(count)]);
        }
    }

    #[test]
    fn a_picture_is_read_when_it_is_sent_and_one_that_is_gone_is_told_once() {
        let dir = tempfile::TempDir::new().unwrap();
        let (store, _) = SessionStore::open(dir.path()).unwrap();
        let mut open = store.create(dir.path(), "t").unwrap();
        let image = |n: u8| Image::new("image/png", 4000, 2000, &format!("{n}.png"), vec![n; 9].into());
        let message = Message::User { parts: vec![Part::Image(image(1)), Part::Image(image(2))] };
        open.append(SessionRecord::Message { message }).unwrap();
        let gone = dir.path().join("blobs").join(&image(2).hash[..2]).join(&image(2).hash);
        std::fs::remove_file(gone).unwrap();
        let taken = store.load_for_resume(open.id()).unwrap().transcript.messages().to_vec();
        let capabilities =
            ModelCapabilities { vision: true, max_image_side: 8000, ..ModelCapabilities::default() };
        let model = ModelSpec { name: "m".into(), window: 1000, capabilities };
        let mut pictures = RequestImages::default();
        pictures.read_from(Some(store));
        let mut told = Vec::new();
        for _ in 0..2 {
            let (mut sent, mut notes) = (taken.clone(), Vec::new());
            let unread = pictures.prepare(&mut sent, &model, &mut notes);
            pictures.read(&mut sent, &unread, &model, &mut notes);
            let Message::User { parts } = &sent[0] else { panic!("what was said") };
            assert_eq!(parts[0], Part::Image(image(1)));
            assert!(parts[1].words().is_some_and(|t| t.starts_with("[picture 2.png is not shown: ")));
            told.push(notes.len());
        }
        assert_eq!(told, [1, 0]);
        assert_eq!(within(&image(1), 1000), (1000, 500));
    }
}
