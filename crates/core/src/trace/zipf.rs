//! The skew of the choice of keys: the exponent of the Zipf distribution that fits best.

/// Fewer keys than this have no distribution to speak of.
const FEWEST: usize = 10;
/// Larger exponents are reported as this.
const MOST: f64 = 5.0;

/// The exponent `s` under which operations choose the key of rank `r` with a probability proportional to `r^-s`: the most likely
/// one for these counts, which stand in descending order. `None` for very few keys.
///
/// The likelihood's derivative is the difference of two mean logarithms of ranks, that of the counts and that of the
/// distribution, and falls with `s`: its zero is found by halving.
pub fn exponent(counts: &[u64]) -> Option<f64> {
    if counts.len() < FEWEST {
        return None;
    }
    let logs: Vec<f64> = (1..=counts.len()).map(|rank| (rank as f64).ln()).collect();
    let total: f64 = counts.iter().map(|count| *count as f64).sum();
    let observed_mean_log =
        counts.iter().zip(&logs).map(|(count, log)| *count as f64 * log).sum::<f64>() / total;
    let mean_log = |s: f64| {
        let (mut weights, mut sum) = (0.0, 0.0);
        for log in &logs {
            let weight = (-s * log).exp();
            weights += weight;
            sum += weight * log;
        }
        sum / weights
    };
    let (mut low, mut high) = (0.0, MOST);
    if observed_mean_log >= mean_log(low) {
        return Some(0.0);
    }
    for _ in 0..20 {
        let middle = (low + high) / 2.0;
        if mean_log(middle) > observed_mean_log { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_exact_counts_is_found() {
        for s in [0.0, 0.3, 0.99, 1.4, 2.5] {
            let counts: Vec<u64> = (1..=2000).map(|rank| (1e9 * f64::from(rank).powf(-s)) as u64).collect();
            let found = exponent(&counts).unwrap();
            assert!((found - s).abs() < 0.01, "{s}: {found}");
        }
        assert_eq!(exponent(&[5, 4, 3]), None);
    }
}
