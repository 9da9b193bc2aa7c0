/** Checks of responses that only the code that makes them can answer. */
import { responseProblems } from '../../../nodes/response.ts';
import type { Check, Violation } from './check.ts';

/** Every header of a response can be sent, as far as it is known. */
export const responsesFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, response }): Violation[] =>
    (response ? responseProblems(response) : []).map((problem) => ({
      reason: 'InvalidParameters',
      message: `node ${id}: response: ${problem}`,
    })),
  );
