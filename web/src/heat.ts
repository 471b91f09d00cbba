// Colours of distances: dark blue over green to yellow, even to the eye and to those
// who do not tell red from green.

const STOPS: [number, number, number][] = [
  [0.17, 0.18, 0.42],
  [0.16, 0.38, 0.56],
  [0.13, 0.57, 0.55],
  [0.38, 0.75, 0.38],
  [0.96, 0.88, 0.16],
];

/** Writes the sRGB colour of a share from 0 to 1 to `out` at `at`. */
export function colour(share: number, out: Float32Array | number[], at: number): void {
  const place = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(place), STOPS.length - 2);
  const [a, b] = [STOPS[low]!, STOPS[low + 1]!];
  for (let k = 0; k < 3; k++) out[at + k] = a[k]! + (b[k]! - a[k]!) * (place - low);
}

/** Draws the bar of colours. */
export function drawBar(canvas: HTMLCanvasElement): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const rgb = [0, 0, 0];
  for (let x = 0; x < canvas.width; x++) {
    colour(x / (canvas.width - 1), rgb, 0);
    context.fillStyle = `rgb(${rgb.map((c) => Math.round(255 * c)).join(",")})`;
    context.fillRect(x, 0, 1, canvas.height);
  }
}

/** Mean distance of two garments [m]; each vertex's is written to `out`. */
export function distances(a: Float32Array, b: Float32Array, out: Float32Array): number {
  let sum = 0;
  for (let v = 0; v < out.length; v++) {
    const i = 3 * v;
    const d = Math.hypot(a[i]! - b[i]!, a[i + 1]! - b[i + 1]!, a[i + 2]! - b[i + 2]!);
    out[v] = d;
    sum += d;
  }
  return sum / Math.max(out.length, 1);
}
