use super::super::{Options, PatchApplyError, PatchedContent, StripLevels, apply, parse};

const THRICE: &str = "a\nx\nb\n1\n2\na\nx\nb\n3\n4\n5\n6\na\nx\nb\n";

fn on(patch: &str, old: &str) -> Result<PatchedContent, PatchApplyError> {
    let patch = parse(format!("--- a/f\n+++ b/f\n{patch}").as_bytes(), StripLevels::Auto).unwrap();
    apply(&patch.files[0], old.as_bytes(), Options::default())
}

fn refused(patch: &str, old: &str) -> String {
    on(patch, old).unwrap_err().to_string()
}

const BODY: &str = " a\n-x\n+y\n b\n";

#[test]
fn a_hunk_with_a_right_header_goes_to_the_nearest_place_and_the_answer_says_where() {
    let applied = on(&format!("@@ -8,3 +8,3 @@\n{BODY}"), THRICE).unwrap();
    assert_eq!(applied.notes, ["hunk 1 of 1 applied at line 6 (offset -2 lines), the nearest of 3 places"]);
    assert_eq!(String::from_utf8(applied.bytes).unwrap(), THRICE.replacen("2\na\nx", "2\na\ny", 1));
    let applied = on(&format!("@@ -30,3 +30,3 @@\n{BODY}"), THRICE).unwrap();
    assert_eq!(applied.notes, ["hunk 1 of 1 applied at line 13 (offset -17 lines), the nearest of 3 places"]);
}

#[test]
fn a_hunk_without_numbers_with_wrong_counts_or_of_the_envelope_is_not_guessed_at() {
    let several = "matches at 3 places, lines 1, 6, 13";
    for header in ["@@", "@@ -8,2 +8,3 @@", "@@ -8,3 +8,9 @@", "@@ -8 @@"] {
        assert!(refused(&format!("{header}\n{BODY}"), THRICE).ends_with(several), "{header}");
    }
    let envelope = format!("*** Begin Patch\n*** Update File: f\n@@ -8,3 +8,3 @@\n{BODY}*** End Patch\n");
    let patch = parse(envelope.as_bytes(), StripLevels::Auto).unwrap();
    let error = apply(&patch.files[0], THRICE.as_bytes(), Options::default()).unwrap_err().to_string();
    assert!(error.ends_with(several), "{error}");
    // A hunk at line 1 must be there; context that is only similar, and fuzz, choose nothing.
    let two = THRICE.replacen("a\nx", "a\nz", 1);
    assert!(refused(&format!("@@ -1,3 +1,3 @@\n{BODY}"), &two).ends_with("matches at 2 places, lines 6, 13"));
    let crlf = THRICE.replace('\n', "\r\n");
    assert!(refused(&format!("@@ -8,3 +8,3 @@\n{BODY}"), &crlf).ends_with(several));
}

#[test]
fn of_two_places_at_the_same_distance_the_lower_is_taken_and_said() {
    let applied = on(&format!("@@ -3,3 +3,3 @@\n{BODY}"), "a\nx\nb\n-\na\nx\nb\n").unwrap();
    assert_eq!(applied.notes, ["hunk 1 of 1 applied at line 5 (offset +2 lines), the nearest of 2 places"]);
}

#[test]
fn a_place_is_taken_only_where_git_and_gnu_patch_take_the_same() {
    // The first hunk is six lines lower than its header states. GNU patch moves the second hunk by the same offset, to
    // line 13; git does not, and takes line 9.
    let first = "@@ -2,1 +2,1 @@\n-head\n+HEAD\n";
    let old = format!("1\n2\n3\n4\n5\n6\n7\nhead\n{THRICE}");
    let both = format!("{first}@@ -9,3 +9,3 @@\n{BODY}");
    let error = refused(&both, &old);
    assert!(error.ends_with("matches at 3 places, lines 9, 14, 21"), "{error}");
    let far = format!("{first}@@ -40,3 +40,3 @@\n{BODY}");
    assert!(on(&far, &old).unwrap().notes[1].contains("applied at line 21 "));
}

/// `git apply` and GNU patch produce different results, because GNU patch puts the second hunk between the lines of the
/// first, and git puts the third above the second.
#[test]
fn a_hunk_with_one_place_left_is_refused_where_its_result_is_that_of_neither_program() {
    let hunks =
        "@@ -2,2 +2,3 @@\n e\n+new\n a\n@@ -7,2 +8,3 @@\n a\n+new\n a\n@@ -11,2 +13,3 @@\n b\n+new\n c\n";
    let old = "1\n2\n3\ne\na\na\n7\nb\nc\n10\n11\n12\n13\n14\n15\na\na\n18\nb\nc\n";
    let error = refused(hunks, old);
    assert!(error.ends_with("matches at 2 places, lines 8, 19"), "{error}");
}

#[test]
fn an_addition_past_the_end_goes_to_the_end_and_says_so() {
    let applied = on("@@ -9,0 +10,2 @@\n+x\n+y\n", "a\nb\n").unwrap();
    assert_eq!(applied.bytes, b"a\nb\nx\ny\n");
    let by = "placed at the end of the file, because its line is past it, after line 2";
    assert!(applied.notes.contains(&format!("hunk 1 of 1 has no context: {by}")), "{:?}", applied.notes);
    // The line must have been read, as for any hunk without context.
    assert_eq!(applied.unproven.first(), Some(&(2..2)));
    let error = refused("@@ -9,0 @@\n+x\n+y\n", "a\nb\n");
    assert!(error.ends_with("belongs after line 9, but the file has 2"), "{error}");
}

#[test]
fn where_the_programs_remove_different_ones_of_several_equal_lines_the_content_is_the_same() {
    // GNU patch removes line 5; git looks only at the end of the file and removes line 6.
    let applied = on("@@ -4 +3,0 @@\n-x\n", "3\nx\n7\n4\nx\nx\n").unwrap();
    assert_eq!(String::from_utf8(applied.bytes).unwrap(), "3\nx\n7\n4\nx\n");
    assert!(refused("@@ -4 +3,0 @@\n-x\n", "3\nx\n7\n4\nx\ny\nx\n").ends_with("lines 2, 5, 7"));
}
