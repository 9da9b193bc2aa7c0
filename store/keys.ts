/**
 * The names of all keys of the run store. Every key of a project begins with `wl:{<uid of its namespace>}:`; the braces
 * are a hash tag, so that one project lies on one server, and an account of one project can reach no other.
 * Keys that belong to no project are in `oauth/keys.ts` and `sessions/keys.ts`.
 *
 * | key | type | holds |
 * | --- | --- | --- |
 * | `meta` | hash | `id` of the store, `seeding` (token) before it has one, `opened` (when it got it, ms), `clock` (the project's clock when it was last written, ms) and `ahead` (by how much it is ahead of the server's, which went back), `bytes` of runs and of what polled triggers remember, `quota` of them for `submit` and `claimQuota` for `claim`, `growth` (bytes that a run is expected to grow by), `short` (1: claims are held back for lack of room), bytes of `keys` (dedupe), `summaries` and `replies`, `keyQuota`, `settled` (until when `expiring` was taken off), `v` (virtual time), ends of this minute (`minute`, `ends`: one more for each 8 KiB of a run's live events), write budget (`rate`, `tokens`, `filled`) |
 * | `q` | sorted set | runs that are ready, by virtual start time |
 * | `held` | sorted set | runs over their workflow's limit, in order of acceptance |
 * | `due` | sorted set | runs that wait and hold no runner, by the time (ms, the project's clock) at which they are ready again |
 * | `live` | sorted set | runs that have not ended, live runs and test runs, of workflows whose newer runs replace older ones |
 * | `claims` | hash | run → claim token: `<runner>/<group>/<random>` |
 * | `beats` | hash | runner → counter |
 * | `cancels` | set | runs that shall be cancelled by the runner that holds them |
 * | `replaced` | hash | run → the run that replaces it, of those in `cancels` that a newer run replaces |
 * | `deleting` | hash | workflow → name: workflows that were deleted, as long as runs of them are left |
 * | `out` | sorted set | runs whose record is behind, by the time from which they may be taken |
 * | `checks` | sorted set | credentials that a runner shall try, by the time (ms) from which they may be taken |
 * | `check:<credential>` | hash | what is to be tried (`key`, `request`, `asked`) and what was found last (`answer`, `answered`); gone after three days |
 * | `registrations` | sorted set | bots whose updates a runner shall have sent here, or not any more, by the time (ms) from which they may be taken |
 * | `registration:<credential>` | hash | as `check:<credential>` |
 * | `wf:<group>` | hash | of the live runs, or the test runs, of a workflow: limits (`limit`, `policy`, `timeout`, `keep:<phase>`), `active` (runs that are ready or claimed, what the limit counts), `vt` (virtual time at which its next run starts), exact totals (`accepted`, one per phase), `last` acceptance (µs), `reported` (failed runs that Events have told of), `waiting:<phase>`: ended and not recorded, bytes of `summaries`, `deleted`: its runs are deleted; five minutes after the last of them the key goes |
 * | `run:<id>` | hash | the run; `restored` (the epoch of the record that it was put back from, until its runner stored it again), `doubt` (it may have gone on after that record), `n:<node>` is what a node is at, `w:<node>` when one that waits is tried again (ms, the project's clock) |
 * | `ev:<id>` | list | live events, each `<number> <at> <json>` |
 * | `dk:<workflow>:<hash>` | hash | dedupe: run, hash of the body; once the run is recorded the phase, empty where there was a reply |
 * | `reply:<workflow>:<hash>` | string | the reply of a recorded run whose event had that dedupe key; gone after an hour |
 * | `expiring` | hash | bytes of dedupe keys and replies by the time at which they expire: `<field of meta> <time>` |
 * | `runs:<group>` | sorted set | all runs of the group that have a `run:<id>`, by acceptance (µs) |
 * | `done:<group>` | sorted set | ended runs of which only a line is left, by acceptance (µs) |
 * | `lines:<group>` | hash | run → line about it |
 * | `rev:<name>` | string | a revision |
 * | `polls` | set | the workflows whose trigger is polled |
 * | `poll:<workflow>` | hash | a polled trigger: `config` (JSON), `interval` and `early` (ms), `put` (when it came, ms); `token` and `until` of the one who looks; `cursor`, `at` (when the last look began, ms), `polled` (when the last look that worked began, ms), `failures` in a row, `notBefore` (ms), `reason` and `error` of the last one, `lost`: why the cursor was given up, to be told; `memory`: the name of what is kept for it; `n:<what>`: what was counted of looks, until the operator takes it |
 * | `kept:<workflow>` | hash | what a polled trigger remembers beside its cursor, by name (base64): what is in force, and what is to be |
 *
 * Workflows and credentials are named by uid, groups of runs as `groups.ts` says. All of one is in one hash, so that a transition reads and writes it at once. In `q`, `held`, `due` and `live` a run is its entry: `<group> <accepted, µs> <run>`. Channels have
 * the names of keys: `q` announces work, `run:<id>` what happens to a run, `cancels` a run that shall be cancelled, `checks` a credential to try, `registrations` a bot to register.
 */
import { workflowOfGroup, type RunGroup } from './groups.ts';

/** A project in the run store, by the uid of its namespace. */
export type ProjectUid = string;

const PROJECT_KEYS = [
  'meta',
  'q',
  'held',
  'due',
  'live',
  'claims',
  'beats',
  'cancels',
  'replaced',
  'deleting',
  'out',
  'checks',
  'registrations',
  'polls',
  'expiring',
] as const;

export type ProjectKey = (typeof PROJECT_KEYS)[number];

export type ProjectKeys = Readonly<Record<ProjectKey, string>> & {
  prefix: string;
  wf: (group: RunGroup) => string;
  run: (id: string) => string;
  ev: (id: string) => string;
  dk: (workflowUid: string, hash: string) => string;
  runs: (group: RunGroup) => string;
  done: (group: RunGroup) => string;
  lines: (group: RunGroup) => string;
  reply: (workflowUid: string, hash: string) => string;
  check: (credentialUid: string) => string;
  registration: (credentialUid: string) => string;
  rev: (name: string) => string;
  poll: (workflowUid: string) => string;
  kept: (workflowUid: string) => string;
};

const known = new Map<ProjectUid, ProjectKeys>();

/** The keys of a project. */
export function keysOf(project: ProjectUid): ProjectKeys {
  let keys = known.get(project);
  if (!keys) known.set(project, (keys = makeKeys(project)));
  return keys;
}

/** The project that a key belongs to, if it is one of the run store's. */
export function projectOfKey(key: string): ProjectUid | undefined {
  return /^wl:\{([^}]+)\}:/.exec(key)?.[1];
}

/** The uid of the workflow that a key is about: limits and totals of its live runs, or of its test runs. */
export function workflowOfKey(key: string): string | undefined {
  const group = /^wl:\{[^}]+\}:wf:(.+)$/.exec(key)?.[1];
  return group === undefined ? undefined : workflowOfGroup(group);
}

function makeKeys(project: ProjectUid): ProjectKeys {
  // A brace would end the hash tag, a star would widen an account's pattern.
  if (!/^[A-Za-z0-9-]{1,64}$/.test(project))
    throw new Error('a project is named by the uid of its namespace');
  const prefix = `wl:{${project}}:`;
  const fixed = Object.fromEntries(PROJECT_KEYS.map((name) => [name, prefix + name]));
  return {
    ...(fixed as Record<ProjectKey, string>),
    prefix,
    wf: (group) => `${prefix}wf:${group}`,
    run: (id) => `${prefix}run:${id}`,
    ev: (id) => `${prefix}ev:${id}`,
    dk: (workflowUid, hash) => `${prefix}dk:${workflowUid}:${hash}`,
    runs: (group) => `${prefix}runs:${group}`,
    done: (group) => `${prefix}done:${group}`,
    lines: (group) => `${prefix}lines:${group}`,
    reply: (workflowUid, hash) => `${prefix}reply:${workflowUid}:${hash}`,
    check: (credentialUid) => `${prefix}check:${credentialUid}`,
    registration: (credentialUid) => `${prefix}registration:${credentialUid}`,
    rev: (name) => `${prefix}rev:${name}`,
    poll: (workflowUid) => `${prefix}poll:${workflowUid}`,
    kept: (workflowUid) => `${prefix}kept:${workflowUid}`,
  };
}
