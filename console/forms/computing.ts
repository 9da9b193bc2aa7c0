/** The skills that only compute, loaded with the schemas when something asks for them. */
import { queryOptions } from '@tanstack/react-query';

export const computingQuery = queryOptions({
  queryKey: ['computing-skills'],
  staleTime: Infinity,
  queryFn: async (): Promise<ReadonlySet<string>> => {
    const { schemas } = await import('windlass:schemas');
    return new Set(schemas.skills.filter(({ effect }) => effect === 'None').map(({ name }) => name));
  },
});
