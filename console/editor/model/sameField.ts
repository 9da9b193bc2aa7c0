/** Whether a path in a node stands for the same field as in an earlier draft, whatever its value. Pure. */
import { isRecord } from '../../../api/record.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { valueAt } from './current.ts';

export type FieldAt = { node: string; field: string };

/**
 * False if the node has another skill now, if the part of the node that has the field is gone, or if another
 * element of a list has its place.
 */
export function isSameField(at: FieldAt, before: WorkflowSpec, now: WorkflowSpec): boolean {
  const skillIn = ({ nodes }: WorkflowSpec) => nodes.find(({ id }) => id === at.node)?.skill?.name;
  if (skillIn(before) !== skillIn(now)) return false;
  const [was, is] = [before, now].map((each) => fieldHolder(each, at));
  return was === undefined || (is !== undefined && isSameHolder(was, is));
}

type Holder = { value: unknown; length: number | undefined };

/**
 * What has the field: an element of a list, such as a tool, or a part of the node, such as its loop.
 * `length`: of the list.
 */
function fieldHolder({ nodes }: WorkflowSpec, at: FieldAt): Holder | undefined {
  const node = nodes.find(({ id }) => id === at.node);
  const [path = '', list] = /^(.*)\[\d+\]/.exec(at.field) ?? [at.field.split('.')[0]];
  const value = node && valueAt(node, path);
  if (value === undefined) return undefined;
  const elements = node && list !== undefined && valueAt(node, list);
  return { value, length: Array.isArray(elements) ? elements.length : undefined };
}

/** Whether it is the same element, which may have another place or name since. */
function isSameHolder(was: Holder, is: Holder): boolean {
  if (was.length === undefined) return true;
  const [one, other] = [was, is].map(({ value }) => (isRecord(value) ? value : {}));
  const isSame = (name: string) => one?.[name] === other?.[name];
  return isSame('skill') && isSame('workflow') && (was.length === is.length || isSame('name'));
}
