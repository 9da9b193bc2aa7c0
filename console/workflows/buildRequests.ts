/** Holds the request to open "Help me build", which many places of the console make. */
import { useSyncExternalStore } from 'react';

/**
 * `text`: what the field begins with. `startsAt`: the workflow in whose editor it opens; undefined: this one.
 */
export type BuildRequest = { text: string; startsAt?: string } | undefined;

let asked: BuildRequest;
const listeners = new Set<() => void>();

/** Opens the drawer with this text. */
export function openBuild(text = '', startsAt?: string): void {
  set({ text, ...(startsAt !== undefined && { startsAt }) });
}

export function closeBuild(): void {
  set(undefined);
}

function set(next: BuildRequest): void {
  asked = next;
  for (const listener of listeners) listener();
}

export function useBuildRequest(): BuildRequest {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}
