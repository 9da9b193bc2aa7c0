/**
 * Windlass as programs of this machine, each twice and started again when it ends, with a real API server and
 * a real run store that they reach over links that can be put into trouble. No node and no kubelet: what a
 * fault does is known to the millisecond.
 */
import { randomBytes } from 'node:crypto';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { makeFolder } from '../../support/process/folder.ts';
import { startHttpSink } from '../../support/providers/http/httpSink.ts';
import { startMailServer } from '../../support/providers/mail/mailServer.ts';
import { startModelServer } from '../../support/providers/model/modelServer.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import type { SinkURLs } from '../effects.ts';
import { listRuns } from '../listing.ts';
import type { LoadHarness } from '../harness.ts';
import { readStore, storedProject, type StoredProject } from '../store.ts';
import { projectManifest, WORKFLOWS, type SinkHosts } from '../workflows.ts';
import type { Kept } from './kept.ts';
import { followPool } from '../sleepScenes/pool.ts';
import { connectDirectly, openOrClose, startLinks, tokenOfUser, type DirectAccess } from './parts.ts';
import {
  keepGateways,
  keepOperators,
  keepRunners,
  OWN_PROGRAMS,
  START_MS,
  type Closers,
  type Links,
  type OwnProgram,
  type Shims,
  type Ways,
} from './programs.ts';
import { buildShim, createShim } from './shim.ts';

export type StormHarness = LoadHarness & {
  /** Where events go: a balancer before the gateways. */
  publicURL: string;
  base: OperatorHarness;
  programs: Record<OwnProgram, Kept[]>;
  /** Each program's own way to the run store and to the API server. */
  links: Links;
  /** Left out where this machine has no C compiler. */
  shims?: Shims;
  /** To the run store itself, past all links, as an account that may do everything. */
  direct: RunStoreConnection;
  stored: StoredProject;
  remove(): Promise<void>;
};

/** What the project contains. */
type StormProject = {
  manifest: (hosts: SinkHosts) => string;
  /** The workflows that receive events. */
  workflows: readonly string[];
  /** Runners sleep after that time without work. Left out: two runners, always. */
  sleepAfter?: string;
};

/** A run store in the place of a single server. */
type OtherStore = {
  /** For each pod. */
  redisURL: (pod: string) => string;
  direct: DirectAccess;
  operatorEnv: Record<string, string>;
};
export type StartStore = (base: OperatorHarness, closers: Closers) => Promise<OtherStore>;

export const STORM_PROJECT: StormProject = {
  manifest: projectManifest,
  workflows: WORKFLOWS.map(({ workflow }) => workflow),
};

/**
 * Starts everything; resolves when the workflows are ready. Logs of the programs go into `logs` when it is
 * removed.
 */
export function startStormHarness(
  logs: string,
  content = STORM_PROJECT,
  startStore?: StartStore,
): Promise<StormHarness> {
  return openOrClose((closers) => open(closers, { logs, content, startStore }));
}

async function open(
  closers: Closers,
  { logs, content, startStore }: { logs: string; content: StormProject; startStore: StartStore | undefined },
): Promise<StormHarness> {
  const folder = await makeFolder('storm');
  closers.add(folder.remove);
  const shims = await createShims(folder.path);
  const redis = shims && { env: shims.redis.env };
  const { sleepAfter } = content;
  const options = {
    bounded: false,
    triesCredentials: true,
    templates: ['gateway', 'gateway-rbac'],
    startsPools: sleepAfter === undefined,
  };
  const base = await startOperatorHarness({ ...options, ...(redis && { redis }) });
  closers.add(() => base.stop());
  const links = await startLinks(base, closers);
  const { hosts, urls } = await startSinks(closers);
  const { namespace: project, uid } = await base.createProject();
  const other = await startStore?.(base, closers);
  const operatorEnv = {
    ...other?.operatorEnv,
    ...(sleepAfter !== undefined && { RUNNER_SLEEP_AFTER: sleepAfter }),
  };
  const own = { ...(other && { redisURL: other.redisURL }), operatorEnv };
  const ways: Ways = { base, links, ...(shims && { shims }), ...own, logs, closers };
  const operator = await keepOperators(ways);
  const { gateway, publicURL, internalURL } = await keepGateways(ways);
  await base.apply(project, content.manifest(hosts));
  const begin = sleepAfter === undefined ? keepRunners : followPool;
  const runner = await begin(ways, project, uid);
  for (const workflow of content.workflows) {
    await base.waitFor(project, workflow, { type: 'Ready', status: 'True' }, START_MS);
  }
  const direct = await connectDirectly(base, closers, 'storm', other?.direct);
  const stored = await storedProject(base.server, project);
  return {
    name: randomBytes(3).toString('hex'),
    project,
    kubeconfigPath: base.server.kubeconfigPath,
    sinks: urls,
    store: readStore(direct, stored),
    list: async () => listRuns({ url: internalURL, token: await readerToken(base, project), project }),
    publicURL,
    base,
    programs: { gateway, operator, runner },
    links,
    ...(shims && { shims }),
    direct,
    stored,
    remove: () => closers.closeAll(),
  };
}

async function createShims(folder: string): Promise<Shims | undefined> {
  const library = await buildShim(folder);
  if (library === undefined) return undefined;
  const shim = (name: string) => createShim(library, folder, name);
  const [redis, gateway, operator, runner] = await Promise.all(['redis', ...OWN_PROGRAMS].map(shim));
  return redis && gateway && operator && runner ? { redis, gateway, operator, runner } : undefined;
}

async function startSinks(closers: Closers): Promise<{ hosts: SinkHosts; urls: SinkURLs }> {
  const mail = await startMailServer();
  const model = await startModelServer({ delayMs: 20 });
  const http = await startHttpSink();
  for (const sink of [mail, model, http]) closers.add(() => sink.close());
  const at = (port: number) => `127.0.0.1:${port}`;
  return {
    hosts: { mail: at(mail.smtpPort), model: at(model.port), http: at(http.port) },
    urls: { mail: `http://${at(mail.httpPort)}`, model: `http://${at(model.port)}`, http: http.url },
  };
}

/** Of somebody who may list the project's runs. */
function readerToken(base: OperatorHarness, namespace: string): Promise<string> {
  const rights = { resources: ['workflowruns'], verbs: ['get', 'list'] };
  return tokenOfUser(base, { namespace, name: 'reader' }, rights);
}
