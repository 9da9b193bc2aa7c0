/** Reads and deletes what the agents of a workflow remember. */
import type { MemoryItem, MemoryPage, MemoryView } from '../../api/memory.ts';
import { call, callJson } from '../http/call.ts';

export type WorkflowAt = { namespace: string; workflow: string };

const PAGE = 200;

function pathOf({ namespace, workflow }: WorkflowAt): string {
  return `/workflows/${encodeURIComponent(`${namespace}.${workflow}`)}/memory`;
}

function pathOfMemory(at: WorkflowAt, { name, key }: Pick<MemoryItem, 'name' | 'key'>): string {
  return `${pathOf(at)}/${encodeURIComponent(name)}/${encodeURIComponent(key)}`;
}

/** The memories whose key or first message contains the text, last used first. */
export function readMemories(at: WorkflowAt, contains: string, signal: AbortSignal): Promise<MemoryPage> {
  const query = new URLSearchParams({ limit: `${PAGE}`, ...(contains !== '' && { contains }) });
  return callJson<MemoryPage>(`${pathOf(at)}?${query}`, { signal });
}

export function readTurns(at: WorkflowAt, memory: MemoryItem, signal: AbortSignal): Promise<MemoryView> {
  const query = memory.test ? '?test=true' : '';
  return callJson<MemoryView>(pathOfMemory(at, memory) + query, { signal });
}

/** Deletes the memory, of live runs and of test runs. */
export async function deleteMemory(at: WorkflowAt, memory: MemoryItem): Promise<void> {
  await call(pathOfMemory(at, memory), { method: 'DELETE' });
}
