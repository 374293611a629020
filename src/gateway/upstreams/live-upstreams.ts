import type { Cause } from '../../kernel/event.js'
import { execute, type ExecuteResult } from '../../kernel/execute.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { UpstreamCommand } from '../../domain/gateway/upstreams/commands.js'
import { upstreamDecider } from '../../domain/gateway/upstreams/decider.js'
import { evolve, noUpstreams, type Upstreams } from '../../domain/gateway/upstreams/directory.js'
import { withoutShadowed } from '../../domain/gateway/upstreams/offered.js'
import { UPSTREAMS_STREAM, type UpstreamEvent } from '../../domain/gateway/upstreams/events.js'

/**
 * The upstreams as this process knows them, those of its operator's file and those of the log: its own writes at once,
 * those of others within a second.
 */
export interface LiveUpstreams {
  /** All of them, for those who manage them. */
  readonly all: () => Upstreams
  /** What of them is offered: no name of the file's stands for a model of the log. */
  readonly now: () => Upstreams
  readonly refresh: () => Promise<void>
  readonly run: (command: UpstreamCommand, cause: Cause) => Promise<ExecuteResult<Upstreams>>
  /** Has this told of each change from now on, once it is known here. */
  readonly onChange: (told: () => void) => void
  readonly close: () => void
}

const REFRESH_MS = 500

export const openUpstreams = async (
  ports: Pick<Ports, 'eventStore' | 'ids'>,
  configured: Upstreams = noUpstreams,
): Promise<LiveUpstreams> => {
  const decider = upstreamDecider(configured)
  let upstreams = configured
  let offered = withoutShadowed(upstreams)
  let next = 0n
  let told: () => void = () => undefined

  const refresh = async () => {
    for await (const { type, data, revision } of ports.eventStore.readStream(UPSTREAMS_STREAM, {
      from: next,
    })) {
      // Two refreshes may read the same events at once; each event counts when its turn comes, once.
      if (revision !== next) continue
      upstreams = evolve(upstreams, { type, data } as unknown as UpstreamEvent)
      offered = withoutShadowed(upstreams)
      next = revision + 1n
      told()
    }
  }
  await refresh()
  // What cannot be read now is read half a second later.
  const timer = setInterval(() => void refresh().catch(() => undefined), REFRESH_MS)
  timer.unref()

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
    close: () => clearInterval(timer),
  }
}
