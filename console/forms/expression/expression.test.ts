import { expect, test } from 'vitest';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { celOf } from './cel.ts';
import { previewCel } from './celPreview.ts';
import type { EditorView } from '@codemirror/view';
import { LEAVE_WITH_TAB, syntaxMistake } from './javaScript.ts';
import { completeCel, completeTemplate, typedOver } from './complete.ts';
import { previewOf, whileWriting } from './preview.ts';
import { childrenOf, memberHelp, sourceOf, type Sources } from '../source.ts';

const webhook: WorkflowNode = {
  id: 'trigger',
  displayName: 'New order',
  webhook: { path: 'orders', headers: ['X-Id'] },
};
const agent: WorkflowNode = {
  id: 'agent_1',
  agent: { credential: 'llm', model: 'm', prompt: 'p' },
  onError: 'Continue',
};
const order = { total: 31.5, items: [{ sku: 'A-1', 'any key': true }], empty: [] };
const sources: Sources = {
  nodes: [
    sourceOf(webhook, 'webhook', { text_content: '', data_content: order, headers: { 'x-id': '7' } }, false),
    sourceOf(agent, 'agent', undefined, true),
  ],
};
const each: Sources = {
  ...sources,
  element: { item: { name: 'Ada' }, index: 0, isReal: true, loop: 'lines' },
};

const labels = (text: string, from = sources) => {
  const at = text.indexOf('|');
  return completeTemplate(text.replace('|', ''), at, from)?.options.map(({ label }) => label);
};
const celLabels = (text: string, from = sources) => {
  const at = text.indexOf('|');
  return completeCel(text.replace('|', ''), at, from)?.options.map(({ label }) => label);
};

test('disabled nodes are not offered', () => {
  const nodes = sources.nodes.map((source) =>
    source.id === 'agent_1' ? { ...source, isDisabled: true as const } : source,
  );
  expect(labels('{{|', { nodes })).toEqual(["$('trigger')", '$run', '$vars']);
});

test.each<[text: string, labels: string[] | undefined]>([
  ['Hello |', undefined],
  ['{{ $index }} |', undefined],
  ['{{|', ["$('agent_1')", "$('trigger')", '$run', '$vars']],
  ["Dear {{ $('|", ["$('agent_1')", "$('trigger')", '$run', '$vars']],
  ['{{ $run.acc|', ['accepted']],
  ['{{ $va|', ['$vars']],
  ['{{ tot|', ["$('trigger').data_content.total"]],
  ['{{ otal|', undefined],
  ["{{ $('trigger').|", ['text_content', 'data_content', 'headers']],
  ["{{ $('trigger')..|", ['text_content', 'data_content', 'headers']],
  ["{{ $('trigger')..he|", ['headers']],
  ["{{ $('trigger').data_content..to|", ['total']],
  ["{{ $('trigger')...|", undefined],
  ['{{ $run..acc|', ['accepted']],
  ["{{ $('agent_1').te| }}", ['text_content', 'data_content']],
  ["{{ $('trigger').data_content.|", ['total', 'items', 'empty']],
  ["{{ $('trigger').data_content.items[|", ['[0]']],
  ["{{ $('trigger').data_content.items[0].|", ['sku', 'any key']],
  ["{{ $('trigger').data_content.items[0]['any key'].|", undefined],
  ["{{ $('trigger').headers.|", ['x-id']],
  ["{{ $('trigger').text_content.|", undefined],
  ["{{ $('nobody').|", undefined],
  ["{{ $('agent_1').data_content.usage.|", ['input_tokens', 'output_tokens', 'total_tokens']],
])('completion in %s offers %j', (text, expected) => {
  expect(labels(text)).toEqual(expected);
});

test('a field is completed by its name alone in CEL, too', () => {
  expect(celLabels('tot|')).toEqual(['nodes.trigger.data_content.total']);
});

test('of a node with For each, help says that its output is that of all items', () => {
  const looped = sourceOf({ ...agent, forEach: { items: 'x' } }, 'agent', undefined, false);
  expect(memberHelp(looped, 'data_content')).toBe('the results of the items, a list');
  expect(memberHelp(looped, 'error')).toBe('error');
  expect(memberHelp({ kind: 'webhook' }, 'text_content')).toBe('empty');
});

test('an option replaces both dots where one was typed after the one that is there', () => {
  const text = "{{ $('trigger')..he";
  expect(completeTemplate(text, text.length, sources)).toMatchObject({
    from: text.indexOf('..'),
    options: [{ insert: '.headers' }],
  });
  expect(celLabels('nodes.trigger..he|')).toEqual(['headers']);
});

test.each([
  ["{{ $('trigger').text_content| }}", ' ', "{{ $('trigger').text_content | }}"],
  ["{{ $('trigger').text_content |}}", ' ', undefined],
  ["{{ $('trigger').text_content| }}", '}', "{{ $('trigger').text_content }|}"],
  ["{{ $('trigger').text_content |}}", '}', "{{ $('trigger').text_content }|}"],
  ["{{ $('trigger').text_content }|}", '}', "{{ $('trigger').text_content }}|"],
  ["{{ $('trigger').text_content }}| }}", '}', undefined],
  ["{{ $('trigger').text_content|", '}', undefined],
  ["{{ $('trigger').text_content }|", '}', undefined],
  ["{{ $('trigger')| }}", '.', undefined],
  ['no reference| }}', '}', undefined],
])('in %s, %j moves the cursor to %j', (before, typed, after) => {
  const at = typedOver(before.replace('|', ''), before.indexOf('|'), typed);
  expect(at).toBe(after?.indexOf('|'));
});

test('completion offers the element and its members inside forEach', () => {
  expect(labels('{{ |', each)).toEqual(['$item', '$index', "$('agent_1')", "$('trigger')", '$run', '$vars']);
  expect(labels('{{ $item.|', each)).toEqual(['name']);
  expect(celLabels('item.|', each)).toEqual(['name']);
  expect(celLabels('i|', each)).toContain('index');
});

test('the URLs of callbacks are completed in templates, and shown as a placeholder', () => {
  const waiting = { ...sources, callbacks: ['approved'] };
  expect(labels('{{ $ur|', waiting)).toEqual(["$url('approved')"]);
  expect(labels("{{ $url('a|", waiting)).toContain("$url('approved')");
  expect(labels('{{ $ur|')).toBeUndefined();
  expect(celLabels('url|', waiting)).toBeUndefined();
  expect(previewOf("{{ $url('approved') }}", waiting)).toMatchObject({ text: '[URL of a callback]' });
  expect(previewOf("{{ $url('agent_1') }}", waiting)).toEqual({
    kind: 'wrong',
    message: "Node 'agent_1' does not wait for a callback here: use one of approved",
  });
});

test('items that are not a list are reported with the test data', () => {
  const items: Sources = { ...sources, isList: true };
  expect(previewOf("{{ $('trigger').data_content }}", items)).toEqual({
    kind: 'missing',
    message: 'The items must be a list, but the value is of type object: refer to a list in it',
  });
  expect(previewOf("{{ $('trigger').data_content.items }}", items)).toMatchObject({ kind: 'value' });
  expect(previewOf("{{ $('agent_1').data_content }}", items)).toMatchObject({ kind: 'unknown' });
});

test.each([
  ["return nodes.a.map(({ b }) => `it's ${b}`) ?? await c;", undefined],
  ['', undefined],
  ['const a = 1;\nconst b = ;', { line: 2, column: 11, message: 'Syntax error: unexpected ;' }],
  ['return 1; }', { line: 1, column: 11, message: 'Syntax error: unexpected }' }],
  ['if (a) {', { line: 1, column: 9, message: 'Syntax error: unexpected end of the code' }],
])('the syntax of the code %j has the mistake %j', (source, mistake) => {
  expect(syntaxMistake(source)).toEqual(mistake);
});

test('Escape in code closes nothing around it, and Tab leaves the code after it', () => {
  const calls: unknown[] = [];
  const view = { setTabFocusMode: (ms: number) => calls.push(ms) } as unknown as EditorView;
  expect(LEAVE_WITH_TAB.run?.(view)).toBe(true);
  expect(LEAVE_WITH_TAB.key).toBe('Escape');
  expect(calls).toEqual([2_000]);
});

test('an accepted option replaces the typed part only', () => {
  const text = "a {{ $('trigger').data_content.it";
  expect(completeTemplate(text, text.length, sources)).toMatchObject({
    from: text.length - '.it'.length,
    options: [{ insert: '.items', hasMore: true }],
  });
  const odd = "{{ $('trigger').data_content.items[0].";
  expect(completeTemplate(odd, odd.length, sources)?.options[1]?.insert).toBe("['any key']");
});

test.each<[text: string, labels: string[] | undefined]>([
  ['|', ['nodes.agent_1', 'nodes.trigger', 'run', 'vars']],
  ['va|', ['vars']],
  ['run.|', ['id', 'workflow', 'project', 'accepted', 'localTime', 'timeZone', 'test']],
  ['1 + run.acc|', ['accepted']],
  ['vars.|', undefined],
  ['1 + no|', ['nodes.agent_1', 'nodes.trigger']],
  ['nodes.|', ['nodes.agent_1', 'nodes.trigger']],
  ['nodes.trigger.|', ['text_content', 'data_content', 'headers']],
  ['size(nodes.trigger.data_content.|', ['total', 'items', 'empty']],
  ['"text no|', undefined],
  ['nodes.trigger.data_content.items[0]["any key"] == tr|', ['nodes.trigger']],
])('completion in CEL %s offers %j', (text, expected) => {
  expect(celLabels(text)).toEqual(expected);
});

test('the node before is offered where there is exactly one', () => {
  const behind = { ...sources, previous: sourceOf(agent, 'agent', undefined, true) };
  expect(celLabels('pre|', behind)).toEqual(['previous']);
  expect(celLabels('previous.da|', behind)).toEqual(['data_content']);
  expect(celLabels('pre|')).toBeUndefined();
});

test.each([
  ["$('agent_1').text_content", 'nodes.agent_1.text_content'],
  ["$('a').data_content.items[0]['any key']", 'nodes.a.data_content.items[0]["any key"]'],
  ["$('a').data_content.in", 'nodes.a.data_content["in"]'],
  ['$item.name', 'item.name'],
  ['$index', 'index'],
  ['no reference', 'no reference'],
])('the reference %s is %s in CEL', (written, cel) => {
  expect(celOf(written)).toBe(cel);
});

test.each<[value: unknown, preview: object]>([
  ['no reference', { kind: 'plain' }],
  ["{{ $('trigger').data_content.total }}", { kind: 'value', text: '31.5', type: 'number' }],
  ["Total: {{ $('trigger').data_content.total }}", { kind: 'value', text: 'Total: 31.5', type: 'text' }],
  [{ a: "{{ $('trigger').data_content.items }}" }, { kind: 'value', type: 'object' }],
  ["{{ $('agent_1').text_content }}", { kind: 'unknown', nodes: ['agent_1'] }],
  [
    "{{ $('trigger').data_content.nothing }}",
    {
      kind: 'missing',
      message: expect.stringMatching(
        /^\$\('trigger'\)\.data_content has no member \.nothing\. \$\('trigger'\)\.data_content has: .*total/,
      ),
    },
  ],
  [
    "{{ $('other').text_content }}",
    { kind: 'wrong', message: expect.stringContaining('use one of trigger, agent_1') },
  ],
  ['{{ $item }}', { kind: 'wrong', message: '$item exists only in a loop over items' }],
  ['{{ name }}', { kind: 'wrong', message: expect.stringContaining('line 1, column 4') }],
])('the preview of %j is %j', (value, preview) => {
  expect(previewOf(value, sources)).toMatchObject(preview);
});

test.each<[allIds: string[] | undefined, message: string]>([
  [undefined, "Node 'later' does not run before this one: use one of trigger, agent_1"],
  [['trigger', 'agent_1', 'later'], "Node 'later' does not run before this one: use one of trigger, agent_1"],
  [['trigger', 'agent_1'], "Node 'later' does not exist: use one of trigger, agent_1"],
])('in a workflow of the nodes %j, a reference to `later` is marked: %s', (allIds, message) => {
  const of = { ...sources, ...(allIds && { allIds }) };
  const wrong = { kind: 'wrong', message };
  expect(previewOf("{{ $('later').text_content }}", of)).toEqual(wrong);
  expect(previewCel('nodes.later.text_content', of, false)).toEqual(wrong);
});

test.each<[written: string, message: string]>([
  [
    "$('trigger').item.json.amount",
    "write $('trigger').data_content.amount in place of $('trigger').item.json.amount: only loops over items have .item, inside of their body",
  ],
  ["$('trigger').item.json.body.amount", "write $('trigger').data_content.amount in place of"],
  ["$('agent_1').item.json.body.amount", "write $('agent_1').data_content.body.amount in place of"],
  ["$('trigger').json.amount", "write $('trigger').data_content.amount in place of"],
  ["$('trigger').first().json.amount", "write $('trigger').data_content.amount in place of"],
  ['$previous.item.json.amount', 'write $previous.data_content.amount in place of'],
  ["$('trigger').index", 'never has a value: only loops over items have .index'],
  ["$('agent_1').headers.a", 'never has a value: only a webhook has headers'],
  ["$('trigger').error.message", "never has a value: a failure of 'trigger' ends the run"],
])('{{ %s }}, which the operator refuses, is marked: %s', (written, message) => {
  const behind: Sources = { ...sources, previous: sourceOf(webhook, 'webhook', undefined, false) };
  expect(previewOf(`{{ ${written} }}`, behind)).toEqual({
    kind: 'wrong',
    message: expect.stringContaining(message),
  });
});

test('CEL that reads an item where there is none is marked, and may ask whether there is an error', () => {
  expect(previewCel('nodes.trigger.item.json.amount > 1', sources, true)).toEqual({
    kind: 'wrong',
    message: expect.stringContaining(
      'write nodes.trigger.data_content.amount in place of nodes.trigger.item',
    ),
  });
  expect(previewCel('has(nodes.trigger.error)', sources, true)).toMatchObject({
    kind: 'value',
    text: 'false',
  });
});

test('the item of a loop is no mistake inside of its body', () => {
  const loop = sourceOf({ id: 'lines', group: {} }, 'group', undefined, false);
  const inside: Sources = { ...each, nodes: [{ ...loop, members: ['item', 'index'] }], previous: loop };
  const texts = ["$('lines').item.json", "$('lines').index", '$previous.item.json'];
  expect(texts.map((text) => previewOf(`{{ ${text} }}`, inside).kind)).toEqual(texts.map(() => 'unknown'));
});

test('the element of forEach is previewed with its first value', () => {
  expect(previewOf('{{ $item.name }} {{ $index }}', each)).toEqual({
    kind: 'value',
    text: 'Ada 0',
    type: 'text',
  });
});

test.each<[source: string, preview: object]>([
  ['nodes.trigger.data_content.total * 2', { kind: 'value', text: '63', type: 'number' }],
  ['nodes.agent_1.text_content', { kind: 'unknown', nodes: ['agent_1'] }],
  ['nodes.other.text_content', { kind: 'wrong' }],
  ['1 +', { kind: 'wrong' }],
])('the preview of CEL %s is %j', (source, preview) => {
  expect(previewCel(source, sources, false)).toMatchObject(preview);
});

test('in the body of a loop, a message names the loop', () => {
  const loop = sourceOf({ id: 'each', group: {} }, 'group', undefined, false);
  const inside: Sources = { nodes: [...sources.nodes, { ...loop, members: ['item', 'index'] }] };
  expect(previewCel('$item.count > 0', inside, true)).toMatchObject({
    kind: 'wrong',
    message: expect.stringMatching(/write nodes\.each\.item\.count$/),
  });
});

test('a condition that is not boolean is reported', () => {
  expect(previewCel('1 + 1', sources, true)).toMatchObject({ kind: 'wrong' });
});

test('errors are not reported while the user types', () => {
  const preview = previewOf("a {{ $('trigger').", sources);
  const isMultiline = true;
  expect(whileWriting(preview, { isBeingWritten: false, isMultiline })).toBe(preview);
  const message: unknown = expect.stringMatching(
    /^this {{ has no closing }}|^expected|^after \$\('node id'\)/,
  );
  expect(whileWriting(preview, { isBeingWritten: true, isMultiline })).toEqual({
    kind: 'unfinished',
    message,
  });
  expect(whileWriting({ kind: 'plain' }, { isBeingWritten: true, isMultiline }).kind).toBe('plain');
  // A field of one line does not count lines.
  expect(whileWriting(preview, { isBeingWritten: false, isMultiline: false })).toEqual({
    kind: 'wrong',
    message,
  });
});

test('unusual keys are offered in quotes, and inherited ones are not', () => {
  const value = JSON.parse('{"__proto__": 1, "a\'b": 2}') as unknown;
  expect(childrenOf(value).map(({ written }) => written)).toEqual(['.__proto__', String.raw`['a\'b']`]);
  expect(childrenOf('text')).toEqual([]);
});

test('before the first run, previews use the test data', () => {
  const at = (trigger: WorkflowNode, kind: 'manual' | 'webhook'): Sources => ({
    nodes: [sourceOf(trigger, kind, undefined, false)],
  });
  const name = "{{ $('t').data_content.name }}";
  const ada = { kind: 'value', text: 'Ada', type: 'text' };
  expect(previewOf(name, at({ id: 't', manual: { testData: { name: 'Ada' } } }, 'manual'))).toEqual(ada);
  const event = { text_content: 'Hello', data_content: { name: 'Ada' } };
  const tested = at({ id: 't', webhook: { path: 'in', testData: event } }, 'webhook');
  expect(previewOf(name, tested)).toEqual(ada);
  expect(previewOf("{{ $('t').text_content }}", tested)).toMatchObject({ text: 'Hello' });
  expect(previewOf(name, at({ id: 't', manual: {} }, 'manual'))).toEqual({ kind: 'unknown', nodes: ['t'] });
});

test('headers of a webhook are unknown in test data', () => {
  const trigger: WorkflowNode = {
    id: 't',
    webhook: { path: 'in', headers: ['X-Id'], testData: { data_content: { name: 'Ada' } } },
  };
  const nodes = [sourceOf(trigger, 'webhook', undefined, false)];
  expect(previewOf("{{ $('t').headers['x-id'] }}", { nodes })).toEqual({ kind: 'unknown', nodes: ['t'] });
  expect(labels("{{ $('t').data_content.|", { nodes })).toEqual(['name']);
});
