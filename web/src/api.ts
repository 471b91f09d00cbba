// What the server has, and how it is read. The bytes are described in
// crates/drapery/src/viewing.rs.

export interface Method {
  name: string;
  method: string;
}

export interface Garment {
  name: string;
  vertices: number;
  triangles: number;
  methods: Method[];
}

export interface Clip {
  name: string;
  split: string;
  frames: number;
  shape: number[];
}

export interface ShapeParameter {
  name: string;
  min: number;
  max: number;
}

export interface Catalog {
  title: string;
  frame_rate: number;
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
  /** [m], three a vertex. */
  positions: Float32Array;
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

/** Hands every frame of a stream to `each`, in their order. */
export async function frames(
  query: Record<string, string>,
  signal: AbortSignal,
  each: (frame: Frame) => void,
): Promise<void> {
  const response = await answer(`/api/frames?${new URLSearchParams(query)}`, signal);
  if (!response.body) throw new ServerError("the server sent nothing");
  const bytes = new Bytes(response.body.getReader());
  const head = await bytes.take(12);
  if (!head) throw new ServerError("the server sent nothing");
  const [vertices = 0, , n = 0] = new Uint32Array(head);
  for (let i = 0; i < n; i++) {
    const taken = await bytes.take(16 + 12 * vertices);
    if (!taken) throw new ServerError(`the stream ended after ${i} of ${n} frames`);
    const figures = new DataView(taken);
    each({
      frame: figures.getUint32(0, true),
      confidence: figures.getFloat32(4, true),
      ms: figures.getFloat32(8, true),
      moved: figures.getFloat32(12, true),
      positions: new Float32Array(taken, 16, 3 * vertices),
    });
  }
}

/** Bytes of a stream, taken in pieces of any length. */
class Bytes {
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
