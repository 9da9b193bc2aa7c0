/**
 * Hosts of a network of their own on this machine: network namespaces on a bridge, which this machine
 * reaches, too. Packets between two of them can be dropped. Needs root.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { runCommand } from '../process/command.ts';

export type Host = {
  address: string;
  /** The command and its arguments that start a program on this host. */
  enter: readonly string[];
};

export type Hosts = {
  all: readonly Host[];
  /**
   * Drops all packets between a host and the others, in both directions, without an answer. This
   * machine still reaches all of them. The function that it returns ends it.
   */
  partition: (host: Host) => Promise<() => Promise<void>>;
  remove: () => Promise<void>;
};

/** Of the names of bridges, before the ID of the process that made them. */
const PREFIX = 'wl-hosts';

/** Makes so many hosts. They end with the process that made them. */
export async function makeHosts(count: number): Promise<Hosts> {
  const subnet = `10.${randomInt(200, 250)}.${randomInt(1, 250)}`;
  await removeLeftBridges();
  const bridge = `${PREFIX}${process.pid}`;
  await ip('link', 'add', bridge, 'type', 'bridge');
  const holders: ChildProcess[] = [];
  const remove = async () => {
    await Promise.all(holders.map(endHolder));
    await ip('link', 'del', bridge);
  };
  try {
    await ip('addr', 'add', `${subnet}.254/24`, 'dev', bridge);
    await ip('link', 'set', bridge, 'up');
    const all: Host[] = [];
    for (let index = 1; index <= count; index += 1) {
      const holder = await holdNamespace();
      holders.push(holder);
      all.push(await connectHost(bridge, `${subnet}.${index}`, holder.pid ?? 0));
    }
    return { all, partition: (host) => partition(host, all), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

const ip = (...args: string[]) => runCommand('ip', args);

/** Those of processes that were killed. */
async function removeLeftBridges(): Promise<void> {
  const bridges = await ip('-o', 'link', 'show', 'type', 'bridge');
  for (const [, name = '', pid] of bridges.matchAll(new RegExp(`: (${PREFIX}(\\d+)):`, 'g')))
    if (!existsSync(`/proc/${pid}`)) await ip('link', 'del', name);
}

async function holdNamespace(): Promise<ChildProcess> {
  const script = 'echo made && exec sleep infinity';
  const args = ['--pdeathsig', 'SIGKILL', 'unshare', '--net', 'sh', '-c', script];
  const child = spawn('setpriv', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const failed = once(child, 'exit').then(() => {
    throw new Error('no network namespace can be made; run this as root');
  });
  await Promise.race([once(child.stdout, 'data'), failed]);
  failed.catch(() => undefined);
  return child;
}

async function endHolder(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function connectHost(bridge: string, address: string, pid: number): Promise<Host> {
  const enter = ['nsenter', `--net=/proc/${pid}/ns/net`];
  const [outside, inside] = [`wl${pid}`, 'eth0'];
  await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', inside, 'netns', String(pid));
  await ip('link', 'set', outside, 'master', bridge);
  await ip('link', 'set', outside, 'up');
  const host = { address, enter };
  await runOn(host, 'ip', 'link', 'set', 'lo', 'up');
  await runOn(host, 'ip', 'addr', 'add', `${address}/24`, 'dev', inside);
  await runOn(host, 'ip', 'link', 'set', inside, 'up');
  return host;
}

function runOn({ enter: [command = '', ...args] }: Host, ...run: string[]): Promise<string> {
  return runCommand(command, [...args, ...run]);
}

async function partition(host: Host, all: readonly Host[]): Promise<() => Promise<void>> {
  const ways = all
    .filter((other) => other !== host)
    .flatMap(
      (other) =>
        [
          [host, other.address],
          [other, host.address],
        ] as const,
    );
  const each = (action: 'add' | 'del') =>
    Promise.all(ways.map(([from, to]) => runOn(from, 'ip', 'route', action, 'blackhole', `${to}/32`)));
  await each('add');
  return async () => {
    await each('del');
  };
}
