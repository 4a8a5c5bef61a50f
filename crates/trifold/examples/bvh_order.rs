//! The leaf order of a linear bounding volume hierarchy, on every device of the machine:
//! `cargo run -p trifold --example bvh_order`.
//!
//! The triangles of a mesh are put in the order of their Morton codes. A code interleaves the bits of a centroid's
//! three coordinates within the mesh's bounds. Triangles that are close in space are then close in memory, and the tree
//! follows from the codes' common prefixes (T. Karras, *Maximizing Parallelism in the Construction of BVHs, Octrees,
//! and k-d Trees*, HPG 2012).
//!
//! The bounds are a reduction, and the order is a sort of pairs. The codes are the application's own kernel, for which
//! the host stands in.

use std::borrow::Cow;

mod on_device;

use on_device::open_all;
use trifold::prelude::*;
use trifold::{Result, element};

type Point = [f32; 3];

element! {
    /// An axis-aligned box.
    struct Bounds { x0: f32, y0: f32, z0: f32, x1: f32, y1: f32, z1: f32 }
}

/// The smallest box around two.
#[derive(Clone)]
struct Union;

impl Monoid<Bounds> for Union {
    fn text(&self) -> Cow<'static, str> {
        "fn combine(a: T, b: T) -> T {
      return T(min(a.x0, b.x0), min(a.y0, b.y0), min(a.z0, b.z0), max(a.x1, b.x1), max(a.y1, b.y1), max(a.z1, b.z1));
    }"
        .into()
    }
    fn identity(&self) -> Bounds {
        Bounds { x0: 1e30, y0: 1e30, z0: 1e30, x1: -1e30, y1: -1e30, z1: -1e30 }
    }
    fn commutes(&self) -> bool {
        true
    }
    fn combine(&self, a: Bounds, b: Bounds) -> Bounds {
        Bounds {
            x0: a.x0.min(b.x0),
            y0: a.y0.min(b.y0),
            z0: a.z0.min(b.z0),
            x1: a.x1.max(b.x1),
            y1: a.y1.max(b.y1),
            z1: a.z1.max(b.z1),
        }
    }
}

/// A torus, its triangles in rings.
fn mesh() -> Vec<[Point; 3]> {
    const RINGS: usize = 96;
    const SIDES: usize = 48;
    let point = |ring: usize, side: usize| -> Point {
        let turn = std::f32::consts::TAU;
        let (u, v) = (ring as f32 / RINGS as f32 * turn, side as f32 / SIDES as f32 * turn);
        let radius = 3.0 + v.cos();
        [radius * u.cos(), radius * u.sin(), v.sin()]
    };
    let quads = (0..RINGS).flat_map(|ring| (0..SIDES).map(move |side| (ring, side)));
    quads
        .flat_map(|(r, s)| {
            let corners = [point(r, s), point(r + 1, s), point(r, s + 1), point(r + 1, s + 1)];
            [[corners[0], corners[1], corners[2]], [corners[2], corners[1], corners[3]]]
        })
        .collect()
}

fn bounds(t: &[Point; 3]) -> Bounds {
    let around = |p: &Point| Bounds { x0: p[0], y0: p[1], z0: p[2], x1: p[0], y1: p[1], z1: p[2] };
    t.iter().map(around).fold(Union.identity(), |a, b| Union.combine(a, b))
}

fn centroid(t: &[Point; 3]) -> Point {
    [0, 1, 2].map(|axis| (t[0][axis] + t[1][axis] + t[2][axis]) / 3.0)
}

/// Ten bits of each coordinate, interleaved.
fn morton(p: Point, within: &Bounds) -> u32 {
    let low = [within.x0, within.y0, within.z0];
    let high = [within.x1, within.y1, within.z1];
    let mut code = 0;
    for axis in 0..3 {
        let place = (p[axis] - low[axis]) / (high[axis] - low[axis]);
        let cell = (place * 1024.0).clamp(0.0, 1023.0) as u32;
        code |= (0..10).fold(0, |bits, bit| bits | (cell >> bit & 1) << (3 * bit + axis));
    }
    code
}

/// The mean distance from a triangle to the next in this order.
fn mean_step(triangles: &[[Point; 3]], order: &[u32]) -> f32 {
    let step = |pair: &[u32]| {
        let (a, b) = (centroid(&triangles[pair[0] as usize]), centroid(&triangles[pair[1] as usize]));
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f32>().sqrt()
    };
    order.windows(2).map(step).sum::<f32>() / (order.len() - 1) as f32
}

fn main() -> Result<()> {
    let mut triangles = mesh();
    // As from a file that is in no order.
    let n = triangles.len();
    (1..n).rev().for_each(|i| triangles.swap(i, i * 7919 % (i + 1)));
    let boxes: Vec<Bounds> = triangles.iter().map(bounds).collect();
    let whole = boxes.iter().fold(Union.identity(), |a, &b| Union.combine(a, b));
    let numbers: Vec<u32> = (0..n as u32).collect();
    let mut expected = numbers.clone();
    expected.sort_by_key(|&i| morton(centroid(&triangles[i as usize]), &whole));

    for (found, device) in open_all() {
        // 1. The mesh's bounds.
        let within = device.reduce(device.upload(&boxes)?, Union).value()?;
        // 2. The codes.
        let codes: Vec<u32> = triangles.iter().map(|t| morton(centroid(t), &within)).collect();
        // 3. The triangles' numbers in the codes' order.
        let (_, order) = device.sort(device.upload(&codes)?).with(device.upload(&numbers)?).read()?;
        assert_eq!(order, expected, "{found}");
        let (before, after) = (mean_step(&triangles, &numbers), mean_step(&triangles, &order));
        println!("{found}: {n} triangles; the next one is {after:.3} away instead of {before:.3}");
    }
    Ok(())
}
