/** The page of manifests that people often get wrong, from the same file that the tests apply. */
import { readMistakes } from '../test/mistakes/mistakes.ts';

const INTRO = `<!-- Generated from test/mistakes/mistakes.yaml by \`npm run generate\`. Do not edit. -->
# Mistakes, and where they are caught

Manifests that people who come from n8n, Argo Workflows or Kestra, or who are new, often get wrong, where each mistake is caught, and the message. \`apply\`: \`kubectl apply\` refuses it. \`status\`: a condition of the workflow says so before anything
runs (\`kubectl describe workflows.windlass.dev NAME\`). \`run\`: a run fails. Tests apply each of these manifests to a real API server.
`;

/** The page as Markdown. */
export function mistakesPage(): string {
  const mistakes = readMistakes();
  const froms = [...new Set(mistakes.map(({ from }) => from))];
  const sections = froms.map((from) => {
    const rows = mistakes
      .filter((mistake) => mistake.from === from)
      .map(({ wrong, caught, says }) => `| ${cell(wrong)} | ${caught} | ${cell(`… ${says} …`)} |`);
    const title = from === 'anyone' ? 'Anyone' : `From ${from}`;
    return `## ${title}\n\n| what is wrong | caught at | the message |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  return [INTRO, ...sections].join('\n');
}

/** Code, also where it holds pipes and backquotes. */
function cell(text: string): string {
  return `\`\`${text.replaceAll('|', String.raw`\|`)}\`\``;
}
