/** The manifests of `mistakes.yaml`, which people get wrong, and where each is caught. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { WorkflowSpec } from '../../api/workflow.ts';

export type Mistake = {
  /** Where people come from who make it. */
  from: string;
  /** What is wrong, in a few words. */
  wrong: string;
  /**
   * `apply`: the API server refuses it; `status`: a condition says so before anything runs; `run`: a run
   * fails.
   */
  caught: 'apply' | 'status' | 'run';
  /** What is in the message that its author gets. */
  says: string;
  /** The whole manifest as text, since some are no YAML. */
  manifest: string;
};

type Written = Omit<Mistake, 'manifest'> & { kind?: string; spec?: string; manifest?: string };

/** Every mistake, in the order of the file. */
export function readMistakes(): Mistake[] {
  const text = readFileSync(join(import.meta.dirname, 'mistakes.yaml'), 'utf8');
  return (parse(text) as Written[]).map(({ kind = 'Workflow', spec = '', manifest, ...mistake }) => ({
    ...mistake,
    manifest: manifest ?? manifestOf(kind, spec),
  }));
}

/** The spec of one that is YAML. */
export function specOf({ manifest }: Mistake): WorkflowSpec {
  return (parse(manifest) as { spec: WorkflowSpec }).spec;
}

function manifestOf(kind: string, spec: string): string {
  const head = `apiVersion: windlass.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: wrong }\nspec:\n`;
  return head + spec.replaceAll(/^(?=.)/gm, '  ');
}
