//! Video on systems that have less than ffmpeg: a PATH that holds only what is named.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use storebench_core::background::Message;

use super::support::{STOREBENCH, Scratch};

/// A directory with links to some of this system's programs.
fn path_with(scratch: &Scratch, programs: &[&str]) -> PathBuf {
    let path = scratch.path().join("bin");
    std::fs::create_dir(&path).unwrap();
    for program in programs {
        let here = std::env::split_paths(&std::env::var_os("PATH").unwrap())
            .map(|folder| folder.join(program))
            .find(|file| file.exists());
        symlink(here.expect("scripts/setup.sh test installs it"), path.join(program)).unwrap();
    }
    path
}

/// What a load for video says there, until `enough`.
fn says(scratch: &Scratch, path: &Path, enough: impl Fn(&Message) -> bool) -> Vec<Message> {
    let mut load = Command::new(STOREBENCH)
        .args(["__background", "video"])
        .arg(scratch.path())
        .arg(std::process::id().to_string())
        .env("PATH", path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = Vec::new();
    for line in BufReader::new(load.stdout.take().unwrap()).lines() {
        let message: Message = serde_json::from_str(&line.unwrap()).unwrap();
        let end = enough(&message);
        said.push(message);
        if end {
            break;
        }
    }
    load.kill().unwrap();
    load.wait().unwrap();
    said
}

#[test]
fn gstreamer_plays_where_there_is_no_ffmpeg() {
    let scratch = Scratch::new();
    let path = path_with(&scratch, &["gst-launch-1.0", "gst-inspect-1.0"]);
    let at_work = std::cell::Cell::new(false);
    let said = says(&scratch, &path, |message| match message {
        Message::AtWork { description, unit } => {
            assert!(description.contains("by GStreamer") && unit == "frames", "{message:?}");
            at_work.set(true);
            false
        }
        Message::Progress { done, .. } => at_work.get() && *done >= 10.0,
        other => panic!("{other:?}"),
    });
    assert!(said.len() > 3);
    // Its program is tied to the load, which was killed.
    scratch.assert_nothing_runs();
}

#[test]
fn without_a_player_it_says_what_to_install() {
    let scratch = Scratch::new();
    let path = path_with(&scratch, &[]);
    let said = says(&scratch, &path, |message| matches!(message, Message::Unsupported { .. }));
    assert!(
        matches!(said.last(), Some(Message::Unsupported { why }) if why.contains("apt-get install ffmpeg")),
        "{said:?}"
    );
}

#[test]
fn without_a_player_its_cells_are_left_out() {
    let scratch = Scratch::new();
    let path = path_with(&scratch, &[]);
    let arguments = "--store memory --operations 5 --trials 1 --background none,video";
    let output = scratch.run(arguments).env("PATH", &path).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let run = scratch.results();
    assert_eq!(run.trials.len(), 1);
    assert_eq!(run.header.left_out.len(), 1);
    assert!(run.header.left_out[0].reason.contains("apt-get install ffmpeg"), "{:?}", run.header.left_out);
    let output = scratch.run("--store memory --background video").env("PATH", &path).output().unwrap();
    assert_eq!(output.status.code(), Some(19));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("apt-get install ffmpeg") && said.lines().count() == 1, "{said}");
}
