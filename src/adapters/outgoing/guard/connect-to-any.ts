import { connect, isIPv6, type Socket } from 'node:net'

/** Starts a connection to an address, without DNS. */
export type Dial = (address: string, port: number) => Socket

export const dialling: Dial = (host, port) => connect({ host, port, noDelay: true })

const NEXT_AFTER_MS = 250
const MOST_TRIED = 16

/**
 * Happy eyeballs: tries IPv6 and IPv4 addresses alternately, the next one when the previous fails or is slow, and returns
 * the first connection. Rejects with the last error. All other connections are closed, also when the signal aborts.
 */
export const connectToAny = (
  addresses: readonly string[],
  port: number,
  dial: Dial,
  signal: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const waiting = inTurn(addresses).slice(0, MOST_TRIED)
    const trying = new Set<Socket>()
    let timer: NodeJS.Timeout | undefined
    const leave = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      for (const socket of trying) socket.destroy()
    }
    const abort = (): void => {
      leave()
      reject(new Error('aborted'))
    }
    const tryNext = (): void => {
      clearTimeout(timer)
      const address = waiting.shift()
      if (address === undefined) return
      const socket = dial(address, port)
      trying.add(socket)
      socket.once('connect', () => {
        trying.delete(socket)
        leave()
        resolve(socket)
      })
      // Also after the connection is not needed any more: without a listener, its error would crash the process.
      socket.on('error', (error) => {
        if (!trying.delete(socket)) return
        if (trying.size > 0 || waiting.length > 0) return tryNext()
        leave()
        reject(error)
      })
      if (waiting.length > 0) timer = setTimeout(tryNext, NEXT_AFTER_MS)
    }
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    tryNext()
  })

const inTurn = (addresses: readonly string[]): string[] => {
  const six = addresses.filter((address) => isIPv6(address))
  const four = addresses.filter((address) => !isIPv6(address))
  return Array.from({ length: Math.max(six.length, four.length) }, (_, at) => [six[at], four[at]])
    .flat()
    .filter((address) => address !== undefined)
}
