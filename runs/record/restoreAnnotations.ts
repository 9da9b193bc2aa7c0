/** The restore annotations of a record: what a restore needs beside spec and status. Pure. */
import { ANNOTATION } from '../../api/group.ts';
import { parseExact } from '../../api/exact/exactNumber.ts';
import type { NodeOutput } from '../../api/value.ts';
import type { DedupeMark, RunState } from '../types.ts';
import { outputBytes, type RecordLimits } from './record.ts';

/**
 * The annotations of a run's record: its dedupe mark, and whether the record can have less of the input than
 * the run (headers of a webhook, or a too large input). `input`: the run's input, also where the record
 * withholds it.
 */
export function restoreAnnotationsOf(
  { dedupeHash, bodyHash }: Pick<RunState, 'dedupeHash' | 'bodyHash'>,
  input: string,
  { maxOutputBytes }: RecordLimits,
): Record<string, string> {
  return {
    ...(dedupeHash !== undefined && { [ANNOTATION.dedupe]: `${dedupeHash} ${bodyHash ?? ''}`.trimEnd() }),
    ...(isPartial(input, maxOutputBytes) && { [ANNOTATION.partialInput]: 'true' }),
  };
}

/** The dedupe mark of a record, if it has one. */
export function dedupeMarkOf(annotations: Record<string, string> | undefined): DedupeMark | undefined {
  const [hash, body = ''] = annotations?.[ANNOTATION.dedupe]?.split(' ') ?? [];
  return hash ? { hash, body } : undefined;
}

function isPartial(input: string, maxBytes: number): boolean {
  if (input === '') return false;
  const { text_content, data_content, ...rest } = parseExact(input) as Partial<NodeOutput>;
  const output = { ...(text_content !== undefined && { text_content }), data_content };
  return Object.keys(rest).length > 0 || outputBytes(output) > maxBytes;
}
