/** What the operator, which makes the pods of schedules, and the program in them agree upon. It loads nothing. */

/** With it a tick ends that starts no run, where to try again would be of no use: it came too late. */
export const LOST_EXIT = 3;
