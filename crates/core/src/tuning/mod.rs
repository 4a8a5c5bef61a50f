//! The numbers that planning depends on, as data: what limits suggest, and over that what tables say of measured devices.

mod candidates;
mod numbers;
mod table;

pub use self::candidates::Candidates;
pub(crate) use self::candidates::tuned;
pub use self::numbers::*;
pub(crate) use self::numbers::{Limits, Number, NumberKind, numbers};
pub use self::table::{TuningRow, TuningTable};
use crate::{Caps, Error, Result};

impl Tuning {
    /// The shipped numbers for a device: those of the shipped table, or a shape that every device can run if the table
    /// has none for it.
    pub fn of(caps: &Caps) -> Tuning {
        let mut tuning = Tuning::by_limits(caps);
        TuningTable::shipped().apply(caps, &mut tuning);
        tuning
    }

    /// The numbers that a backend opens a device with: the shipped ones, and over them those of the file that
    /// `TRIFOLD_TUNING` names.
    ///
    /// # Errors
    /// If that is set, as [`TuningTable::read`] and as [`Tuning::by_table`].
    pub fn for_device(caps: &Caps) -> Result<Tuning> {
        let Some((table, path)) = TuningTable::from_env()? else { return Ok(Tuning::of(caps)) };
        Tuning::by_table(caps, &table).map_err(|error| match error {
            Error::Invalid(why) => Error::Invalid(format!("{}: {why}, or unset TRIFOLD_TUNING", path.display())),
            other => other,
        })
    }

    /// The shipped numbers for a device, and over them those of a table that the program reads itself.
    /// [`Prepared::with_tuning`](crate::Prepared::with_tuning) plans with them.
    ///
    /// # Errors
    /// [`Error::Invalid`] if no row of the table is for the device: whoever names a table expects it to do something.
    pub fn by_table(caps: &Caps, table: &TuningTable) -> Result<Tuning> {
        if !table.is_for(caps) {
            return Err(Error::Invalid(format!(
                "a tuning table with no numbers for {} on {} ({}); run `trifold tune` on it, and put what that writes behind \
                 the table's rows",
                caps.backend, caps.device, caps.api
            )));
        }
        let mut tuning = Tuning::of(caps);
        table.apply(caps, &mut tuning);
        Ok(tuning)
    }
}

impl Tuning {
    /// Changes one number by its field's name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such field, or no kernel could run with the value.
    pub fn set(&mut self, name: &str, value: u32) -> Result<()> {
        let Some(number) = self.numbers().find(|number| number.name == name) else {
            let names: Vec<&str> = self.numbers().map(|number| number.name).collect();
            return Err(Error::Invalid(format!("no tuning `{name}`; there are {}", names.join(", "))));
        };
        number.check(value)?;
        // Whole subgroups, of most devices that the number may be for; the planner knows the one.
        if number.kind.is_workgroup() && !value.is_multiple_of(32) {
            return Err(Error::Invalid(format!("tuning `{name}` of {value}; it must be a multiple of 32")));
        }
        *number.value = value;
        Ok(())
    }

    /// The numbers as the planner takes them on a device: no workgroup is larger than the device's. Fails with the
    /// first number that no kernel could run with, as anybody may set the fields.
    pub(crate) fn within(&self, caps: &Caps) -> Result<Tuning> {
        let mut tuning = self.clone();
        let widest = caps.subgroups.map_or(1, |s| s.max).max(1);
        // Not a loop: a chain of so many parts is slow to go through from outside.
        tuning.numbers().try_for_each(|number| {
            number.check(*number.value)?;
            let most = match number.kind {
                NumberKind::Halved => 1 << caps.max_workgroup.max(2).ilog2(),
                NumberKind::Workgroup => (caps.max_workgroup / widest * widest).max(widest),
                NumberKind::Count | NumberKind::Optional => u32::MAX,
            };
            *number.value = most.min(*number.value);
            Ok(())
        })?;
        Ok(tuning)
    }

    /// Fails as [`Tuning::set`] does, and sets nothing.
    ///
    /// # Errors
    /// [`Error::Invalid`] that lists the names, or has the number's limits.
    pub fn check(name: &str, value: u32) -> Result<()> {
        Tuning::by(&Limits::USUAL).set(name, value)
    }

    /// The numbers in which this is another than `before`, by their names.
    pub fn changes(&self, before: &Tuning) -> Vec<(&'static str, u32)> {
        let (mut own, mut before) = (self.clone(), before.clone());
        let pairs = own.numbers().zip(before.numbers());
        pairs.filter(|(own, before)| own.value != before.value).map(|(own, _)| (own.name, *own.value)).collect()
    }

    /// One number by its field's name.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.clone().numbers().find(|number| number.name == name).map(|number| *number.value)
    }
}

impl Number<'_> {
    /// Fails for what no kernel could run with.
    fn check(&self, value: u32) -> Result<()> {
        let Number { name, kind, most, .. } = *self;
        let wrong = |wanted: String| Err(Error::Invalid(format!("tuning `{name}` of {value}; it must be {wanted}")));
        let least = kind.least();
        if !(least..=most).contains(&value) {
            return wrong(format!("at least {least} and at most {most}"));
        }
        if kind == NumberKind::Halved && !value.is_power_of_two() {
            return wrong("a power of two".into());
        }
        Ok(())
    }
}
