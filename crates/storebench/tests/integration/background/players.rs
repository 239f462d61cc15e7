//! Video on a system without ffmpeg: a PATH that holds only what is named.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use storebench_host::background::Message;

use crate::cli::support::{STOREBENCH, Scratch};

/// A directory with links to some of this system's programs.
fn path_with(scratch: &Scratch, programs: &[&str]) -> PathBuf {
    let path = scratch.join("bin");
    std::fs::create_dir(&path).unwrap();
    for program in programs {
        let file = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|file| file.exists());
        symlink(file.expect("scripts/setup.sh test installs it"), path.join(program)).unwrap();
    }
    path
}

/// The messages of a load for video, until `enough`.
fn read_messages(scratch: &Scratch, path: &Path, is_enough: impl Fn(&Message) -> bool) -> Vec<Message> {
    let mut load = Command::new(STOREBENCH)
        .args(["__background", "video"])
        .arg(scratch.path())
        .arg(std::process::id().to_string())
        .env("PATH", path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut messages = Vec::new();
    for line in BufReader::new(load.stdout.take().unwrap()).lines() {
        let message: Message = serde_json::from_str(&line.unwrap()).unwrap();
        let is_last = is_enough(&message);
        messages.push(message);
        if is_last {
            break;
        }
    }
    load.kill().unwrap();
    load.wait().unwrap();
    messages
}

#[test]
fn gstreamer_plays_where_there_is_no_ffmpeg() {
    let scratch = Scratch::new();
    let path = path_with(&scratch, &["gst-launch-1.0", "gst-inspect-1.0"]);
    let at_work = std::cell::Cell::new(false);
    let messages = read_messages(&scratch, &path, |message| match message {
        Message::AtWork { description, unit } => {
            assert!(description.contains("by GStreamer") && unit == "frames", "{message:?}");
            at_work.set(true);
            false
        }
        Message::Progress { done, .. } => at_work.get() && *done >= 10.0,
        other => panic!("{other:?}"),
    });
    assert!(messages.len() > 3);
    // Its program is tied to the load, which was killed.
    scratch.assert_nothing_left();
}
