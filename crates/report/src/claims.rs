//! Published findings in a form that a run can be checked against: the `[[claim]]` tables of a plan, and their
//! validity. [`evaluate`] checks a run's figures against them. Pure.

mod bounds;
mod change;
mod claim;
mod contest;
mod design;
mod evaluate;
mod expect;
mod figure;
mod more_at;
mod pair;
mod pool;
mod read;
mod region;
mod table_verdict;
mod verdict;
mod words;

pub use self::bounds::{Bounds, BoundsRule};
pub use self::claim::{Average, Claim};
pub use self::contest::Contest;
pub use self::design::Design;
pub use self::evaluate::evaluate;
pub use self::expect::{
    Alike, Behind, Expect, Greatest, MoreAt, MoreWins, Order, Ratio, Unchanged, Values, Winner,
};
pub use self::figure::Figure;
pub use self::pool::{Cells, Pool, Scope};
pub use self::read::{StudyClaims, check, plan_claims, run_claims, study_claims};
pub use self::region::Region;
pub use self::table_verdict::{TableVerdict, check_tables};
pub use self::verdict::{CheckTally, CheckedFigure, Coverage, Evidence, Finding, Outcome, Verdict};

#[cfg(test)]
mod tests;
