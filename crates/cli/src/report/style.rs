//! What a line looks like: a colour for each API, a dash and a marker for each algorithm, the same in every chart.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

use trifold::algorithm;

/// An API, or another library.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Api {
    /// Its place among the others, and in [`COLOURS`].
    place: usize,
    pub label: String,
}

/// A colour by name, on a light and on a dark page.
type Colour = (&'static str, &'static str, &'static str);

/// The APIs' colours: the hues of Okabe and Ito, which the colour-blind can tell apart, as dark or light as the page
/// needs. APIs that share a machine are far from each other.
const COLOURS: [Colour; 10] = [
    ("cuda", "#00805e", "#2fc795"),
    ("opencl", "#d0530a", "#ff8f52"),
    ("vulkan", "#0072b2", "#5cb3ff"),
    ("metal", "#b8457f", "#f08cc4"),
    ("dx12", "#7346b8", "#b794f6"),
    ("gl", "#8f6a00", "#dcb13c"),
    ("web", "#2f7d8c", "#63cbdc"),
    ("cpu", "#5b6472", "#9aa4b2"),
    ("cub", "#16191d", "#f2f5f8"),
    ("library", "#7d4a28", "#d3a27c"),
];

const SURFACES: [Colour; 6] = [
    ("paper", "#ffffff", "#15181c"),
    ("raised", "#f5f6f8", "#1d2126"),
    ("ink", "#1b1f24", "#e6e9ed"),
    ("muted", "#57606a", "#9aa3ad"),
    ("rule", "#dfe3e8", "#30363d"),
    ("ceiling", "#8b949e", "#6e7781"),
];

impl Api {
    pub fn of(backend: &str, api: &str) -> Api {
        let (name, label) = match (backend, api.to_ascii_lowercase().as_str()) {
            ("cuda", _) => ("cuda", "CUDA".into()),
            ("opencl", _) => ("opencl", "OpenCL".into()),
            ("cpu", _) => ("cpu", "CPU".into()),
            ("wgpu", "vulkan") => ("vulkan", "WGSL, Vulkan".into()),
            ("wgpu", "metal") => ("metal", "WGSL, Metal".into()),
            ("wgpu", "dx12") => ("dx12", "WGSL, DX12".into()),
            ("wgpu", "gl") => ("gl", "WGSL, GL".into()),
            ("wgpu", _) => ("web", format!("WGSL, {api}")),
            ("cub", _) => ("cub", "CUB".into()),
            (library, _) => ("library", library.into()),
        };
        let place = COLOURS.iter().position(|(colour, ..)| *colour == name).unwrap_or(COLOURS.len() - 1);
        Api { place, label }
    }

    /// What its lines are told by without their colours, where one is like another but for its API.
    pub fn marker(&self) -> Marker {
        match self.colour() {
            "opencl" | "metal" => SQUARE,
            "vulkan" => DIAMOND,
            "gl" | "dx12" => UP,
            "cpu" => DOWN,
            "cub" | "library" => CROSS,
            _ => Marker::Circle,
        }
    }

    /// Whether it is another program's, and no API of ours.
    pub fn is_library(&self) -> bool {
        matches!(self.colour(), "cub" | "library")
    }

    pub fn colour(&self) -> &'static str {
        COLOURS[self.place].0
    }
}

/// A marker's shape, in directions from its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker {
    Circle,
    Polygon(&'static [(i32, i32)]),
}

const SQUARE: Marker = Marker::Polygon(&[(-9, -9), (9, -9), (9, 9), (-9, 9)]);
const DIAMOND: Marker = Marker::Polygon(&[(0, -13), (13, 0), (0, 13), (-13, 0)]);
const UP: Marker = Marker::Polygon(&[(0, -12), (12, 9), (-12, 9)]);
const CROSS: Marker = Marker::Polygon(&[
    (-4, -12),
    (4, -12),
    (4, -4),
    (12, -4),
    (12, 4),
    (4, 4),
    (4, 12),
    (-4, 12),
    (-4, 4),
    (-12, 4),
    (-12, -4),
    (-4, -4),
]);
const DOWN: Marker = Marker::Polygon(&[(0, 12), (12, -9), (-12, -9)]);

/// A line's marker, and the name of its dash in `chart.css`.
type Look = (Marker, &'static str);

/// An algorithm's look: those that the planner chooses are solid, and no two of a primitive are alike.
pub fn algorithm(name: &str) -> Look {
    static LOOKS: LazyLock<HashMap<&str, Look>> = LazyLock::new(looks);
    LOOKS.get(name).copied().unwrap_or((CROSS, "mixed"))
}

/// Each algorithm takes the first look that none has which may stand beside it.
fn looks() -> HashMap<&'static str, Look> {
    let markers = [Marker::Circle, SQUARE, DIAMOND, UP, DOWN];
    let all = ["solid", "long", "dots", "mixed"].map(|dash| markers.map(|marker| (marker, dash)));
    let mut looks = HashMap::new();
    for algorithm in algorithm::all() {
        let beside = algorithm::families().iter().filter(|family| family.iter().any(|of| of.name == algorithm.name));
        let names: Vec<_> = beside.flat_map(|family| family.iter().map(|of| of.name)).collect();
        let is_free = |look: &&Look| names.iter().all(|name| looks.get(name) != Some(*look));
        if let Some(look) = all.iter().flatten().find(is_free).filter(|_| !looks.contains_key(algorithm.name)) {
            looks.insert(algorithm.name, *look);
        }
    }
    looks
}

/// The colours as CSS variables of `root`, light, dark where the reader's system is, and as the page's switch has it.
pub fn variables(root: &str) -> String {
    let list = |dark: bool| {
        let mut text = String::new();
        for (name, on_light, on_dark) in SURFACES.iter().chain(&COLOURS) {
            // Writing to a string does not fail.
            let _ = write!(text, "--{name}:{};", if dark { on_dark } else { on_light });
        }
        text
    };
    let (light, dark) = (list(false), list(true));
    let mut css = format!(
        "{root}{{color-scheme:light;{light}}}\n\
         @media (prefers-color-scheme:dark){{{root}:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n\
         {root}[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
    );
    for (name, ..) in COLOURS {
        let _ = writeln!(css, ".api-{name}{{--c:var(--{name})}}");
    }
    css += ".api-ink{--c:var(--ink)}\n.api-ceiling{--c:var(--ceiling)}\n";
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of one chart are told apart without their colours.
    #[test]
    fn no_two_algorithms_of_a_primitive_look_alike() {
        for family in algorithm::families() {
            let mut seen = vec![];
            for name in family.iter().map(|of| of.name) {
                let like = seen.iter().find(|(_, look)| *look == super::algorithm(name));
                assert!(like.is_none(), "{name} looks like {like:?}");
                seen.push((name, super::algorithm(name)));
            }
        }
    }

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let x = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn every_colour_stands_out_on_both_pages() {
        let [(_, paper, dark_paper), (_, raised, dark_raised), text @ ..] = SURFACES;
        for (name, light, dark) in COLOURS {
            assert!(contrast(light, paper) >= 3.0 && contrast(dark, dark_paper) >= 3.0, "{name}");
        }
        for (name, light, dark) in &text[..2] {
            let least = [(light, &paper), (light, &raised), (dark, &dark_paper), (dark, &dark_raised)]
                .map(|(a, b)| contrast(a, b))
                .into_iter()
                .fold(f64::INFINITY, f64::min);
            assert!(least >= 4.5, "{name}: {least}");
        }
        let (_, light, dark) = text[3];
        assert!(contrast(light, paper) >= 3.0 && contrast(dark, dark_paper) >= 3.0, "ceiling");
    }

    #[test]
    fn an_api_has_one_colour() {
        assert_eq!(Api::of("wgpu", "Vulkan").colour(), "vulkan");
        assert_eq!(Api::of("wgpu", "BrowserWebGpu").colour(), "web");
        assert_eq!(Api::of("cub", "").label, "CUB");
        assert_eq!(Api::of("rocPRIM", "").colour(), "library");
        assert_eq!(Api::of("rocPRIM", "").label, "rocPRIM");
    }
}
