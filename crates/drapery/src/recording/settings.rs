//! How a garment was simulated, as a dataset says it.

use serde_json::{Value, json};

use crate::WearConfig;

/// What a dataset keeps of how it was simulated.
pub(crate) fn stored(config: &WearConfig) -> Value {
    json!({
        "steps_per_frame": config.steps_per_frame,
        "self_contact": config.self_contact,
        "tolerance": config.tolerance,
        "relative_tolerance": config.relative_tolerance,
        "slack": config.slack,
        "dressing": config.dressing,
        "settling": config.settling,
        "pin_stiffness": config.pin_stiffness,
        "skin_friction": config.skin_friction,
    })
}

/// The same back, with what is usual where a dataset does not say it.
pub(crate) fn read(stored: &Value) -> WearConfig {
    let usual = WearConfig::default();
    let number = |key: &str, usual: f64| stored[key].as_f64().unwrap_or(usual);
    let steps = stored["steps_per_frame"].as_u64();
    let self_contact = stored["self_contact"].as_bool();
    WearConfig {
        steps_per_frame: steps.map_or(usual.steps_per_frame, |n| n.clamp(1, 1000) as u32),
        self_contact: self_contact.unwrap_or(usual.self_contact),
        tolerance: number("tolerance", usual.tolerance),
        relative_tolerance: number("relative_tolerance", usual.relative_tolerance),
        slack: number("slack", usual.slack),
        dressing: number("dressing", usual.dressing),
        settling: number("settling", usual.settling),
        pin_stiffness: number("pin_stiffness", usual.pin_stiffness),
        // Where older datasets say nothing, skin was like cloth.
        skin_friction: number("skin_friction", 1.0),
        ..usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_again() {
        let config = WearConfig {
            steps_per_frame: 7,
            self_contact: false,
            pin_stiffness: 3.0,
            skin_friction: 0.5,
            dressing: 0.25,
            settling: 0.5,
            tolerance: 1e-3,
            relative_tolerance: 0.1,
            slack: 2.0,
            ..WearConfig::default()
        };
        assert_eq!(read(&stored(&config)), config);
    }

    #[test]
    fn what_is_missing_or_wrong_is_as_usual() {
        let usual = WearConfig {
            skin_friction: 1.0,
            ..WearConfig::default()
        };
        assert_eq!(read(&Value::Null), usual);
        let odd = json!({ "steps_per_frame": "many", "slack": null, "self_contact": 3 });
        assert_eq!(read(&odd), usual);
        assert_eq!(read(&json!({ "steps_per_frame": 0 })).steps_per_frame, 1);
    }
}
