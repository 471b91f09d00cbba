//! The light on a surface: a key light with a shadow, a weak fill from the other
//! side, and a sky above a ground for everything in the open.

use glam::Vec3;

use super::camera::Camera;
use super::options::{Light, Options, Shading};

/// Light of each lamp, in linear light.
const KEY: Vec3 = Vec3::new(0.95, 0.91, 0.85);
const FILL: Vec3 = Vec3::new(0.13, 0.145, 0.17);
const SKY: Vec3 = Vec3::new(0.37, 0.39, 0.43);
const GROUND: Vec3 = Vec3::new(0.22, 0.205, 0.19);

/// Light of fibres along the rim of cloth.
const SHEEN: f32 = 0.07;

/// What the deepest fold keeps of the light of the sky.
const LEAST_OPEN: f32 = 0.3;

/// Of a value's colour, how much the light may take: colours must stay legible
/// against their bar.
const VALUE_SHADING: f32 = 0.5;

/// What the floor loses in full shadow, and where the sky is closed.
const FLOOR_SHADOW: f32 = 0.42;
const FLOOR_OCCLUSION: f32 = 0.65;

/// The lamps, in the camera's axes.
pub(super) struct Lamps {
    pub(super) key: Vec3,
    fill: Vec3,
    up: Vec3,
    shading: Shading,
}

/// What a point sees of the lamps: the open part of the sky and of the key
/// light, both from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visibility {
    pub(super) open: f32,
    pub(super) lit: f32,
}

impl Visibility {
    /// Nothing stands in the way.
    pub(super) const CLEAR: Self = Self {
        open: 1.0,
        lit: 1.0,
    };
}

impl Lamps {
    pub(super) fn new(options: &Options, camera: &Camera) -> Self {
        let up = camera.turned(glam::DVec3::Y).as_vec3();
        let key = match options.light {
            Light::BesideCamera { azimuth, elevation } => {
                // The camera's heading, without its tilt.
                let back = camera.back;
                let around = if back.x.hypot(back.z) > 1e-6 {
                    back.x.atan2(back.z)
                } else {
                    camera.right.x.atan2(-camera.right.z) - std::f64::consts::FRAC_PI_2
                };
                direction(around + f64::from(azimuth), f64::from(elevation))
            }
            Light::InWorld { azimuth, elevation } => {
                direction(f64::from(azimuth), f64::from(elevation))
            }
        };
        let key = camera.turned(key).as_vec3();
        let fill = (Vec3::new(-key.x, 0.0, 0.55) + up * 0.15).normalize_or(Vec3::Z);
        Self {
            key,
            fill,
            up,
            shading: options.shading,
        }
    }

    /// The light that a surface of this colour sends to the camera; `towards`
    /// points at the camera.
    pub(super) fn surface(
        &self,
        colour: Vec3,
        normal: Vec3,
        towards: Vec3,
        seen: Visibility,
        is_value: bool,
    ) -> Vec3 {
        if self.shading == Shading::Flat {
            return colour;
        }
        // A little more than the physical share: folds are to be seen.
        let open = LEAST_OPEN + (1.0 - LEAST_OPEN) * seen.open * seen.open.sqrt();
        let key = normal.dot(self.key).max(0.0) * seen.lit;
        let fill = (0.5 + 0.5 * normal.dot(self.fill)).max(0.0);
        let height = 0.5 + 0.5 * normal.dot(self.up);
        let sky = GROUND.lerp(SKY, height);
        // Light that bounces between light-coloured folds keeps them from
        // turning black.
        let bounce = colour * (1.0 - open) * 0.35;
        let light = KEY * key + (FILL * fill * fill + sky) * (Vec3::splat(open) + bounce);
        if is_value {
            let grey = light.dot(Vec3::new(0.2126, 0.7152, 0.0722)).min(1.15);
            return colour * (1.0 - VALUE_SHADING + VALUE_SHADING * grey);
        }
        let rim = (1.0 - normal.dot(towards)).clamp(0.0, 1.0);
        let sheen = SHEEN * rim * rim * rim * open * (0.3 + 0.7 * seen.lit);
        tone(colour * light + sheen * (Vec3::splat(0.5) + colour))
    }

    /// The share of the background's light that the floor lets through.
    pub(super) fn floor(&self, seen: Visibility) -> f32 {
        if self.shading == Shading::Flat {
            return 1.0;
        }
        (1.0 - FLOOR_SHADOW * (1.0 - seen.lit)) * (1.0 - FLOOR_OCCLUSION * (1.0 - seen.open))
    }
}

/// The unit vector of angles around +Y from +Z, and up.
fn direction(azimuth: f64, elevation: f64) -> glam::DVec3 {
    let (sin_a, cos_a) = azimuth.sin_cos();
    let (sin_e, cos_e) = elevation.sin_cos();
    glam::DVec3::new(sin_a * cos_e, sin_e, cos_a * cos_e)
}

/// Rolls off what is nearly white, leaves the rest alone.
fn tone(light: Vec3) -> Vec3 {
    const KNEE: f32 = 0.7;
    let roll = |x: f32| {
        if x <= KNEE {
            x
        } else {
            let over = (x - KNEE) / (1.0 - KNEE);
            KNEE + (1.0 - KNEE) * over / (1.0 + over)
        }
    };
    Vec3::new(roll(light.x), roll(light.y), roll(light.z))
}
