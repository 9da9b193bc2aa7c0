/**
 * Names of runs: labels of DNS (RFC 1123, at most 63 characters), so that they are names of objects and
 * values of labels.
 */
import { createHash } from 'node:crypto';
import { randomText } from '../store/random.ts';

const LIMIT = 63;
const TIME_LENGTH = 9;
const RANDOM_LENGTH = 6;

/** The hash by which a dedupe key is stored: SHA-256, 125 bits of it, in base 36. */
export function dedupeHash(workflowUid: string, key: string): string {
  const digest = createHash('sha256').update(workflowUid).update('\0').update(key).digest('hex');
  return BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-24);
}

/** A new name; names made later sort later. Two may be equal, once in 10⁹ for a workflow and millisecond. */
export function newRunName(workflow: string, now: number = Date.now()): string {
  return withSuffix(workflow, now.toString(36).padStart(TIME_LENGTH, '0') + randomText(RANDOM_LENGTH));
}

const CHILD_LENGTH = 15;

/** The name of the child run that the workflow node with this effect key starts: always the same one. */
export function childName(workflow: string, effectKey: string): string {
  const digest = createHash('sha256').update(workflow).update('\0').update(effectKey).digest('hex');
  return withSuffix(workflow, BigInt(`0x${digest}`).toString(36).padStart(50, '0').slice(-CHILD_LENGTH));
}

function withSuffix(workflow: string, suffix: string): string {
  const base = workflow
    .replaceAll('.', '-')
    .slice(0, LIMIT - suffix.length - 1)
    .replace(/-+$/, '');
  return `${base}-${suffix}`;
}
