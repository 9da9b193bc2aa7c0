/** HTML, HTML Extract and Markdown. */
import { computeEach, computeList } from '../steps/compute.ts';
import { listOf, memberOf, objectOf, textOf } from '../model/json.ts';
import type { Draft } from '../steps/items.ts';
import type { NodeContext } from '../steps/context.ts';
import { toJavaScript, valueOf } from '../expressions/value.ts';

export function convertHtml(context: NodeContext): Draft {
  const { parameters } = context;
  const operation = context.node.type.endsWith('.htmlExtract')
    ? 'extractHtmlContent'
    : textOf(parameters['operation'], 'generateHtmlTemplate');
  if (operation === 'extractHtmlContent') return extractHtml(context);
  if (operation !== 'generateHtmlTemplate') throw new Error(`HTML: ${operation} has no counterpart`);
  const template = textOf(parameters['html']);
  // A template has expressions without being one.
  return computeEach(
    context,
    `({ html: ${toJavaScript(valueOf(template.startsWith('=') ? template : `=${template}`))} })`,
  );
}

function extractHtml(context: NodeContext): Draft {
  const { parameters } = context;
  if (textOf(parameters['sourceData'], 'json') === 'binary')
    throw new Error('HTML in binary data has no counterpart');
  const fields = listOf(memberOf(parameters, 'extractionValues.values')).map((each) => {
    const { key, cssSelector, returnValue, attribute, returnArray } = objectOf(each);
    return {
      key: textOf(key),
      selector: textOf(cssSelector).replace(/^=/, ''),
      value: textOf(returnValue, 'text'),
      attribute: textOf(attribute),
      isList: returnArray === true,
    };
  });
  const hard = fields.find(({ selector }) =>
    /:(?!first-child|last-child|nth-child\(\d)|[+~](?!=)|^$/.test(selector),
  );
  if (hard)
    context.note(
      'review',
      `the selector "${hard.selector}" is not supported: the code fails. Write another one`,
    );
  const property = JSON.stringify(textOf(parameters['dataPropertyName'], 'data'));
  const options = {
    trim: memberOf(parameters, 'options.trimValues') !== false,
    clean: memberOf(parameters, 'options.cleanUpText') !== false,
  };
  const extract = `extractHtml(html, ${JSON.stringify(fields)}, ${JSON.stringify(options)})`;
  return computeList(
    context,
    `return $in.flatMap(($json) => [member($json, ${property})].flat().map((html) => ${extract}));`,
  );
}

export function convertMarkdown(context: NodeContext): Draft {
  const { parameters } = context;
  const isToHtml = textOf(parameters['mode'], 'htmlToMarkdown') === 'markdownToHtml';
  const source = toJavaScript(valueOf(parameters[isToHtml ? 'markdown' : 'html'] ?? ''));
  const target = textOf(parameters['destinationKey'], 'data') || 'data';
  context.note('review', 'headings, lists, links, images, emphasis and code are converted, tables are not');
  return computeEach(
    context,
    `setMember(structuredClone($json), ${JSON.stringify(target)}, ${isToHtml ? 'markdownToHtml' : 'htmlToMarkdown'}(${source}))`,
  );
}
