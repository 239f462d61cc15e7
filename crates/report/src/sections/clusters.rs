//! File systems by cluster size: a map of figures for each store.

use storebench_figures::column::Unit;
use storebench_figures::data::clusters::{Clusters, FigureMap, MapSpot, clusters, name_cluster};
use storebench_figures::data::merge::Merged;

use crate::section::{Block, Cell, Column, ColumnRole, FoldState, Section, Shape, Table, Tone, Visibility};

pub const SECTION: Section = Section {
    name: "clusters",
    title: "File systems by cluster size in bytes: mean latency, space beyond lengths",
    link: "File systems",
    shapes: &[&CLUSTERS],
    blocks,
    ..Section::ABOVE
};

const CLUSTERS: Shape = Shape {
    name: "clusters",
    columns: &[
        Column::text("hardware"),
        Column::text("title"),
        Column::text("store"),
        Column::text("figure").role(ColumnRole::Group, ""),
        Column::integer("combinations"),
        Column::text("place").role(ColumnRole::Line, ""),
        // Empty without a choice of size.
        Column { unit: Unit::Bytes, ..Column::integer("cluster") }.role(ColumnRole::Across, ""),
        Column::real("latency_mean", Unit::Nanoseconds).role(ColumnRole::Spread, ""),
        Column::real("beyond_lengths", Unit::Bytes).role(ColumnRole::Spread, ""),
        Column::real("times_least", Unit::Count),
        Column::integer("best"),
        Column::text("why").role(ColumnRole::Spread, ""),
    ],
};

fn blocks(merged: &Merged<'_>) -> Vec<Block> {
    let groups = clusters(merged);
    if groups.is_empty() {
        return Vec::new();
    }
    let fold = |(number, clusters): (usize, &Clusters)| {
        let reasons = clusters.left_out.iter().map(|reason| Block::Note(format!("Left out: {reason}")));
        let contents = [Block::Table(table(clusters))].into_iter().chain(reasons).collect();
        Block::fold(clusters.title(), FoldState::Part(number), contents)
    };
    let parts = groups.iter().enumerate().map(fold);
    parts.chain([Block::Note(legend(&groups))]).collect()
}

fn legend(groups: &[Clusters]) -> String {
    let combinations = groups.iter().flat_map(|clusters| &clusters.maps).map(|map| map.combinations).max();
    let several = match combinations {
        Some(several) if several > 1 => {
            ", in half of the combinations or more. Figures are means over the combinations that all places have"
        }
        _ => "",
    };
    format!(
        "Marked (*, or bold) is the best of its map, or too close to call with it{several}. Green is near the least of its map; the stronger the other \
         colours, the more times that it is."
    )
}

fn table(clusters: &Clusters) -> Table {
    let mut table =
        Table::new(&CLUSTERS).with_columns(clusters.columns.iter().map(|size| name_cluster(*size)).collect());
    for map in &clusters.maps {
        for (place, spots) in clusters.rows.iter().zip(&map.spots) {
            for (cluster, spot) in clusters.columns.iter().zip(spots) {
                let visibility = if spot.is_some() { Visibility::Always } else { Visibility::ByPeople };
                table.push(visibility, row(clusters, map, (place, *cluster), *spot));
            }
        }
    }
    table
}

fn row(
    clusters: &Clusters,
    map: &FigureMap,
    (place, cluster): (&str, u32),
    spot: Option<MapSpot>,
) -> Vec<(&'static str, Cell)> {
    let size = if cluster == 0 { Cell::none() } else { Cell::from_count(cluster as usize) };
    let mut cells = vec![
        ("hardware", Cell::text(&clusters.hardware)),
        ("title", Cell::text(&clusters.at)),
        ("store", Cell::text(&clusters.store)),
        ("figure", Cell::text(&map.name)),
        ("combinations", Cell::from_count(map.combinations)),
        ("place", Cell::text(place)),
        ("cluster", size.with_text(name_cluster(cluster))),
    ];
    match spot {
        None => cells.push(("why", Cell::none().with_text(""))),
        Some(MapSpot::Missing(why)) => cells.push(("why", Cell::text(why.name()).tone(Tone::Dim))),
        Some(MapSpot::Found(found)) => {
            let name = if map.unit == Unit::Bytes { "beyond_lengths" } else { "latency_mean" };
            let figure = Cell::real(found.mean).best(found.wins).tone(Tone::Heat(found.times));
            let others = [("times_least", Cell::real(found.times)), ("best", Cell::boolean(found.wins))];
            cells.extend([(name, figure)].into_iter().chain(others));
        }
    }
    cells
}
