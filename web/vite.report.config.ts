import { defineConfig } from "vite";

// One script, which reports have inside.
export default defineConfig({
  build: {
    target: "es2022",
    chunkSizeWarningLimit: 1200,
    lib: { entry: "src/report.ts", formats: ["iife"], name: "drapery", fileName: () => "report.js" },
  },
});
