import { chatErrorOf } from '../answer/chat-error.js'
import { STATUS } from '../../application/failure-status.js'
import { Failure } from '../../application/failure.js'

export interface KeepAlive {
  /** Silence after which the head of an answer is sent, together with a first comment. */
  readonly headAfterMs: number
  /** Silence after which a comment follows. */
  readonly everyMs: number
}

const COMMENT = ': keep-alive\n\n'

/**
 * Adds comments to server-sent events while there are none, because proxies close idle connections. A failure is thrown
 * if nothing was sent before, and becomes one last event otherwise.
 */
export const keptAlive = (
  opening: Promise<AsyncIterable<string>>,
  { headAfterMs, everyMs }: KeepAlive,
): AsyncIterable<string> => {
  let source: AsyncIterator<string> | undefined
  let pending: Promise<IteratorResult<string>> | undefined
  let hasSent = false
  let sendComment = (): void => undefined
  let timer: NodeJS.Timeout | undefined
  let hasLeft = false
  const startTimer = (ms: number): void => {
    clearTimeout(timer)
    // An event may still come after its reader has left.
    if (hasLeft) return
    timer = setTimeout(() => {
      startTimer(everyMs)
      sendComment()
    }, ms).unref()
  }
  startTimer(headAfterMs)

  const first = async () => {
    source = (await opening)[Symbol.asyncIterator]()
    return source.next()
  }
  const next = () =>
    new Promise<IteratorResult<string>>((resolve, reject) => {
      let isSettled = false
      sendComment = () => {
        if (isSettled) return
        isSettled = true
        hasSent = true
        resolve({ done: false, value: COMMENT })
      }
      // After a comment the pending event is left to the next call.
      pending ??= source === undefined ? first() : source.next()
      pending.then(
        (event) => {
          if (isSettled) return
          isSettled = true
          hasSent = true
          pending = undefined
          if (event.done === true) clearTimeout(timer)
          else startTimer(everyMs)
          resolve(event)
        },
        (error: unknown) => {
          if (isSettled) return
          isSettled = true
          pending = OVER
          clearTimeout(timer)
          if (hasSent && error instanceof Failure) resolve({ done: false, value: errorEvent(error) })
          else reject(error instanceof Error ? error : new Error('unknown', { cause: error }))
        },
      )
    })
  return {
    [Symbol.asyncIterator]: () => ({
      next,
      return: async () => {
        hasLeft = true
        clearTimeout(timer)
        await opening.then(
          () => source?.return?.(),
          () => undefined,
        )
        return { done: true, value: undefined }
      },
    }),
  }
}

const OVER: Promise<IteratorResult<string>> = Promise.resolve({ done: true, value: undefined })

const errorEvent = (failure: Failure): string =>
  `data: ${JSON.stringify(chatErrorOf(failure, STATUS[failure.kind]))}\n\n`
