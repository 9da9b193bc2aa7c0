/**
 * Reads a pasted curl command as an `http_request` node. Leaves out what is named like a login in its
 * options, its headers and its query: it would be readable in the workflow. Options as in the manual of
 * curl 8. Pure.
 */
import { parseExact, splitExact } from '../../../api/exact/exactNumber.ts';
import type { WorkflowNode } from '../../../api/workflow.ts';
import { fieldsOf, type Given } from './curlOptions.ts';
import { wordsOf } from './shellWords.ts';

export type CurlRead =
  /** `notes`: what the node does not have of the command, and what to do. */
  { node: WorkflowNode; notes: string[] } | { problem: string };

const LONGEST = 200_000;
/** Names of headers and query parameters that carry a login. */
const LOGINS =
  /^(?!.*(?:page|next|continuation|sync)[-_]token$)(?:.*[-_])?(?:authorization|cookie|token|secret|password|credentials?|signature|jwt)$|(?:api|access|auth|subscription|private|secret|application|functions?)[-_]?(?:key|token)$/i;

/** Undefined: the text is no curl command. */
export function readCurl(text: string): CurlRead | undefined {
  if (!/^\s*(?:\$\s+)?curl\s/.test(text) || text.length > LONGEST) return undefined;
  const words = wordsOf(text.replace(/^\s*\$\s+/, ''));
  if ('problem' in words) return words;
  const given = fieldsOf(words.words.slice(1));
  if ('problem' in given) return given;
  const [url = ''] = given.urls;
  if (given.urls.length !== 1)
    return { problem: `A node sends one request, and this command has ${given.urls.length} URLs.` };
  const read = URL.parse(/^[a-z]+:\/\//i.test(url) ? url : `https://${url}`);
  if (read === null || !/^https?:$/.test(read.protocol))
    return { problem: `${url} is no URL with https or http.` };
  return nodeOf(given, read);
}

function nodeOf(given: Given, url: URL): CurlRead {
  const notes = [...given.notes];
  const isLogin = ([name]: readonly [string, string]) => LOGINS.test(name);
  const logins = given.headers.filter(isLogin).map(([name]) => name);
  if (url.username !== '' || url.password !== '') logins.push('the login in the URL');
  if (given.hasLogin) logins.push('the option --user');
  for (const name of [...url.searchParams.keys(), ...Object.keys(given.query)])
    if (LOGINS.test(name)) logins.push(`${name} in the query`);
  if (logins.length > 0)
    notes.push(
      `Left out: ${logins.join(', ')}. Create a credential for an HTTP API, and choose it in the node.`,
    );
  url.username = '';
  url.password = '';
  const query = Object.fromEntries(Object.entries(given.query).filter(([name]) => !LOGINS.test(name)));
  const contentType = given.headers.find(([name]) => /^content-type$/i.test(name))?.[1];
  const headers = given.headers.filter(
    (header) => !isLogin(header) && !/^content-(?:type|length)$/i.test(header[0]),
  );
  const { body, type, note } = bodyOf(given, contentType);
  if (note !== undefined) notes.push(note);
  const parameters = {
    ...(given.method !== 'GET' && { method: given.method }),
    url: withoutLogins(url),
    ...(Object.keys(query).length > 0 && { query }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(body !== undefined && { body }),
    ...(type !== undefined && { contentType: type }),
  };
  return { node: { id: 'request', skill: { name: 'http_request', parameters } }, notes };
}

/** The other parameters of the query stay as they are written. */
function withoutLogins(url: URL): string {
  if (![...url.searchParams.keys()].some((name) => LOGINS.test(name))) return url.href;
  const isKept = (part: string) => ![...new URLSearchParams(part).keys()].some((name) => LOGINS.test(name));
  url.search = url.search.slice(1).split('&').filter(isKept).join('&');
  return url.href;
}

type Body = { body?: unknown; type?: string | undefined; note?: string };

/** The body as JSON where it is JSON, so that its members can be edited; else as text. */
function bodyOf({ data }: Given, contentType: string | undefined): Body {
  if (data === undefined) return contentType === undefined ? {} : { type: contentType };
  const isJson = contentType === undefined ? /^\s*[[{]/.test(data) : /[/+]json\b/i.test(contentType);
  const read = isJson ? parsed(data) : undefined;
  // As a value it would be rounded before it is stored; a text is sent as it is.
  if (read?.exact !== undefined)
    return { body: data, type: contentType ?? 'application/json', note: KEPT_AS_TEXT };
  if (read !== undefined)
    return /^application\/json$/i.test(contentType ?? 'application/json')
      ? { body: read.data }
      : { body: read.data, type: contentType };
  return { body: data, type: contentType ?? 'application/x-www-form-urlencoded' };
}

const KEPT_AS_TEXT = 'The body is text, because it has a number that would be rounded as JSON.';

function parsed(text: string): ReturnType<typeof splitExact> | undefined {
  try {
    return splitExact(parseExact(text));
  } catch {
    return undefined;
  }
}
