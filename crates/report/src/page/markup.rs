//! HTML from text that others wrote: everything is escaped, and a template's places are filled once, so that no text can
//! ask for another to be put into it.

/// Text as it can stand between tags and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters are not allowed in HTML, and engines' messages may hold them.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Text for the part of an address after `#`, of which a value may be anything.
pub fn in_address(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// `<tag>text</tag>`, the text escaped.
pub fn element(tag: &str, text: &str) -> String {
    format!("<{tag}>{}</{tag}>", escape(text))
}

/// A list of items that are HTML already; nothing where there are none.
pub fn list(items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items: Vec<String> = items.iter().map(|item| format!("<li>{item}</li>")).collect();
    format!("<ul>{}</ul>", items.join(""))
}

/// A table of two columns, names and values, both escaped.
pub fn pairs(rows: &[(String, String)]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|(name, value)| {
            format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value))
        })
        .collect();
    format!("<table class=\"pairs\"><tbody>{}</tbody></table>", rows.join(""))
}

/// Puts HTML into the places of a template that are written `{{name}}`. A place that has no text stays empty.
pub fn fill(template: &str, places: &[(&str, &str)]) -> String {
    let mut out =
        String::with_capacity(template.len() + places.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            rest = after;
            break;
        };
        out.push_str(places.iter().find(|(place, _)| *place == name).map_or("", |(_, text)| text));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_could_be_markup_is_left() {
        let text = escape("<script>alert('1')</script>&\"\u{1b}[0m");
        assert_eq!(text, "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;\u{fffd}[0m");
        assert_eq!(in_address("a b&c=<é>"), "a%20b%26c%3D%3C%C3%A9%3E");
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        assert_eq!(fill("<{{a}}|{{b}}|{{c}}>", &[("a", "{{b}}"), ("b", "2")]), "<{{b}}|2|>");
    }
}
