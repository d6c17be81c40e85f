//! The text format of Prometheus, written by hand: it is plain lines.

use agon_store::Histogram;
use std::fmt::Write;

/// A text of metrics. Names, labels and help are our own constants, so nothing is escaped.
#[derive(Default)]
pub(super) struct Exposition {
    text: String,
}

impl Exposition {
    /// Adds a comment for human readers.
    pub(super) fn comment(&mut self, words: &str) {
        self.line(format_args!("# {words}"));
    }

    pub(super) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.line(format_args!("{name} {value}"));
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "gauge", help);
        self.line(format_args!("{name} {value}"));
    }

    /// A duration in seconds, from milliseconds.
    pub(super) fn seconds(&mut self, name: &str, help: &str, value_ms: u64) {
        self.head(name, "gauge", help);
        self.line(format_args!("{name} {}", value_ms as f64 / 1e3));
    }

    /// A metric of one kind with labels, each written as `name="value"`.
    pub(super) fn labelled(
        &mut self,
        (name, kind): (&str, &str),
        help: &str,
        values: impl IntoIterator<Item = (String, u64)>,
    ) {
        self.head(name, kind, help);
        for (labels, value) in values {
            self.line(format_args!("{name}{{{labels}}} {value}"));
        }
    }

    /// A histogram; `units` of the counted unit make one of the shown unit.
    pub(super) fn histogram(&mut self, name: &str, help: &str, counted: &Histogram, units: f64) {
        self.head(name, "histogram", help);
        let mut count = 0;
        for (bound, so_far) in counted.cumulated() {
            count = so_far;
            self.line(format_args!("{name}_bucket{{le=\"{}\"}} {so_far}", bound as f64 / units));
        }
        count += counted.beyond();
        self.line(format_args!("{name}_bucket{{le=\"+Inf\"}} {count}"));
        self.line(format_args!("{name}_sum {}", counted.sum() as f64 / units));
        self.line(format_args!("{name}_count {count}"));
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn line(&mut self, words: std::fmt::Arguments<'_>) {
        self.text.write_fmt(words).expect("a buffer accepts every write");
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_adds_up() {
        let histogram = Histogram::new(&[500, 1_000, 10_000]);
        [400, 1_000, 99_000].into_iter().for_each(|number| histogram.add(number));
        let mut text = Exposition::default();
        text.histogram("x_seconds", "How long.", &histogram, 1e3);
        let expected = "# HELP x_seconds How long.\n# TYPE x_seconds histogram\n\
             x_seconds_bucket{le=\"0.5\"} 1\nx_seconds_bucket{le=\"1\"} 2\n\
             x_seconds_bucket{le=\"10\"} 2\nx_seconds_bucket{le=\"+Inf\"} 3\n\
             x_seconds_sum 100.4\nx_seconds_count 3\n";
        assert_eq!(text.into_text(), expected);
    }
}
