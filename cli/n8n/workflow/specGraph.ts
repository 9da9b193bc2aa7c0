/** The nodes and edges of a Workflow that a conversion makes. */
import type { WorkflowEdge, WorkflowNode } from '../../../api/workflow.ts';
import type { Items } from '../steps/items.ts';

/** The nodes in their order, and at most one edge for each pair of them. */
export class SpecGraph {
  readonly #newId: (wanted: string) => string;
  readonly #nodes: WorkflowNode[] = [];
  readonly #edges = new Map<string, WorkflowEdge>();

  /** `newId` gives an ID that no node has. */
  constructor(newId: (wanted: string) => string) {
    this.#newId = newId;
  }

  get nodes(): readonly WorkflowNode[] {
    return this.#nodes;
  }

  get edges(): WorkflowEdge[] {
    return [...this.#edges.values()];
  }

  push(...nodes: WorkflowNode[]): void {
    this.#nodes.push(...nodes);
  }

  /** Adds a node behind the others of its body, or behind all. */
  append(node: WorkflowNode): void {
    const { within } = node;
    const last = this.#nodes.findLastIndex((each) => within === undefined || each.within === within);
    this.#nodes.splice(last + 1, 0, node);
  }

  /** Sets the edge of a pair, in place of the one that it has. */
  setEdge(edge: WorkflowEdge): void {
    this.#edges.set(`${edge.from} ${edge.to}`, edge);
  }

  /** A node that n8n never reaches, as its connections leave outputs that do not exist, never runs. */
  closeEntry(entry: string, within: string | undefined): void {
    const first = this.#nodes.find((node) => node.within === within);
    if (first && first.id !== entry) this.setEdge({ from: first.id, to: entry, when: 'false' });
  }

  /** One edge connects two nodes: conditions are joined, an edge after a failure gets its own node. */
  connect({ node, when, after }: Items, to: string): void {
    const key = `${node} ${to}`;
    const known = this.#edges.get(key);
    if (!known) {
      this.#edges.set(key, { from: node, to, ...(when !== undefined && { when }), ...(after && { after }) });
      return;
    }
    if (known.after !== after) {
      this.#connectBoth(known, {
        from: node,
        to,
        ...(when !== undefined && { when }),
        ...(after && { after }),
      });
      return;
    }
    const { when: other, ...edge } = known;
    if (other === when) return;
    const both = when === undefined || other === undefined ? undefined : `(${other}) || (${when})`;
    this.#edges.set(key, { ...edge, ...(both !== undefined && both.length <= 4096 && { when: both }) });
  }

  /** Two edges of one pair, one of them after a failure: that one leads through a node of its own. */
  #connectBoth(known: WorkflowEdge, other: WorkflowEdge): void {
    const [success, failure] = known.after ? [other, known] : [known, other];
    const { from, to } = success;
    const failed = this.#newId(`${from}_failed`);
    const target = this.#nodes.findIndex(({ id }) => id === to);
    const { within } = this.#nodes[target] ?? {};
    this.#nodes.splice(target, 0, {
      id: failed,
      ...(within !== undefined && { within }),
      skill: { name: 'set', parameters: { values: { failed: true } } },
    });
    this.setEdge(success);
    this.setEdge({ ...failure, to: failed });
    this.setEdge({ from: failed, to });
  }
}
