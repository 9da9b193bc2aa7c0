import { describe, expect, test } from 'vitest';
import { windlass } from '../../test/support/cli/line.ts';
import { COMMANDS } from '../commands.ts';
import { candidates } from './candidates.ts';
import { COMPLETE } from './scripts.ts';

describe('a command line is continued', () => {
  test.each([
    [['ca'], { words: ['cancel'] }],
    [['--'], { words: ['--help'] }],
    [['none', ''], { words: [] }],
    [['runs', ''], { names: 'workflows' }],
    [['runs', 'orders', ''], { words: [] }],
    [['runs', '--phase', 'F'], { words: ['Failed'] }],
    [['runs', '--phase', 'Failed', ''], { names: 'workflows' }],
    [['get', '--out'], { words: ['--output'] }],
    [['get', '-n', ''], { names: 'namespaces' }],
    [['get', '-n', 'shop', ''], { names: 'runs' }],
    [['get', '--context', ''], { names: 'contexts' }],
    [['check', 'smtp', ''], { names: 'credentials' }],
    [['run', ''], { names: 'workflows' }],
    [['run', '--local', ''], { files: true }],
    [['run', 'orders', '--input', ''], { files: true }],
    [['lint', ''], { files: true }],
    [['completion', 'z'], { words: ['zsh'] }],
  ])('%j with %j', (line, expected) => {
    expect(candidates(COMMANDS, line)).toEqual(expected);
  });

  test('by nothing where the cluster cannot be asked, without a message', async () => {
    const answer = await windlass([COMPLETE, 'runs', ''], { kubeconfig: ['/nowhere/config'] });
    expect(answer).toEqual({ code: 0, stdout: '', stderr: '' });
  });
});
