/**
 * Time passes at once: keys whose time is over by then are removed here, since the server's own clock is
 * another.
 */
import { keysOf } from '../../store/keys.ts';
import type { Harness } from './harness.ts';

export type Expiry = {
  pass(ms: number): Promise<void>;
  /** All keys are gone. */
  lose(): void;
};

const RUN_KEPT_MS = 10_000;
const KEY_KEPT_MS = 7 * 24 * 3_600_000;
const REPLY_KEPT_MS = 3_600_000;
const FAILED_KEPT_MS = 24 * 3_600_000;

export function createExpiry({ store, project, ledger }: Harness): Expiry {
  const keys = keysOf(project);
  let until = new Map<string, number>();

  /** The keys that expire, with for how long they are kept. */
  function expiring(): [key: string, keptMs: number][] {
    const state = store.state();
    return [
      ...Object.entries(state.runs).flatMap(([name, run]): [string, number][] =>
        run.dropped ? [[keys.run(name), RUN_KEPT_MS]] : [],
      ),
      ...Object.entries(state.keys).flatMap(([key, { expires }]): [string, number][] =>
        expires ? [[key, KEY_KEPT_MS]] : [],
      ),
      ...Object.keys(state.kept).flatMap((name): [string, number][] => [
        [keys.failed(name), FAILED_KEPT_MS],
        [keys.failedItems(name), FAILED_KEPT_MS],
      ]),
      ...Object.keys(state.replies).map((key): [string, number] => [key, REPLY_KEPT_MS]),
    ];
  }

  return {
    pass: async (ms) => {
      const now = store.now();
      until = new Map(expiring().map(([key, keptMs]) => [key, until.get(key) ?? now + keptMs]));
      store.pass(ms);
      const over = [...until].flatMap(([key, at]) => (at <= store.now() ? [key] : []));
      ledger.forget(over.flatMap((key) => store.state().keys[key]?.run ?? []));
      await store.remove(over);
      // A key of that name that is stored from now on is another one.
      for (const key of over) until.delete(key);
    },
    lose: () => until.clear(),
  };
}
