/** The ProjectSettings kind: the settings of one project that differ from those of the installation. */
import * as z from 'zod';
import { autoscaling, MOST_RUNNERS } from './autoscaling.ts';
import { DURATION_BOUNDS } from './duration.ts';
import { duration } from './durationField.ts';
import { SETTINGS_NAME } from './group.ts';
import { history } from './history.ts';
import { affinity, nodeSelector, tolerations } from './placement.ts';
import { conditions, objectName, rules } from './value.ts';

const MEMORY_LEAST = '128Mi';

const quantity = (description: string) =>
  z
    .string()
    .max(32)
    .regex(/^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$/)
    .describe(`${description} A string, for example "500m" or "1Gi".`);

const amounts = (description: string) =>
  z
    .object({
      cpu: quantity('CPU.').optional(),
      memory: quantity('Memory.').optional(),
      'ephemeral-storage': quantity('Disk space of the node.').optional(),
    })
    .describe(description);

/** `name`: as escaped in CEL. */
const isWithinLimit = (name: string, message: string) => {
  const [request, limit] = [`self.requests.${name}`, `self.limits.${name}`];
  const bothSet = `has(self.requests) && has(self.limits) && has(${request}) && has(${limit})`;
  return { rule: `!(${bothSet}) || quantity(${request}).compareTo(quantity(${limit})) <= 0`, message };
};

const resources = z
  .object({
    requests: amounts('The amounts that the scheduler reserves on the node.').optional(),
    limits: amounts('The most that the container may use. Half of the memory is for the heap.').optional(),
  })
  .meta({
    description:
      'Resources of the container of each runner. They replace all resources that the installation sets.',
    ...rules(
      isWithinLimit('cpu', 'requests.cpu must not be more than limits.cpu'),
      isWithinLimit('memory', 'requests.memory must not be more than limits.memory'),
      isWithinLimit(
        'ephemeral__dash__storage',
        'requests.ephemeral-storage must not be more than limits.ephemeral-storage',
      ),
      {
        rule: `!has(self.limits) || !has(self.limits.memory) || quantity(self.limits.memory).compareTo(quantity('${MEMORY_LEAST}')) >= 0`,
        message: `limits.memory must be at least ${MEMORY_LEAST}, the minimum of a runner`,
      },
    ),
  });

const runners = z
  .object({
    replicas: z
      .int()
      .min(1)
      .max(MOST_RUNNERS)
      .optional()
      .describe(
        'How many runners the project has, at most projectSettings.maxReplicas of the chart. Default: that of the installation.',
      ),
    autoscaling: autoscaling.optional(),
    sleepAfter: duration(
      'The time without work after which the runners sleep: the project has none until the next event. 0s: never. Default: that of the installation. It requires the engine Builtin, or no autoscaling.',
      DURATION_BOUNDS.sleepAfter,
    ).optional(),
    resources: resources.optional(),
    nodeSelector: nodeSelector
      .optional()
      .describe(
        'Labels that a node must have for runners, ticks and poll pods. projectSettings.nodeSelectorKeys of the chart must list their keys.',
      ),
    tolerations: tolerations
      .optional()
      .describe(
        'Taints of nodes that runners, ticks and poll pods tolerate. projectSettings.tolerationKeys of the chart must list their keys.',
      ),
    affinity: affinity.optional(),
    priorityClassName: objectName(
      'The PriorityClass of runners, ticks and poll pods. projectSettings.priorityClassNames of the chart must list it.',
    ).optional(),
    serviceAccountAnnotations: z
      .record(z.string(), z.string().max(2048))
      .optional()
      .describe(
        'Annotations of the service account windlass-runner, for example for a workload identity of a cloud. projectSettings.serviceAccountAnnotations of the chart must list their keys.',
      ),
  })
  .meta({
    description: 'The runners of the project, and the placement of its other pods.',
    ...rules(
      {
        rule: '!has(self.replicas) || !has(self.autoscaling)',
        message: 'replicas and autoscaling exclude each other',
      },
      {
        rule: "!has(self.sleepAfter) || !has(self.autoscaling) || self.autoscaling.engine == 'Builtin'",
        message: 'sleepAfter requires the engine Builtin, or no autoscaling',
      },
    ),
  });

const egress = z
  .object({
    allow: z.array(z.string().min(1).max(320)).max(64).optional().meta({
      description:
        'Destinations of steps in addition to those that the installation allows. Each entry must be the same text as an entry of projectSettings.egress.allow of the chart.',
      'x-kubernetes-list-type': 'set',
    }),
  })
  .describe('The destinations that steps may connect to.');

const otherwise = (value: string) => `Default ${value}.`;

const workflowDefaults = z
  .object({
    history: history(otherwise).optional(),
    timeout: duration(
      `How long a run may take, not counting the time that it waits. ${otherwise('1h')}`,
      DURATION_BOUNDS.runTimeout,
    ).optional(),
  })
  .describe('Defaults for workflows of the project that leave these fields out.');

export const projectSettingsSpec = z
  .object({
    runners: runners.optional(),
    egress: egress.optional(),
    workflowDefaults: workflowDefaults.optional(),
  })
  .describe('Settings of this project. The defaults are the values of the installation.');

export const projectSettingsStatus = z
  .object({
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The generation of the spec that the status describes.'),
    replicas: z
      .int()
      .min(0)
      .optional()
      .describe(
        'The number of runners: that of the settings if the installation allows it, otherwise that of the installation. With autoscaling: the current one. 0 while the runners sleep.',
      ),
    conditions: conditions('Ready; Stalled, while the settings or the installation must change.')
      .max(8)
      .default([
        {
          type: 'Ready',
          status: 'Unknown',
          reason: 'Pending',
          message: 'Waiting for the operator',
          lastTransitionTime: '1970-01-01T00:00:00Z',
        },
      ]),
  })
  .describe('The observed state of the settings. Written by the operator.');

export const projectSettingsRules = rules({
  rule: `self.metadata.name == '${SETTINGS_NAME}'`,
  message: `the ProjectSettings of a namespace must be named "${SETTINGS_NAME}"`,
});

export type ProjectSettingsSpec = z.infer<typeof projectSettingsSpec>;
export type ProjectSettingsStatus = z.infer<typeof projectSettingsStatus>;
