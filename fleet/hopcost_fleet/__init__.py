"""The driver of fleets: many hosts, measured by hopcost, started by what people already run."""

VERSION = "0.1.0"
