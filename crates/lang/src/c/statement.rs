//! Statements in C.

use naga::{Block, Expression, Handle, Span, Statement, SwitchCase, SwitchValue, TypeInner};
use trifold_core::{Result, Scalar};

use super::{FunctionEmitter, function_name, temporary};

impl FunctionEmitter<'_, '_> {
    /// The statements of a block, without braces.
    pub fn block(&mut self, block: &Block) -> Result<()> {
        for (statement, span) in block.span_iter() {
            self.statement(statement, *span)?;
        }
        Ok(())
    }

    fn statement(&mut self, statement: &Statement, span: Span) -> Result<()> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    // Pointers are written out where they are used: C would need types and qualifiers for them.
                    let ty = self.inner(handle);
                    let is_pointer = matches!(ty, TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. });
                    if !is_pointer && !self.declared.contains(&handle) {
                        let value = self.evaluate(handle)?;
                        self.declare(handle, &value)?;
                    }
                }
            }
            Statement::Block(block) => {
                self.line("{");
                self.indented(block)?;
                self.line("}");
            }
            Statement::If { condition, accept, reject } => {
                let condition = self.value(*condition)?;
                // naga makes `if c {} else { break; }` of every loop's condition.
                let (negation, first, second) =
                    if accept.is_empty() { ("!", reject, accept) } else { ("", accept, reject) };
                self.line(&format!("if ({negation}{condition}) {{"));
                self.indented(first)?;
                if !second.is_empty() {
                    self.line("} else {");
                    self.indented(second)?;
                }
                self.line("}");
            }
            Statement::Switch { selector, cases } => self.switch(*selector, cases)?,
            Statement::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if)?,
            Statement::Break => self.line("break;"),
            Statement::Continue => self.line("continue;"),
            Statement::Return { value: Some(value) } => {
                let value = self.value(*value)?;
                self.line(&format!("return {value};"));
            }
            Statement::Return { value: None } => self.line("return;"),
            Statement::Store { pointer, value } => {
                let (place, value) = (self.place(*pointer)?, self.value(*value)?);
                self.line(&format!("{place} = {value};"));
            }
            Statement::Call { function, arguments, result } => {
                let program = self.emitter.program;
                let name = function_name(program, *function, &program.module.functions[*function]);
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.value(*argument)?);
                }
                let call = format!("{name}({})", values.join(", "));
                match result {
                    Some(result) => self.declare(*result, &call)?,
                    None => self.line(&format!("{call};")),
                }
            }
            // The others are no operator's, which Program::new has checked.
            _ => return Err(self.emitter.program.refuse(span, "this statement cannot be said in OpenCL C and CUDA C")),
        }
        Ok(())
    }

    fn indented(&mut self, block: &Block) -> Result<()> {
        self.indent += 1;
        self.block(block)?;
        self.indent -= 1;
        Ok(())
    }

    fn switch(&mut self, selector: Handle<Expression>, cases: &[SwitchCase]) -> Result<()> {
        let selector = self.value(selector)?;
        self.line(&format!("switch ({selector}) {{"));
        for case in cases {
            let dialect = self.emitter.dialect;
            let label = match case.value {
                SwitchValue::I32(value) => format!("case {}:", dialect.integer(Scalar::I32, value.into())),
                SwitchValue::U32(value) => format!("case {}:", dialect.integer(Scalar::U32, value.into())),
                SwitchValue::Default => "default:".to_string(),
            };
            if case.fall_through && case.body.is_empty() {
                self.line(&label);
                continue;
            }
            self.line(&format!("{label} {{"));
            self.indented(&case.body)?;
            let ends =
                matches!(case.body.last(), Some(Statement::Break | Statement::Continue | Statement::Return { .. }));
            if !case.fall_through && !ends {
                self.indent += 1;
                self.line("break;");
                self.indent -= 1;
            }
            self.line("}");
        }
        self.line("}");
        Ok(())
    }

    /// A loop. C has no `continuing` that a `continue` runs into, so it stands at the start of the next iteration. That
    /// is out of the body's scope: it reads variables, and no value of the body.
    fn repeat(&mut self, body: &Block, continuing: &Block, break_if: Option<Handle<Expression>>) -> Result<()> {
        if continuing.is_empty() && break_if.is_none() {
            self.line("for (;;) {");
            self.indented(body)?;
            self.line("}");
            return Ok(());
        }
        let again = format!("_again{}", self.loops);
        self.loops += 1;
        self.line(&format!("bool {again} = false;"));
        self.line("for (;;) {");
        self.indent += 1;
        self.line(&format!("if ({again}) {{"));
        let outside = self.declared.clone();
        self.indented(continuing)?;
        if let Some(condition) = break_if {
            let condition = self.value(condition)?;
            self.indent += 1;
            self.line(&format!("if ({condition}) {{ break; }}"));
            self.indent -= 1;
        }
        self.declared = outside;
        self.line("}");
        self.line(&format!("{again} = true;"));
        self.indent -= 1;
        self.indented(body)?;
        self.line("}");
        Ok(())
    }

    /// Names an expression's value.
    pub fn declare(&mut self, handle: Handle<Expression>, value: &str) -> Result<()> {
        let span = self.function.expressions.get_span(handle);
        let ty = self.emitter.resolved_name(&self.info[handle].ty, span)?;
        self.line(&format!("const {ty} {} = {value};", temporary(handle)));
        self.declared.insert(handle);
        Ok(())
    }
}
