//! Facts that a server tells of itself, by INFO.

use storebench_core::store::{Result, StoreError};

use super::client::Client;

/// Whether it is neither making a snapshot, nor rewriting its log, nor behind with it.
pub fn is_idle(client: &mut Client) -> Result<bool> {
    let told = client.text(&[b"INFO", b"persistence"])?;
    let busy = [
        "rdb_bgsave_in_progress",
        "aof_rewrite_in_progress",
        "aof_rewrite_scheduled",
        "aof_buffer_length",
        "aof_pending_bio_fsync",
    ];
    // The last two are told where there is a log.
    Ok(busy.iter().all(|name| in_info(&told, name).is_none_or(|value| value == "0")))
}

/// A fact that the server tells of itself.
pub fn told_of(client: &mut Client, name: &str) -> Result<String> {
    let told = client.text(&[b"INFO"])?;
    let found = in_info(&told, name).map(str::to_owned);
    found.ok_or_else(|| StoreError::Engine(format!("the server does not tell its {name}")))
}

/// The value of a fact by its whole name, in what the server tells.
pub fn in_info<'t>(told: &'t str, name: &str) -> Option<&'t str> {
    told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_by_their_whole_names() {
        let told = "# Memory\r\nused_memory_human:1M\r\nused_memory:17\r\n";
        assert_eq!((in_info(told, "used_memory"), in_info(told, "used")), (Some("17"), None));
    }
}
