/** From the keys of a project to its state; and what of the keys says something that no state can say. */
import type { RunPhase } from '../../api/phase.ts';
import type { DumpedKey, EventKey, KeptRun, Run, State, Totals, Workflow } from './state.ts';

type Fields = Record<string, string>;
type Scores = ReadonlyMap<string, number>;

/** `problems`: entries without their run, indexes that disagree. */
export type Parsed = { state: State; problems: string[] };

/** Reads all keys of a project. */
export function parseState(prefix: string, dump: readonly DumpedKey[]): Parsed {
  const keys = new Map(dump.map((entry) => [entry.key.slice(prefix.length), entry]));
  const problems: string[] = [];
  const hash = (name: string): Fields => pairs(keys.get(name)?.value ?? []);
  const scores = (name: string): Scores =>
    new Map(Object.entries(hash(name)).map(([member, at]) => [member, Number(at)]));
  const named = (kind: string) => [...keys].filter(([name]) => name.startsWith(`${kind}:`));
  const state: State = {
    ...metaOf(hash('meta')),
    workflows: record(named('wf'), 'wf', ({ value }) => workflowOf(pairs(value))),
    runs: record(named('run'), 'run', ({ value }) => runOf(pairs(value))),
    keys: Object.fromEntries(named('dk').map(([, { key, value, kept }]) => [key, keyOf(pairs(value), kept)])),
    children: record(named('children'), 'children', ({ value }) =>
      Object.fromEntries(value.map((child): [string, true] => [child, true])),
    ),
    failures: hash('failures'),
    kept: record(named('failed'), 'failed', ({ value }) => keptOf(runOf(pairs(value)))),
    replies: Object.fromEntries(named('reply').map(([, { key, value }]) => [key, value[0] ?? ''])),
    summaries: {},
    beats: numbers(hash('beats')),
  };
  addPlaces(state, problems, { scores, hash, cancels: keys.get('cancels')?.value ?? [] });
  for (const [name, { value }] of named('items')) {
    const run = state.runs[name.slice(6)];
    if (run) run.items = pairs(value);
    else problems.push(`${name} is of a run that is not there`);
  }
  for (const [name, { value }] of named('faileditems')) {
    const run = state.kept[name.slice(12)];
    if (run) run.items = pairs(value);
    else problems.push(`${name} is of a run that is not kept`);
  }
  for (const [name, { value }] of named('signals')) {
    const run = state.runs[name.slice(8)];
    if (run) run.signals = pairs(value);
    else problems.push(`${name} is of a run that is not there`);
  }
  for (const [name, { value }] of named('runs')) addListed(state, problems, name.slice(5), pairs(value));
  for (const [name, { value }] of named('lines')) {
    const done = hash(`done:${name.slice(6)}`);
    for (const [run, line] of Object.entries(pairs(value))) {
      if (done[run] === undefined) problems.push(`${run} has a summary that is in no list`);
      state.summaries[run] = { wf: name.slice(6), accepted: whole(done[run]), line };
    }
    if (Object.keys(done).length !== value.length / 2) problems.push(`${name} and its list differ`);
  }
  return { state, problems };
}

function addPlaces(
  state: State,
  problems: string[],
  {
    scores,
    hash,
    cancels,
  }: { scores: (n: string) => Scores; hash: (n: string) => Fields; cancels: string[] },
): void {
  const put = (key: string, name: string, change: (run: Run) => void) => {
    const run = state.runs[name];
    if (run) change(run);
    else problems.push(`${key} names the run ${name}, which is not there`);
  };
  const putEntry = (key: string, entry: string, change: (run: Run) => void) => {
    const [wf, accepted, name = ''] = entry.split(' ');
    const run = state.runs[name];
    if (run && (run.wf !== wf || run.accepted !== accepted))
      problems.push(`${key} has a wrong entry ${entry}`);
    put(key, name, change);
  };
  for (const [entry, at] of scores('q')) putEntry('q', entry, (run) => (run.ready = at));
  for (const [entry] of scores('held')) putEntry('held', entry, (run) => (run.overLimit = true));
  for (const [entry, at] of scores('due')) putEntry('due', entry, (run) => (run.due = at));
  for (const [entry] of scores('live')) putEntry('live', entry, (run) => (run.live = true));
  for (const [name, at] of scores('out')) put('out', name, (run) => (run.out = at));
  const nameOf = (entry: string) => entry.slice(entry.indexOf(' ') + 1);
  for (const [entry] of scores('open')) put('open', nameOf(entry), (run) => (run.isRecorded = true));
  for (const [entry] of scores('extra')) put('extra', nameOf(entry), (run) => (run.isRecorded = false));
  for (const [name, token] of Object.entries(hash('claims')))
    put('claims', name, (run) => (run.token = token));
  for (const [name, by] of Object.entries(hash('replaced')))
    put('replaced', name, (run) => (run.replacedBy = by));
  for (const name of cancels) put('cancels', name, (run) => (run.cancel = true));
}

function addListed(state: State, problems: string[], wf: string, listed: Fields): void {
  for (const [name, at] of Object.entries(listed)) {
    const run = state.runs[name];
    if (run?.wf !== wf || run.accepted !== whole(at)) problems.push(`runs:${wf} has a wrong entry ${name}`);
    else run.listed = true;
  }
}

function metaOf({ id, seeding, v, short, clock, ahead, ...fields }: Fields) {
  const { opened, quota, claimQuota, keyQuota, unfinished, rate, tokens, filled } = fields;
  return {
    ...given({ id, seeding }),
    v: Number(v ?? 0),
    isShort: short === '1',
    clock: Number(clock ?? 0),
    ahead: Number(ahead ?? 0),
    ...numbers(given({ opened, quota, claimQuota, keyQuota, unfinished, rate, tokens, filled })),
  };
}

function workflowOf(fields: Fields): Workflow {
  const count = (name: string) => Number(fields[name] ?? 0);
  const totals = (prefix: string, missing = 0): Totals => ({
    Succeeded: Number(fields[`${prefix}Succeeded`] ?? missing),
    Failed: Number(fields[`${prefix}Failed`] ?? missing),
    Cancelled: Number(fields[`${prefix}Cancelled`] ?? missing),
  });
  return {
    ...numbers(given({ limit: fields['limit'], timeout: fields['timeout'] })),
    ...given({ onFailure: fields['onFailure'] }),
    policy: fields['policy'] ?? '',
    suspended: fields['suspended'] === '1',
    active: count('active'),
    vt: count('vt'),
    accepted: count('accepted'),
    last: count('last'),
    ended: totals(''),
    waiting: totals('waiting:'),
    keep: totals('keep:'),
  };
}

function runOf(fields: Fields): Run {
  const { timeout, deadline, started, ended, restored, reason, message, reply, recorded, creating } = fields;
  const own = (prefix: string) =>
    Object.fromEntries(
      Object.entries(fields)
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, value]) => [name.slice(2), value]),
    );
  return {
    wf: fields['wf'] ?? '',
    accepted: fields['accepted'] ?? '',
    phase: fields['phase'] as RunPhase,
    epoch: Number(fields['epoch'] ?? 0),
    sequence: Number(fields['sequence'] ?? 0),
    head: fields['head'] ?? '',
    input: fields['input'] ?? '',
    nodes: own('n:'),
    waits: numbers(own('w:')),
    items: {},
    signals: {},
    signaled: fields['signaled'] ?? '',
    ...given({ parent: fields['parent'], onFailure: fields['onFailure'] }),
    ...numbers(given({ timeout, deadline, started, ended, restored })),
    ...given({ reason, message, reply, recorded, creating }),
    crashes: Number(fields['crashes'] ?? 0),
    wasClaimed: fields['crashes'] !== undefined,
    progress: fields['progress'] === '1',
    refused: Number(fields['refused'] ?? 0),
    dropped: fields['dropped'] !== undefined,
    doubt: fields['doubt'] !== undefined,
    overLimit: false,
    cancel: false,
    live: false,
    listed: false,
    unreported: fields['unreported'] !== undefined,
  };
}

/** What runs that resume it need of a failed run. */
export function keptOf({ wf, phase, head, input, nodes, items, doubt }: Run): KeptRun {
  return { wf, phase, head, input, nodes, items, doubt };
}

function keyOf({ run = '', body = '', phase }: Fields, kept: boolean): EventKey {
  return { run, body, ...(phase !== undefined && { phase }), expires: !kept };
}

function record<T>(
  entries: [string, DumpedKey][],
  kind: string,
  make: (key: DumpedKey) => T,
): Record<string, T> {
  return Object.fromEntries(entries.map(([name, key]) => [name.slice(kind.length + 1), make(key)]));
}

function pairs(flat: readonly string[]): Fields {
  const fields: Fields = {};
  for (let at = 0; at < flat.length; at += 2) fields[flat[at] ?? ''] = flat[at + 1] ?? '';
  return fields;
}

function numbers(fields: Fields): Record<string, number> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, Number(value)]));
}

/** Without what is missing or empty. */
function given(fields: Record<string, string | undefined>): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => Boolean(pair[1])),
  );
}

/** A score as Redis prints it, as the whole number that it is. */
function whole(score: string | undefined): string {
  return score === undefined ? '' : String(Number(score));
}
