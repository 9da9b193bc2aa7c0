/** The nodes of a draft that name a credential which the project does not have. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { credentialFields } from '../../credentials/credentialFields.ts';
import { missingCredentialText } from '../../credentials/fitText.ts';
import { disabledIn } from './disabling.ts';
import type { Found } from './problems.ts';

/**
 * The problems that were found, by the set of names and the node. Neither is ever mutated. Nodes whose
 * problems are the same objects as before are not redrawn.
 */
const cached = new WeakMap<ReadonlySet<string>, WeakMap<WorkflowNode, readonly Found[]>>();

/**
 * One problem for each field that names a missing credential. `names`: all credentials of the project.
 * Disabled nodes have no problems.
 */
export function missingCredentials(spec: WorkflowSpec, names: ReadonlySet<string>): readonly Found[] {
  const disabled = disabledIn(spec);
  return spec.nodes.filter(({ id }) => !disabled.has(id)).flatMap((node) => inNode(node, names));
}

/** Whether the node fails without the credential of this field. Tools and other models may remain unused. */
export function isNeeded(field: string): boolean {
  return /^\w+\.credential$/.test(field);
}

function inNode(node: WorkflowNode, names: ReadonlySet<string>): readonly Found[] {
  const ofNames = cached.get(names) ?? new WeakMap<WorkflowNode, readonly Found[]>();
  const found = ofNames.get(node) ?? findIn(node, names);
  ofNames.set(node, found);
  cached.set(names, ofNames);
  return found;
}

function findIn(node: WorkflowNode, names: ReadonlySet<string>): Found[] {
  return credentialFields(node)
    .filter(({ name }) => name !== '' && !names.has(name))
    .map(({ field, name }) => ({
      place: { node: node.id },
      problem: { field, message: missingCredentialText(name), source: 'credential' },
    }));
}
