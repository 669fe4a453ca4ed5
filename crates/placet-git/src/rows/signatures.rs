//! Which commits have a signature. Whether it is a good one is not asked.

use super::commits::CommitFact;
use crate::error::Result;
use crate::object_id::ObjectId;
use crate::quarantine::lines;
use crate::question::RepositoryQuestion;
use crate::runner::{GitCall, GitRunner, run_one};
use std::collections::BTreeSet;

/// Headers of a signature (SHA-1 and SHA-256 repositories).
const SIGNATURES: [&[u8]; 2] = [b"gpgsig ", b"gpgsig-sha256 "];

/// The commits without a signature.
pub fn unsigned_commits(
    question: &RepositoryQuestion,
    commits: &[CommitFact],
    runner: &dyn GitRunner,
) -> Result<BTreeSet<ObjectId>> {
    let all: Vec<ObjectId> = commits.iter().map(|commit| commit.id).collect();
    if all.is_empty() {
        return Ok(BTreeSet::new());
    }
    let args = ["rev-list", "--header", "--no-walk=unsorted", "--stdin"];
    let call = GitCall::new(&question.quarantine.path, args).transfer().input(lines(&all, ""));
    Ok(parse_headers(&run_one(runner, call)?.stdout))
}

/// Records that end with NUL: the commit's name, its headers, an empty line, its message.
fn parse_headers(output: &[u8]) -> BTreeSet<ObjectId> {
    let unsigned = output.split(|byte| *byte == 0).filter_map(|record| {
        let mut headers = record.split(|byte| *byte == b'\n');
        let id = ObjectId::from_hex(headers.next()?)?;
        let mut headers = headers.take_while(|line| !line.is_empty());
        let is_signed = headers.any(|line| SIGNATURES.iter().any(|name| line.starts_with(name)));
        (!is_signed).then_some(id)
    });
    unsigned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_a_header_and_not_a_text_of_the_message() {
        let id = |digit: char| digit.to_string().repeat(40);
        let record = |digit: char, headers: &str, message: &str| {
            format!("{}\ntree {}\n{headers}author A <a@x> 1 +0000\n\n    {message}\n\0", id(digit), id('f'))
        };
        let output = [
            record('1', "", "plain"),
            record(
                '2',
                "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n",
                "signed",
            ),
            record('3', "", "subject\n\n    gpgsig -----BEGIN PGP SIGNATURE-----"),
            record('4', "gpgsig-sha256 -----BEGIN SSH SIGNATURE-----\n", "signed"),
            record('5', "mergetag object 1\n gpgsig x\n", "a signed tag was merged"),
        ];
        let unsigned: Vec<String> =
            parse_headers(output.concat().as_bytes()).iter().map(ToString::to_string).collect();
        assert_eq!(unsigned, ['1', '3', '5'].map(id));
    }
}
