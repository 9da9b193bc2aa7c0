/** Kills of the runner at each point, and sequences of two faults. */
import { after, before, kill, lose, parked, SENT, UNSENT, wire, type Draft } from './points.ts';

/** One kill of the runner each. */
export const POINTS: readonly Draft[] = [
  ['the agent has got its memory, and its runner does not know it', [kill(after('memory'))]],
  ['the first request is reserved and not sent', [kill(after('reserve'))]],
  ['the first request has arrived', [kill(wire('model 1 arrives'))]],
  ['half of the first answer is sent', [kill(wire('model 1 half'))]],
  ['the first answer has come, and is not stored', [kill(before('m1'))]],
  ['the first answer is stored, and its runner does not know it', [kill(after('m1'))]],
  ['a tool is called and has had no effect', [kill(wire('lookup arrives'))]],
  ['a tool has had its effect, and its result is not stored', [kill(before('m1.0'))]],
  ['the result of a tool is stored', [kill(after('m1.0'))]],
  ['the request after a tool has arrived', [kill(wire('model 2 arrives'))]],
  ['the call of the AtMostOnce tool is not stored', [kill(before('m2'))]],
  ['the call of the AtMostOnce tool is stored and not made', [kill(after('m2'))], UNSENT],
  ['the AtMostOnce tool is called and has had no effect', [kill(wire('mail arrives'))], UNSENT],
  ['the AtMostOnce tool has had its effect, and nobody answered', [kill(wire('mail received'))], SENT],
  ['the result of the AtMostOnce tool has come, and is not stored', [kill(before('m2.0'))], SENT],
  ['the result of the AtMostOnce tool is stored', [kill(after('m2.0'))]],
  ['the call of the workflow tool is stored, and no child run exists', [kill(before('child begins'))]],
  ['the child run exists, and the agent does not know it', [kill(after('child begins'))]],
  ['the agent knows its child run', [kill(after('m3.0!'))]],
  ['the agent is parked, and so is its child run', [kill(parked)]],
  ['the agent is parked, and its child run is executed', [kill(wire('refund arrives'))]],
  ['the agent is parked, and the end of its child run is not stored', [kill(before('child ends'))]],
  ['the end of the child run is stored, and the agent not resumed', [kill(after('child ends'))]],
  ['the result of the workflow tool is stored', [kill(after('m3.0'))]],
  ['half of the last answer is streamed to the chat', [kill(wire('model 4 half'))]],
  ['the last answer has come, and end and memory are not stored', [kill(before('turn'))]],
  ['end and memory are stored, and their runner does not know it', [kill(after('turn'))]],
  ['memory is stored, and the run continues after the agent', [kill(wire('after arrives'))]],
  ['the end of the run is not stored', [kill(before('run ends'))]],
  ['the end of the run is stored, and its runner does not know it', [kill(after('run ends'))]],
  [
    'the AtMostOnce tool is called beside the two others',
    [kill(wire('mail received'))],
    { ...SENT, mode: 'parallel' },
  ],
];

/** Two faults, each at its point. */
export const SEQUENCES: readonly Draft[] = [
  ['during the first answer, then again', [kill(wire('model 1 half')), kill(wire('model 1 half'))]],
  [
    'during the first answer, then during the AtMostOnce tool',
    [kill(wire('model 1 half')), kill(wire('mail received'))],
    SENT,
  ],
  ['during a tool, then again', [kill(wire('lookup arrives')), kill(wire('lookup arrives'))]],
  [
    'after the AtMostOnce tool, then during the last answer',
    [kill(after('m2.0')), kill(wire('model 4 half'))],
  ],
  ['while the agent is parked, then as end and memory are stored', [kill(parked), kill(after('turn'))]],
  [
    'during the child run, then as its end is stored',
    [kill(wire('refund arrives')), kill(after('child ends'))],
  ],
  ['as the memory is got, then before it is stored', [kill(after('memory')), kill(before('turn'))]],
  [
    'the answer to the stored memory is lost, then a kill before the run ends',
    [lose('turn'), kill(wire('after arrives'))],
  ],
  [
    'the answer to the start of the AtMostOnce tool is lost, then a kill after its effect',
    [lose('m2'), kill(wire('mail received'))],
    SENT,
  ],
  [
    'the answer to the result of the AtMostOnce tool is lost, then a kill during the next request',
    [lose('m2.0'), kill(wire('model 3 arrives'))],
  ],
  [
    'the answer to a reservation is lost, then a kill during the request',
    [lose('reserve'), kill(wire('model 1 half'))],
  ],
  [
    'the answer to the start of the child run is lost, then a kill while it is parked',
    [lose('child begins'), kill(parked)],
  ],
];
