//! Expressions in C.

use naga::{Expression, Handle, RelationalFunction, Span, TypeInner};
use trifold_core::{Error, Result};

use super::types::CScalar;
use super::{FunctionEmitter, temporary};

impl FunctionEmitter<'_, '_> {
    /// The text by which an expression that has been evaluated is used: a name, or a scalar constant.
    pub fn value(&mut self, handle: Handle<Expression>) -> Result<String> {
        let span = self.function.expressions.get_span(handle);
        if matches!(self.inner(handle), TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }) {
            let place = self.place(handle)?;
            // A pointer that came as an argument goes on as it came.
            return Ok(match place.strip_prefix("(*").and_then(|p| p.strip_suffix(')')) {
                Some(pointer) if !pointer.contains(')') => pointer.to_string(),
                _ => format!("&{place}"),
            });
        }
        let scalar = matches!(self.inner(handle), TypeInner::Scalar(_));
        match &self.function.expressions[handle] {
            Expression::Literal(literal) => self.emitter.literal(*literal, span),
            Expression::Constant(constant) if scalar => {
                let init = self.emitter.program.module.constants[*constant].init;
                let ty = self.emitter.resolved_name(&self.info[handle].ty, span)?;
                let value = self.emitter.constant(init, span)?;
                Ok(if value == "0" { format!("({ty})0") } else { value })
            }
            Expression::ZeroValue(_) if scalar => {
                Ok(format!("({})0", self.emitter.resolved_name(&self.info[handle].ty, span)?))
            }
            Expression::FunctionArgument(index) => Ok(self.argument(*index)),
            _ if self.declared.contains(&handle) => Ok(temporary(handle)),
            _ => Err(self.refuse(span, "this expression is used where it has no value")),
        }
    }

    /// The lvalue that a pointer points to.
    pub fn place(&mut self, handle: Handle<Expression>) -> Result<String> {
        let span = self.function.expressions.get_span(handle);
        match &self.function.expressions[handle] {
            Expression::LocalVariable(variable) => Ok(self.variable(*variable)),
            Expression::FunctionArgument(index) => Ok(format!("(*{})", self.argument(*index))),
            Expression::AccessIndex { base, index } => {
                let (place, pointee) = (self.place(*base)?, self.pointee(*base, span)?);
                self.member(&place, pointee, *index, span)
            }
            Expression::Access { base, index } => {
                let (place, pointee) = (self.place(*base)?, self.pointee(*base, span)?);
                self.indexed(&place, pointee, *index, span)
            }
            _ => Err(self.refuse(span, "this pointer cannot be said in OpenCL C and CUDA C")),
        }
    }

    fn pointee(&self, handle: Handle<Expression>, span: Span) -> Result<TypeInner> {
        match self.inner(handle) {
            TypeInner::Pointer { base, .. } => Ok(self.emitter.program.module.types[*base].inner.clone()),
            TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
                Ok(TypeInner::Vector { size: *size, scalar: *scalar })
            }
            TypeInner::ValuePointer { size: None, scalar, .. } => Ok(TypeInner::Scalar(*scalar)),
            _ => Err(self.refuse(span, "this is no pointer")),
        }
    }

    fn member(&self, base: &str, ty: TypeInner, index: u32, span: Span) -> Result<String> {
        match ty {
            TypeInner::Struct { members, .. } => {
                let name = members.get(index as usize).and_then(|m| m.name.as_deref()).unwrap_or_default();
                Ok(format!("{base}.{}", super::field_name(name, index as usize)))
            }
            TypeInner::Vector { .. } | TypeInner::Array { .. } => Ok(format!("{base}.at[{index}]")),
            _ => Err(self.refuse(span, "this access cannot be said in OpenCL C and CUDA C")),
        }
    }

    fn indexed(&mut self, base: &str, ty: TypeInner, index: Handle<Expression>, span: Span) -> Result<String> {
        let count = match ty {
            TypeInner::Vector { size, .. } => size as u32,
            TypeInner::Array { size: naga::ArraySize::Constant(count), .. } => count.get(),
            _ => return Err(self.refuse(span, "this access cannot be said in OpenCL C and CUDA C")),
        };
        let index = self.value(index)?;
        let clamp = self.emitter.index_helper();
        Ok(format!("{base}.at[{clamp}((u32){index}, {count}u)]"))
    }

    /// The initializer that evaluates an expression.
    pub fn evaluate(&mut self, handle: Handle<Expression>) -> Result<String> {
        let function = self.function;
        let span = function.expressions.get_span(handle);
        match &function.expressions[handle] {
            Expression::Compose { components, .. } => self.compose(handle, components),
            Expression::Access { base, index } => {
                let (value, ty) = (self.value(*base)?, self.inner(*base).clone());
                self.indexed(&value, ty, *index, span)
            }
            Expression::AccessIndex { base, index } => {
                let (value, ty) = (self.value(*base)?, self.inner(*base).clone());
                self.member(&value, ty, *index, span)
            }
            Expression::Splat { size, value } => {
                let value = self.value(*value)?;
                Ok(braced(&vec![value; *size as usize]))
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.value(*vector)?;
                let lanes = pattern[..*size as usize].iter().map(|lane| format!("{vector}.at[{}]", *lane as u32));
                Ok(braced(&lanes.collect::<Vec<_>>()))
            }
            Expression::Load { pointer } => self.place(*pointer),
            Expression::Unary { op, expr } => {
                let kind = self.kind(*expr, span)?;
                self.lanewise(handle, &[*expr], |this, args| {
                    this.emitter.unary(*op, kind, &args[0]).ok_or_else(|| this.refuse(span, unsaid("this operator")))
                })
            }
            Expression::Binary { op, left, right } => {
                let kind = self.kind(*left, span)?;
                self.lanewise(handle, &[*left, *right], |this, args| {
                    let text = this.emitter.binary(*op, kind, &args[0], &args[1]);
                    text.ok_or_else(|| this.refuse(span, unsaid("this operator")))
                })
            }
            Expression::Select { condition, accept, reject } => {
                self.lanewise(handle, &[*condition, *accept, *reject], |_, args| {
                    Ok(format!("{} ? {} : {}", args[0], args[1], args[2]))
                })
            }
            Expression::As { expr, kind, convert } => {
                let from = self.kind(*expr, span)?;
                let width = match (convert, from) {
                    (Some(width), _) => *width,
                    (None, CScalar::Number(scalar)) => scalar.bytes() as u8,
                    (None, CScalar::Bool) => 1,
                };
                let to = self.emitter.kind(naga::Scalar { kind: *kind, width }, span)?;
                let bits = convert.is_none();
                self.lanewise(handle, &[*expr], |this, args| {
                    let text = this.emitter.convert(from, to, bits, &args[0]);
                    text.ok_or_else(|| this.refuse(span, unsaid("this conversion")))
                })
            }
            Expression::Relational { fun, argument } => {
                let joint = match fun {
                    RelationalFunction::All => " && ",
                    RelationalFunction::Any => " || ",
                    _ => return Err(self.refuse(span, unsaid("this function"))),
                };
                let lanes = self.lanes(*argument).unwrap_or(1);
                let values = (0..lanes).map(|lane| self.lane(*argument, lane)).collect::<Result<Vec<_>>>()?;
                Ok(values.join(joint))
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let kind = self.kind(*arg, span)?;
                let arguments: Vec<_> = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten().collect();
                if *fun == naga::MathFunction::Dot {
                    return self.dot(kind, arguments[0], arguments[1], span);
                }
                self.lanewise(handle, &arguments, |this, args| {
                    let args: Vec<&str> = args.iter().map(String::as_str).collect();
                    let text = this.emitter.math(*fun, kind, &args);
                    text.ok_or_else(|| this.refuse(span, unsaid(&format!("the function {fun:?}"))))
                })
            }
            _ => Err(self.refuse(span, unsaid("this expression"))),
        }
    }

    fn compose(&mut self, handle: Handle<Expression>, components: &[Handle<Expression>]) -> Result<String> {
        let mut parts = Vec::new();
        match self.inner(handle) {
            TypeInner::Vector { .. } => {
                // A vector may be made of shorter ones.
                for component in components {
                    for lane in 0..self.lanes(*component).unwrap_or(1) {
                        parts.push(self.lane(*component, lane)?);
                    }
                }
                Ok(braced(&parts))
            }
            inner => {
                for component in components {
                    parts.push(self.value(*component)?);
                }
                match inner {
                    TypeInner::Struct { .. } => Ok(format!("{{{}}}", parts.join(", "))),
                    TypeInner::Array { .. } => Ok(braced(&parts)),
                    _ => Err(self.refuse(self.function.expressions.get_span(handle), unsaid("a matrix"))),
                }
            }
        }
    }

    /// Emits an operation for a scalar, or for each component of a vector.
    fn lanewise(
        &mut self,
        result: Handle<Expression>,
        operands: &[Handle<Expression>],
        operation: impl Fn(&mut Self, &[String]) -> Result<String>,
    ) -> Result<String> {
        let count = self.lanes(result);
        let mut of_lane = |lane: u32| {
            let values = operands.iter().map(|operand| self.lane(*operand, lane)).collect::<Result<Vec<_>>>()?;
            operation(self, &values)
        };
        match count {
            None => of_lane(0),
            Some(count) => Ok(braced(&(0..count).map(of_lane).collect::<Result<Vec<_>>>()?)),
        }
    }

    fn dot(&mut self, kind: CScalar, a: Handle<Expression>, b: Handle<Expression>, span: Span) -> Result<String> {
        let mut sum: Option<String> = None;
        for lane in 0..self.lanes(a).unwrap_or(1) {
            let (x, y) = (self.lane(a, lane)?, self.lane(b, lane)?);
            let product = self.emitter.binary(naga::BinaryOperator::Multiply, kind, &x, &y);
            sum = match (sum, product) {
                (None, product) => product,
                (Some(sum), Some(product)) => {
                    self.emitter.binary(naga::BinaryOperator::Add, kind, &operand(&sum), &operand(&product))
                }
                (Some(_), None) => None,
            };
        }
        sum.ok_or_else(|| self.refuse(span, unsaid("this dot product")))
    }

    /// How many components a vector has; `None` for what is no vector.
    fn lanes(&self, handle: Handle<Expression>) -> Option<u32> {
        match self.inner(handle) {
            TypeInner::Vector { size, .. } => Some(*size as u32),
            _ => None,
        }
    }

    /// A component of a vector; of a scalar, the scalar.
    fn lane(&mut self, handle: Handle<Expression>, lane: u32) -> Result<String> {
        let value = self.value(handle)?;
        Ok(if self.lanes(handle).is_some() { format!("{value}.at[{lane}]") } else { value })
    }

    /// The kind of a scalar, or of a vector's components.
    fn kind(&self, handle: Handle<Expression>, span: Span) -> Result<CScalar> {
        match self.inner(handle) {
            TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } => self.emitter.kind(*scalar, span),
            inner => Err(self.refuse(span, unsaid(&self.emitter.program.inner_name(inner)))),
        }
    }

    fn refuse(&self, span: Span, what: impl std::fmt::Display) -> Error {
        self.emitter.program.refuse(span, what)
    }
}

/// The initializer of a vector or an array: the outer braces are the struct's.
fn braced(parts: &[String]) -> String {
    format!("{{{{{}}}}}", parts.join(", "))
}

/// An operation as another's operand. CUDA's are calls already.
fn operand(operation: &str) -> String {
    if operation.starts_with("__") { operation.to_string() } else { format!("({operation})") }
}

fn unsaid(what: &str) -> String {
    format!("{what} cannot be said in OpenCL C and CUDA C; write it in another way, or run it through wgpu")
}
