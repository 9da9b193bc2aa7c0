/** What of a draft a model is sent: no test data of triggers, which are events, unless outputs are sent. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { triggerKind } from '../model/testData.ts';

/** The nodes as they are sent. Test data of a sensitive trigger is never sent, as its output is not. */
export function sentNodes(
  nodes: readonly WorkflowNode[],
  { sendsOutputs }: { sendsOutputs: boolean },
): WorkflowNode[] {
  return nodes.map((node) => (sendsOutputs && node.sensitive !== true ? node : withoutTestData(node)));
}

/** The proposal with the test data that the model could not know: that of the draft. */
export function withTestDataOf(draft: WorkflowSpec, proposal: WorkflowSpec): WorkflowSpec {
  const nodes = proposal.nodes.map((node) => {
    const kind = triggerKind(node);
    const testData = draft.nodes.find(({ id }) => id === node.id)?.[kind]?.testData;
    const isToKeep = testData !== undefined && node[kind] !== undefined && node[kind].testData === undefined;
    return isToKeep ? { ...node, [kind]: { ...node[kind], testData } } : node;
  });
  return { ...proposal, nodes };
}

function withoutTestData(node: WorkflowNode): WorkflowNode {
  const kind = triggerKind(node);
  if (node[kind]?.testData === undefined) return node;
  const { testData: _testData, ...rest } = node[kind];
  return { ...node, [kind]: rest };
}
