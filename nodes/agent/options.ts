/** Members of `options` that a step cannot have, each with a remedy. Pure. */

const FIELDS = 'use the fields of the step';
const ONE_ANSWER = 'an agent uses one answer: remove it';

/** What to do in place of members of `options` that the step sets itself, or that it cannot use. */
const RESERVED: Readonly<Record<string, string>> = {
  messages: FIELDS,
  model: FIELDS,
  stream: FIELDS,
  system: FIELDS,
  tools: FIELDS,
  stream_options: 'the step sets it to count the tokens: remove it',
  n: ONE_ANSWER,
  best_of: ONE_ANSWER,
};

/** What can never be sent of `options`; undefined: nothing. For the check of a workflow before it runs. */
export function optionsProblem(options: Record<string, unknown>): string | undefined {
  return refusedOptions(options, RESERVED, 'cannot be set here');
}

/** What to do in place of members of `options` that let a request use more than was reserved for it. */
const UNBOUNDED_OPTIONS: Readonly<Record<string, string>> = {
  max_tokens: 'set maxTokens',
  max_completion_tokens: 'set maxTokens',
  models: 'set fallback, whose models have prices of their own',
};

/** What the options of an agent with a budget cannot have; undefined: nothing. */
export function budgetOptionsProblem(options: Record<string, unknown> = {}): string | undefined {
  return refusedOptions(options, UNBOUNDED_OPTIONS, 'cannot be set under a budget');
}

/** The refused members of `options` with their remedies; undefined: none. `remedies`: by member. */
function refusedOptions(
  options: Record<string, unknown>,
  remedies: Readonly<Record<string, string>>,
  why: string,
): string | undefined {
  const found = Object.keys(remedies).filter((name) => Object.hasOwn(options, name));
  if (found.length === 0) return undefined;
  const todo = new Set(found.map((name) => remedies[name]));
  return `options: ${found.join(', ')} ${why}: ${[...todo].join('; ')}`;
}
