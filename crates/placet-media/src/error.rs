//! Why a picture is not used.

use super::PictureFormat;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MediaError {
    #[error("it starts like a {kind} picture but cannot be decoded: {reason}")]
    Broken { kind: PictureFormat, reason: String },
    #[error("the picture is {width}x{height}: decoding it would take more memory than the {most} MB allowed")]
    Huge { width: u32, height: u32, most: u64 },
    #[error("the picture is {width}x{height}: a side may have at most {most} pixels")]
    LongSide { width: u32, height: u32, most: u32 },
    #[error("{0} pictures are not supported")]
    Unsupported(PictureFormat),
    /// The file may be valid: this form of the format cannot be decoded. `form` follows the format's name.
    #[error("{kind} {form} is not supported")]
    Lacks { kind: PictureFormat, form: String },
    #[error("the picture has {bytes} bytes, more than the {most} that can be sent")]
    Oversize { bytes: usize, most: usize },
    #[error("the picture could not be written as {0}: {1}")]
    Encode(&'static str, String),
}

impl MediaError {
    /// The same error for a file of `kind` that contains the picture.
    pub(super) fn of(self, kind: PictureFormat) -> MediaError {
        match self {
            MediaError::Broken { reason, .. } => MediaError::Broken { kind, reason },
            MediaError::Lacks { form, .. } => MediaError::Lacks { kind, form },
            other => other,
        }
    }

    /// What to do instead.
    pub fn hint(&self) -> &'static str {
        match self {
            MediaError::Unsupported(PictureFormat::Jxl) => {
                "convert it with a command: `djxl FILE out.png`, or `magick FILE out.png`"
            }
            MediaError::Unsupported(PictureFormat::Heic) => {
                "convert it with a command: `heif-convert FILE out.png`, or `magick FILE out.png`"
            }
            MediaError::Unsupported(PictureFormat::Avif) => {
                "convert it with a command: `avifdec FILE out.png`, or `magick FILE out.png`"
            }
            MediaError::Unsupported(PictureFormat::Jpeg2000) => {
                "convert it with a command: `opj_decompress -i FILE -o out.png`, or `magick FILE out.png`"
            }
            MediaError::Unsupported(PictureFormat::Icns) => {
                "convert it with a command: `icns2png -x FILE`, or `magick FILE out.png`"
            }
            MediaError::Unsupported(PictureFormat::Photoshop) => {
                "convert it with a command: `magick FILE[0] out.png`"
            }
            MediaError::Unsupported(_) => "convert it with a command: `magick FILE out.png`",
            MediaError::Lacks { kind: PictureFormat::Jpeg, .. } => {
                "convert it with a command: `djpeg FILE > out.ppm`, or `magick FILE out.png`"
            }
            MediaError::Lacks { .. } => "convert it with a command: `magick FILE out.png`",
            MediaError::Oversize { .. } => "leave out `exact` to have it scaled down",
            MediaError::Broken { .. } => "the file is cut off or damaged",
            MediaError::Huge { .. } | MediaError::LongSide { .. } => {
                "scale it down with a command: `magick FILE -resize 4000x4000 out.png`"
            }
            MediaError::Encode(..) => "try another format",
        }
    }
}
