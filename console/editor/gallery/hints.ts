/** Hints for searches of nodes that other products have, and that are something else here, or nothing. */
import { wordsOf } from './search.ts';

type Hint = {
  /** What is searched, as `wordsOf` writes it: lower case, no punctuation. Commas separate phrases. */
  words: string;
  hint: string;
  /** Where it helps; without: in both galleries. */
  of?: 'steps' | 'triggers';
  /** Whether the general nodes, HTTP request and Code, can do it instead. */
  offersGeneral?: true;
};

const HINTS: readonly Hint[] = [
  {
    words: 'if, switch, branch, condition, router, else, filter',
    hint: 'Conditions are on connections: click a connection to choose when it is taken ("Only if"). Switch adds several branches to a node, with their conditions.',
    of: 'steps',
  },
  {
    words: 'error, catch, failure, on error, continue on fail',
    hint: 'To handle a failure, add the node that handles it, click the connection to that node, and choose "When it fails".',
    of: 'steps',
  },
  {
    words: 'error trigger, error workflow',
    hint: 'A workflow names the one that runs when it fails: choose it as "Error workflow" in the workflow settings. That one begins with a Manual trigger.',
  },
  {
    words: 'merge, join, combine',
    hint: 'Every node can have several incoming connections: connect the branches to the next node, which runs after all of them and can use the output of each.',
    of: 'steps',
  },
  {
    words: 'noop, no op, no operation, no operation do nothing, do nothing',
    hint: 'You need no node for this: a branch may end at any node.',
    of: 'steps',
  },
  {
    words: 'sticky, sticky note, sticky notes, note, notes, comment, annotation',
    hint: 'Notes are on the canvas: use the note button beside the + at the top right, or press Shift+N.',
  },
  {
    words: 'split out, item lists, split in batches, loop over items',
    hint: 'A list is one value here. Loop over items runs nodes for each of its items; Set computes with the whole list.',
    of: 'steps',
  },
  {
    words: 'execution data, debug helper, pin data',
    hint: 'A run keeps the data of each node. To test with fixed data, use "Pin output" in the tab Output of a node.',
  },
  {
    words: 'evaluation, evaluation trigger',
    hint: 'Evaluations are objects of their own, which run any workflow with test cases: see Evaluation in the documentation.',
  },
  {
    words: 'form, n8n form, n8n form trigger, form trigger, on form submission',
    hint: 'There is no form. A page of yours can send its values as JSON to a Webhook trigger; people can also write to a Chat.',
  },
  {
    words:
      'trigger, manual trigger, schedule trigger, webhook trigger, chat trigger, email trigger, gmail trigger, telegram trigger, google sheets trigger, execute workflow trigger, execute sub workflow trigger',
    hint: 'A workflow has exactly one trigger, its first node. Create a workflow for each further trigger; Run workflow shares their nodes.',
    of: 'steps',
  },
  {
    words:
      'rss feed trigger, rss, local file trigger, sse trigger, mqtt trigger, postgres trigger, activation trigger, n8n trigger, workflow trigger, mcp server trigger',
    hint: 'There is no such trigger. A Schedule can ask an API for news, and Remove duplicates passes what is new; a program of yours can call a Webhook.',
    of: 'triggers',
  },
  {
    words:
      'ssh, ftp, sftp, git, ldap, execute command, shell, mqtt, kafka, rabbitmq, crypto, jwt, totp, compression, edit image, icalendar, vector store, embeddings, database, sql, postgres, mysql, mongodb, redis',
    hint: 'There is no node for this. HTTP request calls it through an API; a program of yours can do it and call a webhook.',
    of: 'steps',
    offersGeneral: true,
  },
];

/** Shorter beginnings are those of too many words. */
const BEGUN = 5;

/** The hint for what is searched, also for the beginning of a word; undefined if there is none. */
export function searchHint(text: string, of: 'steps' | 'triggers' = 'steps'): string | undefined {
  return hintFor(text, of)?.hint;
}

/** Whether the general nodes answer a search of steps without a hit: a hint may say otherwise. */
export function offersGeneral(text: string): boolean {
  const found = hintFor(text, 'steps');
  return found === undefined || found.offersGeneral === true;
}

function hintFor(text: string, of: 'steps' | 'triggers'): Omit<Hint, 'words'> | undefined {
  const searched = wordsOf(text).join(' ');
  const known = HINTS.filter((hint) => hint.of === undefined || hint.of === of).map(({ words, ...hint }) => ({
    words: words.split(', '),
    ...hint,
  }));
  const isBegun = (word: string) =>
    searched.length >= BEGUN && !word.includes(' ') && word.startsWith(searched);
  return (
    known.find(({ words }) => words.includes(searched)) ?? known.find(({ words }) => words.some(isBegun))
  );
}
