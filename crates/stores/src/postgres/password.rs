//! The password for a running server, from where PostgreSQL's own programs take it: the environment, or a private file.

use std::path::PathBuf;

use storebench_core::server::running::Address;
use storebench_core::store::Result;

use crate::support::server::password as file;

/// PGPASSWORD, else the first fitting line of PGPASSFILE or ~/.pgpass, if any. Fails when others can read the file.
pub fn password(address: &Address, database: &str) -> Result<Option<String>> {
    if let Ok(password) = std::env::var("PGPASSWORD") {
        return Ok(Some(password));
    }
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".pgpass"));
    let Some(path) = std::env::var_os("PGPASSFILE").map(PathBuf::from).or_else(home) else { return Ok(None) };
    let Some(found) = file::read(&path)? else { return Ok(None) };
    found.refuse_if_others_read(&path)?;
    let port = address.port.unwrap_or(super::PORT).to_string();
    Ok(find_password(&found.text, [&address.at.name(), &port, database, &address.user]))
}

/// The password of the first line whose host, port, database and user are these, or `*`.
fn find_password(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = fields(line);
        let password = (fields.len() == 5).then(|| fields.pop()).flatten()?;
        let is_match = fields.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        is_match.then_some(password)
    })
}

/// The fields between colons; a backslash escapes the next letter.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' => fields.push(String::new()),
            '\\' => fields[last].extend(letters.next()),
            letter => fields[last].push(letter),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# a:1:b:c:no\nbox:5432:shop:me:one\n*:*:*:me:t\\:w\\\\o\nbox:5432:shop\n";
        assert_eq!(find_password(text, ["box", "5432", "shop", "me"]).as_deref(), Some("one"));
        assert_eq!(find_password(text, ["/run", "1", "x", "me"]).as_deref(), Some("t:w\\o"));
        assert_eq!(find_password(text, ["box", "5432", "shop", "you"]), None);
    }
}
