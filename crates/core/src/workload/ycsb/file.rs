//! YCSB's property files, in Java's format: a name, `=`, `:` or a blank, and a value; `#` and `!` begin a comment, and a line
//! that ends with a backslash goes on in the next.

/// A property as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The number of the line that it begins on, from 1.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Reads a file's text. The error names the line that can't be read, and what is wrong with it.
pub fn read(text: &str) -> Result<Vec<Line>, (usize, String)> {
    let mut lines = Vec::new();
    // Some programs begin a text with a mark.
    let mut numbered = text.strip_prefix('\u{feff}').unwrap_or(text).lines().enumerate();
    while let Some((index, line)) = numbered.next() {
        let mut joined = line.trim_start().to_owned();
        if joined.is_empty() || joined.starts_with(['#', '!']) {
            continue;
        }
        while is_continued(&joined) {
            joined.pop();
            let Some((_, next)) = numbered.next() else { break };
            joined.push_str(next.trim_start());
        }
        let number = index + 1;
        let (name, value) = split(&joined);
        let name = unescape(name).map_err(|reason| (number, reason))?;
        let value = unescape(value.trim_end()).map_err(|reason| (number, reason))?;
        lines.push(Line { number, name, value });
    }
    Ok(lines)
}

/// Whether a line ends with a backslash that is not escaped.
fn is_continued(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

fn split(line: &str) -> (&str, &str) {
    let mut escaped = false;
    let is_end = |c: char| {
        let end = !escaped && (c == '=' || c == ':' || c.is_whitespace());
        escaped = !escaped && c == '\\';
        end
    };
    let Some(end) = line.find(is_end) else { return (line, "") };
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let value = rest.strip_prefix(['=', ':']).unwrap_or(rest);
    (name, value.trim_start())
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = letters.by_ref().take(4).collect();
                let number = u32::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4);
                let letter = number.and_then(char::from_u32);
                out.push(letter.ok_or_else(|| format!("\\u{digits} is not a letter"))?);
            }
            Some(letter) => out.push(letter),
            None => {}
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(usize, String, String)> {
        read(text).unwrap().into_iter().map(|line| (line.number, line.name, line.value)).collect()
    }

    #[test]
    fn every_way_to_write_a_property_is_read() {
        let text = "# a comment\n\n  ! another\nrecordcount=1000\noperationcount = 500 \nthreadcount: 4\ntarget 100\n\
                    requestdistribution=\\\n   zipf\\\n  ian\nempty=\nalone\na\\=b=c\\\\d\\u0041\r\n";
        let line = |number, name: &str, value: &str| (number, name.to_owned(), value.to_owned());
        assert_eq!(
            pairs(text),
            [
                line(4, "recordcount", "1000"),
                line(5, "operationcount", "500"),
                line(6, "threadcount", "4"),
                line(7, "target", "100"),
                line(8, "requestdistribution", "zipfian"),
                line(11, "empty", ""),
                line(12, "alone", ""),
                line(13, "a=b", "c\\dA"),
            ]
        );
    }

    #[test]
    fn what_is_no_letter_is_told_with_its_line() {
        assert_eq!(read("a=1\nb=\\u12"), Err((2, "\\u12 is not a letter".into())));
        assert!(read("a=\\ud800").is_err());
        assert_eq!(pairs("a=\\"), [(1, "a".into(), String::new())]);
    }
}
