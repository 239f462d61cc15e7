//! File systems by cluster size, as heat maps.

use crate::data::clusters::{Clusters, Map, Spot, clusters, heading};
use crate::data::merge::Merged;
use crate::markup::{BREAK, Html, Literal, Tag, column, folded, list, note, row, scroll, small, table, tag};
use storebench_core::units::three_digits;

/// Shades between the best and what takes four times as much.
const SHADES: f64 = 6.0;

/// A section of its own; nothing where no store ran on several file systems. Of several stores the first is open.
pub fn html(merged: &Merged<'_>) -> Html {
    let all = clusters(merged);
    if all.is_empty() {
        return Html::default();
    }
    let heading = tag("h2").with("File systems and cluster sizes");
    let legend = note(
        "Mean latency by file system and size of its clusters in bytes, and what files take on disk beyond their lengths. Below each \
         figure: how many times the least of its map it is. Green is near the least; the stronger the orange, the more. Bold is the best, or too close to call with it.",
    );
    let several = all.len() > 1;
    let parts = all.iter().enumerate().map(|(place, one)| match place {
        0 => Html::of((tag("h3").with(&one.title), of(one))),
        _ => Html::of(folded(&one.title, of(one))),
    });
    let parts: Vec<Html> = parts.collect();
    let more = several.then(|| note("The other stores fold out."));
    Html::of(
        tag("section").attr("id", "clusters").attr("tabindex", "-1").with((heading, legend, more, parts)),
    )
}

/// The entry in the page's list of sections, where there is such a section.
pub fn link(merged: &Merged<'_>) -> Html {
    let there = !clusters(merged).is_empty();
    Html::of(there.then_some(Literal("<li><a href=\"#go=clusters\">File systems</a></li>")))
}

fn of(one: &Clusters) -> Html {
    let maps: Vec<Tag> = one.maps.iter().map(|map| heat(one, map)).collect();
    let left_out = (!one.left_out.is_empty()).then(|| {
        let reasons: Vec<&String> = one.left_out.iter().collect();
        (note("Left out:"), list(reasons))
    });
    let mut html = Html::of(tag("div").class("heats").with(maps));
    if let Some((title, reasons)) = left_out {
        html.push((title, reasons));
    }
    html
}

fn heat(one: &Clusters, map: &Map) -> Tag {
    let heads = std::iter::once(column("clusters")).chain(one.columns.iter().map(|c| column(heading(*c))));
    let rows = one.rows.iter().zip(&map.spots).map(|(name, spots)| {
        let cells: Vec<Tag> = spots.iter().map(|spot| cell(map, *spot)).collect();
        row(name, cells)
    });
    let over = (map.combinations > 1).then(|| format!(", mean over {} combinations", map.combinations));
    let caption = tag("figcaption").with((&map.name, over));
    let rows: Vec<Tag> = rows.collect();
    tag("figure").with((caption, scroll(table(heads.collect(), rows).class("heat"))))
}

fn cell(map: &Map, spot: Option<Spot>) -> Tag {
    match spot {
        None => tag("td"),
        Some(Spot::Missing(why)) => tag("td").class("none").with(small(why.name())),
        Some(Spot::Found(found)) => {
            let shade = (found.times.max(1.0).ln() / 4f64.ln() * SHADES).round().min(SHADES);
            let figure = tag(if found.wins { "b" } else { "span" }).with(map.unit.show(found.mean));
            let times = small(("×", three_digits(found.times)));
            tag("td").class(&format!("h{shade}")).with((figure, BREAK, times))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::samples::{Sample, blocks};

    #[test]
    fn the_best_is_light_and_bold_and_what_is_slow_dark() {
        let at = |place: &str, ns: f64| Sample::new("sqlite").place(place).ns(ns);
        let block = || vec![at("ext4:1024", 1e4), at("ext4:4096", 2e4), at("ntfs:4096", 1e6)];
        let runs = [blocks("box", &[block(), block(), block()])];
        let merged = Merged::new(&runs, &[]);
        let page = html(&merged).into_string();
        assert!(page.contains("<td class=\"h0\"><b>10.0 µs</b><br><small>×1.00</small></td>"), "{page}");
        assert!(
            page.contains("<td class=\"h3\"><span>20.0 µs</span>") && page.contains("<td class=\"h6\">"),
            "{page}"
        );
        assert!(page.contains("<td></td>") && link(&merged).as_str().contains("#go=clusters"), "{page}");
        let none = [blocks("box", &[vec![Sample::new("sqlite")]])];
        let merged = Merged::new(&none, &[]);
        assert!(html(&merged).is_empty() && link(&merged).is_empty());
    }
}
