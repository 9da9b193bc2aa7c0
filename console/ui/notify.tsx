/** Notifications at the edge of the page. Screen readers announce them. */
import { Anchor } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { failureFrom, paragraphOf } from '../http/failure.ts';

const CLOSING = { closeButtonProps: { 'aria-label': 'Close the notification' } };

type Link = { text: string; onClick: () => void };

/** Reports a success, with a button that for example undoes it. */
export function notifySuccess(message: string, link?: Link): void {
  const id = notifications.show({
    ...CLOSING,
    color: 'green',
    autoClose: link === undefined ? 4_000 : 10_000,
    message: (
      <>
        {message}
        {link && <Action link={link} onClick={() => notifications.hide(id)} />}
      </>
    ),
  });
}

function Action({ link: { text, onClick }, onClick: hide }: { link: Link; onClick: () => void }) {
  return (
    <>
      {' '}
      <Anchor
        component="button"
        type="button"
        size="sm"
        onClick={() => {
          hide();
          onClick();
        }}
      >
        {text}
      </Anchor>
    </>
  );
}

/** Reports a failure; `what` says what failed, such as "Could not save". */
export function notifyFailure(what: string, error: unknown): void {
  notifyProblem(what, paragraphOf(failureFrom(error)));
}

/** Says what the user has to do after something that was done. */
export function notifyNotice(title: string, message: string): void {
  notifications.show({ ...CLOSING, title, color: 'yellow', autoClose: 12_000, message });
}

/** Reports a problem with a link to the place where the user can fix it. */
export function notifyProblem(title: string, message: string, link?: Link): void {
  const id = notifications.show({
    ...CLOSING,
    title,
    color: 'red',
    autoClose: 12_000,
    message: (
      <>
        {message}
        {link && <Action link={link} onClick={() => notifications.hide(id)} />}
      </>
    ),
  });
}
