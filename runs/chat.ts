/**
 * Sessions of chats: at most one message of a session is open. A message is open from its acceptance until
 * its run has a reply or has ended. The dedupe key of the message, not the session, makes it one run.
 */
import { orUnavailable, type RunStoreConnection, type Unavailable } from '../store/connection.ts';
import { keysOf, type ProjectUid } from '../store/keys.ts';
import { NOW, REQUIRE_STORE } from '../store/lua.ts';
import { argumentsOf, defineScript } from '../store/script.ts';
import { newRunName } from './names.ts';

/** After this time without a message a session is forgotten, and with it that a message is open. */
const SESSION_SECONDS = 3_600;
/** For so long a message whose run is not stored yet counts as open: its event is being stored. */
const STORING_MS = 5_000;

/** Stores a message as the last one of its session, unless another one is open. */
const OPEN = defineScript({
  // `run`: of the last message of the session as the caller read it.
  keys: ['meta', 'chat', 'run'],
  args: ['message', 'run_id', 'seen_run'],
  answers: {
    opened: 'the message is the last one of its session; and the name for its run',
    open: 'another message of the session is open',
    changed: 'the session has another run than the caller read; and that run',
  },
  body: `
    ${REQUIRE_STORE}
    local last_run, last_message, at = unpack(redis.call('HMGET', chat, 'run', 'message', 'at'))
    if (last_run or '') ~= seen_run then return {'changed', last_run or ''} end
    ${NOW}
    if last_run and last_message == message then return {'opened', last_run} end
    if last_run then
      local group, ended, reply = unpack(redis.call('HMGET', run, 'wf', 'ended', 'reply'))
      if group and not ended and not reply then return {'open'} end
      if not group and now - tonumber(at) < ${STORING_MS} then return {'open'} end
    end
    redis.call('HSET', chat, 'run', run_id, 'message', message, 'at', now)
    redis.call('EXPIRE', chat, ${SESSION_SECONDS})
    return {'opened', run_id}
  `,
});

/** Sets the run of the last message of a session; an empty one forgets the session. */
const SET_RUN = defineScript({
  keys: ['meta', 'chat'],
  args: ['message', 'run_id'],
  answers: { '1': 'done', '0': 'another message is the last one by now' },
  body: `
    ${REQUIRE_STORE}
    if redis.call('HGET', chat, 'message') ~= message then return 0 end
    if run_id == '' then redis.call('UNLINK', chat) else redis.call('HSET', chat, 'run', run_id) end
    return 1
  `,
});

/** A session of the chat of a workflow, by its name (`api/chat.ts`). */
export type ChatSession = {
  project: ProjectUid;
  workflow: string;
  workflowUid: string;
  session: string;
};

export type Opened =
  /** The name for the run of the message: always the same one for the last message of a session. */
  | { outcome: 'opened'; run: string }
  /** Another message of the session is open. */
  | { outcome: 'open' }
  | Unavailable;

/** How often a session may change while it is read. */
const MOST_READS = 5;

/** Stores a message as the last one of its session. Call `submit` with the run's name after it. */
export function openMessage(conn: RunStoreConnection, of: ChatSession, message: string): Promise<Opened> {
  const { project, workflow } = of;
  const keys = keysOf(project);
  const chat = keys.chat(of.workflowUid, of.session);
  return orUnavailable(async () => {
    let seen = (await conn.command('hget', chat, 'run')) as string | null;
    for (let reads = 0; reads < MOST_READS; reads += 1) {
      // A session without a run has no run to read: the script gets the key of a run that does not exist.
      const scriptKeys = [keys.meta, chat, keys.run(seen ?? '')];
      const args = argumentsOf(OPEN, { message, run_id: newRunName(workflow), seen_run: seen ?? '' });
      const [outcome, run = ''] = (await conn.script(OPEN, scriptKeys, args)) as string[];
      if (outcome === 'opened') return { outcome, run };
      if (outcome === 'open') return { outcome };
      seen = run === '' ? null : run;
    }
    return { outcome: 'open' };
  });
}

/**
 * Notes which run the message has, where `submit` found another one; without a run, that its event was
 * refused.
 */
export async function noteRun(
  conn: RunStoreConnection,
  { project, workflowUid, session }: ChatSession,
  message: string,
  run = '',
): Promise<void> {
  const keys = keysOf(project);
  const args = argumentsOf(SET_RUN, { message, run_id: run });
  await orUnavailable(() => conn.script(SET_RUN, [keys.meta, keys.chat(workflowUid, session)], args));
}
