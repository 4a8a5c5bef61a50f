//! Views in kernels: how an argument's elements come from the memory that a view reads.
//!
//! Of an argument `input` texts take the element at an index by `load_input`, and in C they hand it on as an `Input`. Where it is memory,
//! that is an index into it. Where a view stands there, what this module writes computes the element.

use crate::emitter::Emitter;
use crate::narrow::widened;
use crate::route::Route;
use crate::stores::Stores;

use trifold_core::{
    Access, Argument, Caps, Captured, DeviceKind, ElementType, KernelKey, LEAVES, Language, Leaf, Result, Scalar,
    ViewOf, leaf_unit,
};

/// C: how texts write to an output that is memory.
const STORE_OUTPUT: &str = "#define store_output(output, index, value) ((output)[index] = (value))\n";

/// The lanes of a pack.
pub(crate) const LANES: [&str; 4] = ["x", "y", "z", "w"];

/// What stands before the parameters: types, and the maps' functions.
pub(crate) struct Views<'a> {
    pub(crate) key: &'a KernelKey,
    pub(crate) language: Language,
    /// Whether a processor runs the kernels.
    pub(crate) is_software: bool,
    /// Structs that the kernel has no name for.
    structs: Vec<ElementType>,
}

impl<'a> Views<'a> {
    pub(crate) fn of(key: &'a KernelKey, caps: &Caps) -> Views<'a> {
        let is_software = caps.kind == DeviceKind::Cpu;
        let mut views = Views { key, language: caps.language, is_software, structs: vec![] };
        let of_views = key.views.iter().flat_map(|of| of.view.node().elements());
        for element in of_views.chain(key.then.iter().map(|then| then.map().output.clone())) {
            if matches!(element, ElementType::Struct { .. }) && views.own_name(&element).is_none() {
                views.structs.push(element);
            }
        }
        views
    }

    /// What the kernel calls a type, if it has a name for it.
    fn own_name(&self, element: &ElementType) -> Option<String> {
        if self.key.element.as_ref() == Some(element) {
            return Some("T".into());
        }
        if self.key.selector.as_ref().is_some_and(|selector| selector.element() == element) {
            return Some("Item".into());
        }
        self.structs.iter().position(|known| known == element).map(|number| format!("Value{number}"))
    }

    /// The type of a value. Of less than a word it is the word that has the value's bits.
    pub(crate) fn name_of(&self, element: &ElementType) -> String {
        match element {
            ElementType::Scalar(scalar) if scalar.bytes() < 4 => "u32".into(),
            ElementType::Scalar(scalar) => scalar.name().into(),
            ElementType::Struct { name, .. } => self.own_name(element).unwrap_or_else(|| (*name).into()),
        }
    }

    /// The types of values and of leaves, and the maps.
    pub(crate) fn declarations(&self) -> Result<String> {
        let mut text = String::new();
        for (number, element) in self.structs.iter().enumerate() {
            text += &trifold_lang::emit_struct(element, &format!("Value{number}"), self.language)?;
        }
        let maps = self.key.maps();
        for (number, map) in maps.iter().enumerate() {
            text += &trifold_lang::emit_map(map, number, &|element| self.name_of(element), self.language)?;
            text.push('\n');
        }
        let selected = self.key.selector.as_ref().map(|selector| selector.element());
        let floats = |scalar: Scalar| {
            let is = |element: &ElementType| *element == ElementType::Scalar(scalar);
            let is_read = selected.is_some_and(is) || maps.iter().any(|map| map.inputs.iter().any(is));
            (is_read, maps.iter().any(|map| is(&map.output)))
        };
        text += &trifold_lang::emit_halves(floats(Scalar::F16), floats(Scalar::BF16), self.language)?;
        text += &selected.map(|element| self.items(element)).unwrap_or_default();
        text += &Stores::of(self).map(|stores| stores.declaration()).unwrap_or_default();
        for of in &self.key.views {
            for (leaf, number) in of.view.leaves().iter().zip(of.leaves()) {
                text += &self.leaf_type(leaf, LEAVES[number].of);
            }
        }
        Ok(text)
    }

    /// What a selection's memory holds, and an element as its predicate's text knows it.
    fn items(&self, element: &ElementType) -> String {
        let value = widened(element, "item", self.language);
        let (held, is_part) = (element.held(), element.bytes() < 4);
        match self.language {
            Language::Wgsl => {
                let held = if is_part { self.name_of(&held) } else { "Item".into() };
                format!("alias StoredItem = Item;\nfn item_value(item: Item) -> {held} {{ return {value}; }}\n")
            }
            _ => {
                let stored = if is_part { self.stored(element) } else { "Item".into() };
                format!("typedef {stored} StoredItem;\n#define item_value(item) ({value})\n")
            }
        }
    }

    /// C: what stands before types of the device's memory.
    pub(crate) fn space(&self) -> &'static str {
        if self.language == Language::OpenClC { "__global " } else { "" }
    }

    /// C: what stands before functions.
    pub(crate) fn function(&self) -> &'static str {
        if self.language == Language::CudaC { "FUNCTION " } else { "" }
    }

    pub(crate) fn pack(&self) -> u32 {
        self.key.constant("PACK").unwrap_or(1)
    }

    /// Whether a leaf is read by packs of as many elements as the kernel's.
    pub(crate) fn is_packed(&self, leaf: &Leaf) -> bool {
        let is_part = self.language == Language::Wgsl && leaf.element.bytes() < 4;
        self.pack() > 1 && !is_part && leaf_unit(leaf, self.pack()) != leaf.element.bytes()
    }

    /// C: the type of an element in memory.
    pub(crate) fn stored(&self, element: &ElementType) -> String {
        match element.bytes() {
            1 => "u8".into(),
            2 => "u16".into(),
            _ => self.name_of(element),
        }
    }

    /// The type of what memory has at an index.
    fn leaf_type(&self, leaf: &Leaf, name: &str) -> String {
        let of = match (self.language, &leaf.element) {
            (Language::Wgsl, element) if self.is_packed(leaf) => {
                format!("vec{}<{}>", self.pack(), self.name_of(element))
            }
            (Language::Wgsl, element) => self.name_of(element),
            (language, ElementType::Scalar(scalar)) if self.is_packed(leaf) => {
                let vector = match scalar.bytes() {
                    1 => "uchar",
                    2 => "ushort",
                    _ => scalar.vector_name(language),
                };
                format!("{vector}{}", self.pack())
            }
            (_, element) => self.stored(element),
        };
        match self.language {
            Language::Wgsl => format!("alias {name} = {of};\n"),
            _ => format!("typedef {of} {name};\n"),
        }
    }

    /// The functions behind the parameters: those of an argument that is memory, and those of views.
    pub(crate) fn accessors(&self, argument: &Argument) -> String {
        if argument.name == "output" {
            return self.stores(argument);
        }
        let own = match self.key.view(argument.name) {
            Some(of) => Emitter { views: self, of, argument, maps: self.maps_before(of) }.text(),
            None => self.of_memory(argument),
        };
        if self.language == Language::Wgsl {
            return own;
        }
        own + &Route::of(argument.name).and_then(|route| route.text(self)).unwrap_or_default()
    }

    /// How texts write to the output.
    fn stores(&self, Argument { of, .. }: &Argument) -> String {
        match (Stores::of(self), self.language) {
            (Some(stores), _) => stores.text(),
            (None, Language::Wgsl) => {
                format!("\nfn store_output(index: u32, value: {of}) {{ output[index] = value; }}\n")
            }
            (None, Language::OpenClC) => format!("typedef __global {of} *Output;\n{STORE_OUTPUT}"),
            (None, _) => format!("typedef {of} *Output;\n{STORE_OUTPUT}"),
        }
    }

    /// C: the output that a map is behind, as the kernel's text finds it.
    pub(crate) fn made_output(&self) -> Option<String> {
        Stores::of(self).map(|stores| stores.made())
    }

    fn maps_before(&self, of: &ViewOf) -> usize {
        let before = self.key.views.iter().take_while(|other| other.argument != of.argument);
        before.map(|other| other.view.node().maps().len()).sum()
    }

    fn of_memory(&self, argument: &Argument) -> String {
        let Argument { name, of, .. } = argument;
        let stride = words_each(self.key, argument);
        let in_words = is_in_words(self.key, argument);
        if self.language == Language::Wgsl {
            let at = format!("params.{name}_offset + index * {stride} + word");
            // What is stored by parts has a function that loads one.
            let word = if *of == "u32" { format!("{name}[{at}]") } else { format!("load_{name}({at})") };
            return match in_words {
                true => format!("\nfn load_{name}_word(index: u32, word: u32) -> {of} {{ return {word}; }}\n"),
                false => format!("\nfn load_{name}(index: u32) -> {of} {{ return {name}[index]; }}\n"),
            };
        }
        let (space, alias) = (self.space(), type_of(name));
        let lane = match *of {
            "Pack" => format!(
                "#define load_{name}_lane({name}, index, lane) (((const {space}T *)(({name}) + (index)))[lane])\n"
            ),
            _ if in_words => format!(
                "#define load_{name}_word({name}, index, word) (({name})[(size_t)(index) * {stride} + (word)])\n"
            ),
            _ => String::new(),
        };
        format!(
            "typedef const {space}{of} *{alias};\n#define load_{name}({name}, index) (({name})[index])\n\
             #define {name}_from({name}, index) (({name}) + (index))\n{lane}"
        )
    }

    /// C: an argument that a view stands for, as the kernel's text finds it.
    pub(crate) fn made(&self, of: &ViewOf) -> String {
        let leaves = of.leaves().map(|leaf| format!("{} + params.{}", LEAVES[leaf].name, LEAVES[leaf].offset));
        let lengths = of.lengths().map(|length| format!("params.{}", LEAVES[length].length));
        let captured = self.captured(of).into_iter().map(|captured| format!("params.{}", captured.field));
        let fields: Vec<_> = leaves.chain(lengths).chain(captured).chain(["0u".into()]).collect();
        format!("{} {} = {{{}}};", type_of(of.argument), of.argument, fields.join(", "))
    }

    /// The numbers that a view's maps read.
    pub(crate) fn captured(&self, of: &ViewOf) -> Vec<Captured<'a>> {
        let (first, count) = (self.maps_before(of), of.view.node().maps().len());
        let own =
            |captured: &Captured<'_>| (first..first + count).any(|map| captured.field == format!("map{map}_captures"));
        self.key.captured().into_iter().filter(own).collect()
    }
}

/// The constant that has how many words an element of an argument takes whose elements are words.
fn words_each(key: &KernelKey, argument: &Argument) -> &'static str {
    let constant = match argument.of {
        "StoredValue" => "VALUE_WORDS",
        "StoredRun" => "KEY_WORDS",
        _ => "RUN_WORDS",
    };
    if key.constant(constant).is_some() { constant } else { "1u" }
}

/// Whether texts take an argument's elements word by word, or by other parts that they are moved by.
pub(crate) fn is_in_words(key: &KernelKey, argument: &Argument) -> bool {
    let is_values = argument.of == "StoredValue" && argument.access == Access::Read;
    matches!(argument.of, "u32" | "StoredRun") || is_values && key.constant("VALUE_WORDS").is_some()
}

/// C: the type of an argument that is read: `InputValues` of `input_values`.
pub(crate) fn type_of(name: &str) -> String {
    let words = name.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
    words.collect()
}
