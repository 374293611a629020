/** Gives up no append because a slow machine takes its time. */
export const PATIENT = { appendMs: 120_000 }
