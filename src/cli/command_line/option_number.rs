//! Numbers as values of options.

use std::str::FromStr;
use thiserror::Error;

/// Why a text is not the number of an option.
#[derive(Debug, Error)]
pub(in crate::cli) enum OptionNumberError {
    #[error("`{0}` is not a number")]
    NoNumber(String),
    #[error("`{0}` is too large")]
    TooLarge(String),
}

/// A whole number; the standard library's own words for a mistake say nothing of the text.
pub(in crate::cli) fn number<T: FromStr>(text: &str) -> Result<T, OptionNumberError> {
    text.parse().map_err(|_| match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => OptionNumberError::TooLarge(text.into()),
        false => OptionNumberError::NoNumber(text.into()),
    })
}
