//! Limits the metadata of a picture, because a small file can contain a lot of it when it is inflated.
//!
//! The decoders count little more than their pixels towards the memory limit.

use super::{MediaError, PictureFormat};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};

/// The largest colour profile, inflated: profiles of printers have a few megabytes.
const PROFILE: usize = 16 << 20;
/// The largest header of a Radiance picture: its lines are stored one by one.
const HEADER: usize = 64 << 10;
/// Deflate expands one byte to at most this number of bytes.
const RATIO: usize = 1032;

/// Refuses a file whose metadata would take more memory than its pixels.
pub(super) fn admit(kind: PictureFormat, bytes: &[u8]) -> Result<(), MediaError> {
    let too_large = match kind {
        PictureFormat::Png => profile(bytes).is_some_and(is_large),
        PictureFormat::Hdr => {
            bytes.get(..HEADER).is_some_and(|head| memchr::memmem::find(head, b"\n\n").is_none())
        }
        _ => false,
    };
    match (too_large, kind) {
        (false, _) => Ok(()),
        (true, PictureFormat::Png) => Err(MediaError::Lacks {
            kind,
            form: format!("with a colour profile of more than {} MB", PROFILE >> 20),
        }),
        (true, _) => {
            Err(MediaError::Lacks { kind, form: format!("with a header of more than {} kB", HEADER >> 10) })
        }
    }
}

fn is_large(profile: &[u8]) -> bool {
    // Few profiles are so long that they have to be inflated for this check.
    profile.len().saturating_mul(RATIO) > PROFILE
        && decompress_to_vec_zlib_with_limit(profile, PROFILE)
            .is_err_and(|error| error.status == TINFLStatus::HasMoreOutput)
}

/// The compressed data of the chunk iCCP of a PNG (PNG specification, section 11.3.2.3): a name, a zero, the method.
fn profile(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.get(8..)?;
    loop {
        let (length, named) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let (name, data) = named.split_first_chunk::<4>()?;
        let data = data.get(..length).unwrap_or(data);
        match name {
            b"iCCP" => {
                let end = memchr::memchr(0, data)?;
                return data.get(end + 2..);
            }
            b"IDAT" | b"IEND" => return None,
            _ => rest = named.get(4 + length + 4..)?,
        }
    }
}
