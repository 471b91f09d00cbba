//! How a picture is drawn: [`Options`].

use std::num::NonZeroUsize;

use super::camera::Size;

/// How a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Width and height [pixels].
    pub size: Size,
    /// How surfaces are lit.
    pub shading: Shading,
    /// Where the key light stands.
    pub light: Light,
    /// Threads to use, or one a core. The picture is the same for any number.
    pub threads: Option<NonZeroUsize>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            size: Size::square(1024),
            shading: Shading::Studio,
            light: Light::default(),
            threads: None,
        }
    }
}

impl Options {
    /// The default at another size.
    pub fn of_size(size: Size) -> Self {
        Self {
            size,
            ..Self::default()
        }
    }
}

/// How surfaces are lit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shading {
    /// Key light with soft shadows, fill, sky and ambient occlusion.
    #[default]
    Studio,
    /// The plain colours of the surfaces: for reading values off a picture.
    Flat,
}

/// Where the key light stands: far away, in a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Light {
    /// Turned with the camera, so that every view is lit alike.
    BesideCamera {
        /// To the right of the camera, seen from the subject [rad].
        azimuth: f32,
        /// Above the horizon [rad].
        elevation: f32,
    },
    /// Fixed in the world.
    InWorld {
        /// Around +Y [rad]: 0 in front of the character (+Z), π/2 on its left.
        azimuth: f32,
        /// Above the horizon [rad].
        elevation: f32,
    },
}

impl Default for Light {
    /// From above the camera's left shoulder.
    fn default() -> Self {
        Self::BesideCamera {
            azimuth: -0.85,
            elevation: 0.9,
        }
    }
}
