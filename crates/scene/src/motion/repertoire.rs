//! The repertoire: motions of the built-in person, made by code.
//!
//! Nothing here is captured. A motion is composed of steps, pauses and keys;
//! the feet follow their footprints and the legs the feet, the trunk and the
//! arms the phase of the steps. Names joined by `+` are one motion, with what
//! must be between them (a start, a stop, steps from one speed to another)
//! planned as part of it, so that nothing jumps and no foot slides.
//!
//! ```
//! use drapery_scene::motion::repertoire;
//!
//! let walk = repertoire::clip("walk")?;
//! assert_eq!(walk.frame_rate().hz(), 30.0);
//! let longer = repertoire::clip("walk+turn-90+run")?;
//! assert!(longer.duration() > walk.duration());
//! # Ok::<(), repertoire::RepertoireError>(())
//! ```

mod calisthenics;
mod channel;
mod composer;
mod dances;
mod feet;
mod figure;
mod gait;
mod leaps;
mod limbs;
mod locomotion;
mod plan;
mod sag;
mod track;

#[cfg(test)]
mod tests;

use drapery_core::{Clip, FrameRate, Pose, Skeleton, SkeletonError};
use glam::Vec3;

use self::composer::Composer;
use self::figure::Figure;
use self::gait::{Gait, MARCH, RUN, RUN_FAST, RUN_SLOW, WALK, WALK_FAST, WALK_SLOW, deg};
use self::plan::Plan;
use crate::mannequin;

/// The longest motion that is made [s].
pub const MAX_SECONDS: f64 = 45.0;

/// Why there is no such motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RepertoireError {
    /// No motion has that name.
    #[error("no motion of the repertoire is called {0}")]
    Unknown(String),
    /// A body of other joints.
    #[error("{found} joints are not the {expected} of the built-in person")]
    Joints {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The joints are no skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// It would be too long.
    #[error("the motion would last {seconds:.1} s, more than the limit of {limit} s", limit = MAX_SECONDS)]
    TooLong {
        /// How long it would be [s].
        seconds: f64,
    },
}

/// Whose motions these are.
fn skeleton() -> Skeleton {
    mannequin::skeleton()
}

/// A piece of the repertoire.
struct Piece {
    name: &'static str,
    /// The gait it begins with when nothing comes before it; none for standing.
    begins: Option<&'static Gait>,
    play: fn(&mut Composer),
}

macro_rules! pieces {
    ($($name:literal, $begins:expr, $play:expr;)*) => {
        /// Names of all motions.
        pub const NAMES: &[&str] = &[$($name),*];

        const PIECES: &[Piece] = &[$(Piece { name: $name, begins: $begins, play: $play },)*];
    };
}

pieces! {
    "walk", Some(&WALK), |c| locomotion::steady(c, &WALK);
    "walk-slow", Some(&WALK_SLOW), |c| locomotion::steady(c, &WALK_SLOW);
    "walk-fast", Some(&WALK_FAST), |c| locomotion::steady(c, &WALK_FAST);
    "walk-stylised", Some(&MARCH), |c| locomotion::steady(c, &MARCH);
    "run", Some(&RUN), |c| locomotion::steady(c, &RUN);
    "run-slow", Some(&RUN_SLOW), |c| locomotion::steady(c, &RUN_SLOW);
    "run-fast", Some(&RUN_FAST), |c| locomotion::steady(c, &RUN_FAST);
    "turn-45", Some(&WALK), |c| locomotion::turn(c, deg(45.0));
    "turn-45-right", Some(&WALK), |c| locomotion::turn(c, deg(-45.0));
    "turn-90", Some(&WALK), |c| locomotion::turn(c, deg(90.0));
    "turn-90-right", Some(&WALK), |c| locomotion::turn(c, deg(-90.0));
    "turn-180", Some(&WALK), |c| locomotion::turn(c, deg(180.0));
    "turn-180-right", Some(&WALK), |c| locomotion::turn(c, deg(-180.0));
    "turn-360", Some(&WALK), |c| locomotion::turn(c, deg(360.0));
    "turn-360-right", Some(&WALK), |c| locomotion::turn(c, deg(-360.0));
    "walk-stop", Some(&WALK), locomotion::walk_stop;
    "walk-stop-turn", Some(&WALK), locomotion::walk_stop_turn;
    "walk-to-run", Some(&WALK), |c| locomotion::change(c, &WALK, &RUN);
    "run-to-walk", Some(&RUN), |c| locomotion::change(c, &RUN, &WALK);
    "jump", None, leaps::jump;
    "leap", Some(&RUN), leaps::leap;
    "duck", Some(&WALK), leaps::duck;
    "crouch", None, leaps::crouch;
    "kick", None, leaps::kick;
    "dance-waltz", None, dances::waltz;
    "dance-twist", None, dances::twist;
    "dance-disco", None, dances::disco;
    "dance-hustle", None, dances::hustle;
    "idle", None, dances::idle;
    "arms-up", None, calisthenics::arms_up;
    "arms-down", None, calisthenics::arms_down;
    "arms-bend", None, calisthenics::arms_bend;
    "torso-twist", None, calisthenics::torso_twist;
    "lean-back", None, calisthenics::lean_back;
    "lean-forward", None, calisthenics::lean_forward;
    "plane", None, calisthenics::plane;
    "legs-bend", None, calisthenics::legs_bend;
    "yo", None, calisthenics::yo;
    "gym", None, calisthenics::gym;
}

/// The motion of a name, or of names joined by `+`, at 30 frames a second.
///
/// # Errors
/// When there is no motion of a name, or it would last longer than
/// [`MAX_SECONDS`].
pub fn clip(name: &str) -> Result<Clip, RepertoireError> {
    Ok(plan(name, skeleton())?.clip(name, FrameRate::THIRTY))
}

/// As [`clip`], for a body of the built-in person whose joints rest at `rest`
/// [m]: planned for its own legs, so that its feet stand as well as those of
/// the mean shape do. Steps are as long as the legs are.
///
/// # Errors
/// As [`clip`], and when there are not as many joints as the person has.
pub fn clip_on(name: &str, rest: &[Vec3]) -> Result<Clip, RepertoireError> {
    let whose = skeleton();
    if rest.len() != whose.len() {
        return Err(RepertoireError::Joints {
            found: rest.len(),
            expected: whose.len(),
        });
    }
    // A motion of the same angles in the size of the mean shape.
    let size = leg_length(rest) / leg_length(whose.rest());
    let sized = Skeleton::new(
        whose.names().to_vec(),
        whose.parents().to_vec(),
        rest.iter().map(|p| *p / size).collect(),
    )?;
    let clip = plan(name, sized)?.clip(name, FrameRate::THIRTY);
    let frames = clip.frames().iter().map(|pose| Pose {
        root: pose.root * size,
        rotations: pose.rotations.clone(),
    });
    Ok(
        Clip::new(name.to_string(), whose, FrameRate::THIRTY, frames.collect())
            .expect("a finite clip is finite in another size"),
    )
}

/// Whether a name, or each of names joined by `+`, is in the repertoire.
pub fn has(name: &str) -> bool {
    name.split('+').all(|part| NAMES.contains(&part))
}

/// From hip to ankle along the left leg [m].
fn leg_length(rest: &[Vec3]) -> f32 {
    let whose = skeleton();
    let at = |name: &str| whose.joint(name).map_or(Vec3::ZERO, |j| rest[j.index()]);
    let [hip, knee, ankle] = ["left_hip", "left_knee", "left_ankle"].map(at);
    (hip.distance(knee) + knee.distance(ankle)).max(1e-3)
}

/// The plan of a motion for a skeleton with the joints of the built-in person.
fn plan(name: &str, whose: Skeleton) -> Result<Plan, RepertoireError> {
    let pieces = name
        .split('+')
        .map(|part| {
            let piece = PIECES.iter().find(|p| p.name == part);
            piece.ok_or_else(|| RepertoireError::Unknown(part.to_string()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let figure = Figure::new(whose);
    // There is at least one part, even of an empty name.
    let mut composer = match pieces.first().and_then(|p| p.begins) {
        Some(gait) => Composer::moving(figure, gait),
        None => Composer::standing(figure),
    };
    for piece in pieces {
        if piece.begins.is_none() {
            composer.stand();
        }
        (piece.play)(&mut composer);
        if composer.seconds() > MAX_SECONDS + 1e-6 {
            return Err(RepertoireError::TooLong {
                seconds: composer.seconds(),
            });
        }
    }
    Ok(composer.plan())
}
