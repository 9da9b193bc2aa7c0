/** The outputs that a test run is given in place of executing nodes, and how the dialog says so. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Mock } from '../../../api/mock.ts';
import { specUpTo } from '../../../api/upTo.ts';
import type { LastResult } from '../../runs/live/lastResults.ts';
import type { TestRunRequest } from '../../runs/live/runRequests.ts';
import { useLastResults } from '../../runs/live/runStore.ts';
import { nodeName } from '../../workflows/kinds.ts';
import type { Draft } from '../model/model.ts';
import { mocksBefore, mocksProblem, pinnedMocks, type Computing } from '../model/pins.ts';
import { useEditorPart } from '../store/store.ts';
import { computingQuery } from '../../forms/computing.ts';

export type Given = {
  /** Undefined: every node is executed. */
  mocks: readonly Mock[] | undefined;
  /** What the run leaves out, and why; empty: nothing. */
  notes: string[];
  /** Why the run cannot start. */
  problem: string | undefined;
};

/** What the requested test run is given; undefined while it is not known yet. */
export function useGiven({ until, isOnly = false }: NonNullable<TestRunRequest>): Given | undefined {
  const draft = useEditorPart((state) => state.draft);
  const last = useLastResults();
  const { data: computing } = useQuery(computingQuery);
  return useMemo(() => {
    if (computing === undefined) return undefined;
    return isOnly && until !== undefined
      ? givenBefore(draft, until, last, computing)
      : givenPins({ ...draft, spec: specUpTo(draft.spec, until) });
  }, [draft, last, computing, until, isOnly]);
}

function givenPins(draft: Draft): Given {
  const mocks = pinnedMocks(draft);
  const names = mocks?.map(({ node }) => `"${nodeName(node, draft.spec.nodes)}"`).join(', ');
  const notes = names === undefined ? [] : [`Replaced by pinned outputs: ${names}.`];
  return { mocks, notes, problem: mocksProblem(mocks ?? [], draft.spec.nodes) };
}

function givenBefore(
  draft: Draft,
  until: string,
  last: ReadonlyMap<string, LastResult>,
  computing: Computing,
): Given {
  const { nodes } = draft.spec;
  const { mocks, executed } = mocksBefore(draft, until, last, computing);
  const notes = [
    `Nodes before ${nodeName(until, nodes)} are not executed: their pinned outputs are used, or else those of their last run.`,
    ...(executed.length > 0
      ? [
          `Executed too, as there is no complete output: ${executed.map((id) => nodeName(id, nodes)).join(', ')}.`,
        ]
      : []),
  ];
  return { mocks, notes, problem: mocksProblem(mocks, nodes) };
}
