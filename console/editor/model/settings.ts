/** Which settings of a workflow the form has, in groups. Pure. */

type SettingTitle = 'Failures' | 'Runs' | 'History' | 'Budget of agents' | 'About';

/**
 * In the order in which people look for them. `title`: also the key of its place in the documentation. A
 * setting is its path in the spec.
 */
export const SETTING_GROUPS: readonly { title: SettingTitle; settings: readonly string[] }[] = [
  { title: 'Failures', settings: ['onFailure.workflow'] },
  { title: 'Runs', settings: ['timeout', 'concurrency.limit', 'concurrency.policy', 'timeZone'] },
  {
    title: 'History',
    settings: ['recordData', 'history.succeeded', 'history.failed', 'history.ttl', 'history.dataTTL'],
  },
  {
    title: 'Budget of agents',
    settings: ['budget.run.tokens', 'budget.run.cost', 'budget.day.tokens', 'budget.day.cost'],
  },
  { title: 'About', settings: ['description'] },
];

/** Whether the form has the setting for a place in the spec. */
export function hasSetting(place: string): boolean {
  return SETTING_GROUPS.some(({ settings }) =>
    settings.some((name) => `${place}.`.startsWith(`${name}.`) || name.startsWith(`${place}.`)),
  );
}
