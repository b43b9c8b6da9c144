//! Plots of cases along an axis.

use crate::document;

document! {
    /// A plot: lines over one axis, or bars over named places.
    pub struct Plot {
        /// Name in file names (`wakeup-gap`, `throughput-size`).
        pub id: String,
        /// Title.
        pub title: String,
        /// What x is.
        pub x: PlotAxis,
        /// What y is.
        pub y: PlotAxis,
        /// One line each.
        pub series: Vec<PlotSeries>,
        /// Points from which on one way of sending is faster than another.
        pub crossings: Vec<PlotCrossing>,
        /// What is said under it: what was not counted, what a band is, who published.
        pub notes: Vec<String>,
    }
}

document! {
    /// An axis.
    pub struct PlotAxis {
        /// Label, without unit.
        pub label: String,
        /// Unit (`ns`, `B`, `Gbit/s`, empty for a count).
        pub unit: String,
        /// Whether it is logarithmic.
        pub logarithmic: bool,
        /// Names of the places 0, 1, 2 … of an axis that has names instead of values (bars);
        /// empty otherwise.
        pub names: Vec<String>,
    }
}

document! {
    /// A line of a plot.
    pub struct PlotSeries {
        /// Name.
        pub name: String,
        /// Points, by x.
        pub points: Vec<PlotPoint>,
        /// What others published of the same cases.
        pub published: Vec<PublishedPoint>,
    }
}

document! {
    /// A point from which on one way is faster than another.
    pub struct PlotCrossing {
        /// Where.
        pub x: f64,
        /// Value.
        pub y: f64,
        /// Which is faster than which.
        pub says: String,
    }
}

document! {
    /// A published number that has a place in a plot; both ends of a published range have.
    pub struct PublishedPoint {
        /// Where it was published.
        pub source: String,
        /// What its machine is called; empty where none is stated.
        pub machine: String,
        /// Where.
        pub x: f64,
        /// Value.
        pub y: f64,
    }
}

document! {
    /// A point with a band.
    #[derive(Copy)]
    pub struct PlotPoint {
        /// Where.
        pub x: f64,
        /// Value.
        pub y: f64,
        /// Lower edge of the band.
        pub low: Option<f64>,
        /// Upper edge of the band.
        pub high: Option<f64>,
        /// Share of the messages that waited for a delayed acknowledgement (`NAGLE_DELACK`),
        /// where the case has that finding.
        pub stalled: Option<f64>,
    }
}
