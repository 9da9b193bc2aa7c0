/** What an agent does with bad answers of a model after it has called a tool. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { StepError } from '../../api/reasons.ts';
import { listen } from '../../test/support/network/listen.ts';
import { agentCalls } from '../../test/support/nodes/agentCalls.ts';
import { stepContext } from '../../test/support/nodes/stepContext.ts';
import {
  startScriptedServer,
  type ScriptedAnswer,
} from '../../test/support/providers/model/scriptedServer.ts';
import { openaiWire } from '../../test/support/providers/openai/wire.ts';
import { toolsOf } from '../tools.ts';
import { executeAgent } from './agent.ts';

const model = await startScriptedServer(openaiWire);
const asked: string[] = [];
const api = await listen((request, response) => {
  asked.push(request.url ?? '');
  response.end('{"stock":3}');
});
afterAll(() => Promise.all([model.close(), api.close()]));
beforeEach(() => {
  asked.length = 0;
});

const spec = { openai: { baseURL: `${model.url}/v1`, apiKeyRef: { name: 'llm', key: 'apiKey' } } };
const tools = [{ name: 'lookup', skill: 'http_request', parameters: { url: api.url } }];
const call = (given = '{}') => ({ id: 'call_1', name: 'lookup', arguments: given });

async function converse(...answers: ScriptedAnswer[]) {
  model.script(...answers);
  const context = stepContext(spec);
  const calls = agentCalls(context);
  const fields = { credential: 'llm', model: 'model-1', prompt: 'How many?' };
  const fixed = tools.map(({ parameters }) => parameters);
  return executeAgent(fields, { ...context, calls }, { tools: toolsOf({ tools }), fixed });
}

test('a finish reason that nobody knows changes nothing, and the output has it', async () => {
  const finish = 'novel_reason' as const;
  const { output } = await converse(
    { message: { calls: [call()], finish } },
    { message: { text: 'Three.', finish } },
  );
  expect(output).toMatchObject({ text_content: 'Three.', data_content: { finish_reason: 'novel_reason' } });
  expect(asked).toHaveLength(1);
});

test.each([
  ['in its arguments', '{"query":{"n"'],
  ['before its arguments', ''],
])('a call that the limit of tokens cut %s is told to the model', async (_where, given) => {
  const { output } = await converse(
    { message: { calls: [call(given)], finish: 'cut' } },
    { message: { text: 'Three.' } },
  );
  expect(output.data_content).toMatchObject({ tool_calls: [{ error: true }] });
  expect(JSON.stringify(model.requests[1]?.body)).toContain('the arguments are not valid JSON');
  expect(asked).toEqual([]);
});

test.each<[what: string, answer: ScriptedAnswer, failure: object]>([
  [
    'a refusal',
    { message: { refusal: 'I cannot help.' } },
    { reason: 'Refused', retryable: false, message: expect.stringContaining('declined') as string },
  ],
  ['an empty message', { message: {} }, { reason: 'InvalidAnswer', retryable: true }],
  [
    'a stop in the middle of a call',
    { message: { calls: [call('{"query":{"n":1}}')] }, pieces: 3, after: 'end' },
    { reason: 'Unreachable', retryable: true },
  ],
  [
    'garbage in the middle of a call',
    { message: { calls: [call('{"query":{"n":1}}')] }, pieces: 3, after: 'garbage' },
    { reason: 'InvalidAnswer', retryable: true },
  ],
])('%s after a tool call fails the step, and calls nothing', async (_what, answer, failure) => {
  const error: unknown = await converse({ message: { calls: [call()] } }, answer).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StepError);
  expect(error).toMatchObject(failure);
  expect(asked).toHaveLength(1);
});
