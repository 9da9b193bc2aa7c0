/** Adds the chosen node at its place and opens its panel. */
import { addInside } from '../model/grouping.ts';
import { addNode, insertOnEdge, type Draft } from '../model/model.ts';
import { newNode, type Choice, type Known, type NewPlace } from '../canvas/newNode.ts';
import type { EditorStore, PickerPlace } from '../store/store.ts';

type Context = { known: readonly Known[]; outputs: NonNullable<NewPlace['outputs']> };

export function insertNode(
  store: EditorStore,
  place: PickerPlace,
  choice: Choice,
  { known, outputs }: Context,
): void {
  const { draft } = store.get();
  const node = newNode(draft, choice, known, {
    after: place.kind === 'after' ? place.node : place.kind === 'between' ? place.edge.from : undefined,
    inside: place.kind === 'inside' ? place.group : undefined,
    outputs,
  });
  store.apply((before) => placed(before, place, node));
  store.openNewNode(node.id);
}

function placed(draft: Draft, place: PickerPlace, node: ReturnType<typeof newNode>): Draft {
  switch (place.kind) {
    case 'after':
      return addNode(draft, node, place.node, place.position);
    case 'between':
      return insertOnEdge(draft, place.edge, node);
    case 'inside':
      return addInside(draft, node, place.group);
    case 'trigger':
      return addNode(draft, node);
  }
}
