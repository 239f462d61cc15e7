//! Formats times, as results write them and as people read them.

/// The day of a time in results.
pub fn day(time: &str) -> &str {
    time.split('T').next().unwrap_or_default()
}

/// The day and the minute of a time in results: `2025-01-02 03:04`.
pub fn minute(time: &str) -> String {
    time.chars().take("2025-01-02T03:04".len()).collect::<String>().replace('T', " ")
}

/// A time as people write it, without the fraction of its second: `2025-01-02 03:04:05 UTC`.
pub fn to_the_second(time: &str) -> String {
    let Some((day, hour)) = time.strip_suffix('Z').and_then(|time| time.split_once('T')) else {
        return time.to_owned();
    };
    format!("{day} {} UTC", hour.split('.').next().unwrap_or(hour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_needs_no_nanoseconds() {
        assert_eq!(to_the_second("2026-11-21T23:03:15.807887989Z"), "2026-11-21 23:03:15 UTC");
        assert_eq!(to_the_second("2025-01-02T03:04:05Z"), "2025-01-02 03:04:05 UTC");
        assert_eq!(to_the_second("yesterday"), "yesterday");
        assert_eq!(minute("2026-11-21T23:03:15.807887989Z"), "2026-11-21 23:03");
        assert_eq!(minute("today"), "today");
    }
}
