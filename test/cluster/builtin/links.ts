/**
 * The network between the nodes of a cluster: a cable from each further node to the bridge of the first one,
 * and routes to the pods of every other node. Each cable is made with one end in each node's network, so that
 * the machine's own has nothing of it, and it goes with either node.
 */
import { runCommand } from '../../support/process/command.ts';
import { nodeBridge, type NodeLayout } from './layout.ts';
import { processOf } from './node.ts';

/** The end of its cable in the network of a further node. */
const uplink = 'uplink';

/** Makes what is missing. All of the nodes must run. */
export async function ensureLinks(nodes: readonly NodeLayout[]): Promise<void> {
  const [first, ...others] = nodes;
  if (!first || others.length === 0) return;
  for (const place of others) await ensureCable(first, place);
  for (const place of nodes) {
    for (const other of nodes) {
      if (other === place) continue;
      await inNode(place, [
        'ip',
        'route',
        'replace',
        other.podRange,
        'via',
        other.address,
        'dev',
        nodeBridge,
      ]);
    }
  }
}

/** Executes a command in the network of a node. Throws where the node does not run on this machine. */
export async function inNode(place: NodeLayout, command: readonly string[]): Promise<string> {
  return runCommand('nsenter', ['--net', '--target', String(await runningProcess(place)), ...command]);
}

async function ensureCable(first: NodeLayout, place: NodeLayout): Promise<void> {
  const outlet = `node-${place.number}`;
  const isThere = await inNode(place, ['ip', 'link', 'show', uplink]).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    // That of a node that was killed goes a moment after it.
    await inNode(first, ['ip', 'link', 'delete', outlet]).catch(() => '');
    const [near, far] = [await runningProcess(first), await runningProcess(place)];
    const ends = [
      outlet,
      'netns',
      String(near),
      'type',
      'veth',
      'peer',
      'name',
      uplink,
      'netns',
      String(far),
    ];
    await runCommand('ip', ['link', 'add', ...ends]);
  }
  await inNode(first, ['ip', 'link', 'set', outlet, 'master', nodeBridge, 'up']);
  await inNode(place, ['ip', 'link', 'set', uplink, 'master', nodeBridge, 'up']);
}

async function runningProcess(place: NodeLayout): Promise<number> {
  const found = await processOf(place);
  if (found === undefined) throw new Error(`node ${place.name} does not run on this machine`);
  return found;
}
