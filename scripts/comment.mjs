// Writes the comment of the GitHub Action (action.yml) on a pull request: one comment, which later runs
// replace. It needs Node.js alone. A refusal of GitHub is a warning: the token of a pull request from a fork
// only reads.
import { readFileSync } from 'node:fs';

const MARKER = '<!-- windlass changes -->';
const PAGE = 100;
const {
  GITHUB_API_URL: api = 'https://api.github.com',
  GITHUB_REPOSITORY: repository,
  GITHUB_TOKEN: token,
} = process.env;
const [pullRequest, file] = process.argv.slice(2);

/** Calls the API below the repository. Throws for a refusal. */
async function call(method, path, body) {
  const options = {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'x-github-api-version': '2022-11-28',
    },
    signal: AbortSignal.timeout(30_000),
  };
  const response = await fetch(
    `${api}/repos/${repository}${path}`,
    body ? { ...options, body: JSON.stringify(body) } : options,
  );
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${response.statusText}`);
  return response.json();
}

/** Our comment of an earlier run. */
async function findComment() {
  for (let page = 1; ; page += 1) {
    const comments = await call('GET', `/issues/${pullRequest}/comments?per_page=${PAGE}&page=${page}`);
    const own = comments.find(({ body }) => body?.startsWith(MARKER));
    if (own || comments.length < PAGE) return own;
  }
}

const body = `${MARKER}\n${readFileSync(file, 'utf8')}`;
try {
  const own = await findComment();
  if (!own) await call('POST', `/issues/${pullRequest}/comments`, { body });
  else if (own.body !== body) await call('PATCH', `/issues/comments/${own.id}`, { body });
} catch (error) {
  console.log(
    `::warning title=windlass::cannot comment: ${error.message}. The changes are in the summary of the job`,
  );
}
