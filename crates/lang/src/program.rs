//! An operator's WGSL, or a predicate's, parsed, validated and checked to be one.

use std::borrow::Cow;
use std::collections::HashSet;

use naga::proc::TypeResolution;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{Block, Expression, Function, Handle, Literal, Module, Span, Statement, Type};
use trifold_core::{ElementType, Error, Op, Result, Selector};

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
    /// The function that kernels call.
    pub function: &'static str,
    /// What the element type is called in the text that is emitted.
    pub element: &'static str,
    noun: &'static str,
    signature: &'static str,
}

impl Role {
    pub const OPERATOR: Role =
        Role { function: "combine", element: "T", noun: "an operator", signature: "fn combine(a: T, b: T) -> T" };
    pub const PREDICATE: Role =
        Role { function: "keep", element: "Item", noun: "a predicate", signature: "fn keep(v: T) -> bool" };
}

#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub role: Role,
    pub name: &'a str,
    pub element: &'a ElementType,
    pub wgsl: &'a str,
    pub captures: Option<&'a ElementType>,
}

impl<'a> From<&'a Op> for Source<'a> {
    fn from(op: &'a Op) -> Self {
        let captures = op.captures().element();
        Source { role: Role::OPERATOR, name: &op.name, element: op.element(), wgsl: &op.wgsl, captures }
    }
}

impl<'a> From<&'a Selector> for Source<'a> {
    fn from(selector: &'a Selector) -> Self {
        let Selector { name, wgsl, .. } = selector;
        let captures = selector.captures().element();
        Source { role: Role::PREDICATE, name, element: selector.element(), wgsl, captures }
    }
}

/// The type of what a text reads as `captures`.
pub(crate) const CAPTURES: &str = "Captures";

impl Source<'_> {
    /// The text, whose functions get the captures that they read.
    fn with_captures(&self) -> Cow<'_, str> {
        if self.captures.is_none() {
            return self.wgsl.into();
        }
        let mut functions: HashSet<&str> = users(self.wgsl, &["captures"]);
        functions.insert(self.role.function);
        extended(self.wgsl, &functions, &format!("captures: {CAPTURES}"), "captures").into()
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
    /// What `T` stands for.
    pub element: Handle<Type>,
    /// The type of what the text reads as `captures`.
    pub captures: Option<Handle<Type>>,
}

impl<'a> Program<'a> {
    /// Parses and checks an operator or a predicate.
    pub fn new(source: Source<'a>) -> Result<Self> {
        let Source { role, name, element, captures, .. } = source;
        let wgsl = &*source.with_captures();
        let refuse = |message: String| Error::Operator { name: name.to_string(), message };
        if wgsl.len() > MAX_TEXT_BYTES {
            let length = wgsl.len();
            return Err(refuse(format!("its WGSL has {length} bytes; {MAX_TEXT_BYTES} are the most")));
        }
        if let Some(line) = scan::endless_statement(wgsl) {
            return Err(refuse(format!("line {line}: this statement is too long; divide it into several")));
        }
        element::check(element)?;

        // The operator stands first, so that naga's lines are its lines: WGSL does not mind use before declaration.
        let mut declaration = element::declaration_by_name(element);
        if let Some(captures) = captures {
            element::check(captures)?;
            declaration += &element::declaration(captures, Dialect::Wgsl, CAPTURES);
        }
        let whole = |wgsl: &str| format!("{wgsl}\n{declaration}fn {PROBE}(v: T) -> T {{ return v; }}\n");
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
        let element = probe.arguments[0].ty;
        let Some((main, _)) = function(role.function) else {
            let Role { function, signature, .. } = role;
            return Err(refuse(format!("its WGSL has no function `{function}`; write `{signature}`")));
        };
        let captures = captures.and_then(|_| module.functions[main].arguments.last()).map(|argument| argument.ty);
        let program = Program { source, text, info, main, element, captures, module };
        program.check_module()?;
        Ok(program)
    }

    /// The error that `what` at `span` is.
    pub fn refuse(&self, span: Span, what: impl std::fmt::Display) -> Error {
        let Source { role, name, wgsl: source, .. } = self.source;
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
        let (resolve, element) = (TypeResolution::Handle, TypeResolution::Handle(self.element));
        let is_element = |ty| module.compare_types(&resolve(ty), &element);
        let arguments = &main.arguments[..main.arguments.len() - usize::from(self.captures.is_some())];
        let takes = arguments.iter().filter(|argument| is_element(argument.ty)).count();
        let returns = main.result.as_ref().map(|result| result.ty);
        let role = self.source.role;
        let is_bool = |ty: Handle<Type>| module.types[ty].inner == naga::TypeInner::Scalar(naga::Scalar::BOOL);
        let fits = match role == Role::OPERATOR {
            true => takes == 2 && returns.is_some_and(is_element),
            false => takes == 1 && returns.is_some_and(is_bool),
        };
        if fits && arguments.len() == takes {
            return Ok(());
        }
        let what = format!(
            "`{}` takes ({}) and returns {}; it must be `{}`, where T is {}",
            role.function,
            arguments.iter().map(|a| self.type_name(a.ty)).collect::<Vec<_>>().join(", "),
            main.result.as_ref().map_or("nothing".into(), |r| self.type_name(r.ty)),
            role.signature,
            self.source.element.name(),
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

    /// What `T` stands for, as the caller has it.
    pub fn element_type(&self) -> &'a ElementType {
        self.source.element
    }

    /// The type of what the text reads as `captures`, if it reads any.
    pub fn captures_declaration(&self, dialect: Dialect) -> String {
        self.source.captures.map_or(String::new(), |element| element::declaration(element, dialect, CAPTURES))
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
