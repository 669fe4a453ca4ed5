//! Pictures: known by their bytes, really decoded, made to fit.
//!
//! A picture enters a conversation only after it was decoded whole within limits, because a provider that refuses
//! one refuses every later request as well. The name of a file decides nothing, except for TGA, which has no magic.

mod decode;
mod error;
mod fit;
mod form;
mod ico;
mod jpeg;
mod kind;
mod load;
mod thumb;
mod tiff;
mod tone;

pub use decode::{admit, check, size};
pub use error::MediaError;
pub use fit::{FittedPicture, PictureLimits, fit, to_png};
pub use kind::{PictureFormat, is_pdf, sniff};
pub use load::{LoadedPicture, OversizePolicy, load};
pub use thumb::{Thumbnail, thumb};
