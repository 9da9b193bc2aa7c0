/**
 * Pinned outputs: test runs use them in place of executing their nodes. Stored in the draft, never published.
 * Pure.
 */
import { withoutDisabled } from '../../../api/disabled.ts';
import type { Mock } from '../../../api/mock.ts';
import { MOCK_LIMIT_BYTES, MOCKS_LIMIT_BYTES, MOST_MOCKS } from '../../../api/mockLimits.ts';
import { isRecord } from '../../../api/record.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { outputOf, type LastResult } from '../../runs/live/lastResults.ts';
import { isTrigger, nodeName } from '../../workflows/kinds.ts';
import { isTooDeep } from './displayProblem.ts';
import type { Draft } from './model.ts';
import { pinOf, withPin, type Pin, type Pins } from './pin.ts';
import { scopesOf, visibilityOfDraft } from './scopes.ts';

/** The skills that only compute: a test run executes them unless they are pinned. */
export type Computing = ReadonlySet<string>;

/** Whether the output of the step can be pinned: other nodes may read it. */
export function isPinnable({ agent, code, wait, workflow, skill }: WorkflowNode): boolean {
  return [agent, code, wait, workflow, skill].some((kind) => kind !== undefined);
}

/** Whether a test run can do without the step: it contacts another system, or takes its time. */
function isSpared(node: WorkflowNode, computing: Computing): boolean {
  return isPinnable(node) && !(node.skill !== undefined && computing.has(node.skill.name));
}

/** What stands in place of the pin of a node that cannot have one; undefined: it can have one. */
export function unpinnableNote(node: WorkflowNode): string | undefined {
  if (node.response !== undefined) return 'A response has no output of its own: pin the nodes that it reads.';
  if (node.fail !== undefined) return 'It ends the run and has no output to pin.';
  if (node.group === undefined) return undefined;
  return 'You cannot pin the output of a group. Pin the output of its last node.';
}

/** The draft with the pins of another one: of what is published, which has none. */
export function withPinsOf(draft: Draft, { pins }: Draft): Draft {
  return pins === undefined ? draft : { ...draft, pins };
}

/** The pins of the nodes that the draft has. */
export function keptPins({ spec, pins = {} }: Draft): Pins | undefined {
  const ids = new Set(spec.nodes.map(({ id }) => id));
  const kept = Object.entries(pins).filter(([id]) => ids.has(id));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** The last outputs of nodes, with pins in place of those of pinned nodes: what a test run would read. */
export function withPinnedOutputs(
  last: ReadonlyMap<string, LastResult>,
  { pins }: Pick<Draft, 'pins'>,
): ReadonlyMap<string, LastResult> {
  return pins === undefined ? last : new Map<string, LastResult>([...last, ...Object.entries(pins)]);
}

/** Pins that were stored. Invalid entries are ignored. */
export function readPins(value: unknown): Pins | undefined {
  if (!isRecord(value)) return undefined;
  const read = Object.entries(value).flatMap(([id, pin]) => {
    const output = readOutput(pin);
    return output === undefined ? [] : [[id, output] as const];
  });
  return read.length === 0 ? undefined : Object.fromEntries(read);
}

function readOutput(value: unknown): Pin | undefined {
  if (!isRecord(value)) return undefined;
  const { text_content = '', data_content = null, ...others } = value;
  const isOutput = typeof text_content === 'string' && Object.keys(others).length === 0;
  if (!isOutput || isTooDeep(data_content)) return undefined;
  return { text_content, data_content };
}

/** Parses a typed output. */
export function readPin(text: string): { pin: Pin } | { message: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { message: `Invalid JSON: ${error instanceof Error ? error.message : ''}.` };
  }
  const pin = readOutput(value);
  return pin === undefined
    ? { message: 'An output is an object with text_content, a string, and data_content, any JSON value.' }
    : { pin };
}

/** Why no test run can be given these outputs of these nodes; undefined if one can. */
export function mocksProblem(
  mocks: readonly Mock[],
  nodes: readonly WorkflowNode[] = [],
): string | undefined {
  if (mocks.length > MOST_MOCKS)
    return `A test run can be given the outputs of ${MOST_MOCKS} nodes, not of ${mocks.length}. Unpin some, or run an earlier node.`;
  const large = mocks.find((mock) => bytesOf(mock) > MOCK_LIMIT_BYTES);
  if (large !== undefined)
    return `An output that a test run is given can have ${kib(MOCK_LIMIT_BYTES)}, and that of ${nodeName(large.node, nodes)} has ${kib(bytesOf(large))}. Pin a shorter one.`;
  const bytes = bytesOf(mocks);
  if (bytes <= MOCKS_LIMIT_BYTES) return undefined;
  return `A test run can be given outputs of ${kib(MOCKS_LIMIT_BYTES)} together, and these have ${kib(bytes)}. Unpin a node, or pin a shorter output.`;
}

function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

function kib(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}

/** Why this pin cannot be added; undefined if it can. */
export function pinProblem(draft: Draft, id: string, pin: Pin): string | undefined {
  return allPinsProblem(withPin(draft, id, pin));
}

/** Why test runs cannot have the pins of the draft; undefined if they can. */
export function allPinsProblem(draft: Draft): string | undefined {
  return mocksProblem(mocksOf(Object.entries(keptPins(draft) ?? {})), draft.spec.nodes);
}

/**
 * What a test run of the draft has for its pins; undefined without pins: all nodes are executed. Pins of
 * steps that are disabled, or in a disabled group, wait until these are enabled.
 */
export function pinnedMocks(draft: Draft): Mock[] | undefined {
  const byId = new Map(withoutDisabled(draft.spec).nodes.map((node) => [node.id, node]));
  const usable = Object.entries(keptPins(draft) ?? {}).filter(([id]) => {
    const node = byId.get(id);
    return node !== undefined && !node.disabled && isPinnable(node);
  });
  return usable.length === 0 ? undefined : mocksOf(usable);
}

function mocksOf(pins: readonly (readonly [string, Pin])[]): Mock[] {
  return pins.map(([node, output]) => ({ node, output }));
}

type Recorded = { id: string; output?: Partial<Pin> | undefined; truncated?: boolean | undefined };

/**
 * The draft with the outputs of a run pinned. `skipped`: nodes whose outputs the record does not have whole.
 */
export function withRunPinned(
  draft: Draft,
  recorded: readonly Recorded[],
  computing: Computing,
): { draft: Draft; pinned: string[]; skipped: string[] } {
  const byId = new Map(recorded.map((node) => [node.id, node]));
  const result = { draft, pinned: [] as string[], skipped: [] as string[] };
  for (const node of draft.spec.nodes) {
    const { output, truncated } = byId.get(node.id) ?? {};
    if (output === undefined || !(isTrigger(node) || isSpared(node, computing))) continue;
    if (truncated) {
      result.skipped.push(node.id);
      continue;
    }
    const { text_content = '', data_content = null } = output;
    result.draft = withPin(result.draft, node.id, { text_content, data_content });
    result.pinned.push(node.id);
  }
  return result;
}

/** What a test run of one node has in place of the nodes before it. */
export type Before = {
  mocks: Mock[];
  /** Nodes that have neither a pin nor a complete output of an earlier run, and so are executed too. */
  executed: string[];
};

/** The outputs of all nodes before this one: their pins, or else their last complete outputs. */
export function mocksBefore(
  draft: Draft,
  id: string,
  last: ReadonlyMap<string, LastResult>,
  computing: Computing,
): Before {
  const isGiven = (node: WorkflowNode) =>
    isSpared(node, computing) || (isPinnable(node) && !node.disabled && pinOf(draft, node.id) !== undefined);
  const given = nodesBefore(draft.spec, id)
    .filter(isGiven)
    .map((node) => ({ id: node.id, pin: pinOf(draft, node.id) ?? lastPin(last.get(node.id)) }));
  return {
    mocks: mocksOf(given.flatMap(({ id: node, pin }) => (pin === undefined ? [] : [[node, pin] as const]))),
    executed: given.flatMap(({ id: node, pin }) => (pin === undefined ? [node] : [])),
  };
}

/**
 * The nodes that a run up to this one executes before it, with those in bodies of groups. A disabled one is a
 * step that does nothing.
 */
function nodesBefore(spec: WorkflowSpec, id: string): WorkflowNode[] {
  const before = new Set(visibilityOfDraft(spec).before(id));
  const { around } = scopesOf(spec.nodes);
  return withoutDisabled(spec).nodes.filter(
    (node) => before.has(node.id) || around(node.id).some((group) => before.has(group)),
  );
}

/** The last output as a pin; undefined if there is none, or it was cut in the record. */
export function lastPin(last: LastResult | undefined): Pin | undefined {
  const { text_content = '', data_content = null } = outputOf(last) ?? {};
  if (outputOf(last) === undefined || last?.truncated === true) return undefined;
  return { text_content, data_content };
}
