import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Connector } from './connecting.js'
import type { Exchange } from './exchange.js'

/** The option of a request under which its connection finds whose it is. */
export const EXCHANGE: unique symbol = Symbol('exchange')

interface Options extends Client.Options {
  readonly connect: Connector
}

/**
 * A client with one connection that its exchange can close, also while it is being made: undici itself would go on with
 * it, or make another one at once, for a request that was given up.
 */
export class Connection extends Client {
  private readonly current: {
    /** While a connection is being made. */
    giveUp?: (() => void) | undefined
    socket?: Socket
    answers: number
  }

  constructor(origin: URL | string, options: object) {
    const current: Connection['current'] = { answers: 0 }
    const { connect, ...rest } = options as Options
    super(origin, {
      ...rest,
      connect: (asked, done) => {
        current.giveUp = connect(asked, (...[error, socket]) => {
          current.giveUp = undefined
          if (error !== null) return done(error, null)
          current.socket = socket
          current.answers = 0
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
    options[EXCHANGE]?.goesBy({
      begin: () => {
        hasBegun = true
        this.current.answers += 1
        return this.current.answers > 1
      },
      close: () => {
        this.current.giveUp?.()
        if (hasBegun) this.current.socket?.destroy(new Error('given up'))
      },
    })
    return super.dispatch(options, handler)
  }
}
