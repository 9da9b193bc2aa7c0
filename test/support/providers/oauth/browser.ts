/**
 * As much of a browser as signing in takes: cookies by host, redirects, forms. It says what it was told on
 * the way.
 */

export type Page = { url: string; status: number; headers: Headers; text: string };

export type Browser = {
  /** Opens an address and follows redirects, but not to addresses that `stop` holds for. */
  open(url: string, stop?: (url: string) => boolean): Promise<Page>;
  /** Sends the first form of a page, with these fields beside its hidden ones. */
  submit(page: Page, fields: Record<string, string>, stop?: (url: string) => boolean): Promise<Page>;
  /** The cookies that it would send to a host, as browsers keep them: whatever the port is. */
  cookies: Map<string, string>;
  /** Every `Set-Cookie` that it was told. */
  told: string[];
};

const MOST_REDIRECTS = 12;

/** `reach` says where an address leads from here, as the hosts file of a machine does. */
export function createBrowser(reach = (url: string) => url): Browser {
  const cookies = new Map<string, string>();
  const told: string[] = [];

  async function request(url: string, init: { method?: string; body?: URLSearchParams }): Promise<Page> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie !== '' && { cookie }) };
    const response = await fetch(reach(url), { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) keep(line);
    return { url, status: response.status, headers: response.headers, text: await response.text() };
  }

  function keep(line: string): void {
    told.push(line);
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const isGone = value === '' || /expires=Thu, 01 Jan 1970/i.test(line) || /max-age=0/i.test(line);
    if (isGone) cookies.delete(name);
    else cookies.set(name, value);
  }

  async function follow(first: Page, stop: (url: string) => boolean): Promise<Page> {
    let page = first;
    for (let count = 0; count < MOST_REDIRECTS; count += 1) {
      const location = page.headers.get('location');
      if (location === null || page.status < 300 || page.status > 399) return page;
      const url = new URL(location, page.url).href;
      if (stop(url)) return { ...page, url };
      page = await request(url, {});
    }
    throw new Error(`redirected more than ${MOST_REDIRECTS} times, at last to ${page.url}`);
  }

  return {
    open: async (url, stop = () => false) => follow(await request(url, {}), stop),
    submit: async (page, fields, stop = () => false) => {
      const form = /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/.exec(page.text);
      if (!form) throw new Error(`no form at ${page.url}: ${page.status} ${page.text.slice(0, 200)}`);
      const [, action = '', inside = ''] = form;
      const hidden = [...inside.matchAll(/<input[^>]*type="hidden"[^>]*name="([^"]*)"[^>]*value="([^"]*)"/g)];
      const body = new URLSearchParams([
        ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
        ...Object.entries(fields),
      ]);
      return follow(await request(new URL(action, page.url).href, { method: 'POST', body }), stop);
    },
    cookies,
    told,
  };
}

/** Opens a link that connects a credential, and agrees to what it asks. */
export async function begin(
  browser: Browser,
  link: string,
  stop: (url: string) => boolean = () => false,
): Promise<Page> {
  const question = await browser.open(link, stop);
  const [, next] = /<a href="([^"]*)"/.exec(question.text) ?? [];
  return next === undefined ? question : browser.open(new URL(next, link).href, stop);
}

/** Signs in at the provider and allows everything; what comes then, or the address that `stop` matched. */
export async function signIn(
  browser: Browser,
  link: string,
  { account, stop = () => false }: { account: string; stop?: (url: string) => boolean },
): Promise<Page> {
  const login = await begin(browser, link, stop);
  if (!login.text.includes('<form')) return login;
  const consent = await browser.submit(login, { login: account, password: 'any' }, stop);
  return consent.text.includes('<form') ? browser.submit(consent, {}, stop) : consent;
}
