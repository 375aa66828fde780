//! How sure a share is that was measured on so many runs.

/// The 0.975 quantile of the normal distribution: intervals hold in 95 of 100 samples.
const Z: f64 = 1.959_963_985;

/// Wilson's score interval of `hits` out of `of`, in percent. It stays within 0 and 100, and is no point where the
/// share is 0. Everything is possible where nothing was seen.
pub(super) fn wilson(hits: usize, of: usize) -> (f64, f64) {
    if of == 0 {
        return (0.0, 100.0);
    }
    let (hits, n) = (hits as f64, of as f64);
    let share = hits / n;
    let middle = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    (((middle - spread) / scale * 100.0).max(0.0), ((middle + spread) / scale * 100.0).min(100.0))
}
