//! How obstacles move: over the next step, and by nothing but their motion, so
//! that what the cloth remembers of their surfaces stays true.

use glam::DVec3;

use super::config::{check_finite, positive};
use super::{Simulation, SimulationError};
use crate::contact::{Anchor, MeshObstacle, Obstacle, PairContacts, Placement};
use crate::stopwatch::Stopwatch;

/// Cloth that is nearer than this to what pinches is pinched [m].
const PINCHED: f64 = 0.02;
/// Where a step fails, pinched cloth is let pass that is as near as this [m].
const SPACE: f64 = 0.1;

impl Simulation {
    /// The obstacles.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Moves a shape as a rigid body over the next step; then it rests.
    ///
    /// # Errors
    /// When there is no such obstacle, it is a mesh, or a placement is not
    /// finite.
    pub fn move_rigid(
        &mut self,
        obstacle: usize,
        start: Placement,
        end: Placement,
    ) -> Result<(), SimulationError> {
        let Obstacle::Rigid(rigid) = self.obstacle_mut(obstacle)? else {
            return Err(SimulationError::ObstacleKind {
                obstacle,
                is: "a mesh",
                not: "a shape",
            });
        };
        let is_finite = |p: Placement| p.rotation.is_finite() && p.translation.is_finite();
        if !(is_finite(start) && is_finite(end)) {
            return Err(SimulationError::PlacementNotFinite { obstacle });
        }
        rigid.set_motion(start, end);
        Ok(())
    }

    /// Moves the vertices of a mesh from `start` to `end` [m] over the next
    /// step; then they rest.
    ///
    /// # Errors
    /// When there is no such obstacle, it is no mesh, or a position is missing
    /// or not finite.
    pub fn move_mesh(
        &mut self,
        obstacle: usize,
        start: &[DVec3],
        end: &[DVec3],
    ) -> Result<(), SimulationError> {
        let watch = Stopwatch::start();
        let moved = self.mesh_mut(obstacle)?.set_motion(start, end);
        self.spent.obstacles += watch.seconds();
        moved.map_err(|source| SimulationError::Mesh { obstacle, source })
    }

    /// Gives the vertices of a mesh and of the cloth homes [m]: where they are
    /// on the body at rest. Homes farther apart than `radius` [m] are strange to
    /// one another, which counts for what is [absent](Self::set_absent).
    /// To be set again after obstacles or self-contact were.
    ///
    /// # Errors
    /// When there is no such mesh, or a home is missing or not finite.
    pub fn set_homes(
        &mut self,
        obstacle: usize,
        mesh: &[DVec3],
        cloth: &[DVec3],
        radius: f64,
    ) -> Result<(), SimulationError> {
        positive("radius of homes", radius)?;
        check_finite(cloth, self.x.len())?;
        let found = self.mesh_mut(obstacle)?;
        check_finite(mesh, found.end().len())?;
        found.set_homes(mesh.to_vec(), radius);
        if let Some(surface) = &mut self.surface {
            surface.set_homes(cloth);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.set_homes(cloth);
        }
        Ok(())
    }

    /// Sets which vertices of a mesh are not there, from the next step on, for
    /// cloth whose home is strange to theirs.
    ///
    /// # Errors
    /// When there is no such mesh, or not one entry a vertex.
    pub fn set_absent(
        &mut self,
        obstacle: usize,
        is_absent: &[bool],
    ) -> Result<(), SimulationError> {
        let mesh = self.mesh_mut(obstacle)?;
        if is_absent.len() != mesh.end().len() {
            return Err(SimulationError::Count {
                found: is_absent.len(),
                expected: mesh.end().len(),
            });
        }
        mesh.set_absent(is_absent);
        Ok(())
    }

    /// Which vertices of a mesh are [absent](Self::set_absent) and have cloth
    /// within them; all false for what is no mesh.
    pub fn occupied(&self, obstacle: usize) -> Vec<bool> {
        let Some(Obstacle::Mesh(mesh)) = self.obstacles.get(obstacle) else {
            return Vec::new();
        };
        let mut occupied = vec![false; mesh.end().len()];
        if let Some(surface) = &self.surface {
            surface.find_occupied(mesh, &self.x, &mut occupied);
        }
        occupied
    }

    /// Sets between which vertices of a mesh cloth has little room, from the
    /// next step on. Where steps then fail, cloth that is there passes through
    /// itself for as long as it is.
    ///
    /// # Errors
    /// When there is no such mesh, or not one entry a vertex.
    pub fn set_pinching(
        &mut self,
        obstacle: usize,
        is_pinching: &[bool],
    ) -> Result<(), SimulationError> {
        let mesh = self.mesh_mut(obstacle)?;
        if is_pinching.len() != mesh.end().len() {
            return Err(SimulationError::Count {
                found: is_pinching.len(),
                expected: mesh.end().len(),
            });
        }
        self.pinching = Some((obstacle, is_pinching.to_vec()));
        let passing = self.passing();
        if passing.contains(&true) {
            let still = |v: usize| passing[v] && self.is_pinched(v);
            let still: Vec<bool> = (0..passing.len()).map(still).collect();
            if let Some(pairs) = &mut self.pairs {
                pairs.set_passing(still);
            }
        }
        Ok(())
    }

    /// Which vertices of the cloth pass through it.
    pub fn passing(&self) -> &[bool] {
        self.pairs.as_ref().map_or(&[], PairContacts::passing)
    }

    /// Lets the cloth pass through itself that is pinched near a vertex. False
    /// when none is that did not already.
    pub(super) fn let_pass(&mut self, vertex: usize) -> bool {
        let near = |v: usize| self.x[v].distance(self.x[vertex]) < SPACE;
        let before = self.passing();
        let pass = |v: usize| before[v] || (near(v) && self.is_pinched(v));
        let after: Vec<bool> = (0..before.len()).map(pass).collect();
        let is_new = after != before;
        if let Some(pairs) = &mut self.pairs
            && is_new
        {
            pairs.set_passing(after);
        }
        is_new
    }

    /// Whether a vertex of the cloth has little room.
    fn is_pinched(&self, vertex: usize) -> bool {
        let Some((obstacle, is_pinching)) = &self.pinching else {
            return false;
        };
        let Some(Obstacle::Mesh(mesh)) = self.obstacles.get(*obstacle) else {
            return false;
        };
        let nearest = mesh.nearest(self.x[vertex], PINCHED);
        nearest.is_some_and(|at| match at.anchor {
            Anchor::Mesh { triangle, .. } => {
                let corners = mesh.boxes().triangles()[triangle as usize];
                corners.iter().any(|v| is_pinching[*v as usize])
            }
            Anchor::Own(_) => false,
        })
    }

    fn mesh_mut(&mut self, obstacle: usize) -> Result<&mut MeshObstacle, SimulationError> {
        match self.obstacle_mut(obstacle)? {
            Obstacle::Mesh(mesh) => Ok(mesh),
            Obstacle::Rigid(_) => Err(SimulationError::ObstacleKind {
                obstacle,
                is: "a shape",
                not: "a mesh",
            }),
        }
    }

    fn obstacle_mut(&mut self, obstacle: usize) -> Result<&mut Obstacle, SimulationError> {
        let n_obstacles = self.obstacles.len();
        let found = self.obstacles.get_mut(obstacle);
        found.ok_or(SimulationError::NoSuchObstacle {
            obstacle,
            n_obstacles,
        })
    }
}

#[cfg(test)]
mod tests {
    use drapery_core::Fabric;
    use glam::Vec3Swizzles as _;

    use super::*;
    use crate::contact::test_meshes::{sheet, sphere};
    use crate::{Cloth, ContactConfig, RestShape, SelfContactConfig, SimulationConfig};

    /// Cloth is let through itself where it is pinched and near the fault, and
    /// kept from itself again when it is no longer pinched.
    #[test]
    fn pinched_cloth_passes_for_as_long_as_it_is_pinched() {
        let (topology, flat) = sheet(41);
        let fabric = Fabric::plain("cloth", 0.2, 400.0, 1e-5);
        let corners = topology.triangles().iter();
        let corners = corners.map(|t| t.map(|v| flat[v as usize].zx())).collect();
        let rest = RestShape::from_corners(topology, corners).unwrap();
        let cloth = Cloth::new(&rest, &fabric, &[]).unwrap();
        let config = SimulationConfig::default();
        let mut simulation = Simulation::new(cloth, flat.clone(), config).unwrap();
        // A ball just below the middle of the sheet.
        let centre = DVec3::new(0.0, -0.305, 0.0);
        let (ball, x) = sphere(0.3, 48);
        let x: Vec<DVec3> = x.iter().map(|p| *p + centre).collect();
        let mesh = MeshObstacle::new(&ball, x.clone()).unwrap();
        simulation
            .set_obstacles(vec![mesh.into()], ContactConfig::of(&fabric))
            .unwrap();
        simulation
            .set_self_contact(Some(SelfContactConfig::of(&fabric)))
            .unwrap();
        let vertex = 41 * 20 + 20;
        assert!(!simulation.let_pass(vertex), "nothing pinches");
        simulation.set_pinching(0, &vec![true; x.len()]).unwrap();
        assert!(!simulation.passing().contains(&true), "nothing has failed");
        assert!(simulation.let_pass(vertex));
        assert!(!simulation.let_pass(vertex), "all pass that can");
        for (v, passes) in simulation.passing().iter().enumerate() {
            let above = flat[v].distance(centre) - 0.3;
            // The ball of triangles is smaller than the round one.
            if (above - PINCHED).abs() > 1e-3 {
                let expected = above < PINCHED && flat[v].distance(flat[vertex]) < SPACE;
                assert_eq!(*passes, expected, "{v}: {above}");
            }
        }
        assert!(simulation.passing()[vertex]);
        simulation.set_pinching(0, &vec![false; x.len()]).unwrap();
        assert!(!simulation.passing().contains(&true));
        assert!(simulation.set_pinching(0, &[true]).is_err());
        assert!(simulation.set_pinching(1, &vec![true; x.len()]).is_err());
    }
}
