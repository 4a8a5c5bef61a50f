//! Putting a kernel's source together: header, prelude, element, operator, blocks, body.

use std::collections::HashSet;
use std::fmt::Write;

use trifold_core::{
    Access, Argument, CAPACITY, Caps, Captures, DeviceKind, ElementType, Error, KernelKey, LENGTH, LENGTH_OFFSET,
    Language, Result, Size, SizeStep, SubgroupSource,
};

use trifold_core::wgsl::mentions;
use trifold_lang::{extended, users};

use crate::lines::repeat;
use crate::route::Route;
use crate::unroll::unroll;
use crate::view::{Views, is_in_words, type_of};
use crate::{ParamsLayout, text};

/// A kernel ready for a compiler.
#[derive(Debug, Clone)]
pub struct Assembled {
    /// The whole source.
    pub source: String,
    /// The source's sections in order, each with where it begins: what is generated, and the texts by name.
    pub sections: Vec<(&'static str, usize)>,
    /// The function to launch.
    pub entry_point: &'static str,
    /// Invocations of a workgroup, in one dimension.
    pub workgroup: u32,
    /// The arguments, in order. The parameters follow: by value in OpenCL and CUDA, as the uniform buffer at the next
    /// binding of group 0 in WGSL. A WGSL argument's binding is its place here.
    pub arguments: Vec<Argument>,
    /// The parameters' layout.
    pub params: ParamsLayout,
    /// Whether the caller's part of the source has loops, which may not end. The project's own do.
    pub caller_loops: bool,
}

/// Assembles a kernel for a device.
///
/// # Errors
/// [`Error::Operator`] if the operator cannot be expressed in the device's language, [`Error::Invalid`] if there is no text of
/// the kernel or of a block.
pub fn assemble(key: &KernelKey, caps: &Caps) -> Result<Assembled> {
    let language = caps.language;
    let params = ParamsLayout::new(key)?;
    let workgroup = key
        .constant("WORKGROUP")
        .ok_or_else(|| Error::Invalid(format!("kernel {} was planned without a WORKGROUP", key.name())))?;
    let file = |name: &str| {
        text(language, name).ok_or_else(|| Error::Invalid(format!("no text kernels/{name}.{}", language.extension())))
    };

    let pack = key.constant("PACK").unwrap_or(1);

    let mut source = format!("// {} assembled for {} ({})\n\n", key.name(), caps.device.replace('\n', " "), caps.api);
    for (name, value) in &key.constants {
        let _ = match language {
            Language::Wgsl => writeln!(source, "const {name}: u32 = {value}u;"),
            _ => writeln!(source, "#define {name} {value}u"),
        };
    }
    source.push('\n');
    let mut sections = vec![("constants", 0)];
    for prelude in ["prelude/prelude"].into_iter().chain(subgroup_prelude(key, caps)) {
        sections.push((prelude, source.len()));
        source.push_str(file(prelude)?);
    }
    sections.push(("element and operator", source.len()));
    if let Some(element) = &key.element {
        source.push_str(&trifold_lang::emit_element(element, language)?);
        source.push_str(&pack_type(element, language, pack));
    }
    let mut caller_loops = false;
    if let Some(op) = &key.op {
        source.push_str(&trifold_lang::emit_operator(op, language)?);
        caller_loops |= trifold_lang::operator_loops(op)?;
    }
    if let Some(bytes) = key.constant("VALUE_UNIT") {
        source.push_str(&trifold_lang::emit_value(bytes, language)?);
    }
    if let Some(bytes) = key.constant("RUN_UNIT") {
        source.push_str(&trifold_lang::emit_stored("StoredRun", bytes, language)?);
    }
    if let Some(image) = &key.image {
        sections.push(("key", source.len()));
        source.push_str(&trifold_lang::emit_key(image, key.constant("PLACES").unwrap_or_default(), language)?);
    }
    if let Some(selector) = &key.selector {
        caller_loops |= trifold_lang::selector_loops(selector)?;
        source.push('\n');
        source.push_str(&trifold_lang::emit_selector(selector, language)?);
    }
    let views = Views::of(key, caps);
    if !key.maps().is_empty() || !key.views.is_empty() || key.selector.is_some() {
        for map in key.maps() {
            caller_loops |= trifold_lang::map_loops(map)?;
        }
        sections.push(("views", source.len()));
        source.push('\n');
        source.push_str(&views.declarations()?);
    }
    source.push('\n');
    sections.push(("parameters", source.len()));
    source.push_str(&params.declaration(language));
    let count = |name: &str| match (name, &key.element) {
        ("ELEMENT_WORDS", Some(element)) => Some(element.words()),
        ("VALUE_SIZE", _) => key.constant("VALUE_UNIT").map(|bytes| bytes.div_ceil(4)),
        _ => key.constant(name),
    };
    // What maps its output stores packs by a function of its own.
    let is_own = |name: &&str| key.then.is_some() && *name == "element/store";
    let names = key.parts.iter().copied().filter(|name| !is_own(name)).chain([key.name()]);
    let texts = names.map(|name| Ok((name, repeat(file(name)?, pack, &|name| key.constant(name)))));
    let mut texts: Vec<(&str, String)> = texts.collect::<Result<_>>()?;
    let loads = |argument: &Argument| texts.iter().any(|(_, text)| loads(text, argument.name, language));
    source.push_str(&arguments(key, &views, &loads, language));
    let takes = |captures: &Captures| captures.element().is_some();
    if key.op.as_ref().is_some_and(|op| takes(op.captures())) {
        pass_captures("combine", &mut texts, key.kernel.entry_point, language);
    }
    if key.selector.as_ref().is_some_and(|selector| takes(selector.captures())) {
        pass_captures("keep", &mut texts, key.kernel.entry_point, language);
    }
    if language != Language::Wgsl {
        take_views(key, &views, &mut texts)?;
    }
    if !key.sizes.is_empty() {
        read_length(key, &mut texts, language)?;
    }
    for (name, text) in texts {
        source.push('\n');
        sections.push((name, source.len()));
        match language {
            // Software devices have memory for registers, and compilers that grow with the text.
            Language::Wgsl if caps.kind != DeviceKind::Cpu => source.push_str(&unroll(&text, &count)?),
            _ => source.push_str(&text),
        }
    }
    Ok(Assembled {
        source,
        sections,
        entry_point: key.kernel.entry_point,
        workgroup,
        arguments: key.taken(),
        params,
        caller_loops,
    })
}

/// Passes the captures on to the operator or the predicate, a function of this name: from the uniform buffer, or in C through the functions
/// on the way.
fn pass_captures(to: &str, texts: &mut [(&str, String)], entry_point: &str, language: Language) {
    if language == Language::Wgsl {
        let functions = HashSet::from([to]);
        texts.iter_mut().for_each(|(_, text)| *text = extended(text, &functions, "", "params.captures"));
        return;
    }
    let whole: String = texts.iter().map(|(_, text)| text.as_str()).collect();
    let mut functions = users(&whole, &[to]);
    functions.remove(entry_point);
    functions.insert(to);
    for (_, text) in texts {
        *text = extended(text, &functions, "Captures captures", "captures");
        if let Some(body) = body(text, entry_point) {
            text.insert_str(body, "\n  const Captures captures = params.captures;");
        }
    }
}

/// Has a kernel in C make its views where it moves an argument to where its span begins.
fn take_views(key: &KernelKey, views: &Views<'_>, texts: &mut [(&str, String)]) -> Result<()> {
    for of in &key.views {
        let begins = format!("{0} += params.{0}_offset;", of.argument);
        let none = || Error::Invalid(format!("the text of {} has no line `{begins}`", key.name()));
        let (_, text) = texts.iter_mut().find(|(_, text)| text.contains(&begins)).ok_or_else(none)?;
        *text = text.replacen(&begins, &views.made(of), 1);
    }
    if let Some(made) = views.made_output() {
        let begins = "output += params.output_offset;";
        let none = || Error::Invalid(format!("the text of {} has no line `{begins}`", key.name()));
        let (_, text) = texts.iter_mut().find(|(_, text)| text.contains(begins)).ok_or_else(none)?;
        *text = text.replacen(begins, &made, 1);
    }
    Ok(())
}

/// The arguments that may be views, and the one that a map may stand behind.
const VIEWED: [&str; 5] = ["input", "source", "input_values", "source_values", "output"];

/// Where the body of a kernel's function begins in a text, if it is there.
fn body(text: &str, entry_point: &str) -> Option<usize> {
    let at = text.find(&format!(" {entry_point}("))?;
    Some(at + text[at..].find('{')? + 1)
}

/// Has a kernel in C compute the parameters that follow from how many elements there are. It does so before anything else: in CUDA as soon
/// as what came before it has ended.
fn read_length(key: &KernelKey, texts: &mut [(&str, String)], language: Language) -> Result<()> {
    const FOLLOWS: &str = "follow_predecessor();";
    let place = |text: &str| {
        let body = body(text, key.kernel.entry_point)?;
        match language {
            Language::CudaC => Some(body + text[body..].find(FOLLOWS)? + FOLLOWS.len()),
            _ => Some(body),
        }
    };
    let mut places = texts.iter_mut().filter_map(|(_, text)| Some((place(text)?, text)));
    let none = || Error::Invalid(format!("the text of {} has no place where it could read a length", key.name()));
    let (at, text) = places.next().ok_or_else(none)?;
    let mut lines = format!("\n  const u32 length = min({LENGTH}[params.{LENGTH_OFFSET}], params.{CAPACITY});");
    for (name, size) in &key.sizes {
        let _ = write!(lines, "\n  params.{name} = {};", in_c(size));
    }
    text.insert_str(at, &lines);
    Ok(())
}

/// The number that follows from `length`, in C.
fn in_c(size: &Size) -> String {
    size.steps().fold("length".into(), |of: String, step| match step {
        SizeStep::Parts(1) | SizeStep::Times(1) | SizeStep::Plus(0) => of,
        SizeStep::Parts(each) => format!("({of} / {each}u + ({of} % {each}u != 0u ? 1u : 0u))"),
        SizeStep::Times(factor) => format!("({of} * {factor}u)"),
        SizeStep::Plus(more) => format!("({of} + {more}u)"),
        SizeStep::Window(first, most) => format!("min({of} - min({of}, {first}u), {most}u)"),
    })
}

/// The arguments: in WGSL the bindings of those that the kernel's launches have, and in C a kernel's whole list, `ARGUMENTS`.
fn arguments(key: &KernelKey, views: &Views<'_>, loads: &dyn Fn(&Argument) -> bool, language: Language) -> String {
    let has = |argument: &Argument| language != Language::Wgsl || argument.is_of(key);
    let arguments = key.taken();
    let own = arguments.iter().enumerate().filter(|(_, argument)| has(argument));
    // What is stored by parts has functions of its own.
    let is_new = |argument: &&Argument| {
        let by_word = argument.access == Access::Read && is_in_words(key, argument);
        key.view(argument.name).is_some() || by_word || stored_bytes(key, argument).is_none()
    };
    let all: String = own.map(|(binding, argument)| declaration(key, argument, language, binding)).collect();
    match language {
        Language::Wgsl => {
            let binding = arguments.len();
            let has = |argument: &&Argument| argument.is_of(key);
            let stored: String = arguments.iter().filter(has).map(|argument| accessors(key, argument)).collect();
            let viewed: String =
                viewed(key, language, loads).filter(is_new).map(|argument| views.accessors(argument)).collect();
            format!("\n{all}@group(0) @binding({binding}) var<uniform> params: Params;\n{stored}{viewed}")
        }
        _ => {
            let viewed: String = viewed(key, language, loads).map(|argument| views.accessors(argument)).collect();
            format!("\n#define ARGUMENTS {all}Params params\n{viewed}")
        }
    }
}

/// The arguments that texts load elements of by a function, as views may stand there.
fn viewed<'k>(
    key: &'k KernelKey,
    language: Language,
    loads: &dyn Fn(&Argument) -> bool,
) -> impl Iterator<Item = &'k Argument> {
    let is_mapped = |argument: &&Argument| argument.name == "output" && key.then.is_some();
    let has = move |argument: &&Argument| {
        // In C a kernel's list has those too that a launch leaves out.
        let is_there = language != Language::Wgsl || argument.is_of(key);
        key.view(argument.name).is_some() || is_mapped(argument) || is_there && loads(argument)
    };
    key.kernel.arguments.iter().filter(|argument| VIEWED.contains(&argument.name)).filter(has)
}

/// Whether a text has an argument's elements by its function, or hands it on.
fn loads(text: &str, name: &str, language: Language) -> bool {
    let of_type = language != Language::Wgsl && mentions(text, &type_of(name));
    of_type
        || Route::of(name).is_some_and(|route| mentions(text, route.made_by))
        || mentions(text, &format!("load_{name}"))
        || mentions(text, &format!("load_{name}_word"))
        || mentions(text, &format!("store_{name}"))
}

/// Bytes of what an argument's memory holds, where that is moved by kernels that may be of any size of it.
fn stored_bytes(key: &KernelKey, argument: &Argument) -> Option<u32> {
    match argument.of {
        "StoredKey" => key.image.as_ref().map(|image| image.bytes),
        "StoredItem" => key.selector.as_ref().map(|selector| selector.element().bytes()),
        "StoredKept" => key.constant("KEPT_UNIT"),
        "StoredValue" => key.constant("VALUE_UNIT"),
        "StoredRun" => key.constant("RUN_UNIT"),
        _ => None,
    }
}

/// WGSL: the functions that load and store what an argument's memory holds. Less than a word is packed: a word is several
/// elements', which others store meanwhile, so that each changes its own bits alone.
fn accessors(key: &KernelKey, argument: &Argument) -> String {
    let Some(bytes) = stored_bytes(key, argument) else { return String::new() };
    let Argument { name, of, access, .. } = argument;
    let (bits, each) = (8 * bytes, 4 / bytes.max(1));
    let [mask, shift] = [(1u64 << bits.min(16)) - 1, u64::from(bits)];
    let is_packed = bytes < 4;
    let (word, part) = (format!("index / {each}u"), format!("{shift}u * (index % {each}u)"));
    let load = match (is_packed, access) {
        (false, _) => format!("{name}[index]"),
        (true, Access::Read) => format!("({name}[{word}] >> ({part})) & {mask:#x}u"),
        (true, _) => format!("(atomicLoad(&{name}[{word}]) >> ({part})) & {mask:#x}u"),
    };
    let mut text = format!("\nfn load_{name}(index: u32) -> {of} {{ return {load}; }}\n");
    match (is_packed, access) {
        (_, Access::Read) => {}
        (false, _) => {
            let _ = writeln!(text, "fn store_{name}(index: u32, value: {of}) {{ {name}[index] = value; }}");
        }
        (true, _) => {
            let _ = writeln!(
                text,
                "// The bits of a word that are set in `mask`.\n\
                 fn merge_{name}(word: u32, mask: u32, value: u32) {{\n  \
                   if (mask == 0xffffffffu) {{ atomicStore(&{name}[word], value); }} else {{\n    \
                     atomicAnd(&{name}[word], ~mask);\n    \
                     atomicOr(&{name}[word], value);\n  \
                   }}\n}}\n\
                 fn store_{name}(index: u32, value: {of}) {{ merge_{name}({word}, {mask:#x}u << ({part}), value << ({part})); }}"
            );
        }
    }
    text
}

/// An argument's declaration, the binding of this number in WGSL.
fn declaration(key: &KernelKey, argument: &Argument, language: Language, binding: usize) -> String {
    let Argument { name, of, access, .. } = argument;
    let is_packed = language == Language::Wgsl && stored_bytes(key, argument).is_some_and(|bytes| bytes < 4);
    let (coherent, element) = match access {
        Access::Read if is_packed => ("", "u32".to_string()),
        _ if is_packed => ("", "atomic<u32>".to_string()),
        Access::Coherent => ("@coherent ", of.to_string()),
        Access::Atomic => ("", format!("atomic<{of}>")),
        Access::Read | Access::ReadWrite => ("", of.to_string()),
    };
    let constant = if *access == Access::Read { "const " } else { "" };
    match language {
        Language::Wgsl => {
            format!("@group(0) @binding({binding}) {coherent}var<storage, read_write> {name}: array<{element}>;\n")
        }
        Language::OpenClC => format!("__global {constant}{of} *{name}, "),
        Language::CudaC | Language::Host => format!("{constant}{of} *{name}, "),
    }
}

/// How a kernel that uses subgroups reaches them.
fn subgroup_prelude(key: &KernelKey, caps: &Caps) -> Option<&'static str> {
    key.constant("SUBGROUP_MAX")?;
    if caps.language != Language::OpenClC {
        return Some("prelude/subgroup");
    }
    Some(match caps.subgroups?.source {
        SubgroupSource::InlinePtx => "prelude/subgroup_nvidia",
        SubgroupSource::Native => "prelude/subgroup_native",
        SubgroupSource::Emulated => "prelude/subgroup_emulated",
    })
}

/// `Pack`: what a kernel loads and stores at once. Four words for a scalar where the spans allow it, else one element.
fn pack_type(element: &ElementType, language: Language, width: u32) -> String {
    match (language, element) {
        (Language::Wgsl, _) if width == 1 => "alias Pack = T;\n".into(),
        (Language::Wgsl, _) => format!("alias Pack = vec{width}<T>;\n"),
        (_, ElementType::Scalar(scalar)) if width != 1 => {
            format!("typedef {}{width} Pack;\n", scalar.vector_name(language))
        }
        _ => "typedef T Pack;\n".into(),
    }
}
