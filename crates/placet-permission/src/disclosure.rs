//! Commands that only read, but disclose more than their words name: the environment with its secrets, files that
//! another file lists, modules. `read_only.toml` lists the options; this file checks what needs a look at the words.

use super::command::ShellWord;

/// True if `name` prints the environment of processes.
pub(super) fn prints_environment(name: &str, words: &[ShellWord]) -> bool {
    name == "ps"
        && words.iter().enumerate().any(|(at, word)| {
            let text = word.shown();
            // `ps axe` and `ps -E` print it after the command line; `ps -e` only lists every process.
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let value = before.is_some_and(|before| before.source.starts_with('-'));
            let letters = text.chars().all(|c| c.is_ascii_alphabetic());
            let bsd = letters && !value && text.contains('e');
            let shows = text.starts_with('-') && !text.starts_with("--") && text.contains('E');
            bsd || shows || text.contains("environ") || word.text.is_none()
        })
}

/// True if `name` reads files that its words do not name.
pub(super) fn reads_unnamed(name: &str, words: &[ShellWord]) -> bool {
    match name {
        "jq" => words.iter().any(|word| word.text.as_deref().is_none_or(filter_reads_environment)),
        "grep" | "egrep" | "fgrep" | "zgrep" => words.iter().any(|word| has_glued_file(word, "eABCmdD")),
        "rg" => words.iter().any(|word| has_glued_file(word, "eABCmgtTMEdjr")),
        // The linker's tools read more words from `@FILE`.
        "strings" => words.iter().any(|word| word.source.starts_with('@')),
        _ => false,
    }
}

/// True if a filter of jq may print the environment or load a module. `.env` is a field like any other.
fn filter_reads_environment(filter: &str) -> bool {
    const PRYING: &[&str] = &["env", "ENV", "import", "include", "modulemeta", "get_search_list"];
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = filter;
    let mut before = None;
    while let Some(start) = rest.find(part) {
        if start > 0 {
            before = rest.get(..start).and_then(|skipped| skipped.chars().next_back());
        }
        let tail = rest.get(start..).unwrap_or_default();
        let end = tail.find(|c| !part(c)).unwrap_or(tail.len());
        let (name, after) = tail.split_at(end);
        if PRYING.contains(&name) && before != Some('.') {
            return true;
        }
        before = name.chars().next_back();
        rest = after;
    }
    false
}

/// True for `-nfFILE`: a cluster in which the name of a file of patterns follows its letter. `valued` are the letters
/// whose value is the rest of the word.
fn has_glued_file(word: &ShellWord, valued: &str) -> bool {
    let Some(cluster) = word.text.as_deref().and_then(|text| text.strip_prefix('-')) else { return false };
    if cluster.starts_with('-') {
        return false;
    }
    let at = cluster.find(|c| c == 'f' || valued.contains(c));
    // A name with a slash is found among the paths.
    at.is_some_and(|at| {
        let rest = cluster.get(at..).unwrap_or_default();
        rest.starts_with('f') && rest.len() > 1 && !rest.contains(['/', '~', '.'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_pries_by_its_names_and_not_by_its_fields() {
        for filter in
            ["env", "$ENV", "$ENV.PATH", "env.PATH", ".a|env", "\"\\(env)\"", "import \"a\" as a; .", "[env]"]
        {
            assert!(filter_reads_environment(filter), "{filter}");
        }
        for filter in
            [".env", ".services.web.env", ".environment", ".a | .env[0]", ".imports", "envelope", "."]
        {
            assert!(!filter_reads_environment(filter), "{filter}");
        }
    }
}
