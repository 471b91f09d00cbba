// The eye of all panes, and how it draws them side by side.

import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

/** From the figure to the eye: before it, a little to its left and above. */
const BEFORE = new three.Vector3(0.4, 0.12, 0.91).normalize();
/** From a crowd to the eye. */
const ABOVE = new three.Vector3(0.25, 0.35, 0.9).normalize();
/** A figure with its arms out is so many times as tall as wide. */
const FIGURE = 1.3;
/** The farthest that a crowd is looked at from, and that anything is seen [m]. */
const FAR = 45;
const SIGHT = 60;

/** Where a pane is, from the top left corner [px]. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Panes side by side, in as many columns as make a standing figure largest. */
export function layout(n: number, width: number, height: number): Box[] {
  let columns = 1;
  let best = 0;
  for (let tried = 1; tried <= n; tried++) {
    const tall = Math.min(height / Math.ceil(n / tried), FIGURE * (width / tried));
    if (tall > best * 1.001) [columns, best] = [tried, tall];
  }
  const rows = Math.max(1, Math.ceil(n / columns));
  return Array.from({ length: n }, (_, i) => ({
    x: ((i % columns) * width) / columns,
    y: (Math.floor(i / columns) * height) / rows,
    w: width / columns,
    h: height / rows,
  }));
}

export class Eye {
  private readonly renderer: three.WebGLRenderer;
  private readonly camera = new three.PerspectiveCamera(32, 1, 0.05, SIGHT);
  private readonly orbit: OrbitControls;
  /** Where the body was when it was last followed [m]. */
  private followed: three.Vector3 | undefined;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly stage: HTMLElement,
  ) {
    this.renderer = new three.WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.setScissorTest(true);
    this.orbit = new OrbitControls(this.camera, canvas);
    this.orbit.enableDamping = true;
  }

  /** Texels along a side of a texture at most. */
  get maxTextureSize(): number {
    return this.renderer.capabilities.maxTextureSize;
  }

  /** The next body is looked at as from the beginning. */
  forget(): void {
    this.followed = undefined;
  }

  /** Looks at a body with its vertices at `positions` [m], and goes along with it. */
  follow(positions: Float32Array, isFollowing: boolean): void {
    const { camera, orbit } = this;
    const now = middle(positions);
    if (!this.followed) {
      camera.far = SIGHT;
      orbit.target.copy(now);
      const box = new three.Box3().setFromArray(positions);
      const tall = Math.max(box.max.y - box.min.y, (box.max.x - box.min.x) / FIGURE);
      orbit.target.y = (box.min.y + box.max.y) / 2 + 0.05 * tall;
      camera.position.copy(orbit.target).addScaledVector(BEFORE, this.away(0.62 * tall));
    } else if (isFollowing) {
      const way = now.clone().sub(this.followed).setY(0);
      orbit.target.add(way);
      camera.position.add(way);
    }
    this.followed = now;
  }

  /** Looks at all of a crowd of that radius [m]. */
  survey(radius: number): void {
    this.orbit.target.set(0, 0.6, 0);
    const away = Math.min(this.away(1.15 * radius), FAR);
    this.camera.far = away + 3 * radius;
    this.camera.position.copy(this.orbit.target).addScaledVector(ABOVE, away);
  }

  /** Draws scenes in their boxes. */
  draw(panes: { scene: three.Scene; box: Box }[]): void {
    const { renderer, camera } = this;
    this.orbit.update();
    const { clientWidth: width, clientHeight: height } = this.stage;
    renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    const size = renderer.getSize(new three.Vector2());
    if (size.x !== width || size.y !== height) renderer.setSize(width, height, false);
    renderer.setScissor(0, 0, width, height);
    renderer.setViewport(0, 0, width, height);
    renderer.setClearColor(0x000000, 0);
    renderer.clear();
    for (const { scene, box } of panes) {
      camera.aspect = box.w / box.h;
      camera.updateProjectionMatrix();
      const bottom = height - box.y - box.h;
      renderer.setViewport(box.x, bottom, box.w, box.h);
      renderer.setScissor(box.x, bottom, box.w, box.h);
      renderer.render(scene, camera);
    }
  }

  /** From where so much is seen above and below [m]. */
  private away(half: number): number {
    return half / Math.tan((this.camera.fov * Math.PI) / 360);
  }
}

/** The middle of a body [m]. */
function middle(positions: Float32Array): three.Vector3 {
  const sum = new three.Vector3();
  const n = positions.length / 3;
  for (let v = 0; v < n; v++) {
    sum.x += positions[3 * v]!;
    sum.y += positions[3 * v + 1]!;
    sum.z += positions[3 * v + 2]!;
  }
  return sum.divideScalar(Math.max(n, 1));
}
