//! The cost of accidents is shown, and a store that a power cut can wreck is not recommended unless the question allows it.

use storebench_figures::data::merge::Merged;
use storebench_host::run::Run;
use storebench_model::store::{Danger, Guarantee, GuaranteeOffer, Loss, Setting, StoreDef, StoreKind};
use storebench_model::stores::NULL;
use storebench_samples::{Sample, blocks};

use super::super::question::Question;
use super::super::tests::question;
use super::super::{Advice, sentences};
use crate::terminal::grid::Style;

const WRECKED: Danger = Danger::new(Loss::Nothing, Loss::Whole, "nothing is synced");

/// lmdb can be wrecked below `power` unless a setting says otherwise; sqlite loses the newest writes at most.
fn table() -> [StoreDef; 2] {
    const UNSYNCED: &[Danger] = &[Danger { settings: &[("nosync", "false")], ..Danger::NEWEST[0] }, WRECKED];
    const OFFERS: [GuaranteeOffer; 3] = [NULL.offers[0]; 3];
    const fn offers(process: &'static [Danger]) -> [GuaranteeOffer; 3] {
        let [none, other, power] = OFFERS;
        [
            GuaranteeOffer { guarantee: Guarantee::None, ..none },
            GuaranteeOffer { guarantee: Guarantee::Process, dangers: process, ..other },
            GuaranteeOffer { guarantee: Guarantee::Power, dangers: Danger::NOTHING, ..power },
        ]
    }
    const LMDB: &[GuaranteeOffer] = &offers(UNSYNCED);
    const SQLITE: &[GuaranteeOffer] = &offers(Danger::NEWEST);
    let engine =
        |name, offers, practice| StoreDef { name, offers, practice, kind: StoreKind::Engine, ..NULL };
    [engine("lmdb", LMDB, "one file and a lock"), engine("sqlite", SQLITE, "one file")]
}

fn runs() -> [Run; 1] {
    let block = |noise: f64| vec![Sample::new("lmdb").ns(1000.0 * noise), Sample::new("sqlite").ns(2500.0)];
    [blocks("box", &[block(1.0), block(1.01), block(0.99)])]
}

fn advice(question: &Question, runs: &[Run]) -> Advice {
    Advice::from_runs(question, &Merged::new(runs, &[NULL]), None, &table()).unwrap()
}

fn text(advice: &Advice) -> String {
    advice.text(Some("open()"), Style { width: 200, colour: false })
}

#[test]
fn a_store_for_another_question_is_named_with_its_price_and_its_trials() {
    let block = |noise: f64| {
        vec![
            Sample::new("sqlite").ns(1000.0 * noise),
            Sample::new("null").ns(1.0),
            Sample::new("redb").ns(2500.0),
        ]
    };
    let mut run = blocks("box", &[block(1.0), block(1.01), block(0.99)]);
    for trial in run.trials.iter_mut().filter(|trial| trial.cell.store() == "sqlite") {
        trial.measured.as_mut().unwrap().disk.allocated_bytes *= 100;
    }
    let mut table = table();
    table[0].name = "redb";
    table[0].offers = table[1].offers;
    let runs = [run];
    let found = Advice::from_runs(&question(), &Merged::new(&runs, &[NULL]), None, &table).unwrap();
    let text = found.text(None, Style { width: 300, colour: false });
    assert!(text.contains("Recommended:  sqlite "), "{text}");
    let line = text.lines().find(|line| line.starts_with("  For the least disk: redb, uses ")).unwrap();
    assert!(line.ends_with(" (measured 3 times; a power cut can cost the newest writes)."), "{line}");
}

#[test]
fn a_store_that_a_power_cut_can_wreck_is_shown_as_the_riskier_choice_with_its_price() {
    let found = advice(&question(), &runs());
    assert_eq!(found.trials().keys().copied().collect::<Vec<_>>(), ["sqlite"]);
    let text = text(&found);
    let safe = "A kill costs nothing; a power cut can cost the newest writes.";
    assert_eq!(text.matches(&format!("  {safe}\n")).count(), 2, "beside the store and at the code: {text}");
    let riskier = "), measured 3 times. A kill costs nothing; a power cut can cost the whole store (nothing is synced). It is safe \
                   with --guarantee power.";
    let unwrapped = text.replace("\n    ", " ");
    assert!(unwrapped.contains("  lmdb: 2.50x faster (") && unwrapped.contains(riskier), "{text}");
    assert!(unwrapped.contains("Not ranked: every other store that answers is riskier (lmdb)."), "{text}");
    assert!(text.contains("No benchmark sees: sqlite is one file."), "{text}");
    let html = found.html(Some("open()")).into_string();
    assert_eq!(html.matches(safe).count(), 2, "{html}");
    assert!(html.contains("<h3>Riskier</h3>") && html.contains("lmdb: 2.50x faster"), "{html}");
    // Nor is it recommended for another goal.
    assert!(found.turns.turns.is_empty(), "{:?}", found.turns);
}

#[test]
fn a_riskier_store_that_gains_nothing_is_ruled_out() {
    let block = |noise: f64| vec![Sample::new("lmdb").ns(3000.0 * noise), Sample::new("sqlite").ns(2500.0)];
    let slow = [blocks("box", &[block(1.0), block(1.01), block(0.99)])];
    let text = text(&advice(&question(), &slow));
    assert!(!text.contains("Riskier"), "{text}");
    assert!(text.contains("every other store that answers is riskier"), "{text}");
    let expected = "Ruled out\n  lmdb: 1.20x slower (1.91 µs), measured 3 times, and a power cut can cost the whole store\n";
    assert!(text.replace("\n    ", " ").contains(expected), "{text}");
}

#[test]
fn who_asked_for_less_writes_nothing_or_has_no_choice_gets_it_with_the_warning() {
    let best = |question: &Question, runs: &[Run]| {
        let advice = advice(question, runs);
        let best = advice.verdict.ranking[0].clone();
        let danger = sentences::describe_danger(&advice, &best);
        (best.store, advice.verdict.riskier.len(), danger)
    };
    let reads = Question { mix: "get=1".parse().unwrap(), ..question() };
    let choice = best(&reads, &runs());
    assert_eq!((choice.0.as_str(), choice.1), ("lmdb", 0));
    assert!(choice.2.starts_with("Nothing is written in this mix"), "{}", choice.2);
    let alone = Question { stores: Some(vec!["lmdb".into()]), ..question() };
    let choice = best(&alone, &runs());
    assert_eq!((choice.0.as_str(), choice.1), ("lmdb", 0));
    assert!(choice.2.contains("the whole store"), "{}", choice.2);
    let found = advice(&alone, &runs());
    assert!(!found.is_recommendation());
    assert!(text(&found).contains("Measured alone:") && !text(&found).contains("Recommended:"));
    // The settings that were read back decide, not the tier alone.
    let mut synced = runs();
    for measured in synced[0].trials.iter_mut().filter_map(|trial| trial.measured.as_mut()) {
        measured.settings.push(Setting::read_back("nosync", false));
    }
    assert_eq!(best(&question(), &synced).0, "lmdb");
    let mut unsafe_runs = runs();
    for trial in &mut unsafe_runs[0].trials {
        let none = storebench_model::cell::GuaranteeChoice::Tier(Guarantee::None);
        trial.cell.set(storebench_model::cell::Axis::GUARANTEE, none.into());
        trial.measured.as_mut().unwrap().guarantee = Guarantee::None;
    }
    let less = Question { guarantee: Guarantee::None, ..question() };
    assert_eq!(best(&less, &unsafe_runs).0, "lmdb");
}

#[test]
fn a_store_that_the_table_does_not_know_is_not_called_safe() {
    let runs = runs();
    let found = Advice::from_runs(&question(), &Merged::new(&runs, &[NULL]), None, &[]).unwrap();
    assert!(text(&found).contains("What an accident can cost lmdb is not known."));
}
