//! This crate carries out a plan: it reads the plan's file, schedules the trials, runs each in a new process under its limits and on
//! its file system, and keeps the run's folder.

pub mod background;
pub mod folder;
pub mod image;
pub mod location;
pub mod machine;
pub mod plan;
pub mod run;
pub mod runner;
pub mod sample_data;
pub mod saved_states;
pub mod schedule;
pub mod shard;
pub mod stage;
