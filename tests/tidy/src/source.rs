//! Promises about Rust files: module docs, 100 columns, short functions, no `#[allow]`, no
//! `unsafe`, no test that sleeps.

use crate::assert_none;
use crate::tree::{File, files};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::str::FromStr;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// The most columns of a line. Strings that cannot be broken may be longer.
const COLUMNS_MAX: usize = 100;

/// The most lines of a function, from its signature to its last brace.
const LINES_MAX: usize = 70;

/// Functions that are longer, by the name of their file and their own. The list may only shrink.
const LONG_FUNCTIONS: &[(&str, &str)] = &[
    ("apply.rs", "apply_play"),
    ("attack.rs", "readers_and_slow_bodies_do_not_hurt_honest_players"),
    ("blacklist.rs", "forged_logs_are_found"),
    ("deed.rs", "act"),
    ("entries.rs", "apply"),
    ("index.rs", "add"),
    ("records.rs", "evidence_is_for_its_owner_and_operators_only"),
    ("replay.rs", "event"),
    ("seeds.rs", "every_message_of_the_fish_document_has_its_transcript"),
    ("seeds.rs", "every_message_of_the_queue_document_has_a_transcript"),
    ("serve.rs", "run"),
    ("step.rs", "step"),
    ("verify.rs", "verify_tournament"),
];

/// How many lines of comments are too wide. The number may only shrink.
const WIDE_COMMENTS_MAX: usize = 80;

/// Functions of tests that may sleep: they make a machine busy or a load uneven, and wait for
/// nothing.
const SLEEPERS: &[(&str, &str)] = &[
    ("crates/agon/tests/server/attack.rs", "never_send"),
    ("crates/agon/tests/server/attack.rs", "read_replay"),
    ("crates/server/tests/support/mod.rs", "stall"),
];

/// The findings in one file.
#[derive(Default)]
struct Walk {
    /// Functions: name, first line and length.
    functions: Vec<(String, usize, usize)>,
    /// Lines with an `#[allow]`.
    allows: Vec<usize>,
    /// Lines with `unsafe`.
    unsafes: Vec<usize>,
    /// Calls of a `sleep` in tests: the function around it and the line.
    sleeps: Vec<(String, usize)>,
    /// The functions around the place, and whether it is in a module of tests.
    around: Vec<String>,
    in_tests: bool,
}

impl Walk {
    fn of(file: &File) -> Walk {
        let parsed = syn::parse_file(&file.text).unwrap_or_else(|error| {
            panic!("{}:{}: {error}", file.path, error.span().start().line);
        });
        let in_tests = file.path.contains("/tests/") || file.path.starts_with("tests/");
        let mut walk = Walk { in_tests, ..Walk::default() };
        walk.visit_file(&parsed);
        walk
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (first, last) = (signature.span().start().line, block.span().end().line);
        self.functions.push((signature.ident.to_string(), first, last + 1 - first));
    }
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
        self.around.push(item.sig.ident.to_string());
        visit::visit_item_fn(self, item);
        self.around.pop();
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
        self.around.push(item.sig.ident.to_string());
        visit::visit_impl_item_fn(self, item);
        self.around.pop();
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let before = self.in_tests;
        self.in_tests |= item.ident == "tests";
        visit::visit_item_mod(self, item);
        self.in_tests = before;
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("allow") {
            self.allows.push(attribute.span().start().line);
        }
        visit::visit_attribute(self, attribute);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let syn::Safety::Unsafe(token) = &signature.safety {
            self.unsafes.push(token.span().start().line);
        }
        visit::visit_signature(self, signature);
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.unsafes.push(block.span().start().line);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && path.path.segments.last().is_some_and(|segment| segment.ident == "sleep")
            && self.in_tests
        {
            let around = self.around.last().cloned().unwrap_or_default();
            self.sleeps.push((around, call.span().start().line));
        }
        visit::visit_expr_call(self, call);
    }
}

#[test]
fn every_file_has_a_module_doc() {
    let without = files(".rs").into_iter();
    let without = without.filter(|file| !file.text.lines().any(|line| line.starts_with("//!")));
    let complaints = without
        .map(|file| format!("{}: say in a `//!` comment what the file answers for", file.path));
    assert_none(&complaints.collect::<Vec<_>>());
}

#[test]
fn no_attribute_allows_what_a_lint_forbids_and_nothing_is_unsafe() {
    let mut complaints = Vec::new();
    for file in files(".rs") {
        let walk = Walk::of(&file);
        let allows = walk.allows.iter();
        complaints.extend(allows.map(|line| {
            format!("{}:{line}: write #[expect(…, reason = \"…\")] instead of #[allow]", file.path)
        }));
        let unsafes = walk.unsafes.iter();
        complaints.extend(unsafes.map(|line| format!("{}:{line}: no unsafe code", file.path)));
    }
    assert_none(&complaints);
}

#[test]
fn functions_have_at_most_70_lines() {
    let mut complaints = Vec::new();
    let mut found = BTreeSet::new();
    for file in files(".rs") {
        let name_of_file = file.path.rsplit('/').next().unwrap_or_default();
        for (name, line, lines) in Walk::of(&file).functions {
            let long = (name_of_file, name.as_str());
            match LONG_FUNCTIONS.iter().position(|known| *known == long) {
                _ if lines <= LINES_MAX => {}
                Some(known) => drop(found.insert(known)),
                None => complaints.push(format!("{}:{line}: {name} has {lines} lines", file.path)),
            }
        }
    }
    complaints.extend(not_needed("LONG_FUNCTIONS", LONG_FUNCTIONS, &found));
    assert_none(&complaints);
}

/// A complaint about every exception that no file needs any more.
fn not_needed<T: std::fmt::Debug>(
    list: &str,
    exceptions: &[T],
    found: &BTreeSet<usize>,
) -> Vec<String> {
    let unused = exceptions.iter().enumerate().filter(|(at, _)| !found.contains(at));
    unused.map(|(_, known)| format!("{}: take {known:?} out of {list}", file!())).collect()
}

#[test]
fn tests_do_not_sleep() {
    let mut found = BTreeSet::new();
    let mut complaints = Vec::new();
    // Chaos is a program that runs for as long as one likes, and no test.
    for file in files(".rs").iter().filter(|file| !file.path.starts_with("tests/chaos/src/")) {
        for (around, line) in Walk::of(file).sleeps {
            let sleeper = (file.path.as_str(), around.as_str());
            match SLEEPERS.iter().position(|known| *known == sleeper) {
                Some(known) => drop(found.insert(known)),
                None => complaints.push(format!(
                    "{}:{line}: {around} sleeps; poll with a deadline instead",
                    file.path
                )),
            }
        }
    }
    complaints.extend(not_needed("SLEEPERS", SLEEPERS, &found));
    assert_none(&complaints);
}

/// The lines that a string literal touches; comments are none, whatever the parser makes of them.
fn lines_of_strings(stream: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in stream {
        match token {
            TokenTree::Group(group) => lines_of_strings(group.stream(), lines),
            TokenTree::Literal(literal) if literal.to_string().contains('"') => {
                let span = literal.span();
                lines.extend(span.start().line..=span.end().line);
            }
            _ => {}
        }
    }
}

#[test]
fn lines_have_at_most_100_columns() {
    let (mut complaints, mut comments) = (Vec::new(), Vec::new());
    for file in files(".rs") {
        if file.text.lines().all(|line| line.chars().count() <= COLUMNS_MAX) {
            continue;
        }
        let mut strings = BTreeSet::new();
        lines_of_strings(TokenStream::from_str(&file.text).expect("Rust"), &mut strings);
        for (line, number) in file.text.lines().zip(1..) {
            // rustfmt does not count the semicolon after the bounds of an associated type.
            if line.trim_end_matches(';').chars().count() <= COLUMNS_MAX {
                continue;
            }
            let complaint = format!("{}:{number}: over {COLUMNS_MAX} columns", file.path);
            if line.trim_start().starts_with("//") {
                comments.push(complaint);
            } else if !strings.contains(&number) {
                complaints.push(complaint);
            }
        }
    }
    eprintln!("{} comments are over {COLUMNS_MAX} columns", comments.len());
    if comments.len() > WIDE_COMMENTS_MAX {
        complaints.extend(comments);
    }
    assert_none(&complaints);
}
