/**
 * The workflows that child runs can execute: every workflow that was valid once, also an inactive one, with
 * the revision that its new runs execute. The operator stores them before it opens the route of a workflow.
 */
import {
  doneOrUnavailable,
  orUnavailable,
  type Done,
  type RunStoreConnection,
  type Unavailable,
} from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { REQUIRE_STORE_OR_SEEDING, type Seeding } from '../store/lua.ts';
import { defineScript } from '../store/script.ts';

/**
 * A workflow that child runs can execute, and the name of its revision. `description`: what it is for, as
 * agents tell models.
 */
export type Callee = { name: string; workflowUid: string; revision: string; description?: string };

/** What agents tell models of a workflow. */
const DESCRIPTION_LENGTH = 1_024;

/** Runs also when the memory is full: it replaces a value of about the same size. */
const PUT_CALLEE = defineScript({
  flags: 'drains',
  keys: ['meta', 'callees'],
  args: ['seeding', 'name', 'value'],
  answers: 'how many fields are new',
  body: `
    ${REQUIRE_STORE_OR_SEEDING}
    return redis.call('HSET', callees, name, value)
  `,
});

/** Stores the workflow; with a `seeding` also before the project is open. */
export function putCallee(
  conn: RunStoreConnection,
  project: ProjectUid,
  { name, workflowUid, revision, description = '' }: Callee,
  seeding?: Seeding,
): Promise<Done> {
  const { meta, callees } = keysOf(project);
  return doneOrUnavailable(async () => {
    const shown = description.slice(0, DESCRIPTION_LENGTH).toWellFormed();
    const args = [seeding?.token ?? '', name, `${workflowUid} ${revision} ${shown}`.trimEnd()];
    await conn.script(PUT_CALLEE, [meta, callees], args);
  });
}

/** The workflow of that name; undefined if it does not exist, or was never valid. */
export function getCallee(
  conn: RunStoreConnection,
  project: ProjectUid,
  name: string,
): Promise<Callee | undefined | Unavailable> {
  return orUnavailable(async () => {
    const text = await conn.command('hget', keysOf(project).callees, name);
    if (typeof text !== 'string') return undefined;
    const [workflowUid = '', revision = '', ...words] = text.split(' ');
    return { name, workflowUid, revision, ...(words.length > 0 && { description: words.join(' ') }) };
  });
}
