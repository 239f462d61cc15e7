//! This crate measures stores: it does the work ([`workload`]) and times each call ([`measure`]). It prints nothing. `storebench-model` defines
//! stores and results, `storebench-host` runs trials in processes, `storebench-report` reads results, `storebench-stores` has the engines, and
//! `storebench` the command line, to which another binary can pass its own table of [`StoreDef`](storebench_model::store::StoreDef)s.

pub mod guard;
pub mod kernel;
pub mod measure;
pub mod record;
pub mod trace;
pub mod workload;
