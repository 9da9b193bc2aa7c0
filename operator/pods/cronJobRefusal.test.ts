import { expect, test } from 'vitest';
import { ApiError } from '../../kube/errors.ts';
import { refusalOf } from './cronJobRefusal.ts';

const answered = (status: number, message: string) => new ApiError({ status, reason: 'x', message });

test.each([
  [
    'of its times',
    answered(422, 'CronJob.batch "a" is invalid: spec.timeZone: Invalid value'),
    'InvalidSchedule',
  ],
  ['of a policy', answered(422, 'ValidatingAdmissionPolicy "images" denied request'), 'ScheduleRefused'],
  ['of a quota', answered(403, 'cronjobs.batch "a" is forbidden: exceeded quota: few'), 'QuotaExceeded'],
  ['a right is lacking', answered(403, 'User "x" cannot patch resource'), undefined],
  ['nobody answered', answered(0, 'connect ECONNREFUSED'), undefined],
  ['of a defect', new TypeError('exceeded quota'), undefined],
])('a CronJob that is not taken because %s is told as that', (_why, error, reason) => {
  expect(refusalOf(error)?.reason).toBe(reason);
});
