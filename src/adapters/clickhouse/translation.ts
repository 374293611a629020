import { ClickHouseError } from '@clickhouse/client'
import { ClickHouseUnavailable, ReadTooExpensive, RowsRefused } from '../../kernel/ports/clickhouse.js'
import {
  ABOUT_THE_ROWS,
  BUSY,
  DAMAGED,
  MEMORY_LIMIT_EXCEEDED,
  REFUSING,
  TOO_LARGE,
  TOO_LONG,
} from './error-codes.js'

export type Headers = Readonly<Record<string, unknown>>

/** The kind of a statement: only inserts are refused for their rows, and only reads are too expensive. */
export type Work = 'read' | 'insert' | 'command'

export type Translation = (error: unknown, work: Work) => unknown

/** The port's error for an error of the engine. Unknown errors are returned unchanged. */
export const engineError: Translation = (error, work) => {
  if (!(error instanceof Error) || error instanceof ClickHouseUnavailable) return error
  const code = codeOf(error)
  const of = (says: string) => `${says}: ${typeOf(error)} (${code})`
  if (work === 'insert' && ABOUT_THE_ROWS.has(code))
    return new RowsRefused(`ClickHouse error ${code}`, { cause: error })
  if (work === 'read' && TOO_LONG.has(code)) return new ReadTooExpensive('time')
  if (work === 'read' && TOO_LARGE.has(code)) return new ReadTooExpensive('memory')
  if (work === 'read' && code === MEMORY_LIMIT_EXCEEDED && !isOfTheServer(error.message))
    return new ReadTooExpensive('memory')
  if (REFUSING.has(code))
    return new ClickHouseUnavailable('refusing', of('ClickHouse rejected the request') + neededOf(error), {
      cause: error,
      code,
    })
  if (DAMAGED.has(code))
    return new ClickHouseUnavailable('damaged', of('ClickHouse failed'), { cause: error, code })
  if (BUSY.has(code) || TOO_LONG.has(code) || code === MEMORY_LIMIT_EXCEEDED)
    return new ClickHouseUnavailable('busy', of('ClickHouse failed'), { cause: error, code })
  return error
}

/** The grant that lacks, or the setting that is not allowed. */
const neededOf = ({ message }: Error): string => {
  const grant = /grant ([A-Z ]+?)(?:\([^)]*\)| for at least one column)? (?:ON|on) ([\w`*.]*[\w`*])/.exec(
    message,
  )
  if (grant !== null) return `, the user lacks the grant ${grant[1]} ON ${grant[2]}`
  const setting = /\bSetting \w+ should[\w' ]+/.exec(message)
  return setting === null ? '' : `, ${setting[0].trim()}`
}

/**
 * The same for a server: an error without a code of ClickHouse comes from the network, TLS, a proxy or a truncated
 * response.
 */
export const serverError: Translation = (error, work) => {
  const translated = engineError(error, work)
  if (translated !== error || !(error instanceof Error) || error instanceof ClickHouseError) return translated
  if (error instanceof ClickHouseUnavailable || error instanceof ReadTooExpensive) return error
  if (error instanceof TypeError) return error
  // Reads in flight are aborted when the server is away, so a read that times out was running.
  if (work === 'read' && error.message === TIME_OUT) return new ReadTooExpensive('time')
  return new ClickHouseUnavailable('away', unanswered(error) ?? otherAnswer(error), { cause: error })
}

/** The client's messages for a time-out, and for a statement that was aborted because the server is away. */
const TIME_OUT = 'Timeout error.'
const NO_ANSWER = new Set([TIME_OUT, 'The user aborted a request.'])

/** Why there was no response; undefined if there was one, even from another server. */
export const unanswered = (error: Error): string | undefined => {
  if (error instanceof ClickHouseError) return undefined
  if (NO_ANSWER.has(error.message)) return 'ClickHouse cannot be reached (timeout)'
  const code = codeOf(error)
  return code === '' ? undefined : `ClickHouse cannot be reached (${code})`
}

/** Only the status of a proxy's response. */
const otherAnswer = (error: Error): string => {
  if (error instanceof SyntaxError) return 'ClickHouse cannot be reached (truncated response)'
  const status = /\b[45]\d\d [A-Z][A-Za-z -]{2,40}/.exec(error.message)?.[0].trim() ?? 'unknown status'
  return `ClickHouse cannot be reached (another server responded: ${status})`
}

/** The memory of the whole server or user ran out, which says nothing about this read. */
const isOfTheServer = (message: string): boolean => /\(total\)|\(for user\)|user memory/i.test(message)

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '')

const typeOf = (error: Error): string => (error instanceof ClickHouseError ? (error.type ?? '') : error.name)

/**
 * Refuses responses of other servers, whose status 200 would look like stored rows or an empty table, and responses that
 * end with their connection, because a truncated one would look complete.
 */
export const refuseOthers = (headers: Headers = {}): void => {
  if (!isOfClickHouse(headers))
    throw new ClickHouseUnavailable('away', 'ClickHouse cannot be reached (another server responded: 200)')
  if (!ENDS.some((name) => headers[name] !== undefined))
    throw new ClickHouseUnavailable(
      'away',
      'ClickHouse cannot be reached (the response has neither a length nor chunked encoding)',
    )
}

export const isOfClickHouse = (headers: Headers): boolean =>
  Object.keys(headers).some((name) => name.startsWith('x-clickhouse-'))

const ENDS = ['content-length', 'transfer-encoding', 'content-encoding']
