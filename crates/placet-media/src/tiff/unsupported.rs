//! Forms of TIFF that the decoder does not support, by their names.

use super::directory::TiffDirectory;
use super::header::TiffHeader;

/// The coefficients of the luminance of YCbCr if the file does not have them: ITU-R BT.601.
const USUAL_COEFFICIENTS: [f64; 3] = [0.299, 0.587, 0.114];
/// The range of YCbCr that JPEG has.
const USUAL_RANGE: [f64; 6] = [0.0, 255.0, 128.0, 255.0, 128.0, 255.0];

/// What is not supported for this file: the text after "TIFF" in a sentence.
pub(super) fn lacks(directory: &TiffDirectory<'_>, head: &TiffHeader, bytes: &[u8]) -> Option<String> {
    compression(head, bytes).or_else(|| samples(directory, head)).or_else(|| colours(directory, head))
}

fn compression(head: &TiffHeader, bytes: &[u8]) -> Option<String> {
    let name = match head.compression {
        1 | 4 | 7 | 8 | 32_773 | 32_946 => return None,
        5 if !is_old_lzw(head, bytes) => return None,
        5 => "old-style LZW",
        2 => "CCITT RLE",
        3 => "CCITT Group 3",
        6 => "old-style JPEG",
        32_766 => "NeXT",
        32_771 => "CCITT RLE/W",
        32_809 => "ThunderScan",
        32_908 | 32_909 => "Pixar",
        33_003 | 33_004 | 33_005 | 34_712 => "JPEG 2000",
        34_661 => "JBIG",
        34_676 | 34_677 => "LogLuv",
        34_887 => "LERC",
        34_925 => "LZMA",
        50_000 => "Zstandard",
        50_001 => "WebP",
        50_002 | 52_546 => "JPEG XL",
        other => return Some(format!("with compression {other}")),
    };
    Some(format!("with {name} compression"))
}

/// The bits of the codes were in another order before 1987; the first code of a strip shows the order.
fn is_old_lzw(head: &TiffHeader, bytes: &[u8]) -> bool {
    let first = head.chunks.first().and_then(|(at, _)| bytes.get(usize::try_from(*at).ok()?..));
    matches!(first, Some([0, second, ..]) if second & 1 == 1)
}

fn samples(directory: &TiffDirectory<'_>, head: &TiffHeader) -> Option<String> {
    let different = |tag: u16| {
        let values = directory.numbers(tag).unwrap_or_default();
        values.iter().any(|value| Some(value) != values.first())
    };
    if different(258) || different(339) {
        return Some("with channels of different depth".into());
    }
    let depth = match (head.sample_format, head.bits) {
        (1 | 4, 1..=8 | 16 | 32) | (3, 16 | 32 | 64) => None,
        (1 | 4, bits) => Some(format!("with {bits} bits per sample")),
        (2, bits) => Some(format!("with signed samples of {bits} bits")),
        (3, bits) => Some(format!("with floating-point samples of {bits} bits")),
        (5 | 6, _) => Some("with complex numbers as samples".into()),
        (other, _) => Some(format!("with samples of format {other}")),
    };
    if depth.is_some() {
        return depth;
    }
    let predictor = match head.predictor {
        1 => None,
        2 if head.bits >= 8 => None,
        3 if head.sample_format == 3 => None,
        other => Some(format!("with predictor {other} for {} bits per sample", head.bits)),
    };
    if predictor.is_some() {
        return predictor;
    }
    if head.bits < 8 && head.tiled && !(head.chunk_width * head.bits).is_multiple_of(8) {
        return Some("with tiles that do not end at a byte".into());
    }
    let reversed = directory.number(266) == Some(2);
    reversed.then(|| "with the bits of each byte in reverse order (FillOrder 2)".into())
}

fn colours(directory: &TiffDirectory<'_>, head: &TiffHeader) -> Option<String> {
    let form = match head.photometric {
        Some(0..=2) => None,
        Some(3) if head.sample_format != 3 && head.bits <= 16 => None,
        Some(3) => Some("with a palette for more than 16 bits".into()),
        Some(5) if directory.number(332).is_some_and(|inks| inks != 1) => {
            Some("with inks other than CMYK".into())
        }
        Some(5) => None,
        Some(6) => ycbcr(directory, head),
        Some(4) => Some("that is a transparency mask".into()),
        Some(8..=10) => Some("with CIE L*a*b* colours".into()),
        Some(32_803) => Some("with the raw data of a sensor (CFA)".into()),
        Some(34_892) => Some("with the raw data of a camera (linear raw)".into()),
        Some(32_844 | 32_845) => Some("with LogLuv colours".into()),
        Some(other) => Some(format!("with photometric interpretation {other}")),
        None => Some("without a photometric interpretation".into()),
    };
    if form.is_some() {
        return form;
    }
    if head.samples < head.colours() {
        return Some(format!("with {} samples per pixel for these colours", head.samples));
    }
    if head.tiled && directory.field(324).is_none() {
        return Some("with tiles that are listed as strips".into());
    }
    if directory.field(279).is_none() && !head.tiled {
        return Some("without the lengths of its strips (StripByteCounts)".into());
    }
    (head.compression == 4 && (head.bits, head.samples) != (1, 1))
        .then(|| "with CCITT Group 4 compression of colours".into())
}

fn ycbcr(directory: &TiffDirectory<'_>, head: &TiffHeader) -> Option<String> {
    let differs = |tag: u16, usual: &[f64]| {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.01;
        directory
            .fractions(tag)
            .is_some_and(|has| has.len() != usual.len() || !has.iter().zip(usual).all(near))
    };
    let whole = directory.numbers(530).is_some_and(|both| both == [1, 1]);
    if head.compression != 7 && !whole {
        return Some("with subsampled YCbCr colours".into());
    }
    let unusual = differs(529, &USUAL_COEFFICIENTS) || differs(532, &USUAL_RANGE) || head.bits != 8;
    unusual.then(|| "with unusual YCbCr colours".into())
}
