/** The operator for a file of tests: it runs from before the first one to after the last one. */
import { afterAll, beforeAll } from 'vitest';
import { startOperatorStage, type OperatorStage } from './operatorHarness.ts';

/** To be called once, where the file begins. What it returns gives the stage, in tests and in hooks that come later. */
export function operatorOfFile(): () => OperatorStage {
  let stage: OperatorStage | undefined;
  beforeAll(async () => {
    stage = await startOperatorStage();
    stage.startOperator();
  }, 600_000);
  afterAll(() => stage?.stop());
  return () => {
    if (!stage) throw new Error('the operator does not run before the hooks of the tests do');
    return stage;
  };
}
