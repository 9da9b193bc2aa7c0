import { afterAll, beforeEach, expect, test } from 'vitest';
import type { MemoryTurn } from '../../../api/memory.ts';
import { cancelRun } from '../../../runs/cancel.ts';
import { forgetMemory, readMemory } from '../../../runs/memories.ts';
import type { NodeState, RunState } from '../../../runs/types.ts';
import { keysOf } from '../../../store/keys.ts';
import { listen } from '../../support/network/listen.ts';
import { killRunner, spawnRunner } from '../../support/runner/runnerProcess.ts';
import { startRunnerHarness } from '../../support/runner/runnerHarness.ts';
import { pollUntil } from '../../support/time/poll.ts';

const harness = await startRunnerHarness({ slowDelayMs: 300 });
const { redis, conn, project, model, credentials, withSuccessor } = harness;

let isHanging = true;
const calls: string[] = [];
const api = await listen((request, response) => {
  calls.push(request.url ?? '');
  if (request.url?.startsWith('/hang') && isHanging) return;
  response.setHeader('content-type', 'application/json');
  response.end('{"ok":true}');
});

beforeEach(() => {
  harness.reset();
  calls.length = 0;
  isHanging = true;
});
afterAll(async () => {
  await api.close();
  await harness.close();
});

const trigger = { id: 'trigger', webhook: { path: 'chat' } };
const get = (name: string) => ({
  name,
  skill: 'http_request',
  parameters: { url: `${api.url}/${name}`, method: 'POST', body: {} },
});
const agent = (extra: object = {}, options: object = {}) => ({
  id: 'a',
  agent: {
    credential: 'llm',
    model: 'demo',
    systemPrompt: 'Be brief.',
    prompt: "{{ $('trigger').data_content.text }}",
    memory: { key: "{{ $('trigger').data_content.chat }}" },
    ...extra,
  },
  ...options,
});

const nodeOf = (state: RunState, id = 'a'): NodeState | undefined =>
  state.nodes.find((node) => node.id === id);

async function turnsOf(revision: { workflowUid: string } | object, key: string): Promise<MemoryTurn[]> {
  const { workflowUid } = revision as { workflowUid: string };
  const read = await readMemory(conn, project.uid, workflowUid, { name: 'a', key });
  return read.outcome === 'read' ? read.turns.map((text) => JSON.parse(text) as MemoryTurn) : [];
}

const sentTo = (index: number) =>
  model.requests[index]?.body.messages.map(({ role, content }) => `${role}: ${content}`);
