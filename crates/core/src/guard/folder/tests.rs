use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A directory with a folder that holds a file, a link to a folder outside, and another folder.
fn make_tree() -> tempfile::TempDir {
    let top = tempfile::tempdir().unwrap();
    fs::create_dir_all(top.path().join("work/inner/deep")).unwrap();
    fs::create_dir(top.path().join("theirs")).unwrap();
    for file in ["work/file", "work/inner/deep/file", "theirs/photo"] {
        fs::write(top.path().join(file), "x").unwrap();
    }
    symlink("../theirs", top.path().join("work/link")).unwrap();
    symlink("nowhere", top.path().join("work/dangling")).unwrap();
    top
}

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

#[test]
fn all_that_a_folder_holds_goes_and_nothing_that_its_links_lead_to() {
    let top = make_tree();
    let folder = Folder::open(top.path()).unwrap();
    folder.open_subfolder(name("work")).unwrap().empty(Some(name("file"))).unwrap();
    let entries = fs::read_dir(top.path().join("work")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(entries.collect::<Vec<_>>(), ["file"]);
    folder.remove(name("work")).unwrap();
    folder.remove(name("work")).unwrap();
    assert!(!top.path().join("work").exists() && top.path().join("theirs/photo").exists());
}

#[test]
fn a_link_is_no_folder_whatever_it_leads_to() {
    let top = make_tree();
    let work = Folder::open(top.path()).unwrap().open_subfolder(name("work")).unwrap();
    assert!(work.open_subfolder(name("link")).is_err());
    assert!(remove_made(&top.path().join("work/link")).is_err());
    work.remove(name("link")).unwrap();
    assert!(top.path().join("theirs/photo").exists() && !top.path().join("work/link").is_symlink());
}

#[test]
fn a_handle_stays_with_its_folder_when_another_takes_its_name() {
    let top = make_tree();
    let folder = Folder::open(top.path()).unwrap();
    let work = folder.open_subfolder(name("work")).unwrap();
    fs::rename(top.path().join("work"), top.path().join("moved")).unwrap();
    symlink("theirs", top.path().join("work")).unwrap();
    work.empty(None).unwrap();
    assert!(top.path().join("theirs/photo").exists());
    assert!(fs::read_dir(top.path().join("moved")).unwrap().next().is_none());
    assert!(work.is_same(&folder.open_subfolder(name("moved")).unwrap()).unwrap());
    assert!(!work.is_same(&folder.open_subfolder(name("theirs")).unwrap()).unwrap());
}

#[test]
fn another_users_folder_is_left_as_it_is() {
    let top = make_tree();
    let theirs = top.path().join("work/inner/deep");
    if let Err(error) = std::os::unix::fs::chown(&theirs, Some(12345), None) {
        return println!("not tried: giving a folder away: {error}");
    }
    let folder = Folder::open(top.path()).unwrap();
    let error = folder.remove(name("work")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("deep belongs to another user, number 12345"), "{error}");
    assert!(theirs.join("file").exists());
    assert!(remove_made(&theirs).is_err() && theirs.join("file").exists());
    assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1, "nothing is left of looking whose it is");
}
