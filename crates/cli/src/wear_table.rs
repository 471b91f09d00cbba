//! The Markdown table of `drapery bench wear`.

use serde_json::Value;

/// A column: its heading, its key and how many decimals it has.
const COLUMNS: [(&str, &str, usize); 13] = [
    ("frames", "frames", 0),
    ("s/frame", "s_per_frame", 2),
    ("deepest mm", "penetration_max_mm", 2),
    ("> 1 mm %", "penetration_percent", 3),
    ("masked %", "masked_percent", 1),
    ("stretch p99 %", "stretch_p99_percent", 1),
    ("since start %", "stretch_settled_p99_percent", 1),
    ("fastest m/s", "speed_max", 1),
    ("retried", "retried_frames", 0),
    ("set back", "set_back", 0),
    ("crossings", "crossings", 0),
    ("flagged", "flagged_frames", 0),
    ("body contact", "body_contact_frames", 0),
];

/// The table of all pairs.
pub(crate) fn table(pairs: &[&Value]) -> String {
    let mut text = "| clip | garment |".to_string();
    for (heading, ..) in COLUMNS {
        text += &format!(" {heading} |");
    }
    text += " ended |\n|---|---|";
    text += &"---:|".repeat(COLUMNS.len());
    text += "---|\n";
    for pair in pairs {
        let name = |key: &str| pair[key].as_str().unwrap_or("?");
        text += &format!("| {} | {} |", name("clip"), name("garment"));
        for (_, key, decimals) in COLUMNS {
            text += &match pair[key].as_f64() {
                Some(value) => format!(" {value:.decimals$} |"),
                None => " – |".to_string(),
            };
        }
        text += &format!(" {} |\n", ended(pair));
    }
    text += &format!("\n{}", words(pairs));
    text
}

/// Whether a pair failed.
pub(crate) fn failed(pair: &Value) -> bool {
    pair["failed"] == true
}

/// How a pair ended, in a few words.
pub(crate) fn ended(pair: &Value) -> String {
    if !failed(pair) {
        return "done".to_string();
    }
    let place = match pair["failed_frame"].as_u64() {
        Some(frame) => format!("frame {frame}"),
        None => "dressing".to_string(),
    };
    let why = pair["why"].as_str().unwrap_or("unknown");
    format!("**failed**, {place}: {}", why.replace('|', "/"))
}

/// All pairs in one sentence.
fn words(pairs: &[&Value]) -> String {
    let most = |key: &str| {
        let values = pairs.iter().filter_map(|pair| pair[key].as_f64());
        values.fold(0.0, f64::max)
    };
    let sum = |key: &str| {
        let values = pairs.iter().filter_map(|pair| pair[key].as_u64());
        values.sum::<u64>()
    };
    format!(
        "{} pairs, {} failed; {} frames, {} of them flagged; outside the mask at most {:.2} mm deep and {:.3} % of a \
         pair's points deeper than 1 mm; at most {:.1} % masked, p99 stretch {:.1} %, {:.1} m/s; {} crossings, {} vertices set back.",
        pairs.len(),
        pairs.iter().filter(|pair| failed(pair)).count(),
        sum("frames"),
        sum("flagged_frames"),
        most("penetration_max_mm"),
        most("penetration_percent"),
        most("masked_percent"),
        most("stretch_p99_percent"),
        most("speed_max"),
        sum("crossings"),
        sum("set_back"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_a_pair_and_the_worst_below() {
        let good = json!({ "clip": "walk", "garment": "skirt", "failed": false, "frames": 30,
            "penetration_max_mm": 0.25, "crossings": 2 });
        let bad = json!({ "clip": "run", "garment": "skirt", "failed": true, "frames": 12,
            "failed_frame": 12, "why": "the cloth | diverged", "penetration_max_mm": 3.5 });
        let text = table(&[&good, &bad]);
        let rows: Vec<&str> = text.lines().collect();
        let n_columns = |row: &str| row.matches('|').count();
        assert!(rows[..4].iter().all(|r| n_columns(r) == n_columns(rows[0])));
        assert!(rows[2].starts_with("| walk | skirt | 30 | – | 0.25 |"));
        assert!(rows[3].contains("frame 12: the cloth / diverged"));
        assert!(rows[5].starts_with("2 pairs, 1 failed; 42 frames"));
        assert!(rows[5].contains("3.50 mm") && rows[5].contains("2 crossings"));
    }
}
