//! Files in which settings and secrets are mixed: a copy without the secrets is what commands get.
//!
//! Each format is read line by line or value by value, and everything whose key is that of a secret goes. A file that
//! cannot be read with certainty has no copy, and stays hidden whole.

use super::redact;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file below the home directory, and how it is written.
struct MixedFile {
    paths: &'static [&'static str],
    format: MixedFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MixedFormat {
    /// One setting a line, as `KEY = VALUE` or `KEY: VALUE`; lines that are indented more continue it.
    Lines,
    Json,
    Xml,
}

const FILES: [MixedFile; 8] = [
    MixedFile { paths: &[".npmrc"], format: MixedFormat::Lines },
    MixedFile { paths: &[".yarnrc.yml"], format: MixedFormat::Lines },
    MixedFile { paths: &[".config/pip/pip.conf", ".pip/pip.conf"], format: MixedFormat::Lines },
    MixedFile { paths: &[".cargo/config.toml", ".cargo/config"], format: MixedFormat::Lines },
    MixedFile { paths: &[".gitconfig", ".config/git/config"], format: MixedFormat::Lines },
    MixedFile { paths: &[".docker/config.json"], format: MixedFormat::Json },
    MixedFile { paths: &[".m2/settings.xml"], format: MixedFormat::Xml },
    MixedFile {
        paths: &[".nuget/NuGet/NuGet.Config", ".config/NuGet/NuGet.Config"],
        format: MixedFormat::Xml,
    },
];

/// Parts of the names of secrets, in small letters without `-`, `_` and dots. A name that only looks like one loses its
/// value, and nothing else.
const SECRET_PARTS: [&str; 12] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "apikey",
    "privatekey",
    "httpheaders",
    "extraheader",
    "smtppass",
    "authident",
];

/// The same for whole names.
const SECRET_NAMES: [&str; 5] = ["auth", "pass", "key", "cert", "servers"];

/// What of a file commands get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWithoutSecrets {
    pub text: String,
    /// The names of what is missing, in order; empty if the file has no secrets.
    pub missing: Vec<String>,
}

/// Where mixed files may be.
pub fn mixed_files(home: &Path) -> impl Iterator<Item = PathBuf> {
    FILES.iter().flat_map(|file| file.paths).map(move |path| home.join(path))
}

/// The copy of the mixed file at `path`. `None` for a file that is not in the table or cannot be read with certainty.
pub fn without_secrets(path: &Path, home: &Path, text: &str) -> Option<FileWithoutSecrets> {
    let rel = path.strip_prefix(home).ok()?;
    let file = FILES.iter().find(|file| file.paths.iter().any(|known| Path::new(known) == rel))?;
    let mut missing = BTreeSet::new();
    let kept = match file.format {
        MixedFormat::Lines => lines(text, &mut missing)?,
        MixedFormat::Json => json(text, &mut missing)?,
        MixedFormat::Xml => xml(text, &mut missing)?,
    };
    let without_logins = without_logins(&kept);
    if without_logins != kept {
        missing.insert("logins in URLs".into());
    }
    let text = redact(&without_logins, &[]).into_owned();
    if text != without_logins {
        missing.insert("texts that look like secrets".into());
    }
    Some(FileWithoutSecrets { text, missing: missing.into_iter().collect() })
}

fn is_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    SECRET_NAMES.contains(&plain.as_str()) || SECRET_PARTS.iter().any(|part| plain.contains(part))
}

fn lines(text: &str, missing: &mut BTreeSet<String>) -> Option<String> {
    // The lines of such a text begin at the margin, whatever key they belong to.
    if text.contains("\"\"\"") || text.contains("'''") || text.contains('\r') && !text.contains('\n') {
        return None;
    }
    let mut kept = String::new();
    // The indentation of the line that was left out last, while its value may go on, and whether it certainly does.
    let mut left_out: Option<(usize, bool)> = None;
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        let goes_on = content.ends_with('\\');
        if let Some((from, is_certain)) = left_out
            && (is_certain || content.is_empty() || indent > from)
        {
            left_out = Some((from, goes_on));
            continue;
        }
        left_out = None;
        // What was a setting once may be in a comment, in any form.
        if content.starts_with(['#', ';']) {
            continue;
        }
        // Something at the margin that sets nothing: this is another kind of file.
        let is_structure = content.is_empty()
            || content.starts_with('[')
            || content.chars().all(|c| matches!(c, ']' | '}' | ','));
        if indent == 0 && !is_structure && value_at(content).is_none() {
            return None;
        }
        match secret_name(content) {
            Some(name) => {
                missing.insert(name);
                left_out = Some((indent, goes_on));
            }
            None => kept.push_str(line),
        }
    }
    Some(kept)
}

/// The name of the first secret that a line sets. A line may have several: `{ token = "x" }`.
fn secret_name(line: &str) -> Option<String> {
    // The header of a section names no value.
    if line.starts_with('[') && line.ends_with(']') && !line.contains('=') {
        return None;
    }
    let is_end = |c: char| {
        c.is_whitespace() || matches!(c, '=' | ':' | '{' | '}' | ',' | '"' | '\'' | '/' | '.' | '[' | ']')
    };
    // A line without a value continues another one, or says yes to its name.
    let name = line.get(..value_at(line)?)?;
    let mut names = name.split(is_end).filter(|name| !name.is_empty());
    if let Some(name) = names.find(|name| is_secret(name)) {
        return Some(name.into());
    }
    // In an inline table or a flow mapping, what follows is names, too.
    let mut words = line.split(is_end).filter(|word| line.contains('{') && !word.is_empty());
    let nested = words.find(|word| is_secret(word));
    // A command of git's settings may print a password: `!echo password=x`.
    let assigned = line.match_indices('=').filter_map(|(at, _)| line.get(..at)?.split(is_end).next_back());
    nested.or_else(|| assigned.skip(1).find(|name| is_secret(name))).map(String::from)
}

/// Where the value of a setting begins. A key of npm contains colons: `//registry.example/:_authToken=x`.
fn value_at(line: &str) -> Option<usize> {
    let equals = line.find('=');
    let colon = line.find(": ").or_else(|| line.ends_with(':').then_some(line.len()));
    equals.into_iter().chain(colon).min()
}

fn json(text: &str, missing: &mut BTreeSet<String>) -> Option<String> {
    let mut value: serde_json::Value = serde_json::from_str(text).ok()?;
    clean(&mut value, missing);
    serde_json::to_string_pretty(&value).ok().map(|text| text + "\n")
}

fn clean(value: &mut serde_json::Value, missing: &mut BTreeSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| {
                let is_kept = !is_secret(name);
                if !is_kept {
                    missing.insert(name.clone());
                }
                is_kept
            });
            fields.values_mut().for_each(|value| clean(value, missing));
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| clean(value, missing)),
        _ => {}
    }
}

/// Elements with a secret name go with all that they contain, and so do comments. `None` where the elements do not match.
fn xml(text: &str, missing: &mut BTreeSet<String>) -> Option<String> {
    let (mut kept, mut rest) = (String::new(), text);
    let mut open: Vec<&str> = Vec::new();
    // How many elements were open around the one that is left out.
    let mut left_out: Option<usize> = None;
    while let Some((before, tag)) = rest.split_once('<') {
        if left_out.is_none() {
            kept.push_str(before);
        }
        if let Some(comment) = tag.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
            continue;
        }
        // Other declarations may define or quote anything.
        if tag.starts_with('!') {
            return None;
        }
        let (inner, after) = tag.split_once('>')?;
        rest = after;
        let name = inner.trim_start_matches('/').split(|c: char| c.is_whitespace() || c == '/').next()?;
        let is_secret_here = is_secret(name) || names_secret(inner);
        if inner.starts_with('?') {
            kept.push_str(&format!("<{inner}>"));
            continue;
        }
        if inner.starts_with('/') {
            (open.pop()? == name).then_some(())?;
        }
        let is_end_of_left_out = inner.starts_with('/') && left_out == Some(open.len());
        if left_out.is_none() && !is_secret_here {
            kept.push_str(&format!("<{inner}>"));
        }
        if is_end_of_left_out {
            left_out = None;
            continue;
        }
        let is_opening = !inner.starts_with('/') && !inner.ends_with('/');
        if left_out.is_none() && is_secret_here {
            missing.insert(name.into());
            left_out = is_opening.then_some(open.len());
        }
        if is_opening {
            open.push(name);
        }
    }
    // A file without any element is no XML.
    if left_out.is_some() || !open.is_empty() || !kept.contains('<') {
        return None;
    }
    kept.push_str(rest);
    Some(kept)
}

/// True for `<add key="ClearTextPassword" value="..." />` and for an attribute with a secret name. The attribute that NuGet
/// itself calls `key` has a name as its value.
fn names_secret(tag: &str) -> bool {
    let attributes = tag.split(['"', '\'']).collect::<Vec<_>>();
    attributes.chunks(2).any(|pair| {
        let (name, value) =
            (pair.first().copied().unwrap_or_default(), pair.get(1).copied().unwrap_or_default());
        let name = name.trim().trim_end_matches('=').rsplit(char::is_whitespace).next().unwrap_or_default();
        match name {
            "key" | "name" => is_secret(value),
            _ => !value.is_empty() && is_secret(name),
        }
    })
}

/// The text without `USER:PASSWORD@` and `TOKEN@` in URLs.
fn without_logins(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, url)) = rest.split_once("://") {
        kept.push_str(before);
        kept.push_str("://");
        let end = url
            .find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '?' | '#' | '<' | '>'))
            .unwrap_or(url.len());
        let (authority, after) = url.split_at(end);
        kept.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        rest = after;
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "/home/me";

    fn copy(name: &str, text: &str) -> Option<FileWithoutSecrets> {
        without_secrets(&Path::new(HOME).join(name), Path::new(HOME), text)
    }

    /// Each file as its program writes it: every `SECRET` goes, and every `plain` stays.
    #[test]
    fn a_copy_has_the_settings_and_no_secret() {
        for (name, text) in [
            (
                ".npmrc",
                "registry=https://plain.example/\n@corp:registry=https://plain.corp/\nignore-scripts=plain\n\
                 //plain.corp/:_authToken=SECRET\n//x.example/:_password = \"SECRET\"\n//x/:username=plain\n_auth=SECRET\n\
                 ; //old/:_authToken=SECRET\n# SECRET\nproxy=http://me:SECRET@plain.proxy:3128\n//x/:keyfile=/plain\nkey[]=SECRET\n\
                 cafile=/plain\n",
            ),
            (
                ".yarnrc.yml",
                "npmRegistryServer: \"https://plain.example\"\nnpmAuthToken: SECRET\nnpmScopes:\n  plain:\n    npmAuthIdent: |\n\
                 \n      SECRET\n      SECRET\n    npmRegistryServer: plain\n  flow: { npmAuthToken: SECRET }\n\"npmAuthToken\":\n  SECRET\n\
                 nodeLinker: plain\n",
            ),
            (
                ".config/pip/pip.conf",
                "[global]\nindex-url = https://user:SECRET@plain.example/simple\nextra-index-url =\n    https://SECRET@plain.example\n\
                 trusted-host = plain\n[plain]\npassword =\n    SECRET\ntimeout = plain\n",
            ),
            (
                ".cargo/config.toml",
                "[registries.plain]\nindex = \"sparse+https://plain.example/\"\ntoken = \"SECRET\"\n[registry]\n\
                 token=\"SECRET\"\nregistries.x.token = 'SECRET'\n[registries]\nplain = { index = \"y\" }\nx = { index = \"y\", token = \"SECRET\" }\n\
                 [build]\njobs = 4 # plain\n",
            ),
            (
                ".gitconfig",
                "[user]\n\tname = plain\n\tsigningkey = plain\n[http \"https://x.example\"]\n\textraHeader = Authorization: SECRET\n\
                 \textraheader = a \\\n SECRET \\\nSECRET\n\tsslVerify = plain\n[credential]\n\thelper = \"!f() { echo password=SECRET; }; f\"\n\
                 [url \"https://me:SECRET@plain.example/\"]\n\tinsteadOf = plain:\n[github]\n\ttoken = SECRET\n[sendemail]\n\tsmtpPass = SECRET\n\
                 [alias]\n\tco = plain\n",
            ),
            (
                ".docker/config.json",
                "{\"auths\": {\"plain.example\": {\"auth\": \"SECRET\", \"identitytoken\": \"SECRET\"}}, \
                 \"HttpHeaders\": {\"X\": \"SECRET\"}, \"currentContext\": \"plain\", \"list\": [{\"registrytoken\": \"SECRET\"}]}",
            ),
            (
                ".m2/settings.xml",
                "<?xml version=\"1.0\"?>\n<settings><mirrors><mirror><id>plain</id><url>https://u:SECRET@plain</url></mirror></mirrors>\n\
                 <!-- <password>SECRET</password> -->\n<servers><server><id>x</id><password>SECRET</password></server></servers>\n\
                 <proxies><proxy><host>plain</host><password>SECRET</password></proxy></proxies>\n\
                 <profiles><properties><my.token>SECRET</my.token><a>plain</a></properties></profiles></settings>\n",
            ),
            (
                ".nuget/NuGet/NuGet.Config",
                "<configuration><packageSources><add key=\"plain\" value=\"https://plain.example\" /></packageSources>\n\
                 <packageSourceCredentials><plain><add key=\"ClearTextPassword\" value=\"SECRET\"/></plain></packageSourceCredentials>\n\
                 <apikeys><add key=\"https://x\" value=\"SECRET\"/></apikeys><config><add key=\"http_proxy.password\" value=\"SECRET\" />\
                 <add key=\"plain\" value=\"plain\"/></config></configuration>",
            ),
        ] {
            let copy = copy(name, text).unwrap_or_else(|| panic!("{name}"));
            assert!(!copy.text.contains("SECRET"), "{name}: {}", copy.text);
            let plain = |text: &str| text.matches("plain").count();
            let lost = plain(text) - plain(&copy.text);
            // Only what belongs to a secret goes with it: the host of a token, and the name of its section.
            let allowed = match name {
                ".npmrc" => 1,
                ".nuget/NuGet/NuGet.Config" => 2,
                _ => 0,
            };
            assert_eq!(lost, allowed, "{name}: {}", copy.text);
            assert!(!copy.missing.is_empty());
        }
    }

    #[test]
    fn a_file_without_secrets_is_its_own_copy_and_one_that_is_not_understood_has_none() {
        for (name, text) in [
            (".npmrc", "registry=https://a.example/\nfund=false\n"),
            (".gitconfig", "[user]\n\tname = Author\n\temail\n[alias]\n\ttokens = log\n"),
            (".cargo/config.toml", "[build]\nrustflags = [\n  \"-C\",\n]\n"),
        ] {
            let copy = copy(name, text).unwrap();
            assert!(copy.text == text || name == ".gitconfig", "{name}: {copy:?}");
        }
        for (name, text) in [
            (".docker/config.json", "{\"auths\": "),
            (".m2/settings.xml", "<settings><servers></settings>"),
            (".m2/settings.xml", "<settings><![CDATA[<a>]]></settings>"),
            (".m2/settings.xml", "<!DOCTYPE x [<!ENTITY e \"SECRET\">]><settings/>"),
            (".m2/settings.xml", "<settings><servers>"),
            (".cargo/config.toml", "[registry]\ntoken = \"\"\"\nSECRET\"\"\"\n"),
            (".npmrc", "registry=x\nSECRET\n"),
            (".m2/settings.xml", "SECRET"),
            (".docker/config.json", "SECRET"),
            (".bashrc", "token=SECRET\n"),
        ] {
            assert_eq!(copy(name, text), None, "{name}: {text}");
        }
        assert_eq!(without_secrets(Path::new("/etc/.npmrc"), Path::new(HOME), ""), None);
    }
}
