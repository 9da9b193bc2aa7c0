/** Merge patches (RFC 7396) and comparison of JSON values. Pure. */
import { isRecord } from '../../api/record.ts';

/**
 * The patch from `from` to `to`; undefined if they are equal. Lists are replaced as a whole, as the API
 * server does.
 */
export function mergePatch(from: unknown, to: unknown): unknown {
  if (isEqual(from, to)) return undefined;
  if (!isRecord(from) || !isRecord(to)) return to;
  const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
  return Object.fromEntries(
    [...keys].flatMap((key) => {
      const [was, is] = [ownMember(from, key), ownMember(to, key)];
      if (is === undefined) return was === undefined ? [] : [[key, null]];
      const inner = mergePatch(was, is);
      return inner === undefined ? [] : [[key, inner]];
    }),
  );
}

/** Deep equality of JSON values. Undefined members count as absent. */
export function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other)) return areEqualLists(one, other);
  if (!isRecord(one) || !isRecord(other)) return false;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) =>
    isEqual(ownMember(one, key), ownMember(other, key)),
  );
}

/** A key may be the name of an inherited member, such as constructor. */
function ownMember(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function areEqualLists(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
  return one.every((item, index) => isEqual(item, other[index]));
}
