//! The files in `src/ops/generated` are what the generator writes now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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
    assert!(
        stale.is_empty(),
        "{stale:?} differ from what the roster says: run `make face`, or this test with {RENEW}=1"
    );
}
