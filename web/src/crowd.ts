// A crowd that wears one garment, drawn from a stream without end.

import * as three from "three";
import { Bytes, type MeshData, ServerError, stream } from "./api";
import { disposeOf, farther, light, lined, sortMarks } from "./figure";
import type { Track } from "./track";

/** Metres in a step of the positions that are sent. */
const STEP = 2e-4;
/** Bodies of a crowd are drawn with the vertices of one cell together [m]. */
const CELL = 0.035;

/** What the crowd is at. */
export interface CrowdFigures {
  characters: number;
  /** Frames shown in a second. */
  rate: number;
  /** Milliseconds that the server took for one. */
  ms: number;
  megabytes: number;
}

/** Characters that begin at one frame of the clip. */
interface Phase {
  first: number;
  bodies: three.InstancedMesh;
}

interface Head {
  vertices: number;
  characters: number;
  frames: number;
  places: Float32Array;
  phases: Uint32Array;
  roots: Float32Array;
}

export class Crowd {
  readonly scene = new three.Scene();
  failure: string | undefined;
  private readonly abort = new AbortController();
  private readonly skin = new three.MeshStandardMaterial({ color: 0xc9a18a, roughness: 0.75 });
  private readonly under = farther(this.skin.clone());
  private readonly geometries: (three.BufferGeometry | undefined)[] = [];
  private index: { all: three.BufferAttribute; open: number } | undefined;
  /** Values in a row of the texture that holds them. */
  private readonly row: number;
  private head: Head | undefined;
  private phases: Phase[] = [];
  private cloth: three.Mesh | undefined;
  private texture: three.DataTexture | undefined;
  private next: { frame: number; ms: number; values: Int16Array } | undefined;
  private wanted: (() => void) | undefined;
  private ms = 0;
  private shown: number[] = [];

  /** Loads the crowd of a query; bodies are those of `track`. */
  constructor(
    query: Record<string, string>,
    private readonly bodyMesh: MeshData,
    private readonly clothMesh: MeshData,
    private readonly track: Track,
    private readonly tints: number[],
    private readonly maxTextureSize: number,
  ) {
    this.row = Math.min(4096, maxTextureSize);
    this.scene.add(...light());
    void this.load(query);
  }

  /** Half the width of the crowd [m]; none before it has come. */
  get radius(): number | undefined {
    if (!this.head) return undefined;
    return Math.max(1.5, ...this.head.places.map(Math.abs));
  }

  get figures(): CrowdFigures | undefined {
    if (!this.head || this.shown.length === 0) return undefined;
    const since = (this.shown.at(-1)! - this.shown[0]!) / 1000;
    return {
      characters: this.head.characters,
      rate: since > 0 ? (this.shown.length - 1) / since : 0,
      ms: this.ms,
      megabytes: (this.head.characters * this.head.vertices * 6) / 1e6,
    };
  }

  /** Shows the next frame if it has come. */
  advance(now: number): boolean {
    if (!this.next || !this.head || !this.cloth || !this.texture) return false;
    const { frame, ms, values } = this.next;
    for (const phase of this.phases) {
      const at = (frame + phase.first) % this.head.frames;
      const geometry = this.body(at);
      if (!geometry) return false;
      phase.bodies.geometry = geometry;
      phase.bodies.position.set(-this.head.roots[2 * at]!, 0, -this.head.roots[2 * at + 1]!);
    }
    (this.texture.image.data as Int16Array).set(values);
    this.texture.needsUpdate = true;
    this.ms = ms;
    this.next = undefined;
    this.wanted?.();
    this.shown.push(now);
    while (now - this.shown[0]! > 3000) this.shown.shift();
    return true;
  }

  close(): void {
    this.abort.abort();
    this.wanted?.();
    this.texture?.dispose();
    for (const geometry of this.geometries) geometry?.dispose();
    for (const phase of this.phases) phase.bodies.dispose();
    disposeOf(this.scene);
  }

  private async load(query: Record<string, string>): Promise<void> {
    try {
      const bytes = await stream(query, this.abort.signal);
      this.head = await readHead(bytes);
      this.build(this.head);
      const { vertices, characters } = this.head;
      const n = 3 * vertices * characters;
      for (;;) {
        const taken = await bytes.take(8 + 4 * Math.ceil(n / 2));
        if (!taken) throw new ServerError("the crowd ended");
        const figures = new DataView(taken);
        this.next = {
          frame: figures.getUint32(0, true),
          ms: figures.getFloat32(4, true),
          values: new Int16Array(taken, 8, n),
        };
        // No more is read than is shown, so that the server waits.
        await new Promise<void>((done) => (this.wanted = done));
        if (this.abort.signal.aborted) return;
      }
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.failure = error instanceof Error ? error.message : String(error);
    }
  }

  private build(head: Head): void {
    const n = 3 * head.vertices * head.characters;
    const rows = Math.ceil(n / this.row);
    if (rows > this.maxTextureSize) {
      throw new ServerError("the crowd is larger than this device can draw; choose a smaller one");
    }
    this.texture = new three.DataTexture(
      new Int16Array(this.row * rows),
      this.row,
      rows,
      three.RedIntegerFormat,
      three.ShortType,
    );
    this.texture.internalFormat = "R16I";
    this.texture.minFilter = this.texture.magFilter = three.NearestFilter;
    this.texture.unpackAlignment = 2;
    const geometry = new three.InstancedBufferGeometry();
    geometry.instanceCount = head.characters;
    geometry.setIndex(new three.BufferAttribute(this.clothMesh.triangles, 1));
    // Places come from the texture; three counts vertices by this.
    const none = new Float32Array(3 * head.vertices);
    geometry.setAttribute("position", new three.BufferAttribute(none, 3));
    geometry.setAttribute("place", new three.InstancedBufferAttribute(head.places, 2));
    geometry.setAttribute("tint", new three.InstancedBufferAttribute(this.colours(head), 3));
    const mesh = new three.Mesh(geometry, this.material(head.vertices));
    mesh.frustumCulled = false;
    this.cloth = mesh;
    this.scene.add(mesh);
    const byPhase = new Map<number, number[]>();
    head.phases.forEach((phase, i) => {
      byPhase.set(phase, [...(byPhase.get(phase) ?? []), i]);
    });
    const move = new three.Matrix4();
    for (const [first, members] of byPhase) {
      const bodies = new three.InstancedMesh(
        new three.BufferGeometry(),
        [this.skin, this.under],
        members.length,
      );
      members.forEach((i, k) => {
        move.makeTranslation(head.places[2 * i]!, 0, head.places[2 * i + 1]!);
        bodies.setMatrixAt(k, move);
      });
      bodies.frustumCulled = false;
      this.phases.push({ first, bodies });
      this.scene.add(bodies);
    }
  }

  /** A colour a character, around those of the panes. */
  private colours(head: Head): Float32Array {
    const out = new Float32Array(3 * head.characters);
    const colour = new three.Color();
    for (let i = 0; i < head.characters; i++) {
      colour.set(this.tints[(7 * i + (i >> 3)) % this.tints.length]!);
      colour.offsetHSL(0, 0, 0.06 * (((13 * i) % 5) / 2 - 1)).toArray(out, 3 * i);
    }
    return out;
  }

  private material(vertices: number): three.Material {
    const material = new three.MeshStandardMaterial({
      roughness: 0.9,
      side: three.DoubleSide,
      flatShading: true,
    });
    material.onBeforeCompile = (shader) => {
      shader.fragmentShader = lined(shader.fragmentShader);
      shader.uniforms.places = { value: this.texture };
      // One program serves all garments, whatever they have.
      shader.uniforms.vertices = { value: vertices };
      shader.uniforms.row = { value: this.row };
      shader.vertexShader = shader.vertexShader
        .replace(
          "#include <common>",
          `#include <common>
          uniform highp isampler2D places;
          uniform int vertices;
          uniform int row;
          attribute vec2 place;
          attribute vec3 tint;
          varying vec3 vTint;
          float sent(int k) {
            return float(texelFetch(places, ivec2(k % row, k / row), 0).r);
          }`,
        )
        .replace(
          "#include <begin_vertex>",
          `int k = 3 * (gl_InstanceID * vertices + gl_VertexID);
          vec3 transformed = ${STEP} * vec3(sent(k), sent(k + 1), sent(k + 2));
          transformed.xz += place;
          vTint = tint;`,
        );
      shader.fragmentShader = shader.fragmentShader
        .replace("#include <common>", "#include <common>\nvarying vec3 vTint;")
        .replace("#include <color_fragment>", "#include <color_fragment>\ndiffuseColor.rgb *= vTint;");
    };
    return material;
  }

  /** The body of a frame, simplified; none before it has come. */
  private body(frame: number): three.BufferGeometry | undefined {
    const known = this.geometries[frame];
    if (known) return known;
    const positions = this.track.frames[frame]?.positions;
    if (!positions) return undefined;
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(positions, 3));
    geometry.setIndex(new three.BufferAttribute(this.bodyMesh.triangles, 1));
    geometry.computeVertexNormals();
    const normals = geometry.getAttribute("normal").array as Float32Array;
    this.index ??= simplified(this.bodyMesh, positions, normals);
    geometry.setIndex(this.index.all);
    geometry.addGroup(0, this.index.open, 0);
    geometry.addGroup(this.index.open, this.index.all.count - this.index.open, 1);
    this.geometries[frame] = geometry;
    return geometry;
  }
}

async function readHead(bytes: Bytes): Promise<Head> {
  const counts = await bytes.take(12);
  if (!counts) throw new ServerError("the server sent nothing");
  const [vertices = 0, characters = 0, frames = 0] = new Uint32Array(counts);
  const rest = await bytes.take(12 * characters + 8 * frames);
  if (!rest) throw new ServerError("the crowd ended before it began");
  const numbers = new Float32Array(rest);
  const whole = new Uint32Array(rest);
  const places = new Float32Array(2 * characters);
  const phases = new Uint32Array(characters);
  for (let i = 0; i < characters; i++) {
    places.set(numbers.subarray(3 * i, 3 * i + 2), 2 * i);
    phases[i] = whole[3 * i + 2]!;
  }
  return { vertices, characters, frames, places, phases, roots: numbers.subarray(3 * characters) };
}

/** Triangles of a body whose vertices in one cell that look one way are one. */
function simplified(
  mesh: MeshData,
  positions: Float32Array,
  normals: Float32Array,
): { all: three.BufferAttribute; open: number } {
  const first = new Map<string, number>();
  const stands = new Uint32Array(mesh.vertices);
  for (let v = 0; v < mesh.vertices; v++) {
    const key = [0, 1, 2]
      .map((k) => `${Math.floor(positions[3 * v + k]! / CELL)}${normals[3 * v + k]! > 0 ? "+" : "-"}`)
      .join();
    stands[v] = first.get(key) ?? v;
    if (!first.has(key)) first.set(key, v);
  }
  const { open, under } = sortMarks(mesh, true);
  const kept = (list: number[]) => {
    const out: number[] = [];
    for (let i = 0; i < list.length; i += 3) {
      const [a, b, c] = [stands[list[i]!]!, stands[list[i + 1]!]!, stands[list[i + 2]!]!];
      if (a !== b && b !== c && c !== a) out.push(a, b, c);
    }
    return out;
  };
  const [inOpen, below] = [kept(open), kept(under)];
  const all = new three.BufferAttribute(new Uint32Array([...inOpen, ...below]), 1);
  return { all, open: inOpen.length };
}
