//! An operator's WGSL, or a predicate's, parsed, validated and checked to be one.

use std::borrow::Cow;
use std::collections::HashSet;

use naga::proc::TypeResolution;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Block, Expression, Function, Handle, Literal, Module, Span, Statement, Type};
use trifold_core::{ElementType, Error, MapText, Op, Result, Selector};

use crate::captures::{extended, users};
use crate::dialect::Dialect;
use crate::loops::{self, KeptPointer};
use crate::scan::Declaration;
use crate::{element, scan};

/// A longer text is no operator. The limit, as that on a statement's length, keeps naga's recursion within its stack.
const MAX_TEXT_BYTES: usize = 16 * 1024;

/// The appended function whose argument tells which of naga's types `T` is.
const PROBE: &str = "element_probe";

/// What a text is to define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Role {
    /// The function.
    pub function: &'static str,
    noun: &'static str,
    signature: &'static str,
}

impl Role {
    pub const OPERATOR: Role =
        Role { function: "combine", noun: "an operator", signature: "fn combine(a: T, b: T) -> T" };
    pub const PREDICATE: Role = Role { function: "keep", noun: "a predicate", signature: "fn keep(v: T) -> bool" };
    pub const MAP: Role = Role { function: "map", noun: "a map", signature: "" };
}

/// A type that a text knows by a short name.
#[derive(Clone)]
pub(crate) struct Named<'a> {
    /// The short name.
    pub alias: &'static str,
    pub element: Cow<'a, ElementType>,
    /// What it is called in the text that is emitted.
    pub emitted: String,
}

#[derive(Clone)]
pub(crate) struct Source<'a> {
    pub role: Role,
    pub name: &'a str,
    pub types: Vec<Named<'a>>,
    pub wgsl: &'a str,
    pub captures: Option<&'a ElementType>,
    /// What kernels call the function.
    pub function: String,
    /// The type of what the text reads as `captures`.
    pub captures_name: String,
}

impl<'a> From<&'a Op> for Source<'a> {
    fn from(op: &'a Op) -> Self {
        let captures = op.captures().element();
        Source::of_one(Role::OPERATOR, &op.name, Cow::Borrowed(op.element()), "T", &op.wgsl, captures)
    }
}

impl<'a> From<&'a Selector> for Source<'a> {
    fn from(selector: &'a Selector) -> Self {
        let captures = selector.captures().element();
        let element = selector.element();
        let (held, emitted) = match element {
            ElementType::Scalar(scalar) if scalar.held() != *scalar => (element.held(), scalar.held().name()),
            _ => (element.clone(), "Item"),
        };
        Source::of_one(Role::PREDICATE, &selector.name, Cow::Owned(held), emitted, &selector.wgsl, captures)
    }
}

/// What maps call the types of their arguments.
const LETTERS: [&str; 8] = ["A", "B", "C", "D", "E", "F", "G", "H"];

impl<'a> Source<'a> {
    /// Of one type of elements, `T`.
    fn of_one(
        role: Role,
        name: &'a str,
        element: Cow<'a, ElementType>,
        emitted: &str,
        wgsl: &'a str,
        captures: Option<&'a ElementType>,
    ) -> Self {
        let types = vec![Named { alias: "T", element, emitted: emitted.into() }];
        Source { role, name, types, wgsl, captures, function: role.function.into(), captures_name: "Captures".into() }
    }

    /// A map, of this number in a kernel that has these names for structs.
    pub fn of_map(map: &'a MapText, number: usize, name_of: &dyn Fn(&ElementType) -> String) -> Result<Self> {
        let refuse = |message: String| Error::Operator { name: map.name.to_string(), message };
        if map.inputs.len() > LETTERS.len() {
            let (most, n) = (LETTERS.len(), map.inputs.len());
            return Err(refuse(format!("a map of {n} arguments; {most} are the most: zip fewer views")));
        }
        let inputs = map.inputs.iter().zip(LETTERS).map(|(element, letter)| (letter, element));
        let types = inputs.chain([("U", &map.output)]).map(|(alias, element)| {
            let element = match element {
                ElementType::Scalar(scalar) => Cow::Owned(scalar.held().into()),
                _ => Cow::Borrowed(element),
            };
            Named { alias, emitted: name_of(&element), element }
        });
        Ok(Source {
            role: Role::MAP,
            name: &map.name,
            types: types.collect(),
            wgsl: &map.wgsl,
            captures: map.captures.element(),
            function: format!("map{number}"),
            captures_name: format!("Map{number}Captures"),
        })
    }

    /// The types as the caller's text knows them.
    fn declarations(&self) -> Result<String> {
        let (mut text, mut structs) = (String::new(), vec![]);
        for Named { alias, element, .. } in &self.types {
            element::check(element)?;
            match &**element {
                ElementType::Struct { name, .. } if name != alias => {
                    if !structs.contains(&&**element) {
                        text += &element::declaration(element, Dialect::Wgsl, name);
                        structs.push(element);
                    }
                    text += &format!("alias {alias} = {name};\n");
                }
                _ => text += &element::declaration(element, Dialect::Wgsl, alias),
            }
        }
        Ok(text)
    }

    /// What the function must be.
    fn signature(&self) -> String {
        if self.role != Role::MAP {
            return self.role.signature.into();
        }
        let arguments = self.types.iter().filter(|named| named.alias != "U");
        let arguments = arguments.map(|named| format!("{}: {}", named.alias.to_lowercase(), named.alias));
        format!("fn map({}) -> U", arguments.collect::<Vec<_>>().join(", "))
    }

    /// The text, whose functions get the captures that they read.
    fn with_captures(&self) -> Cow<'_, str> {
        if self.captures.is_none() {
            return self.wgsl.into();
        }
        let mut functions: HashSet<&str> = users(self.wgsl, &["captures"]);
        functions.insert(self.role.function);
        extended(self.wgsl, &functions, &format!("captures: {}", self.captures_name), "captures").into()
    }
}

/// An operator or a predicate that passed every check.
pub(crate) struct Program<'a> {
    source: Source<'a>,
    text: String,
    pub module: Module,
    pub info: ModuleInfo,
    /// The function that kernels call.
    pub main: Handle<Function>,
    /// The types of the source's, in their order.
    pub types: Vec<Handle<Type>>,
    /// The type of what the text reads as `captures`.
    pub captures: Option<Handle<Type>>,
}

impl<'a> Program<'a> {
    /// Parses and checks an operator or a predicate.
    pub fn new(source: Source<'a>) -> Result<Self> {
        let Source { role, name, captures, .. } = source;
        let wgsl = &*source.with_captures();
        let refuse = |message: String| Error::Operator { name: name.to_string(), message };
        if wgsl.len() > MAX_TEXT_BYTES {
            let length = wgsl.len();
            return Err(refuse(format!("its WGSL has {length} bytes; {MAX_TEXT_BYTES} are the most: shorten it")));
        }
        if let Some(line) = scan::endless_statement(wgsl) {
            return Err(refuse(format!("line {line}: this statement is too long; divide it into several")));
        }

        // The operator stands first, so that naga's lines are its lines: WGSL does not mind use before declaration.
        let mut declaration = source.declarations()?;
        if let Some(captures) = captures {
            element::check(captures)?;
            declaration += &element::declaration(captures, Dialect::Wgsl, &source.captures_name);
        }
        let probed: Vec<_> = source.types.iter().map(|named| format!("v{0}: {0}", named.alias)).collect();
        let whole = |wgsl: &str| format!("{wgsl}\n{declaration}fn {PROBE}({}) {{}}\n", probed.join(", "));
        let path = format!("{name}.wgsl");
        let parse = |text: &str| {
            naga::front::wgsl::parse_str(text).map_err(|error| refuse(error.emit_to_string_with_path(text, &path)))
        };
        let mut module = parse(&whole(wgsl))?;
        check_directives(name, wgsl)?;
        let text = loops::with_variables(wgsl, &module).map_err(|KeptPointer { name, line }| {
            refuse(format!(
                "line {line}: `{name}` points to what may have changed when `continuing` uses it; take the pointer there"
            ))
        })?;
        if let Cow::Owned(changed) = &text {
            module = parse(&whole(changed))?;
        }
        let text = text.into_owned();
        let info = Validator::new(ValidationFlags::all(), Capabilities::all())
            .validate(&module)
            .map_err(|error| refuse(error.emit_to_string_with_path(&whole(&text), &path)))?;

        let function = |name: &str| module.functions.iter().find(|(_, f)| f.name.as_deref() == Some(name));
        let Some((_, probe)) = function(PROBE) else {
            return Err(refuse("its WGSL ends within a comment or a declaration".into()));
        };
        let types = probe.arguments.iter().map(|argument| argument.ty).collect();
        let Some((main, _)) = function(role.function) else {
            let (function, signature) = (role.function, source.signature());
            return Err(refuse(format!("its WGSL has no function `{function}`; write `{signature}`")));
        };
        let captures = captures.and_then(|_| module.functions[main].arguments.last()).map(|argument| argument.ty);
        let program = Program { source, text, info, main, types, captures, module };
        program.check_module()?;
        Ok(program)
    }

    /// The error that `what` at `span` is.
    pub fn refuse(&self, span: Span, what: impl std::fmt::Display) -> Error {
        let Source { role, name, wgsl: source, .. } = &self.source;
        let what = what.to_string().replace(Role::OPERATOR.noun, role.noun);
        let place = span.to_range().filter(|range| range.start < source.len()).map(|range| {
            let line = source.as_bytes()[..range.start].iter().filter(|b| **b == b'\n').count();
            (line + 1, source.lines().nth(line).unwrap_or_default().trim())
        });
        let message = match place {
            Some((line, text)) => format!("line {line}: {what}\n    {text}"),
            None => what,
        };
        Error::Operator { name: name.to_string(), message }
    }

    fn check_module(&self) -> Result<()> {
        let module = &self.module;
        if let Some((handle, variable)) = module.global_variables.iter().next() {
            let name = variable.name.as_deref().unwrap_or("_");
            let what = format!("`{name}` is a global variable; an operator has only its arguments");
            return Err(self.refuse(module.global_variables.get_span(handle), what));
        }
        if let Some((handle, constant)) = module.overrides.iter().next() {
            let name = constant.name.as_deref().unwrap_or("_");
            let what = format!("`{name}` is an override, which nothing sets; make it a `const`");
            return Err(self.refuse(module.overrides.get_span(handle), what));
        }
        if let Some(entry) = module.entry_points.first() {
            // naga keeps no span of it.
            let declaration = scan::declarations(self.source.wgsl).into_iter().find(|d| d.name == entry.name);
            let line = declaration.map_or(String::new(), |d| format!("line {}: ", d.line));
            let what = format!("{line}`{}` is an entry point; an operator has none, remove its attributes", entry.name);
            return Err(self.refuse(Span::UNDEFINED, what));
        }
        self.check_signature()?;

        for (_, function) in module.functions.iter() {
            for (handle, expression) in function.expressions.iter() {
                if let Some(what) = impure_expression(expression) {
                    return Err(self.refuse(function.expressions.get_span(handle), what));
                }
            }
            self.check_block(&function.body)?;
        }
        Ok(())
    }

    fn check_signature(&self) -> Result<()> {
        let module = &self.module;
        let main = &module.functions[self.main];
        // naga has several handles for a scalar and its aliases, `T` among them.
        let is = |ty, other| module.compare_types(&TypeResolution::Handle(ty), &TypeResolution::Handle(other));
        let arguments = &main.arguments[..main.arguments.len() - usize::from(self.captures.is_some())];
        let returns = main.result.as_ref().map(|result| result.ty);
        let role = self.source.role;
        let is_bool = |ty: Handle<Type>| module.types[ty].inner == naga::TypeInner::Scalar(naga::Scalar::BOOL);
        let first = self.types[0];
        let (wanted, fits) = match role {
            Role::OPERATOR => (vec![first; 2], returns.is_some_and(|ty| is(ty, first))),
            Role::PREDICATE => (vec![first], returns.is_some_and(is_bool)),
            _ => {
                let (given, inputs) = (self.types[self.types.len() - 1], &self.types[..self.types.len() - 1]);
                (inputs.to_vec(), returns.is_some_and(|ty| is(ty, given)))
            }
        };
        let takes = arguments.len() == wanted.len() && arguments.iter().zip(wanted).all(|(a, ty)| is(a.ty, ty));
        if fits && takes {
            return Ok(());
        }
        let types = self.source.types.iter().map(|named| format!("{} is {}", named.alias, named.element.name()));
        let what = format!(
            "`{}` takes ({}) and returns {}; it must be `{}`, where {}",
            role.function,
            arguments.iter().map(|a| self.type_name(a.ty)).collect::<Vec<_>>().join(", "),
            main.result.as_ref().map_or("nothing".into(), |r| self.type_name(r.ty)),
            self.source.signature(),
            types.collect::<Vec<_>>().join(", "),
        );
        Err(self.refuse(module.functions.get_span(self.main), what))
    }

    /// Whether there are loops, which may not end.
    pub fn has_loops(&self) -> bool {
        self.module.functions.iter().any(|(_, function)| has_loop(&function.body))
    }

    /// The text, with variables for what a loop's `continuing` reads. Its places are those of the module's spans.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What short names stand for, as the caller has it.
    pub fn named(&self) -> &[Named<'a>] {
        &self.source.types
    }

    /// What kernels call the function.
    pub fn function(&self) -> &str {
        &self.source.function
    }

    /// What the type is called of what the text reads as `captures`.
    pub fn captures_name(&self) -> &str {
        &self.source.captures_name
    }

    /// The type of what the text reads as `captures`, if it reads any.
    pub fn captures_declaration(&self, dialect: Dialect) -> String {
        self.source
            .captures
            .map_or(String::new(), |element| element::declaration(element, dialect, self.captures_name()))
    }

    /// What the text is to define.
    pub fn role(&self) -> Role {
        self.source.role
    }

    fn check_block(&self, block: &Block) -> Result<()> {
        for (statement, span) in block.span_iter() {
            if let Some(what) = impure_statement(statement) {
                return Err(self.refuse(*span, what));
            }
            for inner in blocks(statement) {
                self.check_block(inner)?;
            }
        }
        Ok(())
    }

    /// A type as WGSL writes it, or nearly.
    pub fn type_name(&self, handle: Handle<Type>) -> String {
        let ty = &self.module.types[handle];
        if let Some(name) = &ty.name {
            return name.clone();
        }
        self.inner_name(&ty.inner)
    }

    /// As [`Program::type_name`], of a type that has no name.
    pub fn inner_name(&self, inner: &naga::TypeInner) -> String {
        use naga::TypeInner::*;
        match inner {
            Scalar(scalar) => scalar_name(*scalar),
            Vector { size, scalar } => format!("vec{}<{}>", *size as u8, scalar_name(*scalar)),
            Matrix { columns, rows, scalar } => {
                format!("mat{}x{}<{}>", *columns as u8, *rows as u8, scalar_name(*scalar))
            }
            Array { base, size: naga::ArraySize::Constant(n), .. } => format!("array<{}, {n}>", self.type_name(*base)),
            Array { base, .. } => format!("array<{}>", self.type_name(*base)),
            Pointer { base, .. } => format!("a pointer to {}", self.type_name(*base)),
            ValuePointer { scalar, .. } => format!("a pointer to {}", scalar_name(*scalar)),
            Struct { .. } => "a struct".into(),
            Atomic(_) => "an atomic".into(),
            Image { .. } | Sampler { .. } => "a texture or a sampler".into(),
            _ => "an opaque type".into(),
        }
    }
}

/// Refuses what a module may have at its start alone.
fn check_directives(name: &str, text: &str) -> Result<()> {
    let Some(Declaration { keyword, line, .. }) = scan::declarations(text).into_iter().find(|d| d.name.is_empty())
    else {
        return Ok(());
    };
    let message = format!("line {line}: the directive `{keyword}` cannot stand in the middle of a kernel; remove it");
    Err(Error::Operator { name: name.to_string(), message })
}

pub(crate) fn scalar_name(scalar: naga::Scalar) -> String {
    let letter = match scalar.kind {
        naga::ScalarKind::Bool => return "bool".into(),
        naga::ScalarKind::Sint | naga::ScalarKind::AbstractInt => 'i',
        naga::ScalarKind::Uint => 'u',
        naga::ScalarKind::Float | naga::ScalarKind::AbstractFloat => 'f',
    };
    format!("{letter}{}", u32::from(scalar.width) * 8)
}

/// The value of an integer that is written out.
pub(crate) fn integer(literal: Literal) -> Option<i128> {
    Some(match literal {
        Literal::U16(value) => value.into(),
        Literal::I16(value) => value.into(),
        Literal::U32(value) => value.into(),
        Literal::I32(value) => value.into(),
        Literal::U64(value) => value.into(),
        Literal::I64(value) => value.into(),
        _ => return None,
    })
}

pub(crate) fn blocks(statement: &Statement) -> Vec<&Block> {
    match statement {
        Statement::Block(block) => vec![block],
        Statement::If { accept, reject, .. } => vec![accept, reject],
        Statement::Switch { cases, .. } => cases.iter().map(|case| &case.body).collect(),
        Statement::Loop { body, continuing, .. } => vec![body, continuing],
        _ => Vec::new(),
    }
}

fn has_loop(block: &Block) -> bool {
    let is_loop = |statement: &Statement| matches!(statement, Statement::Loop { .. });
    block.iter().any(|statement| is_loop(statement) || blocks(statement).into_iter().any(has_loop))
}

/// What makes a statement depend on, or do, more than an operator may.
fn impure_statement(statement: &Statement) -> Option<&'static str> {
    Some(match statement {
        Statement::Kill => "`discard` is for fragment shaders",
        Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {
            "a barrier: an operator runs in one thread, and not in all at once"
        }
        Statement::Atomic { .. } | Statement::ImageAtomic { .. } => "an atomic: an operator has no memory of its own",
        Statement::ImageStore { .. } => "a texture: an operator has only its arguments",
        Statement::WorkGroupUniformLoad { .. } => "a workgroup load: an operator has only its arguments",
        Statement::RayQuery { .. } | Statement::RayPipelineFunction(_) => "a ray query",
        Statement::SubgroupBallot { .. }
        | Statement::SubgroupGather { .. }
        | Statement::SubgroupCollectiveOperation { .. } => "a subgroup operation: an operator runs in one thread",
        Statement::CooperativeStore { .. } => "a cooperative matrix: an operator runs in one thread",
        _ => return None,
    })
}

fn impure_expression(expression: &Expression) -> Option<&'static str> {
    Some(match expression {
        Expression::Derivative { .. } => "a derivative is for fragment shaders",
        Expression::ImageSample { .. } | Expression::ImageLoad { .. } | Expression::ImageQuery { .. } => {
            "a texture: an operator has only its arguments"
        }
        Expression::AtomicResult { .. } => "an atomic: an operator has no memory of its own",
        Expression::SubgroupBallotResult | Expression::SubgroupOperationResult { .. } => {
            "a subgroup operation: an operator runs in one thread"
        }
        _ => return None,
    })
}
