/**
 * `GET /workflows/{id}/runs/{run}`: a run and what its nodes produced, for whoever may `get` the WorkflowRun; from the run
 * store while that holds it, from its record afterwards.
 */
import type { FastifyPluginCallback } from 'fastify';
import { readRun } from '../../runs/read.ts';
import { createAnswers, JSON_TYPE, type Answers } from '../answers.ts';
import type { GatewayDeps } from '../deps.ts';
import { recordedRun } from '../recorded.ts';
import { admit, isName, onlyGet, type Addressed, type Exchange } from './guard.ts';
import { viewRecord, viewState, type RunView } from './runView.ts';

export function runRoute(deps: GatewayDeps): FastifyPluginCallback {
  const answers = createAnswers(deps, 'run');
  return (app, _options, done) => {
    app.route({
      method: app.supportedMethods,
      url: '/workflows/:id/runs/:run',
      onRequest: onlyGet(answers),
      handler: (request, reply) => {
        answerRun(deps, answers, { request, reply }).catch((error: unknown) =>
          answers.unexpected(reply, error),
        );
      },
    });
    done();
  };
}

async function answerRun(deps: GatewayDeps, answers: Answers, exchange: Exchange): Promise<void> {
  const found = await findRun(deps, answers, exchange);
  if (found === undefined) return;
  exchange.reply.header('cache-control', 'no-store');
  answers.send(exchange.reply, 200, JSON_TYPE, JSON.stringify(found.view));
}

export type FoundRun = {
  view: RunView;
  /** The project whose run store holds it; undefined if only the record is left. */
  project: string | undefined;
};

/** The run that the request names, if its caller may see it and it is one of that workflow; otherwise the reply is sent. */
export async function findRun(
  deps: GatewayDeps,
  answers: Answers,
  exchange: Exchange,
): Promise<FoundRun | undefined> {
  const { request, reply } = exchange;
  const { id, run } = request.params as { id: string; run: string };
  const addressed = await admit(deps.access, answers, exchange, ({ namespace }) => ({
    verb: 'get',
    resource: 'workflowruns',
    namespace,
    name: run,
  }));
  if (addressed === undefined) return undefined;
  const found = isName(run) ? await lookUp(deps, addressed, run) : undefined;
  if (found === 'unavailable') {
    answers.problem(reply, 'run-unavailable');
    return undefined;
  }
  if (found?.view.workflow === id) return found;
  answers.problem(reply, 'run-unknown');
  return undefined;
}

async function lookUp(
  deps: GatewayDeps,
  { namespace }: Addressed,
  run: string,
): Promise<FoundRun | undefined | 'unavailable'> {
  const project = deps.routes.project(namespace);
  const state = project === undefined ? undefined : await readRun(deps.runs, project, run);
  if (state !== undefined && !('outcome' in state)) return { view: viewState(namespace, state), project };
  // The record may be there also while the store does not answer.
  try {
    const record = await recordedRun(deps, namespace, run);
    if (record !== undefined) return { view: viewRecord(record), project: undefined };
  } catch (error) {
    deps.log.warn({ err: error }, 'cannot read the record of a run');
    return 'unavailable';
  }
  return state === undefined ? undefined : 'unavailable';
}
