/** The live events of a run, as the gateway streams them. */
import { text } from 'node:stream/consumers';
import { workflowId } from '../../api/group.ts';
import type { RunEvent } from '../../runs/types/event.ts';
import { callGateway } from '../cluster/gateway.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { problemText } from '../cluster/problem.ts';
import { CommandError, EXIT } from '../shared/exit.ts';

type Followed = { workflow: string; run: string; systemNamespace: string; after?: string | undefined };

/**
 * The events after the one with that ID, or from the first one, to the end of the run or of the connection.
 * @throws CommandError if the gateway cannot be reached or refuses
 */
export async function* liveEvents(
  cluster: Cluster,
  { workflow, run, systemNamespace, after }: Followed,
): AsyncGenerator<RunEvent> {
  const path = `/workflows/${workflowId(cluster.namespace, workflow)}/runs/${encodeURIComponent(run)}/events`;
  const answer = await callGateway(cluster, systemNamespace, {
    method: 'GET',
    path,
    accept: 'text/event-stream',
    lastEventId: after,
  });
  if (answer.statusCode === 204) return;
  if (answer.statusCode !== 200)
    throw new CommandError(
      EXIT.cluster,
      `the gateway refuses: ${problemText(await text(answer), answer.statusCode)}`,
    );
  yield* eventsIn(answer);
}

/**
 * The events of a stream (WHATWG HTML, section 9.2), whose data is JSON on one line. Comments are left out.
 */
export async function* eventsIn(stream: AsyncIterable<unknown>): AsyncGenerator<RunEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stream) {
    const blocks = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => splitField(line)));
      const data = fields.get('data');
      if (data === undefined) continue;
      const body = JSON.parse(data) as object;
      yield { id: fields.get('id') ?? '', type: fields.get('event'), ...body } as RunEvent;
    }
  }
}

function splitField(line: string): [string, string] {
  const at = line.indexOf(': ');
  return at === -1 ? [line, ''] : [line.slice(0, at), line.slice(at + 2)];
}
