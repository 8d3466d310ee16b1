//! The ellipse of one standard deviation around points of delay and goodput, as RFC 7928 §2.7 asks
//! to draw the trade-off between the two.

/// Corners of the drawn polygon.
const CORNERS: u32 = 64;

/// The ellipse of one standard deviation of the two-dimensional normal distribution that makes
/// these points most likely, as a closed polygon; `None` for fewer than three points.
#[must_use]
pub fn polygon(points: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let moment = |f: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| f(p.0 - x, p.1 - y)).sum::<f64>() / n;
    let (xx, yy, xy) = (moment(&|a, _| a * a), moment(&|_, b| b * b), moment(&|a, b| a * b));
    // Cholesky's factor maps the unit circle to the ellipse.
    let a = xx.sqrt();
    let b = if a > 0.0 { xy / a } else { 0.0 };
    let c = (yy - b * b).max(0.0).sqrt();
    let corner = |number: u32| {
        let angle = 2.0 * std::f64::consts::PI * f64::from(number % CORNERS) / f64::from(CORNERS);
        let (sin, cos) = (libm::sin(angle), libm::cos(angle));
        (x + a * cos, y + b * cos + c * sin)
    };
    Some((0..=CORNERS).map(corner).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ellipse_has_the_moments_of_its_points() {
        let points = [(1.0, 2.0), (3.0, 3.0), (5.0, 7.0), (7.0, 8.0)];
        let polygon = polygon(&points).expect("four points");
        assert_eq!(polygon.first(), polygon.last());
        let widest = polygon.iter().map(|p| p.0).fold(f64::MIN, f64::max);
        // Mean 4, variance (9 + 1 + 1 + 9) / 4 = 5.
        assert!((widest - 4.0 - 5.0_f64.sqrt()).abs() < 1e-12, "{widest}");
        // The upper end is a standard deviation above the mean as well: 5 and (9 + 4 + 4 + 9) / 4.
        let highest = polygon.iter().map(|p| p.1).fold(f64::MIN, f64::max);
        assert!((highest - 5.0 - 6.5_f64.sqrt()).abs() < 1e-2, "{highest}");
    }

    #[test]
    fn points_on_a_line_and_single_points_are_no_trouble() {
        assert_eq!(polygon(&[(1.0, 1.0), (2.0, 2.0)]), None);
        let flat = polygon(&[(1.0, 5.0), (1.0, 5.0), (1.0, 5.0)]).expect("three points");
        assert!(flat.iter().all(|p| *p == (1.0, 5.0)));
    }
}
