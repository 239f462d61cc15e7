//! The reach of a figure, in words: `[1.20, 3.40]` is an interval, `(1.20..3.40)` the range of too few observations for one.

use crate::stats::Interval;

/// An interval with ends further apart than this factor says nothing, and would only be long.
const MAX_WIDTH: f64 = 1e6;

/// The reach of a figure; `None` if it is unknown, or both ends are equal.
pub fn text(interval: Option<Interval>, format_value: impl Fn(f64) -> String) -> Option<String> {
    let interval = interval?;
    let Interval { low, high, .. } = interval;
    Some(match () {
        () if interval.is_range() && low == high => return None,
        () if interval.is_range() => format!("({}..{})", format_value(low), format_value(high)),
        () if is_too_wide(&interval) => "[too wide to say]".to_owned(),
        () => format!("[{}, {}]", format_value(low), format_value(high)),
    })
}

/// The interval in words that follow a figure; empty if there is none.
pub fn describe_after(interval: Option<Interval>, format_value: impl Fn(f64) -> String) -> String {
    text(interval, format_value).map_or_else(String::new, |reach| format!(" {reach}"))
}

pub fn is_too_wide(interval: &Interval) -> bool {
    !interval.is_range() && interval.low >= 0.0 && interval.high > MAX_WIDTH * interval.low
}

/// The legend of ranges and intervals, shown once in a report.
pub const LEGEND: &str = "[a, b] is a 95 % interval; (a..b) is the range of too few trials for one.";

#[cfg(test)]
mod tests {
    use storebench_host::run::Run;
    use storebench_model::cell::Background;
    use storebench_model::stores::NULL;
    use storebench_model::units::{rough_ns, three_digits};

    use super::*;
    use crate::advice::Advice;
    use crate::advice::tests::question;
    use crate::column::Column;
    use crate::compare::{self, Comparison, Side};
    use crate::data::merge::Merged;
    use crate::data::samples::{Sample, blocks};
    use crate::report::Report;
    use crate::stats::{Summary, geometric_mean};
    use crate::terminal;
    use crate::terminal::grid::Style;

    #[test]
    fn two_are_a_range_and_three_an_interval() {
        let text_of = |values: &[f64]| text(geometric_mean(values).unwrap().interval, rough_ns);
        assert_eq!(text_of(&[1_000.0, 25_000.0]).unwrap(), "(1.00 µs..25.0 µs)");
        assert_eq!(text_of(&[1_000.0, 1_000.0, 1_100.0]).unwrap(), "[900 ns, 1.18 µs]");
        assert_eq!((text_of(&[5.0]), text_of(&[5.0, 5.0])), (None, None));
        assert_eq!(text_of(&[5.0, 5.0, 5.0]).unwrap(), "[5.00 ns, 5.00 ns]");
    }

    #[test]
    fn what_is_absurdly_wide_is_not_written_out() {
        let wild = Summary::from_values(&[1.0, 1e9, 1e9]).unwrap().mean.interval;
        assert_eq!(text(wild, three_digits).unwrap(), "[too wide to say]");
        // Two equally distant values are shown as they are.
        let two = Summary::from_values(&[1.0, 1e9]).unwrap().mean.interval;
        assert_eq!(text(two, rough_ns).unwrap(), "(1.00 ns..1.00 s)");
    }

    /// Two blocks of everything whose figures differ ten thousand times, under two guarantees and with a load.
    fn noisy_run() -> Run {
        let block = |times: f64| -> Vec<Sample> {
            let samples_of = |store: &str, ns: f64| {
                let sample = Sample::new(store).ns(ns * times);
                let power = sample.clone().guarantee("power");
                [sample.clone(), power, sample.background(Background::Cpu(1))]
            };
            [samples_of("lmdb", 1e3), samples_of("redb", 7e3), samples_of("sqlite", 2e3)].concat()
        };
        // A block that is worse for one store is better for the next, so that ratios differ widely, too.
        let mut run = blocks("box", &[block(1.0), block(1e4)]);
        for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "redb") {
            trial.block = 1 - trial.block;
        }
        run
    }

    /// Numbers with more than `digits` digits, with the text before them.
    fn long_numbers(text: &str, digits: usize) -> Vec<String> {
        let is_digit = |c: char| c.is_ascii_digit() || c == ',';
        let words = text.split(|c: char| !is_digit(c));
        let long_words = words.filter(|word| word.chars().filter(char::is_ascii_digit).count() > digits);
        long_words.map(str::to_owned).collect()
    }

    #[test]
    fn no_text_prints_an_absurd_uncertainty() {
        let runs = [noisy_run()];
        let merged = Merged::new(&runs, &[NULL]);
        let style = Style { width: 160, colour: false };
        let names = ["run".to_owned()];
        let sides = [Side { names: &names, runs: &runs }; 2];
        let figures: Vec<&Column> = compare::comparable().collect();
        let comparison = Comparison::new(sides[0], sides[1], &figures, &[], &[]);
        let advice = Advice::from_runs(&question(), &merged, None, &[]).unwrap();
        let texts = [
            terminal::overview(&Report::new(&merged), style),
            terminal::full(&Report::new(&merged), style),
            compare::terminal::text(&comparison, usize::MAX, style),
            compare::markdown::text(&comparison),
            advice.text(None, style),
            advice.html(None).into_string(),
        ];
        for text in &texts {
            assert_eq!(long_numbers(text, 8), Vec::<String>::new(), "{text}");
        }
        // Each report explains its marks once.
        let mut page = Vec::new();
        crate::page::write(&Report::new(&merged), None, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for text in texts[1..4].iter().chain([&page]) {
            assert_eq!(text.matches("(a..b)").count(), 1, "{text}");
        }
        // The load's cost: both blocks are equally slower.
        assert!(texts[0].contains("×1.00"), "{}", texts[0]);
        let [_, full, compared, ..] = &texts;
        assert!(compared.contains("(×0.000100..×10,000)"), "{compared}");
        assert!(compared.contains("too few for an interval"), "{compared}");
        assert!(full.contains(" (1.00 µs..10.0 ms)") && full.contains(LEGEND), "{full}");
        let starts_interval =
            |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit() || c == '<' || c == '>');
        assert!(!full.split('±').skip(1).any(starts_interval), "{full}");
    }
}
