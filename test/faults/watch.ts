/**
 * Sees every phase of every WorkflowRun of a project over the whole time, and objects of other kinds, with a
 * list-watch of its own that shares nothing with the product's. It goes on from where a watch ended; where
 * the API server no longer knows that, it says that there is a gap.
 */
import { createInterface } from 'node:readline';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { kubeconfigConnection, type KubeConnection } from '../../kube/config.ts';
import { ask } from './api.ts';
import { eventIn } from './effects.ts';
import type { NodeSighting, RunHistory } from './evidence.ts';

/** Who watches a kind knows what else its objects have. */
export type WatchedObject = { metadata: { resourceVersion: string } };

type RunObject = {
  metadata: { name: string; uid: string; resourceVersion: string };
  spec: { workflow: string; input?: unknown; trigger?: { key?: string } };
  status?: { phase?: string; nodes?: RecordedNode[] };
};

type RecordedNode = { id: string; phase: string; attempts?: number; completionTime?: string };

type WatchEvent = { type: string; object: WatchedObject & { code?: number } };

type Seen = RunHistory & { nodes: NodeSighting[] };

export type Following = {
  /** How often the history has a gap, in which a phase may have come and gone unseen. */
  gaps(): number;
  stop(): Promise<void>;
};

export type Watcher = Following & { histories(): RunHistory[] };

const PAGE = 500;
const PAUSE_MS = 500;

/** Watches until it is stopped. */
export async function watchRuns(kubeconfigPath: string, namespace: string): Promise<Watcher> {
  const connection = await kubeconfigConnection(kubeconfigPath);
  const path = `/apis/windlass.dev/v1alpha1/namespaces/${namespace}/workflowruns`;
  const seen = new Map<string, Seen>();
  const following = follow(connection, path, (run) => note(seen, run as RunObject));
  return { ...following, histories: () => [...seen.values()] };
}

/** Calls `onObject` with each object at that path as it is now, and after each change. */
export function follow(
  connection: KubeConnection,
  path: string,
  onObject: (object: WatchedObject) => void,
): Following {
  const ending = new AbortController();
  let gaps = -1;

  const goOn = async (): Promise<void> => {
    let version: string | undefined;
    while (!ending.signal.aborted) {
      try {
        if (version === undefined) {
          version = await listAll(connection, path, onObject);
          gaps += 1;
        }
        version = await watchFrom(connection, path, version, onObject, ending.signal);
      } catch {
        // The API server is away: it is asked again for what came after the last event.
        await delay(PAUSE_MS);
      }
    }
  };
  const following = goOn();
  return {
    gaps: () => Math.max(0, gaps),
    stop: async () => {
      ending.abort();
      await following;
    },
  };
}

function note(seen: Map<string, Seen>, { metadata, spec, status }: RunObject): void {
  const history = seen.get(metadata.uid) ?? {
    run: metadata.name,
    uid: metadata.uid,
    workflow: spec.workflow,
    event: eventIn(JSON.stringify(spec.input ?? '')),
    ...(spec.trigger?.key !== undefined && { key: spec.trigger.key }),
    phases: [],
    nodes: [],
  };
  const phase = status?.phase ?? 'none';
  if (history.phases.at(-1) !== phase) history.phases.push(phase);
  for (const node of status?.nodes ?? []) noteNode(history, node);
  seen.set(metadata.uid, history);
}

/** Only what is another than before. */
function noteNode(
  { nodes }: Seen,
  { id: node, phase, attempts, completionTime: endedAt }: RecordedNode,
): void {
  const last = nodes.findLast((each) => each.node === node);
  if (last?.phase === phase && last.attempts === attempts && last.endedAt === endedAt) return;
  nodes.push({
    node,
    phase,
    ...(attempts !== undefined && { attempts }),
    ...(endedAt !== undefined && { endedAt }),
  });
}

async function listAll(
  connection: KubeConnection,
  path: string,
  onObject: (object: WatchedObject) => void,
): Promise<string> {
  let token = '';
  for (;;) {
    const query = new URLSearchParams({ limit: String(PAGE), ...(token && { continue: token }) });
    const answer = await ask(connection, `${path}?${query.toString()}`, AbortSignal.timeout(10_000));
    if (answer.statusCode !== 200) throw new Error(`the list was answered with ${answer.statusCode}`);
    const list = JSON.parse(await textOf(answer)) as {
      metadata: { resourceVersion: string; continue?: string };
      items: WatchedObject[];
    };
    for (const object of list.items) onObject(object);
    token = list.metadata.continue ?? '';
    if (token === '') return list.metadata.resourceVersion;
  }
}

/** Gives the version to go on from when the watch ends; undefined when all must be listed again. */
async function watchFrom(
  connection: KubeConnection,
  path: string,
  from: string,
  onObject: (object: WatchedObject) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const query = new URLSearchParams({
    watch: 'true',
    resourceVersion: from,
    timeoutSeconds: '20',
    allowWatchBookmarks: 'true',
  });
  let version: string | undefined = from;
  // A server that is frozen closes nothing: no watch is waited for longer than it was asked for.
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(25_000)]);
  try {
    const answer = await ask(connection, `${path}?${query.toString()}`, deadline);
    if (answer.statusCode === 410) return undefined;
    if (answer.statusCode !== 200) throw new Error(`the watch was answered with ${answer.statusCode}`);
    for await (const line of createInterface({ input: answer })) {
      const { type, object } = JSON.parse(line) as WatchEvent;
      if (type === 'ERROR') return object.code === 410 ? undefined : version;
      version = object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') onObject(object);
    }
  } catch (error) {
    if (version === from) throw error;
  }
  return version;
}
