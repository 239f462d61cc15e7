//! Makes foreign text (a run's folder, a plan, an engine, the command line) safe to show: no escape code reaches the terminal,
//! and none is so long that the rest can't be found.

mod serde;

use std::borrow::Cow;

pub use self::serde::simplify_message;

/// The longest piece of wrong input in a message, in characters.
const PIECE: usize = 60;
/// The longest message, in characters: a little more than two of the longest paths.
const MESSAGE: usize = 9_000;
const GAP: &str = "...";
const SPACED_GAP: &str = " ... ";

/// Replaces control and bidirectional characters by spaces, except ends of lines and tabs.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(is_code) { Cow::Owned(text.replace(is_code, " ")) } else { Cow::Borrowed(text) }
}

/// Whether a character is a terminal's control character, or changes the direction of text, so that a name reads as another
/// (Unicode's bidirectional formatting characters, UAX #9).
pub fn is_code(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || (letter.is_control() && letter != '\n' && letter != '\t')
}

/// Text in one line, without control characters.
pub fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() || is_code(letter) { ' ' } else { letter }).collect()
}

/// Text with colours (`ESC [ digits m`) and without any other control character.
pub fn coloured(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_code) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = colour_code_length(rest).unwrap_or(0);
        if length > 0 {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        } else {
            out.push(' ');
            rest = rest.get(rest.chars().next().map_or(1, char::len_utf8)..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

/// The length in bytes of the colour code that a text begins with.
fn colour_code_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\u{1b}[")?;
    let end = numbers.find(|letter: char| !letter.is_ascii_digit() && letter != ';')?;
    numbers[end..].starts_with('m').then_some("\u{1b}[".len() + end + 1)
}

/// A piece of wrong input in quotes, for a message, shortened if it is long.
pub fn quoted(text: &str) -> String {
    let text = &*without_user(text);
    if text.chars().nth(PIECE).is_none() {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(PIECE).collect();
    format!("{start:?}{GAP}")
}

/// A piece of wrong input, shortened if it is long.
pub fn piece(text: &str) -> Cow<'_, str> {
    let text = without_user(text);
    match text.char_indices().nth(PIECE) {
        None => text,
        Some((end, _)) => Cow::Owned(format!("{}{GAP}", &text[..end])),
    }
}

/// Removes user data from the first URL in a text, which reaches to its end: what is before the last `@` may be a password or a
/// part of one, and so may parameters other than the server's address.
pub fn without_user(text: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return match text.rsplit_once('@') {
            // As in `user:password@host`.
            Some((user, host)) if user.contains(':') => Cow::Owned(format!("{GAP}@{host}")),
            _ => Cow::Borrowed(text),
        };
    };
    let (location, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    if parameters.contains('@') {
        // The question mark or the `@` is part of a password.
        return Cow::Owned(format!("{scheme}://{GAP}"));
    }
    let is_shown = |parameter: &str| parameter.starts_with("host=") || parameter.starts_with("socket=");
    let may_stay = |parameter: &str| parameter.is_empty() || is_shown(parameter);
    if !location.contains('@') && parameters.split('&').all(may_stay) {
        return Cow::Borrowed(text);
    }
    let location =
        location.rsplit_once('@').map_or_else(|| location.to_owned(), |(_, host)| format!("{GAP}@{host}"));
    if parameters.is_empty() {
        return Cow::Owned(format!("{scheme}://{location}"));
    }
    let shown = parameters.split('&').map(|parameter| if is_shown(parameter) { parameter } else { GAP });
    Cow::Owned(format!("{scheme}://{location}?{}", shown.collect::<Vec<_>>().join("&")))
}

/// Mount options whose values are names and addresses.
const IDENTIFYING_OPTIONS: [&str; 7] =
    ["addr", "clientaddr", "domain", "mountaddr", "name", "user", "username"];

/// Mount options as anyone may read them: options with files, people and machines show only their names.
pub fn mount_options(options: &str) -> String {
    let hide_name = |option: &str| match option.split_once('=') {
        Some((name, value)) if value.contains(['/', '\\', '@']) || IDENTIFYING_OPTIONS.contains(&name) => {
            format!("{name}={GAP}")
        }
        None if option.contains('/') => GAP.to_owned(),
        _ => option.to_owned(),
    };
    options.split(',').map(hide_name).collect::<Vec<_>>().join(",")
}

/// Text of which no URL, up to a blank, an end of a line or a quote, has user data.
pub fn without_users(text: &str) -> String {
    text.split_inclusive([' ', '\n', '"', '\'', '`']).map(without_user).collect()
}

/// The same, of which no address without a scheme has a user's name either, as in `me@board`.
pub fn without_names(text: &str) -> String {
    let hide_user = |word: &str| match word.rsplit_once('@') {
        Some((user, host)) if !user.is_empty() && !word.contains("://") => {
            format!("{}{GAP}@{host}", user.rfind('=').map_or("", |equals| &user[..=equals]))
        }
        _ => word.to_owned(),
    };
    without_users(text).split_inclusive([' ', '\n', '"', '\'', ',']).map(hide_user).collect()
}

/// A message of a library, which repeats wrong input: no word, whatever surrounds it, is longer than such a piece may be, and the
/// message is not very long; the ends of longer ones stay.
pub fn shortened(message: &str) -> String {
    let message = without_users(message);
    let words: Vec<String> = message.split(' ').map(|word| cut(word, PIECE, GAP)).collect();
    cut(&words.join(" "), PIECE * 20, SPACED_GAP)
}

/// A line that is no longer than this many characters: a longer one is cut at its end.
pub fn shorten(line: &str, max_letters: usize) -> String {
    if line.chars().count() <= max_letters {
        return line.to_owned();
    }
    let start: String = line.chars().take(max_letters.saturating_sub(GAP.len())).collect();
    format!("{start}{GAP}")
}

/// Cuts text over `max_letters` characters in its middle; `gap` marks the cut.
fn cut(text: &str, max_letters: usize, gap: &str) -> String {
    let length = text.chars().count();
    if length <= max_letters {
        return text.to_owned();
    }
    let (start, end) = (max_letters * 3 / 4, max_letters / 4);
    let first: String = text.chars().take(start).collect();
    let last: String = text.chars().skip(length - end).collect();
    format!("{first}{gap}{last}")
}

/// A message in one line, without control characters and the user data of URLs, of bounded length.
pub fn message(text: &str) -> String {
    cut(&without_users(&one_line(text)), MESSAGE, SPACED_GAP)
}

/// Replaces control characters in JSON strings, except ends of lines and tabs; lines without any cost a look at each byte.
pub fn plain_json(json: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let (mut index, mut copied) = (0, 0);
    while index < json.len() {
        match code_length(&json[index..]) {
            Some(length) => {
                out.extend_from_slice(&json[copied..index]);
                out.push(b' ');
                index += length;
                copied = index;
            }
            // A letter after a backslash belongs to it, another backslash above all.
            None => index += if json[index] == b'\\' { 2 } else { 1 },
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.extend_from_slice(&json[copied..]);
    Cow::Owned(out)
}

/// The length of an escaped control character that these bytes of JSON begin with.
fn code_length(json: &[u8]) -> Option<usize> {
    match json {
        [b'\\', b'b' | b'f' | b'r', ..] => Some(2),
        [b'\\', b'u', digits @ ..] => {
            let digits = std::str::from_utf8(digits.get(..4)?).ok()?;
            let letter = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            is_code(letter).then_some(6)
        }
        [0x7f, ..] => Some(1),
        [0xc2, 0x80..=0x9f, ..] | [0xd8, 0x9c, ..] => Some(2),
        [0xe2, 0x80, 0x8e | 0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa6..=0xa9, ..] => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_escape_code_is_left() {
        assert_eq!(plain("a\u{1b}[31mb\u{9b}2J\rc\td\n"), "a [31mb 2J c\td\n");
        assert!(matches!(plain("données\n"), Cow::Borrowed(_)));
        let shown = coloured("\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J \u{1b}[1");
        assert_eq!(shown, "\u{1b}[1;31mred\u{1b}[0m  ]0;title   [2J  [1");
        assert_eq!(message("a\nb\u{1b}c"), "a b c");
        assert_eq!(plain("a\u{202e}b\u{2069}"), "a b ");
        assert_eq!(one_line("x\u{61c}\u{200f}\ny"), "x   y");
        assert_eq!(plain("שלום"), "שלום", "letters that are written from right to left are themselves");
    }

    #[test]
    fn json_keeps_its_shape_without_codes() {
        for (json, expected) in [
            (r#"{"a":"x\u001b[31m\u009By\r\b\n\t"}"#, "x [31m y  \n\t"),
            ("{\"a\":\"x\u{7f}\u{85}y\"}", "x  y"),
            ("{\"a\":\"x\u{202e}y\u{2066}\u{61c}\u{2010}\"}", "x y  \u{2010}"),
            (r#"{"a":"x\u202ey\u200E"}"#, "x y "),
            (r#"{"a":"\\u001b \\\u001b \"é\u00e9\ud83d\ude00"}"#, "\\u001b \\  \"éé😀"),
        ] {
            let value: serde_json::Value = serde_json::from_slice(&plain_json(json.as_bytes())).unwrap();
            assert_eq!(value["a"], expected, "{json}");
        }
        assert!(matches!(plain_json(br#"{"a":"\n\\"}"#), Cow::Borrowed(_)));
        for broken in [&b"\\"[..], b"\\u", b"\\u00", b"\\uzzzz", b"\xc2", b"\xff\\"] {
            assert_eq!(&*plain_json(broken), broken);
        }
    }

    #[test]
    fn nothing_of_a_url_s_user_is_left() {
        assert_eq!(without_user("ex://me:se@cret@box/x"), "ex://...@box/x");
        assert_eq!(message("at ex://me:secret@box: 'ex://you@b' no"), "at ex://...@box: 'ex://...@b' no");
        let long = format!("ex://me:secret{}@box", "t".repeat(100));
        for shown in [quoted(&long), piece(&long).into_owned(), shortened(&long), message(&long)] {
            assert!(shown.contains("ex://...@box") && !shown.contains("secret"), "{shown}");
        }
        assert_eq!(piece("ex://me:sec ret@box"), "ex://...@box");
        assert_eq!(piece("me:sec@re t@box"), "...@box");
        assert_eq!(message("--remote me:secret@box: no"), "--remote ...@box: no");
        for (url, shown) in [
            ("ex://me@box?password=secret", "ex://...@box?..."),
            ("ex://box?password=secret", "ex://box?..."),
            ("ex://me:se@box?socket=/run/s&pass=secret", "ex://...@box?socket=/run/s&..."),
            ("ex://me:sec?ret@box", "ex://..."),
            ("ex://me@box?password=sec@ret", "ex://..."),
            ("ex://me@/x?host=/run/s", "ex://...@/x?host=/run/s"),
        ] {
            assert_eq!(without_user(url), shown);
        }
        for text in ["see https://example.org/a b@c", "a@b", "ex://box/x", "ex://box/x?host=/run/s"] {
            assert_eq!(message(text), text);
        }
    }

    #[test]
    fn mount_options_name_neither_files_nor_people() {
        let options = "rw,data=ordered,lowerdir=/home/me/a:/b,/c,upperdir=/d,uid=0,username=me,domain=CORP,addr=10.0.0.1";
        let shown = "rw,data=ordered,lowerdir=...,...,upperdir=...,uid=0,username=...,domain=...,addr=...";
        assert_eq!(mount_options(options), shown);
    }

    #[test]
    fn long_input_is_cut() {
        assert_eq!(quoted("a\"b"), r#""a\"b""#);
        let long = "x".repeat(100_000);
        assert_eq!(quoted(&long), format!("\"{}\"...", "x".repeat(60)));
        assert!(shortened(&format!("invalid `{long}`, expected a number")).len() < 120);
        assert!(shortened(&"a ".repeat(100_000)).chars().count() <= 1210);
        assert!(message(&long).chars().count() < 9_010);
        let path = format!("/{}", "y".repeat(4000));
        assert!(message(&format!("writing {path}: no")).contains(&path));
    }
}
