/** The filters of the workflow list as its address has them, so that they can be shared. Pure. */
import { NO_FILTER, STATE_KINDS, type Filter } from './items.ts';
import { TRIGGERS } from './triggers.ts';

/** Those that are set. */
export type AddressFilters = Partial<Filter>;

/** Reads the filters from the address. Invalid values are dropped. */
export function addressFilters(search: Record<string, unknown>): AddressFilters {
  const { text, label, active } = search;
  const state = STATE_KINDS.find((kind) => kind === search['state']);
  const trigger = TRIGGERS.find(({ kind }) => kind === search['trigger'])?.kind;
  return withoutDefaults({
    ...(typeof text === 'string' && { text }),
    ...(state && { state }),
    ...(trigger && { trigger }),
    ...((active === 'on' || active === 'off') && { active }),
    ...(typeof label === 'string' && label !== '' && { label }),
  });
}

/** The filters for the address. */
export function withoutDefaults(filters: AddressFilters): AddressFilters {
  const set = Object.entries(filters).filter(([name, value]) => value !== NO_FILTER[name as keyof Filter]);
  return Object.fromEntries(set);
}
