/** Tells the user what became of publishing. */
import { isEnabled } from '../../../api/access.ts';
import { settingLabel } from '../../forms/fields.ts';
import { ApiFailure, failureFrom } from '../../http/failure.ts';
import type { WorkflowObject } from '../../kube/resources.ts';
import { notifyFailure, notifyNotice, notifyProblem, notifySuccess } from '../../ui/notify.tsx';
import { nodeName } from '../../workflows/kinds.ts';
import { draftProblems, type Found } from '../model/problems.ts';
import { isDirty } from '../model/session.ts';
import { hasSetting } from '../model/settings.ts';
import type { Core } from './core.ts';
import { openNode, openSettings } from './panel.ts';

/**
 * Tells the user that the changes are published, or has the page follow them until events run them. Until its
 * finalizers are done, a workflow that is being deleted can still be changed.
 */
export function notifyPublished(
  core: Core,
  { metadata, spec }: WorkflowObject,
  before: WorkflowObject,
): void {
  const takesEffect = isEnabled(spec) && metadata.generation !== before.metadata.generation;
  if (metadata.deletionTimestamp !== undefined)
    notifyNotice(
      'The workflow is being deleted',
      'What was published goes with it. To keep the changes, copy its YAML into a new workflow.',
    );
  else if (takesEffect) core.set(core.session(), { published: metadata.generation });
  else notifySuccess('Published');
}

/**
 * Tells the user why. Returns whether everything is published, because another version has the same
 * content.
 */
export function notifyNotPublished(core: Core, error: unknown): boolean {
  if (!isOutcomeUnknown(error)) notifyRefused(core, error);
  else if (core.unconfirmedPublish !== undefined) notifyUnconfirmed(error);
  return !isDirty(core.session());
}

function notifyUnconfirmed(error: unknown): void {
  const { title, detail } = failureFrom(error);
  notifyProblem(
    'Publishing was not confirmed',
    `${title}. ${detail} The changes may be published. This page shows the result as soon as it can read it.`,
  );
}

function notifyRefused(core: Core, error: unknown): void {
  const { session, set } = core;
  const { causes } = failureFrom(error);
  const { spec } = session().history.present;
  const found = draftProblems(causes, spec);
  if (causes.length > 0) set(session(), { found, foundIn: spec });
  const [first] = found.flatMap(({ place, problem }) =>
    place !== undefined && 'node' in place ? [{ node: place.node, ...problem }] : [],
  );
  if (first === undefined) return notifyRefusedSetting(core, error, found);
  const { node, message } = first;
  notifyProblem(
    'Not published',
    message.startsWith(`node ${node}`) ? message : `${nodeName(node, spec.nodes)}: ${message}`,
    {
      text: 'Go to node',
      onClick: () => openNode(core, { node }, 'parameters'),
    },
  );
}

/** Names the setting with a problem, where no node has one. */
function notifyRefusedSetting(core: Core, error: unknown, found: readonly Found[]): void {
  const { field = '', message = '' } =
    found.find(({ place, problem }) => place === undefined && problem.field !== '')?.problem ?? {};
  if (field === '') return notifyFailure('Not published', error);
  const link = { text: 'Go to setting', onClick: () => openSettings(core, field) };
  notifyProblem('Not published', `${settingLabel(field)}: ${message}`, hasSetting(field) ? link : undefined);
}

/** Without an answer the API server may have stored the changes. */
export function isOutcomeUnknown(error: unknown): boolean {
  const { status } = failureFrom(error);
  return status === 0 || status >= 500;
}

/** `why`: what is wrong with the YAML. */
export function notifyUnreadable(why: string): void {
  const failure = new ApiFailure({
    status: -1,
    title: 'The YAML is invalid',
    detail: why,
    reason: 'unreadable',
  });
  notifyFailure('Not published', failure);
}
