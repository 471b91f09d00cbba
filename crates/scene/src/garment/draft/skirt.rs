//! Skirts: front and back, sewn at the sides, hung from the waist.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::DVec2;

use super::cut::{COARSEST, Cut, Side, straight};
use super::figure::Figure;
use super::trunk::Trunk;
use super::{DraftError, Fit};

/// How a skirt is cut.
pub(super) struct SkirtStyle {
    /// Height of the hem above the floor [m].
    pub(super) hem: f64,
    /// Width gained on each side per metre of drop below the hips [1].
    pub(super) flare: f64,
    /// Depth of the folds per metre of drop [1].
    pub(super) fold: f64,
    /// Room around waist and hips, as a radius [m].
    pub(super) ease: f64,
}

pub(super) fn skirt<'a>(
    figure: &Figure<'_>,
    fit: &Fit,
    style: &SkirtStyle,
) -> Result<Vec<Cut<'a>>, DraftError> {
    let room = fit.room(style.ease);
    let waist = figure.waist;
    let surface = Trunk::new(figure, style.hem - 0.02)?;
    let y0 = surface.y0;
    // The waistband lies on the body whatever the size.
    let surface = surface
        .with_ease(move |_, v| {
            let below = ((waist - y0 - v) / 0.10).clamp(0.0, 1.0);
            0.007 + (room - 0.007) * below
        })
        .hanging(waist - 0.02, 1.0, style.flare)
        .folded(figure.hip, style.fold);
    let (top, hem) = (waist - y0, style.hem - y0);
    let mut cuts = Vec::new();
    for (name, from) in [("front", -FRAC_PI_2), ("back", FRAC_PI_2)] {
        let to = from + PI;
        let centre = from + FRAC_PI_2;
        let corner = |theta, v| surface.plan(centre, theta, v);
        let (right, left) = match name {
            "front" => ("side-right", "side-left"),
            _ => ("side-left", "side-right"),
        };
        let sides = vec![
            Side::open("hem", straight(corner(from, hem), corner(to, hem))),
            Side::seam(left, straight(corner(to, hem), corner(to, top))),
            Side::open(
                "pin-waistband",
                straight(corner(to, top), corner(from, top)),
            ),
            Side::seam(right, straight(corner(from, top), corner(from, hem))),
        ];
        let surface = surface.clone();
        cuts.push(Cut {
            name: name.to_string(),
            sides,
            coarsest: COARSEST,
            half: 0.0,
            place: Box::new(move |p: DVec2| surface.place(centre, p)),
        });
    }
    Ok(cuts)
}
