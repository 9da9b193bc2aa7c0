/** Short messages at the edge of the page, read out by screen readers. */
import { notifications } from '@mantine/notifications';
import { failureFrom } from '../http/failure.ts';

/** Something has been done. */
export function tellDone(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000 });
}

/** Something has failed; `what` says what was tried, such as "The workflow was not saved". */
export function tellFailure(what: string, error: unknown): void {
  const { title, detail } = failureFrom(error);
  notifications.show({ title: what, message: `${title}. ${detail}`, color: 'red', autoClose: 12_000 });
}
