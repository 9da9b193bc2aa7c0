/** The keys of a script that is about one run, as the script declares them. */
import { workflowOfGroup, type RunGroup } from '../store/groups.ts';
import { keysOf, type ProjectKey, type ProjectUid } from '../store/keys.ts';
import type { Script } from '../store/script.ts';
import { groupOfToken } from './token.ts';

type Subject = { project: ProjectUid; run: string } & ({ group: RunGroup } | { token: string });

/** `group` of the run, or the `token` of its claim, which names the group. */
export function scriptKeys({ keys: names }: Pick<Script, 'keys'>, subject: Subject): string[] {
  const { project, run } = subject;
  const group = 'group' in subject ? subject.group : groupOfToken(subject.token);
  const keys = keysOf(project);
  return names.map((name) => {
    if (name === 'run' || name === 'events' || name === 'items') return keys[name](run);
    if (name === 'failed' || name === 'failedItems') return keys[name](run);
    if (name === 'wf' || name === 'runs' || name === 'summarized' || name === 'summaries')
      return keys[name](group);
    if (name === 'seenNodes') return keys.seenNodes(workflowOfGroup(group));
    return keys[name as ProjectKey];
  });
}
