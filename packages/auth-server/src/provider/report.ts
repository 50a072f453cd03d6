import type { SignInEvent } from '@decorum/auth/internal';

/** Tells the operator what happens at sign-in. */
export type ReportSignIn = (event: SignInEvent) => void;
