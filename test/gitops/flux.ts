/**
 * Flux's kustomize-controller beside the operator of Windlass, on a real API server: what people commit is
 * published as the next revision of a source, and Kustomizations apply it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findCondition } from '../../kube/conditions.ts';
import {
  namespacedResource,
  namespaces,
  type Condition,
  type KubeObject,
  type ObjectRef,
} from '../../kube/resource.ts';
import { writeFiles } from '../support/cluster/environments.ts';
import { startOperatorHarness, type OperatorHarness } from '../support/operator/operatorHarness.ts';
import { makeFolder } from '../support/process/folder.ts';
import { freePort } from '../support/process/freePort.ts';
import { pollUntil } from '../support/time/poll.ts';
import { installFluxCrds } from './program.ts';
import { startSources, type Sources } from './sources.ts';

type Kustomization = KubeObject<
  Record<string, unknown>,
  {
    conditions?: Condition[];
    lastAttemptedRevision?: string;
    lastHandledReconcileAt?: string;
  }
>;

export const kustomizations = namespacedResource<Kustomization>(
  'kustomize.toolkit.fluxcd.io',
  'v1',
  'Kustomization',
  'kustomizations',
);

/** Files by their paths; objects are written as YAML. */
type Files = Record<string, unknown>;

export type Flux = {
  harness: OperatorHarness;
  /** Makes the files the newest revision of the source; returns the revision. */
  commit(source: string, files: Files): Promise<string>;
  /** The same with the content of a folder. */
  commitFolder(source: string, folder: string): Promise<string>;
  /** Applies a Kustomization, which waits for its objects, prunes, and retries soon; `spec` has the rest. */
  kustomize(ref: ObjectRef, spec: Record<string, unknown>): Promise<void>;
  /**
   * Waits until the Kustomization's condition `Ready` says this, of that revision if one is given; returns
   * the message. Throws with what it says instead.
   */
  until(ref: ObjectRef, ready: ExpectedReady, revision?: string): Promise<string>;
  /** Asks for another reconciliation of the same revision, and waits until it succeeded. */
  reconcile(ref: ObjectRef): Promise<void>;
  stop(): Promise<void>;
};

/** The status and the reason of a condition. */
type ExpectedReady = readonly ['True' | 'False', string];

export const APPLIED: ExpectedReady = ['True', 'ReconciliationSucceeded'];
export const UNHEALTHY: ExpectedReady = ['False', 'HealthCheckFailed'];
export const WAITING: ExpectedReady = ['False', 'DependencyNotReady'];

export const FLUX_SYSTEM = 'flux-system';
/** Flux reads the status of objects every five seconds. */
const WITHIN = { timeoutMs: 90_000, everyMs: 100 };

/** Starts everything; the program is that of kustomize-controller. */
export async function startFlux(program: string): Promise<Flux> {
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of started.toReversed()) await end();
  };
  try {
    const harness = await startOperatorHarness({ templates: ['admission-use'] });
    started.push(() => harness.stop());
    await harness.client.create(namespaces, { metadata: { name: FLUX_SYSTEM } });
    await installFluxCrds(harness.client);
    const sources = await startSources(harness.client, FLUX_SYSTEM);
    started.push(() => sources.close());
    const controller = await startController(program, harness);
    started.push(controller.stop);
    harness.startOperator();
    return { ...fluxOf(harness, sources, controller.log), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function fluxOf(harness: OperatorHarness, sources: Sources, log: () => Promise<string>): Omit<Flux, 'stop'> {
  const { client } = harness;

  async function until(ref: ObjectRef, [status, reason]: ExpectedReady, revision?: string): Promise<string> {
    let said = '';
    const ready = async (): Promise<string | false> => {
      const { metadata, status: now } = await client.get(kustomizations, ref);
      const condition = findCondition(now?.conditions, 'Ready');
      said = `${condition?.status}/${condition?.reason}: ${condition?.message}`;
      if (condition?.observedGeneration !== metadata.generation) return false;
      if (![undefined, now?.lastAttemptedRevision].includes(revision)) return false;
      return condition?.status === status && condition.reason === reason && condition.message;
    };
    try {
      return await pollUntil(`Ready=${status}/${reason} of Kustomization ${ref.name}`, ready, WITHIN);
    } catch (cause) {
      throw new Error(`${(cause as Error).message}; it is ${said}\n${await log()}`, { cause });
    }
  }

  async function commit(source: string, files: Files): Promise<string> {
    const folder = await makeFolder('commit');
    try {
      await writeFiles(folder.path, files);
      return await sources.publish(source, folder.path);
    } finally {
      folder.remove();
    }
  }

  async function reconcile(ref: ObjectRef): Promise<void> {
    const requestedAt = new Date().toISOString();
    const annotations = { 'reconcile.fluxcd.io/requestedAt': requestedAt };
    await client.patch(kustomizations, ref, { metadata: { annotations } }, { type: 'merge' });
    const handled = async () => {
      const { status } = await client.get(kustomizations, ref);
      return status?.lastHandledReconcileAt === requestedAt;
    };
    await pollUntil(`the reconciliation of ${ref.name}`, handled, WITHIN);
    await until(ref, APPLIED);
  }

  return {
    harness,
    commit,
    commitFolder: (source, folder) => sources.publish(source, folder),
    until,
    reconcile,
    kustomize: async (ref, { source, ...spec }) => {
      const common = { interval: '10m', retryInterval: '2s', timeout: '1m', prune: true, wait: true };
      const sourceRef = { kind: 'GitRepository', name: source, namespace: FLUX_SYSTEM };
      await client.apply(kustomizations, { metadata: ref, spec: { ...common, sourceRef, ...spec } });
    },
  };
}

/** Reads the file of its log where somebody asks. */
async function startController(program: string, { server }: OperatorHarness) {
  const { path: folder, remove } = await makeFolder('flux');
  const logFile = join(folder, 'controller.log');
  const health = `127.0.0.1:${await freePort()}`;
  const args = ['--metrics-addr=0', `--health-addr=${health}`, '--requeue-dependency=1s'];
  const output = await open(logFile, 'a');
  const child = spawn('setpriv', ['--pdeathsig', 'SIGKILL', program, ...args], {
    stdio: ['ignore', output.fd, output.fd],
    env: {
      PATH: process.env['PATH'],
      KUBECONFIG: server.kubeconfigPath,
      RUNTIME_NAMESPACE: FLUX_SYSTEM,
      TMPDIR: folder,
    },
  });
  await output.close();
  const log = async () => (await readFile(logFile, 'utf8')).split('\n').slice(-20).join('\n');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    remove();
  };
  try {
    const isReady = () => fetch(`http://${health}/readyz`).then(({ ok }) => ok);
    await pollUntil('kustomize-controller being ready', isReady, { timeoutMs: 30_000 });
    return { log, stop };
  } catch (cause) {
    const said = await log();
    await stop();
    throw new Error(`${(cause as Error).message}; it logged:\n${said}`, { cause });
  }
}
