/** The credentials that a proposal names but the project does not have. Pure. */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';

/** One sentence for each. Without a list of credentials there is nothing to compare with. */
export function credentialProblems(spec: WorkflowSpec, known: readonly { name: string }[]): string[] {
  const names = new Set(known.map(({ name }) => name));
  return spec.nodes.flatMap((node) =>
    [...new Set(credentialsIn(node))]
      .filter((name) => !names.has(name))
      .map((name) => `${node.id}: The project has no credential ${name}.`),
  );
}

function credentialsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(credentialsIn);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([member, each]) =>
    member === 'credential' && typeof each === 'string' ? [each] : credentialsIn(each),
  );
}
