/** Every controller of the operator. */
import { countsController } from './counts/controller.ts';
import { credentialController } from './credential/controller.ts';
import { draftController } from './draft/controller.ts';
import { evaluationController } from './evaluation/controller.ts';
import { historyController } from './history/controller.ts';
import { connectionController } from './oauth/controller.ts';
import type { OperatorParts } from './parts.ts';
import { pollController } from './poll/controller.ts';
import { projectController } from './project/controller.ts';
import { registrationController } from './registration/controller.ts';
import { runController } from './run/controller.ts';
import { testRouteController } from './run/testRoutes.ts';
import { settingsController } from './settings/controller.ts';
import type { Controller } from './shared/controller.ts';
import { workflowController } from './workflow/controller.ts';

export const controllers: readonly Controller<OperatorParts>[] = [
  workflowController,
  projectController,
  settingsController,
  credentialController,
  connectionController,
  registrationController,
  runController,
  testRouteController,
  evaluationController,
  historyController,
  draftController,
  countsController,
  pollController,
];
