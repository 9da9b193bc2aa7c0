/** Fields as messages name them. */

/** The steps to a field: `['agent', 'tools', 0, 'skill']` for `agent.tools[0].skill`. */
export function stepsTo(field: string): (string | number)[] {
  return field
    .split(/[.[\]]+/)
    .filter((part) => part !== '')
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
