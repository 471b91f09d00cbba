// Lets Khronos' validator look at glTF files.
//
//   node gltf.mjs FILE...
//
// Ends with an error where one has an error or a warning.

import { readFileSync } from "node:fs";
import validator from "gltf-validator";

for (const file of process.argv.slice(2)) {
  const bytes = new Uint8Array(readFileSync(file));
  const { issues, info } = await validator.validateBytes(bytes, { maxIssues: 20 });
  for (const { code, message, pointer } of issues.messages) console.error(`${file}: ${code} ${message} ${pointer}`);
  if (issues.numErrors + issues.numWarnings > 0) process.exit(1);
  console.log(`${file}: ${info.animationCount} animations, ${info.totalVertexCount} vertices, no error, no warning`);
}
