//! The functions of one view: its leaves' elements, what is made of them, and what texts call.

use std::fmt::Write;

use crate::narrow::{narrowed, widened};
use crate::view::{LANES, Views, is_in_words, type_of};

use trifold_core::{Argument, ElementType, LEAVES, Language, Leaf, MapText, Node, ViewOf};

/// A search of sorted elements, in a function's body.
struct Search<'s> {
    /// What has its result.
    name: &'s str,
    /// The number of the map that compares.
    map: usize,
    /// The parameter that says how many are searched.
    length: &'static str,
    /// What is searched for.
    value: String,
}

/// What writes the functions of one view.
pub(crate) struct Emitter<'v, 'a> {
    pub(crate) views: &'v Views<'a>,
    pub(crate) of: &'v ViewOf,
    pub(crate) argument: &'v Argument,
    /// The number of the next map.
    pub(crate) maps: usize,
}

impl Emitter<'_, '_> {
    fn is_wgsl(&self) -> bool {
        self.views.language == Language::Wgsl
    }

    fn is_pack(&self) -> bool {
        self.argument.of == "Pack" && self.views.pack() > 1
    }

    /// A function of the view. `arguments` are types and names; in C the view's memory comes before them.
    fn function(&self, result: &str, name: &str, arguments: &[(String, String)], body: &str) -> String {
        let input = (!self.is_wgsl()).then(|| (type_of(self.argument.name), "view".to_string()));
        let list = input.iter().chain(arguments).map(|(ty, name)| match self.is_wgsl() {
            true => format!("{name}: {ty}"),
            false => format!("{ty} {name}"),
        });
        let list = list.collect::<Vec<_>>().join(", ");
        // Software devices' compilers take long over loops that stand in each lane of each row.
        let inlined = if self.views.is_software { "__attribute__((noinline)) " } else { "INLINED " };
        match self.views.language {
            Language::Wgsl => format!("fn {name}({list}) -> {result} {{\n{body}}}\n"),
            Language::OpenClC => format!("{inlined}{result} {name}({list}) {{\n{body}}}\n"),
            _ => format!("FUNCTION {result} {name}({list}) {{\n{body}}}\n"),
        }
    }

    /// A call of one.
    fn call(&self, name: &str, arguments: &[String]) -> String {
        let input = (!self.is_wgsl()).then(|| "view".to_string());
        format!("{name}({})", input.iter().chain(arguments).cloned().collect::<Vec<_>>().join(", "))
    }

    fn leaves(&self) -> impl Iterator<Item = (&Leaf, usize)> {
        self.of.view.leaves().iter().zip(self.of.leaves())
    }

    pub(crate) fn text(mut self) -> String {
        let mut text = String::from("\n");
        if !self.is_wgsl() {
            text += &self.structure();
        }
        let leaves: Vec<(Leaf, usize)> = self.leaves().map(|(leaf, number)| (leaf.clone(), number)).collect();
        for (leaf, number) in &leaves {
            text += &self.leaf_at(leaf, *number);
        }
        text += &self.element();
        text + &self.loads()
    }

    /// C: the type of what a kernel hands on, and the same from a later element on.
    fn structure(&self) -> String {
        let (name, ty) = (self.argument.name, type_of(self.argument.name));
        let space = self.views.space();
        let mut fields = String::new();
        for leaf in self.of.leaves() {
            let _ = writeln!(fields, "  {space}const {} *{};", LEAVES[leaf].of, LEAVES[leaf].name);
        }
        for length in self.of.lengths() {
            let _ = writeln!(fields, "  u32 {};", LEAVES[length].length);
        }
        for captured in self.views.captured(self.of) {
            let _ = writeln!(fields, "  {} {};", captured.of, captured.field);
        }
        let index = [("u32".to_string(), "index".to_string())];
        let from = self.function(&ty, &format!("{name}_from"), &index, "  view.first += index;\n  return view;\n");
        format!("typedef struct {{\n{fields}  u32 first;\n}} {ty};\n{from}")
    }

    /// A leaf's element at a place.
    fn leaf_at(&self, leaf: &Leaf, number: usize) -> String {
        let (names, bytes) = (LEAVES[number], leaf.element.bytes());
        let place = [("u32".to_string(), "place".to_string())];
        let name = names.name;
        let body = match self.views.language {
            Language::Wgsl if bytes < 4 => format!(
                "  let at = params.{} + place;\n  return ({name}[at / {each}u] >> ({bits}u * (at % {each}u))) & {mask:#x}u;\n",
                names.offset,
                each = 4 / bytes,
                bits = 8 * bytes,
                mask = (1u32 << (8 * bytes)) - 1,
            ),
            Language::Wgsl if self.views.is_packed(leaf) => {
                let pack = self.views.pack();
                format!("  return {name}[params.{} + place / {pack}u][place % {pack}u];\n", names.offset)
            }
            Language::Wgsl => format!("  return {name}[params.{} + place];\n", names.offset),
            Language::OpenClC if self.views.is_packed(leaf) => {
                format!("  return ((__global const {} *)view.{name})[place];\n", self.views.stored(&leaf.element))
            }
            _ if self.views.is_packed(leaf) => {
                format!("  return ((const {} *)view.{name})[place];\n", self.views.stored(&leaf.element))
            }
            _ => format!("  return view.{name}[place];\n"),
        };
        self.function(&self.views.name_of(&leaf.element), &format!("{name}_at"), &place, &body)
    }

    /// The view's element at a place, of straight leaves' elements there.
    fn element(&mut self) -> String {
        let mut body = String::new();
        let node = self.of.view.node().clone();
        let value = self.value(&node, "place", true, &mut body);
        let value = self.converted(&node.element(), &value, &mut body);
        let _ = writeln!(body, "  return {value};");
        let place = ("u32".to_string(), "place".to_string());
        let word = self.is_words().then(|| ("u32".to_string(), "word".to_string()));
        let leaves = self.leaves().filter(|(leaf, _)| leaf.straight);
        let leaves =
            leaves.map(|(leaf, number)| (self.views.name_of(&leaf.element), format!("of_{}", LEAVES[number].name)));
        let arguments: Vec<_> = [place].into_iter().chain(word).chain(leaves).collect();
        self.function(self.result(), &format!("{}_of", self.argument.name), &arguments, &body)
    }

    /// Whether texts take elements word by word.
    fn is_words(&self) -> bool {
        is_in_words(self.views.key, self.argument)
    }

    /// The type of an element.
    fn result(&self) -> &'static str {
        if self.argument.of == "Pack" { "T" } else { self.argument.of }
    }

    /// An expression for a node's value at a place, for which it may add lines to the body.
    fn value(&mut self, node: &Node, place: &str, straight: bool, body: &mut String) -> String {
        match node {
            Node::Leaf(leaf, _) => {
                let name = LEAVES[usize::from(self.of.first + leaf)].name;
                if straight { format!("of_{name}") } else { self.call(&format!("{name}_at"), &[place.into()]) }
            }
            Node::Place => place.into(),
            Node::Mapped(map, of) => {
                let number = self.maps;
                self.maps += 1;
                let mut arguments: Vec<String> = vec![];
                for (node, element) in of.iter().zip(&map.inputs) {
                    let value = self.value(node, place, straight, body);
                    arguments.push(widened(element, &value, self.views.language));
                }
                if map.captures.element().is_some() {
                    let from = if self.is_wgsl() { "params" } else { "view" };
                    arguments.push(format!("{from}.map{number}_captures"));
                }
                let call = format!("map{number}({})", arguments.join(", "));
                let value = narrowed(&map.output, &call, self.views.language);
                self.named(&self.views.name_of(&map.output), &format!("mapped{number}"), &value, body)
            }
            Node::Gathered { source, index, length } => {
                let number = usize::from(self.of.first + length);
                let index = self.value(index, place, straight, body);
                let from = if self.is_wgsl() { "params" } else { "view" };
                let place = format!("min({index}, {from}.{} - 1u)", LEAVES[number].length);
                // Of pairs each part has the place anew.
                let name = format!("place{number}_{}", body.lines().count());
                let place = self.named("u32", &name, &place, body);
                self.value(source, &place, false, body)
            }
            Node::Bound { sorted, of, before, length } => {
                let map = self.maps;
                self.maps += 1;
                let value = self.value(of, place, straight, body);
                let number = usize::from(self.of.first + length);
                // Of pairs each part is searched for anew.
                let name = format!("found{number}_{}", body.lines().count());
                let value = self.named(&self.views.name_of(&of.element()), &format!("{name}_of"), &value, body);
                self.bound(sorted, before, &Search { name: &name, map, length: LEAVES[number].length, value }, body);
                name
            }
        }
    }

    /// Looks for how many elements of a sorted node are before a value: half of them are left after each turn. There are as many turns for
    /// all values, so that lanes stay together.
    fn bound(&mut self, sorted: &Node, before: &MapText, search: &Search<'_>, body: &mut String) {
        let Search { name, map, length, value } = search;
        let mut turn = String::new();
        let element = self.value(sorted, &format!("({name} + size - size / 2u - 1u)"), false, &mut turn);
        let arguments = [element, value.clone()];
        let arguments = arguments.iter().zip(&before.inputs).map(|(value, of)| widened(of, value, self.views.language));
        let is_before = format!("map{map}({}) != 0u", arguments.collect::<Vec<_>>().join(", "));
        let behind = format!("{name} + size - size / 2u");
        let _ = match self.is_wgsl() {
            true => write!(
                body,
                "  var {name} = 0u;\n  for (var size = params.{length}; size > 0u; size = size / 2u) {{\n{turn}  \
                 {name} = select({name}, {behind}, {is_before});\n  }}\n"
            ),
            false => write!(
                body,
                "  u32 {name} = 0u;\n  for (u32 size = view.{length}; size > 0u; size = size / 2u) {{\n{turn}  \
                 {name} = {is_before} ? {behind} : {name};\n  }}\n"
            ),
        };
    }

    /// A name for a value.
    fn named(&self, ty: &str, name: &str, value: &str, body: &mut String) -> String {
        let _ = match self.is_wgsl() {
            true => writeln!(body, "  let {name} = {value};"),
            false => writeln!(body, "  const {ty} {name} = {value};"),
        };
        name.into()
    }

    /// A value as the argument has it: keys are words.
    fn converted(&self, element: &ElementType, value: &str, body: &mut String) -> String {
        let language = self.views.language;
        let is_part = element.bytes() < 4;
        match self.argument.of {
            "StoredKey" | "StoredValue" if is_part && !self.is_wgsl() => format!("({})({value})", self.argument.of),
            _ if self.is_words() && !is_part => {
                let value = self.named(&self.views.name_of(element), "made", value, body);
                let words = trifold_lang::words_of(element, &value, language).unwrap_or_default();
                let parts: Vec<String> = words.chunks(self.part_words()).map(|words| self.part(words)).collect();
                for (number, part) in parts.iter().enumerate().skip(1) {
                    let _ = writeln!(body, "  if (word == {number}u) {{ return {part}; }}");
                }
                parts.first().cloned().unwrap_or_default()
            }
            "StoredKey" if !is_part => {
                let value = self.named(&self.views.name_of(element), "made", value, body);
                let words = trifold_lang::words_of(element, &value, language).unwrap_or_default();
                match (&words[..], language) {
                    ([word], _) => word.clone(),
                    (words, Language::Wgsl) => format!("StoredKey({})", words.join(", ")),
                    (words, _) => {
                        let _ = writeln!(body, "  StoredKey key;");
                        for (word, lane) in words.iter().zip(LANES) {
                            let _ = writeln!(body, "  key.{lane} = {word};");
                        }
                        "key".into()
                    }
                }
            }
            _ => value.into(),
        }
    }

    /// 32-bit words of what texts take at once of an element that they take by parts.
    fn part_words(&self) -> usize {
        let unit = if self.argument.of == "StoredValue" { self.views.key.constant("VALUE_UNIT") } else { None };
        unit.unwrap_or(4).div_ceil(4) as usize
    }

    /// These words as one of them.
    fn part(&self, words: &[String]) -> String {
        match (words, self.views.language) {
            ([word], _) => word.clone(),
            (words, Language::Wgsl) => format!("StoredValue({})", words.join(", ")),
            (words, Language::OpenClC) => format!("(StoredValue)({})", words.join(", ")),
            (words, _) => format!("StoredValue{{{}}}", words.join(", ")),
        }
    }

    /// What texts call.
    fn loads(&self) -> String {
        let name = self.argument.name;
        let index = ("u32".to_string(), "index".to_string());
        let from = if self.is_wgsl() { "" } else { "  index += view.first;\n" };
        let of = format!("{name}_of");
        let at = |place: &str| {
            let leaves = self.leaves().filter(|(leaf, _)| leaf.straight);
            let leaves = leaves.map(|(_, number)| self.call(&format!("{}_at", LEAVES[number].name), &[place.into()]));
            let word = self.is_words().then(|| "word".to_string());
            self.call(&of, &[place.into()].into_iter().chain(word).chain(leaves).collect::<Vec<_>>())
        };
        if self.is_words() {
            let arguments = [index, ("u32".to_string(), "word".to_string())];
            let body = format!("{from}  return {};\n", at("index"));
            return self.function(self.argument.of, &format!("load_{name}_word"), &arguments, &body);
        }
        if !self.is_pack() {
            let body = format!("{from}  return {};\n", at("index"));
            let load = self.function(self.argument.of, &format!("load_{name}"), &[index], &body);
            // A pack of one is its element.
            let lane = match (self.is_wgsl(), self.argument.of) {
                (false, "Pack") => {
                    format!("#define load_{name}_lane({name}, index, lane) load_{name}({name}, index)\n")
                }
                _ => String::new(),
            };
            return load + &lane;
        }
        let load = self.function("Pack", &format!("load_{name}"), std::slice::from_ref(&index), &self.pack_body(from));
        if self.is_wgsl() {
            return load;
        }
        let arguments = [index, ("u32".to_string(), "lane".to_string())];
        let place = format!("  const u32 place = (view.first + index) * {}u + lane;\n", self.views.pack());
        let lane = format!("{place}  return {};\n", at("place"));
        load + &self.function(self.result(), &format!("load_{name}_lane"), &arguments, &lane)
    }

    /// Loads a pack: straight leaves by packs where memory has them, then lane by lane.
    fn pack_body(&self, from: &str) -> String {
        let pack = self.views.pack();
        let mut body = String::from(from);
        let first = self.named("u32", "place", &format!("index * {pack}u"), &mut body);
        let mut lanes = vec![vec![]; pack as usize];
        for (leaf, number) in self.leaves().filter(|(leaf, _)| leaf.straight) {
            let names = LEAVES[number];
            let bytes = leaf.element.bytes();
            if self.views.is_packed(leaf) {
                let value = match self.is_wgsl() {
                    true => format!("{}[params.{} + index]", names.name, names.offset),
                    false => format!("view.{}[index]", names.name),
                };
                let value = self.named(names.of, &format!("of_{}", names.name), &value, &mut body);
                lanes.iter_mut().zip(LANES).for_each(|(lane, name)| lane.push(format!("{value}.{name}")));
            } else if self.is_wgsl() && bytes < 4 && (bytes * pack).is_multiple_of(4) {
                self.words(number, bytes, &mut lanes, &mut body);
            } else {
                for (i, lane) in lanes.iter_mut().enumerate() {
                    // Texts in C take the last pack lane by lane. In WGSL its lanes past the end load the last element, as no memory may be there.
                    let place = match self.is_wgsl() {
                        true => format!("min({first} + {i}u, params.n - 1u)"),
                        false => format!("{first} + {i}u"),
                    };
                    lane.push(self.call(&format!("{}_at", names.name), &[place]));
                }
            }
        }
        let made: Vec<String> = lanes
            .into_iter()
            .enumerate()
            .map(|(i, leaves)| {
                let place = [format!("{first} + {i}u")];
                self.call(&format!("{}_of", self.argument.name), &place.into_iter().chain(leaves).collect::<Vec<_>>())
            })
            .collect();
        match self.is_wgsl() {
            true => {
                let _ = writeln!(body, "  return Pack({});", made.join(", "));
            }
            false => {
                let _ = writeln!(body, "  Pack pack;");
                for (value, lane) in made.iter().zip(LANES) {
                    let _ = writeln!(body, "  pack.{lane} = {value};");
                }
                let _ = writeln!(body, "  return pack;");
            }
        }
        body
    }

    /// WGSL: the words of a pack of parts of words, which start at one.
    fn words(&self, number: usize, bytes: u32, lanes: &mut [Vec<String>], body: &mut String) {
        let names = LEAVES[number];
        let each = (4 / bytes) as usize;
        let first = format!("(params.{} + place) / {each}u", names.offset);
        let mask = (1u32 << (8 * bytes)) - 1;
        for word in 0..lanes.len() / each {
            let name = format!("of_{}_{word}", names.name);
            let name = self.named("u32", &name, &format!("{}[{first} + {word}u]", names.name), body);
            for part in 0..each {
                lanes[word * each + part].push(format!("(({name} >> {}u) & {mask:#x}u)", part * 8 * bytes as usize));
            }
        }
    }
}
