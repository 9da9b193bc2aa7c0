/**
 * The runs of the project as `GET /workflows/{id}/runs` lists them, page by page, and whether that is what
 * the run store holds.
 */
import { stringify } from 'yaml';
import { demoNamespace } from '../support/installation/install.ts';
import type { Violation } from './violation.ts';
import type { EndedRun } from './evidence.ts';
import { WORKFLOWS } from './workflows.ts';

export type ListedRun = { run: string; phase: string };

type Page = { items: ListedRun[]; continue?: string };

/** Every page of every workflow. Throws when a page is refused. `url`: of the gateway's internal listener. */
export async function listRuns(from: { url: string; token: string; project: string }): Promise<ListedRun[]> {
  const headers = { authorization: `Bearer ${from.token}` };
  const runs: ListedRun[] = [];
  for (const { workflow } of WORKFLOWS) {
    for (let token: string | undefined = ''; token !== undefined; ) {
      const query = new URLSearchParams({ limit: '500', ...(token && { continue: token }) });
      const url = `${from.url}/workflows/${from.project}.${workflow}/runs?${query.toString()}`;
      const response = await fetch(url, { headers });
      if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
      const page = (await response.json()) as Page;
      runs.push(...page.items);
      token = page.continue;
    }
  }
  return runs;
}

/** Runs that are listed otherwise than they ended, more than once, or not at all. */
export function unlike(ended: readonly EndedRun[], listed: readonly ListedRun[]): Violation[] {
  const byName = Map.groupBy(listed, ({ run }) => run);
  return ended.flatMap(({ run, phase }): Violation[] => {
    const lines = byName.get(run) ?? [];
    if (lines.length === 1 && lines[0]?.phase === phase) return [];
    const told = lines.map((line) => line.phase).join(', ') || 'not at all';
    return [{ kind: 'listed-otherwise', run, message: `${run} is ${phase}, and listed: ${told}` }];
  });
}

/** Lets the caller of the demo list the runs of that project. */
export function mayList(namespace: string): string {
  const metadata = { name: 'caller', namespace };
  const apiGroup = 'rbac.authorization.k8s.io';
  const apiVersion = `${apiGroup}/v1`;
  const rules = [{ apiGroups: ['windlass.dev'], resources: ['workflowruns'], verbs: ['get', 'list'] }];
  const roleRef = { apiGroup, kind: 'Role', name: 'caller' };
  const subjects = [{ kind: 'ServiceAccount', name: 'caller', namespace: demoNamespace }];
  return [
    { apiVersion, kind: 'Role', metadata, rules },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ]
    .map((object) => stringify(object))
    .join('---\n');
}
