//! Round by round: speed and the length of the files after each of several runs on one database.

use serde::Serialize;

use super::cells::Row;
use super::numbers::Figures;
use crate::data::merge::Merged;
use crate::data::rounds::{Figure, most, values};
use crate::markup::{Html, Literal};

/// The figures of all cells, round by round; empty where no trial has several.
#[derive(Debug, Serialize)]
pub struct Rounds {
    /// Operations per second.
    speed: Vec<Figures>,
    /// The length of the files, in bytes.
    files: Vec<Figures>,
}

impl Rounds {
    /// Takes them from all trials.
    pub fn new(rows: &[Row<'_>]) -> Rounds {
        let rounds = most(rows.iter().flat_map(|row| &row.entries));
        let rounds = if rounds > 1 { rounds } else { 0 };
        let of = |figure| (0..rounds).map(|round| figures(rows, figure, round)).collect();
        Rounds { speed: of(Figure::Speed), files: of(Figure::Files) }
    }
}

fn figures(rows: &[Row<'_>], figure: Figure, round: usize) -> Figures {
    let mut figures = Figures::default();
    rows.iter().for_each(|row| figures.push(&values(&row.entries, figure, round), row.succeeded()));
    figures
}

/// Whether a section has anything to show.
fn is_there(merged: &Merged<'_>) -> bool {
    most(merged.groups.iter().flat_map(|group| &group.trials)) > 1
}

/// Room for the charts; nothing where no trial has several rounds.
pub fn html(merged: &Merged<'_>) -> Html {
    const SECTION: &str = "<section id=\"rounds\" tabindex=\"-1\"><h2>Round by round</h2><p class=\"where\"></p><p class=\"note\">\
                           The same work again and again on one database. The other figures of operations are of all rounds \
                           together.</p><div class=\"content multiples\"></div></section>";
    Html::of(is_there(merged).then_some(Literal(SECTION)))
}

/// The entry in the page's list of sections, where there is such a section.
pub fn link(merged: &Merged<'_>) -> Html {
    Html::of(is_there(merged).then_some(Literal("<li><a href=\"#go=rounds\">Rounds</a></li>")))
}
