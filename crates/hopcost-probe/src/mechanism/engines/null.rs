//! `null`: does nothing. What is measured is the loop and its stamps; in virtual
//! time every sample is 0.

use std::io;

use hopcost_model::mechanism::{Argument, Facts};

use super::{FACTS, attach};
use crate::registry::Row;
use crate::shape::{Attaching, Call};

pub static ROW: Row = Row::without_link(
    Facts {
        name: "null",
        argument: Some(Argument { form: "null", fits: |argument| argument.is_none() }),
        ..FACTS
    },
    attach::<Null, Null>,
);

struct Null;

impl Call for Null {
    fn new(attaching: &Attaching<'_>) -> io::Result<Self> {
        match attaching.case.argument() {
            None => Ok(Null),
            Some(_) => Err(super::bad_argument(attaching, "`null` without an argument")),
        }
    }
    #[inline(always)]
    fn call(&mut self, x: u64) -> u64 {
        x
    }
}
