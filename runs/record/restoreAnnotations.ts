/** The restore annotations of a record: what a restore needs beside spec and status. Pure. */
import { mayHoldCallbackURL } from '../../api/callback.ts';
import { ANNOTATION } from '../../api/group.ts';
import { parseExact } from '../../api/exact/exactNumber.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { ParentRef, RunState } from '../types/run.ts';
import type { DedupeMark } from '../types/submission.ts';
import { outputBytes, type RecordLimits } from './record.ts';

/**
 * The annotations of a run's record: its dedupe mark, the ancestors of a child run, and whether the record
 * can have less of the input than the run (headers of a webhook, URLs of callbacks, or a too large input).
 * `input`: the run's input, also where the record withholds it.
 */
export function restoreAnnotationsOf(
  { dedupeHash, bodyHash, parent }: Pick<RunState, 'dedupeHash' | 'bodyHash' | 'parent'>,
  input: string,
  { maxOutputBytes }: RecordLimits,
): Record<string, string> {
  return {
    ...(dedupeHash !== undefined && { [ANNOTATION.dedupe]: `${dedupeHash} ${bodyHash ?? ''}`.trimEnd() }),
    ...(parent && { [ANNOTATION.ancestors]: ancestorsOf(parent) }),
    ...(isPartial(input, maxOutputBytes) && { [ANNOTATION.partialInput]: 'true' }),
  };
}

/** The dedupe mark of a record, if it has one. */
export function dedupeMarkOf(annotations: Record<string, string> | undefined): DedupeMark | undefined {
  const [hash, body = ''] = annotations?.[ANNOTATION.dedupe]?.split(' ') ?? [];
  return hash ? { hash, body } : undefined;
}

/** The fields of the parent that a record holds beside `spec.parent`. */
function ancestorsOf({ run: _run, node: _node, ...ancestors }: ParentRef): string {
  return JSON.stringify(ancestors);
}

/**
 * The parent of a recorded child run. `parent`: that of its spec. Undefined where the annotation is not that
 * of a record: users may write any.
 */
export function parentRefOf(
  annotations: Record<string, string> | undefined,
  parent: Pick<ParentRef, 'run' | 'node'> | undefined,
): ParentRef | undefined {
  const text = annotations?.[ANNOTATION.ancestors];
  const ancestors = parent && text !== undefined ? readAncestors(text) : undefined;
  return parent && ancestors && { ...ancestors, ...parent };
}

function readAncestors(text: string): Omit<ParentRef, 'run' | 'node'> | undefined {
  try {
    const read = JSON.parse(text) as Partial<ParentRef> | null;
    const isWhole = typeof read?.group === 'string' && typeof read.root === 'string';
    const isParent = isWhole && Array.isArray(read.path) && typeof read.waits === 'boolean';
    return isParent ? (read as ParentRef) : undefined;
  } catch {
    return undefined;
  }
}

function isPartial(input: string, maxBytes: number): boolean {
  if (input === '') return false;
  if (mayHoldCallbackURL(input)) return true;
  const { text_content, data_content, ...rest } = parseExact(input) as Partial<NodeOutput>;
  const output = { ...(text_content !== undefined && { text_content }), data_content };
  return Object.keys(rest).length > 0 || outputBytes(output) > maxBytes;
}
