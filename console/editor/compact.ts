/** How buttons of the header look on a narrow screen. */
import classes from './editor.module.css';

/** Class names of a button that is its icon alone there: it needs an `aria-label`. */
export const COMPACT = { label: classes['wideOnly'] ?? '', section: classes['wideGap'] ?? '' };
