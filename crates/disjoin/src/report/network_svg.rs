//! Pictures of networks: which column tells of which, and the table of one of them.
//!
//! Nodes stand in layers, parents above children; an arrow is the wider, the more it tells, and passes layers between their
//! nodes (Sugiyama, Tagawa, Toda 1981). Colours follow the reader's choice of light or dark. The same bytes for the same network,
//! and nothing is referred to.

use std::fmt::Write;

use super::html::escaped;
use super::plot::{shortened, text_width};
use crate::knowledge::network::{Cpt, Network};

const HEAD: f64 = 56.0;
const LAYER: f64 = 96.0;
const NODE: f64 = 34.0;
const GAP: f64 = 28.0;
const MARGIN: f64 = 24.0;
const WIDEST: f64 = 7.0;

/// What is drawn in light, and in dark if the reader prefers that. Nothing else on a page is meant by it.
const STYLE: &str = "<style>.net{color:#222;background:#fff}.net .b{fill:#fff}.net .n{fill:#eaf3fa;stroke:#0072b2}\
.net .e{stroke:#d55e00}.net .h{fill:#d55e00}.net .c{fill:#0072b2}@media(prefers-color-scheme:dark){.net{color:#eee;\
background:#16191d}.net .b{fill:#16191d}.net .n{fill:#173247;stroke:#56b4e9}.net .e{stroke:#e69f00}.net .h{fill:#e69f00}\
.net .c{fill:#56b4e9}}</style>";

/// A network as SVG: a name for each node, and a strength for each arrow of [`Network::edges`], in bits.
pub fn network(title: &str, names: &[String], network: &Network, strengths: &[f64]) -> String {
    let name = |node: usize| shortened(names.get(node).map_or("?", String::as_str), 24);
    let width_of = |node: usize| text_width(&name(node)).max(20.0) + 24.0;
    let widths: Vec<f64> = (0..network.n_nodes()).map(width_of).collect();
    let drawing = Drawing::new(network, &widths);
    let width = (drawing.width + 2.0 * MARGIN).max(360.0).max(text_width(title) * 1.4);
    let height = HEAD + LAYER * drawing.layers.len() as f64 + MARGIN;
    let left = (width - drawing.width) / 2.0;
    let place = |item: usize| (left + drawing.x[item], middle_of(drawing.layer_of[item]));
    let mut svg = open(title, width, height);
    let most = strengths.iter().copied().filter(|bits| bits.is_finite()).fold(0.0, f64::max);
    for (at, (parent, child)) in network.edges().into_iter().enumerate() {
        let bits = strengths.get(at).copied().filter(|bits| bits.is_finite()).unwrap_or(0.0).max(0.0);
        let thick = if most > 0.0 { 1.2 + (WIDEST - 1.2) * bits / most } else { 1.2 };
        let told = format!("{} to {}: {bits:.3} bits", name(parent), name(child));
        let ends = (left + drawing.ports[at].0, left + drawing.ports[at].1);
        let passed: Vec<(f64, f64)> = drawing.passed[at].iter().map(|&item| place(item)).collect();
        arrow(&mut svg, (ends.0, place(parent).1), &passed, (ends.1, place(child).1), thick, &told);
    }
    for (node, &wide) in widths.iter().enumerate() {
        let ((x, y), text) = (place(node), escaped(&name(node)));
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
        note(&mut svg, height - 10.0, "no column depends on another");
    } else {
        note(&mut svg, height - 10.0, &format!("width: bits given the other parents; widest {most:.3}"));
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
        r#"<svg class="net" xmlns="http://www.w3.org/2000/svg" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}" role="img" font-family="system-ui,Helvetica,Arial,sans-serif" font-size="12" fill="none">{STYLE}<title>{title}</title><rect class="b" width="100%" height="100%"/><text x="{MARGIN}" y="30" font-size="16" font-weight="600" fill="currentColor">{title}</text>"#
    )
}

fn note(svg: &mut String, y: f64, text: &str) {
    let text = escaped(text);
    let _ = write!(svg, r#"<text x="{MARGIN}" y="{y:.1}" font-size="11" fill="currentColor">{text}</text>"#);
}

/// The height at which the nodes of a layer have their middle.
fn middle_of(layer: usize) -> f64 {
    HEAD + LAYER * layer as f64 + NODE / 2.0 + 8.0
}

/// From the lower edge of one node to the upper edge of another. Straight down where nodes stand, curved in between only: a
/// curve stays between the heights at which it begins and ends, and so touches no node.
fn arrow(svg: &mut String, (x1, y1): (f64, f64), passed: &[(f64, f64)], (x2, y2): (f64, f64), thick: f64, told: &str) {
    let head = 7.0 + thick;
    let end = y2 - NODE / 2.0;
    let _ = write!(svg, r#"<g><title>{}</title><path class="e" d="M{x1:.1} {:.1}"#, escaped(told), y1 + NODE / 2.0);
    let (mut from, mut at) = (x1, y1 + NODE / 2.0);
    let stops = passed.iter().map(|&(x, y)| (x, y - NODE / 2.0, y + NODE / 2.0)).chain([(x2, end - head + 1.0, end)]);
    for (place, (x, top, bottom)) in stops.enumerate() {
        let middle = (at + top) / 2.0;
        let _ = write!(svg, "C{from:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {top:.1}");
        if place < passed.len() {
            let _ = write!(svg, "V{bottom:.1}");
        }
        (from, at) = (x, bottom);
    }
    let _ = write!(
        svg,
        r#"" stroke-width="{thick:.2}" stroke-opacity="0.75"/><path class="h" d="M{x2:.1} {end:.1}l{:.1} {:.1}h{:.1}z"/></g>"#,
        -head / 2.0,
        -head,
        head
    );
}

/// So wide is the lane of an arrow that passes a layer: the widest arrow, and some air.
const LANE: f64 = WIDEST + 7.0;

/// Rounds in which layers are put in order, and in which they are moved.
const ROUNDS: usize = 12;

/// Where everything stands. Items are the nodes, and after them a point for each layer that an arrow passes.
struct Drawing {
    /// Items of each layer, from left to right.
    layers: Vec<Vec<usize>>,
    layer_of: Vec<usize>,
    /// The middle of each item, from the left edge of all.
    x: Vec<f64>,
    width: f64,
    /// For each arrow the points by which it passes layers.
    passed: Vec<Vec<usize>>,
    /// For each arrow where it leaves the one node and comes to the other.
    ports: Vec<(f64, f64)>,
}

impl Drawing {
    fn new(network: &Network, widths: &[f64]) -> Self {
        let mut layer_of = depths(network);
        let edges = network.edges();
        let (mut above, mut below) = (vec![Vec::new(); widths.len()], vec![Vec::new(); widths.len()]);
        let mut passed = Vec::new();
        for &(parent, child) in &edges {
            let mut points = Vec::new();
            let mut last = parent;
            for layer in layer_of[parent] + 1..layer_of[child] {
                let point = layer_of.len();
                layer_of.push(layer);
                above.push(vec![last]);
                below.push(Vec::new());
                below[last].push(point);
                points.push(point);
                last = point;
            }
            below[last].push(child);
            above[child].push(last);
            passed.push(points);
        }
        let n_layers = layer_of.iter().max().map_or(0, |&deepest| deepest + 1);
        let mut layers = vec![Vec::new(); n_layers];
        layer_of.iter().enumerate().for_each(|(item, &layer)| layers[layer].push(item));
        put_in_order(&mut layers, &above, &below);
        let wide = |item: usize| widths.get(item).copied().unwrap_or(LANE);
        let mut x = vec![0.0; layer_of.len()];
        for round in 0..ROUNDS {
            let beside = if round % 2 == 0 { [&above, &below] } else { [&below, &above] };
            let mut order: Vec<usize> = (0..n_layers).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for layer in order {
                // After the first rounds both sides count: what is drawn last may not pull all of it aside.
                let sides = if round < 2 { &beside[..1] } else { &beside[..] };
                let wish = |item: usize| {
                    let others = || sides.iter().flat_map(|side| &side[item]);
                    let n = others().count();
                    if n == 0 { x[item] } else { others().map(|&other| x[other]).sum::<f64>() / n as f64 }
                };
                let wishes: Vec<f64> = layers[layer].iter().map(|&item| wish(item)).collect();
                let sizes: Vec<f64> = layers[layer].iter().map(|&item| wide(item)).collect();
                let found = apart(&wishes, &sizes);
                layers[layer].iter().zip(found).for_each(|(&item, found)| x[item] = found);
            }
        }
        let edge = |sign: f64| {
            let ends = x.iter().enumerate().map(|(item, x)| x + sign * wide(item) / 2.0);
            if sign < 0.0 { ends.fold(f64::INFINITY, f64::min) } else { ends.fold(f64::NEG_INFINITY, f64::max) }
        };
        let (least, most) = if x.is_empty() { (0.0, 0.0) } else { (edge(-1.0), edge(1.0)) };
        x.iter_mut().for_each(|x| *x -= least);
        let ports = ports(&edges, &passed, &x, widths);
        Drawing { layers, layer_of, x, width: most - least, passed, ports }
    }
}

/// Each node's layer: the longest way to it.
fn depths(network: &Network) -> Vec<usize> {
    let mut depth = vec![0; network.n_nodes()];
    for node in network.order() {
        depth[node] = network.parents(node).iter().map(|&parent| depth[parent] + 1).max().unwrap_or(0);
    }
    depth
}

/// Puts items by the mean place of those that they are joined to, from above and from below in turn: the order in which the
/// fewest arrows cross each other is kept.
fn put_in_order(layers: &mut Vec<Vec<usize>>, above: &[Vec<usize>], below: &[Vec<usize>]) {
    let mut place = vec![0.0; above.len()];
    let number = |row: &[usize], place: &mut [f64]| {
        row.iter().enumerate().for_each(|(at, &item)| place[item] = (at as f64 + 0.5) / row.len() as f64);
    };
    layers.iter().for_each(|row| number(row, &mut place));
    let mut best = (usize::MAX, layers.clone());
    for round in 0..ROUNDS {
        let mut order: Vec<usize> = (0..layers.len()).collect();
        let beside = if round % 2 == 0 { above } else { below };
        if round % 2 == 1 {
            order.reverse();
        }
        for layer in order {
            let wish = |item: usize| match beside[item].len() {
                0 => place[item],
                n => beside[item].iter().map(|&other| place[other]).sum::<f64>() / n as f64,
            };
            layers[layer].sort_by(|&a, &b| wish(a).total_cmp(&wish(b)).then(a.cmp(&b)));
            number(&layers[layer], &mut place);
        }
        let crossings = crossings(layers, below, &place);
        if crossings < best.0 {
            best = (crossings, layers.clone());
        }
    }
    *layers = best.1;
}

/// How many pairs of arrows cross between two layers.
fn crossings(layers: &[Vec<usize>], below: &[Vec<usize>], place: &[f64]) -> usize {
    let between = |row: &Vec<usize>| {
        let lines: Vec<(f64, f64)> =
            row.iter().flat_map(|&item| below[item].iter().map(move |&to| (place[item], place[to]))).collect();
        let cross = |at: usize| lines[..at].iter().filter(|line| line.0 < lines[at].0 && line.1 > lines[at].1).count();
        (0..lines.len()).map(cross).sum::<usize>()
    };
    layers.iter().map(between).sum()
}

/// Places as near to those wished for as can be, in this order and without touching each other: least squares.
fn apart(wishes: &[f64], sizes: &[f64]) -> Vec<f64> {
    // Less what must be between it and the first, places only have to ascend: neighbours that would not are put together.
    let mut offsets = vec![0.0];
    for pair in sizes.windows(2) {
        offsets.push(offsets[offsets.len() - 1] + (pair[0] + pair[1]) / 2.0 + GAP);
    }
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for (wish, offset) in wishes.iter().zip(&offsets) {
        let mut block = (wish - offset, 1);
        while let Some(&(before, n)) = blocks.last().filter(|before| before.0 > block.0) {
            let all = n + block.1;
            block = ((before * n as f64 + block.0 * block.1 as f64) / all as f64, all);
            blocks.pop();
        }
        blocks.push(block);
    }
    let found = blocks.iter().flat_map(|&(place, n)| std::iter::repeat_n(place, n));
    found.zip(&offsets).map(|(place, offset)| place + offset).collect()
}

/// Arrows of a node leave it and come to it side by side, in the order in which they go on.
fn ports(edges: &[(usize, usize)], passed: &[Vec<usize>], x: &[f64], widths: &[f64]) -> Vec<(f64, f64)> {
    let mut ports = vec![(0.0, 0.0); edges.len()];
    for (node, wide) in widths.iter().enumerate() {
        for is_out in [true, false] {
            let end = |edge: usize| if is_out { edges[edge].0 } else { edges[edge].1 };
            let next = |edge: usize| match is_out {
                true => passed[edge].first().copied().unwrap_or(edges[edge].1),
                false => passed[edge].last().copied().unwrap_or(edges[edge].0),
            };
            let mut here: Vec<usize> = (0..edges.len()).filter(|&edge| end(edge) == node).collect();
            here.sort_by(|&a, &b| x[next(a)].total_cmp(&x[next(b)]).then(a.cmp(&b)));
            let step = ((wide - 24.0) / here.len().max(1) as f64).min(18.0);
            for (at, &edge) in here.iter().enumerate() {
                let port = x[node] + step * (at as f64 - (here.len() as f64 - 1.0) / 2.0);
                if is_out { ports[edge].0 = port } else { ports[edge].1 = port }
            }
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::super::plot::tests::check;
    use super::*;

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
        assert_eq!(depths(&graph), [0, 1, 2, 3, 0]);
        for n in [0, 1, 3] {
            check(&network("none", &names, &Network::empty(n), &[]));
        }
    }

    /// Numbers of an attribute or of a path, letters left out.
    fn numbers(text: &str) -> Vec<f64> {
        let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
        text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).map(|word| word.parse().unwrap()).collect()
    }

    fn attribute(tag: &str, name: &str) -> f64 {
        let rest = tag.split(&format!(" {name}=\"")).nth(1).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    }

    /// Many points on each arrow of a picture, with half its width.
    fn points(svg: &str) -> Vec<(Vec<(f64, f64)>, f64)> {
        let arrow = |piece: &str| {
            let path = piece.split("d=\"M").nth(1).unwrap().split('"').next().unwrap();
            let mut at = (0.0, 0.0);
            let mut found = Vec::new();
            for step in path.replace('C', " C").replace('V', " V").split(" C").flat_map(|part| {
                let mut steps = part.split(" V");
                let curve = steps.next().map(|curve| ('C', curve.to_owned()));
                curve.into_iter().chain(steps.map(|down| ('V', down.to_owned()))).collect::<Vec<_>>()
            }) {
                let to = numbers(&step.1);
                let ends = match (step.0, to.len()) {
                    (_, 2) => [at, at, at, (to[0], to[1])].map(|_| (to[0], to[1])),
                    ('C', 6) => [at, (to[0], to[1]), (to[2], to[3]), (to[4], to[5])],
                    ('V', 1) => [at, at, (at.0, to[0]), (at.0, to[0])],
                    _ => panic!("{path}"),
                };
                for part in 0..=200 {
                    let t = f64::from(part) / 200.0;
                    let weights = [(1.0 - t).powi(3), 3.0 * t * (1.0 - t).powi(2), 3.0 * t * t * (1.0 - t), t.powi(3)];
                    let sum = |of: fn((f64, f64)) -> f64| ends.iter().zip(weights).map(|(&p, w)| of(p) * w).sum();
                    found.push((sum(|p| p.0), sum(|p| p.1)));
                }
                at = ends[3];
            }
            (found, attribute(piece, "stroke-width") / 2.0)
        };
        svg.split("class=\"e\"").skip(1).map(arrow).collect()
    }

    /// Fails if an arrow is seen inside a node, or two nodes share a place, or anything leaves the picture.
    #[track_caller]
    fn check_free(svg: &str) {
        let node = |tag: &str| ["x", "y", "width", "height"].map(|name| attribute(tag, name));
        let nodes: Vec<[f64; 4]> = svg.split("<rect class=\"n\"").skip(1).map(node).collect();
        let (width, height) = (attribute(svg, "width"), attribute(svg, "height"));
        for (at, &[x, y, wide, high]) in nodes.iter().enumerate() {
            assert!(x >= 0.0 && y >= 0.0 && x + wide <= width && y + high <= height);
            let is_apart = |other: &[f64; 4]| {
                x + wide < other[0] || other[0] + other[2] < x || y + high < other[1] || other[1] + other[3] < y
            };
            assert!(nodes[..at].iter().all(is_apart), "{svg}");
        }
        for (path, half) in points(svg) {
            for (x, y) in path {
                // Where it begins, an arrow is on the edge of its node.
                let is_in = |&[left, top, wide, high]: &[f64; 4]| {
                    x > left - half && x < left + wide + half && y > top + 0.2 && y < top + high - 0.2
                };
                assert!(!nodes.iter().any(is_in), "{x} {y}: {svg}");
                assert!(x - half >= 0.0 && x + half <= width && y <= height);
            }
        }
    }

    #[test]
    fn no_arrow_passes_behind_a_node() {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
        for round in 0..60 {
            let n = 1 + round % 9;
            let parents: Vec<Vec<usize>> =
                (0..n).map(|node| (0..node).filter(|_| rng.random_range(0..10) < 6).collect()).collect();
            let names: Vec<String> = (0..n).map(|_| "m".repeat(rng.random_range(1..30))).collect();
            let graph = Network::new(parents).unwrap();
            let strengths: Vec<f64> = graph.edges().iter().map(|_| rng.random_range(0.0..1.0)).collect();
            let svg = network("t", &names, &graph, &strengths);
            check(&svg);
            check_free(&svg);
        }
        // Everything tells everything after it: most arrows pass layers.
        let graph = Network::new((0..8).map(|node| (0..node).collect()).collect()).unwrap();
        let names: Vec<String> = (0..8).map(|node| format!("column {node}")).collect();
        check_free(&network("all", &names, &graph, &[1.0; 28]));
    }

    #[test]
    fn what_would_touch_is_moved_apart() {
        assert_eq!(apart(&[0.0, 100.0], &[10.0, 10.0]), [0.0, 100.0]);
        // Both give way by the same: 10 wide and a gap of 28.
        assert_eq!(apart(&[50.0, 50.0], &[10.0, 10.0]), [31.0, 69.0]);
        assert_eq!(apart(&[], &[]), [0.0; 0]);
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
