import { undiciUpstreamClient } from '../adapters/upstream-client/undici-upstream-client.js'
import type { Inference } from '../api/inference/inference.js'
import { openEnds } from '../api/inference/ends.js'
import { openUpstreams, type LiveUpstreams } from '../api/inference/live-upstreams.js'
import { underWay } from '../api/inference/under-way.js'
import type { Config } from '../config.js'
import type { Ports } from '../domain/ports/ports.js'
import type { Log } from '../domain/ports/log.js'
import type { SecretStore } from '../domain/ports/secret-store.js'
import type { Upstream } from '../domain/upstream/directory.js'
import { openLimits } from './limits.js'

export interface OpenInference {
  readonly inference: Inference['inference']
  readonly liveUpstreams: LiveUpstreams
  /** Ends what is still under way a little before the connections of a stopping service are cut. */
  readonly hurry: () => void
  /** Once no requests are open any more: waits for the ends of their calls, and closes. */
  readonly close: () => Promise<void>
}

type InferencePorts = Pick<Ports, 'eventStore' | 'ids' | 'clock'> & {
  readonly secrets: SecretStore
  readonly log: Log
}

/** A second before the listening server cuts connections: their clients are told why. */
const FINISH_WITHIN_MS = 7000
const SETTLE_WITHIN_MS = 1000

/** The gateway's own: the upstreams of the log, and the way to them. */
export const openInference = async (
  ports: InferencePorts,
  config: Pick<Config, 'dataDirectory' | 'eventStoreUrl' | 'apiProcesses'>,
): Promise<OpenInference> => {
  const instance = ports.ids.next()
  const limits = await openLimits(ports, config, instance)
  const liveUpstreams = await openUpstreams(ports)
  const upstreamClient = undiciUpstreamClient()
  const [completions, ends] = [underWay(), openEnds(ports.log)]
  return {
    inference: {
      upstreamClient,
      upstreams: liveUpstreams.now,
      credentialOf: credentialOf(ports.secrets),
      underWay: completions,
      ends,
      instance,
      live: limits.live,
      gate: limits.gate,
      admit: limits.admit,
    },
    liveUpstreams,
    hurry: () => {
      setTimeout(completions.stop, FINISH_WITHIN_MS).unref()
    },
    close: async () => {
      completions.stop()
      await ends.settled(SETTLE_WITHIN_MS)
      liveUpstreams.close()
      await limits.stop()
      await upstreamClient.close()
    },
  }
}

const credentialOf =
  (secrets: SecretStore) =>
  async ({ team, content: { secret: name } }: Upstream): Promise<string | null> => {
    if (team === null || name === null) return null
    const newest = (await secrets.versions({ team, name })).at(-1)
    return newest === undefined ? null : ((await secrets.get(newest)) ?? null)
  }
