/** The poller of mail triggers. */
import type { MailTrigger } from '../../api/trigger.ts';
import { createPoller, PollError } from '../contract/poller.ts';
import { findProvider, titlesFor } from '../providers/register.ts';

export const mailPoller = createPoller<MailTrigger>(async (trigger, cursor, context, since) => {
  const credential = await context.credential(trigger.credential);
  const provider = findProvider(credential.spec, 'mail');
  if (!provider)
    throw new PollError(
      'InvalidTrigger',
      `the credential ${credential.name} cannot read mail: use one of ${titlesFor('mail')}`,
    );
  const poll = await provider.mail();
  return poll(credential, trigger, cursor, context, since);
});
