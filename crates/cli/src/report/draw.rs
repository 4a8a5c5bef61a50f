//! Axes, lines, markers and bars as SVG, through plotters. Colours are left to `chart.css`: what is drawn is put into
//! layers, each a `<g>` with classes, all over the same coordinates.

use anyhow::Result;
use plotters::chart::ChartContext;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, ValueFormatter};
use plotters::prelude::*;

use super::style::Marker;

/// Units of the drawing to a pixel of its size on a desk: plotters rounds to whole units.
pub const UNIT: u32 = 4;

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Axis, Axis>>;

/// A range with labelled ticks, linear in what is drawn: callers take logarithms.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub from: f64,
    pub to: f64,
    pub ticks: Vec<(f64, String)>,
}

impl Ranged for Axis {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, (low, high): (i32, i32)) -> i32 {
        let share = (value - self.from) / (self.to - self.from);
        low.saturating_add((share * f64::from(high - low)).round() as i32)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Light lines would be those between the ticks.
        let is_bold = !hint.weight().allow_light_points();
        self.ticks.iter().filter(|_| is_bold).map(|(at, _)| *at).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        value.to_string()
    }

    fn format_ext(&self, value: &f64) -> String {
        self.ticks.iter().find(|(at, _)| at == value).map(|(_, text)| text.clone()).unwrap_or_default()
    }
}

pub struct Canvas {
    /// In units.
    pub width: u32,
    pub height: u32,
    /// Room for the labels of y; and for half of x's last, which is larger on phones.
    left: u32,
    right: u32,
    x: Axis,
    y: Axis,
}

/// A point of a layer, in units from the top left.
pub type Position = (i32, i32);

const TOP: u32 = 40 * UNIT;
const BOTTOM: u32 = 30 * UNIT;

impl Canvas {
    /// A drawing of `width` by `height` pixels on a desk; without `labels`, ticks of y have none, and no room.
    pub fn new(width: u32, height: u32, labels: bool, x: Axis, y: Axis) -> Canvas {
        let right = if labels { 12 } else { 30 };
        Canvas::with_right(width, height, labels, right, x, y)
    }

    /// As [`new`](Canvas::new), with so many pixels to the right of the last tick.
    pub fn with_right(width: u32, height: u32, labels: bool, right: u32, x: Axis, y: Axis) -> Canvas {
        let left = if labels { 58 } else { 12 };
        Canvas { width: width * UNIT, height: height * UNIT, left: left * UNIT, right: right * UNIT, x, y }
    }

    /// The SVG of what `draw` puts on the chart, without the element `svg` itself.
    fn layer<T>(&self, draw: impl FnOnce(&mut Chart<'_>) -> Result<T>) -> Result<(String, T)> {
        let mut text = String::new();
        let drawn = {
            let root = SVGBackend::with_string(&mut text, (self.width, self.height)).into_drawing_area();
            let mut chart = ChartBuilder::on(&root)
                .margin_top(TOP)
                .margin_right(self.right)
                .x_label_area_size(BOTTOM)
                .y_label_area_size(self.left)
                .build_cartesian_2d(self.x.clone(), self.y.clone())?;
            let drawn = draw(&mut chart)?;
            root.present()?;
            drawn
        };
        let inner = text.split_once('>').map_or("", |(_, rest)| rest);
        Ok((inner.strip_suffix("</svg>\n").unwrap_or(inner).trim().to_owned(), drawn))
    }

    pub fn grid(&self) -> Result<String> {
        let font = ("sans-serif", 13 * UNIT);
        let (grid, _) = self.layer(|chart| {
            let mut mesh = chart.configure_mesh();
            mesh.bold_line_style(BLACK).light_line_style(TRANSPARENT).axis_style(TRANSPARENT);
            mesh.label_style(font).set_all_tick_mark_size(2 * UNIT);
            Ok(mesh.draw()?)
        })?;
        Ok(grid)
    }

    /// Where x's ticks are, in units from the left, with their labels.
    pub fn top_ticks(&self) -> Result<Vec<(i32, &str)>> {
        let tops: Vec<(f64, f64)> = self.x.ticks.iter().map(|(at, _)| (*at, self.y.to)).collect();
        let (_, at) = self.layer(|chart| Ok(tops.iter().map(|top| chart.backend_coord(top).0).collect::<Vec<_>>()))?;
        Ok(at.into_iter().zip(self.x.ticks.iter().map(|(_, label)| label.as_str())).collect())
    }

    /// A line through the points, and where they are.
    pub fn line(&self, points: &[(f64, f64)]) -> Result<(String, Vec<Position>)> {
        self.layer(|chart| {
            chart.draw_series(LineSeries::new(points.iter().copied(), BLACK.stroke_width(2 * UNIT)))?;
            Ok(points.iter().map(|point| chart.backend_coord(point)).collect())
        })
    }

    pub fn markers(&self, points: &[(f64, f64)], marker: Marker) -> Result<String> {
        let style = BLACK.filled();
        let (markers, ()) = self.layer(|chart| {
            match marker {
                Marker::Circle => {
                    chart.draw_series(points.iter().map(|at| Circle::new(*at, 3 * UNIT, style)))?;
                }
                Marker::Polygon(shape) => {
                    let polygons = points.iter().map(|at| EmptyElement::at(*at) + Polygon::new(shape.to_vec(), style));
                    chart.draw_series(polygons)?;
                }
            }
            Ok(())
        })?;
        Ok(markers)
    }

    /// A bar from 0, about `y`, `thick` of the y axis thick; and where it ends.
    pub fn bar(&self, x: f64, y: f64, thick: f64) -> Result<(String, Position)> {
        self.layer(|chart| {
            let corners = [(self.x.from, y - thick / 2.0), (x, y + thick / 2.0)];
            chart.draw_series([Rectangle::new(corners, BLACK.filled())])?;
            Ok(chart.backend_coord(&(x, y)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_share_their_coordinates() {
        let axis = || Axis { from: 0.0, to: 10.0, ticks: vec![(0.0, "nil".into()), (10.0, "<ten>".into())] };
        let canvas = Canvas::new(100, 100, true, axis(), axis());
        let grid = canvas.grid().unwrap();
        assert!(grid.contains("nil") && grid.contains("&lt;ten&gt;") && !grid.contains("svg"), "{grid}");
        let (line, at) = canvas.line(&[(0.0, 0.0), (10.0, 10.0)]).unwrap();
        assert!(line.starts_with("<polyline") && line.ends_with("/>"), "{line}");
        assert!(line.contains(&format!("{},{} ", at[1].0, at[1].1)), "{line}");
        assert_eq!(at[0].0, (58 * UNIT) as i32);
        let markers = canvas.markers(&[(0.0, 0.0)], Marker::Circle).unwrap();
        assert!(markers.contains(&format!("cx=\"{}\" cy=\"{}\"", at[0].0, at[0].1)), "{markers}");
        assert_eq!(canvas.bar(10.0, 10.0, 1.0).unwrap().1, at[1]);
    }
}
