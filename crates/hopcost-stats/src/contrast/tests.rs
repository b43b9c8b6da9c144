use proptest::prelude::*;

use super::*;

const MARGIN: Region = Region { low: -0.03, high: 0.03 };

fn of(logs: &[f64]) -> LogRatio {
    LogRatio::of_units(logs, SerialDependence::NONE).unwrap()
}

/// Units around a centre, spread evenly and symmetrically.
fn even(centre: f64, spread: f64, n: u32) -> LogRatio {
    let at = |i: u32| centre + spread * (2.0 * (f64::from(i) + 0.5) / f64::from(n) - 1.0);
    of(&(0..n).map(at).collect::<Vec<_>>())
}

#[test]
fn what_is_no_series_has_no_ratio() {
    for logs in [&[][..], &[0.0, f64::NAN], &[f64::INFINITY; 9]] {
        assert_eq!(LogRatio::of_units(logs, SerialDependence::NONE), None);
        assert_eq!(LogRatio::of_runs(logs, &[1.0]), None);
    }
    let series = |values: &[(u32, f64)]| values.iter().copied().collect::<BTreeMap<_, _>>();
    let a = series(&[(0, 2.0), (1, 4.0), (3, 8.0)]);
    let logs = log_ratios(&a, &series(&[(1, 1.0), (2, 1.0), (3, 2.0)])).unwrap();
    assert_eq!((logs.len(), logs[0]), (2, libm::log(4.0)));
    assert_eq!(log_ratios(&a, &series(&[(1, 0.0)])), None);
}

#[test]
fn intervals_are_those_of_the_tables() {
    let runs = |a: &[f64], b: &[f64]| LogRatio::of_runs(a, b).unwrap();
    // Student's t of six, five, four and 37.5 degrees at 95 %, and what it multiplies: √(28/6) of
    // −3 to 3; of six kept the sum of squares of (−2, −2, −1, 0, 0, 1, 2, 2); 2 and 2 of two sides;
    // and a standard deviation of 1 between runs besides.
    let seven = of(&[-3.0, 1.0, -1.0, 0.0, 2.0, 3.0, -2.0]);
    let eight = of(&[-2.0, -1.0, 0.0, 90.0, 0.0, 1.0, 2.0, -90.0]);
    for (of, point, t, error) in [
        (seven, 0.0, 2.4469, libm::sqrt(28.0 / 6.0 / 7.0)),
        (eight, 0.0, 2.5706, libm::sqrt(18.0 / 5.0 / 6.0)),
        (runs(&[-1.0, 0.0, 1.0], &[9.0, 10.0, 11.0]), 10.0, 2.7764, libm::sqrt(2.0 / 3.0)),
        (seven.between_runs(1.0), 0.0, 2.0253, libm::sqrt(28.0 / 6.0 / 7.0 + 1.0)),
    ] {
        let (low, high) = of.interval(ERROR).unwrap();
        let half = t * error;
        assert!((low - point + half).abs() < 5e-3 && (high - point - half).abs() < 5e-3, "{of:?}");
    }
    let kept = [6, 7, 8, 12, 24, 60].map(|n| Trimmed::of(&vec![0.0; n]).unwrap().kept);
    assert_eq!(kept, [6.0, 7.0, 6.0, 8.0, 14.0, 32.0]);
    assert_eq!(even(0.0, 1.0, 5).interval(ERROR), None);
    for (a, b, has) in [(1, 9, false), (2, 2, false), (2, 3, true)] {
        assert_eq!(runs(&vec![0.0; a], &vec![0.1; b]).interval(ERROR).is_some(), has, "{a} {b}");
    }
}

#[test]
fn neighbours_that_are_alike_widen() {
    let logs: Vec<f64> = (0..24).map(|i| f64::from(i * i % 7)).collect();
    let half = |of: LogRatio| of.interval(ERROR).map(|(low, high)| (high - low) / 2.0).unwrap();
    let rising: Vec<f64> = (0..24).map(f64::from).collect();
    let pooled = LogRatio::pooled(&[&logs, &rising, &rising], 3);
    assert!(half(pooled[0].unwrap()) > 1.7 * half(LogRatio::alone(&logs).unwrap()));
}

#[test]
fn verdicts_and_what_would_decide() {
    use Verdict::{Inside, Open, Outside};
    let below = Region { low: f64::NEG_INFINITY, high: 0.03 };
    for (centre, spread, n, region, verdict) in [
        (0.06, 0.02, 20, MARGIN, Outside),
        (-0.06, 0.02, 20, MARGIN, Outside),
        (0.01, 0.02, 20, MARGIN, Inside),
        (0.05, 0.1, 20, MARGIN, Open),
        (0.06, 0.02, 4, MARGIN, Open),
        (-9.0, 0.02, 20, below, Inside),
        (0.06, 0.02, 20, below, Outside),
        // Units that are all the same are certain, at the very end of the region too.
        (0.0, 0.0, 12, Region::EQUAL, Inside),
        (0.1, 0.0, 12, Region::EQUAL, Outside),
        (0.03, 0.0, 12, MARGIN, Inside),
        (0.03f64.next_up(), 0.0, 12, MARGIN, Outside),
    ] {
        let found = contrast(&even(centre, spread, n), region, ERROR);
        assert_eq!(found.verdict, verdict, "{centre} {spread} {n} {region:?}");
        assert_eq!((found.more.is_some(), found.n), (verdict == Open, n as usize));
    }
    let open = even(0.05, 0.1, 20);
    let more = |of: &LogRatio| contrast(of, MARGIN, ERROR).more;
    let enough = more(&open).unwrap();
    assert!((60..200).contains(&enough), "{enough}");
    assert_eq!(contrast(&even(0.05, 0.1, enough), MARGIN, ERROR).verdict, Outside);
    assert_eq!(more(&even(0.06, 0.02, 4)), Some(6));
    assert_eq!(more(&even(0.03, 0.1, 20)), None, "at the end itself");
    // What runs differ by is in the way of any number of units.
    assert!(more(&open.between_runs(0.005)) > Some(enough));
    assert_eq!(more(&open.between_runs(0.02)), None);
}

#[test]
fn several_share_the_error_and_those_decided_leave_their_share() {
    let (close, far, wide) = (even(0.1, 0.15, 9), even(1.0, 0.1, 9), even(0.0, 1.0, 9));
    let first = |all: &[&LogRatio]| {
        let found = contrasts(all, Region::EQUAL, ERROR);
        (found[0].verdict, ERROR / found[0].error)
    };
    assert_eq!(first(&[&close]), (Verdict::Outside, 1.0));
    assert_eq!(first(&[&close, &wide, &wide, &wide]), (Verdict::Open, 4.0));
    assert_eq!(first(&[&close, &far, &far, &far]), (Verdict::Outside, 1.0));
    assert_eq!(first(&[&far, &close, &far, &far]), (Verdict::Outside, 4.0));
    assert!(contrasts(&[], Region::EQUAL, ERROR).is_empty());
}

#[test]
fn what_is_decided_or_narrow_is_settled() {
    for (verdict, ends, settled) in [
        (Verdict::Inside, None, true),
        (Verdict::Open, Some((0.100, 0.114)), true),
        (Verdict::Open, Some((0.100, 0.116)), false),
        (Verdict::Open, None, false),
    ] {
        let one = Contrast { verdict, point: 0.1, ends, error: ERROR, n: 9, more: None };
        assert_eq!(is_settled(&[one], 0.03), settled, "{verdict:?} {ends:?}");
    }
}

#[test]
fn looks_spend_the_whole_error_once() {
    for (planned, at) in
        [(80, &[10, 20, 40, 80][..]), (20, &[9, 10, 20]), (3, &[3]), (9, &[9]), (1000, &[])]
    {
        let looks = looks(planned);
        assert!(at.is_empty() || looks.iter().map(|look| look.0).eq(at.iter().copied()));
        let sum: f64 = looks.iter().map(|(_, error)| error).sum();
        assert!((sum - ERROR).abs() < 1e-12);
    }
    let endless: f64 = (1..1000).map(|look| error_after(8 * look, 8)).sum();
    assert!(endless < ERROR && endless > 0.99 * ERROR);
    for (got, error) in [
        (error_at(10, 80), 0.0005),
        (error_at(30, 80), ERROR - 0.0015),
        (error_at(2, 80), ERROR),
        (error_after(8, 8), ERROR / 2.0),
        (error_after(21, 8), ERROR - ERROR / 2.0 - ERROR / 6.0),
        (error_after(5, 8), ERROR),
        (error_after(0, 8), ERROR),
    ] {
        assert!((got - error).abs() < 1e-12, "{got} {error}");
    }
}

proptest! {
    #[test]
    fn a_verdict_agrees_with_its_interval(
        logs in proptest::collection::vec(-0.1..0.1f64, 6..60),
        shift in -0.1..0.1f64,
    ) {
        let logs: Vec<f64> = logs.iter().map(|log| log + shift).collect();
        let found = contrast(&of(&logs), MARGIN, ERROR);
        let (low, high) = found.ends.unwrap();
        let read = match () {
            () if low > MARGIN.high || high < MARGIN.low => Verdict::Outside,
            () if low > MARGIN.low && high < MARGIN.high => Verdict::Inside,
            () => Verdict::Open,
        };
        prop_assert_eq!(found.verdict, read);
        prop_assert!(low <= found.point && found.point <= high);
    }
}
