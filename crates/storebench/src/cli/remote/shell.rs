//! Commands for any shell on another machine: POSIX, csh or fish.

/// A word in quotes that any shell reads literally.
pub fn quoted(word: &str) -> String {
    let mut text = String::from("'");
    for letter in word.chars() {
        match letter {
            // In quotes, every shell ends at a quote, and fish reads a backslash.
            '\'' | '\\' => {
                text.push_str("'\\");
                text.push(letter);
                text.push('\'');
            }
            letter => text.push(letter),
        }
    }
    text.push('\'');
    text
}

/// A word for a shell, quoted only if necessary.
pub fn word(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@%+=:,./_-[]".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted(word) }
}

/// A command line that runs a script in `sh`, with its arguments as $1, $2, ...
pub fn script(script: &str, arguments: &[&str]) -> String {
    let words = ["sh", "-c"].into_iter().map(str::to_owned);
    let quoted = [script, "storebench"].into_iter().chain(arguments.iter().copied()).map(quoted);
    format!("exec {}", words.chain(quoted).collect::<Vec<_>>().join(" "))
}

/// The mark at the beginning of every answer of these scripts, as the user's own start files may print something.
pub const MARK: &str = "storebench-on-board:";

/// Makes storebench's folder $1 (empty: the default), and reports the machine, the folder's path, and the programs in it.
pub const INSPECT: &str = "umask 077; unset CDPATH; d=${1:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/storebench}; \
    mkdir -p -- \"$d/programs\" \"$d/runs\" && cd -- \"$d\" || exit 1; \
    command -v sha256sum >/dev/null || { echo \"sha256sum is missing\" >&2; exit 1; }; \
    echo \"storebench-on-board:$(uname -s)\"; echo \"storebench-on-board:$(uname -m)\"; \
    echo \"storebench-on-board:$(pwd -P)\"; \
    for p in programs/*; do echo \"storebench-on-board:$p\"; done";

/// Writes standard input into the folder $1, as the program whose SHA-256 is $2.
pub const COPY: &str = "umask 077; cd -- \"$1/programs\" || exit 1; t=.copy-$$; trap \"rm -f $t\" EXIT; \
    trap \"exit 1\" HUP INT TERM; cat >\"$t\" || exit 1; s=$(sha256sum <\"$t\"); \
    [ \"${s%% *}\" = \"$2\" ] || { echo \"the copy is not whole\" >&2; exit 1; }; \
    chmod 700 \"$t\" && mv -f -- \"$t\" \"storebench-$2\" && echo \"storebench-on-board:copied\"";

/// Runs the program in the folder $1 whose SHA-256 is $2, if it is unchanged.
pub const RUN: &str = "cd -- \"$1\" || exit 1; s=$(sha256sum <\"programs/storebench-$2\"); \
    [ \"${s%% *}\" = \"$2\" ] || { echo \"storebench-on-board:changed\"; exit 0; }; \
    exec \"programs/storebench-$2\" __board \"$1\"";

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_quoted_word_is_one_word_and_itself() {
        let words =
            ["", "a", "two words", "it's", "\"$HOME\" `id` \\", "'; touch /tmp/x; '", "-n", "ä\n*", "\\'\\"];
        for word in words {
            let line = script("printf %s/ \"$#\" \"$@\"", &[word, "last"]);
            for shell in ["sh", "bash", "zsh", "fish"] {
                let Ok(output) = Command::new(shell).arg("-c").arg(&line).output() else { continue };
                let text = String::from_utf8(output.stdout).unwrap();
                assert_eq!(text, format!("2/{word}/last/"), "{shell}: {line}");
            }
        }
    }

    #[test]
    fn only_words_that_need_it_are_quoted_for_people() {
        assert_eq!(word("ssh://user@board:2222"), "ssh://user@board:2222");
        assert_eq!(["", "a b", "it's"].map(word), ["''", "'a b'", "'it'\\''s'"]);
    }

    #[test]
    fn scripts_are_one_line_each_as_some_shells_want() {
        for script in [INSPECT, COPY, RUN] {
            assert!(!script.contains(['\n', '\'', '!']), "{script}");
        }
        assert!([INSPECT, COPY, RUN].iter().all(|script| script.contains(MARK)));
    }
}
