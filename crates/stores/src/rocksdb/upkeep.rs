//! The engine's own work, out of the property `cfstats-no-file-histogram`, which is a text for people.

/// Work done since the database was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Upkeep {
    pub flushes: u64,
    pub compactions: u64,
    /// Times that writers were slowed down or stopped.
    pub stalls: u64,
}

/// Parses the engine's statistics; what they lack is 0.
pub fn parse_statistics(text: &str) -> Upkeep {
    let count_in_row = |row: &str| {
        let position =
            text.lines().find_map(|line| line.split_whitespace().position(|column| column == COUNT))?;
        let row = text.lines().map(str::split_whitespace).find(|line| line.clone().next() == Some(row))?;
        // The column of sizes has two words: a number and its unit.
        row.clone().nth(position + 1)?.parse::<u64>().ok()
    };
    let flushes = count_in_row("L0").unwrap_or(0);
    let stalls = text.lines().find_map(stalls).unwrap_or(0);
    Upkeep { flushes, compactions: count_in_row("Sum").unwrap_or(0).saturating_sub(flushes), stalls }
}

const COUNT: &str = "Comp(cnt)";

/// From version 8 on the line has names before counts, and sums at its end; before, counts came first.
fn stalls(line: &str) -> Option<u64> {
    if let Some(counts) = line.strip_prefix("Write Stall (count):") {
        let totals = counts.split(',').filter_map(|count| count.trim().strip_prefix("total-"));
        return Some(totals.filter_map(|count| count.rsplit(' ').next()?.parse::<u64>().ok()).sum());
    }
    let counts = line.strip_prefix("Stalls(count):")?.split(',');
    let overall = counts.take_while(|count| !count.trim().starts_with("interval"));
    Some(overall.filter_map(|count| count.split_whitespace().next()?.parse::<u64>().ok()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "\
** Compaction Stats [default] **
Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) Comp(cnt) Avg(sec)
----------------------------------------------------------------------------------------------------------------------------------------
  L0      2/0   17.84 MB   0.5      0.0     0.0      0.0       0.1      0.1       0.0   1.0      0.0    210.6      0.55        13    0.042
  L1      3/1   51.36 MB   0.0      0.2     0.1      0.1       0.2      0.1       0.0   1.5    312.5    244.8      0.68         4    0.171
 Sum      5/1   69.20 MB   0.0      0.2     0.1      0.1       0.3      0.2       0.0   2.5    173.1    229.5      1.23        17    0.072
Write Stall (count): l0-file-count-limit-delays: 2, memtable-limit-stops: 1, total-delays: 2, total-stops: 1
";

    #[test]
    fn flushes_compactions_and_stalls_are_read_out_of_the_text() {
        assert_eq!(parse_statistics(NOW), Upkeep { flushes: 13, compactions: 4, stalls: 3 });
        assert_eq!(parse_statistics(""), Upkeep::default());
        let old_line = "Stalls(count): 1 level0_slowdown, 2 memtable_slowdown, interval 7 total count";
        assert_eq!(parse_statistics(old_line).stalls, 3);
    }
}
