//! Which port of this machine leads to which port of a command.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Written `8123`, or `8124:80` for port 80 of the command at port 8124 of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortMapping {
    pub outside: u16,
    pub inside: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a port from 1 to 65535, and not OUTSIDE:INSIDE with two ports")]
pub struct PortMappingError(String);

impl PortMapping {
    /// The same number on both sides.
    pub fn same(port: u16) -> PortMapping {
        PortMapping { outside: port, inside: port }
    }

    /// Where a browser finds it.
    pub fn url(self) -> String {
        format!("http://127.0.0.1:{}/", self.outside)
    }
}

impl FromStr for PortMapping {
    type Err = PortMappingError;

    fn from_str(text: &str) -> Result<PortMapping, PortMappingError> {
        let (outside, inside) = text.split_once(':').unwrap_or((text, text));
        let port = |digits: &str| {
            // `parse` takes a sign.
            let number: u16 = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))?;
            (number != 0).then_some(number)
        };
        match (port(outside), port(inside)) {
            (Some(outside), Some(inside)) => Ok(PortMapping { outside, inside }),
            _ => Err(PortMappingError(text.into())),
        }
    }
}

impl fmt::Display for PortMapping {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.outside == self.inside {
            true => write!(to, "{}", self.inside),
            false => write!(to, "{}:{}", self.outside, self.inside),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_one_port_or_two() {
        for (text, ports) in [("8123", (8123, 8123)), ("8124:80", (8124, 80)), ("65535:1", (65535, 1))] {
            let mapping: PortMapping = text.parse().unwrap();
            assert_eq!((mapping.outside, mapping.inside), ports);
            assert_eq!(mapping.to_string(), text);
        }
        assert_eq!("80:80".parse::<PortMapping>().unwrap().to_string(), "80");
        for text in
            ["", "0", "65536", "+80", "-1", "80:", ":80", "1:2:3", "127.0.0.1:80", "0.0.0.0:1:2", "a", " 80"]
        {
            assert_eq!(text.parse::<PortMapping>(), Err(PortMappingError(text.into())));
        }
    }
}
