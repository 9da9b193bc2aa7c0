/** The field `history` of workflows and project settings: which ended runs to keep. */
import * as z from 'zod';
import { DURATION_BOUNDS } from './duration.ts';
import { celMilliseconds, duration } from './durationField.ts';
import { rules } from './value.ts';

/** `otherwise`: returns the sentence about the default, for a value such as `168h`. */
export const history = (otherwise: (value: string) => string) =>
  z
    .object({
      succeeded: z
        .int()
        .min(0)
        .max(1000)
        .optional()
        .describe(`How many succeeded runs to keep, and how many succeeded test runs. ${otherwise('10')}`),
      failed: z
        .int()
        .min(0)
        .max(1000)
        .optional()
        .describe(
          `How many failed and cancelled runs to keep, and how many such test runs. ${otherwise('10')}`,
        ),
      ttl: duration(
        `How long to keep a run after its end. ${otherwise('168h')}`,
        DURATION_BOUNDS.history,
      ).optional(),
      dataTTL: duration(
        `How long to keep the input and the outputs of a run after its end. The run itself is kept for ttl. ${otherwise('as long as the run')}`,
        DURATION_BOUNDS.history,
      ).optional(),
    })
    .meta({
      description:
        'Which ended runs to keep as WorkflowRun objects. Test runs are counted separately: they never replace other runs.',
      ...rules({
        // Without ttl, the default of the project or the installation applies.
        rule: `!has(self.dataTTL) || !has(self.ttl) || ${celMilliseconds('self.dataTTL')} <= ${celMilliseconds('self.ttl')}`,
        message: 'dataTTL must not be longer than ttl: data is deleted with its run',
      }),
    });
