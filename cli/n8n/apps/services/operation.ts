/** Operations of services whose nodes send one request. */

/**
 * Where a value comes from: the paths of parameters with commas, of which the first one that is given counts,
 * and a default after `|`. After `=` a constant, with parameters in braces. `name(…)` is a function of
 * `transforms.ts`.
 */
export type Source = string;

export type Operation = {
  method: string;
  /** Parameters of the node stand in braces, and values of the account as `{@name}`. */
  url: string;
  query?: Record<string, Source>;
  /** Members of the body by path. `*` spreads the fields of the parameter. */
  body?: Record<string, Source>;
  contentType?: string;
  headers?: Record<string, string>;
  /** The member of the response that has the items. */
  items?: string;
  /** JavaScript for the items, in place of `items`. The response is `R`. */
  output?: string;
  /** Parameters that change nothing here. */
  ignored?: readonly string[];
  /** What differs. */
  note?: string;
};

export type Service = {
  credentials: string[];
  operations: Record<string, Operation>;
  /** `resource operation` where a node does not say them: the first has the usual resource. */
  usual?: readonly string[];
};

export const get = (url: string, more: Partial<Operation> = {}): Operation => ({
  method: 'GET',
  url,
  ...more,
});

export const post = (
  url: string,
  body: Record<string, Source>,
  more: Partial<Operation> = {},
): Operation => ({
  method: 'POST',
  url,
  body,
  ...more,
});

export const patch = (
  url: string,
  body: Record<string, Source>,
  more: Partial<Operation> = {},
): Operation => ({
  method: 'PATCH',
  url,
  body,
  ...more,
});

export const remove = (url: string, more: Partial<Operation> = {}): Operation => ({
  method: 'DELETE',
  url,
  ...more,
});
