import { defineConfig } from "vite";

// All files are served from the root of drapery's own server.
export default defineConfig({
  base: "/",
  build: { target: "es2022", modulePreload: { polyfill: false }, chunkSizeWarningLimit: 1200 },
});
