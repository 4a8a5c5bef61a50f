//! Draws operator texts, and computes what they are to give: each expression is drawn with its values, for all pairs of operands at
//! once. What WGSL leaves open is not drawn: the sign and the payload of NaN as integers, an index out of bounds.

use arbitrary::{Result, Unstructured};
use trifold_core::{Number, Scalar, for_computed};

use crate::evaluate::{binaries, binary, binary_text, compare, convert, edges, shifts, unaries, unary, unary_text};

const EDGES: usize = 8;
/// Every edge with every edge.
pub const PAIRS: usize = EDGES * EDGES;

/// A text, and what it gives.
pub struct Drawn {
    pub text: String,
    /// The operands, as C reads them.
    pub pairs: Vec<u8>,
    pub results: Vec<u8>,
}

/// The bits of a value for each pair; 0 and 1 of a `bool`.
type Values = [u64; PAIRS];

#[derive(Clone, Copy, PartialEq)]
enum ValueType {
    Number(Scalar),
    Bool,
}

#[derive(Clone)]
struct Expression {
    text: String,
    values: Values,
}

struct Name {
    name: String,
    kind: ValueType,
    values: Values,
    is_var: bool,
}

/// Draws the text of an operator over a scalar.
pub fn draw(scalar: Scalar, bytes: &[u8]) -> Result<Drawn> {
    let edges = edges(scalar);
    let values = |place: fn(usize) -> usize| std::array::from_fn(|pair| edges[place(pair)]);
    let argument =
        |name: &str, values| Name { name: name.into(), kind: ValueType::Number(scalar), values, is_var: false };
    let names = vec![argument("a", values(|pair| pair / EDGES)), argument("b", values(|pair| pair % EDGES))];
    let mut body = Body { choices: Unstructured::new(bytes), names, text: String::new() };
    for _ in 0..body.choices.int_in_range(0..=6)? {
        body.statement()?;
    }
    let result = body.number(scalar, 3)?;
    let text = format!("fn combine(a: T, b: T) -> T {{\n{}  return {};\n}}", body.text, result.text);
    let size = scalar.bytes() as usize;
    let bytes = |bits: u64| bits.to_le_bytes().into_iter().take(size);
    let pairs = (0..PAIRS).flat_map(|pair| [edges[pair / EDGES], edges[pair % EDGES]]).flat_map(bytes).collect();
    Ok(Drawn { text, pairs, results: result.values.into_iter().flat_map(bytes).collect() })
}

struct Body<'a> {
    choices: Unstructured<'a>,
    names: Vec<Name>,
    text: String,
}

impl Body<'_> {
    fn statement(&mut self) -> Result<()> {
        match self.choices.int_in_range(0..=7)? {
            0 => self.variable(false),
            1 => self.variable(true),
            2 => self.vector(),
            3 => self.element(),
            4 => self.branch(),
            5 => self.repeated(),
            6 => self.case(),
            _ => self.assignment(),
        }
    }

    fn kind(&mut self) -> Result<ValueType> {
        let bools = self.choices.ratio(1, 7)?;
        Ok(if bools { ValueType::Bool } else { ValueType::Number(self.scalar()?) })
    }

    fn scalar(&mut self) -> Result<Scalar> {
        Ok(*self.choices.choose(&Scalar::computed().collect::<Vec<_>>())?)
    }

    fn declare(&mut self, kind: ValueType, values: Values, is_var: bool) -> String {
        let name = format!("v{}", self.names.len());
        self.names.push(Name { name: name.clone(), kind, values, is_var });
        name
    }

    fn line(&mut self, line: &str) {
        self.text += &format!("  {line}\n");
    }

    fn variable(&mut self, is_var: bool) -> Result<()> {
        let kind = self.kind()?;
        let Expression { text, values } = self.expression(kind, 3)?;
        let name = self.declare(kind, values, is_var);
        self.line(&format!("{} {name} = {text};", if is_var { "var" } else { "let" }));
        Ok(())
    }

    fn vector(&mut self) -> Result<()> {
        let scalar = self.scalar()?;
        let op = self.binary(scalar)?;
        let mut pair = || -> Result<_> { Ok((self.number(scalar, 1)?, self.right(scalar, op)?)) };
        let [x, y] = [pair()?, pair()?];
        let at = self.choices.int_in_range(0..=1)?;
        let (left, right) = if at == 0 { &x } else { &y };
        let values = zip(left, right, |l, r| binary(scalar, op, l, r));
        let kind = scalar.name();
        let shift = if shifts(op) { "u32" } else { kind };
        let ((x0, x1), (y0, y1)) = ((&x.0.text, &x.1.text), (&y.0.text, &y.1.text));
        let operation = binary_text(op, &format!("vec2<{kind}>({x0}, {y0})"), &format!("vec2<{shift}>({x1}, {y1})"));
        let name = self.declare(ValueType::Number(scalar), values, false);
        self.line(&format!("let {name} = ({operation}).{};", ["x", "y"][at]));
        Ok(())
    }

    /// An element of an array, whose index is within it.
    fn element(&mut self) -> Result<()> {
        let scalar = self.scalar()?;
        let elements = [(); 4].map(|()| self.number(scalar, 1));
        let [a, b, c, d] = elements;
        let elements = [a?, b?, c?, d?];
        let index = self.number(Scalar::U32, 2)?;
        let values = std::array::from_fn(|pair| elements[(index.values[pair] & 3) as usize].values[pair]);
        let name = self.declare(ValueType::Number(scalar), values, false);
        let list = elements.map(|element| element.text).join(", ");
        self.line(&format!("var {name}_all = array<{}, 4>({list});", scalar.name()));
        self.line(&format!("let {name} = {name}_all[({}) & 3u];", index.text));
        Ok(())
    }

    fn var(&mut self) -> Result<Option<usize>> {
        let vars: Vec<usize> = (0..self.names.len()).filter(|i| self.names[*i].is_var).collect();
        if vars.is_empty() { Ok(None) } else { self.choices.choose(&vars).map(|i| Some(*i)) }
    }

    fn assignment(&mut self) -> Result<()> {
        let Some(i) = self.var()? else { return self.variable(true) };
        let Expression { text, values } = self.expression(self.names[i].kind, 3)?;
        self.line(&format!("{} = {text};", self.names[i].name));
        self.names[i].values = values;
        Ok(())
    }

    fn branch(&mut self) -> Result<()> {
        let Some(i) = self.var()? else { return self.variable(true) };
        let (condition, kind) = (self.bool(2)?, self.names[i].kind);
        let (then, other) = (self.expression(kind, 2)?, self.expression(kind, 2)?);
        let name = &self.names[i].name;
        let text = format!("if ({}) {{ {name} = {}; }} else {{ {name} = {}; }}", condition.text, then.text, other.text);
        self.line(&text);
        self.names[i].values = choose(&condition, &then, &other);
        Ok(())
    }

    fn case(&mut self) -> Result<()> {
        let Some(i) = self.var()? else { return self.variable(true) };
        let (index, kind) = (self.number(Scalar::U32, 2)?, self.names[i].kind);
        let (case, other) = (self.expression(kind, 2)?, self.expression(kind, 2)?);
        let name = &self.names[i].name;
        let text = format!(
            "switch ({}) {{ case 1u, 7u: {{ {name} = {}; }} default: {{ {name} = {}; }} }}",
            index.text, case.text, other.text
        );
        self.line(&text);
        let condition = Expression { text: String::new(), values: index.values.map(|x| u64::from(x == 1 || x == 7)) };
        self.names[i].values = choose(&condition, &case, &other);
        Ok(())
    }

    fn repeated(&mut self) -> Result<()> {
        let Some(i) = self.var()? else { return self.variable(true) };
        let ValueType::Number(scalar) = self.names[i].kind else { return self.assignment() };
        let op = self.binary(scalar)?;
        // It would change while the loop runs.
        let hidden = std::mem::replace(&mut self.names[i].kind, ValueType::Bool);
        let is_var = std::mem::take(&mut self.names[i].is_var);
        let values = std::mem::replace(&mut self.names[i].values, [0; PAIRS]);
        let own = std::mem::replace(&mut self.names[i].name, "true".into());
        let right = self.right(scalar, op);
        self.names[i] = Name { name: own, kind: hidden, values, is_var };
        let (right, times) = (right?, self.choices.int_in_range(0..=4)?);
        let name = self.names[i].name.clone();
        let step = binary_text(op, &name, &right.text);
        self.line(&format!("for (var i = 0u; i < {times}u; i += 1u) {{ {name} = {step}; }}"));
        for _ in 0..times {
            let now = Expression { text: String::new(), values: self.names[i].values };
            self.names[i].values = zip(&now, &right, |l, r| binary(scalar, op, l, r));
        }
        Ok(())
    }

    fn expression(&mut self, kind: ValueType, depth: u32) -> Result<Expression> {
        match kind {
            ValueType::Number(scalar) => self.number(scalar, depth),
            ValueType::Bool => self.bool(depth),
        }
    }

    /// A number that is not known before the kernel runs: what is, is refused where it overflows.
    fn number(&mut self, scalar: Scalar, depth: u32) -> Result<Expression> {
        if depth == 0 {
            return self.named(scalar);
        }
        match self.choices.int_in_range(0..=5)? {
            0 => self.named(scalar),
            1 => {
                let from = self.scalar()?;
                let inner = self.number(from, depth - 1)?;
                Ok(converted(scalar, from, inner))
            }
            2 => {
                let (condition, then, other) =
                    (self.bool(depth - 1)?, self.number(scalar, depth - 1)?, self.number(scalar, depth - 1)?);
                let text = format!("select({}, {}, {})", other.text, then.text, condition.text);
                Ok(Expression { text, values: choose(&condition, &then, &other) })
            }
            3 => {
                let op = *self.choices.choose(unaries(scalar))?;
                let inner = self.number(scalar, depth - 1)?;
                let values = inner.values.map(|x| unary(scalar, op, x));
                Ok(Expression { text: unary_text(op, &inner.text), values })
            }
            _ => {
                let op = self.binary(scalar)?;
                let (left, right) = (self.number(scalar, depth - 1)?, self.right(scalar, op)?);
                let values = zip(&left, &right, |l, r| binary(scalar, op, l, r));
                Ok(Expression { text: binary_text(op, &left.text, &right.text), values })
            }
        }
    }

    fn binary(&mut self, scalar: Scalar) -> Result<&'static str> {
        self.choices.choose(binaries(scalar)).copied()
    }

    /// An operation's right side. It may be a literal, which is in range.
    fn right(&mut self, scalar: Scalar, op: &str) -> Result<Expression> {
        let scalar = if shifts(op) { Scalar::U32 } else { scalar };
        if self.choices.ratio(2, 3)? {
            return self.number(scalar, 1);
        }
        let literal = self.choices.int_in_range(1..=31_u32)?;
        let (long, letter) = (if scalar.bytes() == 8 { "l" } else { "" }, &scalar.name()[..1]);
        let (half, bits) = for_computed!(
            scalar,
            integer _T => ("", u64::from(literal)),
            float T => (".5", T::of_f64(f64::from(literal) + 0.5).bits() as u64)
        )
        .expect("what is drawn is computed with");
        Ok(Expression { text: format!("{literal}{half}{long}{letter}"), values: [bits; PAIRS] })
    }

    /// A name that is of the type, or can be converted to it.
    fn named(&mut self, scalar: Scalar) -> Result<Expression> {
        let numbers: Vec<_> = self
            .names
            .iter()
            .filter_map(|name| match name.kind {
                ValueType::Number(from) => Some((from, Expression { text: name.name.clone(), values: name.values })),
                ValueType::Bool => None,
            })
            .collect();
        let (from, expression) = self.choices.choose(&numbers)?.clone();
        Ok(if from == scalar { expression } else { converted(scalar, from, expression) })
    }

    fn bool(&mut self, depth: u32) -> Result<Expression> {
        const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];
        if depth > 1 && self.choices.ratio(1, 3)? {
            let (left, right) = (self.bool(depth - 1)?, self.bool(depth - 1)?);
            return Ok(match self.choices.int_in_range(0..=2)? {
                0 => Expression {
                    text: format!("({} && {})", left.text, right.text),
                    values: zip(&left, &right, |l, r| l & r),
                },
                1 => Expression {
                    text: format!("({} || {})", left.text, right.text),
                    values: zip(&left, &right, |l, r| l | r),
                },
                _ => Expression { text: format!("!({})", left.text), values: left.values.map(|x| x ^ 1) },
            });
        }
        let scalar = self.scalar()?;
        let comparison = *self.choices.choose(&COMPARISONS)?;
        let (left, right) = (self.number(scalar, depth.min(1))?, self.number(scalar, depth.min(1))?);
        let values = zip(&left, &right, |l, r| u64::from(compare(scalar, comparison, l, r)));
        Ok(Expression { text: format!("({} {comparison} {})", left.text, right.text), values })
    }
}

fn converted(to: Scalar, from: Scalar, inner: Expression) -> Expression {
    Expression { text: format!("{}({})", to.name(), inner.text), values: inner.values.map(|x| convert(to, from, x)) }
}

fn zip(left: &Expression, right: &Expression, of: impl Fn(u64, u64) -> u64) -> Values {
    std::array::from_fn(|pair| of(left.values[pair], right.values[pair]))
}

fn choose(condition: &Expression, then: &Expression, other: &Expression) -> Values {
    std::array::from_fn(|pair| if condition.values[pair] == 1 { then.values[pair] } else { other.values[pair] })
}
