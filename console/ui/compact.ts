/** Buttons that are their icon alone on a narrow screen. */
import classes from './compact.module.css';

/** Class names of such a button. It needs an `aria-label`. */
export const COMPACT = { label: classes['wideOnly'] ?? '', section: classes['wideGap'] ?? '' };

/** The same, also where the bar of the editor is in one row with little room for the name of the workflow. */
export const COMPACT_IN_TIGHT_BAR = {
  label: `${COMPACT.label} ${classes['bar'] ?? ''}`,
  section: `${COMPACT.section} ${classes['barGap'] ?? ''}`,
};

/** The class name of what stands in place of a label on a narrow screen. */
export const NARROW_ONLY = classes['narrowOnly'] ?? '';
