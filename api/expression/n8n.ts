/** References as n8n writes them, and what to write instead: for the messages that authors get. Pure. */
import type { PathStep } from './reference.ts';

/** A reference as n8n writes it. */
export type N8nReference = {
  /** All of it: `$('trigger').first().json.amount`. */
  written: string;
  /** The node that it names; undefined for the node before, and for a name that cannot be an ID. */
  node?: string;
  isNamed: boolean;
  /** It reads the `body` of an item, which only webhooks have. Here the body is their `data_content`. */
  isBody: boolean;
  /** The path below the data: `.amount`. */
  path: string;
};

const END = String.raw`(?![\p{ID_Continue}$(])`;
const QUOTED = String.raw`"[^"\n]*"|'[^'\n]*'`;
const STEP = String.raw`\.[\p{ID_Start}_$][\p{ID_Continue}$]*${END}|\[(?:\d+|${QUOTED})\]`;
const ITEM = String.raw`(?:\.item${END}|\.(?:first|last)\(\)|\.all\(\)(?:\[\d+\])?)?(?:\.json${END})?`;
const REFERENCE = new RegExp(
  String.raw`(?:\$(?:json|input)${END}|\$node(?:\[(${QUOTED})\]|\.(\w+))|\$\((${QUOTED})\))(${ITEM})(\.body${END}|\[["']body["']\])?((?:${STEP})*)`,
  'uy',
);

const NODE_ID = /^[A-Za-z]\w*$/;
/** Longer paths are not repeated in messages. */
const LONGEST_PATH = 100;

/**
 * The reference of n8n at this offset; undefined if there is none. `$('a').item.name` is one of Windlass:
 * groups have items.
 */
export function n8nReferenceAt(text: string, offset: number): N8nReference | undefined {
  REFERENCE.lastIndex = offset;
  const found = REFERENCE.exec(text);
  if (!found) return undefined;
  const [all, key, name, argument, item = '', body = '', steps = ''] = found;
  const named = name ?? (key ?? argument)?.slice(1, -1);
  if (argument !== undefined && !/json|\(/.test(item)) return undefined;
  const isShort = steps.length <= LONGEST_PATH;
  return {
    written: isShort ? all : all.slice(0, -steps.length),
    ...(named !== undefined && NODE_ID.test(named) && { node: named }),
    isNamed: named !== undefined,
    isBody: body !== '',
    path: isShort ? steps : '',
  };
}

/**
 * The path below `data_content` for the path of n8n below `.item`: without `json`, and after a webhook also
 * without `body`.
 */
export function pathOfData([first, ...rest]: readonly PathStep[], isWebhook: boolean): readonly PathStep[] {
  if (first === undefined) return [];
  if (first !== 'json') return [first, ...rest];
  return isWebhook && rest[0] === 'body' ? rest.slice(1) : rest;
}
