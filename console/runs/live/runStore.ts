/**
 * The run that is shown: followed once however many components show it, and kept for a while after the last of them has gone. On the
 * canvas that is the run which the address names (`?run=`). Text that models write is not in here, but in `LiveText.tsx`.
 */
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { isTerminal } from '../../../api/phase.ts';
import { followRun, NOT_FOLLOWED, type Followed, type Follower, type RunAt } from './follow.ts';
import { lastOutputsQuery, type NodeOutputs } from './lastOutputs.ts';
import type { LiveTexts } from './liveText.ts';
import type { NodeView, RunHead } from './runState.ts';

/** How the run on the canvas is. `run` is undefined where no run is shown, or nothing is known of it yet. */
export type RunShown = {
  run?: RunHead & { name: string };
  /** By id. Nodes that nothing is known of yet are not in it: in a run that goes on, they wait. */
  nodes: ReadonlyMap<string, NodeView>;
  connection: Followed['connection'];
};

const KEPT_MS = 30_000;

type Held = { follower: Follower; users: number; timer?: ReturnType<typeof setTimeout> };

const held = new Map<string, Held>();

function hold(key: string, at: RunAt): () => void {
  const known = held.get(key) ?? { follower: followRun(at), users: 0 };
  clearTimeout(known.timer);
  known.users += 1;
  held.set(key, known);
  return () => {
    known.users -= 1;
    if (known.users > 0) return;
    known.timer = setTimeout(() => {
      held.delete(key);
      known.follower.stop();
    }, KEPT_MS);
  };
}

/** Follows the run for as long as the component is there. Without one nothing is followed. */
export function useFollowed(at: RunAt | undefined): Followed {
  const key = at === undefined ? '' : `${at.namespace}/${at.workflow}/${at.run}`;
  const subscribe = useCallback(
    (listener: () => void) => {
      if (at === undefined) return () => {};
      const release = hold(key, at);
      const unsubscribe = held.get(key)?.follower.subscribe(listener);
      return () => {
        unsubscribe?.();
        release();
      };
    },
    [key],
  );
  return useSyncExternalStore(subscribe, () => held.get(key)?.follower.get() ?? NOT_FOLLOWED);
}

/** The texts of a run that is followed somewhere. */
export function textsOf(at: RunAt): LiveTexts | undefined {
  return held.get(`${at.namespace}/${at.workflow}/${at.run}`)?.follower.texts;
}

/** Which run is on the canvas, as the address says. */
export function useShownRun(): RunAt | undefined {
  const { project, workflow } = useParams({ strict: false });
  const { run } = useSearch({ strict: false });
  return useMemo(
    () =>
      project === undefined || workflow === undefined || run === undefined
        ? undefined
        : { namespace: project, workflow, run },
    [project, workflow, run],
  );
}

/** The run on the canvas. */
export function useRunView(): RunShown {
  const at = useShownRun();
  const { run, nodes, connection } = useFollowed(at);
  return useMemo(
    () => ({ ...(at && run && { run: { ...run, name: run.run } }), nodes, connection }),
    [at, run, nodes, connection],
  );
}

/** By node: what it produced in the run on the canvas, or else in the newest run in which it produced something. */
export function useLastOutputs(): ReadonlyMap<string, NodeOutputs> {
  const { project = '', workflow = '' } = useParams({ strict: false });
  const { run, nodes } = useRunView();
  const { data: before } = useQuery(
    lastOutputsQuery(project, workflow, isTerminal(run?.phase) ? (run?.run ?? '') : ''),
  );
  return useMemo(() => {
    const outputs = new Map(before ?? []);
    for (const [id, { output }] of nodes) if (output !== undefined) outputs.set(id, output);
    return outputs;
  }, [before, nodes]);
}
