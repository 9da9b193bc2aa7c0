import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  checkGraph,
  edgesOf,
  type GraphEdge,
  type GraphNode,
  type Graph,
  graphOf,
  nextSteps,
  type NextSteps,
  predecessors,
} from './graph.ts';
import type { NodePhase } from './phase.ts';

/** `t*` is the trigger, `a!` has onError: Continue, `a-` is disabled. */
function nodesOf(ids: string): GraphNode[] {
  return ids.split(' ').map((written) => ({
    id: written.replace(/[*!-]$/, ''),
    trigger: written.endsWith('*'),
    ...(written.endsWith('!') ? { onError: 'Continue' as const } : {}),
    ...(written.endsWith('-') ? { disabled: true } : {}),
  }));
}

/** `a>b` after success, `a~b` after failure, `a>b?yes` with the condition `yes`. */
function edgesIn(list: string): GraphEdge[] {
  return list.split(' ').map((written) => {
    const [, from = '', arrow, to = '', when] = /^(\w+)([>~])(\w+)(?:\?(\w+))?$/.exec(written) ?? [];
    return { from, to, ...(arrow === '~' ? { after: 'Failure' as const } : {}), ...(when ? { when } : {}) };
  });
}

function stepsFor(nodes: string, edges: string | undefined, phases: Record<string, NodePhase>): NextSteps {
  const graph = graphOf(nodesOf(nodes), edges === undefined ? undefined : edgesIn(edges));
  return nextSteps(graph, new Map(Object.entries(phases)), (edge) => edge.when === 'yes');
}

const due = (...ready: string[]): NextSteps => ({ ready, skipped: [], finished: false });
const DIAMOND = 't>a t>b a>c b>c';

type Case = [
  rule: string,
  nodes: string,
  edges: string | undefined,
  phases: Record<string, NodePhase>,
  steps: NextSteps,
];

const CASES: Case[] = [
  [
    'a disabled node that is reached is passed over, and what follows waits for that',
    't* a- b',
    undefined,
    {},
    { ...due(), disabled: ['a'] },
  ],
  ['what follows a disabled node that was reached starts', 't* a- b', undefined, { a: 'Skipped' }, due('b')],
  [
    'what follows two disabled nodes starts',
    't* a- b- c',
    undefined,
    { a: 'Skipped', b: 'Skipped' },
    due('c'),
  ],
  [
    'the condition of an edge from a disabled node decides',
    't* a- b c',
    't>a a>b?yes a>c?no',
    { a: 'Skipped' },
    { ready: ['b'], skipped: ['c'], finished: false },
  ],
  [
    'an edge after failure of a disabled node is not taken',
    't* a- b',
    't>a a~b',
    { a: 'Skipped' },
    { ready: [], skipped: ['b'], finished: true },
  ],
  [
    'what follows a disabled node that was not reached is skipped',
    't* a- b',
    't>a?no a>b',
    { a: 'Skipped' },
    { ready: [], skipped: ['b'], finished: true },
  ],
  [
    'a disabled node that no edge reaches is skipped',
    't* a- b',
    't>a?no a>b',
    {},
    { ready: [], skipped: ['a', 'b'], finished: true },
  ],
  [
    'a failure that leads to a disabled node is handled',
    't* a b- c',
    't>a a~b b>c',
    { a: 'Failed' },
    { ...due(), disabled: ['b'] },
  ],
  ['without edges the nodes are a chain', 't* a b', undefined, {}, due('a')],
  ['a chain goes on when a node has succeeded', 't* a b', undefined, { a: 'Succeeded' }, due('b')],
  ['nothing is due while a node runs', 't* a b', undefined, { a: 'Running' }, due()],
  ['nothing is due while a node waits to be tried again', 't* a b', undefined, { a: 'Waiting' }, due()],
  [
    'a chain whose nodes have all ended is finished',
    't* a',
    undefined,
    { a: 'Succeeded' },
    { ready: [], skipped: [], finished: true },
  ],
  ['a trigger alone is finished', 't*', undefined, {}, { ready: [], skipped: [], finished: true }],
  ['independent branches start together', 't* a b c', DIAMOND, {}, due('a', 'b')],
  [
    'a node waits until every edge into it is settled',
    't* a b c',
    DIAMOND,
    { a: 'Succeeded', b: 'Running' },
    due(),
  ],
  [
    'a node starts when one of its edges is taken',
    't* a b c',
    DIAMOND,
    { a: 'Succeeded', b: 'Skipped' },
    due('c'),
  ],
  ['a condition that holds takes the edge', 't* a b', 't>a?yes t>b?no', {}, { ...due('a'), skipped: ['b'] }],
  [
    'a condition that does not hold skips the node and all that only it leads to',
    't* a b c d',
    't>a?no a>b b>c t>d',
    {},
    { ready: ['d'], skipped: ['a', 'b', 'c'], finished: false },
  ],
  [
    'a workflow whose nodes are all skipped is finished',
    't* a b',
    't>a?no a>b',
    {},
    { ready: [], skipped: ['a', 'b'], finished: true },
  ],
  [
    'a skipped branch does not keep the node where branches meet',
    't* a b c',
    't>a?no t>b a>c b>c',
    { b: 'Succeeded' },
    { ready: ['c'], skipped: ['a'], finished: false },
  ],
  [
    'a node without edges into it is skipped',
    't* a b',
    't>a',
    {},
    { ready: ['a'], skipped: ['b'], finished: false },
  ],
  [
    'after a success the edges for failure are not taken',
    't* a ok bad',
    't>a a>ok a~bad',
    { a: 'Succeeded' },
    { ready: ['ok'], skipped: ['bad'], finished: false },
  ],
  [
    'an edge for failure handles the failure and is the only one taken',
    't* a ok bad',
    't>a a>ok a~bad',
    { a: 'Failed' },
    { ready: ['bad'], skipped: ['ok'], finished: false },
  ],
  [
    'an edge for failure whose condition does not hold handles nothing',
    't* a bad',
    't>a a~bad?no',
    { a: 'Failed' },
    { ready: [], skipped: ['bad'], finished: true, failed: 'a' },
  ],
  [
    'with onError: Continue both the edges for success and those for failure are taken',
    't* a! ok bad',
    't>a a>ok a~bad',
    { a: 'Failed' },
    due('ok', 'bad'),
  ],
  [
    'with onError: Continue a last node that failed does not fail the run',
    't* a!',
    undefined,
    { a: 'Failed' },
    { ready: [], skipped: [], finished: true },
  ],
  [
    'a failure that nothing handles fails the run, and what has not started is skipped',
    't* a b c',
    't>a t>b b>c',
    { a: 'Failed', b: 'Succeeded' },
    { ready: [], skipped: ['c'], finished: true, failed: 'a' },
  ],
  [
    'a run that has failed is finished when what still runs has ended',
    't* a b c',
    't>a t>b b>c',
    { a: 'Failed', b: 'Running' },
    { ready: [], skipped: ['c'], finished: false, failed: 'a' },
  ],
  [
    'an unknown effect fails the run, whatever handles failures',
    't* a! b',
    't>a a~b',
    { a: 'Unknown' },
    { ready: [], skipped: ['b'], finished: true, failed: 'a' },
  ],
  [
    'a cancelled node fails the run',
    't* a b',
    undefined,
    { a: 'Cancelled' },
    { ready: [], skipped: ['b'], finished: true, failed: 'a' },
  ],
  [
    'the first failed node in the order of the list is named',
    't* a b',
    't>a t>b',
    { a: 'Failed', b: 'Failed' },
    { ready: [], skipped: [], finished: true, failed: 'a' },
  ],
];

test.each(CASES)('%s', (_, nodes, edges, phases, steps) => {
  expect(stepsFor(nodes, edges, phases)).toEqual(steps);
});

test('a condition is asked only when its source has ended, and only for edges that could be taken', () => {
  const graph = graphOf(nodesOf('t* a b c d'), edgesIn('t>a a>b?x a~c?x t>d'));
  const asked: string[] = [];
  const ask = (phases: Record<string, NodePhase>) =>
    nextSteps(graph, new Map(Object.entries(phases)), (edge) => asked.push(edge.to) > 0);
  ask({ a: 'Running', d: 'Succeeded' });
  expect(asked).toEqual([]);
  ask({ a: 'Succeeded', d: 'Running' });
  expect(asked).toEqual(['b']);
});

test('what a condition throws passes through', () => {
  const graph = graphOf(nodesOf('t* a'), edgesIn('t>a?x'));
  const broken = () => {
    throw new Error('no such key');
  };
  expect(() => nextSteps(graph, new Map(), broken)).toThrow('no such key');
});

const someGraph = fc.integer({ min: 1, max: 12 }).chain((size) => {
  const pairs = Array.from({ length: size }, (_, to) =>
    Array.from({ length: to }, (_, from) => [from, to] as const),
  ).flat();
  const edge = ([from, to]: readonly [number, number]) =>
    fc.record({
      from: fc.constant(`n${from}`),
      to: fc.constant(`n${to}`),
      after: fc.constantFrom('Success' as const, 'Failure' as const),
      when: fc.constantFrom(undefined, 'yes', 'no'),
    });
  return fc.record({
    nodes: fc.tuple(...Array.from({ length: size }, (_, index) => nodeAt(index))),
    edges: fc.subarray(pairs).chain((some) => fc.tuple(...some.map(edge))),
    ends: fc.array(fc.constantFrom<NodePhase>('Succeeded', 'Succeeded', 'Failed', 'Unknown'), {
      minLength: size,
      maxLength: size,
    }),
  });
});

function nodeAt(index: number): fc.Arbitrary<GraphNode> {
  const onError = fc.constantFrom('Fail' as const, 'Continue' as const);
  return onError.map((policy) => ({ id: `n${index}`, trigger: index === 0, onError: policy }));
}

/** Executes the graph in rounds; returns the phases. `isDone`: nodes that succeed, whatever `ends` says. */
function playOut(
  graph: Graph,
  ends: readonly NodePhase[],
  isDone: (id: string) => boolean,
): { phases: Map<string, NodePhase>; failed: string | undefined } {
  const phases = new Map<string, NodePhase>();
  for (let round = 0; ; round += 1) {
    const steps = nextSteps(graph, phases, (edge) => edge.when === 'yes');
    for (const id of [...steps.skipped, ...(steps.disabled ?? [])]) phases.set(id, 'Skipped');
    if (steps.finished) return { phases, failed: steps.failed };
    for (const id of steps.ready)
      phases.set(id, isDone(id) ? 'Succeeded' : (ends[Number(id.slice(1))] ?? 'Succeeded'));
    expect(round).toBeLessThan(2 * graph.nodes.length);
  }
}

test('the nodes that are not disabled end as if the disabled ones had succeeded at once', () => {
  const someDisabled = fc.array(fc.boolean(), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(someGraph, someDisabled, ({ nodes, edges, ends }, flags) => {
      const isOff = (id: string) => id !== 'n0' && flags[Number(id.slice(1))] === true;
      const off = nodes.map((node) => (isOff(node.id) ? { ...node, disabled: true } : node));
      const { phases, failed } = playOut(graphOf(off, edges), ends, () => false);
      const executed = playOut(graphOf(nodes, edges), ends, isOff);
      expect(failed).toBe(executed.failed);
      for (const { id } of nodes)
        expect([id, phases.get(id)]).toEqual([id, isOff(id) ? 'Skipped' : executed.phases.get(id)]);
    }),
    { numRuns: 500 },
  );
});

test('every run ends: in each round something starts or is skipped, and each node starts at most once', () => {
  fc.assert(
    fc.property(someGraph, ({ nodes, edges, ends }) => {
      expect(checkGraph(nodes, edges)).toEqual([]);
      const graph = graphOf(nodes, edges);
      const phases = new Map<string, NodePhase>();
      const started = new Set<string>();
      let steps = nextSteps(graph, phases, (edge) => edge.when === 'yes');
      for (let round = 0; !steps.finished && round <= nodes.length; round += 1) {
        for (const id of steps.skipped) phases.set(id, 'Skipped');
        for (const id of steps.ready) {
          expect(started.has(id)).toBe(false);
          started.add(id);
          phases.set(id, ends[Number(id.slice(1))] ?? 'Succeeded');
        }
        steps = nextSteps(graph, phases, (edge) => edge.when === 'yes');
      }
      for (const id of steps.skipped) phases.set(id, 'Skipped');
      expect(steps.finished).toBe(true);
      expect(phases.size).toBe(nodes.length - 1);
    }),
  );
});

test('the predecessors of a node are all nodes from which a way leads to it', () => {
  const graph = graphOf(nodesOf('t* a b c d e'), edgesIn('t>a a>b t>c b>d c>d t>e'));
  expect([...predecessors(graph, 'd')].toSorted()).toEqual(['a', 'b', 'c', 't']);
  expect([...predecessors(graph, 'e')]).toEqual(['t']);
  expect([...predecessors(graph, 't')]).toEqual([]);
  expect([...predecessors(graph, 'nowhere')]).toEqual([]);
});

test('edges that are given are kept, even when there are none', () => {
  expect(edgesOf(nodesOf('t* a'), [])).toEqual([]);
  expect(edgesOf(nodesOf('t* a b'))).toEqual([
    { from: 't', to: 'a' },
    { from: 'a', to: 'b' },
  ]);
});

type Problem = [wrong: string, nodes: string, edges: string | undefined, path: string, message: RegExp];

const PROBLEMS: Problem[] = [
  ['no trigger', 'a b', 'a>b', 'spec.nodes', /exactly one trigger, this one has 0/],
  ['two triggers', 't* u* a', 't>a', 'spec.nodes', /exactly one trigger, this one has 2/],
  ['a duplicate id', 't* a a', undefined, 'spec.nodes[2].id', /has the same ID 'a'/],
  ['an id with a dash', 't* a-b', undefined, 'spec.nodes[1].id', /letters, digits and _/],
  ['an id that begins with a digit', 't* 1a', undefined, 'spec.nodes[1].id', /must begin with a letter/],
  ['an edge from nowhere', 't* a', 'x>a', 'spec.edges[0].from', /node 'x' does not exist/],
  ['an edge to nowhere', 't* a', 't>a t>x', 'spec.edges[1].to', /node 'x' does not exist/],
  ['an edge into the trigger', 't* a', 't>a a>t', 'spec.edges[1].to', /no edge may lead into the trigger/],
  ['a backward edge', 't* a b', 't>a b>a', 'spec.edges[1]', /must point forward/],
  ['an edge to itself', 't* a', 't>a a>a', 'spec.edges[1]', /must point forward/],
  ['two edges for one pair', 't* a', 't>a t~a', 'spec.edges[1]', /same two nodes/],
  ['a chain that does not begin with the trigger', 'a t*', undefined, 'spec.nodes', /must be the first node/],
];

test.each(PROBLEMS)('%s is a problem, and the only one', (_, nodes, edges, path, message) => {
  const problems = checkGraph(nodesOf(nodes), edges === undefined ? undefined : edgesIn(edges));
  expect(problems.map((problem) => problem.path)).toEqual([path]);
  expect(problems[0]?.message).toMatch(message);
});

test('100 nodes and 300 edges are sound, more are not', () => {
  const nodes = nodesOf(['t*', ...Array.from({ length: 99 }, (_, index) => `n${index}`)].join(' '));
  const edges = nodes.flatMap((from, index) =>
    nodes.slice(index + 1, index + 4).map((to) => ({ from: from.id, to: to.id })),
  );
  expect(checkGraph(nodes, edges)).toEqual([]);
  expect(checkGraph([...nodes, { id: 'more', trigger: false }], edges)).toMatchObject([
    { path: 'spec.nodes' },
  ]);
  const many = nodes.flatMap((from, index) =>
    nodes.slice(index + 1, index + 5).map((to) => ({ from: from.id, to: to.id })),
  );
  expect(checkGraph(nodes, many)).toMatchObject([{ path: 'spec.edges' }]);
  expect(checkGraph([])).toMatchObject([{ path: 'spec.nodes' }, { path: 'spec.nodes' }]);
});
