/** Whether a run met the expectations of its case. Pure. */
import * as z from 'zod';
// Through `z` it would bring the messages of all languages into a bundle.
import { toDotPath } from 'zod/v4/core';
import { conditionReferences, evaluateCondition } from '../../api/cel.ts';
import { joinExact, rounded } from '../../api/exact/exactNumber.ts';
import { ExpressionError } from '../../api/expression/errors.ts';
import type { Scope } from '../../api/expression/scope.ts';
import type { WorkflowRun } from '../../api/kinds.ts';
import { parseAmount } from '../../api/money.ts';
import { isRecord } from '../../api/record.ts';
import type { NodeStatus } from '../../api/nodeStatus.ts';
import { compileExpectation, type EvaluationCase, type Expectation } from './cases.ts';

/** Characters of a text of a status. */
const SHOWN = 300;

/** An expectation that was not met. */
type Finding = { expectation: string; got: string };

/** What a run did, as far as results count it. */
export type Verdict = { findings: Finding[]; tokens: number; seconds: number; cost?: Cost };

/** `nano`: in billionths of the unit of the currency. */
type Cost = { nano: number; currency: string };

/** The verdict on a run that has ended. */
export function judge(given: Pick<EvaluationCase, 'phase' | 'expect'>, run: WorkflowRun): Verdict {
  const findings = [phaseFinding(given.phase, run), ...given.expect.map((each) => findingOf(each, run))];
  return {
    findings: findings.filter((finding) => finding !== undefined).map(short),
    tokens: tokensOf(run),
    seconds: secondsOf(run),
    ...costOf(run),
  };
}

/** The verdict on a run that cannot be judged. */
export function unjudged(got: string): Verdict {
  return { findings: [short({ expectation: 'a run', got })], tokens: 0, seconds: 0 };
}

function short({ expectation, got }: Finding): Finding {
  return { expectation: cut(expectation), got: cut(got) };
}

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN - 1).toWellFormed()}…`;
}

function phaseFinding(expected: EvaluationCase['phase'], { status }: WorkflowRun): Finding | undefined {
  const { phase = 'Pending', reason, message } = status ?? {};
  if (phase === expected) return undefined;
  const why = [reason, message].filter((text) => text !== undefined).join(': ');
  return { expectation: `phase: ${expected}`, got: why === '' ? phase : `${phase}: ${why}` };
}

function findingOf(expectation: Expectation, run: WorkflowRun): Finding | undefined {
  const { contains, schema, cel, tokensAtMost } = expectation;
  if (tokensAtMost !== undefined) {
    const got = tokensOf(run);
    return got <= tokensAtMost
      ? undefined
      : { expectation: `tokensAtMost: ${tokensAtMost}`, got: `${got} tokens` };
  }
  if (cel !== undefined) return celFinding(cel, run);
  const node = nodeOf(expectation, run);
  const what = contains === undefined ? 'schema' : `contains: ${contains}`;
  const named = expectation.of === undefined ? what : `${what} (of ${expectation.of})`;
  const missing = whyMissing(node, expectation.of);
  if (missing !== undefined) return { expectation: named, got: missing };
  const got = contains === undefined ? schemaProblem(schema ?? {}, node) : missingText(contains, node);
  return got === undefined ? undefined : { expectation: named, got };
}

/** The named node, or the last one with an output. */
function nodeOf({ of }: Expectation, { status }: WorkflowRun): NodeStatus | undefined {
  const nodes = status?.nodes ?? [];
  if (of !== undefined) return nodes.find(({ id }) => id === of);
  return nodes.findLast(({ phase, output, redacted }) => phase === 'Succeeded' && (output || redacted));
}

/** Why the output of the node is not in the record; undefined if it is. */
function whyMissing(node: NodeStatus | undefined, of: string | undefined): string | undefined {
  if (!node) return of === undefined ? 'no node has an output' : `node ${of} did not run`;
  const { id, phase, reason, message, redacted, truncated, output } = node;
  if (redacted) return `the record withholds the output of node ${id} (recordData, sensitive)`;
  if (truncated) return `the output of node ${id} is too large for the record`;
  if (output) return undefined;
  return `node ${id} is ${phase}${reason === undefined ? '' : `: ${reason}: ${message ?? ''}`}`;
}

function missingText(text: string, node: NodeStatus | undefined): string | undefined {
  const { text_content = '', data_content } = node?.output ?? {};
  const data = data_content === null || data_content === undefined ? '' : JSON.stringify(data_content);
  return text_content.includes(text) || data.includes(text) ? undefined : text_content || data;
}

/** Of an agent the structured answer is checked, of another node its data. */
function schemaProblem(schema: Record<string, unknown>, node: NodeStatus | undefined): string | undefined {
  const data = node?.output?.data_content;
  const value = isRecord(data) && data['json'] !== undefined && data['json'] !== null ? data['json'] : data;
  const fit = z.fromJSONSchema(schema).safeParse(rounded(value ?? null));
  if (fit.success) return undefined;
  const [issue] = fit.error.issues;
  const place = issue ? toDotPath(issue.path) : '';
  return `${place === '' ? 'the value' : place}: ${issue?.message}; it is ${JSON.stringify(value ?? null)}`;
}

function celFinding(cel: string, run: WorkflowRun): Finding | undefined {
  const expectation = `cel: ${cel}`;
  const nodes = run.status?.nodes ?? [];
  const condition = compileExpectation(cel);
  const lost = conditionReferences(condition)
    .map((id) => nodes.find((node) => node.id === id))
    .find((node) => node?.redacted || node?.truncated);
  if (lost) return { expectation, got: whyMissing(lost, lost.id) ?? '' };
  try {
    return evaluateCondition(condition, scopeOf(run)) ? undefined : { expectation, got: 'false' };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { expectation, got: error.message };
  }
}

/** What CEL reads of a run: outputs and errors of its nodes, and the parameters of mocked ones. */
function scopeOf({ metadata, spec, status }: WorkflowRun): Scope {
  const nodes = new Map((status?.nodes ?? []).map((node) => [node.id, readable(node)]));
  return {
    node: (id) => nodes.get(id),
    run: {
      id: metadata.name,
      workflow: spec.workflow,
      project: metadata.namespace ?? '',
      accepted: status?.acceptedTime ?? '',
      localTime: status?.acceptedTime ?? '',
      timeZone: 'UTC',
      test: spec.test === true,
    },
  };
}

function readable({ phase, output, mocked, reason = '', message = '' }: NodeStatus) {
  const parameters = mocked?.parameters === undefined ? {} : { parameters: mocked.parameters };
  if (phase === 'Skipped' || phase === 'Pending') return undefined;
  if (!output) return { error: { reason, message }, ...parameters };
  const { text_content = '', data_content = null, exact } = output;
  return { text_content, data_content: joinExact(data_content, exact), ...parameters };
}

/** The cost of the run, if the price table has a price for a model that it asked. */
function costOf({ status }: WorkflowRun): Pick<Verdict, 'cost'> {
  const { cost = '', currency } = status?.usage ?? {};
  const nano = parseAmount(cost);
  return nano === undefined || currency === undefined ? {} : { cost: { nano, currency } };
}

function tokensOf({ status }: WorkflowRun): number {
  return (status?.nodes ?? []).reduce(
    (sum, { usage }) => sum + (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
    0,
  );
}

function secondsOf({ status }: WorkflowRun): number {
  const { startTime, completionTime } = status ?? {};
  if (startTime === undefined || completionTime === undefined) return 0;
  return Math.max(0, Date.parse(completionTime) - Date.parse(startTime)) / 1_000;
}
