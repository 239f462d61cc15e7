//! What carries out a plan: its file, the schedule of its trials, each trial in a process of its own, and the folder of the run.

pub mod background;
pub mod folder;
pub mod image;
pub mod kept;
pub mod like;
pub mod machine;
pub mod place;
pub mod plan;
pub mod run;
pub mod runner;
pub mod schedule;
pub mod shard;
pub mod stage;
