//! The one function that a step minimises: [`Objective`].
//!
//! ```text
//! Φ(x) = ½ Σ (mᵢ/h²) |xᵢ − yᵢ|²                 inertia
//!      + membrane(x) + bending(x)               elasticity, `Cloth`
//!      + (β/h) · change of strain and curvature  damping
//!      + ½ Σ (xₖ − aₖ)ᵀ Sₖ (xₖ − aₖ)             springs: attachments, air
//!      + Σ pressure and friction                contact, `Touch`
//!      − Σ fᵢ · xᵢ                               forces: gravity
//! ```
//!
//! with y where inertia alone would take the cloth. With h the time step this
//! is implicit Euler (Adaptive Bases 2014, Eq. 1); without the first term it is
//! rest under load. Held vertices are constants, not unknowns. Whatever is
//! frozen over a step (what damping is measured from, the resistance of the
//! air, which pairs touch and where) is in the objective before it is
//! minimised, so every solver minimises the same function.
//!
//! All but the membrane, a curved rest shape and contact is quadratic. Changes of Φ
//! along a line are therefore summed from differences ([`Objective::change`]),
//! which do not drown in the size of Φ itself.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::Cloth;
use crate::contact::Touch;
use crate::membrane::{StrainRate, positive_part};
use crate::reduction::{CHUNK, chunked_sum, dot};

/// Where inertia alone would take each vertex.
#[derive(Clone, Copy, Debug)]
pub struct Inertia<'a> {
    /// y [m], shape [vertex].
    pub targets: &'a [DVec3],
    /// h [s].
    pub dt: f64,
}

/// A quadratic that pulls one vertex to a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spring {
    /// Which vertex.
    pub vertex: u32,
    /// S [N/m], symmetric and positive semidefinite.
    pub stiffness: DMat3,
    /// a [m].
    pub target: DVec3,
}

/// What damping over a step is measured from.
#[derive(Clone, Debug, Default)]
pub struct Damping {
    /// β/h of each piece.
    ratios: Vec<f64>,
    strains: Vec<DVec3>,
    /// β/h times the gradient that the bending of the start would have, turned
    /// along [N].
    bending: Vec<DVec3>,
    /// What does not depend on where the step ends [J].
    constant: f64,
}

impl Damping {
    /// Damping of a step of length `dt` [s] that begins at `from` and is
    /// predicted to end at `to` [m].
    pub fn set(&mut self, cloth: &Cloth, from: &[DVec3], to: &[DVec3], dt: f64) {
        self.ratios.clear();
        let pieces = cloth.pieces().iter();
        self.ratios.extend(pieces.map(|piece| piece.damping / dt));
        let membrane = cloth.membrane();
        let n_triangles = membrane.triangles().len();
        (0..n_triangles)
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|t| membrane.strain(t, from))
            .collect_into_vec(&mut self.strains);
        self.bending.resize(from.len(), DVec3::ZERO);
        let ratio = |t: usize| self.ratios[membrane.piece(t)];
        self.constant = cloth.bending().start_of_damping(
            membrane.triangles(),
            ratio,
            from,
            to,
            &mut self.bending,
        );
    }
}

/// What a solver minimises over the vertices that are not held.
#[derive(Clone, Copy, Debug)]
pub struct Objective<'a> {
    /// The cloth.
    pub cloth: &'a Cloth,
    /// Vertices that stay where they are, shape [vertex].
    pub held: &'a [bool],
    /// Constant forces [N], shape [vertex].
    pub forces: &'a [DVec3],
    /// Inertia; none at rest.
    pub inertia: Option<Inertia<'a>>,
    /// Springs.
    pub springs: &'a [Spring],
    /// Damping.
    pub damping: Option<&'a Damping>,
    /// Contacts.
    pub touches: &'a [Touch],
}

/// What evaluating an objective leaves behind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    /// ∂Φ/∂x [N], zero where held; shape [vertex].
    pub(crate) gradient: Vec<DVec3>,
    /// The part of it that comes from what is quadratic.
    quadratic: Vec<DVec3>,
    /// f_u and f_v, shape [triangle].
    pub(crate) deformations: Vec<[DVec3; 2]>,
    corners: Vec<[DVec3; 3]>,
    /// Membrane energies [J], shape [triangle].
    energies: Vec<f64>,
    /// Of a curved rest shape [J].
    rest_energy: f64,
    /// Energies of the contacts [J].
    touch_energies: Vec<f64>,
    /// Their Hessians [N/m].
    pub(crate) touch_hessians: Vec<DMat3>,
}

impl Evaluation {
    /// Changes of Φ below this can't be told from rounding [J].
    pub(crate) fn rounding(&self) -> f64 {
        let sum: f64 = self.energies.iter().map(|e| e.abs()).sum();
        let contact: f64 = self.touch_energies.iter().sum();
        f64::EPSILON * (sum + self.rest_energy.abs() + contact)
    }
}

impl<'a> Objective<'a> {
    /// Rest under constant forces.
    pub const fn at_rest(cloth: &'a Cloth, held: &'a [bool], forces: &'a [DVec3]) -> Self {
        Self {
            cloth,
            held,
            forces,
            inertia: None,
            springs: &[],
            damping: None,
            touches: &[],
        }
    }

    pub(crate) fn strain_rate(&self) -> Option<StrainRate<'a>> {
        self.damping.map(|d| StrainRate {
            ratios: &d.ratios,
            start: &d.strains,
        })
    }

    /// 1 + β/h of each piece: how much stiffer bending is for being damped.
    pub(crate) fn bending_factors(&self) -> Vec<f64> {
        match self.damping {
            Some(damping) => damping.ratios.iter().map(|ratio| 1.0 + ratio).collect(),
            None => vec![1.0; self.cloth.pieces().len()],
        }
    }

    /// β/h times the bending energy without a curved rest shape [J].
    fn damped_bending(&self, damping: &Damping, x: &[DVec3]) -> f64 {
        let membrane = self.cloth.membrane();
        let ratio = |t: usize| damping.ratios[membrane.piece(t)];
        self.cloth.bending().flat_energy(x, ratio)
    }

    /// m/h² of a vertex [N/m], zero at rest.
    pub(crate) fn weight(&self, vertex: usize) -> f64 {
        self.inertia.map_or(0.0, |inertia| {
            self.cloth.masses()[vertex] / (inertia.dt * inertia.dt)
        })
    }

    /// Φ [J].
    pub fn value(&self, x: &[DVec3]) -> f64 {
        let membrane = self.cloth.membrane();
        let rate = self.strain_rate();
        let n_triangles = membrane.triangles().len();
        let mut value: f64 = (0..n_triangles)
            .map(|t| membrane.strained(t, x, rate).energy)
            .sum();
        value += self.cloth.bending().energy(x);
        if let Some(damping) = self.damping {
            // (β/h) (½ κᵀSκ − κᵀS Rκₙ + ½ κₙᵀSκₙ); the rest shape cancels.
            let along: f64 = damping.bending.iter().zip(x).map(|(q, x)| q.dot(*x)).sum();
            value += self.damped_bending(damping, x) - along + damping.constant;
        }
        for (vertex, p) in x.iter().enumerate() {
            value -= self.forces[vertex].dot(*p);
            if let Some(inertia) = self.inertia {
                value += 0.5 * self.weight(vertex) * p.distance_squared(inertia.targets[vertex]);
            }
        }
        for spring in self.springs {
            let away = x[spring.vertex as usize] - spring.target;
            value += 0.5 * away.dot(spring.stiffness * away);
        }
        value + self.touches.iter().map(|t| t.energy(x)).sum::<f64>()
    }

    /// ∂Φ/∂x [N], shape [vertex]; zero where held.
    pub fn gradient(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut at = Evaluation::default();
        self.evaluate(x, &mut at);
        at.gradient
    }

    /// What damping takes until `x` is reached [J]: twice its part of Φ.
    pub(crate) fn damping_loss(&self, x: &[DVec3]) -> f64 {
        let Some(damping) = self.damping else {
            return 0.0;
        };
        let membrane = self.cloth.membrane();
        let stretch = chunked_sum(damping.strains.len(), |triangles| {
            triangles
                .map(|t| {
                    let change = membrane.strain(t, x) - damping.strains[t];
                    let ratio = damping.ratios[membrane.piece(t)] * membrane.areas()[t];
                    ratio * change.dot(*membrane.stiffness(t) * change)
                })
                .sum()
        });
        let along = dot(&damping.bending, x);
        stretch + 2.0 * (self.damped_bending(damping, x) - along + damping.constant)
    }

    /// Evaluates the gradient and what it is made of.
    pub(crate) fn evaluate(&self, x: &[DVec3], out: &mut Evaluation) {
        let membrane = self.cloth.membrane();
        let rate = self.strain_rate();
        let n_triangles = membrane.triangles().len();
        out.deformations.resize(n_triangles, [DVec3::ZERO; 2]);
        out.corners.resize(n_triangles, [DVec3::ZERO; 3]);
        out.energies.resize(n_triangles, 0.0);
        let chunks = out
            .deformations
            .par_chunks_mut(CHUNK)
            .zip(out.corners.par_chunks_mut(CHUNK))
            .zip(out.energies.par_chunks_mut(CHUNK));
        chunks
            .enumerate()
            .for_each(|(chunk, ((deformations, corners), energies))| {
                for i in 0..energies.len() {
                    let triangle = chunk * CHUNK + i;
                    let at = membrane.strained(triangle, x, rate);
                    deformations[i] = at.deformation;
                    corners[i] = membrane.corner_gradients(triangle, &at);
                    energies[i] = at.energy;
                }
            });
        self.quadratic_gradient(x, &mut out.quadratic);
        let (corners, quadratic) = (&out.corners, &out.quadratic);
        let around = self.cloth.around();
        out.gradient.resize(x.len(), DVec3::ZERO);
        out.gradient
            .par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, gradient)| {
                for (i, g) in gradient.iter_mut().enumerate() {
                    let vertex = chunk * CHUNK + i;
                    *g = quadratic[vertex];
                    for (triangle, corner) in around.of(vertex) {
                        *g += corners[triangle][corner];
                    }
                }
            });
        out.rest_energy = self.cloth.bending().rest_energy(x);
        self.cloth.bending().add_rest_gradient(x, &mut out.gradient);
        out.touch_energies.clear();
        out.touch_hessians.clear();
        for touch in self.touches {
            let pressed = touch.pressed(x);
            out.touch_energies.push(pressed.energy);
            out.touch_hessians.push(pressed.hessian);
            for (vertex, weight) in touch.parts() {
                out.gradient[vertex] += pressed.gradient * weight;
            }
        }
        for (g, held) in out.gradient.iter_mut().zip(self.held) {
            if *held {
                *g = DVec3::ZERO;
            }
        }
    }

    /// The gradient of what is quadratic.
    fn quadratic_gradient(&self, x: &[DVec3], out: &mut Vec<DVec3>) {
        let bending = self.cloth.bending();
        let (factors, piece_of) = (self.bending_factors(), self.cloth.piece_of());
        out.resize(x.len(), DVec3::ZERO);
        out.par_chunks_mut(CHUNK)
            .enumerate()
            .for_each(|(chunk, out)| {
                for (i, g) in out.iter_mut().enumerate() {
                    let vertex = chunk * CHUNK + i;
                    let moment = bending.matrix().row_times(vertex, x) + bending.constant()[vertex];
                    *g = moment * factors[usize::from(piece_of[vertex])] - self.forces[vertex];
                    if let Some(damping) = self.damping {
                        *g -= damping.bending[vertex];
                    }
                    if let Some(inertia) = self.inertia {
                        *g += (x[vertex] - inertia.targets[vertex]) * self.weight(vertex);
                    }
                }
            });
        for spring in self.springs {
            let vertex = spring.vertex as usize;
            out[vertex] += spring.stiffness * (x[vertex] - spring.target);
        }
    }

    /// Hands the Hessian to `add` in blocks (row, column, value [N/m]), both
    /// halves of it; parts of one block may come one by one. Negative parts are
    /// left out, and what a curved rest shape adds to bending.
    pub(crate) fn hessian(&self, x: &[DVec3], mut add: impl FnMut(u32, u32, DMat3)) {
        let scalar = |value: f64| DMat3::from_diagonal(DVec3::splat(value));
        let membrane = self.cloth.membrane();
        membrane.blocks(x, self.strain_rate(), positive_part, &mut add);
        let (factors, piece_of) = (self.bending_factors(), self.cloth.piece_of());
        let bending = self.cloth.bending();
        bending.hessian(|row, column, value| {
            let factor = factors[usize::from(piece_of[row as usize])];
            add(row, column, scalar(value * factor));
        });
        for vertex in 0..x.len() as u32 {
            add(vertex, vertex, scalar(self.weight(vertex as usize)));
        }
        for spring in self.springs {
            add(spring.vertex, spring.vertex, spring.stiffness);
        }
        for touch in self.touches {
            let hessian = touch.pressed(x).hessian;
            for (a, weight_a) in touch.parts() {
                for (b, weight_b) in touch.parts() {
                    add(a as u32, b as u32, hessian * (weight_a * weight_b));
                }
            }
        }
    }

    /// Φ along x + s·d, for d that is zero where held.
    pub(crate) fn along<'b>(
        &'b self,
        x: &'b [DVec3],
        d: &'b [DVec3],
        at: &'b Evaluation,
    ) -> AlongLine<'b> {
        let matrix = self.cloth.bending().matrix();
        let (factors, piece_of) = (self.bending_factors(), self.cloth.piece_of());
        let mut curvature = chunked_sum(x.len(), |vertices| {
            vertices
                .map(|v| {
                    let inertia = self.weight(v) * d[v].length_squared();
                    let factor = factors[usize::from(piece_of[v])];
                    inertia + factor * d[v].dot(matrix.row_times(v, d))
                })
                .sum()
        });
        for spring in self.springs {
            let moved = d[spring.vertex as usize];
            curvature += moved.dot(spring.stiffness * moved);
        }
        AlongLine {
            objective: self,
            x,
            d,
            at,
            slope: dot(&at.quadratic, d),
            curvature,
        }
    }
}

/// An objective along a line.
pub(crate) struct AlongLine<'a> {
    objective: &'a Objective<'a>,
    x: &'a [DVec3],
    d: &'a [DVec3],
    at: &'a Evaluation,
    /// First and second derivative of what is quadratic.
    slope: f64,
    curvature: f64,
}

impl AlongLine<'_> {
    /// Writes x + s·d to `moved`, evaluates the objective there and gives Φ
    /// less Φ(x) [J].
    pub(crate) fn evaluate(&self, s: f64, moved: &mut Vec<DVec3>, there: &mut Evaluation) -> f64 {
        self.go(s, moved);
        self.objective.evaluate(moved, there);
        let membrane = chunked_sum(self.at.energies.len(), |triangles| {
            triangles
                .map(|t| there.energies[t] - self.at.energies[t])
                .sum()
        });
        let rest = there.rest_energy - self.at.rest_energy;
        let touches = there.touch_energies.iter().zip(&self.at.touch_energies);
        let contact: f64 = touches.map(|(there, at)| there - at).sum();
        membrane + rest + contact + s * (self.slope + 0.5 * s * self.curvature)
    }

    fn go(&self, s: f64, moved: &mut Vec<DVec3>) {
        moved.clear();
        moved.extend(self.x.iter().zip(self.d).map(|(x, d)| *x + *d * s));
    }

    /// The same without evaluating more than Φ.
    pub(crate) fn change(&self, s: f64, moved: &mut Vec<DVec3>) -> f64 {
        self.go(s, moved);
        let moved = &moved[..];
        let cloth = self.objective.cloth;
        let rate = self.objective.strain_rate();
        let membrane = chunked_sum(self.at.energies.len(), |triangles| {
            triangles
                .map(|t| cloth.membrane().strained(t, moved, rate).energy - self.at.energies[t])
                .sum()
        });
        let rest = cloth.bending().rest_energy(moved) - self.at.rest_energy;
        let touches = self.objective.touches.iter().zip(&self.at.touch_energies);
        let contact: f64 = touches.map(|(t, e)| t.energy(moved) - e).sum();
        membrane + rest + contact + s * (self.slope + 0.5 * s * self.curvature)
    }
}
