/** What of a draft a model is sent: test data of triggers, which are events, only with outputs. Pure. */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';

/** The nodes as they are sent. Test data of a sensitive trigger is never sent, as its output is not. */
export function sentNodes(
  nodes: readonly WorkflowNode[],
  { sendsOutputs }: { sendsOutputs: boolean },
): WorkflowNode[] {
  return nodes.map((node) =>
    sendsOutputs && node.sensitive !== true
      ? node
      : changed(node, ({ testData: _testData, ...trigger }) => trigger),
  );
}

/** The proposal with the test data that was not sent: the model could not know that of the draft. */
export function withTestDataOf(
  draft: WorkflowSpec,
  proposal: WorkflowSpec,
  { sendsOutputs }: { sendsOutputs: boolean },
): WorkflowSpec {
  const nodes = proposal.nodes.map((node) => {
    const before = draft.nodes.find(({ id }) => id === node.id);
    if (sendsOutputs && before?.sensitive !== true) return node;
    return changed(node, (part, kind) => {
      const was: unknown = before?.[kind];
      const testData = isRecord(was) ? was['testData'] : undefined;
      return testData === undefined || 'testData' in part ? part : { ...part, testData };
    });
  });
  return { ...proposal, nodes };
}

/** The node with other parts: the objects that say what it does. Triggers alone have test data. */
function changed(
  node: WorkflowNode,
  change: (part: Record<string, unknown>, kind: keyof WorkflowNode) => object,
): WorkflowNode {
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => [
    name,
    isRecord(value) ? change(value, name as keyof WorkflowNode) : value,
  ]);
  return Object.fromEntries(entries) as WorkflowNode;
}
