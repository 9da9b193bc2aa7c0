/** What the operator knows of the registrations of bots. Losing it costs texts and time. */
import type { Credential, Workflow } from '../../api/kinds.ts';
import type { RouteSpec } from '../../api/route.ts';
import { findCondition } from '../../kube/conditions.ts';
import type { Key } from '../../kube/controller.ts';
import { objectKey } from '../../kube/resource.ts';
import type { Caches } from '../shared/caches.ts';
import { createNotifier, type Notifier } from '../shared/notifier.ts';
import type { Finding } from '../shared/status.ts';
import { pending, registered } from './decide.ts';

export type Registrations = {
  /** By Credential: how its bot is registered. */
  health: Map<string, Finding>;
  /** By uid: when this process first saw that the Credential is being deleted. */
  deletingSince: Map<string, number>;
  /** By uid: the time of the last answer about which Events were recorded. */
  reportedAt: Map<string, number>;
  /** Notifies of a Credential whose registration changed. */
  changed: Notifier<Key>;
};

export function createRegistrations(): Registrations {
  return {
    health: new Map(),
    deletingSince: new Map(),
    reportedAt: new Map(),
    changed: createNotifier(),
  };
}

export function isTelegram({ spec }: Pick<Credential, 'spec'>): boolean {
  return spec.bot !== undefined && (spec.bot.platform ?? 'telegram') === 'telegram';
}

/**
 * How the bot of a route is registered. Until this process knows, a condition that says `Registered` stays.
 * Undefined if no bot is to be registered.
 */
export function registrationHealth(
  { registrations, caches }: { registrations: Pick<Registrations, 'health'>; caches: Caches },
  { metadata: { namespace = '' }, status }: Workflow,
  route: RouteSpec | undefined,
): Finding | undefined {
  const { credential = '', verify } = route?.bot ?? {};
  const found = caches.credentials.get(namespace, credential);
  if (!found || !isTelegram(found) || verify?.material === undefined) return undefined;
  const known = registrations.health.get(objectKey({ namespace, name: credential }));
  const before = findCondition(status?.conditions, 'TriggerHealthy');
  const isUnchanged = known === undefined && before?.reason === registered.reason;
  return isUnchanged ? registered : (known ?? pending);
}
