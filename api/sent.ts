/** What a record shows of a step: what it sent, and what a reference without a value found. */
import * as z from 'zod';
import { FOUND_TYPES, LONGEST_KEY, LONGEST_REFERENCE, MOST_KEYS } from './expression/found.ts';
import { json } from './value.ts';

export const sent = z
  .object({
    parameters: json(
      'The parameters of a skill, the fields of an agent, or the input of a child run, with references replaced by their values. Secrets are masked.',
    ),
    truncated: z
      .boolean()
      .optional()
      .describe('Whether texts are cut or members left out, because the parameters exceed 8 KiB.'),
  })
  .meta({
    description:
      'What the step sent, if its parameters have references: at most 64 KiB for all nodes of a run. It may be missing after a crash of the runner.',
    'x-kubernetes-map-type': 'atomic',
  });

export const missing = z
  .object({
    reference: z.string().max(LONGEST_REFERENCE).describe('The reference without a value.'),
    at: z.string().max(LONGEST_REFERENCE).describe('Its deepest part that exists.'),
    type: z.enum(FOUND_TYPES).describe('The type of the value there.'),
    size: z.int().min(0).optional().describe('How many members the object, or elements the array, has.'),
    keys: z
      .array(z.string().max(LONGEST_KEY))
      .max(MOST_KEYS)
      .optional()
      .meta({
        description: `The keys of the object: the first ${MOST_KEYS}, cut to ${LONGEST_KEY} characters.`,
        'x-kubernetes-list-type': 'atomic',
      }),
  })
  .describe('Of a node that failed with MissingValue: what exists where the reference ends.');
