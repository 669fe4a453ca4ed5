//! TIFF: reads the directory of a file, checks whether it can be decoded, and decodes its first picture.
//!
//! The crate `tiff` unpacks strips and tiles; this module interprets their samples. The crate gets a header that
//! declares the samples as levels of grey, so that it unpacks all colours in the same way and converts none.

mod directory;
mod header;
mod overlay;
mod samples;
mod unsupported;

use super::damage::{self, CUT, DecodeStage};
use super::decoded_picture::{DecodedPicture, MOST_BYTES, MOST_SIDE, SMALL_BUFFERS};
use super::{MediaError, PictureFormat, jpeg};
use directory::TiffDirectory;
use header::{TiffHeader, part};
use image::{DynamicImage, GrayImage, RgbImage, RgbaImage};
use overlay::TiffOverlay;
use samples::{TiffColours, numbers};
use tiff::TiffError;
use tiff::decoder::{Decoder, Limits};

fn broken(reason: &str) -> MediaError {
    MediaError::Broken { kind: PictureFormat::Tiff, reason: reason.into() }
}

fn lacking(form: String) -> MediaError {
    MediaError::Lacks { kind: PictureFormat::Tiff, form }
}

/// Width and height, if the directory can be read.
pub(super) fn size(bytes: &[u8]) -> Option<(u32, u32)> {
    let head = TiffHeader::of(&TiffDirectory::read(bytes)?)?;
    Some((head.width, head.height))
}

/// How many pictures the file has.
pub(super) fn pages(bytes: &[u8]) -> usize {
    TiffDirectory::read(bytes).map_or(0, |directory| directory.pages())
}

/// Whether the first picture may be decoded.
pub(super) fn admit(bytes: &[u8]) -> Result<(), MediaError> {
    admitted(bytes).map(drop)
}

fn admitted(bytes: &[u8]) -> Result<(TiffDirectory<'_>, TiffHeader, TiffColours), MediaError> {
    let directory = TiffDirectory::read(bytes).ok_or_else(|| broken("its directory is cut off"))?;
    let head =
        TiffHeader::of(&directory).ok_or_else(|| broken("its directory lacks a size or its strips"))?;
    if let Some(form) = unsupported::lacks(&directory, &head, bytes) {
        return Err(lacking(form));
    }
    let palette = match head.photometric {
        Some(3) => directory.numbers(320).ok_or_else(|| broken("its palette is missing"))?,
        _ => Vec::new(),
    };
    let colours = TiffColours::new(&head, &palette);
    let (width, height) = (head.width, head.height);
    let needed = head.memory(colours.channels, bytes);
    if needed > MOST_BYTES - SMALL_BUFFERS || width > MOST_SIDE || height > MOST_SIDE {
        return Err(MediaError::Huge { width, height, most: MOST_BYTES >> 20 });
    }
    Ok((directory, head, colours))
}

/// The first picture of the file.
pub(super) fn decode(bytes: &[u8]) -> Result<DecodedPicture, MediaError> {
    let (directory, head, colours) = admitted(bytes)?;
    let mut unpacker = TiffUnpacker::new(&directory, &head, bytes)?;
    let stride = head.width as usize * colours.channels;
    let mut pixels = vec![0; stride * head.height as usize];
    let across = u64::from(head.width).div_ceil(head.chunk_width);
    let down = u64::from(head.height).div_ceil(head.chunk_height);
    let (mut raw, mut line) = (Vec::new(), Vec::new());
    for number in 0..across * down {
        let (x, y) = (number % across * head.chunk_width, number / across * head.chunk_height);
        let (width, height) = head.chunk_size(x, y);
        unpacker.unpack(number, across * down, (width, height), &mut raw)?;
        let left = x as usize * colours.channels;
        let rows = pixels.chunks_exact_mut(stride).skip(y as usize).take(height as usize);
        for (row, to) in rows.enumerate() {
            fill(&head, &raw, (row, width as usize), &mut line);
            let to = to.get_mut(left..left + width as usize * colours.channels);
            colours.row(&line, to.unwrap_or_default());
        }
    }
    drop((raw, line));
    let mut image = picture(head.width, head.height, colours.channels, pixels);
    image.apply_orientation(head.orientation);
    Ok(DecodedPicture { image, stored: (head.width, head.height) })
}

fn picture(width: u32, height: u32, channels: usize, pixels: Vec<u8>) -> DynamicImage {
    match channels {
        1 => GrayImage::from_raw(width, height, pixels).unwrap_or_default().into(),
        3 => RgbImage::from_raw(width, height, pixels).unwrap_or_default().into(),
        _ => RgbaImage::from_raw(width, height, pixels).unwrap_or_default().into(),
    }
}

/// The samples of one row, with all samples of a pixel together, from the unpacked planes.
fn fill(head: &TiffHeader, planes: &[Vec<u8>], (row, width): (usize, usize), line: &mut Vec<f32>) {
    let bytes = head.row_bytes(width as u64) as usize;
    let count = width * head.together() as usize;
    let of = |plane: &Vec<u8>, out: &mut Vec<f32>| {
        numbers(head, plane.get(row * bytes..(row + 1) * bytes).unwrap_or_default(), count, out);
    };
    if let [plane] = planes {
        return of(plane, line);
    }
    line.clear();
    line.resize(width * planes.len(), 0.0);
    let mut one = Vec::new();
    for (at, plane) in planes.iter().enumerate() {
        of(plane, &mut one);
        for (pixel, value) in line.chunks_exact_mut(planes.len()).zip(&one) {
            if let Some(sample) = pixel.get_mut(at) {
                *sample = *value;
            }
        }
    }
}

struct TiffUnpacker<'a> {
    head: &'a TiffHeader,
    bytes: &'a [u8],
    decoder: Decoder<TiffOverlay<'a>>,
}

impl<'a> TiffUnpacker<'a> {
    fn new(
        directory: &TiffDirectory<'_>,
        head: &'a TiffHeader,
        bytes: &'a [u8],
    ) -> Result<TiffUnpacker<'a>, MediaError> {
        let grey = directory.replacement(262, 1);
        let predictor = directory.replacement(317, u32::try_from(head.predictor).unwrap_or(1));
        let rows = directory.replacement(278, u32::try_from(head.chunk_height).unwrap_or(head.height));
        let rows = rows.filter(|_| !head.tiled);
        // The decoder also reads the position of the next directory and refuses the file if that position is wrong.
        let last = directory.last();
        let replaced = grey.into_iter().chain(predictor).chain(rows).chain(last);
        let overlay = TiffOverlay::new(bytes, replaced.collect());
        let mut limits = Limits::default();
        let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
        (limits.decoding_buffer_size, limits.intermediate_buffer_size) = (most, most);
        let decoder = Decoder::new(overlay).map_err(|e| refused(head, bytes, &e))?.with_limits(limits);
        Ok(TiffUnpacker { head, bytes, decoder })
    }

    /// Unpacks a strip or tile of all used planes.
    fn unpack(
        &mut self,
        number: u64,
        per_plane: u64,
        (width, height): (u64, u64),
        out: &mut Vec<Vec<u8>>,
    ) -> Result<(), MediaError> {
        let row = usize::try_from(self.head.row_bytes(width)).unwrap_or(0);
        let planes = if self.head.planar { self.head.used() } else { 1 };
        out.resize(usize::try_from(planes).unwrap_or(1), Vec::new());
        for (plane, raw) in (0_u64..).zip(out) {
            let chunk = number + plane * per_plane;
            // The decoder panics at a number that is too large.
            if usize::try_from(chunk).is_ok_and(|chunk| chunk >= self.head.chunks.len()) {
                return Err(broken("it has too few strips or tiles"));
            }
            self.check_jpeg(chunk, height)?;
            let chunk = u32::try_from(chunk).unwrap_or(u32::MAX);
            // For planes after the first it unpacks the part of a tile below the picture as well.
            let (_, rows) = self.decoder.chunk_data_dimensions(chunk);
            raw.resize(row.saturating_mul(rows as usize), 0);
            self.decoder.read_chunk_bytes(chunk, raw).map_err(|e| refused(self.head, self.bytes, &e))?;
        }
        Ok(())
    }

    /// A JPEG inside has a size of its own, and the decoder allocates the memory for that size.
    fn check_jpeg(&self, chunk: u64, height: u64) -> Result<(), MediaError> {
        if self.head.compression != 7 {
            return Ok(());
        }
        let place = usize::try_from(chunk).ok().and_then(|chunk| self.head.chunks.get(chunk));
        let data = place.and_then(|(at, length)| part(self.bytes, *at, *length));
        let data = data.ok_or_else(|| broken(CUT))?;
        let frame = jpeg::frame(data).ok_or_else(|| broken("a JPEG in it has no header"))?;
        if let Some(form) = frame.lacks() {
            return Err(lacking(format!("with JPEG compression {form}")));
        }
        let rows = u64::from(frame.height);
        let fits = u64::from(frame.width) == self.head.chunk_width
            && (height..=self.head.chunk_height.next_multiple_of(16)).contains(&rows)
            && u64::from(frame.components) == self.head.together();
        if fits { Ok(()) } else { Err(broken("a JPEG in it has another size")) }
    }
}

fn refused(head: &TiffHeader, bytes: &[u8], error: &TiffError) -> MediaError {
    let (width, height) = (head.width, head.height);
    match error {
        TiffError::LimitsExceeded => MediaError::Huge { width, height, most: MOST_BYTES >> 20 },
        TiffError::UnsupportedError(_) => lacking("of this form".into()),
        other => broken(&damage::reason(PictureFormat::Tiff, bytes, DecodeStage::Pixels, other)),
    }
}
