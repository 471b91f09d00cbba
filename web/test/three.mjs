// Lets three.js play a GLB file and compares its garment with a point cache of the same.
//
//   node three.mjs FILE.glb FILE.pc2 FRAME_RATE
//
// Ends with an error where a vertex is more than 0.1 mm off at the first, middle or last
// frame.

import { readFileSync } from "node:fs";
import { AnimationMixer, Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

const LIMIT = 1e-4;

const [glb, pc2, rate] = process.argv.slice(2);
// The loader asks what kind of browser it is in; there is none.
globalThis.self ??= globalThis;

function bytesOf(file) {
  const read = readFileSync(file);
  return read.buffer.slice(read.byteOffset, read.byteOffset + read.byteLength);
}

const cache = bytesOf(pc2);
const head = new DataView(cache);
const [vertices, frames] = [head.getInt32(16, true), head.getInt32(28, true)];
const points = new Float32Array(cache, 32);

const { scene, animations } = await new GLTFLoader().parseAsync(bytesOf(glb), "");
const meshes = [];
scene.traverse((own) => {
  if (own.isMesh && own.geometry.getAttribute("position").count === vertices) meshes.push(own);
});
if (meshes.length !== 1) throw new Error(`${meshes.length} meshes of ${vertices} vertices`);
const mixer = new AnimationMixer(scene);
mixer.clipAction(animations[0]).play();
const at = new Vector3();
for (const frame of [0, Math.floor(frames / 2), frames - 1]) {
  // The very end of a clip is its beginning again.
  mixer.setTime(Math.min(frame / Number(rate), animations[0].duration - 1e-6));
  scene.updateMatrixWorld(true);
  let worst = 0;
  for (let v = 0; v < vertices; v++) {
    meshes[0].getVertexPosition(v, at).applyMatrix4(meshes[0].matrixWorld);
    const i = 3 * (frame * vertices + v);
    worst = Math.max(worst, Math.hypot(at.x - points[i], at.y - points[i + 1], at.z - points[i + 2]));
  }
  console.log(`${glb} frame ${frame}: worst vertex ${(1000 * worst).toFixed(4)} mm`);
  if (!(worst <= LIMIT)) process.exit(1);
}
