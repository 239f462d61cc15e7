//! HTML that no text can break: everything put into it is escaped, unless it is HTML already or part of the program.

use std::borrow::Cow;

use storebench_model::sanitize::is_code;

/// A piece of HTML. Added text is escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html(String);

/// A new line.
pub const BREAK: Literal = Literal("<br>");

/// Text of the program itself: a template, a style, a script.
#[derive(Debug, Clone, Copy)]
pub struct Literal(pub &'static str);

/// A part of HTML.
pub trait Part {
    /// Appends it to `html`.
    fn put(self, html: &mut Html);
}

impl Html {
    /// One part, or several in a tuple or list.
    pub fn new(part: impl Part) -> Html {
        let mut html = Html::default();
        part.put(&mut html);
        html
    }

    /// Parts with a separator between them.
    pub fn join<P: Part>(parts: impl IntoIterator<Item = P>, separator: impl Part + Copy) -> Html {
        let mut html = Html::default();
        for (number, part) in parts.into_iter().enumerate() {
            if number > 0 {
                html.push(separator);
            }
            html.push(part);
        }
        html
    }

    /// Bytes as base64, whose characters have no meaning in HTML.
    pub fn base64(bytes: &[u8]) -> Html {
        use base64::Engine as _;
        Html(base64::engine::general_purpose::STANDARD.encode(bytes))
    }

    /// Appends a part.
    pub fn push(&mut self, part: impl Part) {
        part.put(self);
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The HTML as a string.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The HTML as written into a file.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text without the tags, for a terminal.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (number, piece) in self.0.split('<').enumerate() {
            // All but the first begin with the rest of a tag; a `<` in text is escaped.
            text.push_str(if number == 0 {
                piece
            } else {
                piece.split_once('>').map_or("", |(_, after)| after)
            });
        }
        let escaped = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
        escaped.iter().fold(text, |text, (from, to)| text.replace(from, to))
    }

    fn escape(&mut self, text: &str) {
        self.0.reserve(text.len());
        for character in text.chars() {
            match character {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // HTML allows no control characters, and engines' messages may have them.
                c if is_code(c) => self.0.push('\u{fffd}'),
                c => self.0.push(c),
            }
        }
    }
}

impl Part for &str {
    fn put(self, html: &mut Html) {
        html.escape(self);
    }
}

impl Part for Literal {
    fn put(self, html: &mut Html) {
        html.0.push_str(self.0);
    }
}

impl Part for Html {
    fn put(self, html: &mut Html) {
        html.0.push_str(&self.0);
    }
}

impl Part for &Html {
    fn put(self, html: &mut Html) {
        html.0.push_str(&self.0);
    }
}

macro_rules! text {
    ($($kind:ty),*) => {$(
        impl Part for $kind {
            fn put(self, html: &mut Html) {
                html.escape(&self);
            }
        }
    )*};
}

text!(String, &String, Cow<'_, str>);

impl<P: Part> Part for Option<P> {
    fn put(self, html: &mut Html) {
        self.into_iter().for_each(|part| part.put(html));
    }
}

impl<P: Part> Part for Vec<P> {
    fn put(self, html: &mut Html) {
        self.into_iter().for_each(|part| part.put(html));
    }
}

impl<P: Part, const N: usize> Part for [P; N] {
    fn put(self, html: &mut Html) {
        self.into_iter().for_each(|part| part.put(html));
    }
}

macro_rules! tuple {
    ($($name:ident),*) => {
        impl<$($name: Part),*> Part for ($($name,)*) {
            fn put(self, html: &mut Html) {
                #[allow(non_snake_case, reason = "each part has the name of its type")]
                let ($($name,)*) = self;
                $($name.put(html);)*
            }
        }
    };
}

tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
tuple!(A, B, C, D, E, F);
tuple!(A, B, C, D, E, F, G);
tuple!(A, B, C, D, E, F, G, H);

/// An element with its attributes and content.
#[derive(Debug, Clone)]
pub struct Tag {
    name: &'static str,
    attributes: Html,
    content: Html,
}

/// An empty element.
pub fn tag(name: &'static str) -> Tag {
    Tag { name, attributes: Html::default(), content: Html::default() }
}

impl Tag {
    /// Gives it an attribute.
    pub fn attr(mut self, name: &'static str, value: impl AsRef<str>) -> Tag {
        self.attributes.push((" ", name, Literal("=\""), value.as_ref(), Literal("\"")));
        self
    }

    /// Gives it a class.
    pub fn class(self, class: &str) -> Tag {
        self.attr("class", class)
    }

    /// Adds content.
    pub fn with(mut self, part: impl Part) -> Tag {
        self.content.push(part);
        self
    }
}

impl Part for Tag {
    fn put(self, html: &mut Html) {
        html.push((Literal("<"), self.name, self.attributes, Literal(">")));
        html.push((self.content, Literal("</"), self.name, Literal(">")));
    }
}

/// A paragraph.
pub fn p(part: impl Part) -> Tag {
    tag("p").with(part)
}

/// A paragraph in small letters, for supporting text.
pub fn note(part: impl Part) -> Tag {
    p(part).class("note")
}

/// A short remark next to something larger.
pub fn small(part: impl Part) -> Tag {
    tag("small").with(part)
}

/// A list of items; `None` if empty.
pub fn list<P: Part>(items: Vec<P>) -> Option<Tag> {
    (!items.is_empty())
        .then(|| tag("ul").with(items.into_iter().map(|item| tag("li").with(item)).collect::<Vec<_>>()))
}

pub(crate) fn heading(text: &str) -> Tag {
    tag("h3").with(text)
}

/// A list under a heading, or nothing if it is empty.
pub(crate) fn titled<P: Part>(title: &str, items: Vec<P>) -> Option<(Tag, Tag)> {
    list(items).map(|items| (heading(title), items))
}

/// Content that is folded below a line until it is opened.
pub fn folded(summary: impl Part, content: impl Part) -> Tag {
    tag("details").with((tag("summary").with(summary), content))
}

/// Code that can be copied, and scrolled with the keyboard if it is wide.
pub fn code(text: impl Part) -> Tag {
    tag("div").class("code").with(tag("pre").attr("tabindex", "0").with(text))
}

/// The head of a table column.
pub fn column(title: impl Part) -> Tag {
    tag("th").attr("scope", "col").with(title)
}

/// A table row: its head, and its cells.
pub fn row(head: impl Part, cells: impl Part) -> Tag {
    tag("tr").with((tag("th").attr("scope", "row").with(head), cells))
}

/// A table cell with a number.
pub fn number(part: impl Part) -> Tag {
    tag("td").class("n").with(part)
}

/// A table with these column heads.
pub fn table(heads: Vec<Tag>, rows: impl Part) -> Tag {
    tag("table").with((tag("thead").with(tag("tr").with(heads)), tag("tbody").with(rows)))
}

/// Content that may be wider than a narrow screen.
pub fn scroll(part: impl Part) -> Tag {
    tag("div").class("scroll").with(part)
}

/// A table of two columns: names and values.
pub fn pairs<N: Part, V: Part>(rows: impl IntoIterator<Item = (N, V)>) -> Tag {
    let rows: Vec<Tag> = rows.into_iter().map(|(name, value)| row(name, tag("td").with(value))).collect();
    tag("table").class("pairs").with(tag("tbody").with(rows))
}

/// Escapes text for the fragment of an address.
pub fn escape_fragment(text: &str) -> String {
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

/// Puts HTML into the places `{{name}}` of a template, or nothing. Inserted text can't cause further insertions.
pub fn fill(template: &'static str, places: &[(&str, Html)]) -> Html {
    let length = places.iter().map(|(_, html)| html.0.len()).sum::<usize>();
    let mut out = Html(String::with_capacity(template.len() + length));
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.0.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            rest = after;
            break;
        };
        out.push(places.iter().find(|(place, _)| *place == name).map(|(_, html)| html));
        rest = after;
    }
    out.0.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_could_be_markup_is_left() {
        let evil = "<script>alert('1')</script>&\"\u{1b}[0m";
        let safe = "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;\u{fffd}[0m";
        assert_eq!(Html::new(evil).as_str(), safe);
        let html = Html::new(tag("a").attr("href", evil).with((evil.to_owned(), Cow::Borrowed(evil))));
        assert_eq!(html.as_str(), format!("<a href=\"{safe}\">{safe}{safe}</a>"));
        assert_eq!(html.text(), [evil, evil].map(|text| text.replace('\u{1b}', "\u{fffd}")).concat());
        assert_eq!(escape_fragment("a b&c=<é>"), "a%20b%26c%3D%3C%C3%A9%3E");
    }

    #[test]
    fn html_is_escaped_once() {
        let inner = Html::new(("a & b", BREAK, small("c")));
        assert_eq!(inner.as_str(), "a &amp; b<br><small>c</small>");
        assert_eq!(Html::new(p(&inner)).as_str(), format!("<p>{}</p>", inner.as_str()));
        assert_eq!(Html::join(["<", ">"], BREAK).as_str(), "&lt;<br>&gt;");
    }

    #[test]
    fn a_list_of_nothing_is_nothing() {
        assert!(Html::new(list(Vec::<&str>::new())).is_empty());
        assert_eq!(Html::new(list(vec!["a", "b"])).as_str(), "<ul><li>a</li><li>b</li></ul>");
    }

    #[test]
    fn what_is_filled_in_is_not_filled_again() {
        let places = [("a", Html::new("{{b}}")), ("b", Html::new("2"))];
        assert_eq!(fill("<{{a}}|{{b}}|{{c}}>", &places).as_str(), "<{{b}}|2|>");
    }
}
