/** Code node: gives the sandbox the values that the source names, and makes an output of what it returns. */
import { boundedDuration, DURATION_BOUNDS } from '../../api/duration.ts';
import type { Scope } from '../../api/expression/scope.ts';
import { parseJson } from '../../api/json.ts';
import { StepError } from '../../api/reasons.ts';
import type { CodeStep } from '../../api/step.ts';
import type { StepContext, StepResult } from '../contract/node.ts';
import { namesOfNodes } from './source.ts';

const DEFAULT_TIMEOUT = '5s';
const DEFAULT_MEMORY_MIB = 64;
const MIB = 1024 * 1024;
/** The share of the memory limit that the texts of the values may have. */
const INPUT_SHARE = 8;

/** Bounds a returned value as the gateway bounds the body of an event; its size is bounded before. */
const OUTPUT_LIMITS = { maxDepth: 64, maxKeys: 100_000, maxTokens: 500_000 };

/** The values that a source can read. */
export type CodeInput = { nodes: Record<string, unknown>; values: Record<string, unknown> };

/** Finds the values that the source names. Nodes that did not run are left out. */
export function compileInput({ source }: CodeStep): (scope: Scope) => CodeInput {
  const names = namesOfNodes(source);
  return ({ node, previous, ...values }) => ({
    nodes: Object.fromEntries(
      names.flatMap((id): [string, unknown][] => {
        const output = node(id);
        return output === undefined ? [] : [[id, output]];
      }),
    ),
    values: { ...values, previous: previous === undefined ? undefined : node(previous) },
  });
}

/**
 * Executes the code, with the acceptance time of the event as its clock and random numbers that are the same
 * for each repetition of the attempt.
 * @throws StepError with the log
 */
export async function executeCode(
  { source, timeout = DEFAULT_TIMEOUT, memoryMiB = DEFAULT_MEMORY_MIB }: CodeStep,
  { nodes, values }: CodeInput,
  { run, sandbox, effectKey, signal }: StepContext,
): Promise<StepResult> {
  if (!sandbox)
    throw new StepError(
      'CodeDisabled',
      'this installation does not execute code (chart value runner.code.enabled): compute the value with the skill set',
    );
  const given = {
    nodes: textsOf(nodes),
    values: textsOf({
      run: {
        id: run.name,
        workflow: run.workflow,
        ...(run.project !== undefined && { project: run.project }),
        accepted: new Date(run.acceptedAt).toISOString(),
        test: run.test,
      },
      ...values,
    }),
  };
  checkSize(given.nodes, memoryMiB);
  const { log, ...outcome } = await sandbox.execute(
    {
      source,
      ...given,
      clockMs: run.acceptedAt,
      seed: effectKey,
      timeoutMs: boundedDuration(timeout, DURATION_BOUNDS.codeTimeout),
      memoryMiB,
    },
    signal,
  );
  if ('failure' in outcome) throw new StepError(outcome.failure.reason, outcome.failure.message, { log });
  const parsed = parseJson(outcome.json, OUTPUT_LIMITS);
  if (!parsed.ok)
    throw new StepError('InvalidOutput', `the code returned JSON that is refused: ${parsed.message}`, {
      log,
    });
  const { value } = parsed;
  const text = typeof value === 'string' ? value : '';
  return { output: { text_content: text, data_content: value }, ...(log !== '' && { log }) };
}

function textsOf(values: Record<string, unknown>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]): [string, string][] => {
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? [] : [[name, text]];
  });
}

function checkSize(nodes: [string, string][], memoryMiB: number): void {
  const size = nodes.reduce((sum, [, text]) => sum + text.length, 0);
  const limit = (memoryMiB * MIB) / INPUT_SHARE;
  if (size <= limit) return;
  const [largest = ''] = nodes.toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  throw new StepError(
    'CodeInputTooLarge',
    `the outputs that the code names have ${Math.ceil(size / 1024)} KiB, and at most ${limit / 1024} KiB are passed: name fewer nodes (${largest} is the largest), or raise code.memoryMiB`,
  );
}
