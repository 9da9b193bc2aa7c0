import { expect, test } from 'vitest';
import { bundledPrograms } from '../../../images/bundle.ts';

test('each program of the demo starts by itself: what starts it is in its own file, and not in one that it shares', async () => {
  const files = await bundledPrograms('windlass-demo');
  const own = files.filter(({ to }) => !to.startsWith('/app/chunk-'));
  expect(own.length).toBeGreaterThan(4);
  for (const file of own)
    expect(file).toMatchObject({ content: expect.stringContaining('import.meta.main') });
});
