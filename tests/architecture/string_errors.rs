//! How often a file says `Result<_, String>`, tests left out.

use super::imports::is_test;
use syn::visit::{self, Visit};

/// The number of types `Result<_, String>` that a file writes, on however many lines.
pub fn count(file: &syn::File) -> usize {
    let mut counter = Counter(0);
    counter.visit_file(file);
    counter.0
}

struct Counter(usize);

impl<'a> Visit<'a> for Counter {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test(item) {
            visit::visit_item(self, item);
        }
    }

    fn visit_path_segment(&mut self, segment: &'a syn::PathSegment) {
        if let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments {
            let error = arguments.args.iter().nth(1);
            let is_string = |error: &syn::GenericArgument| match error {
                syn::GenericArgument::Type(syn::Type::Path(path)) => {
                    path.path.segments.last().is_some_and(|last| last.ident == "String")
                }
                _ => false,
            };
            self.0 += usize::from(segment.ident == "Result" && error.is_some_and(is_string));
        }
        visit::visit_path_segment(self, segment);
    }
}

#[test]
fn only_an_error_that_is_a_string_counts() {
    let text = "type A = Result<u8,\n    String>; fn b() -> io::Result<String> { x::<Result<String, E>>() }
        fn c(of: Option<std::result::Result<(), std::string::String>>) {}
        #[cfg(test)] mod tests { fn d() -> Result<(), String> {} }";
    assert_eq!(count(&syn::parse_file(text).unwrap()), 2);
}
