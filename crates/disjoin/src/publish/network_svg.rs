//! Pictures of networks: which column tells of which, and the table of one of them.
//!
//! Nodes stand in layers, parents above children; an arrow is the wider, the more it tells. Colours follow the reader's choice
//! of light or dark. The same bytes for the same network, and nothing is referred to.

use std::fmt::Write;

use super::plot::{escaped, shortened, text_width};
use crate::reconstruct::network::{Cpt, Network};

const HEAD: f64 = 56.0;
const LAYER: f64 = 96.0;
const NODE: f64 = 34.0;
const GAP: f64 = 28.0;
const MARGIN: f64 = 24.0;
const WIDEST: f64 = 7.0;

/// What is drawn in light, and in dark if the reader prefers that.
const STYLE: &str = "<style>svg{color:#222;background:#fff}.b{fill:#fff}.n{fill:#eaf3fa;stroke:#0072b2}.e{stroke:#d55e00}\
.h{fill:#d55e00}.c{fill:#0072b2}@media(prefers-color-scheme:dark){svg{color:#eee;background:#16191d}.b{fill:#16191d}\
.n{fill:#173247;stroke:#56b4e9}.e{stroke:#e69f00}.h{fill:#e69f00}.c{fill:#56b4e9}}</style>";

/// A network as SVG: a name for each node, and a strength for each arrow of [`Network::edges`], in bits.
pub fn network(title: &str, names: &[String], network: &Network, strengths: &[f64]) -> String {
    let layers = layers(network);
    let name = |node: usize| shortened(names.get(node).map_or("?", String::as_str), 24);
    let width_of = |node: usize| text_width(&name(node)).max(20.0) + 24.0;
    let row_width = |row: &Vec<usize>| row.iter().map(|&node| width_of(node) + GAP).sum::<f64>() - GAP;
    let width = (layers.iter().map(row_width).fold(360.0, f64::max) + 2.0 * MARGIN).max(text_width(title) * 1.4);
    let height = HEAD + LAYER * layers.len() as f64 + MARGIN;
    let mut places = vec![(0.0, 0.0); network.n_nodes()];
    for (depth, row) in layers.iter().enumerate() {
        // A layer of one would hide arrows that pass it: every other layer is moved a little.
        let shift = if depth % 2 == 1 { 18.0 } else { -18.0 };
        let free = (width - row_width(row)) / 2.0;
        let mut x = free + f64::clamp(shift, MARGIN - free.max(MARGIN), free.max(MARGIN) - MARGIN);
        for &node in row {
            places[node] = (x + width_of(node) / 2.0, HEAD + LAYER * depth as f64 + NODE / 2.0 + 8.0);
            x += width_of(node) + GAP;
        }
    }
    let mut svg = open(title, width, height);
    let most = strengths.iter().copied().filter(|bits| bits.is_finite()).fold(0.0, f64::max);
    for (at, (parent, child)) in network.edges().into_iter().enumerate() {
        let bits = strengths.get(at).copied().filter(|bits| bits.is_finite()).unwrap_or(0.0).max(0.0);
        let thick = if most > 0.0 { 1.2 + (WIDEST - 1.2) * bits / most } else { 1.2 };
        let told = format!("{} to {}: {bits:.3} bits", name(parent), name(child));
        arrow(&mut svg, places[parent], places[child], thick, &told);
    }
    for (node, &(x, y)) in places.iter().enumerate() {
        let (wide, text) = (width_of(node), escaped(&name(node)));
        let full = escaped(names.get(node).map_or("?", String::as_str));
        // Writing to a string does not fail.
        let _ = write!(
            svg,
            r#"<g><title>{full}</title><rect class="n" x="{:.1}" y="{:.1}" width="{wide:.1}" height="{NODE}" rx="8" stroke-width="1.5"/><text x="{x:.1}" y="{:.1}" text-anchor="middle" fill="currentColor">{text}</text></g>"#,
            x - wide / 2.0,
            y - NODE / 2.0,
            y + 4.5
        );
    }
    if network.edges().is_empty() {
        note(&mut svg, height - 10.0, "no column tells of another");
    } else {
        note(&mut svg, height - 10.0, &format!("width: bits beyond the other parents; widest {most:.3}"));
    }
    svg + "</svg>\n"
}

/// The most rows and columns of a table that are drawn.
const MOST_ROWS: usize = 40;
const MOST_VALUES: usize = 24;

/// The table of a node as a heat map: a row a configuration of the parents, a column a value; darker is likelier.
///
/// Only configurations that occur are drawn, those with most rows first if there are too many.
pub fn table(
    title: &str,
    table: &Cpt,
    configuration: impl Fn(&[u32]) -> String,
    value: impl Fn(u32) -> String,
) -> String {
    let mut rows: Vec<usize> = (0..table.len()).collect();
    rows.sort_by(|&a, &b| table.support(b).total_cmp(&table.support(a)).then(a.cmp(&b)));
    rows.truncate(MOST_ROWS);
    rows.sort_unstable();
    let values = (table.n_values() as usize).min(MOST_VALUES);
    let label = |at: usize| {
        let text = shortened(&configuration(table.configuration(at)), 44);
        format!("{text} ({})", table.support(at))
    };
    let labels: Vec<String> = rows.iter().map(|&at| label(at)).collect();
    let left = MARGIN + 12.0 + labels.iter().map(|label| text_width(label)).fold(60.0, f64::max);
    let (cell_width, cell_height, heads) = (48.0, 24.0, 84.0);
    let width = (left + cell_width * values as f64 + MARGIN + 40.0).max(text_width(title) * 1.4 + 40.0);
    let height = HEAD + heads + cell_height * rows.len() as f64 + 40.0;
    let mut svg = open(title, width, height);
    for at in 0..values {
        let (x, y) = (left + cell_width * (at as f64 + 0.5), HEAD + heads - 8.0);
        let text = escaped(&shortened(&value(at as u32), 14));
        let _ =
            write!(svg, r#"<text transform="translate({x:.1} {y:.1}) rotate(-45)" fill="currentColor">{text}</text>"#);
    }
    for (line, (&at, label)) in rows.iter().zip(&labels).enumerate() {
        let y = HEAD + heads + cell_height * line as f64;
        let _ = write!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" text-anchor="end" fill="currentColor">{}</text>"#,
            left - 8.0,
            y + 16.0,
            escaped(label)
        );
        for (column, &share) in table.row(at).iter().take(values).enumerate() {
            let x = left + cell_width * column as f64;
            // Never so dark that the number could not be read on it.
            let _ = write!(
                svg,
                r#"<rect class="c" x="{x:.1}" y="{y:.1}" width="{:.1}" height="{:.1}" fill-opacity="{:.3}"/><text x="{:.1}" y="{:.1}" font-size="11" text-anchor="middle" fill="currentColor">{share:.2}</text>"#,
                cell_width - 2.0,
                cell_height - 2.0,
                0.04 + 0.56 * share.clamp(0.0, 1.0),
                x + cell_width / 2.0 - 1.0,
                y + 15.5
            );
        }
    }
    let hidden = (table.len() - rows.len(), table.n_values() as usize - values);
    let told = match hidden {
        (0, 0) => String::from("in brackets: rows"),
        (rows, values) => format!("in brackets: rows; {rows} configurations and {values} values are not shown"),
    };
    note(&mut svg, height - 12.0, &told);
    svg + "</svg>\n"
}

fn open(title: &str, width: f64, height: f64) -> String {
    let title = escaped(&shortened(title, 100));
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img" font-family="system-ui,Helvetica,Arial,sans-serif" font-size="12" fill="none">{STYLE}<title>{title}</title><rect class="b" width="100%" height="100%"/><text x="{MARGIN}" y="30" font-size="16" font-weight="600" fill="currentColor">{title}</text>"#
    )
}

fn note(svg: &mut String, y: f64, text: &str) {
    let text = escaped(text);
    let _ = write!(svg, r#"<text x="{MARGIN}" y="{y:.1}" font-size="11" fill="currentColor">{text}</text>"#);
}

/// From the lower edge of one node to the upper edge of another.
fn arrow(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), thick: f64, told: &str) {
    let head = 7.0 + thick;
    let (start, end) = (y1 + NODE / 2.0, y2 - NODE / 2.0);
    // What passes a layer goes round by the side.
    let bend = if end - start > LAYER { 60.0 } else { 0.0 };
    let (a, b) = (start + (end - start) * 0.4, end - head - (end - start - head) * 0.4);
    let _ = write!(
        svg,
        r#"<g><title>{}</title><path class="e" d="M{x1:.1} {start:.1}C{:.1} {a:.1} {:.1} {b:.1} {x2:.1} {:.1}" stroke-width="{thick:.2}" stroke-opacity="0.75"/><path class="h" d="M{x2:.1} {end:.1}l{:.1} {:.1}h{:.1}z"/></g>"#,
        escaped(told),
        x1 + bend,
        x2 + bend,
        end - head + 1.0,
        -head / 2.0,
        -head,
        head
    );
}

/// Nodes by the longest way to them; in a layer they stand by the mean place of their parents.
fn layers(network: &Network) -> Vec<Vec<usize>> {
    let mut depth = vec![0; network.n_nodes()];
    for node in network.order() {
        depth[node] = network.parents(node).iter().map(|&parent| depth[parent] + 1).max().unwrap_or(0);
    }
    let n_layers = depth.iter().max().map_or(0, |&deepest| deepest + 1);
    let mut place = vec![0.0; network.n_nodes()];
    let mut layers = Vec::new();
    for layer in 0..n_layers {
        let mut row: Vec<usize> = (0..depth.len()).filter(|&node| depth[node] == layer).collect();
        let wish = |node: usize| {
            let parents = network.parents(node);
            parents.iter().map(|&parent| place[parent]).sum::<f64>() / parents.len().max(1) as f64
        };
        row.sort_by(|&a, &b| wish(a).total_cmp(&wish(b)).then(a.cmp(&b)));
        let n = row.len() as f64;
        row.iter().enumerate().for_each(|(at, &node)| place[node] = (at as f64 + 0.5) / n);
        layers.push(row);
    }
    layers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if tags or coordinates are broken.
    #[track_caller]
    fn check(svg: &str) {
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let mut open = Vec::new();
        for tag in svg.split('<').skip(1).map(|piece| piece.split('>').next().unwrap()) {
            match tag.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop(), Some(name), "{svg}"),
                None if tag.ends_with('/') => {}
                None => open.push(tag.split(' ').next().unwrap()),
            }
        }
        assert!(open.is_empty());
    }

    #[test]
    fn a_network_is_drawn_with_all_its_names() {
        let names = ["age", "a<b & \"c\"", "zipcode", "government", "marital"].map(String::from);
        let graph = Network::new(vec![vec![], vec![0], vec![0, 1], vec![0, 1, 2, 4], vec![]]).unwrap();
        let strengths = [0.1, f64::NAN, 0.9, 0.3, 0.2, 0.4, f64::INFINITY];
        let svg = network("who < whom", &names, &graph, &strengths);
        check(&svg);
        assert!(names.iter().all(|name| svg.contains(&format!(">{}</text>", escaped(name)))));
        assert_eq!(svg.matches("class=\"e\"").count(), 7);
        assert_eq!(svg, network("who < whom", &names, &graph, &strengths));
        assert_eq!(layers(&graph), [vec![0, 4], vec![1], vec![2], vec![3]]);
        for n in [0, 1, 3] {
            check(&network("none", &names, &Network::empty(n), &[]));
        }
    }

    #[test]
    fn a_table_is_drawn_with_its_numbers() {
        let cpt = Cpt::known(&[0], &[2], &[vec![0.25, 0.75], vec![1.0, 0.0]]).unwrap();
        let svg = table("t", &cpt, |codes| format!("x<{}>", codes[0]), |value| format!("&{value}"));
        check(&svg);
        assert!(["0.25", "0.75", "1.00", "x&lt;1&gt; (1)", "&amp;0"].iter().all(|text| svg.contains(text)));
        let many = Cpt::known(&[0], &[60], &vec![vec![1.0 / 30.0; 30]; 60]).unwrap();
        let svg = table("t", &many, |codes| codes[0].to_string(), |value| value.to_string());
        check(&svg);
        assert!(svg.contains("20 configurations and 6 values are not shown"));
    }
}
