/** The draft of a trigger: where the data that n8n would have is in its event. */
import type { WorkflowNode } from '../../../api/workflow.ts';
import type { Draft, Items } from '../steps/items.ts';
import type { PathStep } from '../expressions/expression.ts';
import type { NodeContext } from '../steps/context.ts';
import { printPath } from '../expressions/value.ts';

/** A member of n8n's item, and the reference to it. */
export type Field = [path: readonly PathStep[], reference: string];

type Event = {
  trigger: Partial<WorkflowNode>;
  list: string;
  fields?: Field[];
  isList?: boolean;
  isMany?: boolean;
};

export function draftOf(
  context: NodeContext,
  { trigger, list, fields = [], isList = false, isMany = false }: Event,
): Draft {
  const { id } = context;
  const single = (path: readonly PathStep[]): string | undefined => {
    const found = fields.find(
      ([start]) =>
        start.every((step, at) => path[at] === step) && (start.length === path.length || isDeep(start)),
    );
    return found && printPath(`$('${id}')${found[1]}`, path.slice(found[0].length));
  };
  const isDeep = (start: readonly PathStep[]) =>
    fields.some(([path, reference]) => path === start && reference.startsWith('.data_content'));
  const output: Items = {
    node: id,
    list,
    ...(isList ? {} : { single }),
    lineage: isList && isMany ? id : '',
  };
  return { nodes: [{ id, ...trigger }], edges: [], entry: id, outputs: [output] };
}
