/** Reads and deletes what the agents of a workflow remember. */
import type { MemoryItem, MemoryPage, MemoryView } from '../../api/memory.ts';
import { call, callJson } from '../http/call.ts';

export type WorkflowAt = { namespace: string; workflow: string };

const PAGE = 200;
const LONGEST_KEY = 40;

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

/** A key of a chat is long and random: its begin and its end, which tell it from others. */
export function shortKey(key: string): string {
  return key.length <= LONGEST_KEY ? key : `${key.slice(0, 20)}…${key.slice(-12)}`;
}

/** Deletes the memory, of live runs and of test runs. */
export async function deleteMemory(at: WorkflowAt, memory: MemoryItem): Promise<void> {
  await call(pathOfMemory(at, memory), { method: 'DELETE' });
}
