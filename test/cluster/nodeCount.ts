/** The number of nodes that a command line asks for. */
import { mostNodes } from './builtin/layout.ts';

/** Undefined where none is given. Throws for anything but a whole number from 1 to 9. */
export function nodeCount(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= mostNodes) return count;
  throw new Error(`"${text}" cannot be the number of nodes: use a whole number from 1 to ${mostNodes}`);
}
