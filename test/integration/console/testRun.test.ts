import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { RunView } from '../../../api/runView.ts';
import { servedState } from '../../../console/editor/run/served.ts';
import { workflows } from '../../../operator/shared/resources.ts';
import { EDITOR, startConsoleSystem, type ConsoleSystem } from '../../support/console/consoleSystem.ts';
import { pollUntil } from '../../support/time/poll.ts';

const NAMESPACE = 'shop';
const NAME = 'calc';

let system: ConsoleSystem;
let token: string;

beforeAll(async () => {
  system = await startConsoleSystem();
  await system.createProject(NAMESPACE);
  token = await system.tokenWith(NAMESPACE, 'editor', EDITOR);
});

afterAll(() => system?.stop());

/** Saves the workflow, which is inactive, with another value. */
async function save(value: number): Promise<number> {
  const nodes = [
    { id: 'trigger', manual: {} },
    { id: 'calc', skill: { name: 'set', parameters: { values: { value: String(value) } } } },
  ];
  const manifest = { apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', metadata: { name: NAME } };
  await system.apply(NAMESPACE, stringify({ ...manifest, spec: { nodes } }));
  const { metadata } = await system.harness.client.get(workflows, { namespace: NAMESPACE, name: NAME });
  return metadata.generation ?? 0;
}

/** Waits for what the console waits for. */
function served(generation: number): Promise<unknown> {
  return pollUntil(
    `generation ${generation} to be served`,
    async () => {
      const workflow = await system.harness.client.get(workflows, { namespace: NAMESPACE, name: NAME });
      return servedState(workflow, generation).kind === 'served';
    },
    { timeoutMs: 30_000, everyMs: 5 },
  );
}

async function testRun(): Promise<RunView> {
  const url = `${system.gateway.internalURL}/workflows/${NAMESPACE}.${NAME}/execute?test=true`;
  const answer = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, prefer: 'wait=30' },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as RunView;
}

test('a test run after a save executes the saved version as soon as it is served', async () => {
  for (let value = 1; value <= 8; value += 1) {
    await served(await save(value));
    const { phase, nodes } = await testRun();
    expect(phase).toBe('Succeeded');
    expect(nodes.find(({ id }) => id === 'calc')?.output?.data_content).toEqual({ value });
  }
});
