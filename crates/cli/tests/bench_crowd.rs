//! `drapery bench crowd` as a user types it.

#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod common;

use common::{data, error, out};

#[test]
fn a_crowd_is_measured_whole_and_by_parts_on_poses_it_knows() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "--json bench crowd --vertices 90 --dims 7 --count 40 --threads 1,2 --seconds 0.02";
    let arguments: Vec<&str> = plan.split(' ').collect();
    let results = data(&out(folder.path(), 0, &arguments), "bench");
    assert_eq!(results.len(), 2, "one a number of threads");
    for (result, threads) in results.iter().zip([1, 2]) {
        assert_eq!(result["name"], "crowd");
        assert_eq!(result["who"], "drapery");
        assert_eq!(result["threads"], threads);
        let sizes = ["vertices", "dims", "body_dims", "order", "count"].map(|key| &result[key]);
        assert_eq!(
            sizes,
            [90, 7, 7, 2, 40].map(serde_json::Value::from).each_ref()
        );
        // Characters that are skinned only would be another measurement.
        assert_eq!(result["confidence_min"], 1.0);
        let number = |key: &str| result[key].as_f64().unwrap();
        let frame = number("garments_per_second");
        let is_between = |key: &str, other: &str| number(key) <= frame && frame <= number(other);
        assert!(is_between(
            "garments_per_second_min",
            "garments_per_second_max"
        ));
        assert!((40.0 / number("s_per_frame") - frame).abs() < 1e-6 * frame);
        for part in ["read", "project", "dynamics", "reconstruct"] {
            assert!(number(&format!("{part}_garments_per_second")) > 0.0);
        }
        assert!(number("frame_ms_p50") <= number("frame_ms_p99"));
    }
}

#[test]
fn crowds_that_cannot_be_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |plan: &str| {
        let arguments: Vec<&str> = plan.split(' ').collect();
        error(folder.path(), 2, &arguments)
    };
    assert!(refused("bench crowd --garment hat").contains("dress-a-line"));
    assert!(refused("bench crowd --count 0").contains("--count"));
    assert!(refused("bench crowd --threads 0").contains("--threads"));
    assert!(refused("bench crowd --model m.drapery --dims 3").contains("--dims"));
    assert!(refused("bench crowd --model m.drapery").contains("m.drapery"));
    let python =
        "bench crowd --vertices 60 --dims 2 --count 3 --seconds 0.01 --python no-such-python";
    assert!(refused(python).contains("no-such-python"));
}
