/** The problems of a proposal as its readers know the nodes: the model is told their places instead. Pure. */
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { identifiedName } from '../../workflows/kinds.ts';

const PATH = /^nodes\[(\d+)\]\.(.+) is not a field of a workflow\.$/;
const NODE = /^([A-Za-z]\w*)( → ([A-Za-z]\w*))?: /;

/** The problem with the display name of its node: "Send the mail (mail) has no field skill.cc." */
export function problemText(problem: string, { nodes }: Pick<WorkflowSpec, 'nodes'>): string {
  const [, index, field = ''] = PATH.exec(problem) ?? [];
  const node = index === undefined ? undefined : nodes[Number(index)];
  if (node !== undefined) return `${identifiedName(node)} has no field ${field}.`;
  const named = (id = '') => {
    const found = nodes.find((each) => each.id === id);
    return found === undefined ? id : identifiedName(found);
  };
  return problem.replace(NODE, (_place, from: string, arrow: string | undefined, to: string) =>
    arrow === undefined ? `${named(from)}: ` : `${named(from)} → ${named(to)}: `,
  );
}
