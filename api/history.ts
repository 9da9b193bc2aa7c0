/** Which ended runs stay, as a field of a workflow and of the settings of a project. */
import * as z from 'zod';
import { DURATION_BOUNDS } from './duration.ts';
import { celMilliseconds, duration } from './durationField.ts';
import { rules } from './value.ts';

/** The field. `otherwise`: a sentence about what counts where a member is left out, for a default such as `168h`. */
export const history = (otherwise: (value: string) => string) =>
  z
    .object({
      succeeded: z
        .int()
        .min(0)
        .max(1000)
        .optional()
        .describe(`How many succeeded runs to keep, and as many succeeded test runs. ${otherwise('10')}`),
      failed: z
        .int()
        .min(0)
        .max(1000)
        .optional()
        .describe(
          `How many failed and cancelled runs to keep, and as many such test runs. ${otherwise('10')}`,
        ),
      ttl: duration(
        `How long to keep a run after its end. ${otherwise('168h')}`,
        DURATION_BOUNDS.history,
      ).optional(),
      dataTTL: duration(
        `How long to keep the input and the outputs of a run after its end; the run itself stays for ttl. ${otherwise('as long as the run')}`,
        DURATION_BOUNDS.history,
      ).optional(),
    })
    .meta({
      description:
        'Which ended runs stay as WorkflowRun objects. Test runs are counted apart: they never take the place of another run.',
      ...rules({
        // Where ttl is left out, the project or the installation says it.
        rule: `!has(self.dataTTL) || !has(self.ttl) || ${celMilliseconds('self.dataTTL')} <= ${celMilliseconds('self.ttl')}`,
        message: 'dataTTL must not be longer than ttl: data is deleted with its run',
      }),
    });
