/**
 * A node of a built-in cluster: namespaces of its own for processes, mounts and network. Its first process
 * starts and watches the parts; when it is killed, the kernel ends all processes, mounts and devices inside.
 */
import { readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { runCommand } from '../../support/process/command.ts';
import { pollUntil } from '../../support/time/poll.ts';
import { network, type Layout, type NodeLayout } from './layout.ts';
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

export type NodeRequest = {
  cluster: Pick<Layout, 'folder'>;
  place: NodeLayout;
  binDir: string;
  /** Of the first node: ports of the machine that lead into it. */
  ports?: PortBlock;
};

/**
 * That node, running: started when it does not run, and started again when it was made by another program or
 * with another configuration. Throws when a port of the cluster is taken.
 */
export async function ensureNode(request: NodeRequest): Promise<Node> {
  const { place, binDir } = request;
  const program = join(binDir, 'cluster-node');
  const configuration = JSON.stringify(nodeConfiguration(request));
  if (!(await isRunningAs(place, program, configuration))) {
    await killNode(place);
    await writeWhole(place.configuration, configuration);
    await runCommand(program, ['start', place.configuration]);
  }
  const node = connect(place);
  await pollUntil('an answer of the node', async () => Boolean(await node.parts()), { timeoutMs: 10_000 });
  return node;
}

/** That node, if it runs. */
export async function findNode(place: NodeLayout): Promise<Node | undefined> {
  return (await processOf(place)) === undefined ? undefined : connect(place);
}

/** Kills the node and waits until nothing of it runs. */
export async function killNode(place: NodeLayout): Promise<void> {
  const first = await processOf(place);
  if (first !== undefined) await killProcess(first);
}

/** Kills every node of the cluster, whatever is known of it, and waits until nothing of it runs. */
export async function killNodes({ folder }: Pick<Layout, 'folder'>): Promise<void> {
  const isOurs = (path: string) => path.startsWith(`${folder}/`);
  await Promise.all((await findProcesses(isOurs)).map((found) => killProcess(found)));
}

async function killProcess(first: number): Promise<void> {
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

async function isRunningAs(place: NodeLayout, program: string, configuration: string): Promise<boolean> {
  const first = await processOf(place);
  if (first === undefined) return false;
  const made = await readFile(place.configuration, 'utf8').catch(() => '');
  return made === configuration && (await readlink(`/proc/${first}/exe`)) === (await realpath(program));
}

/** What `cluster-node` is told. */
function nodeConfiguration({ cluster, place, binDir, ports }: NodeRequest): unknown {
  return {
    hostname: place.name,
    folder: place.folder,
    keep: [cluster.folder, dirname(binDir)],
    address: `${place.address}/${network.nodeRange.split('/')[1]}`,
    serviceRange: network.serviceRange,
    sysctls: {
      'net/ipv4/ip_forward': '1',
      // Pods on one bridge reach each other through a service only if its packets pass iptables.
      'net/bridge/bridge-nf-call-iptables': '1',
    },
    forwards: ports === undefined ? [] : forwardsOf(ports),
  };
}

function forwardsOf({ api, nodePorts: [first, last] }: PortBlock): { machine: number; node: number }[] {
  const nodePorts = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return [
    { machine: api, node: network.apiPort },
    ...nodePorts.map((port) => ({ machine: port, node: port })),
  ];
}

/** The number that the machine gives to the first process of the node; undefined where it does not run. */
export async function processOf(place: NodeLayout): Promise<number | undefined> {
  const [found] = await findProcesses((path) => path === place.configuration);
  return found;
}

/**
 * By their command lines, which have the path of the node's configuration in them: true whatever was written,
 * or not, to a file.
 */
async function findProcesses(isWanted: (configuration: string) => boolean): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    const [program, role, configuration = ''] = commandLine.split('\0');
    if (program === 'cluster-node' && role === 'init' && isWanted(configuration)) found.push(Number(name));
  }
  return found;
}

function connect(place: NodeLayout): Node {
  const call = (method: string, path: string, body?: unknown) => ask(place.socket, method, path, body);
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
