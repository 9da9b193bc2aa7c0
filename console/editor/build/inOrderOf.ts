/** Proposals with their fields in the order of the draft. Pure. */
import { isRecord } from '../../../api/record.ts';

/**
 * The value with its fields in the order that the draft has, so that the comparison shows no field that was
 * only moved, and accepting it moves none. Nodes are distinguished by their IDs.
 */
export function inOrderOf(draft: unknown, value: unknown): unknown {
  if (Array.isArray(value)) {
    const known = Array.isArray(draft) ? draft : [];
    return value.map((each, at) =>
      inOrderOf(known.find((other) => isSameNode(other, each)) ?? known[at], each),
    );
  }
  if (!isRecord(value)) return value;
  const like = isRecord(draft) ? draft : {};
  const names = new Set([
    ...Object.keys(like).filter((name) => Object.hasOwn(value, name)),
    ...Object.keys(value),
  ]);
  return Object.fromEntries([...names].map((name) => [name, inOrderOf(like[name], value[name])]));
}

function isSameNode(one: unknown, other: unknown): boolean {
  return isRecord(one) && isRecord(other) && typeof one['id'] === 'string' && one['id'] === other['id'];
}
