//! Whole pictures against what geometry says.

use std::num::NonZeroUsize;

use drapery_core::{Topology, TriMesh};
use glam::{DVec2, Vec3};

use super::*;

const RED: Colour = Colour::rgb(200, 40, 30);
const GREEN: Colour = Colour::rgb(30, 180, 60);

fn flat(size: Size) -> Options {
    Options {
        shading: Shading::Flat,
        ..Options::of_size(size)
    }
}

fn on_white<'a>(meshes: impl IntoIterator<Item = SceneMesh<'a>>) -> Scene<'a> {
    Scene {
        meshes: meshes.into_iter().collect(),
        floor: None,
        background: Background::Plain(Colour::WHITE),
    }
}

fn triangle(corners: [Vec3; 3]) -> TriMesh {
    TriMesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap()
}

fn unit_view(size: Size) -> Camera {
    let bounds = Bounds {
        low: Vec3::new(-1.0, -1.0, 0.0),
        high: Vec3::new(1.0, 1.0, 0.0),
    };
    let level = View {
        elevation: 0.0,
        ..View::front()
    };
    Camera::framing(&bounds, level, size)
}

/// A sphere of radius 1 around a centre.
fn sphere(centre: Vec3) -> TriMesh {
    let (around, along) = (48, 24);
    let mut positions = Vec::new();
    for i in 0..=along {
        let up = std::f32::consts::PI * i as f32 / along as f32;
        for j in 0..around {
            let turn = std::f32::consts::TAU * j as f32 / around as f32;
            let unit = Vec3::new(up.sin() * turn.sin(), -up.cos(), up.sin() * turn.cos());
            positions.push(centre + unit);
        }
    }
    let at = |i: u32, j: u32| i * around + j % around;
    let mut triangles = Vec::new();
    for i in 0..along {
        for j in 0..around {
            triangles.push([at(i, j), at(i, j + 1), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i + 1, j)]);
        }
    }
    TriMesh::new(positions, triangles).unwrap()
}

fn cloth(mesh: &TriMesh, colour: Colour) -> SceneMesh<'_> {
    SceneMesh::cloth(mesh.topology(), mesh.positions(), colour)
}

#[test]
fn a_triangle_covers_the_samples_inside_it_and_its_area() {
    let size = Size::new(61, 47);
    let mesh = triangle([
        Vec3::new(-0.83, -0.71, 0.0),
        Vec3::new(0.9, -0.32, 0.0),
        Vec3::new(-0.11, 0.87, 0.0),
    ]);
    let camera = unit_view(size);
    let scene = on_white([cloth(&mesh, Colour::BLACK)]);
    let image = render(&scene, &camera, &flat(size)).unwrap();
    let corners: Vec<DVec2> = mesh
        .positions()
        .iter()
        .map(|p| {
            let (x, y, _) = camera.project(*p, size).unwrap();
            DVec2::new(x.into(), y.into())
        })
        .collect();
    // Distances inside each edge; on the screen the corners run clockwise.
    let inside = |p: DVec2| {
        (0..3)
            .map(|i| {
                let (a, b) = (corners[i], corners[(i + 1) % 3]);
                (p - a).perp_dot(b - a) / (b - a).length()
            })
            .fold(f64::INFINITY, f64::min)
    };
    let mut covered = 0.0;
    for y in 0..size.height {
        for x in 0..size.width {
            let (mut surely, mut perhaps) = (0, 0);
            for (dx, dy) in [
                (-0.125, -0.375),
                (0.375, -0.125),
                (-0.375, 0.125),
                (0.125, 0.375),
            ] {
                let depth = inside(DVec2::new(f64::from(x) + 0.5 + dx, f64::from(y) + 0.5 + dy));
                surely += i32::from(depth > 0.01);
                perhaps += i32::from(depth > -0.01);
            }
            let light = image.pixel(x, y).unwrap().linear().x;
            let samples = (4.0 * (1.0 - light)).round() as i32;
            assert!((surely..=perhaps).contains(&samples), "pixel {x}, {y}");
            covered += f64::from(1.0 - light);
        }
    }
    let area = 0.5
        * (corners[1] - corners[0])
            .perp_dot(corners[2] - corners[0])
            .abs();
    assert!((covered / area - 1.0).abs() < 0.01, "{covered} of {area}");
}

#[test]
fn of_two_crossing_triangles_the_nearer_is_seen_on_each_side() {
    // Two sheets that cross along x = 0: left the green, right the red is nearer.
    let size = Size::square(80);
    let red = triangle([
        Vec3::new(-1.0, -1.0, -0.5),
        Vec3::new(1.0, -1.0, 0.5),
        Vec3::new(0.0, 1.0, 0.0),
    ]);
    let green = triangle([
        Vec3::new(-1.0, -1.0, 0.5),
        Vec3::new(1.0, -1.0, -0.5),
        Vec3::new(0.0, 1.0, 0.0),
    ]);
    let camera = unit_view(size);
    for swapped in [false, true] {
        let mut meshes = vec![cloth(&red, RED), cloth(&green, GREEN)];
        if swapped {
            meshes.reverse();
        }
        let image = render(&on_white(meshes), &camera, &flat(size)).unwrap();
        let mut n_seen = 0;
        for y in 30..70 {
            for x in 0..80 {
                let (left, right) = (x < 39, x > 40);
                match image.pixel(x, y).unwrap() {
                    colour if colour == RED => assert!(!left, "red at {x}, {y}"),
                    colour if colour == GREEN => assert!(!right, "green at {x}, {y}"),
                    _ => continue,
                }
                n_seen += 1;
            }
        }
        assert!(n_seen > 1200, "{n_seen}");
    }
}

#[test]
fn a_sphere_is_brightest_where_it_faces_the_light() {
    let size = Size::square(160);
    let mesh = sphere(Vec3::ZERO);
    let mut scene = on_white([cloth(&mesh, Colour::rgb(130, 130, 130))]);
    scene.background = Background::Plain(Colour::BLACK);
    let camera = Camera::framing_points(scene.points(), View::front(), size);
    for (azimuth, elevation) in [(-0.7_f32, 0.6_f32), (0.8, 0.2), (0.0, 0.9)] {
        let options = Options {
            light: Light::InWorld { azimuth, elevation },
            ..Options::of_size(size)
        };
        let image = render(&scene, &camera, &options).unwrap();
        // The mean place of all that is nearly as bright as the brightest.
        let mut lights: Vec<(f32, u32, u32)> = (0..160 * 160)
            .map(|i| (i % 160, i / 160))
            .map(|(x, y)| (image.pixel(x, y).unwrap().linear().y, x, y))
            .collect();
        let most = lights.iter().fold(0.0_f32, |most, l| most.max(l.0));
        lights.retain(|l| l.0 > 0.98 * most);
        let n = lights.len() as f32;
        let x = lights.iter().map(|l| l.1 as f32 + 0.5).sum::<f32>() / n;
        let y = lights.iter().map(|l| l.2 as f32 + 0.5).sum::<f32>() / n;
        let towards = Vec3::new(
            azimuth.sin() * elevation.cos(),
            elevation.sin(),
            azimuth.cos() * elevation.cos(),
        );
        let (expected_x, expected_y, _) = camera.project(towards, size).unwrap();
        let off = (x - expected_x).hypot(y - expected_y);
        // The sky pulls it up a little; the ball is 144 pixels wide.
        assert!(
            off < 12.0,
            "brightest at {x}, {y}, not {expected_x}, {expected_y}"
        );
    }
}

/// Light from the left at 45°.
const FROM_LEFT: Light = Light::InWorld {
    azimuth: -std::f32::consts::FRAC_PI_2,
    elevation: std::f32::consts::FRAC_PI_4,
};

/// A level square of 20 cm, half a metre up.
fn raised_square(x: f32, z: f32) -> TriMesh {
    let corners = [(-0.1, -0.1), (-0.1, 0.1), (0.1, 0.1), (0.1, -0.1)];
    let corners = corners.map(|(dx, dz)| Vec3::new(x + dx, 0.5, z + dz));
    TriMesh::new(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).unwrap()
}

/// How light the floor is at places, x and z, of a scene in a frame.
fn floor_light(scene: &mut Scene, bounds: &Bounds, places: &[(f32, f32)]) -> Vec<f32> {
    let size = Size::new(320, 240);
    scene.floor = Some(0.0);
    let view = View {
        elevation: 0.7,
        ..View::front()
    };
    let camera = Camera::framing(bounds, view, size);
    let options = Options {
        light: FROM_LEFT,
        ..Options::of_size(size)
    };
    let image = render(scene, &camera, &options).unwrap();
    let light = |&(x, z): &(f32, f32)| {
        let (x, y, _) = camera.project(Vec3::new(x, 0.0, z), size).unwrap();
        image.pixel(x as u32, y as u32).unwrap().linear().x
    };
    places.iter().map(light).collect()
}

#[test]
fn a_shadow_lands_where_the_light_carries_it() {
    // Half a metre to the right; places are off the lines of the grid.
    let square = raised_square(0.0, 0.0);
    let bounds = Bounds {
        low: Vec3::new(-0.8, 0.0, -0.5),
        high: Vec3::new(0.8, 0.6, 0.5),
    };
    let places = [
        (0.55, 0.05),
        (0.45, -0.05),
        (-0.55, 0.05),
        (0.75, 0.05),
        (0.25, 0.05),
        (0.55, 0.25),
        (0.55, -0.25),
    ];
    let light = floor_light(&mut on_white([cloth(&square, RED)]), &bounds, &places);
    assert!(light[..2].iter().all(|l| *l < 0.65), "{light:?}");
    assert!(light[2..].iter().all(|l| *l > 0.85), "{light:?}");
}

#[test]
fn floor_that_goes_on_below_everything_is_lit() {
    let squares = [-3.0, 3.0].map(|z| raised_square(0.0, z));
    let bounds = Bounds {
        low: Vec3::new(-2.0, 0.0, -3.2),
        high: Vec3::new(4.0, 0.6, 3.2),
    };
    let mut scene = on_white(squares.each_ref().map(|square| cloth(square, RED)));
    let places = [(1.55, 0.05), (2.55, 0.05), (3.55, 0.05), (3.05, 1.05)];
    let light = floor_light(&mut scene, &bounds, &places);
    assert!(light.iter().all(|l| *l > 0.85), "{light:?}");
}

#[test]
fn a_flat_sheet_does_not_shade_itself() {
    // Acne would show as dark specks on a sheet lit at a slant.
    let size = Size::square(128);
    let sheet = TriMesh::new(
        vec![
            Vec3::new(-2.0, -2.0, 0.0),
            Vec3::new(2.0, -2.0, 0.0),
            Vec3::new(2.0, 2.0, 0.0),
            Vec3::new(-2.0, 2.0, 0.0),
        ],
        vec![[0, 1, 2], [0, 2, 3]],
    )
    .unwrap();
    let scene = on_white([cloth(&sheet, RED)]);
    for azimuth in [-1.3, -0.6, 0.9] {
        let options = Options {
            light: Light::InWorld {
                azimuth,
                elevation: 0.4,
            },
            ..Options::of_size(size)
        };
        let image = render(&scene, &unit_view(size), &options).unwrap();
        let codes: Vec<u8> = image.rgb8().iter().step_by(3).copied().collect();
        let (low, high) = (codes.iter().min().unwrap(), codes.iter().max().unwrap());
        assert!(high - low <= 6, "from {low} to {high} at {azimuth}");
    }
}

#[test]
fn both_sides_are_drawn_and_the_inside_is_darker() {
    let size = Size::square(40);
    let front = triangle([
        Vec3::new(-1.0, -1.0, 0.0),
        Vec3::new(1.0, -1.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
    ]);
    let [a, b, c] = front.corners(0);
    let back = triangle([a, c, b]);
    let camera = unit_view(size);
    let middle = |mesh: SceneMesh| {
        let image = render(&on_white([mesh]), &camera, &flat(size)).unwrap();
        image.pixel(20, 25).unwrap()
    };
    assert_eq!(middle(cloth(&front, RED)), RED);
    let inside = middle(cloth(&back, RED));
    assert!(inside.r < RED.r && inside.g > inside.r / 8, "{inside:?}");
    let mut one_sided = cloth(&front, RED);
    one_sided.sides = Sides::Front;
    assert_eq!(middle(one_sided), RED);
    let mut turned = cloth(&back, RED);
    turned.sides = Sides::Front;
    assert_eq!(middle(turned), Colour::WHITE);
}

#[test]
fn values_have_the_colours_of_their_map() {
    let size = Size::new(101, 101);
    let mesh = TriMesh::new(
        vec![
            Vec3::new(-1.0, -1.0, 0.0),
            Vec3::new(1.0, -1.0, 0.0),
            Vec3::new(1.0, 1.0, 0.0),
            Vec3::new(-1.0, 1.0, 0.0),
        ],
        vec![[0, 1, 2], [0, 2, 3]],
    )
    .unwrap();
    let camera = unit_view(size);
    // From −3 at the left to 5 at the right, shown from 0 to 4.
    let values = [-3.0, 5.0, 5.0, -3.0];
    for map in [ColourMap::Meadow, ColourMap::Ember, ColourMap::Diverging] {
        let surface = Surface::Values {
            values: &values,
            range: (0.0, 4.0),
            map,
        };
        let scene = on_white([cloth(&mesh, RED).with_surface(surface)]);
        let image = render(&scene, &camera, &flat(size)).unwrap();
        for x in (8..93).step_by(3) {
            // The picture's margin is a twentieth on each side.
            let across = ((x as f32 + 0.5) / 101.0 - 0.05) / 0.9;
            let expected = map.colour((-3.0 + 8.0 * across) / 4.0);
            let got = image.pixel(x, 50).unwrap();
            let off = [
                got.r.abs_diff(expected.r),
                got.g.abs_diff(expected.g),
                got.b.abs_diff(expected.b),
            ];
            assert!(
                off.iter().all(|d| *d <= 3),
                "{map:?} at {x}: {got:?}, {expected:?}"
            );
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let ball = sphere(Vec3::new(0.0, 1.0, 0.0));
    let size = Size::new(150, 203);
    let values: Vec<f32> = ball.positions().iter().map(|p| p.y).collect();
    let surface = Surface::Values {
        values: &values,
        range: (0.0, 2.0),
        map: ColourMap::Ember,
    };
    let other: Vec<Vec3> = ball.positions().iter().map(|p| *p + Vec3::X).collect();
    let scene = Scene::on_floor()
        .with(cloth(&ball, RED).with_surface(surface))
        .with(SceneMesh::body(ball.topology(), &other).with_wireframe(Wireframe::default()));
    let camera = Camera::framing_points(scene.points(), View::three_quarter(), size);
    let with_threads = |n: usize| {
        let options = Options {
            threads: NonZeroUsize::new(n),
            ..Options::of_size(size)
        };
        render(&scene, &camera, &options).unwrap()
    };
    let one = with_threads(1);
    for n in [2, 4, 13] {
        assert!(one == with_threads(n), "{n} threads");
    }
}

#[test]
fn a_wireframe_darkens_edges_and_nothing_else() {
    let size = Size::square(100);
    let mesh = triangle([
        Vec3::new(-1.0, -1.0, 0.0),
        Vec3::new(1.0, -1.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
    ]);
    let wire = Wireframe {
        colour: Colour::BLACK,
        width: 2.0,
    };
    let scene = on_white([cloth(&mesh, RED).with_wireframe(wire)]);
    let image = render(&scene, &unit_view(size), &flat(size)).unwrap();
    assert_eq!(image.pixel(50, 60), Some(RED));
    // The lower edge is at row 95.
    assert_eq!(image.pixel(50, 94), Some(Colour::BLACK));
    assert_eq!(image.pixel(50, 91), Some(RED));
}

#[test]
fn odd_scenes_give_a_picture() {
    let size = Size::new(33, 21);
    let options = Options::of_size(size);
    // Nothing at all, with and without a floor.
    for scene in [Scene::default(), Scene::on_floor()] {
        let camera = Camera::framing(&scene.bounds(), View::front(), size);
        assert!(render(&scene, &camera, &options).is_ok());
    }
    // Vertices without triangles, points, lines, doubled corners.
    let positions = [
        Vec3::ZERO,
        Vec3::X,
        Vec3::X * 2.0,
        Vec3::Y,
        Vec3::splat(1e6),
    ];
    for triangles in [
        vec![],
        vec![[0, 0, 0]],
        vec![[0, 1, 1]],
        vec![[0, 1, 2]],
        vec![[0, 1, 3], [0, 4, 3]],
    ] {
        let topology = Topology::new(5, triangles).unwrap();
        let scene = Scene::on_floor().with(SceneMesh::cloth(&topology, &positions, RED));
        for points in [&positions[..4], &positions[..]] {
            let camera = Camera::framing_points(points.iter().copied(), View::front(), size);
            assert!(render(&scene, &camera, &options).is_ok());
        }
    }
}

/// Random triangles of all sizes around and behind the camera: no arithmetic
/// may overflow, no index leave its array.
#[test]
fn random_soups_give_a_picture() {
    let mut state = 12_345_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    for round in 0..24 {
        let spread = 10_f32.powi(round % 8 - 2);
        let positions: Vec<Vec3> = (0..60)
            .map(|_| Vec3::new(random(), random(), random()) * spread)
            .collect();
        let triangles = (0..20).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let topology = Topology::new(60, triangles).unwrap();
        let mesh = SceneMesh::cloth(&topology, &positions, RED);
        let scene = Scene::on_floor().with(mesh.with_wireframe(Wireframe::default()));
        let size = Size::new(40 + round as u32, 64 - round as u32);
        let near = Bounds::of([Vec3::splat(-0.2), Vec3::splat(0.3)]);
        let inside = Camera::framing(&near, View::from_azimuth(random() * 3.0), size);
        let outside = Camera::framing(&scene.bounds(), View::from_azimuth(1.0), size);
        for camera in [inside, outside] {
            assert!(render(&scene, &camera, &Options::of_size(size)).is_ok());
        }
    }
}

#[test]
fn a_triangle_through_the_eye_is_cut_not_lost() {
    // A long floor-like triangle under the camera, from far ahead to behind it.
    let size = Size::square(60);
    let camera = unit_view(size);
    let eye = camera.eye();
    let mesh = triangle([
        eye + Vec3::new(-50.0, -0.5, 30.0),
        eye + Vec3::new(50.0, -0.5, 30.0),
        eye + Vec3::new(0.0, -0.5, -100.0),
    ]);
    let scene = on_white([cloth(&mesh, RED)]);
    let image = render(&scene, &camera, &flat(size)).unwrap();
    assert_eq!(image.pixel(30, 59), Some(RED));
    assert_eq!(image.pixel(2, 59), Some(RED));
    assert_eq!(image.pixel(30, 20), Some(Colour::WHITE));
    // And with all the lights.
    assert!(render(&scene, &camera, &Options::of_size(size)).is_ok());
}

#[test]
fn bad_scenes_are_errors_that_name_the_place() {
    let size = Size::square(16);
    let topology = Topology::new(3, vec![[0, 1, 2]]).unwrap();
    let good = [Vec3::ZERO, Vec3::X, Vec3::Y];
    let camera = Camera::framing(&Bounds::of(good), View::front(), size);
    let draw = |mesh: SceneMesh, floor: Option<f32>, size: Size| {
        let scene = Scene {
            meshes: vec![SceneMesh::cloth(&topology, &good, RED), mesh],
            floor,
            ..Scene::default()
        };
        render(&scene, &camera, &Options::of_size(size)).map(|_| ())
    };
    let sound = SceneMesh::cloth(&topology, &good, RED);
    assert_eq!(draw(sound, None, size), Ok(()));
    let not_finite = Err(SceneError::NotFinite { mesh: 1, vertex: 2 });
    for bad in [f32::NAN, f32::INFINITY, 2e6] {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, bad, 0.0)];
        let mesh = SceneMesh::cloth(&topology, &positions, RED);
        assert_eq!(draw(mesh, None, size), not_finite);
    }
    assert_eq!(
        draw(SceneMesh::cloth(&topology, &good[..2], RED), None, size),
        Err(SceneError::WrongLength {
            mesh: 1,
            what: "positions",
            n: 2,
            n_vertices: 3
        })
    );
    let valued = |values, range| {
        sound.with_surface(Surface::Values {
            values,
            range,
            map: ColourMap::Meadow,
        })
    };
    assert!(matches!(
        draw(valued(&[1.0], (0.0, 1.0)), None, size),
        Err(SceneError::WrongLength { what: "values", .. })
    ));
    assert_eq!(
        draw(valued(&[1.0, f32::NAN, 0.0], (0.0, 1.0)), None, size),
        Err(SceneError::ValueNotFinite { mesh: 1, vertex: 1 })
    );
    for range in [
        (1.0, 1.0),
        (2.0, 1.0),
        (0.0, f32::NAN),
        (f32::MIN, f32::MAX),
    ] {
        assert!(matches!(
            draw(valued(&[0.0; 3], range), None, size),
            Err(SceneError::BadRange { mesh: 1, .. })
        ));
    }
    assert_eq!(
        draw(sound, Some(f32::NAN), size),
        Err(SceneError::FloorNotFinite)
    );
    for bad in [Size::new(0, 9), Size::new(9, 0), Size::new(9, 9000)] {
        assert_eq!(
            draw(sound, None, bad),
            Err(SceneError::BadSize { size: bad })
        );
    }
    let nowhere = camera.moved_by(Vec3::NAN);
    let scene = on_white([sound]);
    assert_eq!(
        render(&scene, &nowhere, &Options::of_size(size)).map(|_| ()),
        Err(SceneError::BadCamera)
    );
}

/// How a sheet is worn.
#[derive(Clone, Copy, PartialEq)]
enum Worn {
    Over,
    Beside,
    InsideOut,
}

/// A box of 2 m a side with a sheet of 1 m a side at a depth beneath its front [m],
/// compared in depth as said; how much of the middle of the picture is cloth.
fn cloth_beneath(beneath: f32, epsilon: f32, how: Worn) -> f32 {
    let face = |half: f32, z: f32| {
        let corners = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
        let corners = corners.map(|[x, y]: [f32; 2]| Vec3::new(half * x, half * y, z));
        TriMesh::new(corners.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).unwrap()
    };
    let front = face(1.0, 0.0);
    let sheet = face(0.5, -beneath);
    let inside_out = Topology::new(4, vec![[0, 2, 1], [0, 3, 2]]).unwrap();
    let under = [how != Worn::Beside; 4];
    let body = SceneMesh::body(front.topology(), front.positions());
    let body = body.with_depth(Depth::Skin { is_under: &under });
    let topology = match how {
        Worn::InsideOut => &inside_out,
        _ => sheet.topology(),
    };
    let cloth = SceneMesh::cloth(topology, sheet.positions(), GREEN);
    let scene = on_white([body, cloth.with_depth(Depth::Cloth { epsilon })]);
    let size = Size::new(64, 64);
    let image = render(&scene, &unit_view(size), &flat(size)).unwrap();
    let is_green = |p: &&[u8]| p[1] > p[0];
    let n = image.rgb8().chunks(3).filter(is_green).count();
    n as f32 / (64.0 * 64.0)
}

#[test]
fn cloth_a_little_beneath_skin_still_covers_it() {
    let seen = cloth_beneath(-0.01, 0.0, Worn::Over);
    assert!(seen > 0.1, "{seen}");
    // A centimetre beneath: not seen as it is, and wholly with ε, a little smaller.
    assert_eq!(cloth_beneath(0.01, 0.0, Worn::Over), 0.0);
    let biased = cloth_beneath(0.01, 0.02, Worn::Over);
    assert!((biased - seen).abs() < 0.05, "{biased} {seen}");
    // Five centimetres are too far, and a hand is not under the cloth behind it.
    assert_eq!(cloth_beneath(0.05, 0.02, Worn::Over), 0.0);
    assert_eq!(cloth_beneath(0.01, 0.02, Worn::Beside), 0.0);
    // Nor is the inside of cloth seen through skin.
    assert_eq!(cloth_beneath(0.01, 0.02, Worn::InsideOut), 0.0);
    // Cloth on the skin is seen either way: the sign of ε is right.
    assert_eq!(cloth_beneath(-0.01, 0.02, Worn::Over), seen);
}

#[test]
fn depths_that_are_wrong_are_named() {
    let mesh = triangle([Vec3::ZERO, Vec3::X, Vec3::Y]);
    let size = Size::new(8, 8);
    let draw = |depth| {
        let scene = on_white([cloth(&mesh, RED).with_depth(depth)]);
        render(&scene, &unit_view(size), &flat(size)).unwrap_err()
    };
    let short = draw(Depth::Skin { is_under: &[true] });
    assert!(matches!(short, SceneError::WrongLength { n: 1, .. }));
    for epsilon in [-0.01, f32::NAN, 2.0] {
        let found = draw(Depth::Cloth { epsilon });
        assert!(matches!(found, SceneError::BadDepth { .. }), "{epsilon}");
    }
}
