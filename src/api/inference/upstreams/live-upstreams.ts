import type { Cause } from '../../../domain/event.js'
import { execute, type Executed } from '../../../runtime/execute.js'
import type { RecordedEvent } from '../../../domain/ports/event-store.js'
import type { Ports } from '../../../domain/ports/ports.js'
import { followLog } from '../../../runtime/follow-log.js'
import type { UpstreamCommand } from '../../../domain/upstream/commands.js'
import { upstreamDecider } from '../../../domain/upstream/decider.js'
import { evolve, noUpstreams, type Upstreams } from '../../../domain/upstream/directory.js'
import { withoutShadowed } from '../../../domain/upstream/offered.js'
import { UPSTREAMS_STREAM, type UpstreamEvent } from '../../../domain/upstream/events.js'

/**
 * The upstreams as this process knows them, those of its operator's file and those of the log.
 */
export interface LiveUpstreams {
  /** All of them, for those who manage them. */
  readonly all: () => Upstreams
  /** What of them is offered: no name of the file's stands for a model of the log. */
  readonly now: () => Upstreams
  readonly refresh: () => Promise<void>
  readonly run: (command: UpstreamCommand, cause: Cause) => Promise<Executed<Upstreams>>
  /** Has this told of each change from now on, once it is known here. */
  readonly onChange: (told: () => void) => void
  readonly close: () => void
}

export const openUpstreams = async (
  ports: Pick<Ports, 'eventStore' | 'ids'>,
  configured: Upstreams = noUpstreams,
): Promise<LiveUpstreams> => {
  const decider = upstreamDecider(configured)
  let upstreams = configured
  let offered = withoutShadowed(upstreams)
  let next = 0n
  let told: () => void = () => undefined

  const take = ({ stream, type, data, revision }: RecordedEvent) => {
    // A refresh and the follower may read the same event.
    if (stream !== UPSTREAMS_STREAM || revision !== next) return
    upstreams = evolve(upstreams, { type, data } as unknown as UpstreamEvent)
    offered = withoutShadowed(upstreams)
    next = revision + 1n
    told()
  }
  const refresh = async () => {
    for await (const event of ports.eventStore.readStream(UPSTREAMS_STREAM, { from: next })) take(event)
  }
  const head = await ports.eventStore.head()
  await refresh()
  const stopping = new AbortController()
  followLog({
    eventStore: ports.eventStore,
    after: head,
    onEvent: take,
    // The projector reports that the log cannot be read.
    onError: () => undefined,
    signal: stopping.signal,
  })

  return {
    all: () => upstreams,
    now: () => offered,
    refresh,
    run: async (command, cause) => {
      const executed = await execute(ports)(decider, UPSTREAMS_STREAM, [command], cause)
      await refresh()
      return executed
    },
    onChange: (given) => void (told = given),
    close: () => stopping.abort(),
  }
}
