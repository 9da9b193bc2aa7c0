import { describe, expect, test } from 'vitest';
import type { NodeState } from '../../runs/types/node.ts';
import type { RunState } from '../../runs/types/run.ts';
import { eventLine, runLines } from './show.ts';

const paint = (_colour: string, text: string) => text;
const node = (fields: Partial<NodeState>): NodeState => ({
  id: 'a',
  phase: 'Succeeded',
  attempts: 1,
  ...fields,
});
const shown = (fields: Partial<NodeState>, undone: string[] = []) =>
  runLines({ phase: 'Succeeded', nodes: [node(fields)] } as RunState, new Set(undone), paint);

describe('a live event', () => {
  test.each([
    ['Succeeded', '✓ a'],
    ['Skipped', '– a'],
    ['Waiting', '… a'],
    ['Running', undefined],
  ] as const)('of a node that is %s is %j', (phase, line) => {
    expect(eventLine({ id: '1', type: 'node', node: 'a', phase, attempt: 1, at: 0 }, new Set(), paint)).toBe(
      line,
    );
  });

  test('of a step that was not executed does not claim success', () => {
    const event = { id: '1', type: 'node', node: 'a', phase: 'Succeeded', attempt: 1, at: 0 } as const;
    expect(eventLine(event, new Set(['a']), paint)).toBe('– a: not done');
  });

  test('of a failure says why', () => {
    const event = { id: '1', type: 'node', node: 'a', phase: 'Failed', attempt: 1, at: 0 } as const;
    expect(eventLine({ ...event, reason: 'Timeout', message: 'after 1 s' }, new Set(), paint)).toBe(
      '✗ a: Timeout: after 1 s',
    );
  });
});

describe('a run that has ended', () => {
  test('shows what a node produced', () => {
    expect(shown({ output: { text_content: 'hi', data_content: { b: 1 } } })).toEqual([
      'a',
      '  hi',
      '  {',
      '    "b": 1',
      '  }',
      'run Succeeded',
    ]);
  });

  test('shows the keys that a failed reference found, without what a terminal would execute', () => {
    const missing = {
      reference: '$item.x',
      at: '$item',
      type: 'object',
      size: 1,
      keys: ['\u001b[2J'],
    } as const;
    expect(shown({ phase: 'Failed', missing: { ...missing, keys: [...missing.keys] } })).toEqual([
      'a',
      '  $item has: \uFFFD[2J.',
      'run Succeeded',
    ]);
  });

  test('shows what a loop would have sent for one of its items', () => {
    const items = { total: 2, succeeded: 2, failed: 0, running: 0, failures: [] };
    const lines = shown({ items, mocked: { parameters: 'x' } }, ['a']);
    expect(lines[0]).toBe('a not done, would have sent for one of 2 items');
  });

  test('shows what a step would have sent', () => {
    const fields = { output: { text_content: '', data_content: null }, mocked: { parameters: { to: 'b' } } };
    expect(shown(fields, ['a'])).toEqual([
      'a not done, would have sent',
      '  {',
      '    "to": "b"',
      '  }',
      'run Succeeded',
    ]);
  });

  test('cuts a long output', () => {
    const lines = shown({ output: { text_content: 'x\n'.repeat(40).trim(), data_content: null } });
    expect(lines).toHaveLength(15);
    expect(lines).toContain('  … and 28 more lines');
  });
});
