//! Whether the garments of a scene can be worn: [`Scene::fit`].

use drapery_core::{BodyModel, Garment};

use super::error::SceneError;
use super::scene::Scene;
use crate::preflight::{Finding, MadeFor, Severity, check_garment_made_for, check_outfit};

/// What is wrong with a garment of a scene, or with two.
#[derive(Clone, Debug)]
pub struct FitFinding {
    /// The garment, or `the outfit`.
    pub garment: String,
    /// What is wrong with it.
    pub finding: Finding,
}

impl FitFinding {
    /// Whether the simulation would fail or be wrong.
    pub fn is_error(&self) -> bool {
        self.finding.severity == Severity::Error
    }
}

impl Scene {
    /// Checks every garment on the body that it lies on, and those that are
    /// worn together, as `drapery garment check --on` does.
    ///
    /// # Errors
    /// When the body can't have the shape that they lie on.
    pub fn fit(&self) -> Result<Vec<FitFinding>, SceneError> {
        let made_for = &self.file.character.made_for;
        let body = self
            .character
            .shaped(&self.made_for)
            .map_err(|source| SceneError::Shape {
                key: made_for.key.clone(),
                line: made_for.line,
                source,
            })?;
        let mut found = Vec::new();
        for worn in &self.garments {
            let on = Some((&self.character as &dyn BodyModel, &body));
            let findings = check_garment_made_for(&worn.garment, on, MadeFor::Wearer);
            found.extend(findings.into_iter().map(|finding| FitFinding {
                garment: worn.garment.name().to_string(),
                finding,
            }));
        }
        let worn = self.garments.iter().filter(|g| g.twin_of.is_none());
        let layers: Vec<&Garment> = worn.map(|worn| &worn.garment).collect();
        let crossing = check_outfit(&layers);
        found.extend(crossing.into_iter().map(|finding| FitFinding {
            garment: "the outfit".to_string(),
            finding,
        }));
        Ok(found)
    }
}
