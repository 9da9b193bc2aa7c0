/**
 * The filters of mail triggers, applied here and not by servers, so that they mean the same for every
 * provider.
 */
import type { MailTrigger } from '../../api/trigger.ts';
import type { MailHeader } from './content.ts';

/** Whether the trigger filters by headers. */
export function hasFilter({ from, subject }: MailTrigger): boolean {
  return Boolean(from) || Boolean(subject);
}

/** Whether sender and subject contain what the trigger says, whatever the case of the letters. */
export function matches(header: Pick<MailHeader, 'from' | 'subject'>, trigger: MailTrigger): boolean {
  return contains(header.from, trigger.from) && contains(header.subject, trigger.subject);
}

function contains(text: string, part: string | undefined): boolean {
  return !part || folded(text).includes(folded(part));
}

/** As people compare text: not by case, nor by how an accented letter is put together. */
function folded(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
