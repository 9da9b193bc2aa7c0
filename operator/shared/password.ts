/** Passwords that the operator makes. */
import { randomBytes } from 'node:crypto';

/** 256 random bits, in letters, digits, - and _. */
export function generatePassword(): string {
  return randomBytes(32).toString('base64url');
}
