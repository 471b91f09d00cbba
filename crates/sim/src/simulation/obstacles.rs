//! How obstacles move: over the next step, and by nothing but their motion, so
//! that what the cloth remembers of their surfaces stays true.

use glam::DVec3;

use super::{Simulation, SimulationError};
use crate::contact::{Obstacle, Placement};
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
        let Obstacle::Mesh(mesh) = self.obstacle_mut(obstacle)? else {
            return Err(SimulationError::ObstacleKind {
                obstacle,
                is: "a shape",
                not: "a mesh",
            });
        };
        let watch = Stopwatch::start();
        let moved = mesh.set_motion(start, end);
        self.spent.obstacles += watch.seconds();
        moved.map_err(|source| SimulationError::Mesh { obstacle, source })
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
