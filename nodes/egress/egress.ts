/**
 * Decides where steps may connect to. Guarantees that a host is resolved once, that each of its addresses is
 * checked, and that the connection goes to one of these addresses. Later DNS answers, redirects and unusual
 * notations of an address reach nothing that is not allowed.
 */
import { lookup as systemLookup } from 'node:dns/promises';
import { StepError } from '../../api/reasons.ts';
import { isSameAddress, isWithin, parseAddress, withTranslated, type Address } from './address.ts';
import { comparableHost, type EgressRules } from './rules.ts';
import { specialKind } from './special.ts';

/** An address to connect to, as `node:dns` gives it. */
export type HostAddress = { address: string; family: number };

export type Egress = {
  /**
   * The addresses of a host, each of which may be connected to at that port.
   * @throws StepError `AddressForbidden`, or `Unreachable` when the name leads nowhere
   */
  resolve(host: string, port: number): Promise<readonly HostAddress[]>;
};

/** All addresses of a name. */
type Lookup = (host: string) => Promise<readonly HostAddress[]>;

/**
 * In this order: a name or an address that is allowed with its port may be connected to; what is denied may
 * not; what lies in an allowed range may; of the rest, what everybody on the Internet can reach.
 */
export function createEgress(rules: EgressRules, lookup: Lookup = everyAddress): Egress {
  return {
    resolve: async (host, port) => {
      const literal = parseAddress(host);
      const found = literal
        ? [{ address: host, family: host.includes(':') ? 6 : 4 }]
        : await search(host, lookup);
      const name = comparableHost(host);
      const isNamed = rules.allow.some((rule) => 'host' in rule && rule.host === name && rule.port === port);
      if (isNamed) return found;
      for (const { address } of found) {
        const problem = problemOf(parseAddress(address), port, rules);
        if (problem !== undefined) throw forbidden(host, literal ? 'is' : 'leads to', problem);
      }
      return found;
    },
  };
}

/** Names of Services, which lead to addresses inside the cluster. */
const OF_SERVICE = /\.svc(\.cluster\.local)?$/;

/**
 * Why nobody may connect to a URL whose host is an address, a Service of the cluster, or this very machine.
 * Undefined where it is admitted, and for other names, whose addresses are known when they are resolved.
 */
export function literalProblem({ hostname, port, protocol }: URL, rules: EgressRules): string | undefined {
  const host = hostname.replaceAll(/[[\]]/g, '');
  const name = comparableHost(host);
  const at = Number(port) || (protocol === 'https:' ? 443 : 80);
  const isLocal = name === 'localhost' || name.endsWith('.localhost');
  const literal = parseAddress(isLocal ? '127.0.0.1' : host);
  const isNamed = rules.allow.some((rule) => 'host' in rule && rule.host === name && rule.port === at);
  if (isNamed) return undefined;
  if (OF_SERVICE.test(name) && !mayAdmitService(rules, at))
    return forbidden(host, 'is', 'a Service of the cluster').message;
  const problem = literal && problemOf(literal, at, rules);
  return problem === undefined ? undefined : forbidden(host, isLocal ? 'leads to' : 'is', problem).message;
}

/**
 * Whether the address of a Service may be one that is allowed: a range or an address other than loopback, at
 * that port.
 */
function mayAdmitService({ allow }: EgressRules, port: number): boolean {
  return allow.some((rule) => {
    if ('host' in rule) return false;
    if ('range' in rule) return specialKind(rule.range.start) !== 'a loopback address';
    return rule.port === port;
  });
}

/** Whatever the system's resolver makes of the name, as every other program does. */
function everyAddress(host: string): Promise<readonly HostAddress[]> {
  return systemLookup(host, { all: true });
}

async function search(host: string, lookup: Lookup): Promise<readonly HostAddress[]> {
  try {
    // Not every resolver knows it in its absolute form, which always means the same (RFC 6761 section 6.3).
    const found = await lookup(comparableHost(host) === 'localhost' ? 'localhost' : host);
    if (found.length > 0) return found;
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    const isUnknown = code === 'ENOTFOUND' || code === 'ENODATA';
    const message = isUnknown ? `the host ${host} does not exist` : `cannot resolve ${host}: ${code}`;
    throw new StepError('Unreachable', message, { cause: error });
  }
  throw new StepError('Unreachable', `the host ${host} has no address`);
}

/** What kind of address keeps it from being connected to; undefined when nothing does. */
function problemOf(address: Address | undefined, port: number, rules: EgressRules): string | undefined {
  if (!address) return 'not an address';
  const isExact = rules.allow.some(
    (rule) => 'address' in rule && rule.port === port && isSameAddress(rule.address, address),
  );
  if (isExact) return undefined;
  const all = withTranslated(address);
  if (rules.deny.some((range) => all.some((each) => isWithin(each, range)))) return 'a denied address';
  if (rules.allow.some((rule) => 'range' in rule && isWithin(address, rule.range))) return undefined;
  return specialKind(address);
}

/**
 * Tells the kind of address and not the address: names inside the cluster lead to what not everybody may
 * know.
 */
function forbidden(host: string, verb: string, problem: string): StepError {
  // Token endpoints are called by the operator, for all projects.
  const remedy =
    'to allow it, add it to runner.egress.allow of the chart, or (except token endpoints) to egress.allow of the ProjectSettings "default"';
  return new StepError(
    'AddressForbidden',
    `${host} ${verb} ${problem}, which steps may not connect to: ${remedy}`,
  );
}
