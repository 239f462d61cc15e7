//! A load that makes a video without a network, and decodes it in real time again and again, frame by frame, for nobody to see.

use std::convert::Infallible;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::message::LoadStop;
use super::program::{is_installed, run as run_program};
use super::reporter::Reporter;
use storebench_model::words::words;

/// Shown if no player is installed.
pub const NO_PLAYER: &str =
    "neither ffmpeg nor GStreamer is installed to decode a video: apt-get install ffmpeg";

/// The video's length. It is played again and again.
const SECONDS: u32 = 10;
/// Frames in a second.
const RATE: u32 = 30;
const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;

/// A program that makes and decodes videos.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Player {
    /// ffmpeg, of any version that is still in use.
    Ffmpeg,
    #[strum(serialize = "GStreamer")]
    Gstreamer,
}

words!(Player);

/// The players that are installed, the preferred one first.
pub fn players() -> Vec<Player> {
    let all = [Player::Ffmpeg, Player::Gstreamer];
    all.into_iter().filter(|player| is_installed(player.program())).collect()
}

/// Plays a video. Its progress is the number of frames decoded.
pub fn run(folder: &Path, reporter: &Arc<Reporter>) -> Result<Infallible, LoadStop> {
    let player = players().first().copied().ok_or_else(|| LoadStop::Unsupported(NO_PLAYER.into()))?;
    let video = prepare(player, folder, reporter)?;
    let description = format!(
        "decoded a video of {WIDTH}x{HEIGHT} at {RATE} frames/s in {} by {} in real time",
        video.codec.name,
        player.name()
    );
    reporter.send_ready(description, "frames", 1.0).map_err(LoadStop::failed("telling the parent"))?;
    loop {
        let mut frames = 0;
        run_program(player.program(), &player.play(&video.path), |line| {
            if player.is_frame(line) {
                reporter.add(1);
                frames += 1;
            }
        })?;
        if frames == 0 {
            return Err(LoadStop::Failed(format!("{} decoded nothing", player.name())));
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Codec {
    name: &'static str,
    /// The player's arguments for compressing, and for GStreamer also for the container.
    encode: &'static [&'static str],
    /// Parts that the player needs to encode and decode: encoders of ffmpeg, elements of GStreamer.
    needs: &'static [&'static str],
}

const FFMPEG: &[Codec] = &[
    Codec { name: "H.264", encode: &["libx264", "-preset", "fast"], needs: &["libx264"] },
    Codec { name: "H.264", encode: &["libopenh264", "-b:v", "3M"], needs: &["libopenh264"] },
    Codec { name: "MPEG-4", encode: &["mpeg4", "-q:v", "4"], needs: &["mpeg4"] },
];

const GSTREAMER: &[Codec] = &[
    Codec {
        name: "H.264",
        encode: &["x264enc", "speed-preset=fast", "!", "matroskamux"],
        needs: &["x264enc", "avdec_h264", "matroskamux"],
    },
    Codec {
        name: "VP8",
        encode: &["vp8enc", "deadline=1", "cpu-used=4", "!", "matroskamux"],
        needs: &["vp8enc", "vp8dec", "matroskamux"],
    },
    Codec {
        name: "Theora",
        encode: &["theoraenc", "speed-level=2", "!", "oggmux"],
        needs: &["theoraenc", "theoradec", "oggmux"],
    },
];

struct Video {
    path: PathBuf,
    codec: Codec,
}

/// Makes the video, unless an earlier load has.
fn prepare(player: Player, folder: &Path, reporter: &Reporter) -> Result<Video, LoadStop> {
    let codec = player.codec()?;
    let path = folder.join(format!("video-{}", player.program()));
    if !path.exists() {
        let unfinished = path.with_extension("unfinished");
        run_program(player.program(), &player.make(codec, &unfinished), |_| reporter.add(1))?;
        fs::rename(&unfinished, &path).map_err(LoadStop::failed("keeping the video"))?;
    }
    Ok(Video { path, codec })
}

impl Player {
    fn program(self) -> &'static str {
        match self {
            Player::Ffmpeg => "ffmpeg",
            Player::Gstreamer => "gst-launch-1.0",
        }
    }

    /// The first codec whose parts are all installed.
    fn codec(self) -> Result<Codec, LoadStop> {
        match self {
            Player::Ffmpeg => {
                let mut encoders = Vec::new();
                run_program("ffmpeg", &["-hide_banner", "-loglevel", "error", "-encoders"], |line| {
                    encoders.extend(line.split_whitespace().nth(1).map(str::to_owned));
                })?;
                let has = |name: &&str| encoders.iter().any(|encoder| encoder == name);
                let found = FFMPEG.iter().find(|codec| codec.needs.iter().all(has));
                let why = "this ffmpeg has no encoder for H.264 or MPEG-4: apt-get install ffmpeg";
                found.copied().ok_or_else(|| LoadStop::Unsupported(why.into()))
            }
            Player::Gstreamer => {
                let has = |name: &&str| run_program("gst-inspect-1.0", &["--exists", name], |_| {}).is_ok();
                let found = GSTREAMER.iter().find(|codec| codec.needs.iter().all(has));
                let why = "this GStreamer can't compress and decode a video: apt-get install gstreamer1.0-plugins-base";
                found.copied().ok_or_else(|| LoadStop::Unsupported(why.into()))
            }
        }
    }

    /// The arguments that make a video; the player prints a line now and then.
    fn make(self, codec: Codec, path: &Path) -> Vec<String> {
        let path = path.to_string_lossy();
        match self {
            Player::Ffmpeg => {
                let source = format!("testsrc2=size={WIDTH}x{HEIGHT}:rate={RATE}:duration={SECONDS}");
                let quiet = ["-nostdin", "-hide_banner", "-loglevel", "error", "-nostats"];
                let input = ["-progress", "pipe:1", "-y", "-f", "lavfi", "-i", &source];
                let output = ["-pix_fmt", "yuv420p", "-f", "matroska", &path];
                to_strings(&[&quiet, &input, &["-c:v"], codec.encode, &output])
            }
            Player::Gstreamer => {
                let frames = format!("num-buffers={}", SECONDS * RATE);
                let frame_format =
                    format!("video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={RATE}/1");
                let input =
                    ["-v", "videotestsrc", &frames, "!", &frame_format, "!", "identity", "silent=false", "!"];
                to_strings(&[&input, codec.encode, &["!", "filesink", &format!("location={path}")]])
            }
        }
    }

    /// The arguments that decode a video in real time, once or for ever; the player prints a line for each frame.
    fn play(self, path: &Path) -> Vec<String> {
        let path = path.to_string_lossy();
        match self {
            Player::Ffmpeg => {
                let quiet = ["-nostdin", "-hide_banner", "-loglevel", "error"];
                let input = ["-re", "-stream_loop", "-1", "-i", &path];
                // A checksum of each frame, which no frame has before it is decoded.
                to_strings(&[&quiet, &input, &["-an", "-f", "framecrc", "-flush_packets", "1", "pipe:1"]])
            }
            Player::Gstreamer => {
                let input = format!("location={path}");
                let sink = ["fakesink", "sync=true", "silent=false"];
                to_strings(&[&["-v", "filesrc", &input, "!", "decodebin", "!"], &sink])
            }
        }
    }

    fn is_frame(self, line: &str) -> bool {
        match self {
            Player::Ffmpeg => !line.starts_with('#'),
            Player::Gstreamer => line.contains("last-message = chain"),
        }
    }
}

fn to_strings(parts: &[&[&str]]) -> Vec<String> {
    parts.concat().into_iter().map(str::to_owned).collect()
}
