/**
 * The shown run. Components share one follower per run, which stays for a while after the last of them. The
 * canvas shows the run of the URL (`?run=`). Live model text is in `LiveText.tsx` instead.
 */
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { isTerminal } from '../../../api/phase.ts';
import { useObject } from '../../kube/hooks.ts';
import { WORKFLOWS } from '../../kube/resources.ts';
import { followRun, NOT_FOLLOWED, type Followed, type Follower } from './follow.ts';
import { type RunAt } from './runAt.ts';
import { lastOutputsQuery } from './lastOutputs.ts';
import { lastResults, type LastResult } from './lastResults.ts';
import type { LiveTexts } from './liveText.ts';
import type { NodeView, RunHead } from './nodeView.ts';

/** The run on the canvas. `run` is undefined if no run is shown or none is loaded yet. */
export type RunShown = {
  run?: RunHead & { name: string };
  /** By ID. Nodes of an unfinished run that are missing here are waiting. */
  nodes: ReadonlyMap<string, NodeView>;
  /** The conversations of agents, as live events told them, by the ID of the node. */
  conversations: Followed['conversations'];
  connection: Followed['connection'];
};

const LINGER_MS = 30_000;

type SharedFollower = { follower: Follower; users: number; timer?: ReturnType<typeof setTimeout> };

const followers = new Map<string, SharedFollower>();

function acquire(key: string, at: RunAt): () => void {
  const known = followers.get(key) ?? { follower: followRun(at), users: 0 };
  clearTimeout(known.timer);
  known.users += 1;
  followers.set(key, known);
  return () => {
    known.users -= 1;
    if (known.users > 0) return;
    known.timer = setTimeout(() => {
      followers.delete(key);
      known.follower.stop();
    }, LINGER_MS);
  };
}

/** Follows the run while the component is mounted. Undefined: follows nothing. */
export function useFollowed(at: RunAt | undefined): Followed {
  const key = at === undefined ? '' : `${at.namespace}/${at.workflow}/${at.run}`;
  const subscribe = useCallback(
    (listener: () => void) => {
      if (at === undefined) return () => {};
      const release = acquire(key, at);
      const unsubscribe = followers.get(key)?.follower.subscribe(listener);
      return () => {
        unsubscribe?.();
        release();
      };
    },
    [key],
  );
  return useSyncExternalStore(subscribe, () => followers.get(key)?.follower.get() ?? NOT_FOLLOWED);
}

/** The live texts of a followed run. */
export function textsOf(at: RunAt): LiveTexts | undefined {
  return followers.get(`${at.namespace}/${at.workflow}/${at.run}`)?.follower.texts;
}

/** The run that the URL names. */
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

export function useRunView(): RunShown {
  const at = useShownRun();
  const { run, nodes, conversations, connection } = useFollowed(at);
  return useMemo(
    () => ({ ...(at && run && { run: { ...run, name: run.run } }), nodes, conversations, connection }),
    [at, run, nodes, conversations, connection],
  );
}

/** The result of each node in the run on the canvas, or in the newest runs that have one. */
export function useLastResults(): ReadonlyMap<string, LastResult> {
  const { project = '', workflow = '' } = useParams({ strict: false });
  const { run, nodes } = useRunView();
  const { data: object } = useObject(WORKFLOWS, project, workflow);
  const of = { namespace: project, workflow, revision: object?.status?.revision };
  const { data: before } = useQuery(lastOutputsQuery(of, isTerminal(run?.phase) ? (run?.run ?? '') : ''));
  return useMemo(() => lastResults([nodes.values()], before), [before, nodes]);
}
