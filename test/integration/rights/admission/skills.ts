/**
 * What `kubectl apply` says about the skills of workflows, as a real API server decides it with the chart's
 * policy: the operator's own messages, as warnings.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorkflowSpec } from '../../../../api/workflow.ts';
import { skillsFit } from '../../../../operator/workflow/checks/nodes.ts';
import { kubectl } from '../../../support/cluster/kubectl.ts';
import { pollUntil } from '../../../support/time/poll.ts';
import { draft, NAMESPACE, type AdmissionHarness } from './harness.ts';

const EXAMPLES = join(import.meta.dirname, '../../../../examples');

const step = (id: string, skill: object) => ({ id, skill });
const mail = { to: 'a@b.example', subject: 's', body: 'b' };

/** A mistake of each kind, and two of one kind. */
const WRONG = {
  active: true,
  nodes: [
    { id: 'start', manual: {} },
    step('unknown', { name: 'send_mail' }),
    step('incomplete', { name: 'send_email', credential: 'smtp', parameters: { to: 'a@b.example' } }),
    step('empty', { name: 'http_request' }),
    step('mistaken', { name: 'http_request', parameters: { url: 'https://a.example', uri: 1 } }),
    step('unconnected', { name: 'send_email', parameters: mail }),
    step('connected', { name: 'set', credential: 'smtp', parameters: { values: {} } }),
  ],
};

export function testSkills(harness: () => AdmissionHarness): void {
  /** What kubectl prints when the server is only asked. */
  async function dryRun(manifests: string, ...args: string[]): Promise<string> {
    const lines: string[] = [];
    const line = ['-n', NAMESPACE, 'apply', '--dry-run=server', ...args, '-f', '-'];
    const options = { input: manifests, onLine: (text: string) => lines.push(text) };
    await kubectl(harness().server, line, options).catch(() => lines.push('refused'));
    return lines.join('\n');
  }

  const workflow = (spec: object) =>
    JSON.stringify({ apiVersion: 'windlass.dev/v1alpha1', kind: 'Workflow', ...draft({ ...spec }) });

  test('kubectl apply --dry-run=server says what the operator would say, and admits the workflow', async () => {
    const isInEffect = async () => (await dryRun(workflow(WRONG))).includes('there is no skill named');
    await pollUntil('the policy in effect', isInEffect, { timeoutMs: 20_000, everyMs: 50 });
    const said = await dryRun(workflow(WRONG));
    const messages = skillsFit(WRONG as unknown as WorkflowSpec).map(({ message }) => message);
    expect(messages).toHaveLength(7);
    expect(messages.filter((message) => !said.includes(message))).toEqual([]);
    expect(said).toContain('created (server dry run)');
  });

  test('a pipeline can take warnings for errors', async () => {
    expect(await dryRun(workflow(WRONG), '--warnings-as-errors')).toContain('refused');
  });

  test('no example is warned about', async () => {
    const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('workflow.yaml'),
    );
    const manifests = files.map((path) => readFileSync(join(EXAMPLES, path), 'utf8')).join('\n---\n');
    expect(await dryRun(manifests)).not.toContain('skill:');
  });
}
