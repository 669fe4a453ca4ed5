//! Amounts of money in settings.

use crate::provider::catalog::Money;

/// `5`, `5.00`, `$0.5`: to a millionth of a dollar.
pub(super) fn dollars(text: &str) -> Option<Money> {
    let text = text.trim().trim_start_matches('$');
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return None;
    }
    let micros = format!("{part:0<6}").parse::<u64>().ok()?;
    Some(Money::from_micros(whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(micros)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_exactly_or_not_at_all() {
        let read = |text: &str| dollars(text).map(Money::micros);
        assert_eq!(read("5"), Some(5_000_000));
        assert_eq!(read(" $0.05 "), Some(50_000));
        assert_eq!(read("12.345678"), Some(12_345_678));
        for wrong in ["", "-1", "5,00", "1.2345678", "five", ".", "1.", "1e3"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
