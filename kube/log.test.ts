import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { LINE_FORMAT } from './log.ts';

test('a line has the time in UTC as RFC 3339 has it, and the name of its level', () => {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  pino({ ...LINE_FORMAT, level: 'info', base: { program: 'gateway' } }, sink).warn({ key: 'a' }, 'refused');
  expect(JSON.parse(lines.join(''))).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    program: 'gateway',
    key: 'a',
    msg: 'refused',
  });
});
