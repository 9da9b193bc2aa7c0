import { expect, test } from 'vitest';
import { buildArguments, buildHash } from '../../cluster/build.ts';

const sources = new Map([
  ['go.sum', 'a v1 h1:x'],
  ['main.go', 'package main'],
]);
const hash = buildHash(sources, ['build'], 'linux-x64');

test('the same sources, in whatever order they are read, have the same hash', () => {
  expect(buildHash(new Map([...sources].toReversed()), ['build'], 'linux-x64')).toBe(hash);
});

test.each([
  ['a changed file', new Map(sources).set('go.sum', 'a v2 h1:y'), ['build'], 'linux-x64'],
  ['a new file', new Map(sources).set('other.go', ''), ['build'], 'linux-x64'],
  [
    'text that moved from one file to the next',
    new Map([
      ['go.sum', 'a v1 h1:xpackage main'],
      ['main.go', ''],
    ]),
    ['build'],
    'linux-x64',
  ],
  ['other arguments', sources, ['build', '-v'], 'linux-x64'],
  ['another machine', sources, ['build'], 'linux-arm64'],
])('%s gives another hash', (_what, changed, args, machine) => {
  expect(buildHash(changed, args, machine)).not.toBe(hash);
});

test('the build tells the programs which version of Kubernetes they are', () => {
  expect(buildArguments('/out').join(' ')).toContain('version.gitVersion=v1.34.4');
  expect(buildArguments('/out').join(' ')).toContain('version.gitMinor=34 ');
});
