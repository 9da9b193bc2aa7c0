/**
 * `npm test -- FILTER` prepares and runs only what the filter means, and no end-to-end test disturbs others.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../../../scripts/run.ts';
import { BESIDE_CODE, EXCLUSIVE, PROJECTS, projectsOf } from '../../../scripts/testProjects.ts';

/** This file contains the patterns that it searches for. */
const OWN = 'scripts/testProjects.test.ts';

test.each([
  [['api/cel.test.ts'], ['unit']],
  [['test/unit/scripts'], ['unit']],
  [['./console/editor'], ['unit']],
  [['test/integration/runs/claim.test.ts:12'], ['integration']],
  [[join(ROOT, 'test/integration/kube')], ['integration']],
  [['nodes/skills/sendEmail.integration'], ['integration']],
  [['E2E/mail'], ['e2e']],
  [['schedules'], ['integration', 'unit']],
  [
    ['api/json', 'test/e2e/order'],
    ['unit', 'e2e'],
  ],
  [['api/json', '-t', 'e2e/order', '--bail=1'], ['unit']],
])('%j means %j', (args, expected) => {
  expect([...projectsOf(args)].toSorted()).toEqual([...expected].toSorted());
});

test.each([[[]], [['-t', 'a name']], [['no/such/file']]])('%j means all', (args) => {
  expect(projectsOf(args)).toEqual(PROJECTS);
});

test('tests that start a server or a thread are integration tests', () => {
  const starting = [
    /import \{[^}]*\bcreateServer\b[^}]*\} from 'node:|\.listen\(|\/listen\.ts'/,
    /\/support\/(network|providers|conformance)\//,
    /\/support\/nodes\/(cloudDrives|codeSandbox|credentialCheck|httpTarget|sheetPolls|sheetsSkill)\.ts/,
  ];
  const exclude = [BESIDE_CODE, '**/node_modules', '.windlass', 'test/integration', 'test/e2e'];
  const files = globSync('**/*.test.ts', { cwd: ROOT, exclude }).filter((file) => !file.endsWith(OWN));
  const isStarting = (text: string) => starting.some((pattern) => pattern.test(text));
  expect(files.filter((file) => isStarting(readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
});

test('each end-to-end test that can break or upgrade the installation is executed alone', () => {
  const disturbing = /from '\.\.\/faults\/|upgradeWindlass|windlassNamespace/;
  const files = globSync('test/e2e/*.test.ts', { cwd: ROOT });
  const found = files.filter((file) => disturbing.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(found.toSorted()).toEqual(EXCLUSIVE);
});
