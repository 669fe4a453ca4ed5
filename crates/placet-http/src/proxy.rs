//! Finds the proxy of a request and the variable that set it, so that an error can name both. It follows the rules of
//! the HTTP library, which reports neither. It decides nothing, and its results never contain a password.

use super::error_cause;
use reqwest::Url;
use std::net::IpAddr;

/// A proxy that a variable of the environment names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EnvProxy {
    variable: &'static str,
    scheme: String,
    /// Host and port.
    at: String,
    named: ProxyAuth,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProxyAuth {
    WithPassword,
    Bare,
}

impl EnvProxy {
    /// The proxy for a request to `url` by the values that `variable` returns; `None` for a direct connection.
    pub(super) fn of(url: &Url, variable: impl Fn(&str) -> Option<String>) -> Option<EnvProxy> {
        let (name, proxy) = chosen(url, variable)?;
        let host = proxy.host_str()?;
        // Only the SOCKS schemes have no known port here; theirs is 1080.
        let port = proxy.port_or_known_default().unwrap_or(1080);
        let secret = !proxy.username().is_empty() || proxy.password().is_some();
        let named = if secret { ProxyAuth::WithPassword } else { ProxyAuth::Bare };
        let scheme = proxy.scheme().to_string();
        Some(EnvProxy { variable: name, scheme, at: format!("{host}:{port}"), named })
    }

    /// The hint for an answer of 407.
    pub(super) fn refusal(&self) -> String {
        let EnvProxy { variable, scheme, at, .. } = self;
        match self.named {
            ProxyAuth::Bare => format!(
                "the proxy {at} requires a name and a password (HTTP 407): set {variable}={scheme}://NAME:PASSWORD@{at}"
            ),
            ProxyAuth::WithPassword => format!(
                "the proxy {at} refuses the name or the password in {variable} (HTTP 407); write @ : / in them as %40 %3A %2F"
            ),
        }
    }

    /// Why a request through the proxy failed; `words` are the reason itself.
    pub(super) fn blamed(&self, error: &reqwest::Error, words: &str) -> String {
        let EnvProxy { variable, at, .. } = self;
        let elsewhere = error_cause::is_tls(words) || !error.is_connect();
        match words.strip_prefix(error_cause::PROXY) {
            _ if elsewhere => format!("{words} (through the proxy {at} from {variable})"),
            Some(rest) => format!("the proxy {at} from {variable} refuses the connection: {rest}"),
            None => format!("the proxy {at} from {variable} cannot be reached: {words}"),
        }
    }
}

/// The address, with name and password, of the proxy that the environment names for a connection to `host`, and that
/// is not exempt by `NO_PROXY`. Port 80 counts as HTTP, every other port as HTTPS.
pub fn environment_proxy(host: &str, port: u16) -> Option<Url> {
    let scheme = if port == 80 { "http" } else { "https" };
    let url = Url::parse(&format!("{scheme}://{host}:{port}")).ok()?;
    chosen(&url, |name| std::env::var(name).ok()).map(|(_, proxy)| proxy)
}

/// The variable and the address of the proxy for `url`.
fn chosen(url: &Url, variable: impl Fn(&str) -> Option<String>) -> Option<(&'static str, Url)> {
    // As a CGI program the client trusts none of them: a caller could set HTTP_PROXY by a header.
    if variable("REQUEST_METHOD").is_some() || is_exempt(url, &first(&NO, &variable).1) {
        return None;
    }
    let own = if url.scheme() == "https" { &HTTPS } else { &HTTP };
    let taken = |names: &'static [&'static str; 2]| {
        let (name, value) = first(names, &variable);
        parsed(&value).map(|url| (name, url))
    };
    taken(own).or_else(|| taken(&ALL))
}

const HTTPS: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
const HTTP: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
const ALL: [&str; 2] = ["ALL_PROXY", "all_proxy"];
const NO: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The first name that is set, even to the empty text, which switches the second off; if neither is set, the second
/// without a value.
fn first(names: &[&'static str; 2], variable: impl Fn(&str) -> Option<String>) -> (&'static str, String) {
    let [upper, lower] = *names;
    match variable(upper) {
        Some(value) => (upper, value),
        None => (lower, variable(lower).unwrap_or_default()),
    }
}

/// An address without a scheme is the address of an HTTP proxy.
fn parsed(value: &str) -> Option<Url> {
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    let whole = if value.contains("://") { value.to_string() } else { format!("http://{value}") };
    Url::parse(&whole).ok().filter(Url::has_host)
}

/// True if `list` exempts this host from the proxy: names with all their subdomains, addresses, networks, or `*`.
fn is_exempt(url: &Url, list: &str) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| match address {
        _ if entry == "*" => true,
        Some(address) => is_in(address, entry),
        None => {
            let name = entry.trim_start_matches('.').to_ascii_lowercase();
            host.strip_suffix(name.as_str()).is_some_and(|left| left.is_empty() || left.ends_with('.'))
        }
    })
}

/// True for the address itself and for a network, written `10.0.0.0/8`, that contains it.
fn is_in(address: IpAddr, entry: &str) -> bool {
    let (start, size) = entry.split_once('/').map_or((entry, None), |(start, size)| (start, Some(size)));
    let Ok(start) = start.parse::<IpAddr>() else { return false };
    let (one, other, bits) = match (address, start) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (u128::from(one.to_bits()) << 96, u128::from(other.to_bits()) << 96, 32)
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits(), other.to_bits(), 128),
        _ => return false,
    };
    let Some(size) = size.map_or(Some(bits), |size| size.parse().ok()).filter(|size| *size <= bits) else {
        return false;
    };
    // A shift by 128, for `/0`, gives no mask at all: every address is in that network.
    let mask = u128::MAX.checked_shl(128 - size).unwrap_or_default();
    one & mask == other & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A URL, the variables that are set, and the expected proxy.
    type ProxyCase = (&'static str, &'static [(&'static str, &'static str)], Option<&'static str>);

    fn of(url: &str, set: &[(&str, &str)]) -> Option<String> {
        let variable =
            |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_string());
        let proxy = EnvProxy::of(&Url::parse(url).unwrap(), variable)?;
        Some(format!("{} {} {:?}", proxy.variable, proxy.at, proxy.named))
    }

    #[test]
    fn the_proxy_is_the_one_of_the_scheme_in_capitals_or_not() {
        let table: [ProxyCase; 12] = [
            ("https://a.test/", &[], None),
            ("https://a.test/", &[("HTTPS_PROXY", "http://p:1")], Some("HTTPS_PROXY p:1 Bare")),
            ("https://a.test/", &[("https_proxy", "p:1")], Some("https_proxy p:1 Bare")),
            ("http://a.test/", &[("https_proxy", "p:1")], None),
            ("http://a.test/", &[("http_proxy", "http://u:s@p")], Some("http_proxy p:80 WithPassword")),
            ("http://a.test/", &[("all_proxy", "socks5h://p")], Some("all_proxy p:1080 Bare")),
            ("http://a.test/", &[("ALL_PROXY", "p:2"), ("http_proxy", "p:1")], Some("http_proxy p:1 Bare")),
            ("http://a.test/", &[("HTTP_PROXY", ""), ("http_proxy", "p:1")], None),
            ("http://a.test/", &[("HTTP_PROXY", "p:1"), ("http_proxy", "p:2")], Some("HTTP_PROXY p:1 Bare")),
            ("http://a.test/", &[("HTTP_PROXY", "p:1"), ("REQUEST_METHOD", "GET")], None),
            ("http://a.test/", &[("HTTP_PROXY", "p:1"), ("no_proxy", "a.test")], None),
            ("http://a.test/", &[("HTTP_PROXY", "http://")], None),
        ];
        for (url, set, wanted) in table {
            assert_eq!(of(url, set).as_deref(), wanted, "{url} {set:?}");
        }
    }

    #[test]
    fn no_proxy_knows_names_all_below_them_addresses_and_networks() {
        for (host, list, exempt) in [
            ("a.test", "a.test", true),
            ("b.a.test", ".a.test", true),
            ("b.a.test", "x, A.test ,y", true),
            ("ba.test", "a.test", false),
            ("a.test", "*", true),
            ("10.1.2.3", "10.0.0.0/8", true),
            ("11.1.2.3", "10.0.0.0/8", false),
            ("11.1.2.3", "0.0.0.0/0", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.3/33", false),
            ("[fd00::1]", "fd00::/8", true),
            ("[fd00::1]", "10.0.0.0/8", false),
            ("a.test", "", false),
        ] {
            let url = Url::parse(&format!("http://{host}/")).unwrap();
            assert_eq!(is_exempt(&url, list), exempt, "{host} {list:?}");
        }
    }

    #[test]
    fn a_refusal_says_what_to_do_and_never_the_password() {
        let url = Url::parse("https://a.test/").unwrap();
        let refusal = |value: &'static str| {
            EnvProxy::of(&url, |name| (name == "https_proxy").then(|| value.to_string())).unwrap().refusal()
        };
        assert_eq!(
            refusal("p:3128"),
            "the proxy p:3128 requires a name and a password (HTTP 407): set https_proxy=http://NAME:PASSWORD@p:3128"
        );
        assert_eq!(
            refusal("http://me:secret-1@p:3128"),
            "the proxy p:3128 refuses the name or the password in https_proxy (HTTP 407); write @ : / in them as %40 %3A %2F"
        );
    }
}
