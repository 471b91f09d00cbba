// The three.js objects of one pane: a body that all panes share, and a garment.

import * as three from "three";
import type { MeshData } from "./api";
import { colour } from "./heat";

/** Colours of garments, one a pane. */
export const TINTS = [0x3f6ea8, 0xa8503f, 0x3f8a5a, 0x8a6d2f, 0x7a4f96, 0x2f8a8a];
const HIDDEN = 1;
const UNDER = 2;
/** Skin under the garment is drawn so much farther from the eye [m], so that cloth a
 * little beneath it is seen (Stable Spaces §6.2). */
const BIAS = 0.02;

/** Draws what a material is of a little farther from the eye. */
export function farther<M extends three.Material>(material: M): M {
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader.replace(
      "#include <project_vertex>",
      `#include <project_vertex>
      vec4 farther = projectionMatrix * (mvPosition - vec4(0.0, 0.0, ${BIAS.toFixed(3)}, 0.0));
      gl_Position.z = farther.z / farther.w * gl_Position.w;`,
    );
  };
  return material;
}

/** The inner side of cloth is this bright at least, as a share of its colour, so that a
 * collar is not taken for a hole. */
const LINING = 0.4;

/** The program of a fragment with the inner side lit. */
export function lined(fragmentShader: string): string {
  return fragmentShader.replace(
    "#include <opaque_fragment>",
    `if (!gl_FrontFacing) outgoingLight = max(outgoingLight, ${LINING.toFixed(2)} * diffuseColor.rgb);
    #include <opaque_fragment>`,
  );
}

/** Corners of triangles of skin in the open and of skin under the garment; what is always
 * hidden is left out if cloth is drawn over. */
export function sortMarks(mesh: MeshData, isOver: boolean): { open: number[]; under: number[] } {
  const [open, under]: [number[], number[]] = [[], []];
  mesh.marks.forEach((marks, t) => {
    if (isOver && marks & HIDDEN) return;
    const list = isOver && marks & UNDER ? under : open;
    for (let k = 0; k < 3; k++) list.push(mesh.triangles[3 * t + k]!);
  });
  return { open, under };
}

/** Lights, and a floor. */
export function light(): three.Object3D[] {
  const sun = new three.DirectionalLight(0xffffff, 2.2);
  sun.position.set(1.5, 3, 2.5);
  const rim = new three.DirectionalLight(0xcfe0ff, 0.8);
  rim.position.set(-2, 1.5, -2);
  const floor = new three.GridHelper(40, 80, 0x8a8a8a, 0x8a8a8a);
  floor.material.transparent = true;
  floor.material.opacity = 0.28;
  return [new three.HemisphereLight(0xffffff, 0x9a938c, 1.3), sun, rim, floor];
}

/** Gives back what the objects of a scene hold on the graphics card. */
export function disposeOf(scene: three.Scene): void {
  scene.traverse((own) => {
    if (!(own instanceof three.Mesh || own instanceof three.LineSegments)) return;
    own.geometry.dispose();
    for (const material of [own.material].flat()) material.dispose();
  });
}

/** A surface whose vertices change from frame to frame. */
class Surface {
  readonly geometry = new three.BufferGeometry();
  private readonly positions: three.BufferAttribute;

  constructor(mesh: MeshData) {
    this.positions = new three.BufferAttribute(new Float32Array(3 * mesh.vertices), 3);
    this.positions.setUsage(three.DynamicDrawUsage);
    this.geometry.setAttribute("position", this.positions);
    this.geometry.setIndex(new three.BufferAttribute(mesh.triangles, 1));
  }

  place(positions: Float32Array): void {
    (this.positions.array as Float32Array).set(positions);
    this.positions.needsUpdate = true;
    this.geometry.computeVertexNormals();
  }
}

/** The body of all panes. */
export class BodySurface extends Surface {
  private readonly mesh: MeshData;
  readonly skin = new three.MeshStandardMaterial({ color: 0xc9a18a, roughness: 0.75 });
  readonly under: three.MeshStandardMaterial;

  constructor(mesh: MeshData) {
    super(mesh);
    this.mesh = mesh;
    this.under = farther(this.skin.clone());
    this.arrange(true);
  }

  /** Sorts triangles into skin in the open and skin under the garment; what is always
   * hidden is left out if cloth is drawn over. */
  arrange(isOver: boolean): void {
    const { open, under } = sortMarks(this.mesh, isOver);
    this.geometry.setIndex([...open, ...under]);
    this.geometry.clearGroups();
    this.geometry.addGroup(0, open.length, 0);
    this.geometry.addGroup(open.length, under.length, 1);
  }
}

/** The garment of one pane, with a body to wear it. */
export class Figure {
  readonly scene = new three.Scene();
  readonly cloth: three.Mesh<three.BufferGeometry, three.MeshStandardMaterial>;
  private readonly surface: Surface;
  private readonly body: three.Mesh;
  private readonly colours: three.BufferAttribute;

  constructor(body: BodySurface, garment: MeshData, tint: number) {
    this.surface = new Surface(garment);
    this.colours = new three.BufferAttribute(new Float32Array(3 * garment.vertices), 3);
    this.surface.geometry.setAttribute("color", this.colours);
    const material = new three.MeshStandardMaterial({
      color: tint,
      roughness: 0.9,
      side: three.DoubleSide,
    });
    material.onBeforeCompile = (shader) => {
      shader.fragmentShader = lined(shader.fragmentShader);
    };
    material.userData.tint = tint;
    this.cloth = new three.Mesh(this.surface.geometry, material);
    this.body = new three.Mesh(body.geometry, [body.skin, body.under]);
    for (const mesh of [this.cloth, this.body]) mesh.frustumCulled = false;
    this.scene.add(...light());
    this.scene.add(this.cloth, this.body);
  }

  place(positions: Float32Array): void {
    this.surface.place(positions);
  }

  show(what: { body: boolean; wire: boolean; cloth: boolean }): void {
    this.body.visible = what.body;
    this.cloth.visible = what.cloth;
    this.cloth.material.wireframe = what.wire;
  }

  /** Paints plain cloth. */
  paintPlain(): void {
    this.setPainted(false);
    this.cloth.material.color.set(this.cloth.material.userData.tint as number);
  }

  /** Paints distances [m], where `end` [m] is the end of the bar. */
  paintDistances(distances: Float32Array, end: number): void {
    this.setPainted(true);
    this.cloth.material.color.set(0xffffff);
    const out = this.colours.array as Float32Array;
    const linear = new three.Color();
    const rgb = [0, 0, 0];
    distances.forEach((d, v) => {
      colour(d / end, rgb, 0);
      linear.setRGB(rgb[0]!, rgb[1]!, rgb[2]!, three.SRGBColorSpace).toArray(out, 3 * v);
    });
    this.colours.needsUpdate = true;
  }

  /** Paints shares, from 0 to 1. */
  paintShares(shares: Float32Array): void {
    this.paintDistances(shares, 1);
  }

  /** Paints what is inside the body [0.1 mm], from half a millimetre on, and the rest
   * pale. */
  paintDepths(depths: Uint8Array): void {
    this.setPainted(true);
    this.cloth.material.color.set(0xffffff);
    const out = this.colours.array as Float32Array;
    const plain = new three.Color(this.cloth.material.userData.tint as number);
    plain.lerp(new three.Color(0xffffff), 0.6);
    const [slight, deep] = [new three.Color(0xff9a1f), new three.Color(0xd0021b)];
    const mixed = new three.Color();
    depths.forEach((d, v) => {
      if (d < 5) plain.toArray(out, 3 * v);
      else mixed.lerpColors(slight, deep, Math.min((d - 5) / 45, 1)).toArray(out, 3 * v);
    });
    this.colours.needsUpdate = true;
  }

  private setPainted(to: boolean): void {
    const material = this.cloth.material;
    if (material.vertexColors !== to) {
      material.vertexColors = to;
      material.needsUpdate = true;
    }
  }

  /** With the body, which panes share: it is made again where it is still drawn. */
  dispose(): void {
    disposeOf(this.scene);
  }
}
