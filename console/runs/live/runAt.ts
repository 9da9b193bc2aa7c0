/** Which run, and where the gateway has it. */
export type RunAt = { namespace: string; workflow: string; run: string };

/** The path of a run at the gateway. */
export function runPath({ namespace, workflow, run }: RunAt): string {
  return `/workflows/${encodeURIComponent(`${namespace}.${workflow}`)}/runs/${encodeURIComponent(run)}`;
}
