//! The coverage of a claim's region, and expectations that combine several figures or stores.

use super::*;

/// A design of two sizes and two counts, for both kinds of data.
fn design() -> Design {
    let mut positions = Vec::new();
    for size in [SMALL, LARGE] {
        for records in [100, 1000] {
            for data in [Data::Incompressible, Data::Compressible] {
                positions.push(position(size, records, data));
            }
        }
    }
    Design { positions }
}

fn judge_in_design(claim: &Claim, pools: &[Pool<u32>]) -> Finding {
    assert_eq!(claim.check(&["insert", "remove"], &[]), Ok(()));
    let mut findings = evaluate(claim, &[], Some(&design()), &|_| pools);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

/// Figures in which `a` wins, at these sizes and counts of incompressible data.
fn winning_pool(sizes: &[(SizeRange, u64)]) -> Pool<u32> {
    let figures = [("a", steady(1.0)), ("b", steady(2.0))];
    let place = |(size, records): &(SizeRange, u64)| position(*size, *records, Data::Incompressible);
    let places: Vec<SpotFigures<'_>> = sizes.iter().map(|size| (place(size), &figures[..])).collect();
    pool("none", &places)
}

/// The verdict where `a` wins at these sizes and counts, the verdict that it leans to, and the coverage.
fn judge_wins(rest: &str, sizes: &[(SizeRange, u64)]) -> (Verdict, Verdict, Option<Coverage>) {
    let finding = judge_in_design(&claim(rest), &[winning_pool(sizes)]);
    (finding.verdict, finding.so_far, finding.coverage)
}

fn covered(measured: usize, whole: usize, short: &[&str]) -> Option<Coverage> {
    let short = short.iter().map(|value| String::from(*value)).collect();
    Some(Coverage { measured, whole, short })
}

#[test]
fn less_than_half_of_what_a_claim_is_about_gives_no_verdict() {
    let three = [(SMALL, 100), (SMALL, 1000), (LARGE, 100)];
    let open = |covers| (Verdict::Unknown, Verdict::Reproduced, covers);
    let covers = covered(3, 8, &["compressible", "1KiB..10KiB", "1,000 records"]);
    assert_eq!(judge_wins(A_WINS, &three), open(covers));
    // Half of them, and none of one kind of data.
    let four = [three.as_slice(), &[(LARGE, 1000)]].concat();
    assert_eq!(judge_wins(A_WINS, &four), open(covered(4, 8, &["compressible"])));
    // A value that the claim excludes is no part of it.
    let plain = format!("at.data = [\"incompressible\"]\n{A_WINS}");
    let reproduced = (Verdict::Reproduced, Verdict::Reproduced, covered(3, 4, &[]));
    assert_eq!(judge_wins(&plain, &three), reproduced);
    // A combination measured twice counts once, and one outside the design not at all.
    let twice = judge_in_design(&claim(&plain), &[winning_pool(&[(SMALL, 100), (SMALL, 200), (SMALL, 10)])]);
    assert_eq!((twice.verdict, twice.tally.total()), (Verdict::Unknown, 3));
    assert_eq!(twice.coverage, covered(1, 4, &["1KiB..10KiB", "1,000 records"]));
}

#[test]
fn a_claim_over_several_record_counts_needs_each_of_them() {
    let few = format!("at.records = [\"100..5000\"]\nat.data = [\"incompressible\"]\n{A_WINS}");
    // Half of the combinations, at one of the two counts.
    let half = (Verdict::Unknown, Verdict::Reproduced, covered(2, 4, &["1,000 records"]));
    assert_eq!(judge_wins(&few, &[(SMALL, 100), (LARGE, 100)]), half);
    let diagonal = (Verdict::Reproduced, Verdict::Reproduced, covered(2, 4, &[]));
    assert_eq!(judge_wins(&few, &[(SMALL, 100), (LARGE, 1000)]), diagonal);
}

#[test]
fn a_claim_about_what_the_design_has_not_names_its_own_part() {
    let rest = format!(
        "at = {{ record_size = [\"8000B..12000B\"], records = [\"1000..5000\"], data = [\"incompressible\"] }}\n{A_WINS}"
    );
    let size = SizeRange { from: 8000, to: 12_000 };
    let whole = (Verdict::Reproduced, Verdict::Reproduced, covered(1, 1, &[]));
    assert_eq!(judge_wins(&rest, &[(size, 1000)]), whole);
    let two = rest.replace("[\"1000..5000\"]", "[\"1000..5000\", \"10000..50000\"]");
    let partial = (Verdict::Unknown, Verdict::Reproduced, covered(1, 2, &["10,000 records"]));
    assert_eq!(judge_wins(&two, &[(size, 1000)]), partial);
}

#[test]
fn a_store_without_a_figure_leaves_its_combination_unmeasured() {
    let pair: &[(&str, Series<u32>)] = &[("a", steady(1.0)), ("b", steady(2.0))];
    let alone: &[(&str, Series<u32>)] = &[("a", steady(1.0))];
    let place = |records| position(SMALL, records, Data::Incompressible);
    let pools = [pool("none", &[(place(100), pair), (place(1000), alone)])];
    let rest =
        format!("at.data = [\"incompressible\"]\nat.record_size = [\"1B..1KiB\"]\nshare = \"50%\"\n{A_WINS}");
    let finding = judge_in_design(&claim(&rest), &pools);
    assert_eq!((finding.verdict, finding.coverage), (Verdict::Unknown, covered(1, 2, &["1,000 records"])));
}

#[test]
fn an_average_is_over_all_of_it_or_none() {
    let average = format!("average = \"places\"\nat.data = [\"incompressible\"]\n{A_WINS}");
    let three = [(SMALL, 100), (SMALL, 1000), (LARGE, 100)];
    let partial = (Verdict::Unknown, Verdict::Reproduced, covered(3, 4, &[]));
    assert_eq!(judge_wins(&average, &three), partial);
    let four = [three.as_slice(), &[(LARGE, 1000)]].concat();
    let whole = (Verdict::Reproduced, Verdict::Reproduced, covered(4, 4, &[]));
    assert_eq!(judge_wins(&average, &four), whole);
    let greatest = "expect.greatest = { axis = \"data\", of = \"compressible\", to = \"incompressible\", \
                    along = \"record_size\", value = \"1B..1KiB\" }";
    let pools = [pool_of_places(&[kinds(SMALL, 1.0, 3.0), kinds(LARGE, 10.0, 20.0)].concat())];
    let finding = judge_in_design(&claim(greatest), &pools);
    assert_eq!((finding.verdict, finding.so_far), (Verdict::Unknown, Verdict::Reproduced));
    assert_eq!(finding.coverage, covered(2, 4, &["1,000 records"]), "both kinds of data together are one");
}

#[test]
fn an_average_over_stores_takes_all_of_them() {
    let ratio = "among = [\"a\", \"b\", \"c\"]\naverage = \"stores\"\nexpect.ratio = { axis = \"data\", of = \"compressible\", to = \"incompressible\", range = \"1..\" }";
    let pools = [pool_of_places(&kinds(SMALL, 1.0, 2.0))];
    let partial = judge_in_design(&claim(ratio), &pools);
    assert_eq!(partial.verdict, Verdict::Unknown);
    assert!(partial.evidence[0].missing[0].starts_with("c at "), "{:?}", partial.evidence[0].missing);
    let two = judge(&claim(&ratio.replace(", \"c\"", "")), &pools);
    assert_eq!(two.verdict, Verdict::Reproduced);
}

#[test]
fn stores_win_more_by_one_figure_than_by_the_others() {
    let mut more = claim("expect.more_at = { stores = [\"a\"], figure = \"remove\" }");
    more.figure = ["insert", "remove"].map(|name| name.parse().unwrap()).to_vec();
    assert_eq!(more.check(&["insert", "remove"], &[]), Ok(()));
    let places = |values: [f64; 2]| {
        let [first, second] = values.map(|b| [("a", steady(1.0)), ("b", steady(b))]);
        pool("none", &[(spot(), &first), (position(LARGE, 100, Data::Incompressible), &second)])
    };
    let verdict = |insert: [f64; 2], remove: [f64; 2]| {
        let (insert, remove) = ([places(insert)], [places(remove)]);
        let pools = |figure: &Figure| if figure.operation == "insert" { &insert[..] } else { &remove[..] };
        let mut findings = evaluate(&more, &[], None, &pools);
        assert_eq!((findings.len(), findings[0].tally.total()), (1, 1));
        findings.remove(0).verdict
    };
    assert_eq!(verdict([2.0, 0.5], [2.0, 2.0]), Verdict::Reproduced);
    assert_eq!(verdict([2.0, 2.0], [2.0, 2.0]), Verdict::NotReproduced);
    assert_eq!(verdict([2.0, 0.5], [0.5, 0.5]), Verdict::NotReproduced);
    assert_eq!(verdict([2.0, 1.0], [2.0, 2.0]), Verdict::Unknown);
    more.figure.truncate(1);
    assert!(more.check(&["insert", "remove"], &[]).unwrap_err().contains("name it and them in figure"));
}

#[test]
fn stores_that_differ_little_are_alike() {
    let verdict_of = |values: [f64; 3]| {
        let [a, b, c] = values.map(steady);
        let rest = "expect.alike = { stores = [\"a\", \"b\"], within = 1.25 }";
        verdict(rest, &[(spot(), &[("a", a), ("b", b), ("c", c)])])
    };
    assert_eq!(verdict_of([1.0, 1.2, 9.0]), Verdict::Reproduced);
    assert_eq!(verdict_of([1.3, 1.0, 1.0]), Verdict::NotReproduced);
    let rest = "among = [\"a\", \"b\"]\nexpect.alike = { stores = [\"a\", \"b\"], within = 1.25 }";
    assert_eq!(verdict(rest, &[(spot(), &[("a", steady(1.0)), ("b", shaky(1.2))])]), Verdict::Unknown);
    assert_eq!(verdict(rest, &[(spot(), &[("a", steady(1.0))])]), Verdict::Unknown);
    // Stores are alike if the whole interval is within the margin: otherwise unknown.
    let judge_interval = |low: f64, high: f64, margin: f64| {
        // Three blocks with this interval: a mean, and a standard error that Student's t makes a half-width.
        let (middle, half) = ((low * high).sqrt(), (high / low).ln() / 2.0);
        let step = half * 3f64.sqrt() / 4.302_652_73;
        let value = |offset: f64| middle * (offset * step).exp();
        let b: Series<u32> = [(0, value(-1.0)), (1, value(0.0)), (2, value(1.0))].into();
        let a: Series<u32> = [(0, 1.0), (1, 1.0), (2, 1.0)].into();
        let rest = format!("expect.alike = {{ stores = [\"a\", \"b\"], within = {margin} }}");
        let finding = judge(&claim(&rest), &[pool("none", &[(spot(), &[("a", a), ("b", b)])])]);
        let interval = finding.evidence[0].times.unwrap().interval.unwrap();
        assert!((interval.high / interval.low / (high / low) - 1.0).abs() < 1e-6, "{interval:?}");
        finding.verdict
    };
    assert_eq!(judge_interval(1.00, 1.06, 1.03), Verdict::Unknown);
    assert_eq!(judge_interval(0.66, 6.7, 1.25), Verdict::Unknown);
    assert_eq!(judge_interval(0.98, 1.02, 1.03), Verdict::Reproduced);
    assert_eq!(judge_interval(1.04, 1.09, 1.03), Verdict::NotReproduced);
    for (text, words) in [
        ("{ stores = [\"a\"], within = 1.2 }", "two stores or more"),
        ("{ stores = [\"a\", \"b\"], within = 0.5 }", "1 or more"),
    ] {
        let error = claim(&format!("expect.alike = {text}")).check(&["insert"], &[]).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}
