import { defineConfig } from "vitest/config";

// Opens the built template in the system's browser; run `npm run build` first.
export default defineConfig({
  test: { include: ["test/*.e2e.test.ts"], testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 2, expect: { poll: { timeout: 15_000 } } },
});
