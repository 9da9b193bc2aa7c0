/** A person retries a run with an effect in doubt from its failed node, as the console does. */
import type { Retried } from './seen.ts';
import { recordsOf } from './evidence.ts';
import type { AgentHarness, SceneProject } from './harness.ts';
import { AGENT } from './workflows.ts';

const DONE = { node: AGENT, outcome: 'AssumeDone', output: { text_content: 'It was sent.' } };

/** Without a decision, which is to be refused, then with one. */
export async function retryUnknown(harness: AgentHarness, project: SceneProject): Promise<Retried> {
  const runs = await recordsOf(harness, project);
  const failed = runs.find(({ reason }) => reason === 'EffectUnknown')?.run ?? 'none';
  const ask = (body: object) => post(harness, project, failed, body);
  const refused = await ask({ resume: true });
  const { run } = await ask({ resume: true, decisions: [DONE] });
  return { withoutDecision: refused.told, ...(run !== undefined && { run }) };
}

async function post(
  { internalURL }: AgentHarness,
  { namespace, token }: SceneProject,
  run: string,
  body: object,
): Promise<{ told: string; run?: string }> {
  const response = await fetch(`${internalURL}/workflows/${namespace}.${AGENT}/runs/${run}/retry`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { type = '', run: started } = (await response.json()) as { type?: string; run?: string };
  const told = `${response.status} ${type.split('/').at(-1)}`;
  return { told, ...(started !== undefined && { run: started }) };
}
