/**
 * The placement of pods: node selector, tolerations and affinity of Kubernetes, without fields that reach
 * beyond the project (names of nodes, pods of other namespaces).
 */
import * as z from 'zod';
import { rules } from './value.ts';

const labelValue = z
  .string()
  .max(63)
  .regex(/^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/);

const labelKey = z
  .string()
  .min(1)
  .max(317)
  .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/);

const labels = (description: string) => z.record(z.string(), labelValue).describe(description);

const list = <T extends z.ZodType>(item: T, description: string, most = 32) =>
  z.array(item).min(1).max(most).meta({ description, 'x-kubernetes-list-type': 'atomic' });

const values = (description: string) => list(labelValue, description);

export const nodeSelector = labels('Labels that a node must have.');

const toleration = z
  .object({
    key: labelKey
      .optional()
      .describe(
        'The key of the taint. projectSettings.tolerationKeys of the chart must list it. Left out: all taints, which no installation allows.',
      ),
    operator: z
      .enum(['Exists', 'Equal'])
      .optional()
      .describe('How the value of the taint is compared. Exists: any value. Default Equal.'),
    value: labelValue.optional().describe('The value of the taint, with the operator Equal.'),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .optional()
      .describe('The effect of the taint. Left out: all effects.'),
    tolerationSeconds: z
      .int()
      .min(0)
      .optional()
      .describe('With the effect NoExecute: how many seconds a pod stays. Left out: forever.'),
  })
  .meta({
    description: 'A taint that pods tolerate.',
    ...rules(
      {
        rule: "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
        message: 'a toleration without key must have the operator Exists',
      },
      {
        rule: "!has(self.operator) || self.operator != 'Exists' || !has(self.value)",
        message: 'a toleration with the operator Exists must not have a value',
      },
      {
        rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        message: 'tolerationSeconds requires the effect NoExecute',
      },
    ),
  });

export const tolerations = list(toleration, 'Taints that pods tolerate.');

const nodeRequirement = z
  .object({
    key: labelKey.describe('The label. projectSettings.nodeSelectorKeys of the chart must list it.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'])
      .describe('How the key is compared with the values.'),
    values: values('Values to compare with.').optional(),
  })
  .describe('A condition.');

const nodeSelectorTerm = z
  .object({
    matchExpressions: list(nodeRequirement, 'Conditions on labels of the node.').optional(),
  })
  .describe('Conditions, all of which must be met.');

const weight = z.int().min(1).max(100).describe('Weight of the preference, 1 to 100.');

const nodeAffinity = z
  .object({
    requiredDuringSchedulingIgnoredDuringExecution: z
      .object({ nodeSelectorTerms: list(nodeSelectorTerm, 'Terms, one of which must be met.') })
      .optional()
      .describe('Rules that a node must meet.'),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      z.object({ weight, preference: nodeSelectorTerm }).describe('A preference.'),
      'Nodes that are preferred.',
    ).optional(),
  })
  .describe('Node affinity of runners, ticks and poll pods.');

const labelRequirement = z
  .object({
    key: labelKey.describe('The label.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe('How the key is compared with the values.'),
    values: values('Values to compare with.').optional(),
  })
  .describe('A condition.');

const labelSelector = (description: string) =>
  z
    .object({
      matchLabels: labels('Labels with their values.').optional(),
      matchExpressions: list(labelRequirement, 'Conditions on labels.').optional(),
    })
    .describe(description);

const podAffinityTerm = z
  .object({
    topologyKey: labelKey.describe('The node label that defines the topology domain.'),
    labelSelector: labelSelector('Selects pods of the namespace of the project.').optional(),
  })
  .describe('A set of pods, and a topology domain.');

const podAffinity = (description: string) =>
  z
    .object({
      requiredDuringSchedulingIgnoredDuringExecution: list(
        podAffinityTerm,
        'Rules that must be met to schedule the pod.',
      ).optional(),
      preferredDuringSchedulingIgnoredDuringExecution: list(
        z.object({ weight, podAffinityTerm }).describe('A preference.'),
        'Rules that are preferred.',
      ).optional(),
    })
    .describe(description);

export const affinity = z
  .object({
    nodeAffinity: nodeAffinity.optional(),
    podAffinity: podAffinity('Pods that runners are scheduled with.').optional(),
    podAntiAffinity: podAffinity(
      'Pods that runners are not scheduled with. Default: runners of the project are preferably on different nodes.',
    ).optional(),
  })
  .describe(
    'Scheduling rules. nodeAffinity applies to runners, ticks and poll pods; podAffinity and podAntiAffinity to runners only.',
  );
