//! The files in `src/ops/generated` are what the generator writes now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use retrograd_engine::ops::roster;
use retrograd_generator::names::*;
use retrograd_generator::short;

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
