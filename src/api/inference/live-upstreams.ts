import type { Cause } from '../../domain/event.js'
import { execute, type Executed } from '../../domain/execute.js'
import type { Ports } from '../../domain/ports/ports.js'
import type { UpstreamCommand } from '../../domain/upstream/commands.js'
import { upstreamDecider } from '../../domain/upstream/decider.js'
import { evolve, noUpstreams, type Upstreams } from '../../domain/upstream/directory.js'
import { UPSTREAMS_STREAM, type UpstreamEvent } from '../../domain/upstream/events.js'
import { oneAtATime } from '../auth/one-at-a-time.js'

/** The upstreams as this process knows them: its own writes at once, those of others within a second. */
export interface LiveUpstreams {
  readonly now: () => Upstreams
  readonly refresh: () => Promise<void>
  readonly run: (command: UpstreamCommand, cause: Cause) => Promise<Executed<Upstreams>>
  readonly close: () => void
}

const REFRESH_MS = 500

export const openUpstreams = async (ports: Pick<Ports, 'eventStore' | 'ids'>): Promise<LiveUpstreams> => {
  let upstreams = noUpstreams
  let next = 0n
  const inTurn = oneAtATime()

  const refresh = async () => {
    for await (const { type, data, revision } of ports.eventStore.readStream(UPSTREAMS_STREAM, {
      from: next,
    })) {
      // Two refreshes may read the same events at once; each event counts when its turn comes, once.
      if (revision !== next) continue
      upstreams = evolve(upstreams, { type, data } as unknown as UpstreamEvent)
      next = revision + 1n
    }
  }
  await refresh()
  // What cannot be read now is read half a second later.
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS)
  timer.unref()

  return {
    now: () => upstreams,
    refresh,
    run: (command, cause) =>
      inTurn(async () => {
        const executed = await execute(ports)(upstreamDecider, UPSTREAMS_STREAM, [command], cause)
        await refresh()
        return executed
      }),
    close: () => clearInterval(timer),
  }
}
