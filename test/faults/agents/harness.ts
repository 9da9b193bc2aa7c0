/**
 * Windlass as programs of this machine for scenes of agents: operators and gateways that are started again
 * when they end, and projects whose runners a scene starts and kills itself.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { workflows } from '../../../operator/shared/resources.ts';
import type { RunStoreConnection } from '../../../store/connection.ts';
import { startOperatorHarness, type OperatorHarness } from '../../support/operator/operatorHarness.ts';
import { makeFolder } from '../../support/process/folder.ts';
import type { Program } from '../../support/process/program.ts';
import type { Kept } from '../storm/kept.ts';
import { connectDirectly, openOrClose, startLinks, tokenOfUser } from '../storm/parts.ts';
import {
  keepGateways,
  keepOperators,
  runnerStarter,
  START_MS,
  type Closers,
  type StartRunner,
  type Ways,
} from '../storm/programs.ts';
import { createGates, type Gates } from './gates.ts';
import { startRedisGate, type RedisGate } from './redisGate.ts';
import type { Scene } from './points.ts';
import { startWire, type Wire } from './wire.ts';
import { AGENT, agentManifest, CHILD } from './workflows.ts';

export type AgentHarness = {
  base: OperatorHarness;
  gates: Gates;
  wire: Wire;
  /** To the run store itself, as an account that may do everything. */
  direct: RunStoreConnection;
  publicURL: string;
  internalURL: string;
  gateways: Kept[];
  ways: Ways;
  logs: string;
  /** A folder of compiled sources. */
  compiled: string;
  closers: Closers;
  remove(): Promise<void>;
};

/** Starts everything but projects. Logs of the programs go into `logs` when it is removed. */
export function startAgentHarness(logs: string): Promise<AgentHarness> {
  return openOrClose((closers) => open(closers, logs));
}

async function open(closers: Closers, logs: string): Promise<AgentHarness> {
  const folder = await makeFolder('agents');
  closers.add(folder.remove);
  const base = await startOperatorHarness({ bounded: false, templates: ['gateway', 'gateway-rbac'] });
  closers.add(() => base.stop());
  const gates = createGates();
  const wire = await startWire(gates);
  closers.add(() => wire.close());
  const ways: Ways = { base, links: await startLinks(base, closers), logs, closers };
  await keepOperators(ways);
  const { gateway: gateways, publicURL, internalURL } = await keepGateways(ways);
  const direct = await connectDirectly(base, closers, 'agents');
  return {
    base,
    gates,
    wire,
    direct,
    publicURL,
    internalURL,
    gateways,
    ways,
    logs,
    compiled: folder.path,
    closers,
    remove: () => closers.closeAll(),
  };
}

/** SIGKILL, and a second later a new one on the same data. */
export async function restartRedis({ base }: AgentHarness): Promise<void> {
  await base.redis.kill();
  await delay(1_000);
  await base.redis.restart();
}

export type SceneRunner = { redis: RedisGate; program: Program };

export type SceneProject = {
  namespace: string;
  uid: string;
  uids: { agent: string; child: string };
  chatURL: string;
  /** Of somebody who may start runs of the project. */
  token: string;
  /** Starts a runner with a way of its own to the run store, and waits for nothing. */
  startRunner(): Promise<SceneRunner>;
};

/** The project of a scene, whose chat is served. */
export async function openProject(harness: AgentHarness, scene: Scene): Promise<SceneProject> {
  const { base, ways, wire, publicURL } = harness;
  const { namespace, uid } = await base.createProject();
  await base.apply(namespace, agentManifest(scene.id, wire, scene));
  const child = await base.waitFor(namespace, CHILD, { type: 'Valid', status: 'True' }, START_MS);
  const ready = await base.waitFor(namespace, AGENT, { type: 'Ready', status: 'True' }, START_MS);
  const { status } = await base.client.get(workflows, { namespace, name: AGENT });
  const { pathname } = new URL(status?.url ?? '');
  const start = await runnerStarter(ways, namespace, uid);
  return {
    namespace,
    uid,
    uids: { agent: ready.metadata.uid ?? '', child: child.metadata.uid ?? '' },
    chatURL: `${publicURL}${pathname}`,
    token: await callerToken(harness, namespace),
    startRunner: runnersOf(harness, scene, start),
  };
}

function runnersOf({ base, closers, logs, compiled }: AgentHarness, { id }: Scene, start: StartRunner) {
  let started = 0;
  return async (): Promise<SceneRunner> => {
    const redis = await startRedisGate(base.redis.port);
    const pod = `${id}-runner-${(started += 1)}`;
    const log: string[] = [];
    // Runners start so often that compiling their sources would take most of the time.
    const env = { NODE_COMPILE_CACHE: compiled };
    const program = start({ pod, log, redisURL: `redis://127.0.0.1:${redis.port}`, env });
    closers.add(async () => {
      await program.stop('SIGKILL');
      await redis.close();
      await mkdir(logs, { recursive: true });
      await writeFile(join(logs, `${pod}.log`), `${log.join('\n')}\n`);
    });
    return { redis, program };
  };
}

function callerToken({ base }: AgentHarness, namespace: string): Promise<string> {
  const rights = { resources: ['workflows/execute'], verbs: ['create'] };
  return tokenOfUser(base, { namespace, name: 'caller' }, rights);
}
