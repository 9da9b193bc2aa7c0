/**
 * The rows of an output: as a tree with open and closed branches, as search results, and as a table. Each row
 * has its reference.
 */
import { ExactNumber } from '../../../api/exact/exactNumber.ts';
import { isRecord } from '../../../api/record.ts';
import { REFERENCE_TYPE } from '../../forms/source.ts';
import { printReference, type PathStep } from '../../../api/expression/reference.ts';
import { count } from '../../ui/format.ts';
import type { DragEvent } from 'react';

export type Output = { text_content?: string | undefined; data_content?: unknown };
type Member = 'text_content' | 'data_content';

/** The path of a value in an output. */
export type OutputPath = { member: Member; path: readonly PathStep[] };

export type TreeRow = OutputPath & {
  /** A stable key for the set of open rows. */
  key: string;
  label: string;
  depth: number;
  value: unknown;
  kind: ValueKind;
  /** The number of values below it. */
  size: number;
  isOpen: boolean;
};

type ValueKind = 'object' | 'list' | 'text' | 'number' | 'boolean' | 'null';

/** The reference without braces: `$('mail').data_content.items[0]`. `item`: of this item of a loop. */
export function referenceOf(nodeId: string, { member, path }: OutputPath, item?: number): string {
  const whole = item === undefined ? path : [item, ...path];
  return printReference({ source: 'node', node: nodeId, member, path: whole });
}

/** The reference in braces, as fields expect it. */
export function expressionOf(reference: string): string {
  return `{{ ${reference} }}`;
}

function kindOfValue(value: unknown): ValueKind {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number' || value instanceof ExactNumber) return 'number';
  if (typeof value === 'object') return 'object';
  return typeof value === 'boolean' ? 'boolean' : 'text';
}

/** The key of a path in the set of open rows. */
export function keyOf({ member, path }: OutputPath): string {
  return JSON.stringify([member, ...path]);
}

/** The initially open rows: the data, and everything in small outputs. */
export function firstOpen(output: Output): Set<string> {
  const root: OutputPath = { member: 'data_content', path: [] };
  const open = new Set([keyOf(root)]);
  const children = childrenOf(root, output.data_content).slice(0, 20);
  if (childrenOf(root, output.data_content).length <= 20)
    for (const child of children) if (sizeOf(child.value) <= 8) open.add(keyOf(child));
  return open;
}

/** The visible rows. Closed branches are not visited. */
export function treeRows(output: Output, open: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const add = (at: OutputPath, value: unknown, depth: number): void => {
    const row = rowOf(at, value, depth, open);
    rows.push(row);
    if (row.isOpen) for (const child of childrenOf(at, value)) add(child, child.value, depth + 1);
  };
  for (const { at, value } of rootsOf(output)) add(at, value, 0);
  return rows;
}

const MOST_FOUND = 500;

/** The values whose name or content matches, labelled with their full path. */
export function foundRows(output: Output, text: string): TreeRow[] {
  const wanted = text.toLowerCase();
  const rows: TreeRow[] = [];
  const visit = (at: OutputPath, value: unknown): void => {
    if (rows.length >= MOST_FOUND) return;
    const children = childrenOf(at, value);
    const name = String(at.path.at(-1) ?? at.member);
    const isFound =
      name.toLowerCase().includes(wanted) ||
      (children.length === 0 && shortText(value).toLowerCase().includes(wanted));
    if (isFound) rows.push({ ...rowOf(at, value, 0, new Set()), label: pathLabel(at) });
    for (const child of children) visit(child, child.value);
  };
  for (const { at, value } of rootsOf(output)) visit(at, value);
  return rows;
}

function rootsOf(output: Output): { at: OutputPath; value: unknown }[] {
  const members: Member[] = ['text_content', 'data_content'];
  return members
    .filter((member) => output[member] !== undefined && output[member] !== '' && output[member] !== null)
    .map((member) => ({ at: { member, path: [] }, value: output[member] }));
}

function rowOf(at: OutputPath, value: unknown, depth: number, open: ReadonlySet<string>): TreeRow {
  const key = keyOf(at);
  const size = sizeOf(value);
  const label = at.path.length === 0 ? at.member : String(at.path.at(-1));
  return {
    ...at,
    key,
    label,
    depth,
    value,
    kind: kindOfValue(value),
    size,
    isOpen: size > 0 && open.has(key),
  };
}

type Child = OutputPath & { value: unknown };

function childrenOf({ member, path }: OutputPath, value: unknown): Child[] {
  if (Array.isArray(value))
    return value.map((item: unknown, index) => ({ member, path: [...path, index], value: item }));
  if (!isRecord(value)) return [];
  return Object.entries(value).map(([name, item]) => ({ member, path: [...path, name], value: item }));
}

function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
}

function pathLabel({ member, path }: OutputPath): string {
  return referenceOf('x', { member, path }).replace("$('x').", '');
}

export function shortText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.length === 0 ? '[]' : count(value.length, 'item');
  if (isRecord(value)) {
    const names = Object.keys(value);
    return names.length === 0 ? '{}' : names.join(', ');
  }
  return JSON.stringify(value) ?? 'null';
}

/** A value for the clipboard: strings as they are, anything else as JSON. */
export function wholeText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null');
}

export type OutputTable = OutputPath & { columns: string[]; rows: Record<string, unknown>[]; label: string };

const MOST_COLUMNS = 40;
const DEEPEST_TABLE = 3;

/** The lists of objects in an output, topmost first. */
export function tablesOf({ data_content }: Output): OutputTable[] {
  const tables: OutputTable[] = [];
  const visit = (at: OutputPath, value: unknown): void => {
    if (Array.isArray(value)) {
      const table = tableOf(at, value);
      if (table !== undefined) tables.push(table);
      return;
    }
    if (at.path.length < DEEPEST_TABLE) for (const child of childrenOf(at, value)) visit(child, child.value);
  };
  visit({ member: 'data_content', path: [] }, data_content);
  return tables.toSorted((a, b) => a.path.length - b.path.length);
}

function tableOf(at: OutputPath, list: unknown[]): OutputTable | undefined {
  if (list.length === 0 || !list.every((item) => kindOfValue(item) === 'object')) return undefined;
  const rows = list as Record<string, unknown>[];
  const columns = [...new Set(rows.slice(0, 200).flatMap((row) => Object.keys(row)))].slice(0, MOST_COLUMNS);
  return columns.length === 0 ? undefined : { ...at, rows, columns, label: pathLabel(at) };
}

export type ToolCall = {
  name: string;
  input: string;
  result: string | undefined;
  /** The call failed, or was not executed because it was wrong. */
  isFailed: boolean;
};

/** The tool calls of an agent, from any of the usual formats. */
export function toolCallsOf({ data_content }: Output): ToolCall[] {
  const calls = memberOf(data_content, 'tool_calls');
  if (!Array.isArray(calls)) return [];
  return calls.map((call: unknown) => {
    const called = memberOf(call, 'function') ?? call;
    const result = memberOf(call, 'result') ?? memberOf(call, 'output');
    return {
      name: shortText(memberOf(called, 'name') ?? 'tool'),
      input: wholeText(memberOf(called, 'arguments') ?? memberOf(called, 'input') ?? {}),
      result: result === undefined ? undefined : wholeText(result),
      isFailed: memberOf(call, 'error') === true,
    };
  });
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

/** What fields of forms visit for. */

/** Adds the reference to the drag data. */
export function dragReference(event: DragEvent, reference: string): void {
  event.stopPropagation();
  event.dataTransfer.setData(REFERENCE_TYPE, reference);
  event.dataTransfer.setData('text/plain', expressionOf(reference));
  event.dataTransfer.effectAllowed = 'copy';
}
