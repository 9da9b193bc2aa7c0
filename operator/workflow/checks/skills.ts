/** Checks that skills exist, that their parameters fit, and that they have the credential that they need. */
import type { SkillStep } from '../../../api/step.ts';
import { findSkill, needsCredential, SKILL_NAMES, validateSkill } from '../../../nodes/register.ts';
import type { Check, Violation } from './check.ts';

/** Every skill node names a skill of the register, with parameters that fit as far as they are known. */
export const skillsFit: Check = (spec) =>
  spec.nodes.flatMap(({ id, skill }) => (skill ? checkSkill(`node ${id}: skill`, skill) : []));

function checkSkill(place: string, step: SkillStep): Violation[] {
  const skill = findSkill(step.name);
  if (!skill) {
    const message = `${place}: there is no skill named ${step.name}; use one of ${SKILL_NAMES.join(', ')}`;
    return [{ reason: 'UnknownSkill', message }];
  }
  const problems = validateSkill(step.name, step.parameters ?? {}).map((problem) => `parameters: ${problem}`);
  const kinds = skill.credentials.join(' or ');
  if (needsCredential(skill) && step.credential === undefined)
    problems.push(`credential is missing: ${step.name} needs the name of a Credential of kind ${kinds}`);
  if (kinds === '' && step.credential !== undefined)
    problems.push(`${step.name} takes no credential: remove it`);
  return problems.map((problem) => ({ reason: 'InvalidParameters', message: `${place}: ${problem}` }));
}
