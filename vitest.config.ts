import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // Pure code keeps no state between files, and loading the modules again for each takes longer than
          // the tests.
          isolate: false,
          // As many cases as properties are tried on take their time where the machine is slow.
          testTimeout: 30_000,
          include: [
            '{api,kube,store,runs,nodes,operator,gateway,runner,console}/**/*.test.ts',
            'test/unit/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          // So long that conditions, whose deadlines are shorter, say what did not come, also on a slow
          // machine.
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 300_000,
          fileParallelism: false,
          globalSetup: 'test/e2e/setup.ts',
        },
      },
    ],
  },
});
