//! Pictures for reports: self-contained SVG text, 720 by 480, the same bytes for the same numbers.
//!
//! Values that are not finite are left out, and a picture without any says "no data". Writing to a string does
//! not fail, and so nothing here does.
//!
//! Written by hand, not with a plotting library: plotters places marks on whole pixels, writes one element of a hundred
//! bytes for each of them, and without the system's fonts guesses the size of texts no better than this file does. Here
//! a cloud of points is a few paths at a tenth of a pixel, which takes a tenth of the bytes.

use std::fmt::Write;

use super::html::escaped;
use crate::measure::Asked;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 696.0;

/// Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444"];

/// A path's own overlaps do not add up in a translucent colour; those of so many paths do, and show where points crowd.
const LAYERS: usize = 24;

/// The place of zero on a logarithmic axis.
const LOG_ZERO: f64 = 0.5;

/// An estimate of `x` against the truth: `y`, with the range that it may lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The truth.
    pub x: f64,
    /// The estimate.
    pub y: f64,
    /// The least that the estimate may be.
    pub low: f64,
    /// The most that the estimate may be.
    pub high: f64,
}

/// The truth against the expectation, with its bounds.
impl From<&Asked> for Point {
    fn from(asked: &Asked) -> Self {
        let estimate = &asked.estimate;
        let (low, high) = (estimate.lower as f64, estimate.upper as f64);
        Point { x: f64::from(asked.truth), y: estimate.expected, low, high }
    }
}

/// How values are spread along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm, for counts: all below 1 stand at the lower edge, which is labelled 0.
    Log,
}

/// Estimates against the truth, with their ranges as thin bars, both axes alike, and the line where they agree.
pub fn scatter(title: &str, x_label: &str, y_label: &str, points: &[Point], scale: Scale) -> String {
    let points: Vec<&Point> = points.iter().filter(|point| is_drawable(point.x) && is_drawable(point.y)).collect();
    let ranges = || points.iter().filter(|point| is_drawable(point.low) && is_drawable(point.high));
    let values = points.iter().flat_map(|point| [point.x, point.y]).chain(ranges().flat_map(|p| [p.low, p.high]));
    let Some(axis) = Axis::new(values, scale) else { return no_data(title) };
    let mut plot = Plot::new(title, &[]);
    plot.y_axis(&axis, y_label);
    plot.x_axis(&axis, x_label);
    let (x, y) = (|value| plot.x(&axis, value), |value| plot.y(&axis, value));
    let ranges = ranges().map(|point| format!("M{} {}V{}", x(point.x), y(point.low), y(point.high)));
    let style = format!(r#"stroke="{}" stroke-opacity="{:.2}""#, COLOURS[0], 0.5 * opacity(points.len()));
    let (ranges, dots) =
        (layers(ranges, &style), dots(points.iter().map(|point| (x(point.x), y(point.y))), points.len()));
    let diagonal = format!("M{LEFT} {}L{RIGHT} {}", plot.bottom, plot.top);
    plot.svg += &ranges;
    let _ = write!(plot.svg, r##"<path d="{diagonal}" stroke="#444" stroke-dasharray="5 4"/>"##);
    plot.svg += &dots;
    plot.text(RIGHT - 6.0, plot.bottom - 10.0, "end", "dashed: y = x");
    plot.finish()
}

/// Series of (x, y) as lines with markers, in the order of x.
pub fn lines(title: &str, x_label: &str, y_label: &str, series: &[(String, Vec<(f64, f64)>)]) -> String {
    let drawable = |points: &[(f64, f64)]| {
        let mut points: Vec<_> = points.iter().copied().filter(|&(x, y)| is_drawable(x) && is_drawable(y)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let all: Vec<Vec<(f64, f64)>> = series.iter().map(|(_, points)| drawable(points)).collect();
    let x_axis = Axis::tight(all.iter().flatten().map(|point| point.0), Scale::Linear);
    let y_axis = Axis::new(all.iter().flatten().map(|point| point.1), Scale::Linear);
    let (Some(x_axis), Some(y_axis)) = (x_axis, y_axis) else { return no_data(title) };
    let mut plot = Plot::new(title, &names(series));
    plot.y_axis(&y_axis, y_label);
    plot.x_axis(&x_axis, x_label);
    for (i, points) in all.iter().enumerate() {
        let places: Vec<_> = points.iter().map(|&(x, y)| (plot.x(&x_axis, x), plot.y(&y_axis, y))).collect();
        let _ = write!(plot.svg, r#"<path d="{}" stroke="{}" stroke-width="2"/>"#, polyline(&places), colour(i));
        let markers: String = places.iter().map(|&place| marker(i, place)).collect();
        let _ = write!(plot.svg, r##"<path d="{markers}" fill="{}" stroke="#fff"/>"##, colour(i));
    }
    plot.finish()
}

/// For each category one bar a series, side by side.
pub fn bars(title: &str, y_label: &str, categories: &[String], series: &[(String, Vec<f64>)]) -> String {
    let values = || series.iter().flat_map(|(_, values)| values.iter().take(categories.len()).copied());
    let n_values = values().filter(|&value| is_drawable(value)).count();
    let Some(axis) = Axis::new(values().chain((n_values > 0).then_some(0.0)), Scale::Linear) else {
        return no_data(title);
    };
    let mut plot = Plot::new(title, &names(series));
    let slot = (RIGHT - LEFT) / categories.len() as f64;
    plot.categories(categories, slot);
    plot.y_axis(&axis, y_label);
    let width = 0.8 * slot / series.len() as f64;
    let base = plot.y(&axis, 0.0);
    for (i, (_, values)) in series.iter().enumerate() {
        let mut path = String::new();
        for (j, &value) in values.iter().take(categories.len()).enumerate().filter(|(_, value)| is_drawable(**value)) {
            let left = Px(LEFT + slot * (j as f64 + 0.1) + width * i as f64);
            let top = plot.y(&axis, value);
            // A narrow gap tells neighbours apart.
            let _ = write!(path, "M{left} {base}V{top}h{}V{base}z", Px(if width > 6.0 { width - 1.0 } else { width }));
            if n_values <= 24 && width > 36.0 {
                let above = top.0.min(base.0) - 5.0;
                plot.text(left.0 + width / 2.0, above, "middle", &number(value, value.abs() / 100.0, unit_of(value)));
            }
        }
        let _ = write!(plot.svg, r#"<path d="{path}" fill="{}"/>"#, colour(i));
    }
    let _ = write!(plot.svg, r##"<path d="M{LEFT} {base}H{RIGHT}" stroke="#444"/>"##);
    plot.finish()
}

/// A cloud of values in order of rank, from 1, with their running mean over up to a fiftieth of them.
pub fn by_rank(title: &str, x_label: &str, y_label: &str, values: &[f64], scale: Scale) -> String {
    let points: Vec<(f64, f64)> =
        (1u32..).map(f64::from).zip(values.iter().copied()).filter(|&(_, value)| is_drawable(value)).collect();
    let x_axis = Axis::tight(points.iter().map(|point| point.0), scale);
    let y_axis = Axis::new(points.iter().map(|point| point.1), Scale::Linear);
    let (Some(x_axis), Some(y_axis)) = (x_axis, y_axis) else { return no_data(title) };
    let mut plot = Plot::new(title, &["one term", "running mean"]);
    plot.y_axis(&y_axis, y_label);
    plot.x_axis(&x_axis, x_label);
    let place = |&(rank, value): &(f64, f64)| (plot.x(&x_axis, rank), plot.y(&y_axis, value));
    let dots = dots(points.iter().map(place), points.len());
    let mut sums = vec![0.0];
    points.iter().for_each(|point| sums.push(sums[sums.len() - 1] + point.1));
    let mut mean: Vec<(Px, Px)> = Vec::new();
    for (i, &(rank, _)) in points.iter().enumerate() {
        // As far on either side, so that the mean is not drawn inwards at the ends.
        let reach = (points.len() / 100).min(i).min(points.len() - 1 - i);
        let at = place(&(rank, (sums[i + reach + 1] - sums[i - reach]) / (2 * reach + 1) as f64));
        // No finer than the eye can follow.
        if mean.last().is_none_or(|last| at.0.0 - last.0.0 >= 1.5) {
            mean.push(at);
        }
    }
    plot.svg += &dots;
    let _ = write!(plot.svg, r#"<path d="{}" stroke="{}" stroke-width="2"/>"#, polyline(&mean), COLOURS[1]);
    plot.finish()
}

/// A picture as part of an HTML page: plots are as wide as their place, without a namespace, which HTML knows, and with a
/// description for those who do not see it.
pub fn inline(svg: &str, description: &str) -> String {
    let size = format!(r#" width="{WIDTH}" height="{HEIGHT}""#);
    let described = format!("</title><desc>{}</desc>", escaped(description));
    let svg = svg.replacen(r#" xmlns="http://www.w3.org/2000/svg""#, "", 1);
    svg.replacen(&size, "", 1).replacen("</title>", &described, 1)
}

/// Sums and differences of such values stay finite.
fn is_drawable(value: f64) -> bool {
    value.abs() < 1e200
}

fn colour(i: usize) -> &'static str {
    COLOURS[i % COLOURS.len()]
}

fn names<T>(series: &[(String, T)]) -> Vec<&str> {
    series.iter().map(|(name, _)| name.as_str()).collect()
}

fn no_data(title: &str) -> String {
    let mut plot = Plot::new(title, &[]);
    plot.text(WIDTH / 2.0, HEIGHT / 2.0, "middle", "no data");
    plot.finish()
}

/// A coordinate, written with at most one decimal.
#[derive(Debug, Clone, Copy)]
struct Px(f64);

impl std::fmt::Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

/// A range of values with its ticks.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// An axis for values, none if there is none: it begins at zero unless that would waste most of it, and ends at ticks.
    fn new(values: impl Iterator<Item = f64>, scale: Scale) -> Option<Self> {
        let (low, high, step) = range(values)?;
        if scale == Scale::Log {
            return Some(Self::log(low, high));
        }
        let low = if low >= 0.0 && low < 0.6 * high { 0.0 } else { low };
        let (low, high, step) = ticked(low, high, step);
        Some(Self::linear((low / step).floor() * step, (high / step - 1e-9).ceil() * step, step))
    }

    /// An axis for values with a narrow margin, none if there is no value.
    fn tight(values: impl Iterator<Item = f64>, scale: Scale) -> Option<Self> {
        let (low, high, step) = range(values)?;
        if scale == Scale::Log {
            return Some(Self::log(low, high));
        }
        let (low, high, step) = ticked(low, high, step);
        let margin = 0.03 * (high - low);
        Some(Self::linear(low - margin, high + margin, step))
    }

    fn linear(low: f64, high: f64, step: f64) -> Self {
        let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
        let unit = unit_of(low.abs().max(high.abs()));
        let ticks = (0..(last - first + 1.0) as u32).map(|i| (first + f64::from(i)) * step);
        let ticks = ticks.map(|value| (value, number(value, step, unit))).collect();
        Axis { scale: Scale::Linear, low, high, ticks }
    }

    fn log(low: f64, high: f64) -> Self {
        let first = if low < 1.0 { 0 } else { low.log10().floor() as i32 };
        let last = (high.max(2.0).log10() - 1e-9).ceil() as i32;
        let every = 1 + (last - first) / 9;
        let factors: &[f64] = if last - first <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let low = if low < 1.0 { LOG_ZERO } else { 10f64.powi(first) };
        let high = high.max(2.0 * low);
        let decades = (first..=last).step_by(every as usize).map(|exponent| 10f64.powi(exponent));
        let values = decades.flat_map(|decade| factors.iter().map(move |factor| factor * decade));
        let ticks =
            values.filter(|&value| value <= 1.001 * high).map(|value| (value, number(value, value, unit_of(value))));
        let zero = (low == LOG_ZERO).then(|| (LOG_ZERO, "0".to_owned()));
        Axis { scale: Scale::Log, low, high, ticks: zero.into_iter().chain(ticks).collect() }
    }

    /// Where a value stands, 0 at the lower and 1 at the upper edge.
    fn place(&self, value: f64) -> f64 {
        let (value, low, high) = match self.scale {
            Scale::Linear => (value, self.low, self.high),
            // A little room above, since the upper edge is no tick.
            Scale::Log => {
                (value.max(self.low).ln(), self.low.ln(), self.high.ln() + 0.03 * (self.high / self.low).ln())
            }
        };
        ((value - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// The least and the greatest value, and the least step between ticks: one if all are whole.
fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64, f64)> {
    values.filter(|&value| is_drawable(value)).fold(None, |range, value| {
        let (low, high, step) = range.unwrap_or((value, value, 1.0));
        Some((low.min(value), high.max(value), if value.fract() == 0.0 { step } else { f64::MIN_POSITIVE }))
    })
}

/// A range that is not empty, and a step of 1, 2 or 5 times a power of ten that divides it into about six.
fn ticked(low: f64, high: f64, least_step: f64) -> (f64, f64, f64) {
    let size = low.abs().max(high.abs());
    let margin = match high - low {
        spread if spread > 1e-9 * size => 0.0,
        _ if size == 0.0 => 1.0,
        _ => (0.5 * size).max(least_step),
    };
    let (low, high) = (if low == 0.0 { low } else { low - margin }, high + margin);
    let rough = ((high - low) / 6.0).max(least_step);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|factor| factor * power).find(|&step| step >= 0.999 * rough);
    (low, high, step.unwrap_or(10.0 * power))
}

/// What numbers as large as this are counted in, and its sign.
fn unit_of(value: f64) -> (f64, &'static str) {
    match value.abs() {
        size if size < 9_999.5 => (1.0, ""),
        size if size < 999_950.0 => (1e3, "k"),
        size if size < 999.95e6 => (1e6, "M"),
        _ => (1e9, "G"),
    }
}

/// A number for people, with as many decimals as `step` has: 0.25, 1,000, 10k.
fn number(value: f64, step: f64, (unit, sign): (f64, &str)) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e12).contains(&value.abs()) {
        let text = format!("{value:.2e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    let decimals = (-(step / unit * 1.001).log10().floor()).clamp(0.0, 9.0) as usize;
    let mut text = format!("{:.decimals$}", value / unit);
    if decimals > 0 {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    let digits = text.find('.').unwrap_or(text.len());
    if digits - usize::from(value < 0.0) > 3 {
        text.insert(digits - 3, ',');
    }
    text + sign
}

/// A picture in the making: title and legend above `top`, the names of ticks below `bottom`, the marks between them.
struct Plot {
    svg: String,
    top: f64,
    bottom: f64,
}

impl Plot {
    fn new(title: &str, legend: &[&str]) -> Self {
        let title = escaped(&shortened(title, 72));
        let svg = format!(
            r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="system-ui,Helvetica,Arial,sans-serif" font-size="12" fill="none"><title>{title}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><text x="20" y="30" font-size="16" font-weight="600" fill="#222">{title}</text>"##
        );
        let mut plot = Plot { svg, top: 52.0, bottom: 422.0 };
        let (mut x, mut y) = (LEFT, 54.0);
        for (i, name) in legend.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let name = shortened(name, 40);
            let width = 34.0 + text_width(&name);
            if x > LEFT && x + width > RIGHT {
                (x, y) = (LEFT, y + 18.0);
            }
            let _ = write!(plot.svg, r#"<path d="{}" fill="{}"/>"#, marker(i, (Px(x + 6.0), Px(y - 4.0))), colour(i));
            plot.text(x + 16.0, y, "start", &name);
            x += width;
            plot.top = y + 16.0;
        }
        plot.top = plot.top.min(plot.bottom - 100.0);
        plot
    }

    fn finish(mut self) -> String {
        self.svg += "</svg>\n";
        self.svg
    }

    fn x(&self, axis: &Axis, value: f64) -> Px {
        Px(LEFT + (RIGHT - LEFT) * axis.place(value))
    }

    fn y(&self, axis: &Axis, value: f64) -> Px {
        Px(self.bottom - (self.bottom - self.top) * axis.place(value))
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, text: &str) {
        let (x, y, text) = (Px(x), Px(y), escaped(text));
        let _ = write!(self.svg, r##"<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#333">{text}</text>"##);
    }

    fn turned(&mut self, x: f64, y: f64, degrees: i32, anchor: &str, text: &str) {
        let _ = write!(self.svg, r#"<g transform="translate({} {}) rotate({degrees})">"#, Px(x), Px(y));
        self.text(0.0, 0.0, anchor, text);
        self.svg += "</g>";
    }

    fn x_axis(&mut self, axis: &Axis, label: &str) {
        let bottom = self.bottom;
        let grid: String =
            axis.ticks.iter().map(|(value, _)| format!("M{} {}V{bottom}", self.x(axis, *value), self.top)).collect();
        let _ = write!(
            self.svg,
            r##"<path d="{grid}" stroke="#e8e8e8"/><path d="M{LEFT} {bottom}H{RIGHT}" stroke="#444"/>"##
        );
        for (value, text) in &axis.ticks {
            self.text(self.x(axis, *value).0, self.bottom + 18.0, "middle", text);
        }
        self.text((LEFT + RIGHT) / 2.0, self.bottom + 42.0, "middle", &shortened(label, 90));
    }

    fn y_axis(&mut self, axis: &Axis, label: &str) {
        let grid: String =
            axis.ticks.iter().map(|(value, _)| format!("M{LEFT} {}H{RIGHT}", self.y(axis, *value))).collect();
        let _ = write!(self.svg, r##"<path d="{grid}" stroke="#e8e8e8"/>"##);
        for (value, text) in &axis.ticks {
            self.text(LEFT - 8.0, self.y(axis, *value).0 + 4.0, "end", text);
        }
        self.turned(22.0, (self.top + self.bottom) / 2.0, -90, "middle", &shortened(label, 50));
    }

    /// Names below their slots: level if they fit, else slanted, and only as many as do not overlap.
    fn categories(&mut self, categories: &[String], slot: f64) {
        let is_level = categories.iter().all(|name| text_width(name) < slot - 4.0);
        let every = if is_level { 1 } else { (18.0 / slot).ceil() as usize };
        if !is_level {
            self.bottom = 366.0;
        }
        for (i, name) in categories.iter().enumerate().step_by(every) {
            let middle = LEFT + slot * (i as f64 + 0.5);
            if is_level {
                self.text(middle, self.bottom + 20.0, "middle", name);
            } else {
                self.turned(middle + 4.0, self.bottom + 14.0, -50, "end", &shortened(name, 20));
            }
        }
    }
}

/// Paths drawn over each other, every one with its share of the pieces.
fn layers(pieces: impl Iterator<Item = String>, style: &str) -> String {
    let mut paths = vec![String::new(); LAYERS];
    pieces.enumerate().for_each(|(i, piece)| paths[i % LAYERS] += &piece);
    paths.retain(|path| !path.is_empty());
    paths.iter().map(|path| format!(r#"<path d="{path}" {style}/>"#)).collect()
}

/// A cloud: points are lines of no length with round ends.
fn dots(places: impl Iterator<Item = (Px, Px)>, n_places: usize) -> String {
    let (colour, opacity) = (COLOURS[0], opacity(n_places));
    let width = if n_places < 300 { 6.0 } else { 4.5 };
    let style =
        format!(r#"stroke="{colour}" stroke-opacity="{opacity:.2}" stroke-width="{width}" stroke-linecap="round""#);
    layers(places.map(|(x, y)| format!("M{x} {y}h0")), &style)
}

/// The more marks, the fainter each of them.
fn opacity(n_marks: usize) -> f64 {
    (8.0 / (n_marks as f64).sqrt()).clamp(0.3, 0.85)
}

fn polyline(places: &[(Px, Px)]) -> String {
    let points: Vec<String> = places.iter().map(|(x, y)| format!("{x} {y}")).collect();
    if points.is_empty() { String::new() } else { format!("M{}", points.join("L")) }
}

/// A disc, square, triangle or diamond: shapes tell series apart in print.
fn marker(i: usize, (x, y): (Px, Px)) -> String {
    match i % 4 {
        0 => format!("M{} {y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", Px(x.0 - 4.5)),
        1 => format!("M{} {}h8v8h-8z", Px(x.0 - 4.0), Px(y.0 - 4.0)),
        2 => format!("M{x} {}l5.2 9h-10.4z", Px(y.0 - 5.5)),
        _ => format!("M{x} {}l5.5 5.5l-5.5 5.5l-5.5-5.5z", Px(y.0 - 5.5)),
    }
}

/// A guess: fonts differ, and the reader's is not known.
pub(super) fn text_width(text: &str) -> f64 {
    6.6 * text.chars().count() as f64
}

pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    /// Fails if tags or coordinates of a drawing are broken.
    #[track_caller]
    pub(in crate::report) fn check(svg: &str) {
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

    /// Texts shown, in order; fails if tags or coordinates are broken.
    #[track_caller]
    fn texts(svg: &str) -> Vec<&str> {
        check(svg);
        svg.split("<text ").skip(1).map(|piece| piece.split(['>', '<']).nth(1).unwrap()).collect()
    }

    fn ticks(values: &[f64], scale: Scale) -> String {
        let axis = Axis::new(values.iter().copied(), scale).unwrap();
        axis.ticks.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_numbers() {
        for (values, expected) in [
            (&[0.02, 0.97][..], "0 0.2 0.4 0.6 0.8 1"),
            (&[0.0, 0.25], "0 0.05 0.1 0.15 0.2 0.25"),
            (&[1.0, 3.0], "0 1 2 3"),
            (&[12.0, 5_100.0], "0 1,000 2,000 3,000 4,000 5,000 6,000"),
            (&[0.0, 81_234.0], "0 20k 40k 60k 80k 100k"),
            (&[-8e5, 2.1e6], "-1M -0.5M 0 0.5M 1M 1.5M 2M 2.5M"),
            (&[1e13, 3e13], "0 5e12 1e13 1.5e13 2e13 2.5e13 3e13"),
            (&[0.0, 2e-6], "0 5e-7 1e-6 1.5e-6 2e-6"),
            (&[7.0], "2 4 6 8 10 12"),
            (&[0.0], "0 1"),
            (&[-2.0, -2.0], "-3 -2 -1"),
        ] {
            assert_eq!(ticks(values, Scale::Linear), expected, "{values:?}");
        }
    }

    #[test]
    fn logarithmic_axes_show_zero_at_their_edge() {
        for (values, expected) in [
            (&[0.0, 30_000.0][..], "0 1 10 100 1,000 10k"),
            (&[0.0, 40.0], "0 1 2 5 10 20"),
            (&[12.0, 2_000_000.0], "10 100 1,000 10k 100k 1M"),
            (&[-3.0, 0.0], "0 1"),
            (&[1.0, 1e18], "1 1,000 1M 1G 1e12 1e15 1e18"),
        ] {
            assert_eq!(ticks(values, Scale::Log), expected, "{values:?}");
        }
        let axis = Axis::new([0.0, 100.0].into_iter(), Scale::Log).unwrap();
        assert_eq!((axis.place(-1.0), axis.place(0.0), axis.place(0.5)), (0.0, 0.0, 0.0));
        assert!(axis.place(1.0) > 0.1 && axis.place(100.0) < 1.0);
    }

    #[test]
    fn without_data_a_picture_says_so() {
        let nothing = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let point = Point { x: 1.0, y: f64::NAN, low: 0.0, high: 1.0 };
        let series = vec![("a".to_owned(), nothing.map(|value| (1.0, value)).to_vec())];
        let names = ["c".to_owned()];
        for svg in [
            scatter("t", "x", "y", &[], Scale::Log),
            scatter("t", "x", "y", &[point], Scale::Linear),
            lines("t", "x", "y", &[]),
            lines("t", "x", "y", &series),
            bars("t", "y", &[], &[("a".to_owned(), vec![1.0])]),
            bars("t", "y", &names, &[]),
            bars("t", "y", &names, &[("a".to_owned(), nothing.to_vec())]),
            by_rank("t", "x", "y", &nothing, Scale::Log),
        ] {
            assert_eq!(texts(&svg), ["t", "no data"]);
        }
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let point = |y, low, high| Point { x: 2.0, y, low, high };
        let some = [point(3.0, 1.0, 4.0), point(f64::NAN, 1.0, 4.0), point(2.0, f64::NEG_INFINITY, 4.0)];
        let svg = scatter("t", "x", "y", &some, Scale::Linear);
        texts(&svg);
        assert_eq!((svg.matches("h0\"").count(), svg.matches("stroke-opacity").count()), (2, 3));
        let svg = bars("t", "y", &["a".to_owned(), "b".to_owned()], &[("s".to_owned(), vec![f64::NAN, 2.0, 9.0])]);
        assert_eq!(texts(&svg), ["t", "s", "a", "b", "0", "1", "2", "y", "2"]);
    }

    #[test]
    fn texts_are_escaped_and_shortened() {
        let svg = lines("a < b & \"c\"\n\u{1}", "x>", "&amp;", &[("<s>".to_owned(), vec![(1.0, 1.0), (2.0, 3.0)])]);
        let shown = texts(&svg);
        assert_eq!(shown[..2], ["a &lt; b &amp; &quot;c&quot; \\u{1}", "&lt;s&gt;"]);
        assert!(shown.contains(&"x&gt;") && shown.contains(&"&amp;amp;"));
        let long = "é".repeat(500);
        let svg = bars(&long, &long, &[long.clone(), long.clone()], &[(long.clone(), vec![1.0, 2.0])]);
        assert!(texts(&svg).iter().all(|text| text.chars().count() <= 72));
    }

    #[test]
    fn a_picture_in_a_page_refers_to_nothing_and_is_described() {
        let svg = inline(&bars("t", "y", &["a".to_owned()], &[("s".to_owned(), vec![2.0])]), "two < three");
        assert_eq!(texts(&svg)[0], "t");
        assert!(!svg.contains("://") && !svg.contains(r#" width="720" height="480" viewBox"#));
        assert!(svg.contains(r#" role="img" "#) && svg.contains("<title>t</title><desc>two &lt; three</desc>"));
    }

    #[test]
    fn pictures_are_small_and_the_same_every_time() {
        let draw = || {
            let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
            let values: Vec<f64> = (0..5000).map(|_| rng.random_range(0.0..1e6)).collect();
            let points = values.iter().map(|&x| Point { x, y: 0.9 * x, low: 0.5 * x, high: 2.0 * x });
            let points: Vec<Point> = points.collect();
            scatter("t", "x", "y", &points, Scale::Log) + &by_rank("t", "x", "y", &values, Scale::Linear)
        };
        assert!(draw().len() < 300_000);
        assert_eq!(draw(), draw());
    }

    #[test]
    fn no_numbers_make_a_broken_picture() {
        let pool =
            [0.0, -0.0, 1.0, 7.0, -3.5, 0.1 + 0.2, 1e-310, 1e-9, 1e9, 1e199, -1e199, 1e308, f64::NAN, f64::INFINITY];
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for _ in 0..3000 {
            let length = rng.random_range(0..5);
            let mut value = || pool[rng.random_range(0..pool.len())];
            let values: Vec<f64> = (0..length).map(|_| value()).collect();
            let pairs: Vec<(f64, f64)> = (0..length).map(|_| (value(), value())).collect();
            let points = pairs.iter().map(|&(x, y)| Point { x, y, low: value(), high: value() });
            let points: Vec<Point> = points.collect();
            let names: Vec<String> = (0..length).map(|i| i.to_string()).collect();
            for scale in [Scale::Linear, Scale::Log] {
                texts(&scatter("t", "x", "y", &points, scale));
                texts(&by_rank("t", "x", "y", &values, scale));
            }
            texts(&lines("t", "x", "y", &[("a".to_owned(), pairs.clone()), ("b".to_owned(), pairs)]));
            texts(&bars("t", "y", &names, &[("a".to_owned(), values.clone()), ("b".to_owned(), values)]));
        }
    }
}
