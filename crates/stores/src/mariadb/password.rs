//! The password for a running server, from the environment, or from the file from which MariaDB's own programs take it.

use std::path::PathBuf;

use storebench_core::store::Result;

use crate::support::server::password as file;

/// MYSQL_PWD, else the clients' password in ~/.my.cnf, else empty. Fails when others can read the file.
pub fn password() -> Result<String> {
    if let Ok(password) = std::env::var("MYSQL_PWD") {
        return Ok(password);
    }
    let Some(path) = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".my.cnf")) else {
        return Ok(String::new());
    };
    let Some(found) = file::read(&path)? else { return Ok(String::new()) };
    let Some(password) = find_password(&found.text) else { return Ok(String::new()) };
    found.refuse_if_others_read(&path)?;
    Ok(password)
}

/// The last password in a section for clients.
fn find_password(text: &str) -> Option<String> {
    let (mut is_for_clients, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            is_for_clients = ["client", "client-server", "client-mariadb"].contains(&section);
        } else if let Some((name, value)) = line.split_once('=').filter(|_| is_for_clients)
            && name.trim() == "password"
        {
            let value = value.trim();
            let quoted =
                ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
            found = Some(quoted.unwrap_or(value).to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_password_for_clients_counts() {
        let text = "password=no\n[client]\npassword = one\n[mysqld]\npassword=no\n[client-server]\n# x\npassword=\"t=w o\"\n";
        assert_eq!(find_password(text).as_deref(), Some("t=w o"));
        assert_eq!(find_password("[client]\nuser=me\n"), None);
    }
}
