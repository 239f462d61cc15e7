use proptest::prelude::*;

use super::*;

fn read(text: &str) -> Sizes {
    text.parse().unwrap()
}

#[test]
fn sizes_are_read_as_they_are_written() {
    for text in ["1KiB..10KiB", "4KiB", "90%:1KiB..10KiB+10%:1MiB", "0.0001%:1B+99.9999%:2B..9B"] {
        assert_eq!(read(text).to_string(), text);
    }
    // Sorted, and the same range once, so that the same sizes have the same id.
    assert_eq!(read("10% : 1MiB + 50%:1KiB+40%:1KiB").to_string(), "90%:1KiB+10%:1MiB");
    assert_eq!(read("100%:1KiB..2KiB"), read("1KiB..2KiB"));
    for (text, expected) in [
        ("90%:1KiB", "come to 90%: they must come to 100%"),
        ("100%:1KiB+0%:2KiB", "each above 0%"),
        ("90%+10%:1KiB", "is not a part of the record sizes"),
        ("x%:1KiB", "is not a part"),
        ("0.00001%:1KiB+99.99999%:2KiB", "shares to 0.0001%"),
        ("-10%:1KiB+110%:2KiB", "is not a part"),
        ("50%:0..10+50%:1KiB", "starts at 0"),
    ] {
        let error = text.parse::<Sizes>().unwrap_err();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let many: Vec<String> = (1..=50).map(|size| format!("2%:{size}B")).collect();
    assert!(many.join("+").parse::<Sizes>().unwrap_err().contains("50 parts: at most 32"));
}

#[test]
fn mean_median_and_largest_follow_the_shares() {
    let sizes = read("90%:1..9+10%:100..200");
    assert_eq!((sizes.mean(), sizes.largest()), (0.9 * 4.5 + 0.1 * 149.5, 199));
    assert_eq!((sizes.median(), sizes.span()), (5, SizeRange { from: 1, to: 200 }));
    assert_eq!(read("50%:7B+50%:9B").median(), 7);
    let mixed = read("10%:1MiB+90%:1KiB").describe();
    assert_eq!(mixed, "mixed sizes (median 1.00 KiB, mean 103 KiB, largest 1.00 MiB)");
    assert_eq!(read("1B..1KiB").describe(), "1B..1KiB");
    let smaller = read("90%:8B..80B+10%:800B").scaled(|bytes| bytes / 80);
    assert_eq!(smaller.to_string(), "90%:1B+10%:10B");
    // One range is drawn as it always was.
    let range = SizeRange { from: 100, to: 1124 };
    for number in [0, 1, u64::MAX / 3, u64::MAX] {
        let expected = 100 + ((u128::from(number) * 1024) >> 64) as u64;
        assert_eq!(Sizes::from(range).draw(number), expected);
    }
}

proptest! {
    /// Kolmogorov and Smirnov's test: the largest distance between the drawn sizes' distribution and the law.
    #[test]
    fn drawn_sizes_follow_the_law(
        parts in proptest::collection::vec((1_u32..1000, 1_u64..10_000, 1_u64..10_000), 1..8),
        seed: u64,
    ) {
        const DRAWN: usize = 20_000;
        let total: u32 = parts.iter().map(|part| part.0).sum();
        let mut size_parts: Vec<SizePart> = parts
            .iter()
            .map(|(share, from, width)| SizePart {
                range: SizeRange { from: *from, to: from + width },
                share: (u64::from(*share) * u64::from(WHOLE) / u64::from(total)) as u32,
            })
            .collect();
        size_parts[0].share += WHOLE - size_parts.iter().map(|part| part.share).sum::<u32>();
        let sizes = Sizes::from_parts(&size_parts).unwrap();
        prop_assert_eq!(read(&sizes.to_string()), sizes);
        let mut random = fastrand::Rng::with_seed(seed);
        let mut drawn: Vec<u64> = (0..DRAWN).map(|_| sizes.draw(random.u64(..))).collect();
        drawn.sort_unstable();
        prop_assert!(drawn[0] >= sizes.span().from && drawn[DRAWN - 1] <= sizes.largest());
        for (index, size) in drawn.iter().enumerate() {
            let next = drawn.get(index + 1);
            if next != Some(size) {
                let observed_share = (index + 1) as f64 / DRAWN as f64;
                let expected_share = sizes.cumulative_share(*size) / f64::from(WHOLE);
                // Beyond 3.3 / sqrt(n) in about one of a thousand million draws.
                prop_assert!((observed_share - expected_share).abs() < 3.3 / (DRAWN as f64).sqrt(), "{size}: {observed_share} against {expected_share}");
            }
        }
    }
}
