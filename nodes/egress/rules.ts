/** The egress rules of an installation, parsed from its configuration. */
import { parseAddress, parseRange, type Address, type Range } from './address.ts';

/** A range at any port, or one address or name at one port. */
type Allowed = { range: Range } | { address: Address; port: number } | { host: string; port: number };

export type EgressRules = { readonly allow: readonly Allowed[]; readonly deny: readonly Range[] };

const WITH_PORT = /^(?<host>\[[^\]]+\]|[^:/[\]]+):(?<port>\d{1,5})$/;
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/;

/**
 * Parses `10.0.0.0/8`, `fd00::/8`, `10.1.2.3`, `10.1.2.3:8080`, `[fd00::1]:443`, `model.models.svc:8080`; for
 * `deny` ranges and addresses alone.
 * @throws Error that names the entry
 */
export function parseEgressRules(allow: readonly string[], deny: readonly string[]): EgressRules {
  return { allow: allow.map(allowed), deny: deny.map(denied) };
}

/**
 * The same in a pod, which knows where the API server and its node with the kubelet are: nobody may connect
 * to these either. What is no address (a name, nothing) is left out.
 */
export function rulesInPod(
  { allow, deny }: { allow: readonly string[]; deny: readonly string[] },
  around: readonly (string | undefined)[],
): EgressRules {
  const addresses = around.filter((text) => text !== undefined && parseRange(text) !== undefined);
  return parseEgressRules(allow, [...deny, ...(addresses as string[])]);
}

/** What is wrong with the entries of one of the two lists, as sentences; empty when nothing is. */
export function egressProblems(list: 'allow' | 'deny', entries: readonly string[]): string[] {
  return entries.flatMap((entry) => {
    try {
      parseEgressRules(list === 'allow' ? [entry] : [], list === 'deny' ? [entry] : []);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/** A host name as names are compared: in lower case, without the dot of an absolute name. */
export function comparableHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

function allowed(text: string): Allowed {
  const range = parseRange(text);
  if (range) return { range };
  const { host = '', port = '0' } = WITH_PORT.exec(text)?.groups ?? {};
  const number = Number(port);
  const address = parseAddress(host.replaceAll(/[[\]]/g, ''));
  const name = comparableHost(host);
  if (number >= 1 && number <= 65_535) {
    if (address) return { address, port: number };
    // A name of digits alone would be an address to the resolver.
    if (NAME.test(name) && !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(name)) return { host: name, port: number };
  }
  throw new Error(
    `${text} is neither a range such as 10.0.0.0/8 nor a host with a port such as 10.1.2.3:8080`,
  );
}

function denied(text: string): Range {
  const range = parseRange(text);
  if (range) return range;
  throw new Error(`${text} is neither a range such as 10.0.0.0/8 nor an address`);
}
