//! Published findings in a form that a run can be checked against: the `[[claim]]` tables of a plan, and their validity.

mod bounds;
mod change;
mod claim;
mod contest;
mod design;
mod evaluate;
mod expect;
mod figure;
mod pair;
mod pool;
mod read;
mod region;
mod table_verdict;
mod verdict;

pub use self::claim::Claim;
pub use self::contest::StoreComparison;
pub use self::evaluate::evaluate;
pub use self::expect::{Expect, Winner};
pub use self::figure::Figure;
pub use self::pool::{Pool, Scope};
pub use self::read::{StudyClaims, check, plan_claims, run_claims, study_claims};
pub use self::table_verdict::{TableVerdict, check_tables};
pub use self::verdict::{CheckTally, Coverage, Evidence, Finding, Outcome, Verdict};

#[cfg(test)]
mod tests;
