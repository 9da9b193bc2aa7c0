/** Text Classifier and Sentiment Analysis. */
import { convertQuestion, modelOf } from './question.ts';
import { route } from '../steps/compute.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import { type NodeContext, joinInputs } from '../steps/context.ts';
import { type Value, constant, valueOf } from '../expressions/value.ts';

type Category = { name: string; description: string };

/** Classifiers: an agent that chooses a category, then a node that passes each item on to its output. */
function classify(
  context: NodeContext,
  text: Value,
  categories: readonly Category[],
  isTotal: boolean,
): Draft {
  const { id } = context;
  const asked = context.newId('category');
  const names = categories.map(({ name }) => name);
  const listed = categories
    .map(({ name, description }) => `- ${name}${description ? `: ${description}` : ''}`)
    .join('\n');
  const choices = isTotal ? names : [...names, 'other'];
  const draft = convertQuestion(
    { ...context, id: asked },
    {
      prompt: text,
      systemPrompt: constant(
        `Classify the text into one of these categories:\n${listed}${isTotal ? '' : '\n- other: none of them'}`,
      ),
      schema: {
        type: 'object',
        properties: { category: { type: 'string', enum: choices } },
        required: ['category'],
      },
      model: modelOf(context),
      answer: ['output'],
    },
  );
  const [answers] = draft.outputs;
  if (!answers) return draft;
  const router = route(
    { ...context, id },
    `[${JSON.stringify(choices)}.indexOf(answers[$itemIndex]?.output?.category)]`,
    choices.length,
  );
  const [node] = router.nodes;
  if (node?.code) node.code.source = `const answers = ${answers.list};\n${node.code.source}`;
  return {
    nodes: [...draft.nodes, ...router.nodes],
    edges: [...draft.edges, { from: joinInputs([answers]).sources[0]?.node ?? asked, to: id }],
    entry: draft.entry,
    outputs: router.outputs,
  };
}

export function convertClassifier(context: NodeContext): Draft {
  const { parameters } = context;
  const categories = listOf(memberOf(parameters, 'categories.categories')).map((each) => {
    const { category, description } = objectOf(each);
    return { name: textOf(category).replace(/^=/, ''), description: textOf(description).replace(/^=/, '') };
  });
  return classify(context, valueOf(textOf(parameters['inputText'])), categories, false);
}

export function convertSentiment(context: NodeContext): Draft {
  const { parameters } = context;
  const names = textOf(memberOf(parameters, 'options.categories'), 'Positive, Neutral, Negative')
    .split(',')
    .map((name) => name.trim());
  return classify(
    context,
    valueOf(textOf(parameters['inputText'])),
    names.map((name) => ({ name, description: '' })),
    true,
  );
}
