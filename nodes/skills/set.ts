/**
 * Skill `set`: computes named values in CEL from the outputs of other nodes. It has no effect outside the
 * run.
 */
import * as z from 'zod';
import type { StepResult } from '../contract/node.ts';
import type { SkillDefinition } from '../contract/skill.ts';
import { isRecord } from '../../api/record.ts';

const isStructure = (value: unknown) =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

const parameters = z.strictObject({
  values: z
    .unknown()
    .refine(isStructure, 'must be an expression in CEL, or an object of names and expressions')
    .meta({
      type: 'object',
      description:
        'Names, and for each an expression in CEL such as nodes.trigger.data_content.price * 2.0; text needs quotes of its own: "Hello". ' +
        'Objects and lists may be nested. A single expression in place of the object makes its value the whole output.',
    }),
});

export const set: SkillDefinition<{ values?: unknown }> = {
  name: 'set',
  description: 'Computes values from what other nodes produced, for the nodes after it.',
  parameters,
  credentials: [],
  notAsTool: 'its values are expressions, which only an author writes',
  effect: 'None',
  execute: async ({ values }) => setResult(values),
};

/** The output that has the evaluated values as its data. */
export function setResult(values: unknown): StepResult {
  return { output: { text_content: textOf(values), data_content: values ?? null } };
}

function textOf(values: unknown): string {
  if (typeof values === 'string') return values;
  return isRecord(values) ? `Set ${Object.keys(values).join(', ') || 'nothing'}.` : 'Set the value.';
}
