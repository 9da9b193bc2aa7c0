/** Notifications at the edge of the page. Screen readers announce them. */
import { Anchor } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { failureFrom } from '../http/failure.ts';

/** Reports a success. */
export function notifySuccess(message: string): void {
  notifications.show({ message, color: 'green', autoClose: 4_000 });
}

/** Reports a failure; `what` says what failed, such as "Could not save". */
export function notifyFailure(what: string, error: unknown): void {
  const { title, detail } = failureFrom(error);
  notifyProblem(what, `${title}. ${detail}`);
}

/** Reports a problem with a link to the place where the user can fix it. */
export function notifyProblem(
  title: string,
  message: string,
  link?: { text: string; onClick: () => void },
): void {
  const id = notifications.show({
    title,
    color: 'red',
    autoClose: 12_000,
    message: (
      <>
        {message}
        {link && (
          <>
            {' '}
            <Anchor
              component="button"
              type="button"
              size="sm"
              onClick={() => {
                notifications.hide(id);
                link.onClick();
              }}
            >
              {link.text}
            </Anchor>
          </>
        )}
      </>
    ),
  });
}
