import { USER_AGENT, type UpstreamClient } from '../../domain/gateway/upstreams/upstream-client.js'
import type { Upstream, Upstreams } from '../../domain/gateway/upstreams/directory.js'
import type { LiveTargets } from './live-targets.js'

const EVERY_MS = 10_000
const WITHIN_MS = 5000
const AT_ONCE = 8

interface Probing {
  readonly upstreams: () => Upstreams
  readonly upstreamClient: UpstreamClient
  readonly targets: Pick<LiveTargets, 'found'>
}

/** Asks those upstreams now and then that are to be probed, whether anybody is there. Whatever the answer says, it is one. */
export const startProbing = (probing: Probing, everyMs = EVERY_MS): { readonly stop: () => void } => {
  const stopped = new AbortController()
  let isAtIt = false
  const probeAll = async () => {
    if (isAtIt) return
    isAtIt = true
    const due = [...probing.upstreams().values()].filter(({ content }) => content.probe && content.enabled)
    while (due.length > 0)
      await Promise.all(due.splice(0, AT_ONCE).map((one) => probe(probing, one, stopped.signal)))
    isAtIt = false
  }
  const timer = setInterval(() => void probeAll(), everyMs)
  timer.unref()
  return {
    stop: () => {
      clearInterval(timer)
      stopped.abort()
    },
  }
}

/** Without its credential, which nothing about reachability needs. */
const probe = async (
  { upstreamClient, targets }: Probing,
  { id, content, isConfigured }: Upstream,
  signal: AbortSignal,
): Promise<void> => {
  const request = {
    url: `${content.base_url.replace(/\/+$/, '')}/models`,
    headers: { accept: 'application/json', 'user-agent': USER_AGENT },
    body: null,
    timeouts: {
      connect_ms: content.timeouts.connect_ms,
      first_byte_ms: WITHIN_MS,
      idle_ms: WITHIN_MS,
      total_ms: WITHIN_MS,
    },
    isGuarded: isConfigured !== true,
    isFresh: true,
  }
  const isReachable = await upstreamClient.ask(request, signal).then(
    async ({ body }) => {
      await body[Symbol.asyncIterator]().return?.()
      return true
    },
    () => false,
  )
  if (!signal.aborted) targets.found(id, isReachable)
}
