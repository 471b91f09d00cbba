//! How each kind of garment is cut: hems, ease, flare, necklines, sleeves.
//!
//! Ease is a radius here: a hull grows in girth by 2π times as much.

use super::cut::Cut;
use super::figure::Figure;
use super::sheet::{cape, poncho};
use super::skirt::{SkirtStyle, skirt};
use super::sleeve::SleeveStyle;
use super::top::{Front, SHOULDER_ROOM, TopStyle, top};
use super::trousers::{TrouserStyle, trousers};
use super::{DraftError, Fit, GarmentKind};

/// The panels of a kind on a figure.
pub(super) fn cuts<'a>(
    kind: GarmentKind,
    figure: &Figure<'_>,
    fit: &Fit,
) -> Result<Vec<Cut<'a>>, DraftError> {
    let knee = (figure.legs[0].middle.y + figure.legs[1].middle.y) / 2.0;
    let ankle = (figure.legs[0].end.y + figure.legs[1].end.y) / 2.0;
    let wide = |hem: f64, flare: f64, fold: f64| SkirtStyle {
        hem,
        flare,
        fold,
        ease: 0.012,
    };
    match kind {
        GarmentKind::TShirt => top(
            figure,
            fit,
            &TopStyle {
                hem: figure.crotch + 0.03,
                ease: 0.022,
                shoulder: SHOULDER_ROOM,
                hang: 0.75,
                skirt: [0.6, 0.0, 0.0],
                neck: [0.085, 0.02, 0.02],
                drop: 0.025,
                front: Front::Closed,
                sleeve: Some(SleeveStyle {
                    end: 0.30,
                    ease: [0.02, 0.026],
                }),
            },
        ),
        GarmentKind::Sweater => top(
            figure,
            fit,
            &TopStyle {
                hem: figure.crotch + 0.06,
                ease: 0.011,
                shoulder: SHOULDER_ROOM,
                hang: 0.15,
                skirt: [0.0, 0.0, 0.0],
                neck: [0.07, 0.012, 0.015],
                drop: 0.015,
                front: Front::Closed,
                sleeve: Some(SleeveStyle {
                    end: 0.97,
                    ease: [0.011, 0.009],
                }),
            },
        ),
        GarmentKind::Jacket => top(
            figure,
            fit,
            &TopStyle {
                hem: figure.crotch + 0.01,
                ease: 0.036,
                shoulder: 0.014,
                hang: 0.75,
                skirt: [0.7, 0.0, 0.0],
                neck: [0.06, 0.016, 0.014],
                drop: 0.045,
                front: Front::Open,
                sleeve: Some(SleeveStyle {
                    end: 0.97,
                    ease: [0.034, 0.024],
                }),
            },
        ),
        GarmentKind::Skirt => skirt(figure, fit, &wide(knee + 0.02, 0.26, 0.1)),
        GarmentKind::LongSkirt => skirt(figure, fit, &wide(ankle + 0.04, 0.17, 0.06)),
        GarmentKind::DressALine => top(
            figure,
            fit,
            &TopStyle {
                hem: knee + 0.03,
                ease: 0.014,
                shoulder: SHOULDER_ROOM,
                hang: 0.5,
                skirt: [1.0, 0.2, 0.07],
                neck: [0.12, 0.035, 0.04],
                drop: 0.02,
                front: Front::Closed,
                sleeve: None,
            },
        ),
        GarmentKind::DressFitted => top(
            figure,
            fit,
            &TopStyle {
                // Above the knee and a little wider there than at the hips: a straight one to
                // the knee is pushed up to the hips by strides of a run, and stays there.
                hem: knee + 0.08,
                ease: 0.009,
                shoulder: SHOULDER_ROOM,
                hang: 0.05,
                skirt: [0.8, 0.05, 0.0],
                neck: [0.105, 0.04, 0.03],
                drop: 0.015,
                front: Front::Closed,
                sleeve: Some(SleeveStyle {
                    end: 0.42,
                    ease: [0.010, 0.010],
                }),
            },
        ),
        GarmentKind::Trousers => trousers(
            figure,
            fit,
            &TrouserStyle {
                ease: [0.010, 0.014],
                knee: 0.024,
                hem: ankle + 0.02,
            },
        ),
        GarmentKind::Cape => cape(figure, fit),
        GarmentKind::Poncho => poncho(figure, fit),
    }
}
