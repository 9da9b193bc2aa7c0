/** Schemas that several kinds share: free JSON, references to Secrets, outputs of nodes, conditions. */
import * as z from 'zod';
import { EXACT_LIMIT } from './exact/exactNumber.ts';

/** Any JSON value: the CRD keeps it unchanged and checks nothing inside. */
export const json = (description: string) =>
  z.unknown().optional().meta({ description, 'x-kubernetes-preserve-unknown-fields': true });

/** Any JSON object. */
export const jsonObject = (description: string) =>
  z.record(z.string(), z.unknown()).meta({
    description,
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    'x-windlass-free': true,
  });

/** A CEL rule of the API server, with its message for people. */
export type Rule = { rule: string; message: string; messageExpression?: string; fieldPath?: string };

/** The metadata that adds CEL rules to a schema. */
export const rules = (...list: Rule[]) => ({ 'x-kubernetes-validations': list });

/** A name of an object in the same namespace. */
export const objectName = (description: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
    .describe(description);

/** A key of a Secret in the same namespace. */
export const secretKeyRef = (description: string) =>
  z
    .object({
      name: objectName('Name of the Secret, in the same namespace.'),
      key: z
        .string()
        .min(1)
        .max(253)
        .regex(/^[-._a-zA-Z0-9]+$/)
        .describe('Key inside the Secret.'),
    })
    .describe(description);

export type SecretKeyRef = z.infer<ReturnType<typeof secretKeyRef>>;

export const host = (description: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .regex(/^[^\s/@]+$/)
    .describe(description);
export const port = (description: string) => z.int().min(1).max(65_535).describe(description);
export const url = (description: string) =>
  z
    .string()
    .min(1)
    .max(2048)
    .regex(/^https?:\/\/[^\s]+$/)
    .describe(description);

/** The numbers of an output that the API server rounds. */
export const exactDigits = z
  .record(z.string(), z.string().min(1).max(EXACT_LIMIT))
  .optional()
  .describe(
    'The digits of the numbers that the API server rounds, such as integers beyond 2^53, by JSON pointer: /data_content/order/id.',
  );

/** The output of a node. */
export const output = z
  .object({
    text_content: z.string().optional().describe('The output as text.'),
    data_content: json('The output as data: any JSON value.').meta({ nullable: true }),
  })
  .meta({ description: 'The output of the node.', 'x-kubernetes-map-type': 'atomic' });

/** The output of a node in a record. */
export const recordedOutput = output.extend({ exact: exactDigits }).meta(output.meta() ?? {});

/** The output of a node in memory: both members are required. */
export type NodeOutput = { text_content: string; data_content: unknown };

const condition = z.object({
  type: z.string().max(316).describe('The type of the condition.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('The status of the condition.'),
  reason: z.string().max(1024).describe('Why the condition has this status, as a code for programs.'),
  message: z.string().max(32_768).describe('Why the condition has this status and what to do, for people.'),
  observedGeneration: z
    .int()
    .min(0)
    .optional()
    .describe('The generation of the spec that the condition describes.'),
  lastTransitionTime: z.iso.datetime().describe('When the status last changed.'),
});

export const conditions = (description: string) =>
  z
    .array(condition)
    .meta({ description, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });

export const time = (description: string) => z.iso.datetime().describe(description);
