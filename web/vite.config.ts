import { defineConfig } from "vitest/config";
import { singleFile } from "./build/single_file";

export default defineConfig({
  plugins: [singleFile()],
  build: {
    target: "es2020",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    reportCompressedSize: false,
    rollupOptions: { output: { format: "iife" } },
  },
  test: { include: ["src/**/*.test.ts"] },
  server: {
    // `npm run mock` beside `npm run dev`.
    proxy: { "/api": "http://127.0.0.1:8123" },
  },
});
