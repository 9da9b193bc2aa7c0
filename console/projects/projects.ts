/** The projects in which the user may list workflows. */
import { queryOptions } from '@tanstack/react-query';
import { callJson } from '../http/call.ts';

export type Project = { name: string };

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  staleTime: 30_000,
  queryFn: async ({ signal }) =>
    (await callJson<{ items: Project[] }>('/console/projects', { signal })).items,
});

const LAST = 'windlass.project';

/** The project that was last open in this browser. */
export function lastProject(): string | undefined {
  return localStorage.getItem(LAST) ?? undefined;
}

export function rememberProject(name: string): void {
  localStorage.setItem(LAST, name);
}
