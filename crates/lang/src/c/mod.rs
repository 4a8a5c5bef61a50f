//! Operators and predicates in OpenCL C and CUDA C, from naga's IR.
//!
//! Every expression that the IR evaluates becomes a constant of its own (`_e7`), where the IR evaluates it. So each is
//! evaluated once and in WGSL's order, and no operand needs parentheses or a second thought about side effects.

mod expression;
mod helpers;
mod math;
mod scalar;
mod statement;
mod types;

use std::collections::HashSet;

use naga::valid::FunctionInfo;
use naga::{Block, Expression, Function, Handle, Statement, TypeInner};
use trifold_core::Result;

use crate::dialect::Dialect;
use crate::program::{Program, Role, blocks};

/// The text after the element's: definitions that the function needs, `identity` where there is one, the helper functions and the
/// function that kernels call.
pub(crate) fn emit(program: &Program, dialect: Dialect, identity: Option<&str>) -> Result<String> {
    let module = &program.module;
    let mut emitter = Emitter { program, dialect, types: Definitions::default(), helpers: Definitions::default() };
    let mut called = HashSet::new();
    reach(program, program.main, &mut called);
    let mut functions = Vec::new();
    // naga orders functions so that a callee stands before its callers.
    for (handle, function) in module.functions.iter().filter(|(handle, _)| called.contains(handle)) {
        functions.push(FunctionEmitter::new(&mut emitter, handle, function).emit(handle)?);
    }
    // Contraction is off in CUDA by spelling each operation out, see Dialect::float_add.
    let pragma = (dialect == Dialect::OpenCl).then(|| "#pragma OPENCL FP_CONTRACT OFF\n".to_string());
    let definitions = emitter.types.0.into_iter().chain(emitter.helpers.0).map(guarded);
    let parts = pragma.into_iter().chain(definitions).chain(identity.map(String::from)).chain(functions);
    Ok(parts.collect::<Vec<_>>().join("\n"))
}

/// A definition that other texts of the same kernel may have too: those of one name are the same.
fn guarded((name, text): (String, String)) -> String {
    format!("#ifndef HAS_{name}\n#define HAS_{name}\n{text}#endif\n")
}

/// Adds `function` and all it calls; recursion does not get past naga.
fn reach(program: &Program, function: Handle<Function>, called: &mut HashSet<Handle<Function>>) {
    fn visit(program: &Program, block: &Block, called: &mut HashSet<Handle<Function>>) {
        for statement in block {
            if let Statement::Call { function, .. } = statement {
                reach(program, *function, called);
            }
            for inner in blocks(statement) {
                visit(program, inner, called);
            }
        }
    }
    if called.insert(function) {
        visit(program, &program.module.functions[function].body, called);
    }
}

/// Named definitions, each once, in the order of their first use.
#[derive(Default)]
struct Definitions(Vec<(String, String)>);

impl Definitions {
    fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    fn insert(&mut self, name: &str, text: String) {
        if !self.contains(name) {
            self.0.push((name.to_string(), text));
        }
    }
}

/// What the functions of one operator share.
struct Emitter<'a> {
    program: &'a Program<'a>,
    dialect: Dialect,
    types: Definitions,
    helpers: Definitions,
}

struct FunctionEmitter<'e, 'a> {
    emitter: &'e mut Emitter<'a>,
    function: &'a Function,
    info: &'a FunctionInfo,
    /// The expressions that have a name by now.
    declared: HashSet<Handle<Expression>>,
    loops: usize,
    text: String,
    indent: usize,
}

impl<'e, 'a> FunctionEmitter<'e, 'a> {
    fn new(emitter: &'e mut Emitter<'a>, handle: Handle<Function>, function: &'a Function) -> Self {
        let info = &emitter.program.info[handle];
        FunctionEmitter { emitter, function, info, declared: HashSet::new(), loops: 0, text: String::new(), indent: 1 }
    }

    fn emit(mut self, handle: Handle<Function>) -> Result<String> {
        let program = self.emitter.program;
        let span = program.module.functions.get_span(handle);
        let is_combine = handle == program.main && program.role() == Role::OPERATOR;
        let mut arguments = Vec::new();
        for (i, argument) in self.function.arguments.iter().enumerate() {
            let inner = &program.module.types[argument.ty].inner;
            let name = self.argument(i as u32);
            arguments.push(match inner {
                _ if is_combine && Some(argument.ty) != program.captures => format!("T {name}"),
                TypeInner::Pointer { base, space: naga::AddressSpace::Function } => {
                    format!("{} *{name}", self.emitter.type_name(*base, span)?)
                }
                _ => format!("{} {name}", self.emitter.type_name(argument.ty, span)?),
            });
        }
        let result = match &self.function.result {
            _ if is_combine => "T".to_string(),
            Some(result) => self.emitter.type_name(result.ty, span)?,
            None => "void".to_string(),
        };
        self.constants()?;
        self.variables()?;
        self.block(&self.function.body)?;

        let name = function_name(program, handle, self.function);
        let arguments = if arguments.is_empty() { "void".to_string() } else { arguments.join(", ") };
        let qualifier = self.emitter.dialect.qualifier();
        Ok(format!("{qualifier}{result} {name}({arguments}) {{\n{}}}\n", self.text))
    }

    /// Names the constants that are no scalars: they cannot be written where they are used.
    fn constants(&mut self) -> Result<()> {
        let function = self.function;
        let mut evaluated = HashSet::new();
        collect_evaluated(&function.body, &mut evaluated);
        // Variables begin with theirs, where naga has them evaluated too.
        let mut initial: Vec<_> = function.local_variables.iter().filter_map(|(_, variable)| variable.init).collect();
        while let Some(handle) = initial.pop() {
            evaluated.remove(&handle);
            match &function.expressions[handle] {
                Expression::Compose { components, .. } => initial.extend(components),
                Expression::Splat { value, .. } => initial.push(*value),
                _ => {}
            }
        }
        for (handle, expression) in function.expressions.iter().filter(|(handle, _)| !evaluated.contains(handle)) {
            let used = self.info[handle].ref_count > 0
                || function.local_variables.iter().any(|(_, variable)| variable.init == Some(handle));
            if !used || matches!(self.inner(handle), TypeInner::Scalar(_)) {
                continue;
            }
            let span = function.expressions.get_span(handle);
            let value = match expression {
                Expression::Constant(constant) => {
                    let init = self.emitter.program.module.constants[*constant].init;
                    self.emitter.constant(init, span)?
                }
                Expression::ZeroValue(_) => "{0}".to_string(),
                Expression::Compose { .. } | Expression::Splat { .. } => self.evaluate(handle)?,
                _ => continue,
            };
            self.declare(handle, &value)?;
        }
        Ok(())
    }

    fn variables(&mut self) -> Result<()> {
        let function = self.function;
        for (handle, variable) in function.local_variables.iter() {
            let span = function.local_variables.get_span(handle);
            let ty = self.emitter.type_name(variable.ty, span)?;
            let value = match (variable.init, &self.emitter.program.module.types[variable.ty].inner) {
                (Some(init), _) => self.value(init)?,
                // WGSL's variables begin as zero.
                (None, TypeInner::Scalar(scalar)) if scalar.kind == naga::ScalarKind::Bool => "false".to_string(),
                (None, TypeInner::Scalar(_)) => "0".to_string(),
                (None, _) => "{0}".to_string(),
            };
            let line = format!("{ty} {} = {value};", self.variable(handle));
            self.line(&line);
        }
        Ok(())
    }

    fn argument(&self, index: u32) -> String {
        match self.function.arguments.get(index as usize).and_then(|a| a.name.as_deref()) {
            Some(name) if name.is_ascii() => format!("_a_{name}"),
            _ => format!("_a{index}"),
        }
    }

    /// A local variable's name. Its index tells apart those of different blocks.
    fn variable(&self, handle: Handle<naga::LocalVariable>) -> String {
        match self.function.local_variables[handle].name.as_deref() {
            Some(name) if name.is_ascii() => format!("_v{}_{name}", handle.index()),
            _ => format!("_v{}", handle.index()),
        }
    }

    fn line(&mut self, line: &str) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn inner(&self, handle: Handle<Expression>) -> &'a TypeInner {
        self.info[handle].ty.inner_with(&self.emitter.program.module.types)
    }
}

fn function_name(program: &Program, handle: Handle<Function>, function: &Function) -> String {
    match function.name.as_deref() {
        Some(name) if name == program.role().function => program.function().to_string(),
        name => prefixed(program, name.unwrap_or_default(), 'f', handle.index()),
    }
}

/// The name in C of what a text declares at module scope. Only WGSL has letters beyond ASCII: their place in the module and what
/// they are stand for them, as no name begins with a digit.
fn prefixed(program: &Program, name: &str, kind: char, place: usize) -> String {
    match name.is_ascii() {
        true => format!("{}_{name}", program.function()),
        false => format!("{}_{place}{kind}", program.function()),
    }
}

pub(crate) fn field_name(name: &str, place: usize) -> String {
    if name.is_ascii() { format!("_f_{name}") } else { format!("_f{place}") }
}

/// The name of the constant that holds an expression's value.
fn temporary(handle: Handle<Expression>) -> String {
    format!("_e{}", handle.index())
}

/// Adds the expressions that the statements of a function evaluate.
fn collect_evaluated(block: &Block, evaluated: &mut HashSet<Handle<Expression>>) {
    for statement in block {
        match statement {
            Statement::Emit(range) => evaluated.extend(range.clone()),
            Statement::Call { result: Some(result), .. } => {
                evaluated.insert(*result);
            }
            _ => {}
        }
        for inner in blocks(statement) {
            collect_evaluated(inner, evaluated);
        }
    }
}
