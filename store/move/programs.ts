/** Refuses to move a run store that programs use. */
import { setTimeout } from 'node:timers/promises';
import { MoveProblem } from './problem.ts';
import { parsePrograms } from './serverFacts.ts';
import { CONNECTION_NAME, CONNECTION_PREFIX, valueOf, type MoveServer, type MoveServers } from './servers.ts';

/** How long the connections of a call may be listed after its end. */
const ENDED_MS = 3_000;
const LIST_AGAIN_MS = 200;

/** @throws MoveProblem while programs of Windlass, or other calls of the command, are connected */
export async function refusePrograms(store: MoveServers, tell: (warning: string) => void): Promise<void> {
  for (const server of store.all) {
    const found = await connectedTo(server);
    if (found === undefined) {
      tell(
        `warning: the account may not list the connections of the ${store.side}: make sure that all programs are stopped`,
      );
      return;
    }
    const calls = found.filter(isCall);
    if (calls.length > 0)
      throw new MoveProblem(
        `another call of the command is connected to the ${store.side}: ${calls.join(', ')}. Wait for its end, or end it. Where its machine is gone, the server drops its connection after some minutes`,
      );
    if (found.length > 0)
      throw new MoveProblem(
        `programs are connected to the ${store.side}: ${found.slice(0, 5).join(', ')}${found.length > 5 ? ' and others' : ''}. Stop operator, gateway and runners first (docs/operations.md)`,
      );
  }
}

/**
 * The connections of others; undefined where the account may not list them. The server may notice the end of
 * an interrupted call a little later.
 */
async function connectedTo(server: MoveServer): Promise<string[] | undefined> {
  const until = performance.now() + ENDED_MS;
  for (;;) {
    const [answer] = await server.ask([['client', 'list']]);
    if (answer && 'refused' in answer) return undefined;
    const found = parsePrograms(String(valueOf(answer)), CONNECTION_NAME);
    if (!found.some(isCall) || performance.now() >= until) return found;
    await setTimeout(LIST_AGAIN_MS);
  }
}

const isCall = (connection: string): boolean => connection.startsWith(CONNECTION_PREFIX);
