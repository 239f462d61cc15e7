//! Published findings in a form that a run can be checked against: the `[[claim]]` tables of a plan, and their validity.

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

pub(crate) use self::claim::Claim;
pub(crate) use self::contest::Contest;
pub(crate) use self::evaluate::evaluate;
pub(crate) use self::expect::{Expect, Winner};
pub(crate) use self::figure::Figure;
pub(crate) use self::pool::{Pool, Scope};
pub use self::read::{StudyClaims, check, plan_claims, run_claims, study_claims};
pub(crate) use self::table_verdict::{TableVerdict, check_tables};
pub(crate) use self::verdict::{CheckTally, Coverage, Evidence, Finding, Outcome, Verdict};

#[cfg(test)]
mod tests;
