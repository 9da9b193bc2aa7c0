/** A loop over the items of an event, for tests of scheduling passes. */
import { mail } from './passes.ts';

/** A group that is executed for each item, at most two at a time. */
export const each = (extra: object = {}) => ({
  id: 'each',
  group: {},
  forEach: { items: "{{ $('trigger').data_content.items }}", maxParallel: 2, ...extra },
});
/** The body of the group: its effect must not be repeated. */
export const send = mail('send', { within: 'each' });
/** The same with an effect that may be repeated. */
export const atLeastOnce = mail('send', { within: 'each', effect: 'AtLeastOnce' });

/** An event with so many items. */
export const input = (count: number) =>
  JSON.stringify({ text_content: '', data_content: { items: Array.from({ length: count }, (_, n) => n) } });
