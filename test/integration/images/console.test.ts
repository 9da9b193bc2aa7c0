/** Whoever opens the console waits for what is loaded first, over a port-forward, too. */
import { expect, test } from 'vitest';
import { loadOf } from '../../../images/console.ts';

const LATER =
  /^node_modules\/(@xyflow|@?codemirror|@lezer|recharts|@mantine\/charts|yaml|zod|cron-parser|cronstrue)\//;

test('the workflow list loads at most 300,000 bytes, without editor, charts and schemas', async () => {
  const { modules, bytes } = await loadOf('console/workflows/WorkflowsPage.tsx');
  const scripts = modules.filter((path) => !path.endsWith('.css'));
  expect(bytes).toBeLessThanOrEqual(300_000);
  expect(scripts).toContain('console/workflows/WorkflowTable.tsx');
  expect(scripts.filter((path) => LATER.test(path))).toEqual([]);
});

test('the editor loads no zod, which compiles code: the policy of the page forbids that', async () => {
  const { modules } = await loadOf('console/editor/EditorPage.tsx');
  expect(modules).toContain('console/editor/model/pins.ts');
  expect(modules.filter((path) => path.startsWith('node_modules/zod/'))).toEqual([]);
});
