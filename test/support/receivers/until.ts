import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for what comes about by itself; the test's own time-out is the limit. */
export const until = async (comesAbout: () => boolean): Promise<void> => {
  while (!comesAbout()) await sleep(5)
}
