/**
 * What a record keeps beside spec and status, as annotations, so that the run can be put back into a store that lost its data.
 * Pure.
 */
import { ANNOTATION } from '../../api/group.ts';
import type { DedupeMark, RunState } from '../types.ts';
import { storedBytes, type RecordLimits } from './record.ts';

/**
 * The annotations of a run's record: its dedupe mark, and whether a record can hold less of the input than the run was given
 * (headers that a webhook admitted, or what was too large). `input` is what the run was given, also where the record withholds it.
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
  const { text_content, data_content, ...rest } = JSON.parse(input) as Record<string, unknown>;
  return (
    Object.keys(rest).length > 0 || storedBytes(text_content ?? '') + storedBytes(data_content) > maxBytes
  );
}
