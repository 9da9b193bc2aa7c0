import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { validate } from '../../operator/workflow/validate.ts';

const folder = join(import.meta.dirname, '../../examples');

test.each(readdirSync(folder))('the workflow of examples/%s is valid', (name) => {
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith('.yaml'));
  const objects = files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, name, file), 'utf8')).map(
      (document) => document.toJS() as { kind: string; spec: WorkflowSpec },
    ),
  );
  const [workflow] = objects.filter(({ kind }) => kind === 'Workflow');
  expect(workflow && validate(workflow.spec)).toEqual([]);
});
