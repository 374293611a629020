import type { Socket } from 'node:net'
import { Client, type buildConnector, type Dispatcher } from 'undici'
import type { Exchange } from './exchange.js'

/** The option of a request under which its connection finds whose it is. */
export const EXCHANGE: unique symbol = Symbol('exchange')

interface Options extends Client.Options {
  readonly connect: buildConnector.connector
}

/**
 * A client with one connection that its exchange can close: undici itself would make another one at once, for a request
 * that was given up.
 */
export class Connection extends Client {
  private readonly current: { socket?: Socket; answers: number }

  constructor(origin: URL | string, options: object) {
    const current: Connection['current'] = { answers: 0 }
    const { connect, ...rest } = options as Options
    super(origin, {
      ...rest,
      connect: (asked, done) =>
        connect(asked, (...[error, socket]) => {
          if (error !== null) return done(error, null)
          current.socket = socket
          current.answers = 0
          done(null, socket)
        }),
    })
    this.current = current
  }

  override dispatch(
    options: Dispatcher.DispatchOptions & { [EXCHANGE]?: Exchange },
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    options[EXCHANGE]?.goesBy({
      begin: () => {
        this.current.answers += 1
        return this.current.answers > 1
      },
      close: () => this.current.socket?.destroy(new Error('given up')),
    })
    return super.dispatch(options, handler)
  }
}
