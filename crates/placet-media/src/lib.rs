//! Pictures: recognized by their bytes, fully decoded, scaled to fit.
//!
//! A picture enters a conversation only after it was decoded whole within limits, because a provider that refuses one
//! picture refuses every later request as well. The name of a file decides nothing, except for TGA, which has no magic
//! number.

mod damage;
mod decode;
mod decoded_picture;
mod encode;
mod error;
mod ico;
mod jpeg;
mod load;
mod metadata;
mod picture_format;
mod resize;
mod scale;
mod thumbnail;
mod tiff;
mod tone_map;
mod unsupported;

pub use decode::{admit, check, size};
pub use error::MediaError;
pub use load::{LoadedPicture, OversizePolicy, load};
pub use picture_format::{PictureFormat, is_pdf, sniff};
pub use scale::{FittedPicture, PictureLimits, fit, to_png};
pub use thumbnail::{Thumbnail, thumb};
