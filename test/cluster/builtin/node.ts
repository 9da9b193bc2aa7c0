/**
 * The node of a built-in cluster: namespaces of its own for processes, mounts and network. Its first process
 * starts and watches the parts; when it is killed, the kernel ends all processes, mounts and devices inside.
 */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { runCommand } from '../../support/process/command.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { network, type Layout } from './layout.ts';
import type { PortBlock } from './ports.ts';
import { writeWhole } from './settings.ts';

const partSchema = z.object({
  command: z.array(z.string()),
  running: z.boolean(),
  exit: z.string().optional(),
  since: z.coerce.date(),
});

/** What the node says of one of its programs. */
type PartState = z.infer<typeof partSchema>;

export type Node = {
  parts: () => Promise<Record<string, PartState>>;
  /** Leaves it alone when it already runs with the same command line. */
  start: (part: string, command: readonly string[]) => Promise<void>;
  /** Asks it to end, and kills it after so many seconds. It stays away until it is started. */
  stop: (part: string, graceSeconds: number) => Promise<void>;
  /** The status of a URL inside the node; 502 when nothing answers there. */
  probe: (url: string) => Promise<number>;
};

/**
 * The running node of that cluster, started when there is none, and started again when it was made by another
 * program or with another configuration. Throws when a port of the cluster is taken.
 */
export async function ensureNode(layout: Layout, binDir: string, ports: PortBlock): Promise<Node> {
  const program = join(binDir, 'cluster-node');
  const configuration = JSON.stringify(nodeConfiguration(layout, binDir, ports));
  if (!(await isRunningAs(layout, program, configuration))) {
    await killNode(layout);
    await writeWhole(layout.nodeConfiguration, configuration);
    await runCommand(program, ['start', layout.nodeConfiguration]);
  }
  const node = connect(layout);
  await pollUntil('an answer of the node', async () => Boolean(await node.parts()), { timeoutMs: 10_000 });
  return node;
}

/** The running node of that cluster, if there is one. */
export async function findNode(layout: Layout): Promise<Node | undefined> {
  return (await findProcess(layout)) === undefined ? undefined : connect(layout);
}

/** Kills the node and waits until nothing of it runs. */
export async function killNode(layout: Layout): Promise<void> {
  const first = await findProcess(layout);
  if (first === undefined) return;
  process.kill(first, 'SIGKILL');
  // Its memory goes first and its children after; it is a zombie only when they are all gone.
  const isGone = async () => {
    const stat = await readFile(`/proc/${first}/stat`, 'utf8').catch(() => ') X');
    return /\) [ZX]/.test(stat);
  };
  await pollUntil(`the end of process ${first} and all in its namespaces`, isGone, {
    timeoutMs: 60_000,
    everyMs: 50,
  });
}

async function isRunningAs(layout: Layout, program: string, configuration: string): Promise<boolean> {
  const first = await findProcess(layout);
  if (first === undefined) return false;
  const made = await readFile(layout.nodeConfiguration, 'utf8').catch(() => '');
  return made === configuration && (await readlink(`/proc/${first}/exe`)) === (await realpath(program));
}

/** What `cluster-node` is told. */
function nodeConfiguration(layout: Layout, binDir: string, ports: PortBlock): unknown {
  const [first, last] = ports.nodePorts;
  const nodePorts = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return {
    hostname: layout.name,
    folder: layout.folder,
    keep: [layout.folder, dirname(binDir)],
    address: `${network.nodeAddress}/32`,
    serviceRange: network.serviceRange,
    sysctls: {
      'net/ipv4/ip_forward': '1',
      // Pods on one bridge reach each other through a service only if its packets pass iptables.
      'net/bridge/bridge-nf-call-iptables': '1',
    },
    forwards: [
      { machine: ports.api, node: network.apiPort },
      ...nodePorts.map((port) => ({ machine: port, node: port })),
    ],
  };
}

/**
 * By its command line, which has the cluster's folder in it: true whatever was written, or not, to a file.
 */
async function findProcess(layout: Layout): Promise<number | undefined> {
  const wanted = ['cluster-node', 'init', layout.nodeConfiguration, ''].join('\0');
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (commandLine === wanted) return Number(name);
  }
  return undefined;
}

function connect(layout: Layout): Node {
  const call = (method: string, path: string, body?: unknown) => ask(layout.nodeSocket, method, path, body);
  return {
    parts: async () => z.record(z.string(), partSchema).parse(JSON.parse((await call('GET', '/parts')).text)),
    start: async (part, command) => {
      const { status, text } = await call('PUT', `/parts/${part}`, command);
      if (status >= 300) throw new Error(`${part} could not be started: ${text.trim()}`);
    },
    stop: async (part, graceSeconds) => {
      await call('DELETE', `/parts/${part}?grace=${graceSeconds}s`);
    },
    probe: async (url) => (await call('GET', `/probe?url=${encodeURIComponent(url)}`)).status,
  };
}

function ask(
  socketPath: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, timeout: 90_000 }, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
      answer.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error('the node does not answer')));
    asked.on('error', reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
