import type { EventStore } from '../../../src/domain/ports/event-store.js'

const PATIENCE_MS = 120_000

/** Gives up no append because a slow machine takes its time, unless the test says when. */
export const patient = (store: EventStore): EventStore =>
  Object.assign(Object.create(store) as EventStore, {
    append: (...[stream, expected, events, options]: Parameters<EventStore['append']>) =>
      store.append(stream, expected, events, { timeoutMs: PATIENCE_MS, ...options }),
  })
