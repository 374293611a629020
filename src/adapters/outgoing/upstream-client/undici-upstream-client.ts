import type { Socket } from 'node:net'
import { Agent, Pool, Client, type Dispatcher } from 'undici'
import { UpstreamFault, type UpstreamClient } from '../../../domain/gateway/upstreams/upstream-client.js'
import { guardedConnector, trustedConnector, type Connector, type Guarding } from './connecting.js'
import { expectResponseHead } from '../response-heads.js'
import { Exchange } from './exchange.js'

/** Shorter than servers of the field keep theirs, and at most a minute where one says how long it does. */
const IDLE_MS = 3000
const MOST_IDLE_MS = 60_000
const BEFORE_THEIRS_MS = 2000

/** Completions by HTTP: connections are kept and used again, one request at a time. */
export const undiciUpstreamClient = (guarding: Guarding = {}): UpstreamClient => {
  const closing = new AbortController()
  const trusted = agents(trustedConnector(guarding))
  const guarded = agents(guardedConnector(guarding, closing.signal))

  return {
    ask: ({ url, headers, body, timeouts, isGuarded, isFresh }, signal) => {
      const exchange = new Exchange(timeouts, signal)
      if (exchange.isOver) return exchange.answered
      const agent = (isGuarded ? guarded : trusted)[isFresh ? 'fresh' : 'kept']
      try {
        const { origin, pathname, search } = new URL(url)
        const method = body === null ? 'GET' : 'POST'
        const options: Dispatcher.DispatchOptions & { [EXCHANGE]: Exchange } = {
          [EXCHANGE]: exchange,
          origin,
          path: pathname + search,
          method,
          headers,
          body,
        }
        agent.dispatch(options, exchange)
      } catch (error) {
        exchange.onResponseError(undefined, error as Error)
      }
      return exchange.answered
    },
    close: async () => {
      closing.abort()
      const closed = new UpstreamFault('aborted', 'by the service')
      await Promise.all(
        [trusted, guarded].flatMap(({ kept, fresh }) => [kept.destroy(closed), fresh.destroy(closed)]),
      )
    },
  }
}

/** Time-outs are the exchange's, which counts them exactly; undici's own are off. */
const agents = (connect: Connector) => {
  const poolOf = (origin: string | URL, options: object): Pool =>
    new Pool(origin, { ...options, factory: (one, given) => new Connection(one, { ...given, connect }) })
  const options = { factory: poolOf, headersTimeout: 0, bodyTimeout: 0 }
  return {
    kept: new Agent({
      ...options,
      pipelining: 1,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: MOST_IDLE_MS,
      keepAliveTimeoutThreshold: BEFORE_THEIRS_MS,
    }),
    fresh: new Agent({ ...options, pipelining: 0 }),
  }
}

/** The option of a request under which its connection finds whose it is. */
const EXCHANGE: unique symbol = Symbol('exchange')

interface Options extends Client.Options {
  readonly connect: Connector
}

/**
 * A client with one connection that its exchange can close, also while it is being made: undici itself would go on with
 * it, or make another one at once, for a request that was given up.
 */
class Connection extends Client {
  private readonly current: {
    /** While a connection is being made. */
    giveUp?: (() => void) | undefined
    socket?: Socket
  }

  constructor(origin: URL | string, options: object) {
    const current: Connection['current'] = {}
    const { connect, ...rest } = options as Options
    super(origin, {
      ...rest,
      connect: (asked, done) => {
        current.giveUp = connect(asked, (...[error, socket]) => {
          current.giveUp = undefined
          if (error !== null) return done(error, null)
          current.socket = socket
          done(null, socket)
        })
      },
    })
    this.current = current
  }

  override dispatch(
    options: Dispatcher.DispatchOptions & { [EXCHANGE]?: Exchange },
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    let hasBegun = false
    options[EXCHANGE]?.useConnection({
      begin: () => {
        hasBegun = true
        if (this.current.socket !== undefined) expectResponseHead(this.current.socket)
      },
      close: () => {
        this.current.giveUp?.()
        if (hasBegun) this.current.socket?.destroy(new Error('given up'))
      },
    })
    return super.dispatch(options, handler)
  }
}
