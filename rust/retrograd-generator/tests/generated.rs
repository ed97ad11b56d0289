//! The files in `src/ops/generated` are what the generator writes now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use retrograd_engine::ops::roster;
use retrograd_generator::names::*;
use retrograd_generator::{ident, short};

const RENEW: &str = "RETROGRAD_WRITE_FACE";

fn listed(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            listed(&path, found);
        } else {
            found.insert(path);
        }
    }
}

#[test]
fn generated_files_are_those_of_the_roster() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../retrograd");
    let files = retrograd_generator::files();
    let mut stale = Vec::new();
    let mut there = BTreeSet::new();
    listed(&root.join("src/ops/generated"), &mut there);
    listed(&root.join("tests/calls"), &mut there);
    let renew = std::env::var_os(RENEW).is_some();
    for (path, text) in &files {
        let path = root.join(path);
        there.remove(&path);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        if renew {
            std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder for the file");
            std::fs::write(&path, text).expect("the file is written");
        } else {
            stale.push(path);
        }
    }
    for path in there {
        if renew { std::fs::remove_file(&path).expect("the file is removed") } else { stale.push(path) }
    }
    let shown: Vec<_> = stale.iter().take(5).filter_map(|path| path.strip_prefix(&root).ok()).collect();
    assert!(
        stale.is_empty(),
        "{} files of the crate retrograd are not what the generator writes, such as {shown:?}: run `make face`, or this \
         test with {RENEW}=1",
        stale.len()
    );
}

#[test]
fn every_entry_of_the_roster_has_a_form_or_a_reason() {
    let ops = retrograd_generator::ops();
    let of: BTreeSet<&str> = ops.iter().map(|op| op.entry.rust).collect();
    let excluded: BTreeSet<&str> = EXCLUDED.iter().map(|(function, _)| *function).collect();
    for entry in roster() {
        let has = of.contains(entry.rust);
        let reason = excluded.contains(short(entry.rust).as_str());
        assert!(has != reason, "{}: form {has}, excluded {reason}", entry.rust);
    }
}

#[test]
fn tables_name_what_is_in_the_roster() {
    let functions: BTreeSet<String> = roster().map(|entry| short(entry.rust)).collect();
    let named = EXCLUDED.iter().map(|row| row.0);
    let named = named.chain(NAMES.iter().map(|row| row.0)).chain(PATHS.iter().map(|row| row.0));
    let named = named.chain(REQUIRED.iter().map(|row| row.0)).chain(CHOICES_OF.iter().map(|row| row.0));
    let named = named.chain(FIXED.iter().map(|row| row.0).filter(|f| *f != "*")).chain(MERGED.iter().copied());
    for function in named {
        assert!(functions.contains(function), "{function} is no op");
    }
    for (family, _) in FEATURES {
        let path = format!("retrograd_engine::ops::{family}");
        assert!(roster().any(|entry| entry.rust.starts_with(&path)), "{family} has no op");
    }
}

#[test]
fn every_integer_is_a_count_or_has_a_reason_to_be_signed() {
    let is_integer = |rust: &str| matches!(rust, "i64" | "Option<i64>");
    let integers: BTreeSet<(String, String)> = roster()
        .flat_map(|entry| entry.params.iter().map(move |param| (short(entry.rust), param)))
        .filter(|(_, param)| is_integer(param.rust) && !param.name.starts_with('_'))
        .map(|(function, param)| (function, ident(param.name)))
        .collect();
    let names: BTreeSet<&str> = integers.iter().map(|(_, name)| name.as_str()).collect();
    let counts: BTreeSet<&str> = COUNTS.iter().map(|row| row.0).collect();
    let signed: BTreeSet<&str> = SIGNED.iter().map(|row| row.0).collect();
    assert!(counts.is_disjoint(&signed), "{:?}", counts.intersection(&signed));
    let listed: BTreeSet<&str> = counts.union(&signed).copied().collect();
    assert_eq!(names, listed, "the integers of ops, and those in `COUNTS` and `SIGNED`");
    assert_eq!((counts.len(), signed.len()), (COUNTS.len(), SIGNED.len()), "a name is in a list twice");
    for (function, name, _) in SIGNED_OF {
        assert!(integers.contains(&(function.to_string(), name.to_string())), "{function} has no integer {name}");
        assert!(counts.contains(name), "{name} is signed in all functions");
    }
}

#[test]
fn documentation_names_variants_and_not_their_texts() {
    let mut left = BTreeSet::new();
    for text in retrograd_generator::files().values() {
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("/// ")) {
            let words = line.split([' ', '=', '(', ')', ',', '.', ';', ':', '`']);
            let is_quoted = |w: &&str| {
                let of = ['"', '\''].into_iter().find_map(|quote| w.strip_prefix(quote)?.strip_suffix(quote));
                of.is_some_and(|text| text.starts_with(char::is_alphabetic))
            };
            left.extend(words.filter(is_quoted).map(str::to_string));
        }
    }
    let left: Vec<&str> = left.iter().map(String::as_str).collect();
    // Modes that are in the name of the op, and no choice of its own.
    assert_eq!(left, ["\"complete\"", "\"reduced\"", "'bilinear'", "'floor'", "'nearest'"]);
}
