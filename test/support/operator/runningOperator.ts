/** The operator for a file of tests: it runs from before the first one to after the last one. */
import { afterAll, beforeAll } from 'vitest';
import { startOperatorHarness, type OperatorHarness } from './operatorHarness.ts';

/**
 * Call it once, at the top of a test file. The returned function gives the harness, in tests and in later
 * hooks.
 */
export function operatorOfFile(): () => OperatorHarness {
  let harness: OperatorHarness | undefined;
  beforeAll(async () => {
    harness = await startOperatorHarness();
    harness.startOperator();
  }, 600_000);
  afterAll(() => harness?.stop());
  return () => {
    if (!harness) throw new Error('the operator does not run before the hooks of the tests do');
    return harness;
  };
}
