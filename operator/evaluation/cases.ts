/** The cases of an Evaluation: reads them from YAML or JSON, and checks them against revisions. Pure. */
import { parse } from 'yaml';
import * as z from 'zod';
import { compileCondition, conditionReferences, type Condition } from '../../api/cel.ts';
import { ExpressionError } from '../../api/expression/errors.ts';
import { mock } from '../../api/mock.ts';
import { hasNode, type Revision } from '../../api/revision.ts';
import { outputSchemaProblem } from '../../nodes/agent/structured.ts';
import { testingProblem } from '../../nodes/mocks.ts';
import { VALUE_LIMIT_BYTES } from '../../runs/advance.ts';
import { problemOfCases } from './caseProblems.ts';

/** Cases of one Evaluation. */
const MOST_CASES = 200;
/** YAML takes long to parse, and longer than in proportion. */
const TEXT_LIMIT_KIB = 256;

/** Keywords of which a schema needs one: others, such as `required`, mean nothing without a type. */
const RESTRICTING = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'not'];

const nodeId = z.string().min(1).max(63);

const expectation = z
  .strictObject({
    contains: z.string().min(1).max(10_000).optional(),
    schema: z.record(z.string(), z.unknown()).optional(),
    cel: z.string().min(1).max(4_096).optional(),
    tokensAtMost: z.int().min(0).optional(),
    of: nodeId.optional(),
  })
  .refine(({ of: _of, ...kinds }) => Object.values(kinds).filter((kind) => kind !== undefined).length === 1, {
    error: 'must have exactly one of contains, schema, cel and tokensAtMost',
  });

const ofCase = mock
  .strict()
  .refine(
    ({ output, error, real }) =>
      [output, error, real || undefined].filter((is) => is !== undefined).length === 1,
    { error: 'must have exactly one of output, error and real: true' },
  );

const evaluationCase = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(63)
    .regex(/^[A-Za-z0-9]([-_.A-Za-z0-9]*[A-Za-z0-9])?$/),
  data: z.unknown().optional(),
  mocks: z.array(ofCase).max(64).default([]),
  phase: z.enum(['Succeeded', 'Failed']).default('Succeeded'),
  expect: z.array(expectation).max(20).default([]),
});

const caseList = z.array(evaluationCase).min(1).max(MOST_CASES);

export type Expectation = z.infer<typeof expectation>;
export type EvaluationCase = z.infer<typeof evaluationCase>;

/** A condition on the nodes of a run. Mocked ones have `parameters`. @throws ExpressionError */
export function compileExpectation(cel: string): Condition {
  return compileCondition(cel, { hasParameters: true });
}

export type ReadCases = { cases: EvaluationCase[] } | { problem: string };

/** The cases in a text, or what is wrong with it, as a sentence that begins with the place. */
export function readCases(text: string): ReadCases {
  const kib = Math.ceil(Buffer.byteLength(text) / 1_024);
  if (kib > TEXT_LIMIT_KIB)
    return { problem: `has ${kib} KiB, of which ${TEXT_LIMIT_KIB} are allowed: make several Evaluations` };
  let value: unknown;
  try {
    // Few aliases, so that a short text does not become a large value.
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    return { problem: `is neither YAML nor JSON: ${firstLine(error)}` };
  }
  if (isCyclic(value))
    return { problem: 'an alias refers to a value that contains it, which JSON cannot express' };
  if (Array.isArray(value) && value.length > MOST_CASES)
    return {
      problem: `has ${value.length} cases, of which ${MOST_CASES} are allowed: make several Evaluations`,
    };
  const read = caseList.safeParse(value);
  if (!read.success) return { problem: problemOfCases(read.error, value) };
  const names = read.data.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return { problem: `two cases are named ${twice}` };
  const large = read.data.find(({ data }) => isTooLarge(data));
  if (large === undefined) return { cases: read.data };
  const limit = VALUE_LIMIT_BYTES / 1_024;
  return {
    problem: `case ${large.name}: data is larger than ${limit} KiB, the limit of an input: pass less data`,
  };
}

/** An alias in the value that it stands for makes a value without an end. */
function isCyclic(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return false;
  } catch (error) {
    if (error instanceof TypeError) return true;
    throw error;
  }
}

/** Aliases can make more of a short text than a run can be created with. */
function isTooLarge(data: unknown): boolean {
  return data !== undefined && Buffer.byteLength(JSON.stringify(data)) > VALUE_LIMIT_BYTES;
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : 'it cannot be parsed';
}

/** Whether a run of a case may have an effect outside. */
export function haveRealMocks(cases: readonly EvaluationCase[]): boolean {
  return cases.some(({ mocks }) => mocks.some(({ real }) => real === true));
}

/** What is wrong with the cases for a revision; undefined: nothing. */
export function casesProblem(
  cases: readonly EvaluationCase[],
  workflow: string,
  revision: Revision,
): string | undefined {
  for (const { name, mocks, expect } of cases) {
    const problem = testingProblem({ mocks }, workflow, revision);
    if (problem !== undefined) return `case ${name}: ${problem.replace(/^spec\./, '').replace(/\.$/, '')}`;
    for (const [index, each] of expect.entries()) {
      const wrong = expectationProblem(each, revision);
      if (wrong !== undefined) return `case ${name}: expect[${index}]: ${wrong}`;
    }
  }
  return undefined;
}

function expectationProblem({ of, cel, schema }: Expectation, revision: Revision): string | undefined {
  if (of !== undefined && !hasNode(revision, of)) return `of: the workflow has no node ${of}`;
  const problem = schema && (outputSchemaProblem(schema) ?? emptySchema(schema));
  if (problem !== undefined) return problem.replace(/^outputSchema/, 'schema');
  return cel === undefined ? undefined : celProblem(cel, revision);
}

/** A schema that admits everything would pass whatever the run did. */
function emptySchema(schema: Record<string, unknown>): string | undefined {
  if (RESTRICTING.some((keyword) => keyword in schema)) return undefined;
  return `schema: without one of ${RESTRICTING.join(', ')} any value fits: add type`;
}

function celProblem(cel: string, revision: Revision): string | undefined {
  try {
    const unknown = conditionReferences(compileExpectation(cel)).find((id) => !hasNode(revision, id));
    return unknown === undefined ? undefined : `cel: the workflow has no node ${unknown}`;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return `cel: ${error.message}`;
  }
}
