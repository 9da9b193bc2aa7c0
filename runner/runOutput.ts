/** The output of a run, which is that of its response node, or else of its last node. */
import { parseExact } from '../api/exact/exactNumber.ts';
import type { NodeOutput } from '../api/expression/scope.ts';
import { getRevision } from '../runs/revisions.ts';
import type { Reply } from '../runs/types/result.ts';
import { isUnavailable, type RunStoreConnection } from '../store/connection.ts';
import type { ProjectUid } from '../store/keys.ts';

/** The output of a child run: that of its response node, or else of its last node. */
export function outputOfRun(last: NodeOutput, reply: Reply | undefined): NodeOutput {
  if (!reply) return last;
  const { status, body, contentType } = reply;
  return {
    text_content: `Answered with status ${status}.`,
    data_content: { status, body: bodyOf(body, contentType) },
  };
}

function bodyOf(body: string, contentType: string): unknown {
  if (!/^application\/([\w.+-]+\+)?json\b/i.test(contentType)) return body;
  try {
    return body === '' ? null : parseExact(body);
  } catch {
    return body;
  }
}

/** The last node outside of groups, in the order of the revision, that succeeded. */
export async function lastNode<T extends { id: string; phase: string }>(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
  nodes: readonly T[],
): Promise<T | undefined> {
  const revision = await getRevision(conn, project, name);
  if (revision && isUnavailable(revision)) throw new Error('the run store is unavailable');
  const ids = revision?.steps.filter(({ within }) => within === undefined).map(({ id }) => id);
  const ended = nodes.filter(({ phase }) => phase === 'Succeeded');
  if (!ids) return ended.at(-1);
  const last = ids.findLast((id) => ended.some((node) => node.id === id));
  return ended.find(({ id }) => id === last);
}
