import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { limitSettings } from './settings.ts';

const values = new URL('../../charts/windlass/values.yaml', import.meta.url);

test('the limits of the chart equal the defaults', () => {
  const { gateway } = parse(readFileSync(values, 'utf8')) as { gateway: { limits: unknown } };
  expect(limitSettings.parse(gateway.limits)).toEqual(limitSettings.parse({}));
  expect(Object.keys(gateway.limits as object)).toEqual(Object.keys(limitSettings.parse({})));
});
