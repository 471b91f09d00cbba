//! How obstacles move: over the next step, and by nothing but their motion, so
//! that what the cloth remembers of their surfaces stays true.

use glam::DVec3;

use super::config::{check_finite, positive};
use super::{Simulation, SimulationError};
use crate::contact::{MeshObstacle, Obstacle, Placement};
use crate::stopwatch::Stopwatch;

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
