/** Names of objects and IDs of nodes, made of the names that people gave. */
import { shortHash } from '../../../api/names.ts';

const ID_LIMIT = 48;
const NAME_LIMIT = 50;

/** Words that CEL reserves, and members that every object has in JavaScript. */
const RESERVED = new Set(
  'as break const constructor continue else false for function if import in let loop namespace null package prototype return true var void while hasownproperty tostring valueof item index previous run vars nodes'.split(
    ' ',
  ),
);

const plain = (text: string): string =>
  text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase().slice(0, 200);

/** An allocator of unique IDs of the nodes of a workflow, such as `http_request_2`. */
export function createIds(): (wanted: string) => string {
  const used = new Set<string>();
  return (wanted) => {
    const words = plain(wanted)
      .replaceAll(/[^a-z0-9]+/g, '_')
      .replaceAll(/^_+|_+$/g, '')
      .slice(0, ID_LIMIT);
    const named = /^[a-z]/.test(words) ? words : `node_${words}`;
    const base = (RESERVED.has(named) ? `${named}_step` : named).replace(/_+$/, '');
    let id = base;
    for (let count = 2; used.has(id); count += 1) id = `${base}_${count}`;
    used.add(id);
    return id;
  };
}

/** A name of an object, such as `daily-report`. A text without letters is named by its hash. */
export function objectNameOf(text: string, fallback: string): string {
  const words = plain(text)
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const name = words.slice(0, NAME_LIMIT).replace(/-+$/, '');
  if (name === '') return `${fallback}-${shortHash(text)}`;
  return words.length > NAME_LIMIT
    ? `${name.slice(0, NAME_LIMIT - 11).replace(/-+$/, '')}-${shortHash(text)}`
    : name;
}

/** An allocator of unique names of objects. */
export function createNames(): (text: string, fallback: string) => string {
  const used = new Set<string>();
  return (text, fallback) => {
    const base = objectNameOf(text, fallback);
    let name = base;
    for (let count = 2; used.has(name); count += 1) name = `${base}-${count}`;
    used.add(name);
    return name;
  };
}
