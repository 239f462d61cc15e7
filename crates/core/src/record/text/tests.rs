use xxhash_rust::xxh3::xxh3_64;

use super::*;

#[path = "../../../examples/text_ratios/ratio.rs"]
mod ratio;
use ratio::{CODECS, Result, ratio};

/// The ratios to which seven real books compress, in the order of [`CODECS`], from docs/data.md, which has the command that measures them.
const BOOKS: [(&str, usize, usize, [f64; 3]); 4] = [
    ("1 KiB", 1 << 10, 1000, [0.862, 0.860, 0.583]),
    ("10 KiB", 10 << 10, 300, [0.689, 0.708, 0.463]),
    ("100 KiB", 100 << 10, 60, [0.627, 0.642, 0.402]),
    ("1 MiB", 1 << 20, 10, [0.621, 0.632, 0.370]),
];

/// The most by which the ratio of generated text may differ from the books'.
const TOLERANCE: f64 = 0.05;

const GUIDE: &str = include_str!("../../../../../docs/data.md");

fn text(seed: u64, bytes: usize) -> Vec<u8> {
    let mut text = vec![0; bytes];
    TextSource::new(seed).fill(&mut text);
    text
}

#[test]
fn a_seed_gives_the_same_text_everywhere() {
    assert_eq!(xxh3_64(&text(1, 1 << 20)), 9_086_133_443_022_271_670);
    assert_ne!(text(1, 1000), text(2, 1000));
}

#[test]
fn how_the_text_is_cut_into_calls_changes_nothing() {
    let whole = text(3, 100_000);
    let mut source = TextSource::new(3);
    let mut parts = Vec::new();
    for size in (0..1000).cycle() {
        if parts.len() + size >= 100_000 {
            break;
        }
        let mut part = vec![0; size];
        source.fill(&mut part);
        parts.extend(part);
    }
    assert!(parts.len() > 98_000);
    assert_eq!(parts, whole[..parts.len()]);
}

#[test]
fn it_reads_as_wrapped_prose() {
    let text = String::from_utf8(text(4, 1 << 20)).unwrap();
    let is_prose = |byte: u8| byte.is_ascii_alphabetic() || b" \n,.;:!?\"'()-".contains(&byte);
    assert_eq!(text.bytes().find(|&byte| !is_prose(byte)).map(char::from), None);
    assert!(text.lines().all(|line| line.len() <= LINE_BYTES && !line.ends_with(' ')));
    let body = &text[..text.rfind("\n\n").unwrap()];
    for paragraph in body.split("\n\n") {
        let flat = paragraph.replace('\n', " ");
        assert!(flat.starts_with(|first: char| first == '"' || first.is_ascii_uppercase()), "{paragraph}");
        assert!(flat.ends_with(['.', '!', '?', '"']), "{paragraph}");
        assert!(flat.matches('"').count() % 2 == 0, "{paragraph}");
        for fault in ["  ", " ,", " .", ",,", ",.", "..", " a a", " a e", " a o", "( ", " )"] {
            assert!(!flat.contains(fault), "{fault:?} in {paragraph}");
        }
    }
}

#[test]
fn it_compresses_as_books_do() -> Result<()> {
    for seed in [1, 2] {
        let text = text(seed, 8 << 20);
        for (name, size, slices, books) in BOOKS {
            for (codec, book) in CODECS.iter().zip(books) {
                let text_ratio = ratio(codec, &text, size, slices)?;
                let context = format!("{name} under {}: {text_ratio:.3}, books {book}", codec.name);
                assert!((text_ratio / book - 1.0).abs() <= TOLERANCE, "{context}");
            }
        }
    }
    Ok(())
}

#[test]
fn the_guide_shows_these_figures() -> Result<()> {
    let text = text(1, 8 << 20);
    for (name, size, slices, books) in BOOKS {
        let row = GUIDE.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
        let cells: Vec<f64> =
            row.split('|').filter_map(|cell| cell.trim().trim_end_matches(" %").parse().ok()).collect();
        for (index, (codec, book)) in CODECS.iter().zip(books).enumerate() {
            let [book_ratio, text_ratio, percent] = cells[3 * index..3 * index + 3] else { panic!("{row}") };
            assert_eq!(book_ratio, book, "{row}");
            let (name, found) = (codec.name, ratio(codec, &text, size, slices)?);
            assert!((found / text_ratio - 1.0).abs() < 0.01, "{name}: {row}");
            assert!((100.0 * (text_ratio / book_ratio - 1.0) - percent).abs() < 0.15, "{name}: {row}");
        }
    }
    Ok(())
}
