/** What the operator, which makes the pods of schedules, and the program in them agree upon. It loads nothing. */

/** With it a tick ends whose time does not count any more: to try again is of no use. */
export const TOO_LATE_EXIT = 3;
