/** The keys of a script that is about one run, as the script declares them. */
import { workflowOfGroup, type RunGroup } from '../store/groups.ts';
import { keysOf, type KeyName, type ProjectKey, type ProjectKeys, type ProjectUid } from '../store/keys.ts';
import type { Script } from '../store/script.ts';
import { groupOfToken } from './claimToken.ts';
import type { ParentRef } from './types/run.ts';

type Subject = {
  project: ProjectUid;
  run: string;
  /** Of a child run. For another run, keys of the run stand for those of its parent. */
  parent?: Pick<ParentRef, 'run' | 'group' | 'root'> | undefined;
} & ({ group: RunGroup } | { token: string });

/** The keys of a run, its group and its parent, by name. */
const SUBJECT_KEYS: Partial<Record<KeyName, (keys: ProjectKeys, place: Place) => string>> = {
  run: (keys, { run }) => keys.run(run),
  events: (keys, { run }) => keys.events(run),
  items: (keys, { run }) => keys.items(run),
  calls: (keys, { run }) => keys.calls(run),
  spent: (keys, { run }) => keys.spent(run),
  signals: (keys, { run }) => keys.signals(run),
  failed: (keys, { run }) => keys.failed(run),
  failedItems: (keys, { run }) => keys.failedItems(run),
  children: (keys, { run }) => keys.children(run),
  wf: (keys, { group }) => keys.wf(group),
  runs: (keys, { group }) => keys.runs(group),
  summarized: (keys, { group }) => keys.summarized(group),
  summaries: (keys, { group }) => keys.summaries(group),
  seenNodes: (keys, { group }) => keys.seenNodes(workflowOfGroup(group)),
  memory: (keys, { group }) => keys.memory(group),
  memories: (keys, { group }) => keys.memories(group),
  parent: (keys, { parent }) => keys.run(parent.run),
  parentWf: (keys, { parent }) => keys.wf(parent.group),
  parentSignals: (keys, { parent }) => keys.signals(parent.run),
  siblings: (keys, { parent }) => keys.children(parent.run),
  descendants: (keys, { parent }) => keys.descendants(parent.root),
};

type Place = { run: string; group: RunGroup; parent: Pick<ParentRef, 'run' | 'group' | 'root'> };

/** `group` of the run, or the `token` of its claim, which names the group. */
export function scriptKeys({ keys }: Pick<Script, 'keys'>, subject: Subject): string[] {
  return keysByName(keys, subject);
}

/** Without the keys that a caller may leave out. */
export function requiredKeys({ requiredKeys: keys }: Script, subject: Subject): string[] {
  return keysByName(keys, subject);
}

function keysByName(names: Script['keys'], subject: Subject): string[] {
  const { project, run } = subject;
  const group = 'group' in subject ? subject.group : groupOfToken(subject.token);
  const { parent = { run, group, root: run } } = subject;
  const keys = keysOf(project);
  const place = { run, group, parent };
  return names.map((name) => SUBJECT_KEYS[name]?.(keys, place) ?? keys[name as ProjectKey]);
}
