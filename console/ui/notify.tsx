/** Notifications at the edge of the page. Screen readers announce them. */
import { Anchor } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';
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

/**
 * Says what the user has to do after something that was done. `position`: elsewhere than in the corner, which
 * holds what the notice is about.
 */
export function notifyNotice(title: string, message: string, position?: 'bottom-center'): void {
  notifications.show({
    ...CLOSING,
    title,
    color: 'yellow',
    autoClose: 12_000,
    message,
    ...(position && { position }),
  });
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

type Progress = {
  title: string;
  message: ReactNode;
  /** `busy` stays until it is replaced, and `failed` until the user closes it. */
  state: 'busy' | 'done' | 'failed';
  /** Called when the user closes it. */
  onClose: () => void;
  link?: Link;
};

/** Reports what takes time. A call with the same `id` replaces what the one before reported. */
export function notifyProgress(id: string, { title, message, state, onClose, link }: Progress): void {
  const shown = {
    ...CLOSING,
    id,
    title,
    color: state === 'failed' ? 'red' : 'green',
    loading: state === 'busy',
    autoClose: state === 'done' ? 4_000 : false,
    onClose,
    message: (
      <>
        {message}
        {link && <Action link={link} onClick={() => notifications.hide(id)} />}
      </>
    ),
  };
  notifications.show(shown);
  notifications.update(shown);
}

/** Takes such a report away; with a message, that one takes its place. */
export function endProgress(id: string, message?: string): void {
  notifications.hide(id);
  if (message !== undefined) notifySuccess(message);
}
