//! Outputs that a map makes of what a kernel gives.
//!
//! Texts write by `store_output`, in C to an `Output` that they hand on. Where a map is behind them, what this module writes maps the
//! elements on their way.

use trifold_core::{Argument, ElementType, Language, MapText, mapped_unit};

use crate::view::{LANES, Views};

/// What writes the functions.
pub(crate) struct Stores<'v, 'a> {
    views: &'v Views<'a>,
    map: &'a MapText,
    /// The map's number.
    number: usize,
    /// The type of what texts store at once.
    of: &'static str,
    /// How many elements that is.
    pack: u32,
}

impl<'v, 'a> Stores<'v, 'a> {
    /// Of a kernel that maps its output.
    pub(crate) fn of(views: &'v Views<'a>) -> Option<Self> {
        let map = views.key.then.as_ref()?.map();
        let is_output = |argument: &&Argument| argument.name == "output";
        let of = views.key.kernel.arguments.iter().find(is_output)?.of;
        let pack = if of == "Pack" { views.pack() } else { 1 };
        Some(Stores { views, map, number: views.key.maps().len() - 1, of, pack })
    }

    fn is_wgsl(&self) -> bool {
        self.views.language == Language::Wgsl
    }

    /// Whether memory is written by vectors.
    fn is_packed(&self) -> bool {
        self.pack > 1 && mapped_unit(&self.map.output, self.pack) != self.map.output.bytes()
    }

    fn element(&self) -> String {
        self.views.name_of(&self.map.output)
    }

    /// The type of what memory has at an index.
    pub(crate) fn declaration(&self) -> String {
        let of = match (self.views.language, &self.map.output) {
            (Language::Wgsl, _) if self.is_packed() => format!("vec{}<{}>", self.pack, self.element()),
            (language, ElementType::Scalar(scalar)) if self.is_packed() => {
                format!("{}{}", scalar.vector_name(language), self.pack)
            }
            _ => self.element(),
        };
        match self.is_wgsl() {
            true => format!("alias MappedOutput = {of};\n"),
            false => format!("typedef {of} MappedOutput;\n"),
        }
    }

    /// The parameter that has the numbers which the map reads.
    fn captures(&self) -> Option<String> {
        self.map.captures.element().map(|_| format!("map{}_captures", self.number))
    }

    /// The map of a value.
    fn mapped(&self, value: &str) -> String {
        let from = if self.is_wgsl() { "params" } else { "to" };
        let captures = self.captures().map(|field| format!(", {from}.{field}")).unwrap_or_default();
        format!("map{}({value}{captures})", self.number)
    }

    /// What each lane becomes.
    fn lanes(&self) -> Vec<String> {
        match self.pack {
            1 => vec![self.mapped("value")],
            pack => LANES[..pack as usize].iter().map(|lane| self.mapped(&format!("value.{lane}"))).collect(),
        }
    }

    /// Where a lane's element is in memory.
    fn place(&self, lane: usize) -> String {
        let pack = self.pack;
        match (self.is_wgsl(), self.is_packed()) {
            (true, true) => format!("mapped_output[index].{}", LANES[lane]),
            (true, false) if pack == 1 => "mapped_output[index]".into(),
            // The index counts packs behind where the binding begins, and that is counted in elements.
            (true, false) => {
                format!("mapped_output[params.output_offset + (index - params.output_offset) * {pack}u + {lane}u]")
            }
            (false, true) => {
                format!("(({}{} *)to.memory)[index * {pack}u + {lane}u]", self.views.space(), self.element())
            }
            (false, false) => format!("to.memory[index * {pack}u + {lane}u]"),
        }
    }

    /// Stores all that a text stores at once.
    fn whole(&self) -> String {
        let lanes = self.lanes();
        match (self.is_packed(), self.is_wgsl()) {
            (true, true) => format!("  mapped_output[index] = MappedOutput({});\n", lanes.join(", ")),
            (true, false) => {
                let set = lanes.iter().zip(LANES).map(|(value, lane)| format!("  mapped.{lane} = {value};\n"));
                format!("  MappedOutput mapped;\n{}  to.memory[index] = mapped;\n", set.collect::<String>())
            }
            (false, _) => {
                let stores = lanes.iter().enumerate();
                stores.map(|(lane, value)| format!("  {} = {value};\n", self.place(lane))).collect()
            }
        }
    }

    /// Stores what of it is before the end.
    fn ragged(&self) -> String {
        let lanes = self.lanes().into_iter().enumerate();
        let store = |(lane, value)| format!("  if (first + {lane}u < n) {{ {} = {value}; }}\n", self.place(lane));
        lanes.map(store).collect()
    }

    /// The functions, and in C their type.
    pub(crate) fn text(&self) -> String {
        let (of, whole, ragged, space) = (self.of, self.whole(), self.ragged(), self.views.space());
        let function = self.views.function();
        let (whole, ragged) = match self.is_wgsl() {
            true => (
                format!("\nfn store_output(index: u32, value: {of}) {{\n{whole}}}\n"),
                format!(
                    "fn store_pack(at: u32, n: u32, value: Pack) {{\n  let first = at * PACK;\n  \
                       let index = params.output_offset + at;\n{ragged}}}\n"
                ),
            ),
            false => {
                let field = |field: String| format!("  Map{}Captures {field};\n", self.number);
                let numbers = self.captures().map(field).unwrap_or_default();
                (
                    format!(
                        "typedef struct {{\n  {space}MappedOutput *memory;\n{numbers}}} Output;\n\
                         {function}void store_output(Output to, u32 index, {of} value) {{\n{whole}}}\n"
                    ),
                    format!(
                        "{function}void store_pack(Output to, u32 index, u32 n, Pack value) {{\n  \
                           const u32 first = index * PACK;\n{ragged}}}\n"
                    ),
                )
            }
        };
        whole + if of == "Pack" { &ragged } else { "" }
    }

    /// C: the output, as the kernel's text finds it.
    pub(crate) fn made(&self) -> String {
        let captures = self.captures().map(|field| format!(", params.{field}")).unwrap_or_default();
        format!("const Output output = {{mapped_output + params.output_offset{captures}}};")
    }
}
