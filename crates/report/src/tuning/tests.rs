use storebench_host::run::Run;
use storebench_model::store::{Danger, Guarantee, GuaranteeOffer, SettingDef, StoreDef, StoreKind};
use storebench_samples::{Sample, blocks};

use super::*;

pub(crate) const STORE: StoreDef = StoreDef {
    offers: &[GuaranteeOffer::replacing_values(Guarantee::Process, "as shipped", Danger::NEWEST)],
    settings: &[
        SettingDef::new("a", "1 or 2", "0", "first").tune(&["1", "2"]).costing("its ease"),
        SettingDef::new("b", "1", "0", "second").tune(&["1"]),
        SettingDef::new("page_size", "bytes", "4096", "pages").tune(&["8192"]),
    ],
    ..StoreDef::not_built("made", StoreKind::Engine, "a made store", "it is made")
};

pub(crate) fn question() -> Question {
    let mix = "get=80,update=20".parse().unwrap();
    Question { mix, stores: Some(vec!["made".into()]), ..crate::advice::tests::question() }
}

/// A race as a run: each variant's settings and its mean latency in nanoseconds, in blocks of different noise.
pub(crate) fn run(kind: Kind, variants: &[(&[(&str, &str)], f64)], records: u64) -> Run {
    let sample = |settings: &[(&str, &str)], ns: f64| {
        let sample = Sample::new("made").records(CountRange::starting_at(records)).ns(ns);
        settings.iter().fold(sample, |sample, (name, value)| sample.setting(&format!("made.{name}"), value))
    };
    let block_samples = |(number, weather): (usize, &f64)| {
        let numbered = variants.iter().enumerate();
        // A little noise, so that intervals have a width.
        let wobble = |index: usize| 1.0 + 0.002 * ((number * 7 + index * 3) % 5) as f64;
        numbered.map(|(index, (settings, ns))| sample(settings, ns * weather * wobble(index))).collect()
    };
    let weather = [1.0, 1.2, 0.9, 1.1, 1.05, 0.95, 1.0, 1.15];
    let mut run = blocks("box", &weather.iter().enumerate().map(block_samples).collect::<Vec<_>>());
    let points: String = variants
        .iter()
        .filter(|(settings, _)| !settings.is_empty())
        .enumerate()
        .map(|(number, (settings, _))| {
            let assignments: Vec<String> =
                settings.iter().map(|(name, value)| format!("{name} = \"{value}\"")).collect();
            format!("[[point]]\nname = \"{number}\"\nmade = {{ {} }}\n", assignments.join(", "))
        })
        .collect();
    run.header.study = kind.name().into();
    run.header.interim_analyses = if kind == Kind::Proof { vec![3, 5, 8] } else { Vec::new() };
    run.header.plan = format!(
        "format = 1\nname = \"{}\"\ntitle = \"t\"\nworkload = \"crud\"\nmix = \"get=80,update=20\"\ntrials = 1\nseed = 1\n\
         size_limit = \"1GiB\"\ntimeout = \"1m\"\none_at_a_time = true\n{points}[axes]\nstore = [\"made\"]\n\
         record_size = [\"1B..1KiB\"]\nrecords = [\"{records}\"]\ndata = [\"incompressible\"]\nguarantee = [\"process\"]\n",
        kind.name()
    );
    run
}

pub(crate) fn screen() -> Run {
    run(
        Kind::Screen,
        &[(&[], 1000.0), (&[("a", "1")], 700.0), (&[("a", "2")], 1300.0), (&[("b", "1")], 1000.0)],
        100,
    )
}

pub(crate) fn proof(ns: f64) -> Run {
    run(Kind::Proof, &[(&[], 1000.0), (&[("a", "1"), ("b", "1")], ns)], 100)
}

fn tune(runs: &[Run], question: &Question) -> Result<TunedSettings, NoAnswer> {
    TunedSettings::from_runs(question, &Merged::new(runs, &[]), &STORE)
}

#[test]
fn a_gain_is_told_with_its_interval_and_what_it_costs() {
    let runs = [
        screen(),
        proof(650.0),
        run(Kind::Beside, &[(&[], 1000.0), (&[("a", "1"), ("b", "1")], 1400.0)], 1000),
    ];
    let tuned = tune(&runs, &question()).unwrap();
    let gain = tuned.changes().unwrap();
    assert!((gain.times.ratio.value - 0.65).abs() < 0.01, "{:?}", gain.times);
    let interval = gain.times.ratio.interval.unwrap();
    assert!((interval.confidence - (1.0 - 0.05 / 3.0)).abs() < 1e-9, "three looks: {interval:?}");
    let style = Style { width: 400, colour: false };
    let text = tuned.text(Some("open();\n"), style);
    for part in [
        "Change these settings of made 1.2.3:\n  a = 1 (default: 0); its ease\n  b = 1 (default: 0)\n",
        "1.54x faster [1.53, 1.55]",
        "8 fresh pairs of trials that took no part in the choice, allowing for 3 interim analyses.",
        "By operation: get 1.54x faster",
        "They promise what the default does: guarantee process. A kill costs nothing; a power cut can cost the newest writes.",
        "Mattered: a.",
        "Made no difference beyond 3 %: b.",
        "With 1,000 records of 1B..1KiB: a loss, 1.4",
        "With no other share of gets is the default faster",
        "3 single values and 1 combination in 64 trials",
        "Open it like this\n\nopen();",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let page = tuned.html(Some("open();")).into_string();
    for part in ["<strong>a = 1 (default: 0); its ease</strong>", "1.54x faster", "no difference", "open();"]
    {
        assert!(page.contains(part), "{part}:\n{page}");
    }
    assert!(!tuned.start.is_empty());
}

#[test]
fn values_that_read_back_as_numbers_are_named() {
    const NUMBERED: StoreDef = StoreDef {
        settings: &[
            SettingDef::new("a", "LOW or HIGH", "LOW", "first").tune(&["HIGH"]).numbered(&["LOW", "HIGH"]),
            SettingDef::new("synchronous", "OFF or NORMAL", "NORMAL", "x").numbered(&["OFF", "NORMAL"]),
        ],
        ..STORE
    };
    let variants: [(&[(&str, &str)], f64); 2] = [(&[], 1000.0), (&[("a", "HIGH")], 700.0)];
    let mut runs = [run(Kind::Screen, &variants, 100), run(Kind::Proof, &variants, 100)];
    for trial in runs.iter_mut().flat_map(|run| &mut run.trials) {
        let a = trial.cell.settings().count();
        let read = [Setting::read_back("a", a), Setting::read_back("synchronous", 1)];
        trial.measured.as_mut().unwrap().settings = read.into();
    }
    let tuned = TunedSettings::from_runs(&question(), &Merged::new(&runs, &[]), &NUMBERED).unwrap();
    let text = tuned.text(None, Style { width: 400, colour: false });
    assert!(text.contains("a = HIGH (default: LOW)"), "{text}");
    assert!(text.contains("Settings of made\n  a = HIGH; synchronous = NORMAL\n"), "{text}");
}

#[test]
fn without_a_gain_the_default_is_kept_and_it_is_said_how_sure_that_is() {
    let nothing = run(Kind::Screen, &[(&[], 1000.0), (&[("a", "2")], 1300.0), (&[("b", "1")], 1000.0)], 100);
    let kept = tune(&[nothing], &question()).unwrap();
    assert_eq!((kept.changes(), &kept.gain), (None, &None));
    let text = kept.text(None, Style { width: 400, colour: false });
    for part in [
        "Keep the default settings of made 1.2.3.",
        "No value that was tried looked better than the default.",
        "none of the 2 values that were measured saves more than 1 % of the time alone.",
        "Guarantee process. A kill costs nothing",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let refuted = tune(&[screen(), proof(1001.0)], &question()).unwrap();
    let text = refuted.text(None, Style { width: 400, colour: false });
    assert!(refuted.changes().is_none());
    let expected = "What looked best (a=1 b=1) was measured again: no difference beyond 3 %, ×1.00";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_cannot_be_told_is_no_verdict_on_the_settings() {
    let mut vague = proof(1000.0);
    // One pair is far off, so that the interval includes a gain and a loss.
    let far =
        vague.trials.iter_mut().filter(|trial| trial.block == 2 && trial.cell.settings().next().is_some());
    for operation in far.flat_map(|trial| &mut trial.measured.as_mut().unwrap().operations) {
        operation.sum_ns *= 3;
    }
    let open = tune(&[screen(), vague], &question()).unwrap();
    let text = open.text(None, Style { width: 400, colour: false });
    assert!(open.changes().is_none() && open.is_open());
    for part in
        ["Not known whether other settings of made 1.2.3 are faster", "whether it is faster is not known, ×"]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // Others kept two of two processors busy: not even a clear gain is reported.
    let mut crowded = [screen(), proof(650.0)];
    let trials = crowded.iter_mut().flat_map(|run| &mut run.trials);
    trials.for_each(|trial| trial.others_processors = Some(2.0));
    let crowded = tune(&crowded, &question()).unwrap();
    let text = crowded.text(None, Style { width: 400, colour: false });
    assert!(crowded.changes().is_none() && crowded.is_open());
    for part in ["Not known whether", "Other programs kept 2.00 of 2 processors busy", "Tune again"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn settings_that_promise_less_fail_or_take_too_much_memory_are_not_taken() {
    let mut runs = [screen()];
    for trial in &mut runs[0].trials {
        let settings = judge::settings_of(&trial.cell);
        let measured = trial.measured.as_mut().unwrap();
        match settings.iter().next().map(|(name, value)| format!("{name}={value}")).as_deref() {
            Some("a=1") => measured.guarantee = Guarantee::None,
            Some("b=1") => measured.memory.peak_above_base_bytes = 1 << 30,
            _ => {}
        }
    }
    let question = Question { max_memory_bytes: Some(1 << 29), ..question() };
    let kept = tune(&runs, &question).unwrap();
    assert!(kept.changes().is_none());
    let text = kept.text(None, Style { width: 400, colour: false });
    assert!(text.contains("a=1: gives the guarantee none, not process"), "{text}");
    assert!(text.contains("b=1: took 1.00 GiB of memory"), "{text}");
}

#[test]
fn runs_of_other_work_answer_nothing() {
    let why = |runs: &[Run], question: &Question| tune(runs, question).unwrap_err().to_string();
    assert_eq!(why(&[proof(500.0)], &question()), "the runs were not made to tune made");
    let other = Question { threads: 4, mix: "get=1".parse().unwrap(), ..question() };
    let reason = why(&[screen()], &other);
    assert!(reason.contains("1 thread,") && reason.contains("a mix of 80 get, 20 update"), "{reason}");
    let several = why(&[screen(), screen(), screen()], &question());
    assert!(several.contains("several tunings"), "{several}");
}
