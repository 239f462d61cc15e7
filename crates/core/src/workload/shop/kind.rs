//! The three transactions, and their shares.

use std::fmt;
use std::str::FromStr;

use storebench_model::sanitize::quoted;
use storebench_model::units::as_text;
use storebench_model::words::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::VariantNames, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// A customer and all their orders are read.
    Orders,
    /// A customer looks at ten products and orders one of them.
    Buy,
    /// A product's stock is changed.
    Restock,
}

words!(Kind, all);

/// Frequencies as weights, in the order of [`Kind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares([f64; 3]);

const MOST_WEIGHT: f64 = 1e6;

impl Shares {
    /// The default shop.
    pub(crate) const COMMON: Shares = Shares([25.0, 50.0, 25.0]);

    pub fn fractions(self) -> [f64; 3] {
        let sum: f64 = self.0.iter().sum();
        self.0.map(|weight| weight / sum)
    }

    pub fn share_of(self, kind: Kind) -> f64 {
        self.fractions()[kind as usize]
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> =
            Kind::ALL.iter().zip(self.0).map(|(kind, weight)| format!("{}={weight}", kind.name())).collect();
        f.write_str(&words.join(","))
    }
}

as_text!(Shares);

impl FromStr for Shares {
    type Err = String;

    fn from_str(text: &str) -> Result<Shares, String> {
        let example = "write shares like orders=25,buy=50,restock=25";
        let mut weights = [None; 3];
        for entry in text.split(',') {
            let (name, weight) =
                entry.split_once('=').ok_or_else(|| format!("{} has no share: {example}", quoted(entry)))?;
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name.trim());
            let kind = kind.ok_or_else(|| format!("{} is no transaction: {example}", quoted(name)))?;
            let weight = weight.trim().trim_end_matches('%').parse::<f64>().ok();
            let weight = weight
                .filter(|weight| (0.0..=MOST_WEIGHT).contains(weight))
                .ok_or_else(|| format!("{} is not a share: {example}", quoted(entry)))?;
            if weights[kind as usize].replace(weight).is_some() {
                return Err(format!("{} is there twice: {example}", kind.name()));
            }
        }
        let shares = weights.map(Option::unwrap_or_default);
        if shares.iter().sum::<f64>() <= 0.0 {
            return Err(format!("all shares are 0: {example}"));
        }
        Ok(Shares(shares))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_and_scaled() {
        let shares: Shares = "buy=2, orders=50%".parse().unwrap();
        assert_eq!(shares.to_string(), "orders=50,buy=2,restock=0");
        assert_eq!(shares.to_string().parse::<Shares>().unwrap(), shares);
        assert_eq!("orders=25,buy=50,restock=25".parse::<Shares>().unwrap().fractions(), [0.25, 0.5, 0.25]);
        for (text, expected) in [
            ("buy", "has no share"),
            ("sell=1", "is no transaction"),
            ("buy=-1", "is not a share"),
            ("buy=NaN", "is not a share"),
            ("buy=1,buy=2", "is there twice"),
            ("buy=0", "all shares are 0"),
        ] {
            let error = text.parse::<Shares>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
