/** The ports of this machine that lead into a node of the built-in cluster; the node has no programs here. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureBinaries } from '../cluster/build.ts';
import { network, nodeLayout, type NodeLayout } from '../cluster/builtin/layout.ts';
import { killNode, processOf } from '../cluster/builtin/node.ts';
import { runCommand } from '../support/process/command.ts';
import { freePort } from '../support/process/freePort.ts';
import { quiet } from '../support/process/progress.ts';

const PORT_IN_NODE = 30_000;
/** The ports that this node has for outgoing connections. */
const SOURCES = Array.from({ length: 10 }, (_, index) => 40_000 + index);
let place: NodeLayout;
let port: number;
let server: ChildProcess;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'windlass-forward-test-'));
  place = nodeLayout({ name: 'forward-test', folder }, 1);
  await mkdir(place.logs);
  port = await freePort();
  const configuration = {
    hostname: place.name,
    folder,
    keep: [],
    address: `${place.address}/24`,
    serviceRange: network.serviceRange,
    sysctls: { 'net/ipv4/ip_local_port_range': `${SOURCES[0]} ${SOURCES.at(-1)}` },
    forwards: [{ machine: port, node: PORT_IN_NODE }],
  };
  await writeFile(place.configuration, JSON.stringify(configuration));
  await runCommand(join(await ensureBinaries(quiet), 'cluster-node'), ['start', place.configuration]);
  server = await startServer(await processOf(place));
});

afterAll(async () => {
  server?.kill();
  await killNode(place);
  await rm(place.folder, { recursive: true, force: true });
});

/**
 * Linux remembers for two minutes to which pod it led a connection that got no answer. One that came from the
 * same port again would be led there, long after the pod has gone.
 */
test('a connection comes from the same port again only after all others', async () => {
  const seen: number[] = [];
  for (let index = 0; index < 2 * SOURCES.length; index += 1) seen.push(await sourceOfConnection());
  expect(seen).toEqual([...SOURCES, ...SOURCES]);
});

/** Tells each connection, inside the node, from which port it comes. */
async function startServer(node: number | undefined): Promise<ChildProcess> {
  const program = `require('node:net').createServer((socket) => socket.end(String(socket.remotePort)))
    .listen(${PORT_IN_NODE}, '${network.nodeAddress}', () => console.log('listening'))`;
  const started = spawn('nsenter', ['--net', '--target', String(node), process.execPath, '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve, reject) => {
    started.stdout?.once('data', resolve);
    started.once('exit', () => reject(new Error('the server in the node ended')));
  });
  return started;
}

async function sourceOfConnection(): Promise<number> {
  return Number(await text(connect(port, '127.0.0.1')));
}
