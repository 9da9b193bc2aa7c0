import { describe, expect, test } from 'vitest';
import { windlass } from '../test/support/cli/line.ts';
import { COMMANDS } from './commands.ts';
import type { Command } from './shared/command.ts';
import { CommandError, EXIT } from './shared/exit.ts';

const commandThat = (execute: () => Promise<never>): Command => ({
  name: 'fail',
  summary: 'Fail',
  description: [],
  arguments: [],
  options: [],
  examples: [{ command: 'windlass fail', does: 'fails' }],
  load: () => Promise.resolve({ execute }),
});

describe('a command line', () => {
  test('without a command prints the help', async () => {
    const { code, stdout } = await windlass([]);
    expect({ code, names: COMMANDS.filter(({ name }) => stdout.includes(`  ${name} `)) }).toEqual({
      code: 0,
      names: COMMANDS,
    });
  });

  test.each(COMMANDS.map(({ name }) => name))('%s --help has an example', async (name) => {
    const { code, stdout } = await windlass([name, '--help']);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Examples:\n {2}# .+\n {2}windlass /) as string,
    });
  });

  test.each(['--version', '-V'])('%s prints the version', async (flag) => {
    expect(await windlass([flag])).toEqual(await windlass(['version']));
  });

  test('help COMMAND is COMMAND --help', async () => {
    expect(await windlass(['help', 'runs'])).toEqual(await windlass(['runs', '--help']));
  });

  test.each([
    [['verzion'], /unknown command 'verzion'\n\(Did you mean version\?\)/],
    [['version', '--nope'], /unknown option '--nope'/],
    [['version', '-o', 'xml'], /Allowed choices are json, yaml, name/],
    [['lint'], /missing required argument 'file'/],
  ])('%j is refused with exit code 2', async (line, says) => {
    const { code, stdout, stderr } = await windlass(line);
    expect({ code, stdout }).toEqual({ code: EXIT.usage, stdout: '' });
    expect(stderr).toMatch(says);
  });

  test('that fails prints the message alone, with the exit code of the error', async () => {
    const fails = commandThat(() => Promise.reject(new CommandError(EXIT.input, 'cannot read a')));
    expect(await windlass(['fail'], { commands: [fails] })).toEqual({
      code: 3,
      stdout: '',
      stderr: 'error: cannot read a\n',
    });
  });

  test('that meets a defect says how to see where, and prints no stack trace', async () => {
    const fails = commandThat(() => Promise.reject(new TypeError('x is undefined')));
    const { code, stderr } = await windlass(['fail'], { commands: [fails] });
    expect({ code, stderr }).toEqual({
      code: EXIT.internal,
      stderr:
        'error: defect of windlass: x is undefined\nRun the command again with WINDLASS_DEBUG=1 to see where.\n',
    });
  });

  test('with WINDLASS_DEBUG shows where the defect is', async () => {
    const fails = commandThat(() => Promise.reject(new TypeError('x is undefined')));
    const { stderr } = await windlass(['fail'], { commands: [fails], debug: true });
    expect(stderr).toMatch(/\n\s+at .*program\.test\.ts/);
  });
});

describe('colour', () => {
  const ESCAPE = '\u001B[';

  test.each([
    [{ isTTY: true, admitsColour: true }, true],
    [{ isTTY: true, admitsColour: false }, false],
    [{ isTTY: false, admitsColour: true }, false],
  ])('with %j is used: %s', async (options, isUsed) => {
    const { stderr } = await windlass(['lint', '/nowhere'], options);
    expect(stderr.includes(ESCAPE)).toBe(isUsed);
  });
});

describe('-o', () => {
  test.each([
    ['json', /^\{\n {2}"version": "0/],
    ['yaml', /^version: 0/],
    ['name', /^0\.\d+\.\d+\n$/],
  ])('%s prints the result in this format', async (format, says) => {
    expect((await windlass(['version', '-o', format])).stdout).toMatch(says);
  });
});
