import type { Cause } from '../../kernel/event.js'
import { execute, type ExecuteResult } from '../../kernel/execute.js'
import { followLog } from '../../kernel/follow-log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { UpstreamCommand } from '../../domain/gateway/upstreams/commands.js'
import { upstreamDecider } from '../../domain/gateway/upstreams/decider.js'
import { evolve, noUpstreams, type Upstreams } from '../../domain/gateway/upstreams/directory.js'
import {
  UPSTREAMS_STREAM,
  upstreamEvents,
  type UpstreamEvent,
} from '../../domain/gateway/upstreams/events.js'

/**
 * The upstreams of the operator's file and of the log, as this process knows them: its own writes at once, those of
 * others when they arrive in the log.
 */
export interface UpstreamDirectory {
  readonly all: () => Upstreams
  readonly refresh: () => Promise<void>
  readonly execute: (command: UpstreamCommand, cause: Cause) => Promise<ExecuteResult<Upstreams>>
  /** Sets the one listener for changes. */
  readonly onChange: (listener: () => void) => void
  readonly close: () => void
}

export const openUpstreamDirectory = async (
  ports: Pick<Ports, 'eventStore' | 'ids'>,
  configured: Upstreams = noUpstreams,
): Promise<UpstreamDirectory> => {
  const decider = upstreamDecider(configured)
  let upstreams = new Map(configured)
  let next = 0n
  let listener: () => void = () => undefined

  const refresh = async () => {
    const events = ports.eventStore.readStream(UPSTREAMS_STREAM, { from: next, withUnreadable: true })
    for await (const { type, data, revision, unreadable } of events) {
      // Two refreshes may read the same events.
      if (revision !== next) continue
      if (unreadable === undefined) upstreams = evolve(upstreams, { type, data } as UpstreamEvent)
      next = revision + 1n
      listener()
    }
  }
  const closing = new AbortController()
  const after = await ports.eventStore.head()
  await refresh()
  followLog({
    eventStore: ports.eventStore,
    after,
    types: new Set(Object.keys(upstreamEvents)),
    onEvent: refresh,
    onError: () => undefined,
    signal: closing.signal,
  })

  return {
    all: () => upstreams,
    refresh,
    execute: async (command, cause) => {
      const executed = await execute(ports)(decider, UPSTREAMS_STREAM, [command], cause)
      await refresh()
      return executed
    },
    onChange: (given) => void (listener = given),
    close: () => closing.abort(),
  }
}
