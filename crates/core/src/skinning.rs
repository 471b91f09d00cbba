//! Linear blend skinning: each vertex follows a few joints.
//!
//! ```text
//! x_world = (Σᵢ wᵢ Tᵢ) x_rest
//! ```
//!
//! with Tᵢ the map from rest to world of joint i. The kernel is plain code
//! over 16-byte columns that the compiler turns into vector instructions.

use alloc::vec;
use alloc::vec::Vec;

use glam::{Affine3A, Mat3A, Vec3, Vec3A};

/// The joints that each vertex follows, and how much: a fixed number of
/// influences a vertex, strongest first, weights from 0 to 1 that sum to one.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinWeights {
    n_influences: usize,
    joints: Vec<u16>,
    weights: Vec<f32>,
}

/// Why arrays don't make [`SkinWeights`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinWeightsError {
    /// A vertex follows a joint that is not there.
    #[error("vertex {vertex} follows joint {joint}, but there are only {n_joints}")]
    NoSuchJoint {
        /// The vertex's index.
        vertex: usize,
        /// The joint it names.
        joint: usize,
        /// How many joints there are.
        n_joints: usize,
    },
    /// A weight is negative or not a number, or a vertex has none.
    #[error("vertex {vertex} has weights that are negative, not finite or sum to {sum}")]
    BadWeights {
        /// The vertex's index.
        vertex: usize,
        /// What they sum to.
        sum: f32,
    },
}

impl SkinWeights {
    /// Weights from a list of (joint, weight) for each vertex; the
    /// `n_influences` largest are kept and scaled to sum to one.
    ///
    /// # Errors
    /// When a joint is out of range, a weight is negative or not finite, or a
    /// vertex has no weight at all.
    ///
    /// # Panics
    /// When `n_influences` is 0.
    pub fn new(
        n_influences: usize,
        n_joints: usize,
        vertices: &[Vec<(u16, f32)>],
    ) -> Result<Self, SkinWeightsError> {
        assert!(n_influences > 0, "a vertex follows at least one joint");
        let mut joints = vec![0; vertices.len() * n_influences];
        let mut weights = vec![0.0; vertices.len() * n_influences];
        let mut row: Vec<(u16, f32)> = Vec::new();
        for (vertex, influences) in vertices.iter().enumerate() {
            row.clear();
            for &(joint, weight) in influences {
                if usize::from(joint) >= n_joints {
                    return Err(SkinWeightsError::NoSuchJoint {
                        vertex,
                        joint: usize::from(joint),
                        n_joints,
                    });
                }
                if !weight.is_finite() || weight < 0.0 {
                    return Err(SkinWeightsError::BadWeights {
                        vertex,
                        sum: weight,
                    });
                }
                match row.iter_mut().find(|(j, _)| *j == joint) {
                    Some(entry) => entry.1 += weight,
                    None => row.push((joint, weight)),
                }
            }
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            row.truncate(n_influences);
            let sum: f32 = row.iter().map(|e| e.1).sum();
            if !(sum > 1e-6 && sum.is_finite()) {
                return Err(SkinWeightsError::BadWeights { vertex, sum });
            }
            for (i, &(joint, weight)) in row.iter().enumerate() {
                joints[vertex * n_influences + i] = joint;
                weights[vertex * n_influences + i] = weight / sum;
            }
        }
        Ok(Self {
            n_influences,
            joints,
            weights,
        })
    }

    /// Weights as [`joints`](Self::joints) and [`weights`](Self::weights) give
    /// them, taken as they are: those of a vertex sum to one already.
    ///
    /// # Errors
    /// When a joint is out of range, a weight is negative or not finite, or a
    /// vertex' weights don't sum to one.
    ///
    /// # Panics
    /// When `n_influences` is 0 or does not divide both lengths alike.
    pub fn from_arrays(
        n_influences: usize,
        n_joints: usize,
        joints: Vec<u16>,
        weights: Vec<f32>,
    ) -> Result<Self, SkinWeightsError> {
        assert!(n_influences > 0, "a vertex follows at least one joint");
        assert_eq!(joints.len(), weights.len(), "one weight a joint");
        assert_eq!(joints.len() % n_influences, 0, "whole vertices");
        if let Some(at) = joints.iter().position(|j| usize::from(*j) >= n_joints) {
            return Err(SkinWeightsError::NoSuchJoint {
                vertex: at / n_influences,
                joint: usize::from(joints[at]),
                n_joints,
            });
        }
        for (vertex, row) in weights.chunks_exact(n_influences).enumerate() {
            let sum: f32 = row.iter().sum();
            let is_negative = row.iter().any(|w| *w < 0.0);
            if is_negative || sum.is_nan() || (sum - 1.0).abs() > 1e-4 {
                return Err(SkinWeightsError::BadWeights { vertex, sum });
            }
        }
        Ok(Self {
            n_influences,
            joints,
            weights,
        })
    }

    /// How many joints a vertex follows at most.
    pub const fn n_influences(&self) -> usize {
        self.n_influences
    }

    /// How many vertices there are.
    pub fn n_vertices(&self) -> usize {
        self.joints.len() / self.n_influences
    }

    /// Joints, shape [vertex, influence]; unused ones are 0 with weight 0.
    pub fn joints(&self) -> &[u16] {
        &self.joints
    }

    /// Weights, shape [vertex, influence].
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The joints that a vertex follows, with their weights.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let row = vertex * self.n_influences..(vertex + 1) * self.n_influences;
        let joints = self.joints[row.clone()].iter().copied();
        joints
            .zip(self.weights[row].iter().copied())
            .filter(|(_, w)| *w > 0.0)
    }
}

/// Σ wᵢ Tᵢ of one vertex.
pub fn blended_transform(
    weights: &SkinWeights,
    vertex: usize,
    transforms: &[Affine3A],
) -> Affine3A {
    let mut sum = Affine3A {
        matrix3: Mat3A::ZERO,
        translation: Vec3A::ZERO,
    };
    for (joint, weight) in weights.of(vertex) {
        let t = &transforms[usize::from(joint)];
        sum.matrix3 += t.matrix3 * weight;
        sum.translation += t.translation * weight;
    }
    sum
}

/// Skins `rest` positions with the joints' `transforms` (world from rest) into
/// `out`.
///
/// # Panics
/// When lengths differ, or a joint has no transform.
pub fn skin_positions(
    weights: &SkinWeights,
    transforms: &[Affine3A],
    rest: &[Vec3],
    out: &mut [Vec3],
) {
    assert_eq!(
        rest.len(),
        weights.n_vertices(),
        "one rest position a vertex"
    );
    assert_eq!(out.len(), weights.n_vertices(), "one output a vertex");
    match weights.n_influences {
        4 => skin_fixed::<4>(weights, transforms, rest, out),
        8 => skin_fixed::<8>(weights, transforms, rest, out),
        _ => {
            for (vertex, (rest, out)) in rest.iter().zip(out).enumerate() {
                *out = blended_transform(weights, vertex, transforms).transform_point3(*rest);
            }
        }
    }
}

fn skin_fixed<const N: usize>(
    weights: &SkinWeights,
    transforms: &[Affine3A],
    rest: &[Vec3],
    out: &mut [Vec3],
) {
    let (joints, _) = weights.joints.as_chunks::<N>();
    let (influence, _) = weights.weights.as_chunks::<N>();
    for (((joints, influence), rest), out) in joints.iter().zip(influence).zip(rest).zip(out) {
        let first = &transforms[usize::from(joints[0])];
        let mut x = first.matrix3.x_axis * influence[0];
        let mut y = first.matrix3.y_axis * influence[0];
        let mut z = first.matrix3.z_axis * influence[0];
        let mut t = first.translation * influence[0];
        for i in 1..N {
            // Sorted by weight: the first zero ends the list.
            if influence[i] == 0.0 {
                break;
            }
            let next = &transforms[usize::from(joints[i])];
            x += next.matrix3.x_axis * influence[i];
            y += next.matrix3.y_axis * influence[i];
            z += next.matrix3.z_axis * influence[i];
            t += next.translation * influence[i];
        }
        *out = Vec3::from(x * rest.x + y * rest.y + z * rest.z + t);
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;

    #[test]
    fn fast_kernels_agree_with_the_blended_matrix() {
        let transforms: Vec<Affine3A> = (0..9)
            .map(|i| {
                let a = i as f32;
                Affine3A::from_rotation_translation(
                    Quat::from_scaled_axis(Vec3::new(a.sin_like(), 0.3 * a, -0.1 * a)),
                    Vec3::new(a, -a, 0.5 * a),
                )
            })
            .collect();
        let rows: Vec<Vec<(u16, f32)>> = (0..50u16)
            .map(|v| {
                (0..1 + v % 8)
                    .map(|i| ((v + i) % 9, 1.0 + f32::from(i * v % 5)))
                    .collect()
            })
            .collect();
        let rest: Vec<Vec3> = (0..50)
            .map(|v| Vec3::new(v as f32 * 0.1, 1.0, -0.02 * v as f32))
            .collect();
        for n in [1, 3, 4, 8] {
            let weights = SkinWeights::new(n, 9, &rows).unwrap();
            let mut out = vec![Vec3::ZERO; 50];
            skin_positions(&weights, &transforms, &rest, &mut out);
            for v in 0..50 {
                let slow = blended_transform(&weights, v, &transforms).transform_point3(rest[v]);
                assert!(
                    slow.abs_diff_eq(out[v], 1e-5),
                    "vertex {v} of {n}: {slow} {}",
                    out[v]
                );
            }
        }
    }

    trait SinLike {
        fn sin_like(self) -> f32;
    }
    impl SinLike for f32 {
        fn sin_like(self) -> f32 {
            libm::sinf(self)
        }
    }

    #[test]
    fn the_strongest_influences_are_kept_and_sum_to_one() {
        let weights = SkinWeights::new(2, 4, &[vec![(0, 0.1), (3, 0.5), (1, 0.4)]]).unwrap();
        assert_eq!(weights.joints(), [3, 1]);
        assert!((weights.weights()[0] - 5.0 / 9.0).abs() < 1e-6);
        assert!((weights.weights().iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn bad_weights_name_the_vertex() {
        let missing = SkinWeights::new(4, 2, &[vec![(0, 1.0)], vec![(2, 1.0)]]);
        assert!(matches!(
            missing,
            Err(SkinWeightsError::NoSuchJoint { vertex: 1, .. })
        ));
        for row in [vec![], vec![(0, -0.5)], vec![(0, f32::NAN)], vec![(0, 0.0)]] {
            let bad = SkinWeights::new(4, 2, &[row]);
            assert!(matches!(
                bad,
                Err(SkinWeightsError::BadWeights { vertex: 0, .. })
            ));
        }
    }
}
