import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { variablesIn } from '../../api/variables.ts';
import type { WorkflowSpec } from '../../api/workflow.ts';
import { compileSources } from '../../operator/workflow/checks/code.ts';
import { validate } from '../../operator/workflow/validate.ts';
import { parseEgressRules } from '../../nodes/egress/rules.ts';
import { demoHosts } from '../support/installation/install.ts';
import { EXAMPLES, exampleNamed } from '../demo/examples.ts';

type Manifest = {
  kind: string;
  metadata: { name: string };
  spec: WorkflowSpec;
  data?: Record<string, string>;
};

const folder = join(import.meta.dirname, '../../examples');

/** What `kubectl apply -f examples/<name>` applies. */
function objectsOf(name: string): Manifest[] {
  const files = readdirSync(join(folder, name)).filter((file) => file.endsWith('.yaml'));
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, name, file), 'utf8')).map(
      (document) => document.toJS() as Manifest,
    ),
  );
}

test('examples in one namespace share no object: each can be applied and deleted on its own', () => {
  const owners = readdirSync(folder).flatMap((example) =>
    objectsOf(example).map(({ kind, metadata }) => ({ object: `${kind} ${metadata.name}`, example })),
  );
  const shared = [...Map.groupBy(owners, ({ object }) => object)].filter(([, users]) => users.length > 1);
  expect(shared.map(([object, users]) => [object, users.map(({ example }) => example)])).toEqual([]);
});

test.each(readdirSync(folder))('examples/%s uses its own credentials, and each of them', (name) => {
  const objects = objectsOf(name);
  const specs = JSON.stringify(objects.filter(({ kind }) => kind === 'Workflow').map(({ spec }) => spec));
  const used = [...specs.matchAll(/"credential":"([^"]*)"/g)].map(([, credential = '']) => credential);
  const own = objects.flatMap(({ kind, metadata }) => (kind === 'Credential' ? [metadata.name] : []));
  expect([...new Set(used)].toSorted()).toEqual(own.toSorted());
});

test.each(readdirSync(folder))('the workflow of examples/%s is valid', async (name) => {
  const objects = objectsOf(name);
  const workflows = objects.filter(({ kind }) => kind === 'Workflow');
  const specOf = (named: string) => workflows.find(({ metadata }) => metadata.name === named)?.spec;
  const egress = parseEgressRules(demoHosts, []);
  const variables = variablesIn(objects.find(({ kind }) => kind === 'ConfigMap')?.data);
  expect(workflows).not.toEqual([]);
  for (const { metadata, spec } of workflows) {
    const compiled = await compileSources(spec);
    const policies = { egress, variables, compiled, name: metadata.name, specOf };
    expect(validate(spec, policies)).toEqual([]);
  }
});

test('the demo shows each example, and for an unknown name it lists the examples', () => {
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(readdirSync(folder).toSorted());
  for (const name of ['hallo', 'toString']) {
    expect(() => exampleNamed(name)).toThrow(
      /Choose one of: order-confirmation, hello, mail-count, new-orders, invoices, newsletter, poll-a-job, environments, long-job, refund-agent, support-agent, mail-triage, mail-reply/,
    );
  }
});

test.each(Object.keys(EXAMPLES))('examples/%s says how to see it work', (name) => {
  const text = readFileSync(join(folder, name, 'README.md'), 'utf8');
  expect(text).toContain(`kubectl apply -f examples/${name}`);
  expect(text).toContain(`npm run demo -- --example ${name}`);
});
