/** The field `autoscaling` of the installation and of project settings: who decides the number of runners. */
import * as z from 'zod';
import { rules } from './value.ts';

export const ENGINES = ['Builtin', 'KEDA', 'External'] as const;

/** The most runners that a project can have. */
export const MOST_RUNNERS = 100;

const NEEDS_MAX = 'Builtin and KEDA require max';
const OF_OTHERS = 'External takes neither min nor max nor targetBacklogSeconds';
const MIN_ABOVE_MAX = 'min must not be more than max';

const members = z.object({
  engine: z
    .enum(ENGINES)
    .describe(
      'Builtin: the operator decides the number of runners. KEDA: a ScaledObject, which the operator writes. External: a HorizontalPodAutoscaler or a person; the operator never sets the number.',
    ),
  min: z.int().min(1).max(MOST_RUNNERS).optional().describe('The least number of runners. Default 1.'),
  max: z
    .int()
    .min(1)
    .max(MOST_RUNNERS)
    .optional()
    .describe('The most runners. Required with the engines Builtin and KEDA.'),
  targetBacklogSeconds: z
    .int()
    .min(5)
    .max(3_600)
    .optional()
    .describe(
      'The seconds within which ready runs should start. The engine sets the number of runners accordingly. Default 30.',
    ),
});

export type AutoscalingSpec = z.infer<typeof members>;

/** For a CRD, with the rules in CEL. */
export const autoscaling = members.meta({
  description: 'Adapts the number of runners to the backlog: the runs that are ready.',
  ...rules(
    { rule: "self.engine == 'External' || has(self.max)", message: NEEDS_MAX },
    {
      rule: "self.engine != 'External' || (!has(self.min) && !has(self.max) && !has(self.targetBacklogSeconds))",
      message: OF_OTHERS,
    },
    { rule: '!has(self.min) || !has(self.max) || self.min <= self.max', message: MIN_ABOVE_MAX },
  ),
});

/** For the environment of a program, with the same rules. */
export const checkedAutoscaling = members.strict().superRefine((spec, context) => {
  for (const message of problemsOf(spec)) context.addIssue({ code: 'custom', message });
});

function problemsOf({ engine, min, max, targetBacklogSeconds }: AutoscalingSpec): string[] {
  const isExternal = engine === 'External';
  const isBounded = [min, max, targetBacklogSeconds].some((member) => member !== undefined);
  return [
    ...(!isExternal && max === undefined ? [NEEDS_MAX] : []),
    ...(isExternal && isBounded ? [OF_OTHERS] : []),
    ...(min !== undefined && max !== undefined && min > max ? [MIN_ABOVE_MAX] : []),
  ];
}
