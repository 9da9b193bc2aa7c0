/**
 * Skill `remove_duplicates`: passes the items whose key no earlier run of the workflow has passed at this
 * node. Its keys are remembered together with its output, so that a repeated attempt passes the same items.
 */
import * as z from 'zod';
import { durationProblem, parseDuration } from '../../api/duration.ts';
import { ExactNumber, identityOfNumber } from '../../api/exact/exactNumber.ts';
import { ExpressionError } from '../../api/expression/errors.ts';
import { parseTemplate } from '../../api/expression/parse.ts';
import type { Reference } from '../../api/expression/reference.ts';
import { lookUp } from '../../api/expression/scope.ts';
import { StepError } from '../../api/reasons.ts';
import { isRecord } from '../../api/record.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import type { SkillDefinition } from '../contract/skill.ts';

/** Items of one step: their keys are compared and stored in one script of the run store. */
const MOST_ITEMS = 10_000;
const MOST_KEYS = 100_000;
const TTL = { default: '30d', least: '1m', most: '365d' } as const;

const parameters = z
  .strictObject({
    items: z
      .array(z.unknown(), 'must be a list')
      .max(MOST_ITEMS, `may have at most ${MOST_ITEMS} items`)
      .describe(`The items, at most ${MOST_ITEMS}.`),
    key: z
      .string('must be text')
      .max(1_024, 'may have at most 1024 characters')
      .superRefine((path, context) => {
        const problem = pathProblem(path);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      })
      .optional()
      .describe(
        'What tells items apart: the path of a member that every item has, such as id or customer.email. Default: the whole item.',
      ),
    ttl: z
      .string('must be text')
      .superRefine((text, context) => {
        const problem = durationProblem(text, TTL);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      })
      .default(TTL.default)
      .describe(
        `How long a key is remembered after it was last new: a duration from ${TTL.least} to ${TTL.most}. Default ${TTL.default}.`,
      ),
    limit: z
      .int('must be a whole number')
      .min(1)
      .max(MOST_KEYS)
      .default(MOST_KEYS)
      .describe(
        `How many keys of the node are remembered; beyond it those that expire first are forgotten. Default and at most ${MOST_KEYS}.`,
      ),
  })
  .refine(({ items, limit }) => items.length <= limit, {
    path: ['limit'],
    message: 'is less than the number of items: raise it',
  });

type Parameters = z.infer<typeof parameters>;

export const removeDuplicates: SkillDefinition<Parameters> = {
  name: 'remove_duplicates',
  description: 'Passes the items that no earlier run of the workflow has passed at this node.',
  parameters,
  credentials: [],
  notAsTool: 'it remembers what a node has passed, and a tool is no node',
  effect: 'AtLeastOnce',
  execute,
};

async function execute({ items, key, ttl, limit }: Parameters, context: StepContext): Promise<StepResult> {
  const path = key === undefined ? undefined : pathOf(key);
  const firsts = new Map<string, unknown>();
  for (const [index, item] of items.entries()) {
    const text = keyText(item, path, index);
    if (!firsts.has(text)) firsts.set(text, item);
  }
  const keys = [...firsts.keys()];
  const seen = keys.length === 0 ? [] : await context.isSeen(keys);
  const passed = [...firsts.entries()].filter((_, at) => !seen[at]);
  const data = {
    items: passed.map(([, item]) => item),
    count: passed.length,
    duplicates: items.length - passed.length,
  };
  return {
    output: { text_content: `${data.count} of ${items.length} items are new.`, data_content: data },
    ...(passed.length > 0 && {
      remember: { keys: passed.map(([text]) => text), ttlMs: parseDuration(ttl), limit },
    }),
  };
}

/** The key of an item as text: equal for equal values, whatever the order of their members. */
function keyText(item: unknown, path: Reference | undefined, index: number): string {
  const value = path === undefined ? item : lookUp(path, { node: () => undefined, item });
  if (value !== undefined && value !== null) return JSON.stringify(sorted(value));
  const what = value === null ? 'is null' : 'does not exist';
  const where = path === undefined ? `items[${index}]` : `the key of items[${index}]`;
  throw new StepError(
    'InvalidParameters',
    `${where} ${what}: name in key a member that every item has, or filter the items first`,
  );
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value instanceof ExactNumber) return new ExactNumber(identityOfNumber(value));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // A list, because objects order keys that are integers on their own.
  return { entries: entries.map(([name, member]) => [name, sorted(member)]) };
}

function pathProblem(path: string): string | undefined {
  try {
    pathOf(path);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return 'must be the path of a member, such as id, customer.email or lines[0].sku';
  }
}

/** The path as a reference to an item. Throws an ExpressionError for anything else. */
function pathOf(path: string): Reference {
  const [reference, ...rest] = parseTemplate(`{{ $item${path.startsWith('[') ? '' : '.'}${path} }}`).parts;
  if (typeof reference === 'object' && rest.length === 0 && reference.source === 'item') return reference;
  throw new ExpressionError('Syntax', 'not a path');
}
