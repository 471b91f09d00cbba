//! Panels laid flat, filled with triangles and sewn together.
//!
//! A panel is first filled coarsely in its plan, placed on the body and laid
//! flat: that is the pattern, which is the same at every resolution. The
//! wanted mesh then fills the flat panel; a point of it finds its place on the
//! body by way of the coarse triangle that it lies in.

use drapery_core::{Garment, Panel, Pattern, TriMesh, UnionFind, VertexGroup};
use glam::{DVec2, DVec3};

use super::DraftError;
use super::cut::{Cut, Edge, Side, Walk};
use super::flatten::{Spring, flatten};
use super::mesher::{FlatMesh, fill};

/// The side of the triangles that panels are laid flat with [m].
const PLAN_SIDE: f64 = 0.027;

/// How much more the lengths of an outline matter than others when a panel is
/// laid flat: both sides of a seam should be equally long. At 1 they differ by
/// a tenth in places; beyond 30 the rest of the panel pays for it.
const OUTLINE_STIFFNESS: f64 = 10.0;

/// Between panels on the cutting table [m].
const GAP: f64 = 0.05;

/// A panel that was laid flat.
pub(super) struct FlatPanel<'a> {
    cut: &'a Cut<'a>,
    walks: Vec<Walk>,
    /// Triangles of the plan, each with its plan and its flat corners.
    plan: FlatMesh,
    flat: Vec<DVec2>,
    /// The outline's points that begin each side.
    starts: Vec<usize>,
    grid: Grid,
}

/// A garment in the making: a mesh in space with its pattern.
pub(super) struct Sewn {
    pub(super) positions: Vec<DVec3>,
    /// The side of the plane of symmetry that each vertex stays on, as in a
    /// [`Cut`]; 0 for those between two sides.
    pub(super) halves: Vec<f64>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) coordinates: Vec<DVec2>,
    pub(super) pattern: Vec<[u32; 3]>,
    pub(super) panels: Vec<Panel>,
    pub(super) groups: Vec<VertexGroup>,
}

/// Lays the panels flat, side by side.
pub(super) fn lay_flat<'a>(cuts: &'a [Cut<'a>]) -> Result<Vec<FlatPanel<'a>>, DraftError> {
    let mut panels = Vec::new();
    let mut right = 0.0;
    for cut in cuts {
        let mut panel = FlatPanel::new(cut)?;
        let (low, high) = panel
            .flat
            .iter()
            .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        let shift = DVec2::new(right - low.x, -low.y);
        panel.flat.iter_mut().for_each(|p| *p += shift);
        panel.grid = Grid::new(&panel.flat, &panel.plan.triangles);
        right += high.x - low.x + GAP;
        panels.push(panel);
    }
    Ok(panels)
}

impl<'a> FlatPanel<'a> {
    fn new(cut: &'a Cut<'a>) -> Result<Self, DraftError> {
        let failed = || DraftError::Panel {
            panel: cut.name.clone(),
        };
        let walks: Vec<Walk> = cut
            .sides
            .iter()
            .map(|side| Walk::new(&side.line, &cut.place))
            .collect();
        let counts: Vec<usize> = walks
            .iter()
            .map(|walk| (walk.length() / PLAN_SIDE).round().max(2.0) as usize)
            .collect();
        let mut outline = Vec::new();
        let mut starts = Vec::new();
        for (walk, &n) in walks.iter().zip(&counts) {
            starts.push(outline.len());
            outline.extend((0..n).map(|k| walk.at(k as f64 / n as f64)));
        }
        let plan = fill(&outline, PLAN_SIDE).ok_or_else(failed)?;
        if plan.triangles.is_empty() {
            return Err(failed());
        }
        let flat = flatten(&plan.points, &springs(&plan, outline.len(), &cut.place));
        if flat.iter().any(|p| !p.is_finite()) {
            return Err(failed());
        }
        Ok(Self {
            cut,
            walks,
            grid: Grid::new(&flat, &plan.triangles),
            plan,
            flat,
            starts,
        })
    }

    /// Its flat area [m²].
    fn area(&self) -> f64 {
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| self.flat[v as usize]);
            (b - a).perp_dot(c - a) / 2.0
        };
        self.plan.triangles.iter().map(area).sum()
    }

    /// The flat point at a share of a side's length.
    fn flat_at(&self, side: usize, share: f64) -> DVec2 {
        let first = self.starts[side];
        let n_outline = self.outline_len();
        let end = self.starts.get(side + 1).copied().unwrap_or(n_outline);
        let t = share * (end - first) as f64;
        let i = (t as usize).min(end - first - 1);
        let a = self.flat[first + i];
        let b = self.flat[(first + i + 1) % n_outline];
        a.lerp(b, t - i as f64)
    }

    fn outline_len(&self) -> usize {
        let last = self.starts.len() - 1;
        let n = (self.walks[last].length() / PLAN_SIDE).round().max(2.0) as usize;
        self.starts[last] + n
    }

    /// The plan's point that lies at a flat one.
    fn plan_at(&self, flat: DVec2) -> DVec2 {
        let (triangle, weights) = self.grid.find(flat, &self.flat, &self.plan.triangles);
        let corners = self.plan.triangles[triangle];
        (0..3)
            .map(|i| self.plan.points[corners[i] as usize] * weights[i])
            .sum()
    }
}

/// The edges of a plan with their lengths in space, by way of their middles.
fn springs(plan: &FlatMesh, n_outline: usize, place: &dyn Fn(DVec2) -> DVec3) -> Vec<Spring> {
    let is_outline = |[a, b]: [u32; 2]| {
        let (a, b) = (a as usize, b as usize);
        b < n_outline && (b == a + 1 || (a == 0 && b == n_outline - 1))
    };
    let mut edges: Vec<[u32; 2]> = plan
        .triangles
        .iter()
        .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
        .into_iter()
        .map(|ends| {
            let [a, b] = ends.map(|v| plan.points[v as usize]);
            let middle = place((a + b) / 2.0);
            let length = place(a).distance(middle) + middle.distance(place(b));
            Spring {
                ends,
                length: length.max(1e-6),
                stiffness: if is_outline(ends) {
                    OUTLINE_STIFFNESS
                } else {
                    1.0
                },
            }
        })
        .collect()
}

/// Triangles by the cells that their boxes touch.
struct Grid {
    low: DVec2,
    size: f64,
    n: [usize; 2],
    cells: Vec<Vec<u32>>,
}

impl Grid {
    fn new(points: &[DVec2], triangles: &[[u32; 3]]) -> Self {
        let (low, high) = points
            .iter()
            .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        let size = 1.5 * PLAN_SIDE;
        let n = [
            ((high.x - low.x) / size) as usize + 1,
            ((high.y - low.y) / size) as usize + 1,
        ];
        let mut grid = Self {
            low,
            size,
            n,
            cells: vec![Vec::new(); n[0] * n[1]],
        };
        for (i, t) in triangles.iter().enumerate() {
            let [a, b, c] = t.map(|v| points[v as usize]);
            let (from, to) = (grid.cell(a.min(b).min(c)), grid.cell(a.max(b).max(c)));
            for y in from[1]..=to[1] {
                for x in from[0]..=to[0] {
                    grid.cells[y * n[0] + x].push(i as u32);
                }
            }
        }
        grid
    }

    fn cell(&self, p: DVec2) -> [usize; 2] {
        let at = ((p - self.low) / self.size).max(DVec2::ZERO);
        [
            (at.x as usize).min(self.n[0] - 1),
            (at.y as usize).min(self.n[1] - 1),
        ]
    }

    /// The triangle that holds a point, or the one that it is least outside
    /// of, with the point's weights of its corners.
    fn find(&self, p: DVec2, points: &[DVec2], triangles: &[[u32; 3]]) -> (usize, [f64; 3]) {
        let [x, y] = self.cell(p);
        let mut best = (f64::NEG_INFINITY, 0, [1.0, 0.0, 0.0]);
        let mut ring = 0;
        while best.0 < -1.0 && ring < self.n[0].max(self.n[1]) {
            for cy in y.saturating_sub(ring)..=(y + ring).min(self.n[1] - 1) {
                for cx in x.saturating_sub(ring)..=(x + ring).min(self.n[0] - 1) {
                    for &i in &self.cells[cy * self.n[0] + cx] {
                        let [a, b, c] = triangles[i as usize].map(|v| points[v as usize]);
                        let twice = (b - a).perp_dot(c - a).max(1e-18);
                        let v = (p - a).perp_dot(c - a) / twice;
                        let w = (b - a).perp_dot(p - a) / twice;
                        let weights = [1.0 - v - w, v, w];
                        let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
                        if least > best.0 {
                            best = (least, i as usize, weights);
                        }
                    }
                }
            }
            ring += 1;
        }
        (best.1, best.2)
    }
}

/// The number of pieces that each side is divided into: alike on both sides of
/// a seam. Shape [panel][side].
fn divisions(panels: &[FlatPanel<'_>], side: f64) -> Vec<Vec<usize>> {
    let of_side = |panel: &FlatPanel<'_>, of: &Side, walk: &Walk| {
        let side = side.min(panel.cut.coarsest);
        ((walk.length() / side).round() as usize).max(of.least)
    };
    let mut counts: Vec<Vec<usize>> = panels
        .iter()
        .map(|p| {
            let sides = p.cut.sides.iter().zip(&p.walks);
            sides.map(|(of, walk)| of_side(p, of, walk)).collect()
        })
        .collect();
    for (a, b) in seams(panels) {
        let finest = counts[a.0][a.1].max(counts[b.0][b.1]);
        counts[a.0][a.1] = finest;
        counts[b.0][b.1] = finest;
    }
    counts
}

/// Pairs of (panel, side) that are sewn together.
fn seams(panels: &[FlatPanel<'_>]) -> Vec<((usize, usize), (usize, usize))> {
    let mut open: Vec<(&str, (usize, usize))> = Vec::new();
    let mut found = Vec::new();
    for (p, panel) in panels.iter().enumerate() {
        for (s, side) in panel.cut.sides.iter().enumerate() {
            let Edge::Seam(name) = &side.edge else {
                continue;
            };
            match open.iter().position(|o| o.0 == name) {
                Some(at) => found.push((open.swap_remove(at).1, (p, s))),
                None => open.push((name, (p, s))),
            }
        }
    }
    debug_assert!(open.is_empty(), "a seam has two sides: {open:?}");
    found
}

/// Fills the flat panels with about `n_triangles` and sews them.
pub(super) fn sew(panels: &[FlatPanel<'_>], n_triangles: u32) -> Result<Sewn, DraftError> {
    let area: f64 = panels.iter().map(FlatPanel::area).sum();
    let wanted = f64::from(n_triangles.max(1));
    let mut side = (4.0 / 3f64.sqrt() * area / wanted).sqrt();
    let mut best: Option<(f64, Vec<FlatMesh>, Vec<Vec<usize>>)> = None;
    for _ in 0..6 {
        let counts = divisions(panels, side);
        let meshes = fill_all(panels, &counts, side)?;
        let found = meshes.iter().map(|m| m.triangles.len()).sum::<usize>() as f64;
        let off = (found / wanted).ln().abs();
        if best.as_ref().is_none_or(|b| off < b.0) {
            best = Some((off, meshes, counts));
        }
        if off < 0.02 {
            break;
        }
        side *= (found / wanted).sqrt().clamp(0.7, 1.4);
    }
    let (_, meshes, counts) = best.expect("at least one size was tried");
    Ok(join(panels, meshes, &counts))
}

fn fill_all(
    panels: &[FlatPanel<'_>],
    counts: &[Vec<usize>],
    side: f64,
) -> Result<Vec<FlatMesh>, DraftError> {
    let mut meshes = Vec::new();
    for (panel, counts) in panels.iter().zip(counts) {
        let mut outline = Vec::new();
        for (s, &n) in counts.iter().enumerate() {
            outline.extend((0..n).map(|k| panel.flat_at(s, k as f64 / n as f64)));
        }
        let side = side.min(panel.cut.coarsest);
        let mesh = fill(&outline, side).filter(|m| !m.triangles.is_empty());
        meshes.push(mesh.ok_or_else(|| DraftError::Panel {
            panel: panel.cut.name.clone(),
        })?);
    }
    Ok(meshes)
}

fn join(panels: &[FlatPanel<'_>], meshes: Vec<FlatMesh>, counts: &[Vec<usize>]) -> Sewn {
    // Flat points of all panels in a row; those on seams are one vertex.
    let mut offsets = vec![0u32];
    for mesh in &meshes {
        offsets.push(offsets[offsets.len() - 1] + mesh.points.len() as u32);
    }
    let n_points = offsets[offsets.len() - 1];
    let on_side = |(p, s): (usize, usize), k: usize| {
        let n_outline: usize = counts[p].iter().sum();
        let start: usize = counts[p][..s].iter().sum();
        offsets[p] + ((start + k) % n_outline) as u32
    };
    let mut sets = UnionFind::new(n_points);
    for (a, b) in seams(panels) {
        let n = counts[a.0][a.1];
        for k in 0..=n {
            sets.join(on_side(a, k), on_side(b, n - k));
        }
    }
    let names = sets.into_names();
    let mut vertex_of = vec![u32::MAX; n_points as usize];
    let mut n_vertices = 0;
    for point in 0..n_points as usize {
        let name = names[point] as usize;
        if name == point {
            vertex_of[point] = n_vertices;
            n_vertices += 1;
        } else {
            vertex_of[point] = vertex_of[name];
        }
    }
    let mut sums = vec![(DVec3::ZERO, 0.0); n_vertices as usize];
    let mut halves = vec![(f64::INFINITY, f64::NEG_INFINITY); n_vertices as usize];
    let mut sewn = Sewn {
        positions: Vec::new(),
        halves: Vec::new(),
        triangles: Vec::new(),
        coordinates: Vec::new(),
        pattern: Vec::new(),
        panels: Vec::new(),
        groups: Vec::new(),
    };
    for (p, (panel, mesh)) in panels.iter().zip(&meshes).enumerate() {
        let mut outline_plan = Vec::new();
        for (s, &n) in counts[p].iter().enumerate() {
            outline_plan.extend((0..n).map(|k| panel.walks[s].at(k as f64 / n as f64)));
        }
        for (i, &flat) in mesh.points.iter().enumerate() {
            let plan = match outline_plan.get(i) {
                Some(plan) => *plan,
                None => panel.plan_at(flat),
            };
            let vertex = vertex_of[offsets[p] as usize + i] as usize;
            let half = &mut halves[vertex];
            *half = (half.0.min(panel.cut.half), half.1.max(panel.cut.half));
            let sum = &mut sums[vertex];
            sum.0 += (panel.cut.place)(plan);
            sum.1 += 1.0;
            sewn.coordinates.push(flat);
        }
        let first = sewn.triangles.len() as u32;
        for t in &mesh.triangles {
            let corners = t.map(|v| v + offsets[p]);
            sewn.pattern.push(corners);
            sewn.triangles.push(corners.map(|v| vertex_of[v as usize]));
        }
        sewn.panels.push(Panel {
            name: panel.cut.name.clone(),
            triangles: (first..sewn.triangles.len() as u32).collect(),
        });
        for (s, side) in panel.cut.sides.iter().enumerate() {
            let Edge::Open(name) = &side.edge else {
                continue;
            };
            let members = (0..=counts[p][s]).map(|k| vertex_of[on_side((p, s), k) as usize]);
            match sewn.groups.iter_mut().find(|g| g.name == *name) {
                Some(group) => group.vertices.extend(members),
                None => sewn.groups.push(VertexGroup {
                    name: name.clone(),
                    vertices: members.collect(),
                }),
            }
        }
    }
    for group in &mut sewn.groups {
        group.vertices.sort_unstable();
        group.vertices.dedup();
    }
    let one = |(low, high): (f64, f64)| if low == high { low } else { 0.0 };
    sewn.halves = halves.into_iter().map(one).collect();
    sewn.positions = sums.into_iter().map(|(sum, n)| sum / n).collect();
    sewn
}

impl Sewn {
    /// The finished garment.
    pub(super) fn finish(self, name: &str) -> Result<Garment, DraftError> {
        let positions = self.positions.iter().map(|p| p.as_vec3()).collect();
        let mesh =
            TriMesh::new(positions, self.triangles).map_err(drapery_core::GarmentError::from)?;
        let pattern = Pattern {
            coordinates: self.coordinates.iter().map(|p| p.as_vec2()).collect(),
            triangles: self.pattern,
        };
        Ok(Garment::new(
            name.to_string(),
            mesh,
            Some(pattern),
            self.panels,
            self.groups,
        )?)
    }
}
