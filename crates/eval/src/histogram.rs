//! Percentiles of more values than can be kept: [`Histogram`].
//!
//! Bins grow with the value: 128 of them between a number and its double, taken
//! from the first seven bits behind the leading one of its binary form. A
//! percentile is the middle of its bin, within 0.4 % of the exact one, whatever
//! the number of values; the mean and the largest are exact.

/// Bins from a number to its double, as a power of two.
const BITS: u32 = 7;
/// Smaller values are counted as 0: 2⁻⁴⁰.
const LOWEST: u64 = (1023 - 40) << BITS;
/// Values of 2²⁴ and more are in the last bin.
const N_BINS: usize = 64 << BITS;

/// Counts of values from 0 up.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// How many are 0, or next to it.
    zeros: u64,
    bins: Vec<u64>,
    n: u64,
    sum: f64,
    max: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            zeros: 0,
            bins: vec![0; N_BINS],
            n: 0,
            sum: 0.0,
            max: 0.0,
        }
    }
}

impl Histogram {
    /// One value more; what is negative or no number counts as 0.
    pub fn add(&mut self, value: f64) {
        let value = value.max(0.0);
        self.n += 1;
        self.sum += value;
        self.max = self.max.max(value);
        match (value.to_bits() >> (52 - BITS)).checked_sub(LOWEST) {
            Some(bin) => self.bins[(bin as usize).min(N_BINS - 1)] += 1,
            None => self.zeros += 1,
        }
    }

    /// Takes the values of another one into account.
    pub fn merge(&mut self, other: &Self) {
        self.zeros += other.zeros;
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
        self.n += other.n;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// How many values there are.
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Their mean; 0 of none.
    pub fn mean(&self) -> f64 {
        self.sum / self.n.max(1) as f64
    }

    /// The largest; 0 of none.
    pub const fn max(&self) -> f64 {
        self.max
    }

    /// The value that a share of all does not exceed, to 0.4 %; 0 of none.
    pub fn quantile(&self, share: f64) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let place = ((self.n - 1) as f64 * share).floor() as u64;
        let mut below = self.zeros;
        if below > place {
            return 0.0;
        }
        for (bin, count) in self.bins.iter().enumerate() {
            below += count;
            if below > place {
                return edge(bin).midpoint(edge(bin + 1)).min(self.max);
            }
        }
        self.max
    }

    /// How many values lie in each of `n_bars` bars of equal width up to
    /// `limit`; what is beyond is in the last. A bin counts where its middle is.
    pub fn bars(&self, n_bars: usize, limit: f64) -> Vec<u64> {
        let mut bars = vec![0; n_bars.max(1)];
        let last = bars.len() - 1;
        bars[0] += self.zeros;
        for (bin, count) in self.bins.iter().enumerate() {
            let middle = edge(bin).midpoint(edge(bin + 1));
            let bar = (middle / limit * n_bars as f64) as usize;
            bars[bar.min(last)] += count;
        }
        bars
    }
}

/// Where a bin begins.
const fn edge(bin: usize) -> f64 {
    f64::from_bits((LOWEST + bin as u64) << (52 - BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values over six orders of magnitude.
    fn values() -> Vec<f64> {
        let spread = (0..20_000u64).map(|i| (i * 7919 % 20_011) as f64 / 20_011.0);
        spread.map(|u| 1e-4 * 1e6f64.powf(u)).collect()
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_values_to_four_thousandths() {
        let mut values = values();
        let mut all = Histogram::default();
        for part in values.chunks(777) {
            let mut counts = Histogram::default();
            part.iter().for_each(|v| counts.add(*v));
            all.merge(&counts);
        }
        values.sort_by(f64::total_cmp);
        for share in [0.0, 0.05, 0.5, 0.95, 0.99, 1.0] {
            let exact = values[((values.len() - 1) as f64 * share) as usize];
            let found = all.quantile(share);
            assert!(
                (found / exact - 1.0).abs() < 0.004,
                "{share}: {found} {exact}"
            );
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert!((all.mean() / mean - 1.0).abs() < 1e-12);
        assert_eq!(all.max(), values[values.len() - 1]);
        assert_eq!(all.n(), 20_000);
    }

    #[test]
    fn nothing_and_what_is_no_number_are_zero() {
        let mut counts = Histogram::default();
        assert_eq!((counts.mean(), counts.quantile(0.5)), (0.0, 0.0));
        for odd in [0.0, -1.0, f64::NAN] {
            counts.add(odd);
        }
        assert_eq!((counts.max(), counts.quantile(1.0)), (0.0, 0.0));
        counts.add(1e300);
        assert_eq!(counts.max(), 1e300);
        assert!(counts.quantile(0.9) == 0.0 && counts.quantile(1.0) > 1e6);
    }

    #[test]
    fn bars_hold_every_value_once() {
        let mut counts = Histogram::default();
        values().iter().for_each(|v| counts.add(*v));
        counts.add(0.0);
        let bars = counts.bars(10, 50.0);
        assert_eq!(bars.iter().sum::<u64>(), 20_001);
        let first = values().iter().filter(|v| **v < 5.0).count() as u64 + 1;
        assert!(bars[0].abs_diff(first) < 60, "{} {first}", bars[0]);
    }
}
