/**
 * The run store of one project, watched: each script runs at the time of the history, and after each call all
 * keys of the project are compared with what the reference says.
 */
import { createHash } from 'node:crypto';
import { shardedScript } from '../../store/clusterScripts.ts';
import type { RunStoreConnection } from '../../store/connection.ts';
import { keysOf } from '../../store/keys.ts';
import type { RunPlace, Script } from '../../store/script.ts';
import { dumpOf, dumpText, removeAll } from './dump.ts';
import { invariantProblems } from './invariants.ts';
import type { Network } from './network.ts';
import { parseState } from './parse.ts';
import { differences, next } from './reference.ts';
import { eventsOf, namedCall, UNTOLD, type Call } from './scripts.ts';
import type { DumpedKey, Run, State } from './state.ts';

/** What all histories share: one server, and its scripts by name. */
export type Server = {
  conn: RunStoreConnection;
  /** A connection that is closed: it answers as one does in an outage. */
  nobody: RunStoreConnection;
  scripts: ReadonlyMap<string, string>;
  /** The scripts as the server has them, which take the time from the history. */
  timed: WeakMap<Script, Promise<Script>>;
  /** How often each script answered what. */
  tally: Map<string, number>;
};

export type Change = { before: State; after: State; call: Call; answer: unknown };

export type WatchedStore = {
  state(): State;
  /** Milliseconds since 1970, by the store's clock. */
  now(): number;
  /** Moves the clock, also back. */
  pass(ms: number): void;
  /** A connection for a client. */
  connect(): RunStoreConnection;
  /** Removes keys of the project, as time and losses of data do; all, where none are named. */
  remove(names?: string[]): Promise<void>;
  /** Removes all that the project has on the server. */
  leave(): Promise<void>;
};

const BEGINNING_US = 1_700_000_000_000_000;
/** Between two calls, so that no two runs are accepted at the same time. */
const TICK_US = 7;
/** Commands that change something. */
const WRITING = new Set(['zrem', 'hdel', 'hset', 'unlink']);

/**
 * Opens the watch. `tell` is given what is wrong; `judge` says what of a change is wrong that the reference
 * cannot know.
 */
export function watchStore(
  { conn, nobody, scripts, timed, tally }: Server,
  network: Network,
  {
    project,
    tell,
    judge,
  }: { project: string; tell: (problem: string) => void; judge: (change: Change) => string[] },
): WatchedStore {
  const { prefix } = keysOf(project);
  let us = BEGINNING_US;
  let text = '';
  let dump: DumpedKey[] = [];
  let { state } = parseState(prefix, dump);

  /** Takes note of the store as it is now, and tells where it contradicts itself. */
  function note(found: string, after: string): void {
    if (found === text) return;
    text = found;
    dump = dumpOf(found);
    const parsed = parseState(prefix, dump);
    state = parsed.state;
    // While it is seeded it may lack anything.
    if (state.id === undefined) return;
    for (const problem of [...parsed.problems, ...invariantProblems(state, dump, prefix)])
      tell(`after ${after}: ${problem}`);
  }

  function expected(before: State, kept: DumpedKey[], call: Call): { state: State; answer: unknown } {
    if (call.name !== 'clear') return next(before, call);
    const isSuperseded = before.id !== undefined || before.seeding !== call.args['token'];
    if (isSuperseded) return { state: before, answer: 'superseded' };
    const gone = new Set(call.allKeys.slice(1));
    return {
      state: parseState(
        prefix,
        kept.filter(({ key }) => !gone.has(key)),
      ).state,
      answer: 'done',
    };
  }

  async function execute(script: Script, keys: readonly string[], args: readonly (string | number)[]) {
    let loading = timed.get(script);
    if (!loading) timed.set(script, (loading = loadTimed(conn, script)));
    // The server has it before it is asked for it, so that calls keep their order.
    const sent = await loading;
    us += TICK_US;
    const name = scripts.get(script.sha) ?? `with the keys ${script.keys.join(', ')}`;
    const call = namedCall(name, script, { keys, args, us, state });
    const [, { answer, error }, found] = await Promise.all([
      conn.command('set', clockOf(project), us),
      conn.script(sent, keys, args).then(answered, refused),
      dumpText(conn, prefix),
    ]);
    for (const said of saidBy(call, answer)) tally.set(said, (tally.get(said) ?? 0) + 1);
    const before = state;
    const reference = expected(before, dump, call);
    note(found, name);
    const comparable = name === 'claim' ? withoutFields(answer) : answer;
    // How its clock comes back to the server's is the project's own affair.
    const { clock, ahead } = state;
    const wrong = differences({ ...reference.state, clock, ahead }, state);
    if (reference.answer !== undefined) wrong.push(...differences(reference.answer, comparable, '.answer'));
    wrong.push(...undeclaredMoves(script, before, state));
    wrong.push(...judge({ before, after: state, call, answer }));
    for (const problem of wrong) tell(`${name}: ${problem}`);
    if (error !== undefined) throw error;
    return answer;
  }

  async function command(
    name: string,
    args: readonly (string | number)[],
    by: Pick<RunStoreConnection, 'command'> = conn,
  ): Promise<unknown> {
    us += TICK_US;
    const answer = await by.command(name, ...args);
    if (WRITING.has(name)) note(await dumpText(conn, prefix), name);
    return answer;
  }

  const fail = async (): Promise<never> => (await nobody.command('ping')) as never;
  return {
    state: () => state,
    now: () => Math.floor(us / 1_000),
    pass: (ms) => void (us += ms * 1_000),
    connect: () => ({
      healthy: () => true,
      ready: () => Promise.resolve(),
      close: () => Promise.resolve(),
      // Nothing is announced in a history.
      subscriber: () => UNTOLD,
      replicated: conn.replicated,
      onFailover: conn.onFailover,
      serverOf: () => ({
        command: (name, ...args) =>
          network.send('store', () => command(name, args, conn.serverOf(project)), fail),
      }),
      primaries: conn.primaries,
      primaryOf: conn.primaryOf,
      together: conn.together,
      script: (script, keys, args) => network.send('store', () => execute(script, keys, args), fail),
      command: (name, ...args) => network.send('store', () => command(name, args), fail),
    }),
    remove: (names) =>
      network.oneByOne(async () => {
        if (names === undefined) await removeAll(conn, prefix);
        else if (names.length > 0) await conn.command('unlink', ...names);
        note(await dumpText(conn, prefix), 'keys were gone');
      }),
    leave: async () => {
      await removeAll(conn, prefix);
      await conn.command('unlink', clockOf(project));
    },
  };
}

/**
 * Runs that the script moved from one state to another without declaring it. A seeding removes runs of every
 * state.
 */
function undeclaredMoves({ transitions }: Script, before: State, after: State): string[] {
  if (before.id === undefined && after.id === undefined) return [];
  const names = new Set([...Object.keys(before.runs), ...Object.keys(after.runs)]);
  return [...names].flatMap((name) => {
    const [from, to] = [before, after].map(({ runs }) => placeOf(runs[name]));
    const move = `${from} > ${to}`;
    return from === to || transitions.some((declared) => declared === move)
      ? []
      : [`${name} moved from ${move}`];
  });
}

function placeOf(run: Run | undefined): RunPlace {
  if (!run || run.dropped) return 'none';
  if (run.ended !== undefined) return 'ended';
  if (run.token !== undefined) return 'claimed';
  if (run.ready !== undefined) return 'ready';
  return run.overLimit ? 'overLimit' : 'parked';
}

const clockOf = (project: string) => `clock:{${project}}`;

/** Instead of the server's own: the same script at the time of the history. */
const CLOCK = `local clock = redis.call('GET', 'clock:' .. string.match(KEYS[1], '{[^}]*}'))
local time = {string.sub(clock, 1, -7), string.sub(clock, -6)}`;

/** Gives the server the script at the time of the history. */
async function loadTimed(conn: RunStoreConnection, script: Script): Promise<Script> {
  // The server has what is sent, also where it is a primary of a Redis Cluster.
  const lua = shardedScript(script).lua.replaceAll("local time = redis.call('TIME')", CLOCK);
  if (lua.includes("'TIME'")) throw new Error('a script asks for the time in a way of its own');
  for (const { command } of await conn.primaries()) await command('script', 'load', lua);
  return { ...script, lua, sha: createHash('sha1').update(lua).digest('hex') };
}

type Answered = { answer: unknown; error?: unknown };

const answered = (answer: unknown): Answered => ({ answer });

/** An empty store refuses; anything else is a defect, or a machine that is too slow. */
function refused(error: unknown): Answered {
  const { message } = error as Error;
  if (message.startsWith('NOLOG')) return { answer: 'NOLOG', error };
  throw error;
}

/** Of runs that the tally counts apart. */
function kindOf({ args: { head = '{}', in_doubt } }: Call): string {
  const { trigger, origin } = JSON.parse(head) as { trigger?: string; origin?: string };
  const kind = trigger === 'onFailure' ? ' after a failure' : origin === undefined ? '' : ' resumed';
  return head !== '{}' && in_doubt === '1' ? `${kind} in doubt` : kind;
}

/** What the tally counts: of a submission each event. */
function saidBy(call: Call, answer: unknown): string[] {
  if (call.name !== 'submit' || !Array.isArray(answer))
    return [`${call.name} ${inAWord(answer)}${kindOf(call)}`];
  return eventsOf(call).map((event, index) => `submit ${inAWord(answer[index])}${kindOf(event)}`);
}

/** An answer for the tally. */
function inAWord(answer: unknown): string {
  const [first] = Array.isArray(answer) ? answer : [answer];
  if (Array.isArray(first)) return first.length === 0 ? 'nothing' : 'something';
  return typeof first === 'string' && /^[\w-]{1,12}$/.test(first) ? first : typeof first;
}

/** What a claim answers, without the runs themselves. */
function withoutFields(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer;
  const [taken, ...rest] = answer as [unknown[][], ...unknown[]];
  return [taken.map((run) => run.slice(0, 6)), ...rest];
}
