/**
 * Manifests as people keep them in Git for GitOps tools: workflows, and two environments of one base that
 * kustomize renders with the files of docs/gitops.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { API_VERSION } from '../../../api/group.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';

const gitops = join(import.meta.dirname, '../../../docs/gitops');

/** A manifest without a namespace. */
export const manifestOf = <Spec extends object>(kind: string, name: string, spec: Spec) => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  spec,
});

/** An active workflow with a webhook and these steps. */
export const served = (...steps: WorkflowSpec['nodes']): WorkflowSpec => ({
  active: true,
  nodes: [{ id: 'trigger', webhook: { path: 'hook' } }, ...steps],
});

/** An active workflow with a step that returns the text. */
export const returning = (text: string): WorkflowSpec =>
  served({ id: 'reply', code: { source: `return '${text}'` } });

/** An active workflow that sends a mail with the Credential `mail`. */
export const mailing = (to: string): WorkflowSpec => {
  const parameters = { to, subject: 's', body: 'b' };
  return served({ id: 'mail', skill: { name: 'send_email', credential: 'mail', parameters } });
};

/** The Credential `mail`, whose password is in that Secret. */
export const mailCredential = (secret: string) =>
  manifestOf('Credential', 'mail', {
    smtp: {
      host: 'mail.example.com',
      from: 'a@b.example',
      username: 'a',
      passwordRef: { name: secret, key: 'password' },
    },
  });

/** Writes files with these paths below the folder; objects as YAML. */
export async function writeFiles(folder: string, files: Record<string, unknown>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), typeof content === 'string' ? content : stringify(content));
  }
}

/**
 * Writes `base`, with the workflows `orders` and `spare`, and for each environment, which has a namespace,
 * `NAME/credentials` and `NAME/workflows`: an overlay whose mails go to `NAME@example.com`.
 */
export async function writeEnvironments(folder: string, environments: Record<string, string>): Promise<void> {
  const files: Record<string, unknown> = {
    'base/kustomization.yaml': { resources: ['workflow.yaml', 'spare.yaml'] },
    'base/workflow.yaml': manifestOf('Workflow', 'orders', mailing('shop@example.com')),
    'base/spare.yaml': manifestOf('Workflow', 'spare', served()),
  };
  for (const [name, namespace] of Object.entries(environments)) {
    const mail = [{ id: 'trigger' }, { id: 'mail', skill: { parameters: { to: `${name}@example.com` } } }];
    Object.assign(files, {
      [`${name}/credentials/names.yaml`]: await readFile(join(gitops, 'kustomize-names.yaml'), 'utf8'),
      [`${name}/credentials/mail.yaml`]: mailCredential('mail'),
      [`${name}/credentials/kustomization.yaml`]: {
        namespace,
        configurations: ['names.yaml'],
        resources: ['mail.yaml'],
        secretGenerator: [{ name: 'mail', literals: [`password=${name}`] }],
      },
      [`${name}/workflows/openapi.json`]: await readFile(join(gitops, 'kustomize-openapi.json'), 'utf8'),
      [`${name}/workflows/kustomization.yaml`]: {
        namespace,
        openapi: { path: 'openapi.json' },
        resources: ['../../base'],
        patches: [{ patch: stringify(manifestOf('Workflow', 'orders', { nodes: mail })) }],
      },
    });
  }
  await writeFiles(folder, files);
}
