//! Pictures and PDFs on the wire: base64 exists only here, while a request is encoded.

use super::super::ModelCapabilities;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_text::conversation::Image;
use thiserror::Error;

/// A picture or PDF that is left out of a request. The model reads the sentence in its place.
#[derive(Debug, Error)]
pub(super) enum OmittedImage {
    #[error("[picture not sent: {image}; {why}]")]
    Picture { image: String, why: ImageOmission },
    #[error("[PDF not sent: {image}; {why}; `pdftotext FILE -` gives its text]")]
    Pdf { image: String, why: ImageOmission },
}

#[derive(Debug, Error)]
pub(super) enum ImageOmission {
    #[error("this model does not accept pictures")]
    NoPictures,
    #[error("this model does not accept PDF")]
    NoPdf,
    #[error("its bytes are no longer stored")]
    Lost,
    #[error("this model does not accept {0}")]
    MediaType(String),
    #[error("this model accepts at most {0} bytes")]
    Bytes(usize),
    #[error("this model accepts at most {0} pixels a side")]
    Pixels(u32),
    #[error("it is too large for this server")]
    LargePdf,
}

/// The picture as base64, or the note that replaces it where this model cannot receive the picture. Converting and
/// scaling happened long before; a picture that still does not fit is left out, because the server would refuse it.
pub(super) fn base64(image: &Image, capabilities: &ModelCapabilities) -> Result<String, OmittedImage> {
    if image.is_pdf() {
        return pdf(image, capabilities);
    }
    let why = if !capabilities.vision {
        ImageOmission::NoPictures
    } else if image.bytes.is_empty() {
        ImageOmission::Lost
    } else if !capabilities.image_types.contains(&image.media_type) {
        ImageOmission::MediaType(image.media_type.to_string())
    } else if image.bytes.len() > capabilities.max_image_bytes {
        ImageOmission::Bytes(capabilities.max_image_bytes)
    } else if image.width.max(image.height) > capabilities.max_image_side {
        ImageOmission::Pixels(capabilities.max_image_side)
    } else {
        return Ok(STANDARD.encode(&image.bytes));
    };
    Err(OmittedImage::Picture { image: image.describe(), why })
}

fn pdf(pdf: &Image, capabilities: &ModelCapabilities) -> Result<String, OmittedImage> {
    let why = if !capabilities.pdf {
        ImageOmission::NoPdf
    } else if pdf.bytes.is_empty() {
        ImageOmission::Lost
    } else if pdf.bytes.len() > capabilities.max_pdf_bytes {
        ImageOmission::LargePdf
    } else {
        return Ok(STANDARD.encode(&pdf.bytes));
    };
    Err(OmittedImage::Pdf { image: pdf.describe(), why })
}
