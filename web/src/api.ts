// What the server has, and how it is read. The bytes are described in
// crates/drapery/src/viewing.rs.

export interface Method {
  name: string;
  method: string;
  /** Whether it animates whole crowds. */
  crowd: boolean;
}

export interface Garment {
  name: string;
  vertices: number;
  triangles: number;
  fabric: string | null;
  methods: Method[];
}

export interface Clip {
  name: string;
  split: string;
  frames: number;
  shape: number[];
  /** Whether the dataset has its simulation. */
  simulated: boolean;
}

export interface ShapeParameter {
  name: string;
  min: number;
  max: number;
}

export interface Catalog {
  title: string;
  frame_rate: number;
  has_body: boolean;
  fabrics: string[];
  garments: Garment[];
  clips: Clip[];
  shape: ShapeParameter[];
}

/** A mesh as the server sends it. */
export interface MeshData {
  vertices: number;
  triangles: Uint32Array;
  /** Bit 1: always hidden; bit 2: under the garment. One a triangle. */
  marks: Uint8Array;
}

/** One frame of something that moves. */
export interface Frame {
  frame: number;
  confidence: number;
  /** Milliseconds that it took. */
  ms: number;
  /** How far correction moved a vertex at most [m]. */
  moved: number;
  /** The deepest place inside the body [m], and the share deeper than a millimetre. */
  deepest: number;
  inside: number;
  /** [m], three a vertex. */
  positions: Float32Array;
  /** What the method works with. */
  coefficients: Float32Array;
  /** How deep each vertex is inside the body [0.1 mm], if that was asked. */
  depths: Uint8Array | undefined;
}

export class ServerError extends Error {}

async function answer(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, signal ? { signal } : {});
  if (!response.ok) throw new ServerError((await response.text()).trim());
  return response;
}

export async function catalog(): Promise<Catalog> {
  return (await answer("/api/catalog")).json();
}

export async function mesh(of: "body" | "garment", garment: string): Promise<MeshData> {
  const query = new URLSearchParams({ of, garment });
  const bytes = await (await answer(`/api/mesh?${query}`)).arrayBuffer();
  const [vertices = 0, n = 0] = new Uint32Array(bytes, 0, 2);
  return {
    vertices,
    triangles: new Uint32Array(bytes, 8, 3 * n),
    marks: new Uint8Array(bytes, 8 + 12 * n, n),
  };
}

/** How far each vector of a method's basis moves each vertex for a coefficient of 1 [m], one
 * vector after the other. */
export async function basis(garment: string, method: string): Promise<Float32Array> {
  const query = new URLSearchParams({ of: "basis", garment, method });
  return new Float32Array(await (await answer(`/api/mesh?${query}`)).arrayBuffer(), 8);
}

/** The bytes of a stream. */
export async function stream(query: Record<string, string>, signal: AbortSignal): Promise<Bytes> {
  const response = await answer(`/api/frames?${new URLSearchParams(query)}`, signal);
  if (!response.body) throw new ServerError("the server sent nothing");
  return new Bytes(response.body.getReader());
}

/** Hands every frame of a stream to `each`, in their order. */
export async function frames(
  query: Record<string, string>,
  signal: AbortSignal,
  each: (frame: Frame) => void,
): Promise<void> {
  const bytes = await stream(query, signal);
  const head = await bytes.take(20);
  if (!head) throw new ServerError("the server sent nothing");
  const [vertices = 0, , n = 0, coefficients = 0, hasDepths = 0] = new Uint32Array(head);
  const depthsAt = 24 + 12 * vertices + 4 * coefficients;
  const length = depthsAt + (hasDepths ? 4 * Math.ceil(vertices / 4) : 0);
  for (let i = 0; i < n; i++) {
    const taken = await bytes.take(length);
    if (!taken) throw new ServerError(`the stream ended after ${i} of ${n} frames`);
    const figures = new DataView(taken);
    each({
      frame: figures.getUint32(0, true),
      confidence: figures.getFloat32(4, true),
      ms: figures.getFloat32(8, true),
      moved: figures.getFloat32(12, true),
      deepest: figures.getFloat32(16, true),
      inside: figures.getFloat32(20, true),
      positions: new Float32Array(taken, 24, 3 * vertices),
      coefficients: new Float32Array(taken, 24 + 12 * vertices, coefficients),
      depths: hasDepths ? new Uint8Array(taken, depthsAt, vertices) : undefined,
    });
  }
}

/** Bytes of a stream, taken in pieces of any length. */
export class Bytes {
  private parts: Uint8Array[] = [];
  private length = 0;

  constructor(private readonly reader: ReadableStreamDefaultReader<Uint8Array>) {}

  /** The next `n` bytes in a buffer of their own; none when the stream ends before. */
  async take(n: number): Promise<ArrayBuffer | undefined> {
    while (this.length < n) {
      const { value, done } = await this.reader.read();
      if (done) return undefined;
      this.parts.push(value);
      this.length += value.length;
    }
    const taken = new Uint8Array(n);
    let at = 0;
    while (at < n) {
      const part = this.parts[0]!;
      const some = part.subarray(0, n - at);
      taken.set(some, at);
      at += some.length;
      if (some.length === part.length) this.parts.shift();
      else this.parts[0] = part.subarray(some.length);
    }
    this.length -= n;
    return taken.buffer;
  }
}
