/**
 * Checks against what the installation and the namespace require: verified callers, and hosts that steps may
 * connect to.
 */
import { PUBLIC } from '../../../api/access.ts';
import { LABEL } from '../../../api/group.ts';
import type { ChatTrigger } from '../../../api/trigger.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';
import { AUTH_SCHEMES } from '../../../api/webhookAuth.ts';
import { verificationOf } from '../../webhooks/verification.ts';
import type { Violation } from './check.ts';
import { constantOrigin } from '../../../api/hosts.ts';
import { literalProblem } from '../../../nodes/egress/egress.ts';
import type { EgressRules } from '../../../nodes/egress/rules.ts';

/** The source of the requirement that webhooks verify their callers. */
export type AuthPolicy = 'Installation' | 'Namespace' | 'None';

type Labels = Readonly<Record<string, string>>;

/** Either requirement is enough: a namespace cannot lift that of the installation. */
export function authPolicyOf(config: { WEBHOOKS_REQUIRE_AUTH: boolean }, labels: Labels = {}): AuthPolicy {
  if (config.WEBHOOKS_REQUIRE_AUTH) return 'Installation';
  return labels[LABEL.requireAuth] === 'true' ? 'Namespace' : 'None';
}

const REQUIREMENTS: Record<Exclude<AuthPolicy, 'None'>, string> = {
  Installation: 'this installation refuses public webhooks (chart value webhooks.requireAuth)',
  Namespace: `this namespace refuses public webhooks (label ${LABEL.requireAuth})`,
};

/**
 * A public webhook or chat, on purpose or not, is refused. The violation concerns the trigger, so that its
 * route closes.
 */
export function callersAreVerified({ nodes }: WorkflowSpec, policy: AuthPolicy): Violation[] {
  const node = nodes.find(({ webhook, chat }) => webhook ?? chat);
  if (policy === 'None' || node === undefined) return [];
  if (node.chat) return publicChat(node.id, node.chat, policy);
  if (node.webhook === undefined) return [];
  if (verificationOf(node.webhook.auth).verify !== undefined) return [];
  const message = `node ${node.id}: ${REQUIREMENTS[policy]}: set auth to one of ${AUTH_SCHEMES.join(', ')}`;
  return [{ reason: 'AuthRequired', message, trigger: true }];
}

function publicChat(id: string, { access }: ChatTrigger, policy: Exclude<AuthPolicy, 'None'>): Violation[] {
  if (access !== PUBLIC) return [];
  const message = `node ${id}: ${REQUIREMENTS[policy]}, and so a public chat: set access to Token, with tokenRefs`;
  return [{ reason: 'AuthRequired', message, trigger: true }];
}

/** No skill or tool has a constant URL with an address that egress forbids. */
export function hostsAreAdmitted({ nodes }: WorkflowSpec, rules: EgressRules): Violation[] {
  return nodes.flatMap(({ id, skill, agent }): Violation[] => {
    const places = [
      { place: 'skill', parameters: skill?.parameters },
      ...(agent?.tools ?? []).map(({ parameters }, index) => ({
        place: `agent.tools[${index}]`,
        parameters,
      })),
    ];
    return places.flatMap(({ place, parameters }): Violation[] => {
      const origin = constantOrigin(parameters?.['url']);
      const problem = origin && literalProblem(origin, rules);
      if (problem === undefined) return [];
      return [{ reason: 'AddressForbidden', message: `node ${id}: ${place}: parameters: url: ${problem}` }];
    });
  });
}
