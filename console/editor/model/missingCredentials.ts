/** The nodes of a draft that name a credential which the project does not have. Pure. */
import type { WorkflowNode, WorkflowSpec } from '../../../api/workflow.ts';
import { missingText } from '../../credentials/fitText.ts';
import { credentialFields } from './credentialFields.ts';
import { disabledIn } from './disabling.ts';
import type { Found } from './problems.ts';

/** By the names and the node, which nothing mutates: nodes whose problems stay the same are not redrawn. */
const known = new WeakMap<ReadonlySet<string>, WeakMap<WorkflowNode, readonly Found[]>>();

/** Each at its field. `names`: all credentials of the project. Disabled nodes may name anything. */
export function missingCredentials(spec: WorkflowSpec, names: ReadonlySet<string>): readonly Found[] {
  const disabled = disabledIn(spec);
  return spec.nodes.filter(({ id }) => !disabled.has(id)).flatMap((node) => inNode(node, names));
}

/** Whether the node fails without the credential of this field. Tools and other models may not be used. */
export function isNeeded(field: string): boolean {
  return /^\w+\.credential$/.test(field);
}

function inNode(node: WorkflowNode, names: ReadonlySet<string>): readonly Found[] {
  const ofNames = known.get(names) ?? new WeakMap<WorkflowNode, readonly Found[]>();
  const found = ofNames.get(node) ?? findIn(node, names);
  ofNames.set(node, found);
  known.set(names, ofNames);
  return found;
}

function findIn(node: WorkflowNode, names: ReadonlySet<string>): Found[] {
  return credentialFields(node)
    .filter(({ name }) => name !== '' && !names.has(name))
    .map(({ field, name }) => ({
      place: { node: node.id },
      problem: { field, message: missingText(name), source: 'credential' },
    }));
}
