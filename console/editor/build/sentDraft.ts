/** What of a draft a model is sent: the nodes, and on request test data and outputs, marked as data. Pure. */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { isTrigger, nodeKind } from '../../workflows/kinds.ts';
import { inOrderOf } from './inOrderOf.ts';

/** Outputs of earlier runs by the ID of their node. */
export type SentOutputs = ReadonlyMap<
  string,
  { text_content?: unknown; data_content?: unknown; error?: unknown }
>;

/** The longest output that is sent, and all of them together, in characters. */
const OUTPUT_LENGTH = 4_000;
const OUTPUTS_LENGTH = 60_000;

/** The nodes as they are sent. */
export function sentNodes(nodes: readonly WorkflowNode[]): WorkflowNode[] {
  return nodes.map((node) => withPart(node, ({ testData: _testData, ...trigger }) => trigger));
}

/**
 * The part of a request that is marked as data: test data and outputs of these nodes. Sensitive ones are left
 * out: the runs before they were marked have their outputs. Long data is cut, and what is beyond the limit of
 * all is left out.
 */
export function sentData(nodes: readonly WorkflowNode[], outputs: SentOutputs | undefined): string[] {
  if (outputs === undefined) return [];
  const shown = nodes.filter(({ sensitive }) => sensitive !== true);
  const data: [string, unknown][] = [
    ...shown.flatMap((node): [string, unknown][] => {
      const testData = testDataOf(node);
      return testData === undefined ? [] : [[`${node.id}, test data`, testData]];
    }),
    ...[...outputs].flatMap(([id, { error, text_content, data_content }]): [string, unknown][] =>
      shown.some((node) => node.id === id) ? [[id, { text_content, data_content, error }]] : [],
    ),
  ];
  if (data.length === 0) return [];
  let left = OUTPUTS_LENGTH;
  const lines = data.flatMap(([name, value]) => {
    const text = JSON.stringify(value).slice(0, OUTPUT_LENGTH);
    left -= text.length;
    // No data can end the part that is marked as data.
    return left < 0 ? [] : [`${name}: ${text.replaceAll('<', '\\u003c')}`];
  });
  return [`<outputs>\n${lines.join('\n')}\n</outputs>`];
}

/**
 * The proposal with the test data of the draft, of which the model was sent a copy at most. `null` removes
 * it, and test data of the proposal replaces it.
 */
export function withTestDataOf(draft: WorkflowSpec, proposal: WorkflowSpec): WorkflowSpec {
  const before = draft.nodes.find(isTrigger);
  const nodes = proposal.nodes.map((node) => {
    // Test data of another kind of trigger has another form.
    const kept = before && nodeKind(before) === nodeKind(node) ? testDataOf(before) : undefined;
    return withPart(node, (part) => {
      const { testData = kept, ...rest } = part;
      return testData === null || testData === undefined ? rest : { ...rest, testData };
    });
  });
  return inOrderOf(draft, { ...proposal, nodes }) as WorkflowSpec;
}

function testDataOf(node: WorkflowNode): unknown {
  const kind = isTrigger(node) ? nodeKind(node) : undefined;
  const trigger: unknown = kind && node[kind];
  return isRecord(trigger) ? trigger['testData'] : undefined;
}

/** A trigger with another part that says what it does. Steps have no test data. */
function withPart(node: WorkflowNode, change: (part: Record<string, unknown>) => object): WorkflowNode {
  const kind = isTrigger(node) ? nodeKind(node) : undefined;
  const part: unknown = kind && node[kind];
  return kind !== undefined && isRecord(part) ? { ...node, [kind]: change(part) } : node;
}
