//! The timed loops: the only ones. Stand-alone functions, generic inside, so
//! that nothing but the mechanism is in the loop; one indirect call a phase.

pub mod call;
pub mod roundtrip;

/// What a loop saw.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stamped {
    /// Operations done.
    pub count: u64,
    /// Samples taken.
    pub samples: u64,
    /// The longest sample in ticks.
    pub max_ticks: u64,
    /// Ticks from the first stamp to the last.
    pub elapsed_ticks: u64,
    /// Stamps whose CPU differed from the one before.
    pub cpu_changes: u64,
}

impl Stamped {
    /// Notes a sample, and keeps it if there is room.
    #[inline(always)]
    pub(crate) fn note(&mut self, ticks: u64, out: &mut [u64]) {
        if let Some(place) = out.get_mut(self.samples as usize) {
            *place = ticks;
        }
        self.samples += 1;
        self.max_ticks = self.max_ticks.max(ticks);
        self.elapsed_ticks += ticks;
    }
}
