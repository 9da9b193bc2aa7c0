/** Where pods may run: node selector, tolerations and affinity, as Kubernetes has them. */
import * as z from 'zod';
import { rules } from './value.ts';

const strings = (description: string) => z.record(z.string(), z.string().max(253)).describe(description);

const list = <T extends z.ZodType>(item: T, description: string, most = 32) =>
  z.array(item).min(1).max(most).meta({ description, 'x-kubernetes-list-type': 'atomic' });

const names = (description: string) => list(z.string().max(253), description);

export const nodeSelector = strings('Labels that a node must have.');

const toleration = z
  .object({
    key: z.string().max(317).optional().describe('The key of the taint. Left out: all taints.'),
    operator: z
      .enum(['Exists', 'Equal'])
      .optional()
      .describe('How the value of the taint is compared. Exists: any value. Default Equal.'),
    value: z.string().max(63).optional().describe('The value of the taint, with the operator Equal.'),
    effect: z
      .enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'])
      .optional()
      .describe('The effect of the taint. Left out: all effects.'),
    tolerationSeconds: z
      .int()
      .min(0)
      .optional()
      .describe('With the effect NoExecute: how many seconds a pod stays. Left out: for ever.'),
  })
  .meta({
    description: 'A taint that pods tolerate.',
    ...rules(
      {
        rule: "(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')",
        message: 'a toleration without a key tolerates all taints and needs the operator Exists',
      },
      {
        rule: "!has(self.operator) || self.operator != 'Exists' || !has(self.value)",
        message: 'a toleration with the operator Exists has no value',
      },
      {
        rule: "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        message: 'tolerationSeconds needs the effect NoExecute',
      },
    ),
  });

export const tolerations = list(toleration, 'Taints that pods tolerate.');

const nodeRequirement = z
  .object({
    key: z.string().min(1).max(317).describe('The label, or the field.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'])
      .describe('How the key is compared with the values.'),
    values: names('Values to compare with.').optional(),
  })
  .describe('A condition.');

const nodeSelectorTerm = z
  .object({
    matchExpressions: list(nodeRequirement, 'Conditions on labels of the node.').optional(),
    matchFields: list(nodeRequirement, 'Conditions on fields of the node.').optional(),
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
    key: z.string().min(1).max(317).describe('The label.'),
    operator: z
      .enum(['In', 'NotIn', 'Exists', 'DoesNotExist'])
      .describe('How the key is compared with the values.'),
    values: names('Values to compare with.').optional(),
  })
  .describe('A condition.');

const labelSelector = (description: string) =>
  z
    .object({
      matchLabels: strings('Labels with their values.').optional(),
      matchExpressions: list(labelRequirement, 'Conditions on labels.').optional(),
    })
    .describe(description);

const podAffinityTerm = z
  .object({
    topologyKey: z.string().min(1).max(317).describe('The node label that defines the topology domain.'),
    labelSelector: labelSelector('Selects the pods.').optional(),
    namespaces: names('The namespaces of these pods. Default: the namespace of the project.').optional(),
    namespaceSelector: labelSelector('Selects further namespaces of these pods.').optional(),
  })
  .describe('Pods, and the topology domain in which they are looked for.');

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
