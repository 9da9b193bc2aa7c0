/** The type of templates, and the credentials that several of them need. */
import { ACCEPTED_CREDENTIALS } from '../../../api/credentialKinds.ts';
import type { TriggerKind } from '../../../api/trigger.ts';
import type { WorkflowSpec } from '../../../api/workflow.ts';

/** A credential that a template needs, and the kinds that can replace it. */
export type Need = { name: string; kinds: readonly string[]; what: string };

export type Template = {
  id: string;
  trigger: TriggerKind;
  text: string;
  needs: Need[];
  spec: WorkflowSpec & { displayName: string };
};

export const model: Need = { name: 'model', kinds: ACCEPTED_CREDENTIALS.agent, what: 'a language model' };
export const mail: Need = { name: 'mail', kinds: ['smtp'], what: 'an account that sends mail' };
