//! Programs with which people start servers, and what the view means for them.

use std::path::Path;

/// Why `program` may not start a server in the view, with the way out; `None` for a program of which nothing is known.
pub(in crate::cli) fn start_note(program: &str, is_without_hosts: bool) -> Option<String> {
    let name = Path::new(program).file_name()?.to_str()?;
    let hosts = match name {
        "npx" | "bunx" | "pnpx" => "registry.npmjs.org",
        "uvx" | "pipx" => "pypi.org and files.pythonhosted.org",
        "docker" | "podman" | "nerdctl" => {
            return Some(format!(
                "`{name}` cannot start containers in the view: the socket of its engine gives all rights of the \
                 machine; `outside` runs it without the view"
            ));
        }
        _ => return None,
    };
    is_without_hosts.then(|| {
        format!(
            "`{name}` has no network in the view: placet asks about hosts that a start needs, unless the server is in the \
             cache; or allow {hosts} (`hosts`)"
        )
    })
}
