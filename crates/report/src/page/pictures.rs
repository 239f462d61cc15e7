//! The page's pictures as files, without a browser: its own drawing scripts, run by QuickJS, with as much of a document as they need
//! (`js/paper.js`). So a file is the picture that the page saves, to the letter.

use super::model::Model;
use crate::report::Report;

/// A picture: the name of its file, and its text.
#[derive(Debug, PartialEq, Eq, serde::Deserialize)]
pub struct Picture(pub String, pub String);

/// Every chart and heat map of the report, as SVG: of each group and operation, with no filter narrowing it.
///
/// # Errors
/// In words, where a script fails.
pub fn pictures(report: &Report<'_>) -> Result<Vec<Picture>, String> {
    let model = serde_json::to_string(&Model::new(report, "")).map_err(|error| error.to_string())?;
    serde_json::from_str(&engine::drawn(&model)?).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "android"))]
mod engine {
    //! QuickJS.

    use rquickjs::{CatchResultExt, Context, Ctx, Runtime};

    use super::super::{DRAWING, STYLE};

    /// The document that the scripts draw on.
    const PAPER: &str = include_str!("js/paper.js");
    /// Asks them for all.
    const ASK: &str = "index(); JSON.stringify(allPictures())";

    /// All pictures of a page's data, as JSON.
    pub fn drawn(model: &str) -> Result<String, String> {
        let runtime = Runtime::new().map_err(|error| error.to_string())?;
        let context = Context::full(&runtime).map_err(|error| error.to_string())?;
        context.with(|scripts| run(&scripts, model))
    }

    fn run(scripts: &Ctx<'_>, model: &str) -> Result<String, String> {
        let run = || -> rquickjs::Result<String> {
            let globals = scripts.globals();
            globals.set("style", STYLE)?;
            globals.set("data", model)?;
            // One script, as in the page: its parts share one scope.
            let parts = [&[PAPER], DRAWING.as_slice(), &["model = JSON.parse(data);", ASK]].concat();
            scripts.eval(parts.join("\n"))
        };
        run().catch(scripts).map_err(|error| error.to_string())
    }
}

#[cfg(target_os = "android")]
mod engine {
    //! None.

    /// No script runs there.
    pub fn drawn(_: &str) -> Result<String, String> {
        Err("on Android the program has no script engine: draw them on another machine, from the same run"
            .into())
    }
}

#[cfg(all(test, not(target_os = "android")))]
mod tests {
    use super::*;
    use crate::data::merge::Merged;
    use crate::data::samples::{self, Sample};

    #[test]
    fn a_round_with_a_pause_has_a_ring_in_each_chart() {
        let rings = |longest_ns: u64| -> Vec<usize> {
            let mut run = samples::run("box", &["lmdb", "redb"].map(|store| Sample::new(store).rounds(4)));
            for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "redb") {
                let round = &mut trial.measured.as_mut().unwrap().rounds[2];
                round.operations.iter_mut().for_each(|one| one.latency.max_ns = longest_ns);
            }
            let runs = [run];
            let merged = Merged::new(&runs, &[]);
            let pictures = pictures(&Report::new(&merged)).unwrap();
            let of_rounds = pictures.iter().filter(|Picture(_, text)| text.contains("Round by round"));
            let rings = |Picture(_, text): &Picture| {
                let rings = text.matches("class=\"ring\"").count();
                assert_eq!(rings > 0, text.contains("A ring marks a round with a pause"), "{text}");
                rings
            };
            of_rounds.map(rings).collect()
        };
        assert_eq!(rings(9_000_000), [0, 0, 0]);
        assert_eq!(rings(11_000_000), [1, 1, 1]);
    }
}
