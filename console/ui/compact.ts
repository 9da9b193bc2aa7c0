/** Buttons that are their icon alone on a narrow screen. */
import classes from './compact.module.css';

/** Class names of such a button. It needs an `aria-label`. */
export const COMPACT = { label: classes['wideOnly'] ?? '', section: classes['wideGap'] ?? '' };

/** The class name of what stands in place of such a label. */
export const NARROW_ONLY = classes['narrowOnly'] ?? '';
