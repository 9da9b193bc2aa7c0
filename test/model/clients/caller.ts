/** Whoever sends events, cancels runs, makes and deletes objects. */
import { cancelRun } from '../../../runs/cancel.ts';
import { signalRun } from '../../../runs/signals.ts';
import { submit } from '../../../runs/submit.ts';
import type { Harness } from '../harness.ts';
import { eventOf, isPlain, NODES } from '../workflows.ts';

/** `key`: 0 for none. */
export type SentEvent = { workflow: string; key: number; body: number; test: boolean };

export function createCaller(harness: Harness) {
  const { project, store, records, ledger, problems, nextMillisecond } = harness;
  const conn = store.connect();

  return {
    submit: async ({ workflow, key, body, test }: SentEvent) => {
      await nextMillisecond();
      const dedupe = key === 0 ? {} : { dedupeKey: `key-${key}`, bodyHash: `body-${body}` };
      const told = ledger.asked(`${workflow} ${key}`);
      const answer = await submit(conn, eventOf(project, workflow, { ...dedupe, test }));
      if (answer.outcome === 'accepted' && key !== 0) problems.push(...told(answer.run));
    },
    cancel: async (run: string) => void (await cancelRun(conn, project, run)),
    signal: async (run: string, at: number) => {
      const { id: node } = NODES[at % NODES.length] ?? NODES[0];
      const known = store.state().runs[run];
      if (known && isPlain(known.wf)) return;
      await signalRun(conn, project, { run, node, value: JSON.stringify({ body: at }) });
    },
    makeObject: (workflow: string) => void records.make({ spec: { workflow } }),
    deleteObject: (name: string) => {
      records.delete(name);
      // Without it nothing brings the key back.
      if (store.state().id === undefined) ledger.forget([name]);
    },
  };
}
