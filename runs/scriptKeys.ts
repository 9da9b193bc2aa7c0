/** The keys of a script that is about one run, as the script declares them. */
import { workflowOfGroup, type RunGroup } from '../store/groups.ts';
import { keysOf, type KeyName, type ProjectKey, type ProjectKeys, type ProjectUid } from '../store/keys.ts';
import type { Script } from '../store/script.ts';
import { groupOfToken } from './token.ts';
import type { ParentRef } from './types.ts';

type Subject = {
  project: ProjectUid;
  run: string;
  /** Of a child run. For another run, keys of the run stand for those of its parent. */
  parent?: Pick<ParentRef, 'run' | 'group' | 'root'> | undefined;
} & ({ group: RunGroup } | { token: string });

/** `group` of the run, or the `token` of its claim, which names the group. */
export function scriptKeys({ keys: names }: Pick<Script, 'keys'>, subject: Subject): string[] {
  const { project, run, parent } = subject;
  const group = 'group' in subject ? subject.group : groupOfToken(subject.token);
  const keys = keysOf(project);
  const ofRun: Partial<Record<KeyName, string>> = {
    run: keys.run(run),
    events: keys.events(run),
    items: keys.items(run),
    calls: keys.calls(run),
    signals: keys.signals(run),
    failed: keys.failed(run),
    failedItems: keys.failedItems(run),
    children: keys.children(run),
    wf: keys.wf(group),
    runs: keys.runs(group),
    summarized: keys.summarized(group),
    summaries: keys.summaries(group),
    seenNodes: keys.seenNodes(workflowOfGroup(group)),
    ...parentKeys(keys, parent ?? { run, group, root: run }),
  };
  return names.map((name) => ofRun[name] ?? keys[name as ProjectKey]);
}

function parentKeys(keys: ProjectKeys, { run, group, root }: Pick<ParentRef, 'run' | 'group' | 'root'>) {
  return {
    parent: keys.run(run),
    parentWf: keys.wf(group),
    parentSignals: keys.signals(run),
    siblings: keys.children(run),
    descendants: keys.descendants(root),
  };
}
