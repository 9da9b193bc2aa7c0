/**
 * Effects that would move what the user is pressing. A browser makes a click of a press only if the button is
 * still under the pointer when it is released: an error that appears when a field is left, and that moves the
 * button below it, would take the click away. Such effects wait for the release.
 */

/** Runs the effect now, or after the click if a button of the mouse or a finger is down. */
export type AfterPress = (effect: () => void) => void;

/** Observes the presses in `target`, for as long as it exists. */
export function afterPressesIn(target: EventTarget): AfterPress {
  let isDown = false;
  let waiting: (() => void)[] = [];
  const release = (): void => {
    isDown = false;
    const due = waiting;
    waiting = [];
    // The click follows the release in the same task.
    if (due.length > 0) setTimeout(() => due.forEach((effect) => effect()), 0);
  };
  target.addEventListener('pointerdown', () => (isDown = true), { capture: true });
  for (const type of ['pointerup', 'pointercancel'])
    target.addEventListener(type, release, { capture: true });
  return (effect) => {
    if (isDown) waiting.push(effect);
    else effect();
  };
}
