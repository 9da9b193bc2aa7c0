/** The set-up of a test file in which each test has a project of its own. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { startOperatorHarness, type OperatorHarness } from './operatorHarness.ts';

export type TestProject = { harness: OperatorHarness; namespace: string; uid: string };

/** Starts the harness for the file. Before each test the operator runs, and `set` gets a new project. */
export function setUpProject(set: (project: TestProject) => void): void {
  let harness: OperatorHarness | undefined;
  beforeAll(async () => {
    harness = await startOperatorHarness();
  }, 600_000);
  afterAll(() => harness?.stop());
  beforeEach(async () => {
    if (!harness) throw new Error('the harness did not start');
    harness.startOperator();
    set({ harness, ...(await harness.createProject()) });
  });
}
