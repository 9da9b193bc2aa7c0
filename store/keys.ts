/**
 * The keys of the run store: the name of each in Redis, and in code. Every key of a project begins with
 * `wl:{<uid of its namespace>}:`. The braces are a hash tag: all keys of a project are on one server, and the
 * account of one project can access no other. Keys that belong to no project are in `oauth/keys.ts` and
 * `sessions/keys.ts`. Names in Redis never change, because programs of two versions share them.
 *
 * - `meta`, a hash: see below
 * - `callbacks`, a hash: `url` (of the public listener), `current` (ID of the key for new URLs of callbacks),
 *   `key:<id>` (base64url)
 * - `q` (in code `ready`), a sorted set: runs that are ready, by virtual start time
 * - `held` (in code `overLimit`), a sorted set: runs over their workflow's limit, in order of acceptance
 * - `due` (in code `parked`), a sorted set: runs that wait and hold no runner, by the time (ms, the project's
 *   clock) at which they become ready
 * - `live` (in code `replaceable`), a sorted set: unfinished runs of workflows with the policy `Replace`
 * - `claims`, a hash: run → claim token: `<runner>/<group>/<random>`
 * - `claims.moved` (in code `movedClaims`): `claims` while the project is closed for a move (`move/`)
 * - `beats` (in code `heartbeats`), a hash: runner → counter
 * - `workflows` (in code `callees`), a hash: the name of a valid workflow → its uid and the name of its
 *   revision, which its child runs execute
 * - `children:<id>`, a set: unfinished child runs that the run waits for
 * - `descendants:<id>`, a number: how many child runs a run without a parent has, on all levels. Expires an
 *   hour after the last one
 * - `cancels`, a set: claimed runs that their runner shall cancel
 * - `replaced`, a hash: run in `cancels` → the run that replaces it
 * - `deleting`, a hash: workflow → name: workflows whose deletion has begun and not ended
 * - `out` (in code `unrecorded`), a sorted set: runs whose record is behind, by the time from which a
 *   recorder may lease them
 * - `open` (in code `unfinished`), a sorted set: unfinished runs that are or will be recorded, as `<group>
 *   <run>`
 * - `extra` (in code `beyond`), a sorted set: unfinished runs that are not, because there are too many
 * - `checks`, `registrations`, a sorted set: credentials and bots with a request to runners, by the time (ms)
 *   from which a runner may take it
 * - `failures`, a hash: run → JSON: ended runs whose error workflow has not been started (`runs/failures.ts`)
 * - `check:<credential>`, `registration:<credential>`, a hash: the request (`key`, `request`, `asked`) and
 *   the last answer (`answer`, `answered`). Expires three days after it was used
 * - `wf:<group>`, a hash: see below
 * - `run:<id>`, a hash: the run. `restored`: the epoch of the record that it was restored from, until its
 *   runner has stored it again. `doubt`: effects may have happened that it does not show. `n:<node>`: the
 *   state of a node. `w:<node>`: when a waiting node is tried again (ms, the project's clock). `vars`: the
 *   hash of its variables. `signaled`: how many signals it has and the key of the last one. `unreported`: 1
 *   until its entry in `failures` allows the record of its end. `onFailure`: JSON, the run that its failure
 *   started, or why none was. `tokens`, `cost` (nano-units), `currency`: what is charged to it. `estimated`:
 *   how many of the tokens are reserved and not settled
 * - `items:<id>`, a hash: the items of loops in progress and their nodes, by key
 * - `calls:<id>`, a hash: the calls of agents in progress, by `<located key of the node>/` and `m<k>` (answer
 *   k of the model), `m<k>.<i>` (result of its tool call i), `m<k>.<i>!` (start mark of a tool call that did
 *   not start with its answer), `m<k>.<i>?` (why its effect is in doubt). Each is written once
 * - `spent:<id>`, a hash: `r <call>#<delivery>` → a reservation that is not settled: tokens, nano-units, day,
 *   located key of the step, rates; `tokens <located key>` and `cost <located key>`: what is charged to a
 *   step with a budget. Expires after 100 days
 * - `usage`, a hash: what is charged to a group of runs, and to the whole project as `project`, on its last
 *   day: `<group>:day` (days since 1970), `<group>:tokens`, `<group>:cost` (nano-units), `<group>:currency`
 * - `signals:<id>`, a hash: located key of a node → the signal that it waits for, as JSON. Written once
 * - `failed:<id>`, `faileditems:<id>` (in code `failedItems`), hashes: a failed run that has left the store,
 *   for runs that resume it: as `run:<id>` and `items:<id>`. Expire after a day
 * - `mem:<group>` (in code `memory`), a hash: the turns of agents' memories: `<space>.<n>` → JSON. `<space>`
 *   is the hash of a name and a key
 * - `mems:<group>` (in code `memories`), a hash: `<space>` → `<first n> <next n> <bytes> <last use, ms>
 *   <expiry, ms> <deletion, µs; 0: none> <name> <key>`. A deleted memory has the name `-`
 * - `memexpiry` (in code `memoryExpiry`), a sorted set: `<group>/<space>` by expiry (ms, the project's clock)
 * - `memlocks` (in code `memoryLocks`), a hash: `<group>/<space>` → lines `<state> <run> <located key> <entry
 *   of the run>`, the first of which owns the memory; `r:<run>` → the spaces in which the run has lines.
 *   States: `o` owns it and knows, `p` owns it and must be told, `w` waits
 * - `ev:<id>` (in code `events`), a list: live events, each `<number> <at> <json>`
 * - `dk:<workflow>:<hash>` (in code `dedupe`), a hash: of a dedupe key: its run, and the hash of the body.
 *   Once the run is recorded also its phase, empty if there was a reply
 * - `reply:<workflow>:<hash>`, a string: the reply of a recorded run with that dedupe key. Expires after an
 *   hour
 * - `chat:<workflow>:<session>`, a hash: of a session of a chat: its last message (`message`), the run of it
 *   (`run`), and when it came (`at`, ms, the project's clock). Expires after an hour
 * - `listen:<uid of the WorkflowRun>` (in code `listening`), a string: the test run that waits for its event,
 *   as JSON. Whoever takes it starts the run. Expires seconds after the run stops listening
 * - `barrier:<connection>`, a string: what a barrier of a connection wrote last (`barrier.ts`). Expires after
 *   a minute
 * - `expiring`, a hash: `<field of meta> <time>` → bytes of dedupe keys and replies that expire at that time
 * - `runs:<group>`, a sorted set: all runs of the group that have a `run:<id>`, by acceptance (µs)
 * - `done:<group>` (in code `summarized`), a sorted set: runs of the group that have a summary, by acceptance
 *   (µs)
 * - `lines:<group>` (in code `summaries`), a hash: run → summary
 * - `rev:<name>` (in code `revision`), a string: a revision
 * - `seen:<workflow>:<node>`, a sorted set: hashes of the seen keys of a node, by `<minute at
 *   which it expires> × 2^26 + <26 bits of the hash of the run>`
 * - `seenby:<workflow>` (in code `seenNodes`), a set: nodes that have seen keys
 * - `vars:<hash>` (in code `variables`), a string: the variables of a project, as JSON
 * - `polls`, a set: workflows with a polled trigger
 * - `poll:<workflow>`, a hash: see below
 * - `kept:<workflow>` (in code `knownItems`), a hash: known items of a polled trigger (base64), by name:
 *   those in force, and those of the poll that goes on
 *
 * `meta`: `id` of the store, or `seeding` (token) before it has one, or `moved` (that id) where the project
 * is closed, because its data moves to another run store, or has moved; `opened` (when it got the id, ms);
 * `clock` (the project's clock when it was last written, ms) and `ahead` (by how many ms it is ahead of a
 * server whose clock went back); `bytes` of runs, known items, seen keys and memories, their `quota` for
 * `submit` and `claimQuota` for `claim`; `memory` (those of agents' memories); `growth` (bytes that a run is
 * expected to grow by); `short` (1: claims wait for room); bytes of `keys` (dedupe), `summaries`, `replies`
 * and `kept` (failed runs); `keyQuota`; `settled` (until when `expiring` was subtracted); `v` (virtual
 * time); `claimed` (when runs were last claimed, ms); `vars` (hash of the current variables);
 * `unfinished` (how many unfinished runs may be recorded); ends of this minute (`minute`,
 * `ends`: one more for each 8 KiB of a run's live events); the write budget (`rate`, `tokens`, `filled`);
 * `poller` and `pollerUntil` (ms): the runner that polls, and the end of its lease; `pollsPut` and
 * `pollsFixed`: how often a polled trigger was added or changed, and may have recovered; `pollsSeen`: the
 * `pollsPut` that a runner has seen.
 *
 * `wf:<group>`: limits (`limit`, `policy`, `timeout`, `keep:<phase>`); `active` (runs that are ready or
 * claimed: the limit counts them); `vt` (virtual time at which its next run starts); totals (`accepted`, one
 * for each phase); `last` acceptance (µs); `reported` (failed runs that Events have reported);
 * `budget:<scope>:tokens` and `budget:<scope>:cost` (limits of `run`, `day` and `project`; empty: none);
 * `onFailure` (JSON, of live runs: the workflow that a failure starts); `waiting:<phase>` (ended and not
 * recorded); bytes of `summaries`; `deleted` (its runs are being deleted).
 * The key is removed five minutes after the last run was deleted.
 *
 * `poll:<workflow>`: `config` (JSON), `interval` and `early` (ms), `put` (when the operator stored it, ms);
 * `token` and `until` of the claim; `cursor`; `at` (when the last poll began, ms), `polled` (when the last
 * successful poll began, ms); `failures` in a row, `notBefore` (ms), `reason` and `error` of the last
 * failure; `lost` (why the cursor was dropped, until it is reported); `memory` (name of the known items in
 * force); `n:<name>` (counts of polls, until the operator takes them).
 *
 * Workflows and credentials are named by uid, groups of runs as `groups.ts` says. In `q`, `held`, `due` and
 * `live` a run is its entry: `<group> <accepted, µs> <run>`. Channels have the names of keys: `q` announces
 * ready runs, `run:<id>` changes of a run, `cancels` runs to cancel, `signaled` claimed runs with
 * a new signal, `checks` and `registrations` requests, `polls` polled triggers that became due at once, and
 * that a runner polls no more.
 */
import { workflowOfGroup, type RunGroup } from './groups.ts';

/** A project in the run store, by the uid of its namespace. */
export type ProjectUid = string;

/** The names in Redis of the keys that a project has once. */
const PROJECT_KEYS = {
  meta: 'meta',
  ready: 'q',
  overLimit: 'held',
  parked: 'due',
  replaceable: 'live',
  claims: 'claims',
  movedClaims: 'claims.moved',
  heartbeats: 'beats',
  cancels: 'cancels',
  signaled: 'signaled',
  callbacks: 'callbacks',
  replaced: 'replaced',
  deleting: 'deleting',
  unrecorded: 'out',
  unfinished: 'open',
  beyond: 'extra',
  checks: 'checks',
  registrations: 'registrations',
  polls: 'polls',
  callees: 'workflows',
  expiring: 'expiring',
  failures: 'failures',
  usage: 'usage',
  memoryExpiry: 'memexpiry',
  memoryLocks: 'memlocks',
} as const;

export type ProjectKey = keyof typeof PROJECT_KEYS;

/**
 * The name of a key in a script: a key of a project, or one that the caller names. `requests` and `request`
 * stand for those of one kind of request, `parent`, `parentWf`, `parentSignals` and `siblings` (the children
 * of the parent) for those of the parent of a child run, `secret`, `counter`, `codes` and `moveMark` for keys
 * that belong to no project.
 */
export type KeyName =
  | Exclude<keyof ProjectKeys, 'prefix'>
  | 'requests'
  | 'request'
  | 'parent'
  | 'parentWf'
  | 'parentSignals'
  | 'siblings'
  | 'secret'
  | 'counter'
  | 'codes'
  | 'moveMark';

export type ProjectKeys = Readonly<Record<ProjectKey, string>> & {
  prefix: string;
  wf: (group: RunGroup) => string;
  run: (id: string) => string;
  events: (run: string) => string;
  items: (run: string) => string;
  calls: (run: string) => string;
  spent: (run: string) => string;
  children: (run: string) => string;
  descendants: (run: string) => string;
  signals: (run: string) => string;
  failed: (run: string) => string;
  failedItems: (run: string) => string;
  dedupe: (workflowUid: string, hash: string) => string;
  runs: (group: RunGroup) => string;
  summarized: (group: RunGroup) => string;
  summaries: (group: RunGroup) => string;
  reply: (workflowUid: string, hash: string) => string;
  check: (credentialUid: string) => string;
  registration: (credentialUid: string) => string;
  revision: (name: string) => string;
  variables: (hash: string) => string;
  poll: (workflowUid: string) => string;
  knownItems: (workflowUid: string) => string;
  seen: (workflowUid: string, node: string) => string;
  seenNodes: (workflowUid: string) => string;
  memory: (group: RunGroup) => string;
  memories: (group: RunGroup) => string;
  chat: (workflowUid: string, session: string) => string;
  listening: (recordUid: string) => string;
  barrier: (connection: string) => string;
};

const known = new Map<ProjectUid, ProjectKeys>();

/** The keys of a project. */
export function keysOf(project: ProjectUid): ProjectKeys {
  let keys = known.get(project);
  if (!keys) known.set(project, (keys = makeKeys(project)));
  return keys;
}

/** The project that a key of the run store belongs to. */
export function projectOfKey(key: string): ProjectUid | undefined {
  return /^wl:\{([^}]+)\}:/.exec(key)?.[1];
}

/** The uid of the workflow of a `wf` key. */
export function workflowOfKey(key: string): string | undefined {
  const group = /^wl:\{[^}]+\}:wf:(.+)$/.exec(key)?.[1];
  return group === undefined ? undefined : workflowOfGroup(group);
}

function makeKeys(project: ProjectUid): ProjectKeys {
  // A brace would end the hash tag, a star would widen an account's pattern.
  if (!/^[A-Za-z0-9-]{1,64}$/.test(project))
    throw new Error('a project is named by the uid of its namespace');
  const prefix = `wl:{${project}}:`;
  const fixed = Object.entries(PROJECT_KEYS).map(([name, key]) => [name, prefix + key]);
  return {
    ...(Object.fromEntries(fixed) as Record<ProjectKey, string>),
    prefix,
    wf: (group) => `${prefix}wf:${group}`,
    run: (id) => `${prefix}run:${id}`,
    events: (run) => `${prefix}ev:${run}`,
    items: (run) => `${prefix}items:${run}`,
    calls: (run) => `${prefix}calls:${run}`,
    spent: (run) => `${prefix}spent:${run}`,
    children: (run) => `${prefix}children:${run}`,
    descendants: (run) => `${prefix}descendants:${run}`,
    signals: (run) => `${prefix}signals:${run}`,
    failed: (run) => `${prefix}failed:${run}`,
    failedItems: (run) => `${prefix}faileditems:${run}`,
    dedupe: (workflowUid, hash) => `${prefix}dk:${workflowUid}:${hash}`,
    runs: (group) => `${prefix}runs:${group}`,
    summarized: (group) => `${prefix}done:${group}`,
    summaries: (group) => `${prefix}lines:${group}`,
    reply: (workflowUid, hash) => `${prefix}reply:${workflowUid}:${hash}`,
    check: (credentialUid) => `${prefix}check:${credentialUid}`,
    registration: (credentialUid) => `${prefix}registration:${credentialUid}`,
    revision: (name) => `${prefix}rev:${name}`,
    variables: (hash) => `${prefix}vars:${hash}`,
    poll: (workflowUid) => `${prefix}poll:${workflowUid}`,
    knownItems: (workflowUid) => `${prefix}kept:${workflowUid}`,
    seen: (workflowUid, node) => `${prefix}seen:${workflowUid}:${node}`,
    seenNodes: (workflowUid) => `${prefix}seenby:${workflowUid}`,
    memory: (group) => `${prefix}mem:${group}`,
    memories: (group) => `${prefix}mems:${group}`,
    chat: (workflowUid, session) => `${prefix}chat:${workflowUid}:${session}`,
    listening: (recordUid) => `${prefix}listen:${recordUid}`,
    barrier: (connection) => `${prefix}barrier:${connection}`,
  };
}
