/** Lists that use the room of the window: they scroll where there is no more, and never leave it. */
import type { PopoverProps } from '@mantine/core';

/** Sets `--room`, the height that is free beside the field or button. */
export const FITTING: PopoverProps['middlewares'] = {
  shift: true,
  size: {
    apply: ({ availableHeight, elements }) =>
      elements.floating.style.setProperty('--room', `${availableHeight}px`),
  },
};

/** The height of a list in a popover that is `FITTING`, without the padding of the popover. */
export const FITTING_HEIGHT = 'min(60vh, calc(var(--room, 60vh) - 16px))';
