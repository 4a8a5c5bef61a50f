//! Types in C: scalars by the prelude's names, vectors and arrays as structs around an array.

use naga::proc::TypeResolution;
use naga::{ArraySize, Expression, Handle, Literal, Span, Type, TypeInner};
use trifold_core::{Result, Scalar, ScalarKind};

use super::Emitter;
use crate::program::integer;

/// A scalar type that C has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CScalar {
    Bool,
    Number(Scalar),
}

impl CScalar {
    pub fn new(scalar: naga::Scalar) -> Option<CScalar> {
        let kind = match scalar.kind {
            naga::ScalarKind::Bool => return Some(CScalar::Bool),
            naga::ScalarKind::Uint => ScalarKind::Unsigned,
            naga::ScalarKind::Sint => ScalarKind::Signed,
            naga::ScalarKind::Float => ScalarKind::Float,
            naga::ScalarKind::AbstractInt | naga::ScalarKind::AbstractFloat => return None,
        };
        Scalar::of(kind, scalar.width.into()).map(CScalar::Number)
    }

    pub fn name(self) -> &'static str {
        match self {
            CScalar::Bool => "bool",
            CScalar::Number(scalar) => scalar.name(),
        }
    }
}

impl Emitter<'_> {
    /// The C name of a type, which is defined where it must be.
    pub fn type_name(&mut self, handle: Handle<Type>, span: Span) -> Result<String> {
        let program = self.program;
        let ty = &program.module.types[handle];
        match (&ty.inner, &ty.name) {
            (TypeInner::Struct { .. }, _) if program.types.contains(&handle) => {
                let of = program.types.iter().zip(program.named()).find(|(ty, _)| **ty == handle);
                Ok(of.map_or_else(String::new, |(_, named)| named.emitted.clone()))
            }
            (TypeInner::Struct { .. }, _) if Some(handle) == program.captures => Ok(program.captures_name().into()),
            (TypeInner::Struct { members, .. }, Some(name)) => {
                let name = super::prefixed(program, name, 's', handle.index());
                if !self.types.contains(&name) {
                    let mut fields = String::new();
                    for (i, member) in members.iter().enumerate() {
                        let field = super::field_name(member.name.as_deref().unwrap_or_default(), i);
                        fields += &format!("    {} {field};\n", self.type_name(member.ty, span)?);
                    }
                    self.types.insert(&name, format!("typedef struct {{\n{fields}}} {name};\n"));
                }
                Ok(name)
            }
            (inner, _) => self.inner_name(inner, span),
        }
    }

    /// As [`Emitter::type_name`], of an expression's type.
    pub fn resolved_name(&mut self, ty: &TypeResolution, span: Span) -> Result<String> {
        match ty {
            TypeResolution::Handle(handle) => self.type_name(*handle, span),
            TypeResolution::Value(inner) => self.inner_name(inner, span),
        }
    }

    fn inner_name(&mut self, inner: &TypeInner, span: Span) -> Result<String> {
        match inner {
            TypeInner::Scalar(scalar) => Ok(self.kind(*scalar, span)?.name().to_string()),
            TypeInner::Vector { size, scalar } => {
                let scalar = self.kind(*scalar, span)?.name();
                Ok(self.sequence("vec", *size as u32, scalar))
            }
            TypeInner::Array { base, size: ArraySize::Constant(count), .. } => {
                let base = self.type_name(*base, span)?;
                Ok(self.sequence("array", count.get(), &base))
            }
            _ => {
                let what = self.program.inner_name(inner);
                Err(self.program.refuse(span, format!("{what} cannot be said in OpenCL C and CUDA C")))
            }
        }
    }

    /// C cannot return or assign arrays, so sequences are structs that hold one.
    fn sequence(&mut self, what: &str, count: u32, base: &str) -> String {
        let name = format!("wgsl_{what}{count}_{}", base.trim_start_matches("wgsl_"));
        self.types.insert(&name, format!("typedef struct {{ {base} at[{count}]; }} {name};\n"));
        name
    }

    /// The kind of a scalar, or the error that C has none such.
    pub fn kind(&self, scalar: naga::Scalar, span: Span) -> Result<CScalar> {
        CScalar::new(scalar).ok_or_else(|| {
            let what = self.program.inner_name(&TypeInner::Scalar(scalar));
            self.program.refuse(span, format!("{what} cannot be said in OpenCL C and CUDA C"))
        })
    }

    /// The initializer that a module's constant expression is.
    pub fn constant(&mut self, handle: Handle<Expression>, span: Span) -> Result<String> {
        let module = &self.program.module;
        match &module.global_expressions[handle] {
            Expression::Literal(literal) => self.literal(*literal, span),
            Expression::Constant(constant) => self.constant(module.constants[*constant].init, span),
            Expression::ZeroValue(ty) => Ok(match module.types[*ty].inner {
                TypeInner::Scalar(_) => "0".into(),
                TypeInner::Vector { size, .. } => format!("{{{{{}}}}}", vec!["0"; size as usize].join(", ")),
                _ => "{0}".into(),
            }),
            Expression::Splat { size, value } => {
                let value = self.constant(*value, span)?;
                Ok(format!("{{{{{}}}}}", vec![value; *size as usize].join(", ")))
            }
            Expression::Compose { ty, components } => {
                let mut parts = Vec::new();
                for component in components {
                    parts.push(self.constant(*component, span)?);
                }
                Ok(match module.types[*ty].inner {
                    TypeInner::Struct { .. } => format!("{{{}}}", parts.join(", ")),
                    // A vector may be made of shorter ones; C lets the braces within be left out.
                    TypeInner::Vector { .. } => {
                        let flat: Vec<_> = parts.iter().map(|p| p.trim_matches(['{', '}'])).collect();
                        format!("{{{{{}}}}}", flat.join(", "))
                    }
                    _ => format!("{{{{{}}}}}", parts.join(", ")),
                })
            }
            _ => Err(self.program.refuse(span, "this constant cannot be said in OpenCL C and CUDA C")),
        }
    }

    /// A literal in C.
    pub fn literal(&self, literal: Literal, span: Span) -> Result<String> {
        let dialect = self.dialect;
        let text = match (literal, CScalar::new(literal.scalar())) {
            (Literal::Bool(value), _) => Some(value.to_string()),
            (Literal::F32(value), _) => Some(dialect.float(Scalar::F32, value.into())),
            (Literal::F64(value), _) => Some(dialect.float(Scalar::F64, value)),
            (_, Some(CScalar::Number(scalar))) => integer(literal).map(|value| dialect.integer(scalar, value)),
            _ => None,
        };
        text.ok_or_else(|| self.program.refuse(span, "a 16-bit number cannot be said in OpenCL C and CUDA C"))
    }
}
