//! Where a text needs a guard, and the text with it.

use std::cmp::Reverse;
use std::ops::Range;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{ArraySize, BinaryOperator, Expression, Function, Handle, MathFunction, Module, ScalarKind, TypeInner};
use trifold_core::Result;
use trifold_core::wgsl::{Token, tokens};

use super::bits;
use super::helpers::{Components, Helpers};
use crate::program::{Program, integer};
use crate::scan;

/// What an expression needs.
#[derive(Debug, Clone, PartialEq)]
enum Guard {
    /// An index below a length.
    Index(u32),
    /// A float that becomes an integer, or an integer that becomes a wider one of the other sign.
    Convert(Components, naga::Scalar),
    /// Floats that differ: NaN differs from all.
    Differ,
    /// A function of integers.
    Call(MathFunction, Components),
    /// A quotient or a remainder of integers.
    Divide(BinaryOperator, Components),
    /// A shift by less than the width, of so many lanes.
    Shift(BinaryOperator, Components, u32),
}

pub(super) struct Edited {
    pub text: String,
    pub helpers: String,
}

/// A part of the text that is to be written otherwise.
struct Edit {
    range: Range<usize>,
    how: How,
}

enum How {
    /// The index of a bracket, below a length.
    Clamp { helper: String, count: u32 },
    /// A conversion: its type ends at the place named.
    Call { open: usize, helper: String },
    /// A function's name.
    Rename { helper: String },
    /// A comparison at the place named.
    Differ { at: usize },
    /// An operator at the place named, or an assignment by it.
    Divide { at: usize, assigns: bool, helper: String, ty: String },
    /// A shift's right operand.
    Mask { ty: String, mask: u32 },
}

/// A program's text with its guards.
pub(super) fn guarded(program: &Program) -> Result<Edited> {
    let text = program.text();
    let mut helpers = Helpers::of(program.function());
    let mut edits: Vec<Edit> = vec![];
    for (function, info) in functions(&program.module, &program.info) {
        if let Some((handle, fun)) = lacking(&program.module, function, info) {
            let span = function.expressions.get_span(handle);
            let name = format!("{fun:?}").to_lowercase();
            return Err(
                program.refuse(span, format!("`{name}` of f64, which WGSL's compilers do not have; compute it in f32"))
            );
        }
        for (handle, guard) in guards(&program.module, function, info) {
            let span = function.expressions.get_span(handle);
            let Some(range) = span.to_range().filter(|range| range.end <= text.len()) else { continue };
            let found = edit(text, range, &guard, &mut helpers).filter(|edit| !calls_twice(program, edit));
            let Some(edit) = found else {
                return Err(program.refuse(span, "this could not be guarded; make it a statement of its own"));
            };
            let is_new = |known: &Edit| {
                known.range != edit.range || std::mem::discriminant(&known.how) != std::mem::discriminant(&edit.how)
            };
            if edits.iter().all(is_new) {
                edits.push(edit);
            }
        }
    }
    // What is around another comes first; a bracket's index is around all of it.
    edits.sort_by_key(|edit| {
        (edit.range.start, Reverse(edit.range.end), !matches!(edit.how, How::Clamp { .. } | How::Mask { .. }))
    });
    let mut writer = Writer { text, edits: &edits, next: 0 };
    let text = writer.range(0..text.len());
    Ok(Edited { text, helpers: helpers.text() })
}

/// Whether an edit would write a call of the caller's functions twice, which may do more than give a value.
fn calls_twice(program: &Program, edit: &Edit) -> bool {
    let How::Divide { at, assigns: true, .. } = edit.how else { return false };
    let declared = scan::declarations(program.text());
    let is_called = |token: Token| declared.iter().any(|d| d.keyword == "fn" && d.name == token.text);
    tokens(&program.text()[edit.range.start..at]).any(is_called)
}

/// An expression of a module that no guard stands before, as the text has it.
pub(super) fn unguarded(module: &Module, info: &ModuleInfo, text: &str) -> Option<String> {
    for (function, info) in functions(module, info) {
        if is_helper(function) {
            continue;
        }
        let is_guarded = |guard: &Guard, handle: Handle<Expression>| match (guard, &function.expressions[handle]) {
            (Guard::Index(_), Expression::Access { index, .. }) => {
                matches!(function.expressions[*index], Expression::CallResult(called) if is_helper(&module.functions[called]))
            }
            (Guard::Shift(..), Expression::Binary { right, .. }) => {
                matches!(function.expressions[*right], Expression::Binary { op: BinaryOperator::And, .. })
            }
            _ => false,
        };
        if let Some((handle, _)) = guards(module, function, info).find(|(handle, guard)| !is_guarded(guard, *handle)) {
            let range = function.expressions.get_span(handle).to_range().unwrap_or(0..0);
            return Some(text.get(range).unwrap_or_default().into());
        }
    }
    None
}

fn is_helper(function: &Function) -> bool {
    function.name.as_deref().is_some_and(|name| name.starts_with("wgsl_"))
}

fn functions<'a>(module: &'a Module, info: &'a ModuleInfo) -> impl Iterator<Item = (&'a Function, &'a FunctionInfo)> {
    module.functions.iter().map(|(handle, function)| (function, &info[handle]))
}

/// A function of floats that WGSL's compilers do not have.
fn lacking(module: &Module, function: &Function, info: &FunctionInfo) -> Option<(Handle<Expression>, MathFunction)> {
    function.expressions.iter().find_map(|(handle, expression)| match expression {
        Expression::Math { fun, arg, .. } => {
            let of = shape(info[*arg].ty.inner_with(&module.types))?;
            bits::is_lacking(*fun, of).then_some((handle, *fun))
        }
        _ => None,
    })
}

/// The expressions of a function that need a guard.
fn guards<'a>(
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
) -> impl Iterator<Item = (Handle<Expression>, Guard)> + 'a {
    let inner = move |handle: Handle<Expression>| info[handle].ty.inner_with(&module.types);
    let shape = move |handle| shape(inner(handle));
    function.expressions.iter().filter_map(move |(handle, expression)| {
        let guard = match expression {
            Expression::Access { base, .. } => Guard::Index(length(module, inner(*base))?),
            Expression::As { expr, kind, convert: Some(width) } => {
                let (from, to) = (shape(*expr)?, naga::Scalar { kind: *kind, width: *width });
                let is_integer = |kind| matches!(kind, ScalarKind::Sint | ScalarKind::Uint);
                let widens = to.kind != from.scalar.kind && to.width > from.scalar.width;
                let is_open = from.scalar.kind == ScalarKind::Float || (is_integer(from.scalar.kind) && widens);
                (is_integer(to.kind) && is_open).then_some(Guard::Convert(from, to))?
            }
            Expression::Binary { op: BinaryOperator::NotEqual, left, .. } => {
                shape(*left).filter(|of| of.scalar.kind == ScalarKind::Float)?;
                Guard::Differ
            }
            Expression::Math { fun, arg, .. } => {
                Guard::Call(*fun, shape(*arg).filter(|of| bits::is_guarded(*fun, *of))?)
            }
            Expression::Binary { op: op @ (BinaryOperator::Divide | BinaryOperator::Modulo), right, .. } => {
                let of = shape(handle).filter(|of| matches!(of.scalar.kind, ScalarKind::Sint | ScalarKind::Uint))?;
                let is_plain = *op == BinaryOperator::Divide || of.scalar.kind == ScalarKind::Uint;
                let is_safe = is_plain && is_constant(function, *right, |value| value != 0 && value != -1);
                (!is_safe).then_some(Guard::Divide(*op, of))?
            }
            Expression::Binary { op: op @ (BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight), right, .. } => {
                let width = u32::from(shape(handle)?.scalar.width) * 8;
                let is_below = |value| (0..i128::from(width)).contains(&value);
                (!is_constant(function, *right, is_below)).then_some(Guard::Shift(*op, shape(*right)?, width))?
            }
            _ => return None,
        };
        Some((handle, guard))
    })
}

/// Whether a scalar, or all of a vector that is made of one, is a literal for which `holds`.
fn is_constant(function: &Function, handle: Handle<Expression>, holds: impl Fn(i128) -> bool) -> bool {
    match function.expressions[handle] {
        Expression::Splat { value, .. } => is_constant(function, value, holds),
        Expression::Literal(literal) => integer(literal).is_some_and(holds),
        _ => false,
    }
}

fn shape(inner: &TypeInner) -> Option<Components> {
    match *inner {
        TypeInner::Scalar(scalar) => Some(Components { size: None, scalar }),
        TypeInner::Vector { size, scalar } => Some(Components { size: Some(size), scalar }),
        _ => None,
    }
}

/// How many elements can be reached by an index.
fn length(module: &Module, inner: &TypeInner) -> Option<u32> {
    match *inner {
        TypeInner::Pointer { base, .. } => length(module, &module.types[base].inner),
        TypeInner::Vector { size, .. } | TypeInner::ValuePointer { size: Some(size), .. } => Some(size as u32),
        TypeInner::Matrix { columns, .. } => Some(columns as u32),
        TypeInner::Array { size: ArraySize::Constant(count), .. } => Some(count.get()),
        _ => None,
    }
}

/// How to write the expression at `range`; `None` if the text there is not what it should be.
fn edit(text: &str, range: Range<usize>, guard: &Guard, helpers: &mut Helpers) -> Option<Edit> {
    // An assignment's range may have its semicolon.
    let own = text[range.clone()].trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    let range = range.start..range.start + own.len();
    let all: Vec<Placed> = placed(own, range.start);
    match guard {
        Guard::Index(count) => {
            let close = all.last().filter(|token| token.text == "]")?;
            let open = all.iter().rev().skip(1).find(|token| token.text == "[" && token.depth == close.depth)?;
            Some(Edit { range: open.at + 1..close.at, how: How::Clamp { helper: helpers.index(), count: *count } })
        }
        Guard::Convert(from, to) => {
            let open = all.iter().find(|token| token.text == "(" && token.depth == 0)?.at;
            Some(Edit { range, how: How::Call { open, helper: helpers.convert(*from, *to) } })
        }
        Guard::Call(fun, of) => {
            // The range may have no more than the name.
            let name = all.first()?;
            let how = How::Rename { helper: bits::helper(helpers, *fun, *of) };
            Some(Edit { range: name.at..name.at + name.text.len(), how })
        }
        Guard::Differ => {
            let (at, _) = operator(&all, "!=")?;
            Some(Edit { range, how: How::Differ { at } })
        }
        Guard::Divide(op, shape) => {
            let sign = if *op == BinaryOperator::Divide { "/" } else { "%" };
            let (at, assigns) = operator(&all, sign)?;
            let helper = helpers.divide(*op, *shape);
            Some(Edit { range, how: How::Divide { at, assigns, helper, ty: shape.name() } })
        }
        Guard::Shift(op, shape, width) => {
            let sign = if *op == BinaryOperator::ShiftLeft { "<<" } else { ">>" };
            let (at, assigns) = operator(&all, sign)?;
            let start = at + sign.len() + usize::from(assigns);
            Some(Edit { range: start..range.end, how: How::Mask { ty: shape.name(), mask: width - 1 } })
        }
    }
}

/// A token and where it stands.
struct Placed<'a> {
    text: &'a str,
    at: usize,
    /// How many brackets are around it.
    depth: usize,
}

/// The tokens of a text that starts at `start`. A type's angle brackets count as brackets.
fn placed(text: &str, start: usize) -> Vec<Placed<'_>> {
    const GENERIC: [&str; 7] = ["vec2", "vec3", "vec4", "array", "bitcast", "ptr", "atomic"];
    let (mut all, mut open): (Vec<Placed>, Vec<&str>) = (vec![], vec![]);
    let mut rest = tokens(text).peekable();
    while let Some(Token { text: token, .. }) = rest.next() {
        let closes = matches!(token, ")" | "]" | "}") || (token == ">" && open.last() == Some(&"<"));
        if closes {
            open.pop();
        }
        // Tokens are parts of `text`.
        let at = start + (token.as_ptr() as usize - text.as_ptr() as usize);
        let before = all.last().map_or("", |before| before.text);
        all.push(Placed { text: token, at, depth: open.len() });
        let is_matrix = before.len() == 6 && before.starts_with("mat") && before.as_bytes()[4] == b'x';
        let is_generic = GENERIC.contains(&before) || is_matrix;
        // A variable may be called so, left of a shift.
        let shifts = rest
            .peek()
            .is_some_and(|next| next.text == "<" && next.text.as_ptr() == token.as_bytes().as_ptr_range().end);
        if matches!(token, "(" | "[" | "{") || (token == "<" && is_generic && !shifts) {
            open.push(token);
        }
    }
    all
}

/// Where the operator of an expression stands, and whether it is that of an assignment, such as `+=`. The first such
/// one counts, else the last operator, since operators of one rank group to the left.
fn operator(all: &[Placed], sign: &str) -> Option<(usize, bool)> {
    let is_there = |at: usize| {
        let mut tokens = all[at..].iter();
        sign.char_indices().all(|(i, c)| {
            tokens
                .next()
                .is_some_and(|token| token.depth == 0 && token.at == all[at].at + i && token.text.starts_with(c))
        })
    };
    let assigns = |at: usize| {
        let next = all.get(at + sign.len());
        next.is_some_and(|next| next.text == "=" && next.at == all[at].at + sign.len())
    };
    let places: Vec<usize> = (0..all.len()).filter(|at| is_there(*at)).collect();
    let assignment = places.iter().find(|at| assigns(**at));
    let at = *assignment.or(places.last())?;
    Some((all[at].at, assignment.is_some()))
}

/// Writes a text with its edits, the outer ones around the inner.
struct Writer<'a> {
    text: &'a str,
    edits: &'a [Edit],
    next: usize,
}

impl Writer<'_> {
    fn range(&mut self, range: Range<usize>) -> String {
        let (mut out, mut done) = (String::new(), range.start);
        while let Some(edit) = self.edits.get(self.next).filter(|edit| edit.range.start < range.end) {
            self.next += 1;
            out.push_str(&self.text[done..edit.range.start]);
            out.push_str(&self.edit(edit));
            done = edit.range.end;
        }
        out.push_str(&self.text[done..range.end]);
        out
    }

    fn edit(&mut self, edit: &Edit) -> String {
        let Range { start, end } = edit.range;
        // A line's end stays: it also ends a comment.
        let bare = |text: String| text.trim_matches(' ').to_owned();
        match &edit.how {
            How::Clamp { helper, count } => format!("{helper}(u32({}), {}u)", self.range(start..end), count - 1),
            How::Call { open, helper } => format!("{helper}{}", self.range(*open..end)),
            How::Rename { helper } => helper.clone(),
            How::Differ { at } => {
                let left = bare(self.range(start..*at));
                format!("(!(({left}) == ({})))", bare(self.range(at + 2..end)))
            }
            How::Mask { ty, mask } => format!(" (({}) & {ty}({mask}u))", bare(self.range(start..end))),
            How::Divide { at, assigns: false, helper, ty } => {
                let left = bare(self.range(start..*at));
                format!("{helper}({ty}({left}), {ty}({}))", bare(self.range(at + 1..end)))
            }
            How::Divide { at, assigns: true, helper, ty } => {
                // The place is written twice, and so is what is guarded in it.
                let next = self.next;
                let place = bare(self.range(start..*at));
                self.next = next;
                let place_again = bare(self.range(start..*at));
                format!("{place} = {helper}({ty}({place_again}), {ty}({}))", bare(self.range(at + 2..end)))
            }
        }
    }
}
