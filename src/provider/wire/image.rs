//! Pictures and PDFs on the wire: base64 exists only here, while a request is encoded.

use super::super::ModelCapabilities;
use crate::conversation::Image;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The picture as base64, or the note that stands for it where this model cannot have it. Converting and scaling
/// happened long before; what still does not fit is left out rather than sent to be refused.
pub(super) fn base64(image: &Image, capabilities: &ModelCapabilities) -> Result<String, String> {
    if image.is_pdf() {
        return pdf(image, capabilities);
    }
    let reason = if !capabilities.vision {
        "this model does not accept pictures".to_string()
    } else if image.bytes.is_empty() {
        "its bytes are no longer stored".to_string()
    } else if !capabilities.image_types.contains(&image.media_type) {
        format!("this model does not accept {}", image.media_type)
    } else if image.bytes.len() > capabilities.max_image_bytes {
        format!("this model accepts at most {} bytes", capabilities.max_image_bytes)
    } else if image.width.max(image.height) > capabilities.max_image_side {
        format!("this model accepts at most {} pixels a side", capabilities.max_image_side)
    } else {
        return Ok(STANDARD.encode(&image.bytes));
    };
    Err(format!("[picture not sent: {}; {reason}]", image.describe()))
}

fn pdf(pdf: &Image, capabilities: &ModelCapabilities) -> Result<String, String> {
    let reason = if !capabilities.pdf {
        "this model does not accept PDF"
    } else if pdf.bytes.is_empty() {
        "its bytes are no longer stored"
    } else if pdf.bytes.len() > capabilities.max_pdf_bytes {
        "it is too large for this server"
    } else {
        return Ok(STANDARD.encode(&pdf.bytes));
    };
    Err(format!("[PDF not sent: {}; {reason}; `pdftotext FILE -` gives its text]", pdf.describe()))
}
