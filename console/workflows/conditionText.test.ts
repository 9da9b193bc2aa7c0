import { expect, test } from 'vitest';
import { keptRevisionNote } from '../../api/keptRevision.ts';
import type { WorkflowNode } from '../../api/workflow.ts';
import { conditionText, ownProblemText } from './conditionText.ts';

const nodes: WorkflowNode[] = [{ id: 'mail', displayName: 'Send the mail', skill: { name: 'send_email' } }];

test.each([
  ['node mail: skill: parameters: to: is missing', 'Send the mail: To is missing'],
  [
    "node mail: skill: parameters: replyTo: write one address; node ask: agent.prompt: $('x') names a node that does not exist",
    "Send the mail: Reply to: write one address; ask: Prompt: $('x') names a node that does not exist",
  ],
  ['node ask: agent: tools: 0: name: is missing', 'ask: Tools 1 › Name is missing'],
  [
    'node mail: skill: credential is missing: send_email needs the name of a Credential of kind smtp',
    'Send the mail: choose a credential for Send email (SMTP)',
  ],
  [
    'node mail: Credential box is of kind imap, the node needs smtp: name another one',
    'Send the mail: Credential box is for Read email (IMAP): choose one for Send email (SMTP)',
  ],
  [
    'node mail: Credential box does not exist in this namespace: apply it, or name another one',
    'Send the mail: Credential box does not exist in this project. Create it or choose another one',
  ],
  [
    `node mail: no edge leads to it. ${keptRevisionNote('orders-abc')}`,
    'Send the mail: no connection leads to it. Until then, events run the earlier version orders-abc.',
  ],
  [
    'The draft is not valid: correct it. node mail: skill: parameters: to: is missing; and 3 more problems',
    'The draft is not valid: correct it. Send the mail: To is missing; and 3 more problems',
  ],
  ['No runner is ready.', 'No runner is ready.'],
])('%s is told as %s', (message, text) => {
  expect(conditionText(message, nodes)).toBe(text);
});

test.each([
  ['node mail: skill: parameters: to: is missing', 'To is missing'],
  ['node mail: agent.prompt: nothing is named so', 'Prompt: nothing is named so'],
  ['node mail must have exactly one kind', 'Must have exactly one kind'],
  ['node mails: skill: parameters: to: is missing', 'mails: To is missing'],
  ['Choose a model', 'Choose a model'],
])('at the node mail, %s is told as %s', (message, text) => {
  expect(ownProblemText('mail', message)).toBe(text);
});

test('at a node with a long ID the message does not repeat it', () => {
  const id = 'a'.repeat(63);
  expect(ownProblemText(id, `node ${id}: skill: parameters: to: is missing`)).toBe('To is missing');
});
